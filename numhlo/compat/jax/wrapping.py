"""Modules of numhlo seen under JAX's rules: functions return immutable arrays, everything else is the same object."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from numhlo.compat.jax.absent_names import raise_absent, why_absent
from numhlo.compat.jax.arrays import immutably, leaves_of, thawed
from numhlo.compat.jax.calling import checked_as_jax
from numhlo.compat.jax.late_modules import same_names
from numhlo.compat.jax.promoting import typed, typed_elementwise
from numhlo.compat.jax.refusals import InPlaceError
from numhlo.compat.jax.signatures import called_as_jax
from numhlo.library.numpy.index_tricks import Grid, Joiner
from numhlo.library.numpy.ufunc_calls import Ufunc
from numhlo.tracer.building.eager import runs_anywhere, traces_narrow_floats
from numhlo.tracer.core.operands import asarray, new_array
from numhlo.tracer.core.semantics import immutable_arrays
from numhlo.tracer.trees.pytrees import tree_map


def _on_thawed(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of thawed arrays; the user's own functions among its arguments see immutable ones."""

    @functools.wraps(function)
    def public(*args: Any, **kwargs: Any) -> Any:
        leaves = leaves_of(args, kwargs)
        if leaves is None:
            if any(callable(x) for x in (*args, *kwargs.values())):
                return function(*args, **kwargs)
            args, kwargs = tree_map(thawed, (args, kwargs))
        elif any(isinstance(x, np.ndarray | np.generic) for x in leaves):
            args = tuple([_thawed_part(x) for x in args])
            kwargs = {name: _thawed_part(x) for name, x in kwargs.items()}
        return function(*args, **kwargs)

    return public


def _thawed_part(x: Any) -> Any:
    """Return an argument thawed that is a leaf, or a tuple or list of leaves."""
    return type(x)(map(thawed, x)) if type(x) in (tuple, list) else thawed(x)


class _Indexed:
    """``r_[...]`` and its kin: what is written between brackets becomes an immutable array."""

    def __init__(self, maker: Any) -> None:
        self._maker = maker

    def __getitem__(self, key: Any) -> Any:
        return immutably(self._maker.__getitem__)(key)


WIDENED = frozenset({
    "append", "block", "column_stack", "concat", "concatenate", "convolve", "corrcoef", "correlate", "cov", "det",
    "dot", "dstack", "gradient", "hstack", "i0", "inner", "kron", "linspace", "logspace", "matmul", "matrix_norm",
    "matrix_power", "matvec", "nanpercentile", "nanquantile", "norm", "outer", "percentile", "poly", "polyadd",
    "polyder", "polyint", "polysub", "polyval", "quantile", "sinc", "slogdet", "stack", "tensordot", "trapezoid",
    "unwrap", "vdot", "vecdot", "vecmat", "vector_norm", "vstack",
})  # fmt: skip
"""Functions that outside tracing give wider floats of bfloat16 and its like, or refuse them."""

Adaptation = Callable[[str, Callable[..., Any]], Callable[..., Any]]

METHODS = ("reduce", "accumulate", "outer", "reduceat")


def _at(ufunc: Ufunc) -> Callable[..., Any]:
    """Return a ufunc's ``at``, which gives the updated array: arrays never change."""

    @runs_anywhere
    def updated(a: Any, indices: Any, *b: Any) -> Any:
        with immutable_arrays(False):
            fresh = new_array(asarray(a))
            ufunc.at(fresh, indices, *b)
        return fresh

    def at(a: Any, indices: Any, b: Any = None, /, *, inplace: bool = True) -> Any:
        if inplace:
            raise InPlaceError(f"{ufunc.__name__}.at", "x, indices, b")
        return updated(a, indices, *(() if b is None else (b,)))

    return at


def as_it_is(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that takes no more than it does."""
    del name
    return function


def seen_as_jax(module: ModuleType, name: str, adapt: Adaptation = as_it_is) -> Any:
    """Return an attribute of a module, a function wrapped.

    Parameters
    ----------
    module : module
    name : str
    adapt : callable, optional
        Returns, of a name and the function, one that takes more.

    Raises
    ------
    AttributeError
        If the module has no such name.
    """
    if name.startswith("__"):
        raise AttributeError(name)
    value = getattr(module, name)
    if isinstance(value, Joiner | Grid):
        return _Indexed(value)
    if isinstance(value, type | ModuleType) or not callable(value):
        return value
    home = module.__name__.removeprefix("numhlo.")
    if name in WIDENED and home in ("numpy", "numpy.linalg"):
        value = traces_narrow_floats(value)
    if isinstance(value, Ufunc):
        wrapped: Any = called_as_jax(home, name, typed_elementwise(value))
    else:
        wrapped = typed(home, name, called_as_jax(home, name, immutably(_on_thawed(value))), value)
    if isinstance(value, Ufunc):
        for method in METHODS:
            own = checked_as_jax(home, f"{name}.{method}", immutably(getattr(value, method)))
            setattr(wrapped, method, own)
        wrapped.nargs = value.nin
        wrapped.at = immutably(_on_thawed(_at(value)))
    return checked_as_jax(home, name, adapt(name, wrapped))


def methods_of(owner: Any, distribution: str) -> SimpleNamespace:
    """Return the public methods of a distribution, wrapped as functions of a module are."""
    names = [name for name in dir(owner) if not name.startswith("_") and callable(getattr(owner, name))]
    methods = {name: getattr(owner, name) for name in names}
    return SimpleNamespace(
        **{
            name: typed("scipy.stats", f"{distribution}.{name}", immutably(_on_thawed(method)), method)
            for name, method in methods.items()
        }
    )


def attributes_of(
    module: ModuleType, namespace: dict[str, Any], adapt: Adaptation = as_it_is, late: Mapping[str, str] | None = None
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__all__``, ``__getattr__`` and ``__dir__`` of a module whose names are another's, wrapped on first use.

    Parameters
    ----------
    module : module
        Whose names they are.
    namespace : dict
        ``globals()`` of the module that has them, where what was asked for is kept.
    adapt : callable, optional
        As that of `seen_as_jax`.
    late : mapping of str to str, optional
        Further names, of functions that are written with others and loaded when they are first used: the module, a
        colon, and what they are called there.

    Returns
    -------
    tuple of list of str, callable and callable
    """
    further = late or {}
    names = [*[name for name in module.__all__ if name != "Array"], *further]

    def find(name: str) -> Any:
        if name in further:
            home, _, own = further[name].partition(":")
            value = namespace[name] = same_names(home)[0](own)
            return value
        try:
            value = namespace[name] = seen_as_jax(module, name, adapt)
        except AttributeError:
            own = namespace.get("__name__", module.__name__)
            if why_absent(own, name):
                raise_absent(own, name)
            raise
        return value

    return names, find, lambda: sorted(names)
