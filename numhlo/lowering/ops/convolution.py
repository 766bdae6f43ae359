"""The op ``convolution``: products of windows of lhs with rhs, for any layout, padding, dilation and grouping.

All windows are one view of the padded lhs, and the convolution a stack of matrix products of that with rhs, one for
each group. Element types are summed as `contraction` does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import DYNAMIC, TensorType, Type
from numhlo.lowering.ir.types import INTEGERS
from numhlo.lowering.ops.contraction import accumulation_dtype
from numhlo.lowering.ops.dimension_numbers import ConvolutionDimensionNumbers
from numhlo.lowering.ops.extents import extents, in_range, is_unique, same_extent, same_shape
from numhlo.lowering.ops.primitive import RESULT_TYPES, Arrays, Attribute, Primitive, RegionFunction, Signature
from numhlo.lowering.ops.window_geometry import (
    PADDING,
    STRIDES,
    Windows,
    as_pairs,
    check_padding,
    check_positive,
    ones_or,
    pad_array,
    windows_of,
)


class Convolution(Primitive):
    """An op that multiplies windows."""

    __slots__ = ()


def spatial_windows(attributes: Mapping[str, Any], sizes: Sequence[int]) -> Windows:
    """Return the windows over spatial dimensions, ``sizes`` being the kernel's spatial extents."""
    rank = len(sizes)
    return Windows(
        tuple(sizes),
        ones_or(attributes["window_strides"], rank),
        as_pairs(attributes["padding"], rank),
        ones_or(attributes["lhs_dilation"], rank),
        ones_or(attributes["rhs_dilation"], rank),
    )


def reversals(attributes: Mapping[str, Any], rank: int) -> tuple[bool, ...]:
    """Return which spatial dimensions of the windows are reversed."""
    given = attributes["window_reversal"]
    return (False,) * rank if given is None else tuple(given)


def infer_convolution(signature: Signature) -> Sequence[Type]:
    """Check (C1) to (C24); (C25), (C26) the result's shape; its element type (C27) may be declared."""
    lhs, rhs = _check_operands(signature)
    check_padding(signature, lhs.ndim - 2, "C4")
    shape = convolution_shape(signature.attributes, lhs.shape, rhs.shape)
    if signature.results is None:
        return [TensorType(shape, lhs.dtype)]
    return _check_result(signature, shape)


def infer_dynamic_conv(signature: Signature) -> Sequence[Type]:
    """Check what `convolution` does, but for the spatial extents of the result, which depend on padding's value."""
    lhs, rhs = _check_operands(signature)
    padding, rank = signature.tensor(2), lhs.ndim - 2
    signature.require(padding.dtype in INTEGERS and padding.ndim == 2, "(I3) padding must be a matrix of integers")
    signature.require(same_shape(padding.shape, (rank, 2)), f"(C4) padding must have the shape [{rank}, 2]")
    spatial = signature.attributes["dimension_numbers"].input_spatial_dimensions
    open_shape = [DYNAMIC if d in spatial else n for d, n in enumerate(lhs.shape)]
    shape = convolution_shape({**signature.attributes, "padding": None}, open_shape, rhs.shape)
    return _check_result(signature, shape)


def _check_result(signature: Signature, shape: Sequence[int]) -> list[Type]:
    declared = signature.result_tensor()
    signature.require(declared.ndim == len(shape), f"(C26) the result must be of rank {len(shape)}")
    signature.require(same_shape(declared.shape, shape), f"(C25) the result's shape must be {extents(shape)}")
    return [declared]


def _check_operands(signature: Signature) -> tuple[TensorType, TensorType]:
    """Check what is known without padding: (C1) to (C3), (C5) to (C24), (C27)."""
    lhs, rhs = signature.tensor(0), signature.tensor(1)
    require = signature.require
    require(lhs.ndim == rhs.ndim, "(C1) operands must have the same rank")
    numbers: ConvolutionDimensionNumbers = signature.attributes["dimension_numbers"]
    known = isinstance(numbers, ConvolutionDimensionNumbers)
    require(known, "dimension_numbers must say of every dimension what it is")
    rank = lhs.ndim - 2
    _check_windows(signature, rank)
    _check_dimensions(signature, numbers, lhs.ndim)
    _check_groups(signature, numbers, lhs, rhs)
    require(lhs.dtype == rhs.dtype, "(C27) operands must have one element type")
    return lhs, rhs


def _check_windows(signature: Signature, rank: int) -> None:
    signature.require(rank >= 0, "(C13) operands need a batch and a feature dimension")
    check_positive(signature, "window_strides", rank, "C2", "C3")
    check_positive(signature, "lhs_dilation", rank, "C5", "C6")
    check_positive(signature, "rhs_dilation", rank, "C7", "C8")
    reversal = reversals(signature.attributes, rank)
    signature.require(len(reversal) == rank, f"(C9) window_reversal must have {rank} entries")


def _check_dimensions(signature: Signature, numbers: ConvolutionDimensionNumbers, ndim: int) -> None:
    for name, dims, size_rule, rule in (
        ("input", numbers.input, "C12", "C13"),
        ("kernel", numbers.kernel, "C17", "C18"),
        ("output", numbers.output, "C19", "C20"),
    ):
        signature.require(len(dims) == ndim, f"({size_rule}) {name}_spatial_dimensions must have {ndim - 2} entries")
        fits = is_unique(dims) and in_range(dims, ndim)
        signature.require(fits, f"({rule}) the {name}'s dimensions must be all of its axes, each once")


