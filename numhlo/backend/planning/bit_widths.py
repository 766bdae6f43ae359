"""bitcast_convert between widths, in terms of shifts: one element's bits seen as several, or several as one.

Bits of one width are seen as another type by kernels themselves. The lowest bits are the first of several elements.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo.lowering.ir import Op, TensorType, Value
from numhlo.lowering.ir.types import INTEGERS
from numhlo.lowering.ops import conversion, creation, elementwise, layout
from numhlo.lowering.ops.bit_patterns import BIT_WIDTHS
from numhlo.lowering.ops.primitive import Primitive, make_op

PATTERNS = INTEGERS | set(map(np.dtype, ("f2", "f4", "f8")))
"""Element types whose bits kernels have in registers as they are in memory."""


def changes_width(op: Op) -> bool:
    """Return whether a bitcast_convert is between widths, of types of whole bytes, and of some elements."""
    source, target = (v.tensor for v in (op.operands[0], op.result))
    if not {source.dtype, target.dtype} <= PATTERNS or not target.size:
        return False
    whole = all(BIT_WIDTHS[t.dtype] == 8 * t.dtype.itemsize for t in (source, target))
    return whole and source.dtype.itemsize != target.dtype.itemsize


def expand_width_change(op: Op, operands: list[Value], append: Callable[[Op], Any]) -> list[Value]:
    """Append ops that mean a bitcast_convert between widths, and return its result."""
    w = _Writer(append, op)
    (operand,), result = operands, op.result.tensor
    before = np.dtype(f"u{operand.tensor.dtype.itemsize}")
    bits = w.seen_as(operand, before)
    words = w.split(bits, result) if result.dtype.itemsize < before.itemsize else w.joined(bits, result)
    return [w.seen_as(words, result.dtype)]


class _Writer:
    """Appends ops where the bitcast_convert stands."""

    def __init__(self, append: Callable[[Op], Any], op: Op) -> None:
        self._append, self._location = append, op.location

    def op(self, definition: Primitive, *operands: Value, result: TensorType | None = None, **attributes: Any) -> Value:
        results = None if result is None else [result]
        made = make_op(definition, operands, attributes, results=results, location=self._location)
        self._append(made)
        return made.result

    def seen_as(self, value: Value, dtype: np.dtype) -> Value:
        """Return the same bits as another type of the same width."""
        type = value.tensor.with_dtype(dtype)
        return value if type == value.type else self.op(conversion.BITCAST_CONVERT, value, result=type)

    def split(self, bits: Value, result: TensorType) -> Value:
        """Return each element's parts along a further dimension."""
        wide = result.with_dtype(bits.tensor.dtype)
        axes = tuple(range(bits.tensor.ndim))
        spread = self.op(layout.BROADCAST_IN_DIM, bits, result=wide, broadcast_dimensions=axes)
        number = self.op(creation.IOTA, result=wide, iota_dimension=wide.ndim - 1)
        width = self._constant(8 * result.dtype.itemsize, wide)
        amount = self.op(elementwise.MULTIPLY, number, width)
        moved = self.op(elementwise.SHIFT_RIGHT_LOGICAL, spread, amount)
        return self.op(conversion.CONVERT, moved, result=wide.with_dtype(np.dtype(f"u{result.dtype.itemsize}")))

    def joined(self, bits: Value, result: TensorType) -> Value:
        """Return elements made of all parts along the last dimension."""
        wide, shape = result.with_dtype(np.dtype(f"u{result.dtype.itemsize}")), bits.tensor.shape
        total: Value | None = None
        for k in range(shape[-1]):
            starts, limits = (*(0,) * (len(shape) - 1), k), (*shape[:-1], k + 1)
            part = self.op(layout.SLICE, bits, start_indices=starts, limit_indices=limits, strides=(1,) * len(shape))
            flat = self.op(layout.RESHAPE, part, result=result.with_dtype(bits.tensor.dtype))
            moved = self.op(conversion.CONVERT, flat, result=wide)
            if k:
                moved = self.op(elementwise.SHIFT_LEFT, moved, self._constant(8 * k * bits.tensor.dtype.itemsize, wide))
            total = moved if total is None else self.op(elementwise.OR, total, moved)
        assert total is not None
        return total

    def _constant(self, number: int, type: TensorType) -> Value:
        made = self.op(creation.CONSTANT, value=np.asarray(number, type.dtype))
        return self.op(layout.BROADCAST_IN_DIM, made, result=type, broadcast_dimensions=())
