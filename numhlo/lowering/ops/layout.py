"""Ops that move elements without computing: broadcast_in_dim, reshape, transpose, slice, pad, concatenate, reverse.

This file knows where each element of the result comes from, for static positions; positions that are data belong to
`indexing`. Results may be views of the operands. Next: `extents` and `type_rules` compare partly unknown shapes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import DYNAMIC, Type
from numhlo.lowering.ops.extents import in_range, is_unique
from numhlo.lowering.ops.primitive import (
    RESULT_TYPES,
    Arrays,
    Attribute,
    Primitive,
    RegionFunction,
    Signature,
)
from numhlo.lowering.ops.type_rules import merge_shapes, refine

Attributes = Mapping[str, Any]
Regions = Sequence[RegionFunction]

SMALL_BROADCAST = 1024
"""Number of elements up to which filling an array is quicker than making a view (a view costs 2.5 µs)."""


class Layout(Primitive):
    """Ops whose result has the operands' elements in other places."""

    __slots__ = ()


def infer_broadcast_in_dim(signature: Signature) -> tuple[Type, ...]:
    """(C1)-(C5); (C6) is about quantized types."""
    operand, result = signature.tensor(0), signature.result_tensor()
    dims = signature.attributes["broadcast_dimensions"]
    require = signature.require
    require(operand.dtype == result.dtype, "(C1) the operand and the result must have the same element type")
    if not dims and not operand.shape:
        return (result,)
    require(len(dims) == operand.ndim, "(C2) broadcast_dimensions must have an element for each operand dimension")
    require(in_range(dims, result.ndim), "(C3) broadcast_dimensions must be in [0, rank of the result)")
    require(is_unique(dims), "(C4) broadcast_dimensions must be unique")
    for axis, (extent, dim) in enumerate(zip(operand.shape, dims, strict=True)):
        if extent not in (1, result.shape[dim]) and DYNAMIC not in (extent, result.shape[dim]):
            require(
                False,
                f"(C5) extent {extent} of operand dimension {axis} must be 1 or {result.shape[dim]}, "
                f"that of result dimension {dim}",
            )
    return (result,)


def evaluate_broadcast_in_dim(arrays: Arrays, attributes: Attributes, regions: Regions) -> tuple[np.ndarray]:
    """Repeat the operand along new dimensions and those of extent 1."""
    (x,) = arrays
    (result,) = attributes[RESULT_TYPES]
    dims, shape = attributes["broadcast_dimensions"], result.shape
    if x.shape == shape and dims == tuple(range(x.ndim)):
        return (x,)
    if list(dims) != sorted(dims):
        x = x.transpose(np.argsort(dims))
    expanded = [1] * len(shape)
    for extent, dim in zip(x.shape, sorted(dims), strict=True):
        expanded[dim] = extent
    view = x.reshape(expanded)
    if result.size > SMALL_BROADCAST:
        return (np.broadcast_to(view, shape),)
    filled = np.empty(shape, x.dtype)
    filled[...] = view
    return (filled,)


def infer_reshape(signature: Signature) -> tuple[Type, ...]:
    """(C1), (C2); (C3) is about quantized types."""
    operand, result = signature.tensor(0), signature.result_tensor()
    signature.require(operand.dtype == result.dtype, "(C1) the operand and the result must have the same element type")
    before, after = operand.size, result.size
    if before != after and operand.is_static and result.is_static:
        signature.require(False, f"(C2) the result must have as many elements as the operand, {before}, not {after}")
    return (result,)


def evaluate_reshape(arrays: Arrays, attributes: Attributes, regions: Regions) -> tuple[np.ndarray]:
    """Give the elements, in row-major order, another shape."""
    return (arrays[0].reshape(attributes[RESULT_TYPES][0].shape),)


def infer_transpose(signature: Signature) -> tuple[Type, ...]:
    """(C1)-(C3); (C4) is about quantized types."""
    operand, permutation = signature.tensor(0), signature.attributes["permutation"]
    if sorted(permutation) != list(range(operand.ndim)):
        signature.require(False, f"(C2) permutation must be a permutation of range({operand.ndim}), not {permutation}")
    inferred = operand.with_shape(tuple(operand.shape[axis] for axis in permutation))
    return refine(signature, inferred, "(C1), (C3) the result must have the operand's extents, permuted")


