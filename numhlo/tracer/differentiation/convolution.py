"""Differentiation of convolution, which is linear in each operand: both transposes are convolutions again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import Op
from numhlo.lowering.ops import convolution, layout
from numhlo.lowering.ops.convolution import reversals, spatial_windows
from numhlo.lowering.ops.dimension_numbers import ConvolutionDimensionNumbers
from numhlo.lowering.ops.window_geometry import Pairs, Windows, as_array, dilated
from numhlo.tracer.batching.windows import merge_axes, split_axis
from numhlo.tracer.core.arrangement import move_axis
from numhlo.tracer.core.bind import bind1
from numhlo.tracer.core.operands import convert
from numhlo.tracer.differentiation.contraction import jvp_bilinear
from numhlo.tracer.differentiation.table import JVP, TRANSPOSE, linear_operand, zeros_of

JVP.register(convolution.CONVOLUTION)(jvp_bilinear)


@TRANSPOSE.register(convolution.CONVOLUTION)
def _transpose_convolution(op: Op, operands: list[Any], cotangents: list[Any]) -> Sequence[Any]:
    place = linear_operand(op, operands)
    known = operands[1 - place]
    c = convert(cotangents[0], known.dtype)
    if 0 in op.results[0].tensor.shape:  # there are no windows over a cotangent without elements
        return [zeros_of(v) if k == place else None for k, v in enumerate(op.operands)]
    result = (_transpose_lhs if place == 0 else _transpose_rhs)(op, c, known)
    return [convert(result, op.operands[place].tensor.dtype) if k == place else None for k in (0, 1)]


def _geometry(op: Op) -> tuple[ConvolutionDimensionNumbers, Windows, list[int], list[int], list[int]]:
    """Return dimension numbers, windows, and the dilated spatial extents of input, window and output."""
    numbers: ConvolutionDimensionNumbers = op.attributes["dimension_numbers"]
    lhs, rhs = (v.tensor.shape for v in op.operands)
    windows = spatial_windows(op.attributes, [rhs[d] for d in numbers.kernel_spatial_dimensions])
    out = [op.results[0].tensor.shape[d] for d in numbers.output_spatial_dimensions]
    inputs = [lhs[d] for d in numbers.input_spatial_dimensions]
    return (
        numbers,
        windows,
        list(map(dilated, inputs, windows.base_dilations)),
        list(map(dilated, windows.sizes, windows.window_dilations)),
        list(map(dilated, out, windows.strides)),
    )


def transposed_padding(windows: Windows, inputs: Sequence[int], reach: Sequence[int], outputs: Sequence[int]) -> Pairs:
    """Return the padding with which windows over the dilated outputs meet each input once for each of its uses."""
    pairs = []
    for (low, _), n, size, m in zip(windows.padding, inputs, reach, outputs, strict=True):
        before = size - low - 1
        pairs.append((before, n + size - 1 - m - before))
    return tuple(pairs)


def _transpose_lhs(op: Op, c: Any, rhs: Any) -> Any:
    """Convolve the dilated cotangent with the kernel reversed, its features exchanged."""
    numbers, windows, inputs, reach, outputs = _geometry(op)
    batches = op.attributes["batch_group_count"]
    groups = op.attributes["feature_group_count"] * batches
    features_in, features_out = numbers.kernel[:2]
    if groups > 1:  # the groups go from the output's features to the input's
        split = split_axis(rhs, features_out, groups)
        rhs = merge_axes(move_axis(split, features_out, features_in), features_in)
    flipped = ConvolutionDimensionNumbers(
        numbers.output_batch_dimension,
        numbers.output_feature_dimension,
        numbers.output_spatial_dimensions,
        features_out,
        features_in,
        numbers.kernel_spatial_dimensions,
        numbers.input_batch_dimension,
        numbers.input_feature_dimension,
        numbers.input_spatial_dimensions,
    )
    result = _convolve(
        op,
        (c, rhs),
        flipped,
        Windows(
            windows.sizes,
            windows.base_dilations,
            transposed_padding(windows, inputs, reach, outputs),
            windows.strides,
            windows.window_dilations,
        ),
        window_reversal=tuple([not r for r in reversals(op.attributes, len(inputs))]),
        feature_group_count=groups,
        batch_group_count=1,
    )
    if batches > 1:
        batch, feature = numbers.input[:2]
        split = split_axis(result, feature, batches)
        result = merge_axes(move_axis(split, feature, batch), batch)
    return result


def _transpose_rhs(op: Op, c: Any, lhs: Any) -> Any:
    """Convolve the input, batches and features exchanged, with the dilated cotangent."""
    numbers, windows, inputs, reach, outputs = _geometry(op)
    padding = [
        (low, m - n + size - low - 1)
        for (low, _), n, size, m in zip(windows.padding, inputs, reach, outputs, strict=True)
    ]
    exchanged = ConvolutionDimensionNumbers(
        numbers.input_feature_dimension,
        numbers.input_batch_dimension,
        numbers.input_spatial_dimensions,
        numbers.output_batch_dimension,
        numbers.output_feature_dimension,
        numbers.output_spatial_dimensions,
        numbers.kernel_input_feature_dimension,
        numbers.kernel_output_feature_dimension,
        numbers.kernel_spatial_dimensions,
    )
    result = _convolve(
        op,
        (lhs, c),
        exchanged,
        Windows(windows.sizes, windows.window_dilations, tuple(padding), windows.base_dilations, windows.strides),
        window_reversal=(False,) * len(inputs),
        feature_group_count=op.attributes["batch_group_count"],
        batch_group_count=op.attributes["feature_group_count"],
    )
    reversal = reversals(op.attributes, len(inputs))
    axes = tuple([d for d, r in zip(numbers.kernel_spatial_dimensions, reversal, strict=True) if r])
    return bind1(layout.REVERSE, result, attributes={"dimensions": axes}) if axes else result


def _convolve(
    op: Op, operands: tuple[Any, Any], numbers: ConvolutionDimensionNumbers, windows: Windows, **changed: Any
) -> Any:
    attributes = {
        **op.attributes,
        "dimension_numbers": numbers,
        "window_strides": windows.strides,
        "padding": as_array(windows.padding),
        "lhs_dilation": windows.base_dilations,
        "rhs_dilation": windows.window_dilations,
        **changed,
    }
    shape = convolution.convolution_shape(attributes, *[np.shape(x) for x in operands])
    result = op.results[0].tensor.with_shape(shape).with_dtype(operands[0].dtype)
    return bind1(convolution.CONVOLUTION, *operands, attributes=attributes, results=[result])
