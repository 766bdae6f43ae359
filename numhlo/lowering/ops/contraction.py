"""The ops ``dot_general`` and ``dot``: products summed over contracting dimensions, once a batch index.

Operands become stacks of matrices for `numpy.matmul`. Narrow floats are summed in float32 and rounded once; integers
wrap in the result's type. Where an algorithm is asked for, `dot_algorithms` says what is rounded and summed in which.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from numhlo.lowering.ir import TensorType, Type
from numhlo.lowering.ir.types import EXTENSIONS, INTEGERS, NARROW_FLOATS
from numhlo.lowering.ops.bit_patterns import round_to_format
from numhlo.lowering.ops.casting import cast
from numhlo.lowering.ops.dimension_numbers import DotAlgorithm, DotDimensionNumbers
from numhlo.lowering.ops.dot_algorithms import ProductByAlgorithm
from numhlo.lowering.ops.extents import in_range, is_unique, same_extent, same_shape
from numhlo.lowering.ops.primitive import RESULT_TYPES, Arrays, Attribute, Primitive, RegionFunction, Signature
from numhlo.lowering.ops.reduction import neighbours


class Contraction(Primitive):
    """An op that sums products."""

    __slots__ = ()


def free_dimensions(rank: int, batching: Sequence[int], contracting: Sequence[int]) -> list[int]:
    """Return the dimensions that are neither batching nor contracting: those of the result."""
    bound = {*batching, *contracting}
    return [d for d in range(rank) if d not in bound]


def infer_dot_general(signature: Signature) -> Sequence[Type]:
    """Check (C1) to (C11), (C13), (C21) to (C24); (C12) the result's shape; its element type may be declared."""
    lhs, rhs = signature.tensors
    numbers: DotDimensionNumbers = signature.attributes["dot_dimension_numbers"]
    broken, shape = _product_shape(numbers, lhs.shape, rhs.shape)
    signature.require(not broken, broken)
    _check_precision(signature)
    if signature.results is None:
        signature.require(lhs.dtype == rhs.dtype, "(C13) operands must have one element type")
        return [TensorType(shape, lhs.dtype)]
    declared = signature.result_tensor()
    signature.require(same_shape(declared.shape, shape), f"(C12) the result's shape must be {list(shape)}")
    return [declared]


@lru_cache(maxsize=1024)
def _product_shape(
    numbers: DotDimensionNumbers, lhs: tuple[int, ...], rhs: tuple[int, ...]
) -> tuple[str, tuple[int, ...]]:
    """Return which rule the operands' shapes break, if any, and else the result's shape."""
    broken = next((rule for holds, rule in _rules_of_dimensions(numbers, lhs, rhs) if not holds), "")
    if broken:
        return broken, ()
    batching, contracting = numbers.lhs_batching_dimensions, numbers.lhs_contracting_dimensions
    lhs_free = free_dimensions(len(lhs), batching, contracting)
    rhs_free = free_dimensions(len(rhs), numbers.rhs_batching_dimensions, numbers.rhs_contracting_dimensions)
    return "", (*[lhs[d] for d in (*batching, *lhs_free)], *[rhs[d] for d in rhs_free])


