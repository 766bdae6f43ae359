"""Types of arguments of `jax.lax`: algorithms of products, tolerances, dimensions of ragged products.

All that asks for an algorithm or an accuracy is accepted, and means nothing: here is one of each.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError


@dataclass(frozen=True)
class DotAlgorithm:
    """How a product of matrices is to be computed.

    Attributes
    ----------
    lhs_precision_type, rhs_precision_type, accumulation_type : dtype_like
    lhs_component_count, rhs_component_count, num_primitive_operations : int
    allow_imprecise_accumulation : bool
    """

    lhs_precision_type: Any
    rhs_precision_type: Any
    accumulation_type: Any
    lhs_component_count: int = 1
    rhs_component_count: int = 1
    num_primitive_operations: int = 1
    allow_imprecise_accumulation: bool = False


DotAlgorithmPreset = enum.Enum(
    "DotAlgorithmPreset",
    [
        "DEFAULT", "ANY_F8_ANY_F8_F32", "ANY_F8_ANY_F8_F32_FAST_ACCUM", "ANY_F8_ANY_F8_ANY",
        "ANY_F8_ANY_F8_ANY_FAST_ACCUM", "F16_F16_F16", "F16_F16_F32", "BF16_BF16_BF16", "BF16_BF16_F32",
        "BF16_BF16_F32_X3", "BF16_BF16_F32_X6", "BF16_BF16_F32_X9", "TF32_TF32_F32", "TF32_TF32_F32_X3", "F32_F32_F32",
        "F64_F64_F64",
    ],
    module=__name__,
)  # fmt: skip
"""Algorithms by the types of both operands and of the sum."""


class AccuracyMode(enum.Enum):
    """How accurate functions are to be."""

    HIGHEST = 1
    DEFAULT = 2


class Tolerance:
    """How far from the exact value functions may be.

    Parameters
    ----------
    atol, rtol : float, optional
    ulps : int, optional

    Raises
    ------
    ArgumentError
        If one is negative, or all are zero.
    """

    def __init__(self, atol: float = 0.0, rtol: float = 0.0, ulps: int = 0) -> None:
        if min(atol, rtol, ulps) < 0:
            raise ArgumentError("Tolerances must be non-negative.", where=capture_location())
        if not (atol or rtol or ulps):
            raise ArgumentError("At least one of atol, rtol, or ulps must be set.", where=capture_location())
        self.atol, self.rtol, self.ulps = atol, rtol, ulps


class SvdAlgorithm(enum.Enum):
    """How singular values are to be found."""

    DEFAULT = "default"
    QR = "QR"
    JACOBI = "Jacobi"
    POLAR = "polar"
    DIVIDE_AND_CONQUER = "divide_and_conquer"


class EighImplementation(enum.Enum):
    """How eigenvalues of Hermitian matrices are to be found."""

    QR = "qr"
    JACOBI = "jacobi"
    QDWH = "qdwh"


class EigImplementation(enum.Enum):
    """How eigenvalues are to be found."""

    CUSOLVER = "cusolver"
    MAGMA = "magma"
    LAPACK = "lapack"


class RaggedDotDimensionNumbers:
    """Which dimensions of a ragged product are which.

    Parameters
    ----------
    dot_dimension_numbers : tuple
        As those of `lax.dot_general`.
    lhs_ragged_dimensions, rhs_group_dimensions : sequence of int

    Examples
    --------
    >>> RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), [0], [0]).lhs_ragged_dimensions
    (0,)
    """

    def __init__(
        self, dot_dimension_numbers: Any, lhs_ragged_dimensions: Sequence[int], rhs_group_dimensions: Sequence[int]
    ) -> None:
        self.dot_dimension_numbers = tuple(tuple(map(tuple, pair)) for pair in dot_dimension_numbers)
        self.lhs_ragged_dimensions = tuple(lhs_ragged_dimensions)
        self.rhs_group_dimensions = tuple(rhs_group_dimensions)

    def _key(self) -> Any:
        return self.dot_dimension_numbers, self.lhs_ragged_dimensions, self.rhs_group_dimensions

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RaggedDotDimensionNumbers) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())
