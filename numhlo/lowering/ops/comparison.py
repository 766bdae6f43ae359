"""Ops that compare and choose: compare, select, clamp.

This file knows the orders of numbers: IEEE's quiet comparisons, its total order, and the lexicographic order of complex
numbers. Maximum and minimum are arithmetic, in `elementwise`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import TensorType, Type
from numhlo.lowering.ir.types import BOOL, COMPLEX, FLOATS, SIGNED
from numhlo.lowering.ops.bit_patterns import order_keys
from numhlo.lowering.ops.elementwise import MAXIMUM, MINIMUM
from numhlo.lowering.ops.extents import same_shape
from numhlo.lowering.ops.primitive import (
    Arrays,
    Attribute,
    Primitive,
    RegionFunction,
    Signature,
)
from numhlo.lowering.ops.type_rules import merge_shapes, refine

Attributes = Mapping[str, Any]
Regions = Sequence[RegionFunction]

DIRECTIONS: dict[str, np.ufunc] = {
    "EQ": np.equal,
    "NE": np.not_equal,
    "GE": np.greater_equal,
    "GT": np.greater,
    "LE": np.less_equal,
    "LT": np.less,
}
"""Values of ``comparison_direction`` and their functions."""

_STRICT: dict[str, np.ufunc] = {"GE": np.greater, "GT": np.greater, "LE": np.less, "LT": np.less}


class Comparison(Primitive):
    """Ops that compare elements, or choose between them."""

    __slots__ = ()


def compare_types(dtype: np.dtype) -> tuple[str, ...]:
    """Return the values of ``compare_type`` that (C3) allows for an element type, the default first.

    Examples
    --------
    >>> compare_types(np.dtype("float32"))
    ('FLOAT', 'TOTALORDER')
    """
    if dtype in FLOATS:
        return ("FLOAT", "TOTALORDER")
    if dtype in COMPLEX:
        return ("FLOAT",)
    return ("SIGNED",) if dtype in SIGNED else ("UNSIGNED",)


def infer_compare(signature: Signature) -> tuple[Type, ...]:
    """(C1)-(C3)."""
    require, attributes = signature.require, signature.attributes
    lhs, rhs = signature.tensor(0), signature.tensor(1)
    require(lhs.dtype == rhs.dtype, "(C1) the operands must have the same element type")
    shape = lhs.shape if lhs.shape == rhs.shape else merge_shapes([lhs.shape, rhs.shape])
    require(shape is not None, "(C2) the operands must have the same shape")
    assert shape is not None
    direction, kind = attributes["comparison_direction"], attributes["compare_type"]
    if direction not in DIRECTIONS:
        require(False, f"(I3) comparison_direction must be one of {', '.join(DIRECTIONS)}, not {direction}")
    if kind not in {None, "NOTYPE", *compare_types(lhs.dtype)}:  # text that came from MHLO says NOTYPE for none
        allowed = " or ".join(compare_types(lhs.dtype))
        require(False, f"(C3) compare_type of {lhs.dtype.name} must be {allowed}, not {kind}")
    return refine(signature, TensorType(shape, BOOL), "(C2) the result must be booleans of the operands' shape")


def evaluate_compare(arrays: Arrays, attributes: Attributes, regions: Regions) -> tuple[np.ndarray]:
    """Compare element by element."""
    x, y = arrays
    direction = attributes["comparison_direction"]
    if attributes["compare_type"] == "TOTALORDER":
        x, y = order_keys(x), order_keys(y)
    elif x.dtype in COMPLEX and direction in _STRICT:
        return (_compare_pairs(direction, x, y),)
    result = DIRECTIONS[direction](x, y)
    return (result if type(result) is np.ndarray else np.asarray(result),)


def _compare_pairs(direction: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Compare complex numbers as pairs: by the real parts, and where those are equal by the imaginary ones."""
    decided = _STRICT[direction](x.real, y.real)
    return np.asarray(decided | ((x.real == y.real) & DIRECTIONS[direction](x.imag, y.imag)))


def infer_select(signature: Signature) -> tuple[Type, ...]:
    """(C1), (C2)."""
    predicate, on_true, on_false = signature.tensors
    signature.require(predicate.dtype == BOOL, "(I1) pred must be booleans")
    rule = "(C2) on_true, on_false and the result must have the same type"
    result = on_true
    if on_true != on_false:
        signature.require(on_true.dtype == on_false.dtype, rule)
        shape = merge_shapes([on_true.shape, on_false.shape])
        signature.require(shape is not None, rule)
        assert shape is not None
        result = on_true.with_shape(shape)
    if predicate.shape and predicate.shape != result.shape:
        signature.require(
            same_shape(predicate.shape, result.shape), "(C1) pred must be a scalar or have on_true's shape"
        )
    return refine(signature, result, rule)


def evaluate_select(arrays: Arrays, attributes: Attributes, regions: Regions) -> tuple[np.ndarray]:
    """Choose from ``on_true`` where ``pred`` holds, else from ``on_false``."""
    predicate, on_true, on_false = arrays
    if predicate.ndim == 0:
        return (on_true if predicate else on_false,)
    patterns = _PATTERNS.get(on_true.itemsize)
    if predicate.size < MANY_CHOICES or patterns is None or not _is_mixed(predicate):
        return (np.where(predicate, on_true, on_false),)
    other = on_false.view(patterns)
    chosen = np.bitwise_xor(on_true.view(patterns), other, order="C")
    mask = predicate.astype(patterns)
    np.bitwise_and(chosen, np.negative(mask, out=mask), out=chosen)
    return (np.bitwise_xor(chosen, other, out=chosen).view(on_true.dtype),)


MANY_CHOICES = 512
"""Elements from which on it pays to look at the choices first."""

_PATTERNS: dict[int, type[np.integer]] = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}


def _is_mixed(predicate: np.ndarray) -> bool:
    """Return whether choices vary so that `numpy.where`, which branches, would often have guessed wrong.

    It takes 8 ns an element for one side or the other by chance, 0.8 ns where one side is rare, and by bits 1.4.
    """
    count = np.count_nonzero(predicate)
    return bool(min(count, predicate.size - count) * 40 > predicate.size)


def infer_clamp(signature: Signature) -> tuple[Type, ...]:
    """(C1)-(C4)."""
    least, operand, most = signature.tensors
    require = signature.require
    fits = not least.shape or same_shape(least.shape, operand.shape)
    require(fits, "(C1) min must be a scalar or have the operand's shape")
    fits = not most.shape or same_shape(most.shape, operand.shape)
    require(fits, "(C2) max must be a scalar or have the operand's shape")
    same = least.dtype == operand.dtype == most.dtype
    require(same, "(C3) min, operand and max must have the same element type")
    return refine(signature, operand, "(C4) the operand and the result must have the same type")


def evaluate_clamp(arrays: Arrays, attributes: Attributes, regions: Regions) -> tuple[np.ndarray]:
    """Return ``minimum(maximum(operand, min), max)``."""
    least, operand, most = arrays
    raised = MAXIMUM.evaluate((operand, least), attributes, regions)
    (result,) = MINIMUM.evaluate((raised[0], most), attributes, regions)
    return (result,)


COMPARE = Comparison(
    "compare",
    infer_compare,
    evaluate_compare,
    ("lhs", "rhs"),
    (
        Attribute("comparison_direction", "enum:comparison_direction"),
        Attribute("compare_type", "enum:comparison_type", None),
    ),
)
SELECT = Comparison("select", infer_select, evaluate_select, ("pred", "on_true", "on_false"))
CLAMP = Comparison("clamp", infer_clamp, evaluate_clamp, ("min", "operand", "max"))
