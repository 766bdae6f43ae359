"""From a Python function on pytrees to a `Function` of the graph: arguments in, results and written arguments out.

This file knows what a call's results are: the leaves that the function returns and, since numhlo has NumPy's semantics,
the final values of the argument arrays that it wrote into. It refuses to know caches and compiled code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from numhlo.lowering.ir import Function, Value, capture_location
from numhlo.lowering.ir.errors import DTypeError, MutationError, NumhloError
from numhlo.lowering.ir.records import record
from numhlo.lowering.ops import control_flow
from numhlo.lowering.ops.strides import SCALAR, Strides
from numhlo.tracer.control_flow.bodies import weak_argument
from numhlo.tracer.core.arguments import WEAK, LeafType
from numhlo.tracer.core.array import is_weak_array
from numhlo.tracer.core.bind import bind, new_trace
from numhlo.tracer.core.cell import Cell
from numhlo.tracer.core.except_clauses import raise_swallowed
from numhlo.tracer.core.located_errors import naming_the_line
from numhlo.tracer.core.operands import Unsized, asarray, convert
from numhlo.tracer.core.semantics import are_arrays_immutable
from numhlo.tracer.core.trace import Trace, Tracer
from numhlo.tracer.core.type_rules import NUMPY, type_rules
from numhlo.tracer.python.autograph.undefined import Undefined
from numhlo.tracer.python.rebound_items import ContainerWatch, ReboundItems
from numhlo.tracer.trees.pytree_paths import structure_paths
from numhlo.tracer.trees.pytrees import PyTreeDef, tree_flatten, tree_unflatten


class Cut(NamedTuple):
    """A result of which the first elements count, so many as another result says.

    Attributes
    ----------
    leaf, length : int
        Numbers of both among the results.
    axis : int
        Along which it is cut.
    rebuild : callable
        Returns what the leaf is in another trace.
    """

    leaf: int
    length: int
    axis: int
    rebuild: Callable[[Any, Any], Any]


@record(slots=True, eq=False)
class TracedFunction:
    """A function as traced for one signature.

    Attributes
    ----------
    function : Function
        Takes the arguments' leaves, then ``captures``; returns the results' leaves, what else ``rebound`` takes, the
        counts of ``cuts``, then the new values of the arguments named by ``written``.
    out_tree : PyTreeDef
    out_weak : tuple of bool
        For each result leaf, whether it stands for a Python scalar.
    captures : list of Tracer or ndarray
    written : tuple of int
        Numbers of the argument leaves that the function writes into.
    layouts_read : tuple of int
        Numbers of the argument leaves whose memory layout decided what was traced.
    rebound : ReboundItems or None
        What the function does to the items of containers among its arguments.
    out_arrays : tuple of int
        Numbers of the result leaves that have no dimensions but were made as arrays, which can be written into.
    keeps_loops : bool
        Loops of Python's over known ranges are loops of the graph, since they would be long unrolled.
    cuts : tuple of Cut
        Results whose length depends on values.
    """

    function: Function
    out_tree: PyTreeDef
    out_weak: tuple[bool, ...]
    captures: list[Tracer | np.ndarray]
    written: tuple[int, ...]
    layouts_read: tuple[int, ...] = ()
    rebound: ReboundItems | None = None
    out_arrays: tuple[int, ...] = ()
    keeps_loops: bool = False
    cuts: tuple[Cut, ...] = ()


def trace_pytree_function(
    name: str,
    fun: Callable[[list[Tracer]], Any],
    types: Sequence[LeafType],
    strides: Sequence[Strides | None] = (),
    names: Sequence[str] = (),
    prepare: Callable[[Trace], None] | None = None,
) -> TracedFunction:
    """Trace ``fun`` on arguments of the given types, inside the current trace if there is one.

    Parameters
    ----------
    name : str
    fun : callable
        Takes the list of traced leaves, returns any pytree, or a `ContainerWatch` that has it.
    types : sequence of LeafType
    strides : sequence of tuple of int or None, optional
        How each argument lies in memory; None, or left out, means C-contiguous, `SCALAR` a scalar of NumPy's.
    names : sequence of str, optional
        What the arguments are called in messages.
    prepare : callable, optional
        Called with the new trace before the function runs.
    """
    with new_trace() as trace:
        if prepare is not None:
            prepare(trace)
        arguments = [weak_argument(trace, t) for t in types]
        for argument, layout in zip(arguments, strides, strict=False):
            argument.cell.strides = layout
            argument.cell.is_array = layout != SCALAR
        for argument, called in zip(arguments, names, strict=False):
            argument.cell.name = f"argument {called} of {name}"
            trace.names[argument.cell.value] = called, name
        cells = [a.cell for a in arguments]
        for cell in cells:
            cell.is_observed = True
        with _explaining_numpy(), naming_the_line():
            found = fun(list(arguments))
        raise_swallowed(trace)
        watch = found if isinstance(found, ContainerWatch) else None
        leaves, out_tree = tree_flatten(found if watch is None else watch.result)
        rebound, extra = (None, []) if watch is None else watch.rebound(leaves)
        leaves, counts, cuts = _with_counts(leaves, rebound)
        returns = [_read_result(trace, leaf, name, k, out_tree) for k, leaf in enumerate(leaves)]
        returns += [trace.read(x) for x in (*extra, *counts)]
        written = tuple(k for k, cell in enumerate(cells) if cell.version)
        trace.region.returns = [*returns, *[cells[k].value for k in written]]
    weak = tuple(_is_weak(leaf) for leaf in leaves)
    layouts = tuple(k for k, cell in enumerate(cells) if cell.layout_read)
    arrays = tuple(k for k, leaf in enumerate(leaves) if _is_made_as_array(leaf, cells))
    return TracedFunction(
        Function(name, trace.region), out_tree, weak, trace.captures, written, layouts, rebound, arrays, cuts=cuts
    )


def _with_counts(leaves: list[Any], rebound: ReboundItems | None) -> tuple[list[Any], list[Any], tuple[Cut, ...]]:
    """Return results with buffers for those whose length depends on values, the lengths, and where these belong."""
    made, counts, cuts = list(leaves), list[Any](), list[Cut]()
    for k, leaf in enumerate(leaves):
        if not isinstance(leaf, Unsized):
            continue
        if rebound is not None or are_arrays_immutable():
            leaf.refuse(leaf.location)
        made[k], count, axis, rebuild = leaf.as_result()
        cuts.append(Cut(k, len(leaves) + len(counts), axis, rebuild))
        counts.append(count)
    return made, counts, tuple(cuts)


@contextmanager
def _explaining_numpy() -> Iterator[None]:
    """Say what our own error does where NumPy replaced it by one that says less."""
    try:
        yield
    except Exception as error:
        cause = error.__cause__
        if isinstance(cause, NumhloError) and str(error).startswith("setting an array element with a sequence"):
            raise MutationError(
                "a traced value is written into an array that does not belong to the traced program",
                where=cause.where,
                why="it was made outside the traced function, or by code that is not traced",
                fix="pass it in as an argument, which is updated for the caller; or write into a copy of it",
            ) from error
        raise


def _is_weak(leaf: Any) -> bool:
    if type(leaf) is bool and type_rules() is not NUMPY:
        return False
    return leaf.weak if isinstance(leaf, Tracer) else type(leaf) in WEAK or is_weak_array(leaf)


def _is_made_as_array(leaf: Any, arguments: Sequence[Cell]) -> bool:
    """Return whether a result has no dimensions but is no scalar; of arguments, if tracing asked which they are."""
    if not isinstance(leaf, Tracer):
        return isinstance(leaf, np.ndarray) and not leaf.shape
    if leaf.aval.shape or leaf.is_scalar:
        return False
    return leaf.cell.layout_read or not any(leaf.cell is cell for cell in arguments)


def _read_result(trace: Trace, leaf: Any, name: str, number: int, out_tree: PyTreeDef) -> Value:
    if isinstance(leaf, Tracer):
        return trace.read(leaf)
    if isinstance(leaf, Undefined):
        leaf.refuse()
    if type_rules() is not NUMPY and isinstance(leaf, np.ndarray | np.generic | int | float | complex):
        leaf = asarray(leaf)
    if not isinstance(leaf, np.ndarray | np.generic | bool | int | float | complex):
        raise DTypeError(
            f"the result{structure_paths(out_tree)[number]} of {name} is of class {type(leaf).__qualname__}",
            where=capture_location(),
            why="a traced function returns arrays, numbers, None, and containers of them",
            fix="return the object from an untraced function around it",
        )
    try:
        return trace.read(leaf)
    except DTypeError as error:
        raise DTypeError(
            f"the result{structure_paths(out_tree)[number]} of {name} has dtype {np.asarray(leaf).dtype}",
            where=capture_location(),
            why="traced arrays hold bools, integers, floats and complex numbers of up to 64 bits a part",
            fix="convert it with .astype, or return it from an untraced function around it",
        ) from error


def call_traced(traced: TracedFunction, leaves: Sequence[Any], arguments: Any) -> Any:
    """Call a traced function from the current trace: one ``call`` op; written arguments are assigned to the caller's.

    Parameters
    ----------
    traced : TracedFunction
    leaves : sequence of Tracer or array_like
        The arguments' leaves, of the types that were traced.
    arguments : pytree
        What they are the leaves of.

    Raises
    ------
    MutationError
        If an argument that is written into is no traced array, or shares memory with another argument.
    """
    for k in traced.written:
        _check_writable(leaves, k)
    if traced.rebound is not None:
        traced.rebound.check(arguments)
    wanted = traced.function.body.arguments
    results = bind(
        control_flow.CALL,
        *[x if isinstance(x, Tracer) else convert(x, v.tensor.dtype) for x, v in zip(leaves, wanted, strict=False)],
        *traced.captures,
        attributes={"callee": traced.function},
        results=traced.function.result_types,
    )
    count = traced.out_tree.num_leaves
    for k, new in zip(traced.written, results[len(results) - len(traced.written) :], strict=True):
        leaves[k].assign(new)
    for result, weak in zip(results, traced.out_weak, strict=False):
        result.weak = weak
    for k in traced.out_arrays:
        results[k].cell.is_array = True
    if traced.rebound is not None:
        traced.rebound.repeat(arguments, results)
    for cut in traced.cuts:
        results[cut.leaf] = cut.rebuild(results[cut.leaf], results[cut.length])
    return tree_unflatten(traced.out_tree, results[:count])


def _check_writable(leaves: Sequence[Any], written: int) -> None:
    target = leaves[written]
    if not isinstance(target, Tracer):
        raise MutationError(
            "a traced function writes into an argument that was captured as a constant",
            where=capture_location(),
            why="the array belongs to the code outside the trace, which would not see the write in time",
            fix="pass the array into the outermost traced function as an argument",
        )
    for k, other in enumerate(leaves):
        if k != written and isinstance(other, Tracer) and other.cell is target.cell:
            raise MutationError(
                f"a traced function writes into argument leaf {written}, which shares memory with leaf {k}",
                where=capture_location(),
                why="the two are views of one array, and the function was traced as if they were separate",
                fix="pass a copy of one of them",
            )
