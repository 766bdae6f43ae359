"""Bodies of loops and branches outside of traces: they are given arrays, as JAX's are, where numhlo's see numbers."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from numhlo.compat.jax.arrays import OWN, as_result, frozen
from numhlo.compat.jax.deleted_arrays import require_there
from numhlo.tracer.core.jax_types import KINDS, jax_rules
from numhlo.tracer.core.trace import current_trace
from numhlo.tracer.trees.pytrees import tree_map

FUNCTIONS: dict[str, dict[int, str]] = {
    "fori_loop": {2: "body_fun"},
    "map": {0: "f"},
    "scan": {0: "f"},
    "while_loop": {0: "cond_fun", 1: "body_fun"},
}
"""By name, which arguments of a function of `lax` are bodies: their numbers and names."""

_BODY = "_numhlo_body_of_arrays"


def as_array(x: Any) -> Any:
    """Return a number as the array that it is in a trace, and an array of numhlo's own as an immutable one."""
    kind = type(x)
    if kind in OWN:
        return x
    if kind is bool or kind in KINDS:
        return as_result(np.asarray(x, jax_rules().numbers[kind]), kind is not bool)
    return frozen(x)


def body_of_arrays(fun: Any) -> Any:
    """Return a body that is given arrays: the same each time, since programs are kept for it."""
    if not callable(fun):
        return fun
    kept = vars(fun) if isinstance(fun, FunctionType) else {}
    found = kept.get(_BODY)
    if found is not None and found.__wrapped__ is fun:
        return found

    @functools.wraps(fun)
    def body(*args: Any) -> Any:
        if current_trace() is None:
            args = tree_map(as_array, args)
        return fun(*args)

    vars(body).pop(_BODY, None)
    if isinstance(fun, FunctionType):
        setattr(fun, _BODY, body)
    return body


def with_bodies(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of `lax` whose bodies are given arrays.

    Parameters
    ----------
    name : str
    function : callable
    """
    places = FUNCTIONS[name]
    names = set(places.values())

    @functools.wraps(function)
    def public(*args: Any, **kwargs: Any) -> Any:
        require_there(args, kwargs)
        given = [body_of_arrays(x) if k in places else x for k, x in enumerate(args)]
        return function(*given, **{key: body_of_arrays(x) if key in names else x for key, x in kwargs.items()})

    return public
