"""Ops whose result's shape is data: dynamic_reshape, dynamic_iota, dynamic_pad, ..., and the size of a dimension.

This file knows their types and their meaning on arrays. Programs are refined to static shapes before any other room
sees them (`numhlo.lowering.passes.refine_shapes`); each op then becomes the one with its shape as an attribute.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import DYNAMIC, TensorType, Type
from numhlo.lowering.ir.errors import ShapeError
from numhlo.lowering.ir.types import ELEMENT_TYPES, INTEGERS
from numhlo.lowering.ops import convolution, creation, gather, layout
from numhlo.lowering.ops.extents import at_most, extents, in_range, is_unique, same_shape
from numhlo.lowering.ops.primitive import RESULT_TYPES, Arrays, Attribute, Primitive, RegionFunction, Signature
from numhlo.lowering.ops.type_rules import refine

Attributes = Mapping[str, Any]
Regions = Sequence[RegionFunction]

SIZE = TensorType((), ELEMENT_TYPES["i32"])
"""The type of a dimension's size."""


class DynamicShape(Primitive):
    """Ops that take or give an extent as data."""

    __slots__ = ()


def as_shape(array: np.ndarray) -> tuple[int, ...]:
    """Return an array of integers as a tuple."""
    return tuple(int(n) for n in array.reshape(-1))


def _require_shape(signature: Signature, index: int, rank: int, name: str) -> None:
    """Operand ``index`` must be a vector of integers, one for each of ``rank`` dimensions."""
    type = signature.tensor(index)
    rule = f"(I{index + 1}) {name.rpartition(' ')[2]} must be a vector of integers"
    signature.require(type.dtype in INTEGERS and type.ndim == 1, rule)
    signature.require(same_shape(type.shape, (rank,)), f"{name} must have {rank} elements, not {type.shape[0]}")


def _require_same_dtype(signature: Signature, rule: str = "(C1)") -> tuple[TensorType, TensorType]:
    operand, result = signature.tensor(0), signature.result_tensor()
    same = operand.dtype == result.dtype
    signature.require(same, f"{rule} the operand and the result must have the same element type")
    return operand, result


def infer_dynamic_broadcast(signature: Signature) -> tuple[Type, ...]:
    """(C1)-(C10) but what is about quantized types."""
    attributes = signature.attributes
    expanding = attributes["known_expanding_dimensions"] or ()
    others = attributes["known_nonexpanding_dimensions"] or ()
    _, result = _require_same_dtype(signature)
    layout.infer_broadcast_in_dim(signature)
    _require_shape(signature, 1, result.ndim, "(C7) output_dimensions")
    both = [*expanding, *others]
    signature.require(is_unique(both), "(C8) known expanding and nonexpanding dimensions must be unique")
    rank = signature.tensor(0).ndim
    signature.require(in_range(both, rank), "(C9), (C10) known dimensions must be dimensions of the operand")
    return (result,)


def evaluate_dynamic_broadcast(arrays: Arrays, attributes: Attributes, regions: Regions) -> Arrays:
    """Broadcast to the shape that the second operand holds."""
    result = TensorType(as_shape(arrays[1]), arrays[0].dtype)
    return layout.evaluate_broadcast_in_dim(arrays[:1], {**attributes, RESULT_TYPES: (result,)}, regions)


def infer_dynamic_reshape(signature: Signature) -> tuple[Type, ...]:
    """(C1), (C2), (C4); (C3) is about quantized types."""
    _, result = _require_same_dtype(signature)
    layout.infer_reshape(signature)
    _require_shape(signature, 1, result.ndim, "(C4) output_shape")
    return (result,)


def evaluate_dynamic_reshape(arrays: Arrays, attributes: Attributes, regions: Regions) -> Arrays:
    """Reshape to the shape that the second operand holds."""
    return (arrays[0].reshape(as_shape(arrays[1])),)


def infer_dynamic_iota(signature: Signature) -> tuple[Type, ...]:
    """(C1), (C2)."""
    (result,) = creation.infer_counting(signature)
    _require_shape(signature, 0, signature.result_tensor().ndim, "(C2) output_shape")
    return (result,)


def evaluate_dynamic_iota(arrays: Arrays, attributes: Attributes, regions: Regions) -> Arrays:
    """Count along a dimension of the shape that the operand holds."""
    dtype = attributes[RESULT_TYPES][0].dtype
    return (creation.make_iota(as_shape(arrays[0]), dtype, attributes["iota_dimension"]),)


def _require_one_type(signature: Signature, first: int) -> None:
    """Three operands that go together have one element type."""
    dtypes = {t.dtype for t in signature.tensors[first:]}
    signature.require(len(dtypes) == 1, f"operands {first} to {first + 2} must have one element type")


