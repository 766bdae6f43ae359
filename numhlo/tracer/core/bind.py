"""`bind`, the one way an op gets into a graph, and the tracing of function and region bodies.

Outside tracing `bind` runs the op on NumPy at once, so everything built on it works eagerly too. This file knows no op
in particular; the NumPy names live in `numhlo.library.numpy`, control flow in `numhlo.tracer.control_flow.branches`.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from numhlo.lowering.interpreter import evaluate_op
from numhlo.lowering.ir import UNKNOWN, Function, Op, Region, TensorType, Type, Value, capture_location, tensor_type_of
from numhlo.lowering.ir.errors import ShapeError
from numhlo.lowering.ir.location import Location
from numhlo.lowering.ir.types import MOST_BYTES
from numhlo.lowering.ops.primitive import Primitive, make_op
from numhlo.tracer.core.array import Array
from numhlo.tracer.core.orders import note_order
from numhlo.tracer.core.trace import Trace, Tracer, current_trace

MOST_DIMENSIONS = 64
"""NumPy's."""


def bind(
    definition: Primitive,
    *operands: Any,
    attributes: Mapping[str, Any] | None = None,
    regions: Sequence[Region] = (),
    results: Sequence[Type] | None = None,
) -> list[Any]:
    """Apply an op: append it to the current trace, or run it on NumPy at once outside tracing.

    Parameters
    ----------
    definition : Primitive
    *operands : Tracer or array_like
        Concrete operands must have the dtype that the op is to see; nothing is promoted here.
    attributes : mapping, optional
    regions : sequence of Region, optional
        Bodies made by `trace_region`.
    results : sequence of Type, optional
        For ops whose result type can't be inferred.

    Returns
    -------
    list of Tracer or of Array
        One for each result.
    """
    return _bound(definition, operands, attributes, regions, results)


def bind1(
    definition: Primitive,
    *operands: Any,
    attributes: Mapping[str, Any] | None = None,
    regions: Sequence[Region] = (),
    results: Sequence[Type] | None = None,
) -> Any:
    """Apply an op that has one result, as `bind` does, and return that."""
    (result,) = _bound(definition, operands, attributes, regions, results)
    return result


def _bound(
    definition: Primitive,
    operands: tuple[Any, ...],
    attributes: Mapping[str, Any] | None,
    regions: Sequence[Region],
    results: Sequence[Type] | None,
) -> list[Any]:
    trace = current_trace()
    if trace is None:
        return _run_now(definition, operands, attributes, regions, results)
    if trace.linear and not regions:
        trace = trace.place(operands)
    values = list(map(trace.read, operands))
    where = trace.made_at or capture_location(2)  # this frame, and that of `bind` or `bind1`
    op = _make(definition, values, attributes, regions, results, where)
    made = list(map(trace.wrap, trace.append(op)))
    if made and len(made[0].aval.shape) > 1:
        note_order(op, operands, made)
    return made


def bind_again(op: Op, operands: Sequence[Any], trace: Trace | None = None) -> list[Any]:
    """Apply an op without regions again; where operands have the types that it had, its results have theirs.

    Parameters
    ----------
    op : Op
    operands : sequence of Tracer or array_like
    trace : Trace, optional
        Where it goes; the current one where left out.
    """
    trace, types = trace or current_trace(), [v.type for v in op.results]
    declared = types if op.definition.explicit_result else None
    if trace is None:
        return _run_now(op.definition, operands, op.attributes, (), declared)
    if trace.linear:
        trace = trace.place(operands)
    values = list(map(trace.read, operands))
    where = trace.made_at or (capture_location() if op.location is UNKNOWN else op.location)
    if [v.type for v in values] == [v.type for v in op.operands]:
        again = Op(op.definition, values, op.attributes, (), types, where)
    else:
        again = make_op(op.definition, values, op.attributes, (), declared, where)
    return list(map(trace.wrap, trace.append(again)))


def _make(
    definition: Primitive,
    values: Sequence[Value],
    attributes: Mapping[str, Any] | None,
    regions: Sequence[Region],
    results: Sequence[Type] | None,
    where: Location,
) -> Op:
    """Make an op whose results can be arrays: types that were asked for are looked at before rules see them."""
    if results is not None:
        require_sizes(results, values, where)
    op = make_op(definition, values, attributes, regions, results, where)
    if results is None and not (values and len(op.results) == 1 and op.results[0].type is values[0].type):
        require_sizes([v.type for v in op.results], values, where)  # but for an operand's type, which an array has
    return op


