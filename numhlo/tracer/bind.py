"""`bind`, the one way an op gets into a graph, and the tracing of function and region bodies.

Outside tracing `bind` runs the op on NumPy at once, so everything built on it works eagerly too. This file knows no op
in particular; the NumPy names live in `numhlo.tracer.namespace`, control flow in `numhlo.tracer.control_flow`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from numhlo.lowering.interpreter import evaluate_op
from numhlo.lowering.ir import Function, Region, Type, capture_location, tensor_type_of
from numhlo.lowering.ops.primitive import Primitive, make_op
from numhlo.tracer.array import Array
from numhlo.tracer.trace import Trace, Tracer, current_trace


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
    trace = current_trace()
    if trace is None:
        return _run_now(definition, operands, attributes, regions, results)
    if trace.linear and not regions:
        trace = trace.place(operands)
    values = list(map(trace.read, operands))
    return list(map(trace.wrap, trace.emit(definition, values, attributes, regions, results)))


def bind1(definition: Primitive, *operands: Any, **options: Any) -> Any:
    """Apply an op that has one result, and return that."""
    (result,) = bind(definition, *operands, **options)
    return result


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
    op = make_op(definition, values, attributes, regions, results, capture_location())
    with np.errstate(all="ignore"):
        outputs = evaluate_op(op, dict(zip(values, arrays, strict=True)))
    return [np.asarray(x).view(Array) for x in outputs]


@contextmanager
def new_trace(*, closed: bool = True, concrete: bool = False) -> Iterator[Trace]:
    """Open a trace inside the current one; it ends with the block, and arrays that outlive it are leaked."""
    trace = Trace(current_trace(), closed=closed, concrete=concrete)
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


def trace_function(
    name: str,
    body: Callable[..., Sequence[Any]],
    argument_types: Sequence[Type],
    known: Sequence[np.ndarray | None] = (),
    *,
    concrete: bool = False,
) -> tuple[Function, list[Tracer | np.ndarray]]:
    """Trace ``body(*arrays) -> arrays`` as a closed function.

    Parameters
    ----------
    name : str
    body : callable
    argument_types : sequence of Type
    known : sequence of ndarray or None, optional
        The arguments' values for a concrete trace.
    concrete : bool, optional

    Returns
    -------
    function : Function
        Takes the arguments, then what was captured.
    captures : list
        What to pass for the captured arguments, to be read in the trace around.
    """
    values = [*known] or [None] * len(argument_types)
    with new_trace(concrete=concrete) as trace:
        arguments = [trace.argument(t, k) for t, k in zip(argument_types, values, strict=True)]
        outputs = body(*arguments)
        trace.region.returns = [trace.read(x) for x in outputs]
    return Function(name, trace.region), trace.captures
