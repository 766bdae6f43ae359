"""Ops without operands: constant and iota.

This file knows how a tensor comes from attributes alone. Random numbers are not here: they have state. Next: `layout`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import TensorType, Type
from numhlo.lowering.ops.casting import cast
from numhlo.lowering.ops.primitive import (
    RESULT_TYPES,
    Arrays,
    Attribute,
    Primitive,
    RegionFunction,
    Signature,
)
from numhlo.lowering.ops.type_rules import NUMERIC, refine


class Creation(Primitive):
    """Ops that make a tensor from their attributes."""

    __slots__ = ()


def infer_constant(signature: Signature) -> tuple[Type, ...]:
    """(C1) the result has the value's type."""
    value = signature.attributes["value"]
    is_static = signature.results is None or signature.result_tensor().is_static
    signature.require(is_static, "the result's extents must be known")
    return refine(
        signature,
        TensorType(value.shape, value.dtype),
        "(C1) the result must have the value's type",
    )


def evaluate_constant(
    arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]
) -> tuple[np.ndarray]:
    """Return the value itself."""
    return (attributes["value"],)


def infer_iota(signature: Signature) -> tuple[Type, ...]:
    """(C1) the dimension is one of the result's; its extents are known."""
    signature.require(signature.result_tensor().is_static, "the result's extents must be known")
    return infer_counting(signature)


def infer_counting(signature: Signature) -> tuple[Type, ...]:
    """Check (C1) of iota, whatever its extents come from."""
    result = signature.result_tensor()
    dimension = signature.attributes["iota_dimension"]
    signature.require(
        0 <= dimension < result.ndim,
        f"(C1) iota_dimension must be in [0, {result.ndim}), not {dimension}",
    )
    signature.require(result.dtype in NUMERIC, "the result must be a tensor of integers, floats or complex numbers")
    return (result,)


def make_iota(shape: tuple[int, ...], dtype: np.dtype, dimension: int) -> np.ndarray:
    """Return the array whose elements are their index along ``dimension``; integers wrap, floats round once.

    Examples
    --------
    >>> make_iota((2, 3), np.dtype("int32"), 1).tolist()
    [[0, 1, 2], [0, 1, 2]]
    """
    line = cast(np.arange(shape[dimension]), dtype)
    column = line.reshape((-1,) + (1,) * (len(shape) - dimension - 1))
    return np.broadcast_to(column, shape)


def evaluate_iota(
    arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]
) -> tuple[np.ndarray]:
    """Return the indices along ``iota_dimension``."""
    (result,) = attributes[RESULT_TYPES]
    return (make_iota(result.shape, result.dtype, attributes["iota_dimension"]),)


CONSTANT = Creation(
    "constant",
    infer_constant,
    evaluate_constant,
    attributes=(Attribute("value", "dense"),),
)

IOTA = Creation(
    "iota",
    infer_iota,
    evaluate_iota,
    attributes=(Attribute("iota_dimension", "i64"),),
    explicit_result=True,
)
