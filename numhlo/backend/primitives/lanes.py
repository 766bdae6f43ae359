"""Reducing a block of contiguous elements in the order that `numhlo.lowering.ops.reduction_order` specifies.

Sixteen lanes side by side are what vector registers hold, and what LLVM does not find by itself in scalar code: it
must not reorder floating-point sums.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.backend.primitives.storage import STORAGES, Storage
from numhlo.lowering.ir.records import record
from numhlo.lowering.ops.float_arithmetic import maximum, minimum

LANES = 16


@record(frozen=True)
class Lanes:
    """``word(pointer, first, count)`` reduces ``count`` (at least 1) elements from index ``first`` on.

    Attributes
    ----------
    storage : Storage
    name : str
        ``add``, ``multiply``, ``maximum`` or ``minimum``.
    identity : float
        A value that changes no other one.
    """

    storage: Storage
    name: str
    identity: float

    def __call__(self, pointer: int, first: int, count: int) -> Any:
        """Return the reduced elements."""
        size = self.storage.dtype.itemsize
        values = self.storage.view(pointer + int(first) * size, int(count)).copy()
        rows = -(-len(values) // LANES)
        padded = np.full(rows * LANES, self.identity, self.storage.dtype)
        padded[: len(values)] = values
        lanes = padded[:LANES]
        for row in padded[LANES:].reshape(rows - 1, LANES):
            lanes = FUNCTIONS[self.name](lanes, row)
        while len(lanes) > 1:
            half = len(lanes) // 2
            lanes = FUNCTIONS[self.name](lanes[:half], lanes[half:])
        return lanes[0]


@record(frozen=True)
class ProductLanes:
    """``word(left, first, right, second, count)`` adds products of pairs of elements, each rounded, in lanes."""

    storage: Storage
    name: str = "add"
    identity: float = -0.0

    def __call__(self, left: int, first: int, right: int, second: int, count: int) -> Any:
        """Return the sum of products."""
        size, number = self.storage.dtype.itemsize, int(count)
        with np.errstate(all="ignore"):
            products = self.storage.view(left + int(first) * size, number) * self.storage.view(
                right + int(second) * size, number
            )
        return Lanes(self.storage, self.name, self.identity)(products.ctypes.data, 0, number)


@record(frozen=True)
class ProductColumns:
    """``word(out, left, first, step, right, second, stride, count, width)`` adds products of numbers with rows.

    ``out[j] = sum(left[first + i * step] * right[second + i * stride + j] for i in range(count))`` for ``j`` in
    ``range(width)``: products are rounded, and rows are added in lanes, as `ProductLanes` adds elements. ``count`` is
    at least 1 and at most a block. What is stored to overlaps nothing that is read.
    """

    storage: Storage

    def __call__(
        self,
        out: int,
        left: int,
        first: int,
        step: int,
        right: int,
        second: int,
        stride: int,
        count: int,
        width: int,
    ) -> None:
        """Store the sums of products."""
        size, rows = self.storage.dtype.itemsize, np.arange(int(count))
        numbers = [self.storage.view(left + int(k) * size, 1)[0] for k in first + rows * step]
        lines = [self.storage.view(right + int(k) * size, int(width)) for k in second + rows * stride]
        with np.errstate(all="ignore"):
            products = np.array(numbers)[:, None] * np.array(lines)
            columns = np.ascontiguousarray(products.T)
        target = self.storage.view(out, int(width))
        for j, column in enumerate(columns):
            target[j] = Lanes(self.storage, "add", -0.0)(column.ctypes.data, 0, len(column))


def _quiet(function: Any) -> Any:
    def call(lhs: np.ndarray, rhs: np.ndarray) -> Any:
        with np.errstate(all="ignore"):
            return function(lhs, rhs)

    return call


FUNCTIONS = {
    "add": _quiet(np.add),
    "multiply": _quiet(np.multiply),
    "maximum": maximum,
    "minimum": minimum,
}

F32, F64 = STORAGES["f32"], STORAGES["f64"]
IDENTITIES = {"add": -0.0, "multiply": 1.0, "maximum": -np.inf, "minimum": np.inf}
"""``-0.0 + x`` is ``x`` for every ``x``; ``0.0 + -0.0`` is not."""

add_lanes_f32, add_lanes_f64 = Lanes(F32, "add", -0.0), Lanes(F64, "add", -0.0)
multiply_lanes_f32, multiply_lanes_f64 = Lanes(F32, "multiply", 1.0), Lanes(F64, "multiply", 1.0)
maximum_lanes_f32, maximum_lanes_f64 = Lanes(F32, "maximum", -np.inf), Lanes(F64, "maximum", -np.inf)
add_product_lanes_f32, add_product_lanes_f64 = ProductLanes(F32), ProductLanes(F64)
add_product_columns_f32, add_product_columns_f64 = ProductColumns(F32), ProductColumns(F64)
minimum_lanes_f32, minimum_lanes_f64 = Lanes(F32, "minimum", np.inf), Lanes(F64, "minimum", np.inf)
