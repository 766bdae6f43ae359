"""Sorts of bytes alone, by counting: how many there are of each value says all about the sorted row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from numhlo.backend.emit.cost import grain_of
from numhlo.backend.emit.draft import Draft
from numhlo.backend.emit.kernel_text import BufferOf, KernelText
from numhlo.backend.emit.registers import REGISTERS
from numhlo.backend.emit.sorts.writer import emit_dense_rows
from numhlo.lowering.ir import Op, Region, Value
from numhlo.lowering.ops.comparison import COMPARE

VALUES = {"bool": (0, 2), "i8": (-128, 256), "u8": (0, 256)}
"""The least value of a type, and how many there are, by the name of its register."""

SHORTEST = {"bool": 32, "i8": 256, "u8": 256}
"""Lengths from which on rows are sorted so: all counts are looked at for each row."""

TABLES = 4
"""Tables that neighbours are counted in: many are equal, and would wait for each other's count."""


def direction_of(comparator: Region) -> str:
    """Return ``LT`` or ``GT`` where a comparator orders by the elements themselves, else nothing."""
    compare = comparator.returns[0].owner
    if not isinstance(compare, Op) or compare.definition is not COMPARE:
        return ""
    direction = str(compare.attributes["comparison_direction"])
    plain = list(compare.operands) == comparator.arguments[:2]
    return direction if plain and direction in ("LT", "GT") else ""


def sorts_by_counting(op: Op) -> bool:
    """Return whether an op sorts long rows of one array of bytes."""
    operand = op.operands[0].tensor
    name = REGISTERS[operand.dtype].storage
    if len(op.operands) != 1 or name not in VALUES or not direction_of(op.regions[0]):
        return False
    return bool(operand.shape[op.attributes["dimension"] % operand.ndim] >= SHORTEST[name])


def emit_count_sort(op: Op, planner: Any, order: Sequence[int]) -> None:
    """Append the launch, between copies where rows don't lie dense; ``order`` has the sorted dimension last."""
    ascending = direction_of(op.regions[0]) == "LT"
    emit_dense_rows(op, planner, order, lambda rows, target: write_count_sort(rows, target, ascending, planner.buffer))


def write_count_sort(rows: Value, target: Value, ascending: bool, buffer_of: BufferOf) -> Draft:
    """Return the kernel that writes each row of an array, sorted."""
    text = KernelText(buffer_of)
    register = REGISTERS[rows.tensor.dtype]
    name, (least, number) = register.storage, VALUES[register.storage]
    source, out = text.pointer(rows), text.pointer(target, "out")
    length, extent = rows.tensor.shape[-1], math.prod(rows.tensor.shape[:-1])
    size = text.number("length", length, "length")
    counts = text.stack_array("counts", number * TABLES, 8)
    with text.block("for row in range(lo, hi):"):
        text.line(f"base = row * {size}")
        with text.block(f"for k in range({number * TABLES}):"):
            text.line(f"store_i64({counts}, k, 0)")
        with text.block(f"for k in range({size}):"):
            text.line(f"key = to_i64(load_{name}({source}, base + k)) - {least}")
            text.line(f"at = {TABLES} * key + (k & {TABLES - 1})")
            text.line(f"store_i64({counts}, at, load_i64({counts}, at) + 1)")
        text.line("place = base")
        with text.block(f"for step in range({number}):"):
            text.line("key = step" if ascending else f"key = {number - 1} - step")
            text.line("many = " + " + ".join(f"load_i64({counts}, {TABLES} * key + {k})" for k in range(TABLES)))
            value = "key != 0" if name == "bool" else f"to_{name}(key + {least})"
            text.line(f"value = {value}")
            with text.block("for k in range(place, place + many):"):
                text.line(f"store_{name}({out}, k, value)")
            text.line("place = place + many")
    flops = extent * (4 * length + 2 * number)
    traffic = 2 * rows.tensor.nbytes
    kernel = text.finish(f"sort_{name}_by_counting")
    return Draft(
        kernel, tuple(text.buffers), tuple(text.dims), extent, grain_of(extent, flops, traffic), flops, traffic
    )