def infer_dynamic_pad(signature: Signature) -> tuple[Type, ...]:
    """(C1), (C2); (C3) and (C4) are about values."""
    operand, result = _require_same_dtype(signature)
    padding = signature.tensor(1)
    signature.require(padding.ndim == 0, "(I2) padding_value must be a scalar")
    signature.require(padding.dtype == operand.dtype, "(C1) padding_value must have the operand's element type")
    for index, name in enumerate(("edge_padding_low", "edge_padding_high", "interior_padding"), 2):
        _require_shape(signature, index, operand.ndim, f"(C2) {name}")
    _require_one_type(signature, 2)
    signature.require(result.ndim == operand.ndim, "(C4) the result must have the operand's rank")
    return (result,)


def evaluate_dynamic_pad(arrays: Arrays, attributes: Attributes, regions: Regions) -> Arrays:
    """Pad by the amounts that the last three operands hold."""
    low, high, interior = map(as_shape, arrays[2:])
    amounts = {"edge_padding_low": low, "edge_padding_high": high, "interior_padding": interior}
    return layout.evaluate_pad(arrays[:2], amounts, regions)


def infer_real_dynamic_slice(signature: Signature) -> tuple[Type, ...]:
    """(C1), (C2)."""
    operand, result = _require_same_dtype(signature)
    for index, name in enumerate(("start_indices", "limit_indices", "strides"), 1):
        _require_shape(signature, index, operand.ndim, f"(C2) {name}")
    _require_one_type(signature, 1)
    signature.require(result.ndim == operand.ndim, "(C1) the result must have the operand's rank")
    return (result,)


def evaluate_real_dynamic_slice(arrays: Arrays, attributes: Attributes, regions: Regions) -> Arrays:
    """Slice by the bounds and strides that the last three operands hold."""
    starts, limits, strides = map(as_shape, arrays[1:])
    bounds = {"start_indices": starts, "limit_indices": limits, "strides": strides}
    return layout.evaluate_slice(arrays[:1], bounds, regions)


GATHER_RULES = {"(C7)": "(C6)", "(C8)": "(C7)", "(C18)": "(C9)", "(C19)": "(C10)"}
"""The numbers that constraints of `gather` have in the list of `dynamic_gather`, where they are others."""


class _AsDynamic(Signature):
    """A signature of `dynamic_gather` whose broken rules are quoted by the numbers of that op."""

    __slots__ = ()

    def require(self, condition: bool, rule: str) -> None:
        """Require a condition of `gather`."""
        number, _, text = rule.partition(" ")
        Signature.require(self, condition, f"{GATHER_RULES.get(number, number)} {text}")


def infer_dynamic_gather(signature: Signature) -> tuple[Type, ...]:
    """Check the dimension numbers as `gather` does; what the sizes have to fit is seen once they are known."""
    operand, result = _require_same_dtype(signature, "(C14)")
    numbers = signature.attributes["dimension_numbers"]
    same = signature
    parts = (same.name, same.operands, same.attributes, same.regions, same.results, same.location)
    gather.check_gather_numbers(_AsDynamic(*parts), numbers)
    _require_shape(signature, 2, operand.ndim, "(C11) slice_sizes")
    shape = gather.gathered_shape(signature.tensor(1), (DYNAMIC,) * operand.ndim, numbers)
    signature.require(same_shape(result.shape, shape), f"(C13) the result's shape must be {extents(shape)}")
    return (result,)


def evaluate_dynamic_gather(arrays: Arrays, attributes: Attributes, regions: Regions) -> Arrays:
    """Gather slices of the sizes that the last operand holds."""
    return gather.evaluate_gather(arrays[:2], {**attributes, "slice_sizes": as_shape(arrays[2])}, regions)


def evaluate_dynamic_conv(arrays: Arrays, attributes: Attributes, regions: Regions) -> Arrays:
    """Convolve with the padding that the last operand holds."""
    padding = arrays[2].astype(np.int64)
    return convolution.evaluate_convolution(arrays[:2], {**attributes, "padding": padding}, regions)


def _require_dimension(signature: Signature) -> TensorType:
    operand, dimension = signature.tensor(0), signature.attributes["dimension"]
    known = 0 <= dimension < operand.ndim
    signature.require(known, f"(C1) dimension must be in [0, {operand.ndim}), not {dimension}")
    return operand


def infer_get_dimension_size(signature: Signature) -> tuple[Type, ...]:
    """(C1)."""
    _require_dimension(signature)
    return refine(signature, SIZE, "the result must be a tensor<i32>")


def evaluate_get_dimension_size(arrays: Arrays, attributes: Attributes, regions: Regions) -> Arrays:
    """Return the extent of a dimension."""
    return (np.array(arrays[0].shape[attributes["dimension"]], SIZE.dtype),)


