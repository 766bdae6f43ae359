"""Differentiation of windows: sums are linear, extremes are the elements that they choose."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Op, Region, TensorType, Value
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.lowering.ops import creation, layout, windows
from numhlo.lowering.ops import elementwise as ops
from numhlo.lowering.ops.annotations import STOP_GRADIENT, make_annotation
from numhlo.lowering.ops.control_flow import COMPOSITE
from numhlo.lowering.ops.window_geometry import Windows, as_array, dilated
from numhlo.lowering.ops.windows import windows_from
from numhlo.tracer.core.arrangement import gather_flat
from numhlo.tracer.core.bind import bind, bind1, trace_region
from numhlo.tracer.core.operands import broadcast_to_shape, convert, full_of, reshape_to
from numhlo.tracer.core.operations import compare, constant, select
from numhlo.tracer.core.replay import replay_body, replay_op, replay_region
from numhlo.tracer.differentiation.convolution import transposed_padding
from numhlo.tracer.differentiation.elementwise import sum_to
from numhlo.tracer.differentiation.scalar_bodies import (
    Combine,
    body_op,
    part,
    slide_axis,
    tangents_through,
    with_initial,
)
from numhlo.tracer.differentiation.table import ADDING, JOINT, TRANSPOSE, Environment, Walker, add_results, instantiate

INDEX = np.dtype(np.int64)


@JOINT.register(windows.REDUCE_WINDOW)
def _joint_reduce_window(
    walker: Walker, op: Op, primals: list[Any], tangents: list[Any], environment: Environment
) -> tuple[Sequence[Any], Sequence[Any]]:
    with walker.in_primal():
        outputs = replay_op(op, primals, {v: environment[v].primal for v in free_values(op)})
    kind = body_op(op)
    if kind is ops.ADD:
        filled = [instantiate(t, v) for t, v in zip(tangents, op.operands, strict=True)]
        return outputs, replay_op(op, filled, {})
    if kind in (ops.MAXIMUM, ops.MINIMUM):
        return outputs, [_jvp_extreme(op, primals, tangents, outputs)]
    return outputs, tangents_through(walker, op, primals, tangents, environment, lambda x, c: _by_sliding(op, x, c))


def _by_sliding(op: Op, operands: Sequence[Any], combine: Combine) -> list[Any]:
    """Combine windows dimension by dimension; the last one first, so that elements keep their order."""
    count = len(op.results)
    given = windows_from(op.attributes, op.operands[0].tensor.ndim)
    widths = {
        "edge_padding_low": tuple([low for low, _ in given.padding]),
        "edge_padding_high": tuple([high for _, high in given.padding]),
        "interior_padding": tuple([n - 1 for n in given.base_dilations]),
    }
    inits = operands[count:]
    rows = [bind1(layout.PAD, x, i, attributes=widths) for x, i in zip(operands[:count], inits, strict=True)]
    shape = op.results[0].tensor.shape
    if 0 in shape:
        return [broadcast_to_shape(i, shape) for i in inits]
    for axis in reversed(range(len(shape))):
        rows = slide_axis(rows, axis, given.sizes[axis], given.window_dilations[axis], combine)
        stride = given.strides[axis]
        rows = [part(x, axis, 0, (shape[axis] - 1) * stride + 1, stride) for x in rows]
    return with_initial(inits, rows, combine)


def _jvp_extreme(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Any:
    """Tangent of the first element of its window that equals the result; of the initial value, where that does."""
    type = op.operands[0].tensor
    direction = "GT" if body_op(op) is ops.MAXIMUM else "LT"

    def wins(x: Any, i: Any, y: Any, j: Any) -> Any:
        is_nan = compare("NE", x, x) if type.dtype.kind in "fV" else constant(False, compare("NE", x, x))
        better = bind1(ops.OR, compare(direction, x, y), is_nan)
        return bind1(ops.OR, better, bind1(ops.AND, compare("EQ", x, y), compare("LT", i, j)))

    places = selected_places(op, primals[0], wins)
    inside = compare("LT", places, full_of(type.size, places.shape, INDEX))
    if tangents[0] is None:
        picked = full_of(0, places.shape, type.dtype)
    else:
        picked = _pick(tangents[0], places)
    if tangents[1] is None:
        return select(inside, picked, full_of(0, places.shape, picked.dtype))
    is_init = compare("EQ", outputs[0], broadcast_to_shape(primals[1], places.shape))
    taken = bind1(ops.OR, is_init, bind1(ops.NOT, inside))
    return select(taken, broadcast_to_shape(tangents[1], places.shape), picked)


def _pick(x: Any, places: Any) -> Any:
    """Return the elements of an array at flat indices; any where the index is beyond the last."""
    size = math.prod(x.shape)
    if size == 0:
        return full_of(0, places.shape, x.dtype)
    return gather_flat(reshape_to(x, (size,)), places)


def selected_places(op: Op, operand: Any, wins: Callable[[Any, Any, Any, Any], Any]) -> Any:
    """Return the flat index of one element of each window; the operand's size where it has none.

    ``wins(x, i, y, j)`` says whether of two elements at these indices the first is chosen.
    """
    type = op.operands[0].tensor
    size = type.size
    numbers = TensorType((size,), INDEX)
    places = bind1(creation.IOTA, attributes={"iota_dimension": 0}, results=[numbers])
    places = reshape_to(places, type.shape)
    scalar = type.with_shape(())
    index = TensorType((), INDEX)

    def body(x: Any, i: Any, y: Any, j: Any) -> list[Any]:
        # an element that pads has no index of its own, and never wins over one that has
        beyond = full_of(size, (), INDEX)
        first = bind1(ops.AND, wins(x, i, y, j), compare("LT", i, beyond))
        first = bind1(ops.OR, first, compare("EQ", j, beyond))
        return [select(first, x, y), select(first, i, j)]

    region = trace_region(body, [scalar, index, scalar, index])
    init = full_of(0, (), type.dtype)
    annotation = make_annotation(STOP_GRADIENT, type)  # which element is chosen has no derivative
    fixed = bind1(COMPOSITE, operand, attributes=annotation, results=[type])
    operands = [fixed, places, init, full_of(size, (), INDEX)]
    names = ("window_dimensions", "window_strides", "base_dilations", "window_dilations", "padding")
    attributes = {name: op.attributes.get(name) for name in names}
    return bind(windows.REDUCE_WINDOW, *operands, attributes=attributes, regions=[region])[1]


@TRANSPOSE.register(windows.REDUCE_WINDOW)
def _transpose_reduce_window(op: Op, operands: list[Any], cotangents: list[Any]) -> Sequence[Any]:
    """Transpose sums over windows: sums over windows of the cotangent, dilated by the strides."""
    if body_op(op) is not ops.ADD:
        raise UnsupportedError("the transpose of a reduction over windows other than a sum", where=op.location)
    (c,) = cotangents
    type = op.operands[0].tensor
    given = windows_from(op.attributes, type.ndim)
    back = _spread_windows(op, c, type, given) if operands[0] is None else None
    if operands[1] is not None:
        return [back, None]
    # the initial value is added once, and again wherever a window sees padding
    ones = full_of(1, type.shape, type.dtype)
    zero = full_of(0, (), type.dtype)
    region = replay_region(op.regions[0], {})
    (seen,) = bind(windows.REDUCE_WINDOW, ones, zero, attributes=op.attributes, regions=[region])
    times = bind1(ops.SUBTRACT, full_of(1 + math.prod(given.sizes), c.shape, type.dtype), seen)
    return [back, sum_to(bind1(ops.MULTIPLY, c, times), tuple(range(type.ndim)))]


def _spread_windows(op: Op, c: Any, type: TensorType, given: Windows) -> Any:
    inputs = list(map(dilated, type.shape, given.base_dilations))
    reach = list(map(dilated, given.sizes, given.window_dilations))
    outputs = list(map(dilated, c.shape, given.strides))
    padding = transposed_padding(given, inputs, reach, outputs)
    zero = full_of(0, (), type.dtype)
    widths = {
        "edge_padding_low": tuple([low for low, _ in padding]),
        "edge_padding_high": tuple([high for _, high in padding]),
        "interior_padding": tuple([n - 1 for n in given.strides]),
    }
    padded = bind1(layout.PAD, c, zero, attributes=widths)
    attributes = {
        "window_dimensions": given.sizes,
        "window_strides": given.base_dilations,
        "window_dilations": given.window_dilations,
        "padding": as_array([(0, 0)] * type.ndim),
    }
    region = replay_region(op.regions[0], {})
    return bind1(windows.REDUCE_WINDOW, padded, zero, attributes=attributes, regions=[region])


@JOINT.register(windows.SELECT_AND_SCATTER)
def _joint_select_and_scatter(
    walker: Walker, op: Op, primals: list[Any], tangents: list[Any], environment: Environment
) -> tuple[Sequence[Any], Sequence[Any]]:
    """Scatter the source's tangent to the same places; what is selected does not change."""
    outside = {v: environment[v].primal for v in free_values(op)}
    with walker.in_primal():
        outputs = replay_op(op, primals, outside)
    if tangents[1] is None and tangents[2] is None:
        return outputs, [None]
    _require_sum(op)
    filled = [instantiate(t, v) for t, v in zip(tangents[1:], op.operands[1:], strict=True)]
    return outputs, replay_op(op, [primals[0], *filled], outside)


