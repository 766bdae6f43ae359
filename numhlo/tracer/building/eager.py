"""Functions that exist only traced, made to run outside tracing too: in a trace that carries values."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from numhlo.lowering.ir.scoped_values import with_own_bindings
from numhlo.tracer.core.array import UNORDERED, Array
from numhlo.tracer.core.bind import new_trace
from numhlo.tracer.core.operands import asarray
from numhlo.tracer.core.short_tracebacks import short_tracebacks
from numhlo.tracer.core.trace import Tracer, current_trace
from numhlo.tracer.trees.pytrees import tree_map

F = TypeVar("F", bound=Callable[..., Any])


def runs_anywhere(function: F) -> F:
    """Return a function that, outside tracing, is traced with its arguments' values and gives concrete results."""

    @functools.wraps(function)
    def public(*args: Any, **kwargs: Any) -> Any:
        if current_trace() is not None:
            return function(*args, **kwargs)
        with short_tracebacks:
            return with_own_bindings(run, *args, **kwargs)

    def run(*args: Any, **kwargs: Any) -> Any:
        with new_trace(concrete=True):
            return tree_map(_concrete, function(*args, **kwargs))

    return public  # type: ignore[return-value]


def traces_narrow_floats(function: F) -> F:
    """Return a function that is traced outside tracing, too, where an argument is of floats that NumPy doesn't know.

    NumPy's functions refuse bfloat16 and its like, or give float32 or float64.
    """
    traced = runs_anywhere(function)

    @functools.wraps(function)
    def public(*args: Any, **kwargs: Any) -> Any:
        chosen = traced if any(map(_is_narrow, args)) else function
        return chosen(*args, **kwargs)

    return public  # type: ignore[return-value]


def _is_narrow(x: Any) -> bool:
    if isinstance(x, list | tuple):
        return any(map(_is_narrow, x))
    return isinstance(x, np.ndarray) and x.dtype in UNORDERED


def on_plain_arrays(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of NumPy's whose first argument is a plain array: subclasses take a way without ``initial``."""

    def run(a: Any, *args: Any, **options: Any) -> Any:
        return function(np.asarray(a), *args, **options)

    return run


def operand_of(x: Any) -> Any:
    """Return ``x`` as a traced array, or a concrete one as `Array`."""
    array = asarray(x)
    return array if isinstance(array, Tracer) else array.view(Array)


def _concrete(x: Any) -> Array:
    value = x.concretize("a result", "report this: everything here has a value") if isinstance(x, Tracer) else x
    return np.array(value).view(Array)