def require_sizes(types: Iterable[Type], operands: Sequence[Value], where: Location) -> None:
    """Raise as NumPy does for an array of less than no elements, or of more than there are addresses."""
    for type in types:
        if not isinstance(type, TensorType) or not type.shape:
            continue
        if len(type.shape) > MOST_DIMENSIONS:
            what, why = f"an array of {len(type.shape)} dimensions", f"there are {MOST_DIMENSIONS} at most"
            raise ShapeError(what, where=where, why=why, fix="join some of them by reshape")
        if min(type.shape) < 0:
            if all(not isinstance(v.type, TensorType) or v.type.is_static for v in operands):
                what, fix = "negative dimensions are not allowed", "sizes are 0 or more: use max(n, 0)"
                raise ShapeError(what, where=where, why=f"an array would have shape {type.shape}", fix=fix)
        elif type.nbytes > MOST_BYTES:
            what, fix = "the array is too big", "work on parts of it"
            raise ShapeError(what, where=where, why=f"{type.short()} has more bytes than there are addresses", fix=fix)


def require_size(size: Any) -> int:
    """Return a number of elements that was asked for as an int.

    Raises
    ------
    ShapeError
        If it is negative.
    """
    count = operator.index(size)
    require_sizes([TensorType((count,), np.dtype(np.bool_))], (), capture_location())
    return count


def _run_now(
    definition: Primitive,
    operands: Sequence[Any],
    attributes: Mapping[str, Any] | None,
    regions: Sequence[Region],
    results: Sequence[Type] | None,
) -> list[Array]:
    scratch = Trace(None)
    arrays = [x.value_now() if isinstance(x, Tracer) else np.asarray(x) for x in operands]
    values = [scratch.region.add_argument(tensor_type_of(x)) for x in arrays]
    op = _make(definition, values, attributes, regions, results, capture_location())
    with np.errstate(all="ignore"):
        outputs = evaluate_op(op, dict(zip(values, arrays, strict=True)))
    return [np.asarray(x).view(Array) for x in outputs]


@contextmanager
def new_trace(*, closed: bool = True, concrete: bool = False) -> Iterator[Trace]:
    """Open a trace inside the current one; it ends with the block, and arrays that outlive it are leaked."""
    trace = Trace(current_trace(), closed=closed, concrete=concrete)
    trace.opener = id(sys._getframe(2))  # behind this one, and that of the block's beginning
    with trace.resumed():
        try:
            yield trace
        finally:
            trace.open = False


def trace_region(body: Callable[..., Sequence[Any]], argument_types: Sequence[Type]) -> Region:
    """Trace ``body(*arrays) -> arrays`` as an op's region; values around it are used directly.

    There must be a current trace.
    """
    with new_trace(closed=False) as trace:
        outputs = body(*[trace.argument(t) for t in argument_types])
        trace.region.returns = [trace.read(x) for x in outputs]
    return trace.region


def trace_closed(name: str, body: Callable[..., Sequence[Any]], argument_types: Sequence[Type]) -> Function:
    """Trace ``body(*arrays) -> arrays`` as a closed function that takes these alone: constants are part of it.

    Parameters
    ----------
    name : str
    body : callable
        Uses no traced arrays but its own, as rules that are applied to another function's body do.
    argument_types : sequence of Type
    """
    with new_trace() as trace:
        trace.inlines = True
        outputs = body(*[trace.argument(t) for t in argument_types])
        trace.region.returns = [trace.read(x) for x in outputs]
    assert not trace.captures
    return Function(name, trace.region)


def trace_function(
    name: str, body: Callable[..., Sequence[Any]], argument_types: Sequence[Type]
) -> tuple[Function, list[Tracer | np.ndarray]]:
    """Trace ``body(*arrays) -> arrays`` as a closed function.

    Parameters
    ----------
    name : str
    body : callable
    argument_types : sequence of Type

    Returns
    -------
    function : Function
        Takes the arguments, then what was captured.
    captures : list
        What to pass for the captured arguments, to be read in the trace around.
    """
    with new_trace() as trace:
        outputs = body(*[trace.argument(t) for t in argument_types])
        trace.region.returns = [trace.read(x) for x in outputs]
    return Function(name, trace.region), trace.captures