def _rules_of_dimensions(
    numbers: DotDimensionNumbers, lhs: tuple[int, ...], rhs: tuple[int, ...]
) -> Iterator[tuple[bool, str]]:
    """Yield whether the shapes keep a rule, and the rule; later ones only make sense where all before are kept."""
    lhs_batching, rhs_batching = numbers.lhs_batching_dimensions, numbers.rhs_batching_dimensions
    lhs_summed, rhs_summed = numbers.lhs_contracting_dimensions, numbers.rhs_contracting_dimensions
    yield len(lhs_batching) == len(rhs_batching), "(C1) both operands need as many batching dimensions"
    yield len(lhs_summed) == len(rhs_summed), "(C2) both operands need as many contracting dimensions"
    yield is_unique((*lhs_batching, *lhs_summed)), "(C3) lhs dimensions must not repeat"
    yield is_unique((*rhs_batching, *rhs_summed)), "(C4) rhs dimensions must not repeat"
    yield in_range(lhs_batching, len(lhs)), "(C5) lhs_batching_dimensions must be axes of lhs"
    yield in_range(lhs_summed, len(lhs)), "(C6) lhs_contracting_dimensions must be axes of lhs"
    yield in_range(rhs_batching, len(rhs)), "(C7) rhs_batching_dimensions must be axes of rhs"
    yield in_range(rhs_summed, len(rhs)), "(C8) rhs_contracting_dimensions must be axes of rhs"
    for rule, kind, pairs in (
        ("C9", "batching", zip(lhs_batching, rhs_batching, strict=True)),
        ("C10", "contracting", zip(lhs_summed, rhs_summed, strict=True)),
    ):
        fits = all(same_extent(lhs[i], rhs[j]) for i, j in pairs)
        yield fits, f"({rule}) {kind} dimensions must have the same extents in both operands"


def _check_precision(signature: Signature) -> None:
    precision = signature.attributes["precision_config"]
    algorithm = signature.attributes["algorithm"]
    signature.require(len(precision) in {0, 2}, "(C11) precision_config must have 2 entries")
    if algorithm is None:
        return
    signature.require(set(precision) <= {"DEFAULT"}, "(C21) an algorithm needs precision_config DEFAULT")
    signature.require(algorithm.lhs_component_count > 0, "(C22) lhs_component_count must be positive")
    signature.require(algorithm.rhs_component_count > 0, "(C23) rhs_component_count must be positive")
    signature.require(algorithm.num_primitive_operations > 0, "(C24) num_primitive_operations must be positive")
    signature.require(algorithm.is_known, f"no hardware is known to have this algorithm: {algorithm}")


def as_matrices(array: np.ndarray, batching: Sequence[int], rows: Sequence[int], columns: Sequence[int]) -> np.ndarray:
    """Return ``array`` as one batch dimension of matrices.

    Examples
    --------
    >>> as_matrices(np.zeros((2, 3, 4, 5)), [2], [0, 1], [3]).shape
    (4, 6, 5)
    """
    counts = [math.prod(array.shape[d] for d in dims) for dims in (batching, rows, columns)]
    return array.transpose([*batching, *rows, *columns]).reshape(counts)


MOST_SYMMETRIC = 1 << 27
"""Elements of products of a matrix with its own transpose up to which NumPy may use BLAS's routine for these, which
crashes in OpenBLAS where they are many more."""


def accumulation_dtype(dtype: np.dtype) -> np.dtype:
    """Return the type in which a result of ``dtype`` is summed."""
    if dtype in NARROW_FLOATS:
        return np.dtype(np.float32)
    if dtype in INTEGERS & EXTENSIONS:
        return np.dtype(np.int32)
    return dtype


def evaluate_dot_general(
    arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]
) -> tuple[np.ndarray]:
    """Multiply stacks of matrices, by an algorithm if there is one."""
    lhs, rhs = arrays
    numbers: DotDimensionNumbers = attributes["dot_dimension_numbers"]
    dtype: np.dtype = attributes[RESULT_TYPES][0].dtype
    algorithm: DotAlgorithm | None = attributes.get("algorithm")
    if algorithm is not None:
        return (ProductByAlgorithm(algorithm, _Arrays(numbers)).write((lhs, rhs), (lhs.dtype, rhs.dtype), dtype),)
    wide = accumulation_dtype(dtype)
    left, right, shape = _stacks(numbers, lhs, rhs)
    left, right = left.astype(wide, copy=False), right.astype(wide, copy=False)
    return (_matrix_product(left, right).reshape(shape).astype(dtype, copy=False),)


