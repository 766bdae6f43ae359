"""Linear algebra of matrices that NumPy refuses: under JAX's names they give infinity and NaN, as if compiled."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from numhlo.compat.jax.arrays import frozen
from numhlo.compat.jax.wrapping import Adaptation, as_it_is, seen_as_jax
from numhlo.compilation.jit import jit
from numhlo.tracer.trees.pytrees import tree_map


def seen_without_refusals(
    module: ModuleType, namespace: dict[str, Any], adapt: Adaptation = as_it_is
) -> Callable[[str], Any]:
    """Return ``__getattr__`` of a module of linear algebra whose functions raise no `LinAlgError` about values.

    Parameters
    ----------
    module : module
        Whose functions they are.
    namespace : dict
        ``globals()`` of the module that has them, where what was asked for is kept.
    adapt : callable, optional
        As that of `seen_as_jax`.
    """

    def adapted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        return adapt(name, without_refusals(function))

    def find(name: str) -> Any:
        value = namespace[name] = seen_as_jax(module, name, adapted)
        return value

    return find


def without_refusals(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that is compiled for matrices that NumPy's refuses; what is no matrix is refused again."""

    @functools.wraps(function)
    def public(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except np.linalg.LinAlgError:
            places = [k for k, x in enumerate(args) if isinstance(x, np.ndarray)]

            def traced(*arrays: Any) -> Any:
                found = dict(zip(places, arrays, strict=True))
                return function(*[found.get(k, x) for k, x in enumerate(args)], **kwargs)

            return tree_map(frozen, jit(traced)(*[args[k] for k in places]))

    return public