def infer_set_dimension_size(signature: Signature) -> tuple[Type, ...]:
    """The specification leaves it to a proposal; the result is the operand with another, smaller, extent."""
    operand, result = _require_dimension(signature), signature.result_tensor()
    dimension = signature.attributes["dimension"]
    size = signature.tensor(1)
    signature.require(size.ndim == 0 and size.dtype == np.int32, "size must be a tensor<i32>")
    rest = [t.shape[:dimension] + t.shape[dimension + 1 :] for t in (operand, result)]
    agree = operand.dtype == result.dtype and operand.ndim == result.ndim and same_shape(*rest)
    signature.require(agree, "the result must be the operand but for the extent of one dimension")
    fits = result.shape[dimension] == DYNAMIC or at_most(result.shape[dimension], operand.shape[dimension])
    signature.require(fits, "a dimension can't be made larger")
    return (result,)


def evaluate_set_dimension_size(arrays: Arrays, attributes: Attributes, regions: Regions) -> Arrays:
    """Keep the first elements along a dimension."""
    x, dimension = arrays[0], attributes["dimension"]
    size = checked_size(int(arrays[1]), x.shape[dimension])
    return (x[(*[slice(None)] * dimension, slice(size))],)


def checked_size(size: int, extent: int) -> int:
    """Return a dimension's new size, which must be at most its extent.

    Raises
    ------
    ShapeError
        If it is larger, or negative.
    """
    if not 0 <= size <= extent:
        raise ShapeError(f"set_dimension_size: {size} is not in [0, {extent}]", why="a dimension can't be made larger")
    return size


_KNOWN = tuple(
    Attribute(name, "array<i64>", None) for name in ("known_expanding_dimensions", "known_nonexpanding_dimensions")
)
DYNAMIC_BROADCAST_IN_DIM = DynamicShape(
    "dynamic_broadcast_in_dim",
    infer_dynamic_broadcast,
    evaluate_dynamic_broadcast,
    ("operand", "output_dimensions"),
    (Attribute("broadcast_dimensions", "array<i64>"), *_KNOWN),
    explicit_result=True,
)
DYNAMIC_RESHAPE = DynamicShape(
    "dynamic_reshape",
    infer_dynamic_reshape,
    evaluate_dynamic_reshape,
    ("operand", "output_shape"),
    explicit_result=True,
)
DYNAMIC_IOTA = DynamicShape(
    "dynamic_iota",
    infer_dynamic_iota,
    evaluate_dynamic_iota,
    ("output_shape",),
    (Attribute("iota_dimension", "i64"),),
    explicit_result=True,
)
DYNAMIC_PAD = DynamicShape(
    "dynamic_pad",
    infer_dynamic_pad,
    evaluate_dynamic_pad,
    ("operand", "padding_value", "edge_padding_low", "edge_padding_high", "interior_padding"),
    explicit_result=True,
)
REAL_DYNAMIC_SLICE = DynamicShape(
    "real_dynamic_slice",
    infer_real_dynamic_slice,
    evaluate_real_dynamic_slice,
    ("operand", "start_indices", "limit_indices", "strides"),
    explicit_result=True,
)
DYNAMIC_GATHER = DynamicShape(
    "dynamic_gather",
    infer_dynamic_gather,
    evaluate_dynamic_gather,
    ("operand", "start_indices", "slice_sizes"),
    (Attribute("dimension_numbers", "record:gather"), Attribute("indices_are_sorted", "bool", False)),
    explicit_result=True,
)
DYNAMIC_CONV = DynamicShape(
    "dynamic_conv",
    convolution.infer_dynamic_conv,
    evaluate_dynamic_conv,
    ("lhs", "rhs", "padding"),
    tuple(a for a in convolution.ATTRIBUTES if a.name != "padding"),
    explicit_result=True,
)
GET_DIMENSION_SIZE = DynamicShape(
    "get_dimension_size",
    infer_get_dimension_size,
    evaluate_get_dimension_size,
    ("operand",),
    (Attribute("dimension", "i64"),),
)
SET_DIMENSION_SIZE = DynamicShape(
    "set_dimension_size",
    infer_set_dimension_size,
    evaluate_set_dimension_size,
    ("operand", "size"),
    (Attribute("dimension", "i64"),),
    explicit_result=True,
)

FIRST_SHAPE: dict[Primitive, int] = {
    DYNAMIC_BROADCAST_IN_DIM: 1,
    DYNAMIC_RESHAPE: 1,
    DYNAMIC_IOTA: 0,
    DYNAMIC_PAD: 2,
    REAL_DYNAMIC_SLICE: 1,
}
"""Ops whose operands from this number on are shapes, which may be tensors of ``index``."""