def _check_groups(signature: Signature, numbers: ConvolutionDimensionNumbers, lhs: TensorType, rhs: TensorType) -> None:
    require = signature.require
    features, batches = signature.attributes["feature_group_count"], signature.attributes["batch_group_count"]
    require(features > 0, "(C21) feature_group_count must be positive")
    require(batches > 0, "(C22) batch_group_count must be positive")
    require(1 in {features, batches}, "(C23) feature_group_count or batch_group_count must be 1")
    batch, depth = (lhs.shape[d] for d in numbers.input[:2])
    kernel_depth, outputs = (rhs.shape[d] for d in numbers.kernel[:2])
    require(_divides(batches, batch), "(C10) batch_group_count must divide the input's batch")
    require(_divides(features, depth), "(C11) feature_group_count must divide the input's features")
    fits = depth == DYNAMIC or same_extent(kernel_depth, depth // features)
    require(fits, "(C14) the kernel's input features must be the input's, divided by feature_group_count")
    require(_divides(batches, outputs), "(C15) batch_group_count must divide the kernel's output features")
    require(_divides(features, outputs), "(C16) feature_group_count must divide the kernel's output features")
    count = len(signature.attributes["precision_config"])
    require(count in {0, 2}, "(C24) precision_config must have 2 entries")


def _divides(count: int, extent: int) -> bool:
    return extent == DYNAMIC or extent % count == 0


def convolution_shape(attributes: Mapping[str, Any], lhs: Sequence[int], rhs: Sequence[int]) -> tuple[int, ...]:
    """Return the result's shape, from the operands'."""
    numbers: ConvolutionDimensionNumbers = attributes["dimension_numbers"]
    windows = spatial_windows(attributes, [rhs[d] for d in numbers.kernel_spatial_dimensions])
    batch = lhs[numbers.input_batch_dimension]
    extents = [batch if batch == DYNAMIC else batch // attributes["batch_group_count"]]
    extents.append(rhs[numbers.kernel_output_feature_dimension])
    extents += windows.counts([lhs[d] for d in numbers.input_spatial_dimensions])
    shape = [0] * len(lhs)
    for dim, extent in zip(numbers.output, extents, strict=True):
        shape[dim] = extent
    return tuple(shape)


def evaluate_convolution(
    arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]
) -> tuple[np.ndarray]:
    """Multiply all windows of a group, as rows of a matrix, with the kernels of that group, as columns."""
    numbers: ConvolutionDimensionNumbers = attributes["dimension_numbers"]
    dtype: np.dtype = attributes[RESULT_TYPES][0].dtype
    lhs, rhs = (a.astype(accumulation_dtype(dtype), copy=False) for a in arrays)
    lhs, rhs = lhs.transpose(numbers.input), rhs.transpose(numbers.kernel)
    rank = lhs.ndim - 2
    flipped = tuple([k + 2 for k, reverse in enumerate(reversals(attributes, rank)) if reverse])
    rhs = np.flip(rhs, flipped)
    windows = spatial_windows(attributes, rhs.shape[2:])
    counts = windows.counts(lhs.shape[2:])
    whole = _over_all_dimensions(windows)
    shape = (*lhs.shape[:2], *counts)
    view = windows_of(pad_array(lhs, np.zeros((), lhs.dtype), whole), whole, shape)
    view = view.reshape(*shape, *windows.sizes)
    features, batches = attributes["feature_group_count"], attributes["batch_group_count"]
    groups = features * batches
    view = view.reshape(batches, shape[0] // batches, features, shape[1] // features, *counts, *windows.sizes)
    # groups, batch, spatial x features of a group, window
    order = [0, 2, 1, *range(4, 4 + rank), 3, *range(4 + rank, 4 + 2 * rank)]
    depth = rhs.shape[0] * math.prod(windows.sizes)
    pixels = shape[0] // batches * math.prod(counts)
    rows = view.transpose(order).reshape(groups, pixels, depth)
    columns = rhs.reshape(rhs.shape[0], groups, rhs.shape[1] // groups, *rhs.shape[2:])
    columns = np.moveaxis(columns, 2, -1).swapaxes(0, 1).reshape(groups, depth, rhs.shape[1] // groups)
    product = np.matmul(rows, columns).reshape(groups, shape[0] // batches, *counts, rhs.shape[1] // groups)
    result = np.moveaxis(product, 0, -2).reshape(shape[0] // batches, *counts, rhs.shape[1])
    result = np.moveaxis(result, -1, 1).transpose(np.argsort(numbers.output))
    return (np.ascontiguousarray(result).astype(dtype, copy=False),)


def _over_all_dimensions(windows: Windows) -> Windows:
    """Return windows of one element along two more dimensions, batch and feature, in front."""
    ones = (1, 1)
    return Windows(
        ones + windows.sizes,
        ones + windows.strides,
        ((0, 0), (0, 0), *windows.padding),
        ones + windows.base_dilations,
        ones + windows.window_dilations,
    )


ATTRIBUTES = (
    Attribute("dimension_numbers", "record:conv"),
    STRIDES,
    PADDING,
    Attribute("lhs_dilation", "array<i64>", None),
    Attribute("rhs_dilation", "array<i64>", None),
    Attribute("window_reversal", "array<i1>", None),
    Attribute("feature_group_count", "i64"),
    Attribute("batch_group_count", "i64"),
    Attribute("precision_config", "enums:precision", ()),
)
CONVOLUTION = Convolution(
    "convolution", infer_convolution, evaluate_convolution, ("lhs", "rhs"), ATTRIBUTES, explicit_result=True
)
