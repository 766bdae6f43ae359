"""What of `jax.numpy` is not a function of `numhlo.numpy` seen under JAX's rules: typed here, as those are.

Methods of arrays are the functions of their names: of traced arrays all that are listed, of concrete ones those that
NumPy's methods would give other types for.
"""

from __future__ import annotations

import functools
from types import ModuleType
from typing import Any

from numhlo.compat.jax import dtypes
from numhlo.compat.jax.arrays import Array
from numhlo.compat.jax.moving_keys import have_keys, moved
from numhlo.compat.jax.promoting import typed
from numhlo.tracer.core.jax_types import METHODS

FUNCTIONS = (
    "array", "asarray", "clip", "delete", "frombuffer", "fromfile", "fromiter", "fromstring", "interp", "load",
    "polydiv", "polymul", "put_along_axis", "take", "take_along_axis",
)  # fmt: skip
"""Functions that are written for `jax.numpy`."""

OF_CONCRETE_ARRAYS = ("cumprod", "cumsum", "dot", "mean", "prod", "std", "sum", "trace", "var")
OF_TRACED_ARRAYS = (
    *OF_CONCRETE_ARRAYS, "argmax", "argmin", "argsort", "max", "min", "nonzero", "round", "searchsorted",
)  # fmt: skip
"""Methods that are the functions of their names."""


def typed_names(module: ModuleType) -> dict[str, Any]:
    """Return the names of `jax.numpy` with the types of JAX's, and let arrays have them as methods.

    Parameters
    ----------
    module : module
        Which has the functions, or finds them when they are first asked for.
    """
    for name in OF_TRACED_ARRAYS:
        METHODS[name] = _method(module, name)
        if name in OF_CONCRETE_ARRAYS:
            setattr(Array, name, METHODS[name])
    functions = {name: typed("numpy", name, getattr(module, name)) for name in FUNCTIONS}
    functions |= {name: _taking_keys(name, functions[name]) for name in ("array", "asarray")}
    return {**functions, **dtypes.SCALAR_TYPES}


def _taking_keys(name: str, function: Any) -> Any:
    @functools.wraps(function)
    def public(*args: Any, **options: Any) -> Any:
        return moved(name, function, args, options) if have_keys(args) else function(*args, **options)

    return public


def _method(module: ModuleType, name: str) -> Any:
    def method(self: Any, *args: Any, **options: Any) -> Any:
        return getattr(module, name)(self, *args, **options)

    method.__name__ = method.__qualname__ = name
    return method