def evaluate_transpose(arrays: Arrays, attributes: Attributes, regions: Regions) -> tuple[np.ndarray]:
    """Reorder the dimensions."""
    return (arrays[0].transpose(attributes["permutation"]),)


def infer_slice(signature: Signature) -> tuple[Type, ...]:
    """(C1)-(C5)."""
    operand, attributes = signature.tensor(0), signature.attributes
    starts, limits, strides = (attributes[k] for k in ("start_indices", "limit_indices", "strides"))
    signature.require(
        len(starts) == len(limits) == len(strides) == operand.ndim,
        "(C2) start_indices, limit_indices and strides must have an element for each dimension",
    )
    for start, limit, stride, extent in zip(starts, limits, strides, operand.shape, strict=True):
        if not 0 <= start <= limit or (limit > extent and extent != DYNAMIC):
            signature.require(
                False, f"(C3) 0 <= start <= limit <= extent must hold, not 0 <= {start} <= {limit} <= {extent}"
            )
        if stride <= 0:
            signature.require(False, f"(C4) strides must be positive, not {strides}")
    shape = tuple([-((a - b) // s) for a, b, s in zip(starts, limits, strides, strict=True)])
    return refine(
        signature, operand.with_shape(shape), "(C1), (C5) the result's extents must be ceil((limit - start) / stride)"
    )


def evaluate_slice(arrays: Arrays, attributes: Attributes, regions: Regions) -> tuple[np.ndarray]:
    """Take every ``strides``-th element from ``start_indices`` up to ``limit_indices``."""
    bounds = zip(attributes["start_indices"], attributes["limit_indices"], attributes["strides"], strict=True)
    return (arrays[0][tuple(slice(*bound) for bound in bounds)] if arrays[0].ndim else arrays[0],)


def pad_shape(
    shape: tuple[int, ...], low: Sequence[int], high: Sequence[int], interior: Sequence[int]
) -> tuple[int, ...]:
    """Return the shape of a padded array; unknown extents stay unknown.

    Examples
    --------
    >>> pad_shape((2, 3), (0, 1), (2, 1), (1, 2))
    (5, 9)
    """
    return tuple(
        DYNAMIC if n == DYNAMIC else n + a + max(n - 1, 0) * i + b
        for n, a, b, i in zip(shape, low, high, interior, strict=True)
    )


def infer_pad(signature: Signature) -> tuple[Type, ...]:
    """(C1)-(C4)."""
    operand, padding, attributes = signature.tensor(0), signature.tensor(1), signature.attributes
    low, high, interior = (attributes[k] for k in ("edge_padding_low", "edge_padding_high", "interior_padding"))
    require = signature.require
    require(padding.ndim == 0, "(I2) padding_value must be a scalar")
    require(operand.dtype == padding.dtype, "(C1) the operand and padding_value must have the same element type")
    require(
        len(low) == len(high) == len(interior) == operand.ndim,
        "(C2) edge_padding_low, edge_padding_high and interior_padding must have an element for each dimension",
    )
    require(all(i >= 0 for i in interior), "(C3) interior_padding must not be negative")
    shape = pad_shape(operand.shape, low, high, interior)
    if any(n < 0 and old != DYNAMIC for n, old in zip(shape, operand.shape, strict=True)):
        require(False, f"(C4) negative padding removes more elements than there are: shape {shape}")
    return refine(signature, operand.with_shape(shape), "(C4) the result must have the padded shape")


def evaluate_pad(arrays: Arrays, attributes: Attributes, regions: Regions) -> tuple[np.ndarray]:
    """Put ``padding_value`` around and between elements; negative edge padding removes them."""
    x, padding = arrays
    low, interior = attributes["edge_padding_low"], attributes["interior_padding"]
    shape = pad_shape(x.shape, low, attributes["edge_padding_high"], interior)
    result = np.empty(shape, x.dtype)
    result[...] = padding
    targets, sources = [], []
    for extent, size, first, gap in zip(x.shape, shape, low, interior, strict=True):
        step = gap + 1
        begin = max(0, -(first // step))  # the least index with first + index * step >= 0
        end = max(begin, min(extent, -((first - size) // step)))
        targets.append(slice(first + begin * step, max(first + end * step - gap, 0), step) if end > begin else slice(0))
        sources.append(slice(begin, end))
    result[tuple(targets)] = x[tuple(sources)]
    return (result,)


def infer_concatenate(signature: Signature) -> tuple[Type, ...]:
    """(C1)-(C6)."""
    require = signature.require
    require(len(signature.operands) > 0, "(C3) there must be at least one operand")
    tensors, dimension = signature.tensors, signature.attributes["dimension"]
    first = tensors[0]
    require(all(t.dtype == first.dtype for t in tensors), "(C1) the operands must have the same element type")
    if not 0 <= dimension < first.ndim:
        require(False, f"(C4) dimension must be in [0, {first.ndim}), not {dimension}")
    require(all(t.ndim == first.ndim for t in tensors), "(C2) the operands must have the same rank")
    others = merge_shapes([t.shape[:dimension] + t.shape[dimension + 1 :] for t in tensors])
    require(others is not None, "(C2) the operands' shapes must agree in all dimensions but one")
    assert others is not None
    extents = [t.shape[dimension] for t in tensors]
    total = DYNAMIC if DYNAMIC in extents else sum(extents)
    shape = (*others[:dimension], total, *others[dimension:])
    return refine(signature, first.with_shape(shape), "(C5), (C6) the result must have the joined extents")


def evaluate_concatenate(arrays: Arrays, attributes: Attributes, regions: Regions) -> tuple[np.ndarray]:
    """Join the operands along ``dimension``."""
    return (np.concatenate(arrays, axis=attributes["dimension"]) if len(arrays) > 1 else arrays[0],)


def infer_reverse(signature: Signature) -> tuple[Type, ...]:
    """(C1)-(C3)."""
    operand, dimensions = signature.tensor(0), signature.attributes["dimensions"]
    signature.require(is_unique(dimensions), "(C2) dimensions must be unique")
    signature.require(in_range(dimensions, operand.ndim), "(C3) dimensions must be in [0, rank of the operand)")
    return refine(signature, operand, "(C1) the operand and the result must have the same type")


def evaluate_reverse(arrays: Arrays, attributes: Attributes, regions: Regions) -> tuple[np.ndarray]:
    """Reverse the order of the elements along ``dimensions``."""
    (x,) = arrays
    reversed_axes = attributes["dimensions"]
    return (x[tuple(slice(None, None, -1 if axis in reversed_axes else 1) for axis in range(x.ndim))] if x.ndim else x,)


BROADCAST_IN_DIM = Layout(
    "broadcast_in_dim",
    infer_broadcast_in_dim,
    evaluate_broadcast_in_dim,
    ("operand",),
    (Attribute("broadcast_dimensions", "array<i64>"),),
    explicit_result=True,
)
RESHAPE = Layout("reshape", infer_reshape, evaluate_reshape, ("operand",), explicit_result=True)
TRANSPOSE = Layout(
    "transpose", infer_transpose, evaluate_transpose, ("operand",), (Attribute("permutation", "array<i64>"),)
)
SLICE = Layout(
    "slice",
    infer_slice,
    evaluate_slice,
    ("operand",),
    tuple(Attribute(name, "array<i64>") for name in ("start_indices", "limit_indices", "strides")),
)
PAD = Layout(
    "pad",
    infer_pad,
    evaluate_pad,
    ("operand", "padding_value"),
    tuple(Attribute(name, "array<i64>") for name in ("edge_padding_low", "edge_padding_high", "interior_padding")),
)
CONCATENATE = Layout(
    "concatenate", infer_concatenate, evaluate_concatenate, ("*inputs",), (Attribute("dimension", "i64"),)
)
REVERSE = Layout("reverse", infer_reverse, evaluate_reverse, ("operand",), (Attribute("dimensions", "array<i64>"),))
