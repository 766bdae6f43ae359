"""Ops that change the element type or its precision: convert, bitcast_convert, reduce_precision.

This file knows the type rules; `casting` knows what a conversion does to a value, `bit_patterns` what it does to bits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import DYNAMIC, Type
from numhlo.lowering.ir.types import COMPLEX, FLOATS
from numhlo.lowering.ops.bit_patterns import BIT_WIDTHS, bitcast, round_to_format
from numhlo.lowering.ops.casting import cast
from numhlo.lowering.ops.extents import same_shape
from numhlo.lowering.ops.primitive import (
    RESULT_TYPES,
    Arrays,
    Attribute,
    Primitive,
    RegionFunction,
    Signature,
)
from numhlo.lowering.ops.type_rules import refine, require_dtype

Attributes = Mapping[str, Any]
Regions = Sequence[RegionFunction]


class Conversion(Primitive):
    """Ops that give each element another type or precision."""

    __slots__ = ()


def infer_convert(signature: Signature) -> tuple[Type, ...]:
    """(C1)."""
    operand, result = signature.tensor(0), signature.result_tensor()
    if operand.shape != result.shape:
        signature.require(same_shape(operand.shape, result.shape), "(C1) the result must have the operand's shape")
    return (result,)


def evaluate_convert(arrays: Arrays, attributes: Attributes, regions: Regions) -> tuple[np.ndarray]:
    """Convert every element to the result's element type."""
    return (cast(arrays[0], attributes[RESULT_TYPES][0].dtype),)


def infer_bitcast_convert(signature: Signature) -> tuple[Type, ...]:
    """(C1), (C2)."""
    operand, result = signature.tensor(0), signature.result_tensor()
    both_or_none = (operand.dtype in COMPLEX) == (result.dtype in COMPLEX)
    signature.require(both_or_none, "(C2) either both types must be complex or none")
    before, after = BIT_WIDTHS[operand.dtype], BIT_WIDTHS[result.dtype]
    if before == after:
        signature.require(same_shape(operand.shape, result.shape), "(C1) the result must have the operand's shape")
        return (result,)
    wide, narrow = (operand, result) if before > after else (result, operand)
    signature.require(
        narrow.ndim == wide.ndim + 1 and same_shape(narrow.shape[:-1], wide.shape),
        f"(C1) {narrow.short()} must have the shape of {wide.short()} and one dimension more",
    )
    count, per_element = narrow.shape[-1], BIT_WIDTHS[narrow.dtype]
    signature.require(
        count == DYNAMIC or count * per_element == BIT_WIDTHS[wide.dtype],
        f"(C1) {count} elements of {per_element} bits must make one of {BIT_WIDTHS[wide.dtype]} bits",
    )
    return (result,)


def evaluate_bitcast_convert(arrays: Arrays, attributes: Attributes, regions: Regions) -> tuple[np.ndarray]:
    """Read the operand's bits as the result's element type, the low bits first."""
    (result,) = attributes[RESULT_TYPES]
    return (bitcast(arrays[0], result.dtype, result.shape),)


def infer_reduce_precision(signature: Signature) -> tuple[Type, ...]:
    """(C1)-(C3)."""
    operand = require_dtype(signature, 0, FLOATS, "floats")
    exponent_bits, mantissa_bits = (signature.attributes[k] for k in ("exponent_bits", "mantissa_bits"))
    signature.require(exponent_bits >= 1, f"(C2) exponent_bits must be positive, not {exponent_bits}")
    signature.require(mantissa_bits >= 0, f"(C3) mantissa_bits must not be negative, but is {mantissa_bits}")
    return refine(signature, operand, "(C1) the operand and the result must have the same type")


def evaluate_reduce_precision(arrays: Arrays, attributes: Attributes, regions: Regions) -> tuple[np.ndarray]:
    """Round every element to a format with the given bits, and back."""
    return (round_to_format(arrays[0], attributes["exponent_bits"], attributes["mantissa_bits"]),)


CONVERT = Conversion("convert", infer_convert, evaluate_convert, ("operand",), explicit_result=True)
BITCAST_CONVERT = Conversion(
    "bitcast_convert", infer_bitcast_convert, evaluate_bitcast_convert, ("operand",), explicit_result=True
)
REDUCE_PRECISION = Conversion(
    "reduce_precision",
    infer_reduce_precision,
    evaluate_reduce_precision,
    ("operand",),
    (Attribute("exponent_bits", "i32"), Attribute("mantissa_bits", "i32")),
)
