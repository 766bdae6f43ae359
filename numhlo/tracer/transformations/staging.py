"""What every transformation does first: trace the function to a graph inside the current trace.

Outside tracing a transformation opens a trace that carries concrete values, so Python control flow on them works in the
transformed function as in the plain one, and nothing is compiled.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

import numpy as np

from numhlo.lowering.ir import Function, TensorType, capture_location
from numhlo.lowering.ir.errors import MutationError
from numhlo.lowering.ir.scoped_values import with_own_bindings
from numhlo.tracer.core.arguments import is_number
from numhlo.tracer.core.array import Array
from numhlo.tracer.core.bind import new_trace
from numhlo.tracer.core.located_errors import naming_the_line
from numhlo.tracer.core.operands import as_traced, asarray, is_weak, known_value, shape_of, unshared
from numhlo.tracer.core.promotion import FLOAT0
from numhlo.tracer.core.short_tracebacks import short_tracebacks
from numhlo.tracer.core.trace import Trace, Tracer, current_trace
from numhlo.tracer.core.type_rules import type_rules
from numhlo.tracer.trees.pytrees import PyTreeDef, tree_flatten, tree_map, tree_unflatten

F = TypeVar("F", bound=Callable[..., Any])


class Staged(NamedTuple):
    """A function traced for a transformation.

    Attributes
    ----------
    function : Function
        Takes the leaves, then the captures.
    captures : list
        Arrays of the trace around.
    out_tree : PyTreeDef
    weak : list of bool
        Which results stand for Python's numbers, where rules for types have such arrays.
    """

    function: Function
    captures: list[Any]
    out_tree: PyTreeDef
    weak: list[bool]

    def tree_of(self, results: Sequence[Any]) -> Any:
        """Return results in their tree, weak where the function's are."""
        return tree_unflatten(self.out_tree, marked(results, self.weak))


def stage(
    name: str,
    fun: Callable[[list[Tracer]], Any],
    types: Sequence[TensorType],
    known: Sequence[np.ndarray | None],
    weak: Sequence[bool] = (),
    scalars: Sequence[bool] = (),
    differentiates: bool = False,
) -> Staged:
    """Trace ``fun`` (a list of leaves to any pytree) inside the current trace, which there must be.

    Parameters
    ----------
    name : str
    fun : callable
    types : sequence of TensorType
    known : sequence of ndarray or None
        Each argument's value, where the current trace carries it.
    weak : sequence of bool, optional
        Which arguments stand for Python scalars.
    scalars : sequence of bool, optional
        Which are scalars of Python's or NumPy's: nothing is written to them in place.
    differentiates : bool, optional
        The derivative by the arguments is going to be taken: their values must not leave the trace as constants.

    Raises
    ------
    MutationError
        If the function writes into an argument: a transformed function has no caller's array to update.
    """
    outer = current_trace()
    assert outer is not None
    with new_trace(concrete=outer.concrete) as trace:
        trace.differentiates = differentiates
        arguments = [trace.argument(t, k) for t, k in zip(types, known, strict=True)]
        for argument, flag in zip(arguments, weak, strict=False):
            argument.weak = flag
        for argument, flag in zip(arguments, scalars, strict=False):
            argument.cell.is_array = not flag
        cells = [a.cell for a in arguments]
        with naming_the_line():
            found = fun(arguments)
        leaves, out_tree = tree_flatten(found)
        trace.region.returns = [trace.read(asarray(x)) for x in leaves]
        weak = weak_leaves(leaves)
    for number, cell in enumerate(cells):
        if cell.version:
            raise MutationError(
                f"{name} writes into argument leaf {number} ({types[number].short()}) under a transformation",
                where=capture_location(),
                why="vmap, grad and jvp work on functions that return their results",
                fix="copy the argument first (x = x.copy()), or use x.at[index].set(value)",
            )
    return Staged(Function(name, trace.region), trace.captures, out_tree, weak)


def weak_leaves(leaves: Sequence[Any]) -> list[bool]:
    """Return which leaves stand for Python's numbers, where rules for types have such arrays."""
    if type_rules().weak_class is None:
        return [False] * len(leaves)
    return [is_weak(x) and asarray(x).dtype.kind != "b" for x in leaves]


def marked(leaves: Sequence[Any], weak: Sequence[bool]) -> list[Any]:
    """Return leaves, some as traced arrays that stand for Python's numbers."""
    return [_weakened(x) if flag else x for x, flag in zip(leaves, weak, strict=False)] if any(weak) else list(leaves)


def _weakened(x: Any) -> Any:
    array = as_traced(x)
    found = Tracer(array.cell, array.steps, array.aval)
    found.weak = True
    return found


def stage_leaves(
    fun: Callable[..., Any], leaves: Sequence[Any], name: str = "function", differentiates: bool = False
) -> Staged:
    """Trace ``fun(*leaves)``, with the leaves' types and, where they are known, values; see `stage`."""
    arrays = [asarray(x) for x in leaves]
    types = [TensorType(shape_of(x), x.dtype) for x in arrays]
    weak = [is_weak(x) for x in leaves]
    known = [known_value(x) for x in arrays]
    scalars = [is_number(x) for x in leaves]
    return stage(name, lambda arguments: fun(*arguments), types, known, weak, scalars, differentiates)


def ends_its_blocks(function: F) -> F:
    """Return a function that leaves no trace open outside tracing, wherever a signal's handler raises."""

    @functools.wraps(function)
    def public(*args: Any, **kwargs: Any) -> Any:
        if current_trace() is not None:
            return function(*args, **kwargs)
        with short_tracebacks:
            return with_own_bindings(function, *args, **kwargs)

    return public  # type: ignore[return-value]


@contextmanager
def transformation() -> Iterator[Callable[[Any], Any]]:
    """Run a transformation in the current trace, or in one that carries values where there is none.

    Yields
    ------
    finish : callable
        To be applied to the result (a pytree) inside the block: outside tracing it takes the values out. Arrays of the
        result share no memory with arguments, though the function may return these.
    """
    if current_trace() is not None:
        yield lambda result: tree_map(_own, result)
        return
    with new_trace(concrete=True) as trace:
        yield lambda result: tree_map(lambda x: _take_out(trace, x), result)


def _own(x: Any) -> Any:
    return unshared(x) if isinstance(x, Tracer) and x.ndim and not x.weak else x


def _take_out(trace: Trace, x: Any) -> Any:
    if getattr(x, "dtype", None) == FLOAT0:
        return x
    value = trace.known[trace.read(asarray(x))]
    if isinstance(x, Tracer) and x.weak and (weak_class := type_rules().weak_class) is not None:
        found: Any = np.array(value).view(weak_class)
        found.flags.writeable = False
        return found
    return np.array(value).view(Array)