def _stacks(
    numbers: DotDimensionNumbers, lhs: np.ndarray, rhs: np.ndarray
) -> tuple[np.ndarray, np.ndarray, tuple[int, ...]]:
    """Return operands as stacks of matrices, and the shape of their product."""
    batching, summed = numbers.lhs_batching_dimensions, numbers.lhs_contracting_dimensions
    lhs_free = free_dimensions(lhs.ndim, batching, summed)
    rhs_free = free_dimensions(rhs.ndim, numbers.rhs_batching_dimensions, numbers.rhs_contracting_dimensions)
    left = as_matrices(lhs, batching, lhs_free, summed)
    right = as_matrices(rhs, numbers.rhs_batching_dimensions, numbers.rhs_contracting_dimensions, rhs_free)
    shape = (*[lhs.shape[d] for d in (*batching, *lhs_free)], *[rhs.shape[d] for d in rhs_free])
    return left, right, shape


def _matrix_product(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    if left.shape[-2] * right.shape[-1] > MOST_SYMMETRIC and np.may_share_memory(left, right):
        right = right.copy()
    product: np.ndarray = np.matmul(left, right)
    return product


class _Arrays:
    """Writes an algorithm by doing it, on arrays."""

    def __init__(self, numbers: DotDimensionNumbers) -> None:
        self.numbers = numbers

    def convert(self, x: np.ndarray, dtype: np.dtype) -> np.ndarray:
        return cast(x, dtype)

    def reduce_precision(self, x: np.ndarray, exponent_bits: int, mantissa_bits: int) -> np.ndarray:
        return round_to_format(x, exponent_bits, mantissa_bits)

    def subtract(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.asarray(x - y)

    def add(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.asarray(x + y)

    def without_nan(self, x: np.ndarray) -> np.ndarray:
        return np.where(np.isnan(x), x.dtype.type(0), x)

    def product(self, lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
        left, right, shape = _stacks(self.numbers, lhs, rhs)
        return _matrix_product(left, right).reshape(shape)

    def rounded_product(self, lhs: np.ndarray, rhs: np.ndarray, narrow: np.dtype) -> np.ndarray:
        left, right, shape = _stacks(self.numbers, lhs, rhs)

        def add(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray]:
            return (cast(cast(np.asarray(x + y), narrow), x.dtype),)

        terms = left[:, :, None, :] * right.swapaxes(-1, -2)[:, None, :, :]
        if not terms.shape[-1]:
            return np.zeros(shape, terms.dtype)
        (total,) = add(np.zeros(shape, terms.dtype), neighbours(add, [terms])[0].reshape(shape))
        return total


def _numbers_of_dot(lhs_rank: int) -> DotDimensionNumbers:
    return DotDimensionNumbers((), (), (lhs_rank - 1,), (0,))


def infer_dot(signature: Signature) -> Sequence[Type]:
    """Check that vectors or matrices fit together; deprecated in the specification, which has no constraints for it."""
    lhs, rhs = signature.tensors
    signature.require(lhs.ndim in {1, 2} and rhs.ndim in {1, 2}, "operands must be vectors or matrices")
    general = {"dot_dimension_numbers": _numbers_of_dot(lhs.ndim), "algorithm": None}
    full = {**signature.attributes, **general}
    return infer_dot_general(Signature("dot", signature.operands, full, (), signature.results, signature.location))


def evaluate_dot(arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]) -> tuple[np.ndarray]:
    """Multiply vectors or matrices."""
    general = {**attributes, "dot_dimension_numbers": _numbers_of_dot(arrays[0].ndim)}
    return evaluate_dot_general(arrays, general, regions)


DOT_GENERAL = Contraction(
    "dot_general",
    infer_dot_general,
    evaluate_dot_general,
    ("lhs", "rhs"),
    (
        Attribute("dot_dimension_numbers", "record:dot"),
        Attribute("precision_config", "enums:precision", ()),
        Attribute("algorithm", "record:dot_algorithm", None),
    ),
    explicit_result=True,
)
DOT = Contraction(
    "dot",
    infer_dot,
    evaluate_dot,
    ("lhs", "rhs"),
    (Attribute("precision_config", "enums:precision", ()),),
    explicit_result=True,
)