@ADDING.register(windows.SELECT_AND_SCATTER)
def _transpose_select_and_scatter(
    op: Op, operands: list[Any], cotangents: list[Any], known: Mapping[Value, Any], totals: Mapping[Value, Any]
) -> Mapping[Value, Any]:
    """Pick the cotangent of each window's selected element."""
    _require_sum(op)
    (c,) = cotangents
    source = None
    if operands[1] is None:
        places = selected_places(op, operands[0], _selection(op.regions[0], known))
        inside = compare("LT", places, full_of(op.operands[0].tensor.size, places.shape, INDEX))
        picked = convert(_pick(c, places), op.operands[1].tensor.dtype)
        source = select(inside, picked, full_of(0, places.shape, picked.dtype))
    init = sum_to(c, tuple(range(c.ndim))) if operands[2] is None else None
    found = dict(totals)
    add_results(op, [None, source, init], known, found)
    return found


def _selection(body: Region, environment: Mapping[Value, Any]) -> Callable[[Any, Any, Any, Any], Any]:
    """Return which of two elements is selected: as the body says, which sees that of the lower index first."""

    def wins(x: Any, i: Any, y: Any, j: Any) -> Any:
        (before,), (after,) = replay_body(body, [x, y], environment), replay_body(body, [y, x], environment)
        return select(compare("LT", i, j), before, bind1(ops.NOT, after))

    return wins


def _require_sum(op: Op) -> None:
    scatter = op.regions[1]
    if len(scatter.ops) != 1 or scatter.ops[0].definition is not ops.ADD:
        raise UnsupportedError(
            "the derivative of select_and_scatter with a scatter other than a sum", where=op.location
        )
