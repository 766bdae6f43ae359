"""Sorts of floats alone, in NumPy's order: as integers, which one comparison orders and which become floats again.

Integers say all about a float but which zero it is and which NaN. Where a row holds a negative zero or a NaN, these are
put back as they came, so that the sort is the stable one that the comparator means.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.backend.emit.comparison import total_order
from numhlo.backend.emit.cost import grain_of
from numhlo.backend.emit.draft import Draft
from numhlo.backend.emit.kernel_text import BufferOf, KernelText
from numhlo.backend.emit.registers import REGISTERS
from numhlo.backend.emit.sorts.writer import SortWriter, emit_dense_rows
from numhlo.lowering.ir import Op, Region, Value
from numhlo.lowering.ops.comparison import COMPARE
from numhlo.lowering.ops.elementwise import AND, OR


def sorts_floats(op: Op) -> bool:
    """Return whether an op sorts one array of float32 or float64 as NumPy does: ascending, NaN last."""
    return (
        len(op.operands) == 1
        and op.operands[0].tensor.dtype in (np.float32, np.float64)
        and _is_numpys_order(op.regions[0])
    )


def _is_numpys_order(comparator: Region) -> bool:
    """Return whether a comparator is ``x < y or (x == x and y != y)``, in any order of its terms."""
    x, y = comparator.arguments
    root = comparator.returns[0].owner
    if not isinstance(root, Op) or root.definition is not OR:
        return False
    terms = [value.owner for value in root.operands]
    for less, nan in (terms, terms[::-1]):
        if isinstance(nan, Op) and nan.definition is AND and _compares(less, "LT", x, y):
            parts = [value.owner for value in nan.operands]
            return any(_compares(a, "EQ", x, x) and _compares(b, "NE", y, y) for a, b in (parts, parts[::-1]))
    return False


def _compares(owner: Any, direction: str, lhs: Value, rhs: Value) -> bool:
    return (
        isinstance(owner, Op)
        and owner.definition is COMPARE
        and owner.attributes["comparison_direction"] == direction
        and owner.attributes["compare_type"] != "TOTALORDER"
        and list(owner.operands) == [lhs, rhs]
    )


def emit_float_sort(op: Op, planner: Any, order: Sequence[int]) -> None:
    """Append the launch, between copies where rows don't lie dense; ``order`` has the sorted dimension last."""

    def write(rows: Value, target: Value) -> Draft:
        words = planner.scratch(rows.tensor.with_dtype(np.dtype(f"i{rows.tensor.dtype.itemsize}")))
        return write_float_sort(rows, target, words, planner.buffer)

    emit_dense_rows(op, planner, order, write)


def write_float_sort(rows: Value, target: Value, words: Value, buffer_of: BufferOf) -> Draft:
    """Return the kernel that writes each row of an array, sorted."""
    text = KernelText(buffer_of)
    register = REGISTERS[rows.tensor.dtype]
    name, word = register.name, f"i{register.bits}"
    largest = f"to_{word}({(1 << (register.bits - 1)) - 1})"
    source, out, scratch = text.pointer(rows), text.pointer(target, "out"), text.pointer(words, "scratch")
    length, extent = rows.tensor.shape[-1], math.prod(rows.tensor.shape[:-1])
    size = text.number("length", length, "length")
    dtype = np.dtype(f"i{rows.tensor.dtype.itemsize}")
    writer = SortWriter(text, [word], lambda lhs, rhs: f"({lhs[0]} < {rhs[0]})", [out], [scratch], dtype)
    with text.block("for row in range(lo, hi):"):
        text.line(f"base = row * {size}")
        for count in ("below", "minus", "nans"):
            text.line(f"{count} = 0")
        with text.block(f"for k in range({size}):"):
            text.line(f"value = load_{name}({source}, base + k)")
            text.line(f"total = {total_order('value', register)}")
            text.line(f"zero = select(total == to_{word}(-1), to_{word}(0), total)")
            text.line(f"store_{word}({out}, base + k, select(value == value, zero, {largest}))")
            text.line("below = below + to_i64(value < 0)")
            text.line(f"minus = minus + to_i64(total == to_{word}(-1))")
            text.line("nans = nans + to_i64(value != value)")
        writer.sort(length)
        with text.block(f"for k in range({size}):"):
            text.line(f"key = load_{word}({out}, base + k)")
            text.line(f"store_{word}({out}, base + k, select(key < to_{word}(0), to_{word}(key ^ {largest}), key))")
        for count, start, test in (("minus", "below", "value == 0"), ("nans", f"{size} - nans", "value != value")):
            with text.block(f"if {count} > 0:"):
                text.line(f"place = base + {start}")
                with text.block(f"for k in range({size}):"):
                    text.line(f"value = load_{name}({source}, base + k)")
                    with text.block(f"if {test}:"):
                        text.line(f"store_{name}({out}, place, value)")
                        text.line("place = place + 1")
    flops = 5 * extent * length * max(1, math.ceil(math.log2(length)))
    traffic = rows.tensor.nbytes * 4
    grain = grain_of(extent, flops, traffic)
    return Draft(text.finish(f"sort_{name}"), tuple(text.buffers), tuple(text.dims), extent, grain, flops, traffic)
