"""Batching of windows and convolutions: one more dimension with windows of one element, or more batches or features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Op
from numhlo.lowering.ops import convolution, windows
from numhlo.lowering.ops.convolution import convolution_shape
from numhlo.lowering.ops.dimension_numbers import ConvolutionDimensionNumbers
from numhlo.lowering.ops.window_geometry import as_array, as_pairs
from numhlo.tracer.batching.control_flow import map_lanes
from numhlo.tracer.batching.table import BATCHING, Environment, Lanes, all_mapped, spread
from numhlo.tracer.core.arrangement import move_axis
from numhlo.tracer.core.bind import bind, bind1
from numhlo.tracer.core.operands import full_of, reshape_to, shape_of
from numhlo.tracer.core.replay import replay_region


@BATCHING.register(windows.REDUCE_WINDOW, windows.SELECT_AND_SCATTER)
def _batch_windows(op: Op, operands: list[Lanes], size: int, environment: Environment) -> Sequence[Lanes]:
    count = len(op.results) if op.definition is windows.REDUCE_WINDOW else 2
    outer = free_values(op)
    if any(x.mapped for x in operands[count:]) or any(environment[v].mapped for v in outer):
        return map_lanes(op, operands, size, environment)
    plain = {v: environment[v].array for v in outer}
    regions = [replay_region(region, plain) for region in op.regions]
    arrays = [spread(x, size) for x in operands[:count]]
    inits = [x.array for x in operands[count:]]
    attributes = _with_lane_dimension(op)
    return all_mapped(bind(op.definition, *arrays, *inits, attributes=attributes, regions=regions))


def _with_lane_dimension(op: Op) -> dict[str, Any]:
    """Return a window op's attributes with a dimension in front whose windows hold one element."""
    shifted: dict[str, Any] = {k: v if v is None or k == "padding" else (1, *v) for k, v in op.attributes.items()}
    if shifted["padding"] is not None:
        shifted["padding"] = as_array(((0, 0), *as_pairs(shifted["padding"], op.operands[0].tensor.ndim)))
    return shifted


def split_axis(x: Any, axis: int, outer: int) -> Any:
    """Return an array with an axis split in two, the outer one of a given extent."""
    shape = shape_of(x)
    return reshape_to(x, (*shape[:axis], outer, shape[axis] // outer, *shape[axis + 1 :]))


def merge_axes(x: Any, axis: int) -> Any:
    """Return an array with an axis and the next one merged."""
    shape = shape_of(x)
    return reshape_to(x, (*shape[:axis], shape[axis] * shape[axis + 1], *shape[axis + 2 :]))


def _merge_lanes(x: Any, axis: int, groups: int) -> Any:
    """Return an array whose leading lane axis became part of ``axis``, between its ``groups`` and the rest."""
    split = split_axis(x, axis + 1, groups)
    return merge_axes(merge_axes(move_axis(split, 0, axis + 1), axis), axis)


def _split_lanes(x: Any, axis: int, groups: int, size: int) -> Any:
    """Undo `_merge_lanes`."""
    split = split_axis(split_axis(x, axis, groups), axis + 1, size)
    return merge_axes(move_axis(split, axis + 1, 0), axis + 1)


@BATCHING.register(convolution.CONVOLUTION)
def _batch_convolution(op: Op, operands: list[Lanes], size: int, environment: Environment) -> Sequence[Lanes]:
    """Lanes of lhs are batches, lanes of rhs output features, lanes of both groups of features or batches."""
    if not size:  # there is nothing to be split again
        tensor = op.results[0].tensor
        return [Lanes(full_of(0, (0, *tensor.shape), tensor.dtype), True)]
    lhs, rhs = operands
    numbers: ConvolutionDimensionNumbers = op.attributes["dimension_numbers"]
    attributes = dict(op.attributes)
    features, batches = attributes["feature_group_count"], attributes["batch_group_count"]
    left, right = lhs.array, rhs.array
    if lhs.mapped and rhs.mapped:
        grouped, axis = ("batch_group_count", 0) if batches > 1 else ("feature_group_count", 1)
        attributes[grouped] *= size
        left = _merge_lanes(left, numbers.input[axis], 1)
        right = _merge_lanes(right, numbers.kernel_output_feature_dimension, 1)
        place, groups = numbers.output_feature_dimension, 1
    elif lhs.mapped:
        left = _merge_lanes(left, numbers.input_batch_dimension, batches)
        place, groups = numbers.output_batch_dimension, 1
    else:
        groups = features * batches
        right = _merge_lanes(right, numbers.kernel_output_feature_dimension, groups)
        place = numbers.output_feature_dimension
    shape = convolution_shape(attributes, shape_of(left), shape_of(right))
    result = op.results[0].tensor.with_shape(shape)
    output = bind1(convolution.CONVOLUTION, left, right, attributes=attributes, results=[result])
    return [Lanes(_split_lanes(output, place, groups, size), True)]
