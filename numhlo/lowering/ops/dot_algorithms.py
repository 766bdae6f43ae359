"""The algorithms of ``dot_general``: what operands are rounded to, how many products make one, in what they are summed.

An algorithm is written once, as ops on whatever a `Writer` takes: arrays for the reference interpreter, graph values
for the pass that replaces the op. What no combination of such ops means is refused; nothing takes its place.
"""

from __future__ import annotations

from typing import Generic, Protocol, TypeVar

import numpy as np

from numhlo.lowering.ir import UNKNOWN, Location
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.lowering.ir.types import COMPLEX, ELEMENT_TYPES, FLOATS
from numhlo.lowering.ops.dimension_numbers import DotAlgorithm

FLOAT32, FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)
T = TypeVar("T")

COMPONENTS = {1: 1, 3: 2, 6: 3, 9: 3}
"""By the number of products: into how many numbers of the rounded type an operand is split, the largest first."""

LEAST_ORDER = {1: 1, 3: 2, 6: 3, 9: 5}
"""By the number of products: components ``i`` and ``j`` are multiplied where ``i + j`` is less than that."""

TF32_BITS = {"exponent_bits": 8, "mantissa_bits": 10}


class Writer(Protocol[T]):
    """What an algorithm is written with."""

    def convert(self, x: T, dtype: np.dtype) -> T:
        """Return a value in another element type."""

    def reduce_precision(self, x: T, exponent_bits: int, mantissa_bits: int) -> T:
        """Return floats with fewer bits, in their own type."""

    def subtract(self, x: T, y: T) -> T:
        """Return a difference."""

    def add(self, x: T, y: T) -> T:
        """Return a sum."""

    def without_nan(self, x: T) -> T:
        """Return a value with zeros in the place of NaN."""

    def product(self, lhs: T, rhs: T) -> T:
        """Return the product of two operands of one type, in that type."""

    def rounded_product(self, lhs: T, rhs: T, narrow: np.dtype) -> T:
        """Return the product of two operands of float32: neighbours are added, and every sum is rounded."""


def obstacle(algorithm: DotAlgorithm, dtype: np.dtype) -> str:
    """Return why operands of an element type can't be multiplied by an algorithm; an empty text where they can.

    Examples
    --------
    >>> obstacle(DotAlgorithm("bf16", "bf16", "f32", 2, 2, 6), np.dtype("float32"))
    '6 products are of 3 components of each operand (or 1, which leaves that open), not of 2 and 2'
    """
    if dtype in COMPLEX:
        return "complex numbers have no rounded type"
    named = {algorithm.lhs_precision_type, algorithm.rhs_precision_type, algorithm.accumulation_type} - {"tf32"}
    unknown = sorted(name for name in named if ELEMENT_TYPES.get(name) not in FLOATS)
    if unknown:
        return f"{unknown[0]} is no type of floats"
    products = algorithm.num_primitive_operations
    wanted = COMPONENTS.get(products)
    if wanted is None:
        return f"no sum of {products} products is known"
    counts = algorithm.lhs_component_count, algorithm.rhs_component_count
    if counts not in {(1, 1), (wanted, wanted)}:
        open_ = " (or 1, which leaves that open)" if wanted > 1 else ""
        return (
            f"{products} products are of {wanted} components of each operand{open_}, not of {counts[0]} and {counts[1]}"
        )
    return ""


class ProductByAlgorithm(Generic[T]):
    """Writes one product.

    Parameters
    ----------
    algorithm : DotAlgorithm
    writer : Writer
    location : Location
        Of the op, for errors.
    """

    def __init__(self, algorithm: DotAlgorithm, writer: Writer[T], location: Location = UNKNOWN) -> None:
        self.algorithm, self.writer, self.location = algorithm, writer, location
        self.wide = FLOAT64 if algorithm.accumulation_type == "f64" else FLOAT32

    def write(self, operands: tuple[T, T], dtypes: tuple[np.dtype, np.dtype], result: np.dtype) -> T:
        """Return the product of operands of two element types, in the result's element type.

        Raises
        ------
        UnsupportedError
            If the algorithm is not known for these.
        """
        algorithm, writer = self.algorithm, self.writer
        for dtype in dtypes:
            self._check(dtype)
        names = algorithm.lhs_precision_type, algorithm.rhs_precision_type
        count = COMPONENTS[algorithm.num_primitive_operations]
        lhs, rhs = (
            self._components(x, dtype, name, count) for x, dtype, name in zip(operands, dtypes, names, strict=True)
        )
        total = self._sum_of_products(lhs, rhs)
        return total if result == self.wide else writer.convert(total, result)

    def _check(self, dtype: np.dtype) -> None:
        reason = obstacle(self.algorithm, dtype)
        if reason:
            raise UnsupportedError(
                f"dot_general of {dtype.name} by the algorithm {self.algorithm}",
                where=self.location,
                why=reason,
                fix="an algorithm of the specification's, or none",
            )

    def _components(self, x: T, dtype: np.dtype, name: str, count: int) -> list[T]:
        """Return what an operand is split into: its rounded value, what is left of it rounded, ..."""
        writer = self.writer
        exact = FLOAT64 if dtype == FLOAT64 or (dtype not in FLOATS and dtype.itemsize > 2) else FLOAT32
        rest = x if dtype == exact else writer.convert(x, exact)
        found = [self._rounded(rest, exact, name)]
        while len(found) < count:
            before = found[-1] if exact == self.wide else writer.convert(found[-1], exact)
            rest = writer.subtract(rest, before)
            found.append(self._rounded(rest, exact, name))
        return found

    def _rounded(self, x: T, dtype: np.dtype, name: str) -> T:
        """Return floats that a type has, in the type in which products are summed."""
        writer = self.writer
        if name == "tf32":
            if dtype == FLOAT64:  # in one step where float32 has the number, which then holds it exactly
                x = writer.convert(writer.reduce_precision(x, 11, TF32_BITS["mantissa_bits"]), FLOAT32)
            x, dtype = writer.reduce_precision(x, **TF32_BITS), FLOAT32
        elif dtype != ELEMENT_TYPES[name]:
            x, dtype = writer.convert(x, ELEMENT_TYPES[name]), ELEMENT_TYPES[name]
        return x if dtype == self.wide else writer.convert(x, self.wide)

    def _sum_of_products(self, lhs: list[T], rhs: list[T]) -> T:
        """Return the sum of the components' products, the smallest first.

        Where an operand is infinite what is left of it is NaN: the product of the largest components is right alone.
        """
        writer, least = self.writer, LEAST_ORDER[self.algorithm.num_primitive_operations]
        pairs = [(i, j) for i in range(len(lhs)) for j in range(len(rhs)) if i + j < least]
        total: T | None = None
        for i, j in sorted(pairs, key=lambda pair: (-sum(pair), pair)):
            product = self._product(lhs[i], rhs[j])
            if total is not None:
                product = writer.add(writer.without_nan(total) if i == j == 0 else total, product)
            total = product
        assert total is not None
        return total

    def _product(self, lhs: T, rhs: T) -> T:
        writer, name = self.writer, self.algorithm.accumulation_type
        narrow = ELEMENT_TYPES[name]
        if narrow == self.wide:
            return writer.product(lhs, rhs)
        return writer.rounded_product(lhs, rhs, narrow)
