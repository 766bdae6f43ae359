"""true_places: the places where rows of booleans are true, by a cursor that moves on behind each of them.

Every place is written at the cursor, and the next one over it unless it was true: nothing branches on the mask. Long
rows are cut into blocks. Their numbers of true elements are counted first, so each block knows where its places go, and
writes nowhere else.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numhlo.backend.emit.cost import grain_of
from numhlo.backend.emit.draft import Draft
from numhlo.backend.emit.kernel_text import KernelText
from numhlo.backend.emit.special import COMPOSITE_KERNELS
from numhlo.backend.emit.tables import RootRule
from numhlo.lowering.ir import Op, TensorType, Value

BLOCK = 16384
"""Elements of a block, at least."""

MOST_BLOCKS = 256
"""Blocks of a row, at most: each adds up the counts of all before it."""


def _refuse(op: Op) -> str:
    return "" if op.operands[0].tensor.size and op.result.tensor.size else "nothing is looked for"


def emit_true_places(op: Op, planner: Any) -> None:
    """Append the launch whose units are rows; or those that count in blocks, and write them."""
    planner.output(op.result)
    shape = op.operands[0].tensor.shape
    block = max(BLOCK, -(-shape[-1] // MOST_BLOCKS))
    blocks = -(-shape[-1] // block)
    if blocks == 1:
        planner.launch_op(op, _write_rows(op, planner), op.results)
        return
    rows = math.prod(shape[:-1])
    counts = planner.scratch(TensorType((rows * blocks,), np.dtype(np.int64)))
    writer = _BlockWriter(op, planner, counts, block, blocks)
    planner.launch_op(op, writer.count(), op.results)
    planner.append(writer.write())


def _draft(op: Op, text: KernelText, name: str, units: int, traffic: int) -> Draft:
    flops = 4 * op.operands[0].tensor.size
    grain = grain_of(units, flops, traffic)
    return Draft(text.finish(name), tuple(text.buffers), tuple(text.dims), units, grain, flops, traffic)


def _write_rows(op: Op, planner: Any) -> Draft:
    (operand,), result = op.operands, op.result
    text = KernelText(planner.buffer)
    mask, out = text.pointer(operand), text.pointer(result, "out")
    length = text.number("length", operand.tensor.shape[-1], "length")
    size = text.number("size", result.tensor.shape[-1], "size")
    with text.block("for row in range(lo, hi):"):
        text.line(f"source = row * {length}")
        text.line(f"base = row * {size}")
        text.line("place = 0")
        text.line("cursor = 0")
        with text.block(f"while (place < {length}) & (cursor < {size}):"):
            text.line(f"store_i64({out}, base + cursor, place)")
            text.line(f"cursor = cursor + to_i64(load_bool({mask}, source + place))")
            text.line("place = place + 1")
        with text.block(f"for k in range(cursor, {size}):"):
            text.line(f"store_i64({out}, base + k, {length})")
    traffic = operand.tensor.nbytes + result.tensor.nbytes
    return _draft(op, text, "true_places", operand.tensor.size // operand.tensor.shape[-1], traffic)


class _BlockWriter:
    """Writes the kernels for long rows; their units are blocks."""

    def __init__(self, op: Op, planner: Any, counts: Value, block: int, blocks: int) -> None:
        self.op, self.planner, self.counted, self.block, self.blocks = op, planner, counts, block, blocks
        self.units = counts.tensor.size

    def _open(self) -> None:
        """Begin a text that knows the numbers of a launch."""
        self.text = KernelText(self.planner.buffer)
        self.mask = self.text.pointer(self.op.operands[0])
        self.counts = self.text.pointer(self.counted, "counts")
        self.length = self.text.number("length", self.op.operands[0].tensor.shape[-1], "length")
        self.many = self.text.number("blocks", self.blocks, "blocks")
        self.step = self.text.number("block", self.block, "block")

    def _unit(self) -> None:
        """Write what a unit is: a block of a row."""
        self.text.line(f"row = divide(to_i64(unit), to_i64({self.many}))")
        self.text.line(f"which = unit - row * {self.many}")
        self.text.line(f"source = row * {self.length}")
        self.text.line(f"place = which * {self.step}")
        self.text.line(f"stop = min(place + {self.step}, {self.length})")

    def count(self) -> Draft:
        """Return the kernel that counts the true elements of each block."""
        self._open()
        with self.text.block("for unit in range(lo, hi):"):
            self._unit()
            self.text.line("total = 0")
            with self.text.block("for k in range(source + place, source + stop):"):
                self.text.line(f"total = total + to_i64(load_bool({self.mask}, k))")
            self.text.line(f"store_i64({self.counts}, unit, total)")
        return _draft(self.op, self.text, "true_places_count", self.units, self.op.operands[0].tensor.nbytes)

    def write(self) -> Draft:
        """Return the kernel that writes the places of each block, and a part of those that are missing."""
        self._open()
        text = self.text
        out = text.pointer(self.op.result, "out")
        size = text.number("size", self.op.result.tensor.shape[-1], "size")
        with text.block("for unit in range(lo, hi):"):
            self._unit()
            text.line("first = unit - which")
            text.line(f"base = row * {size}")
            text.line("cursor = 0")
            with text.block("for k in range(first, unit):"):
                text.line(f"cursor = cursor + load_i64({self.counts}, k)")
            text.line(f"end = min(cursor + load_i64({self.counts}, unit), {size})")
            text.line("total = cursor")
            with text.block(f"for k in range(unit, first + {self.many}):"):
                text.line(f"total = total + load_i64({self.counts}, k)")
            with text.block("while cursor < end:"):  # the last place that is written is that of a true element
                text.line(f"store_i64({out}, base + cursor, place)")
                text.line(f"cursor = cursor + to_i64(load_bool({self.mask}, source + place))")
                text.line("place = place + 1")
            text.line(f"missing = max({size} - total, 0)")
            text.line(f"part = divide(missing + to_i64({self.many} - 1), to_i64({self.many}))")
            with text.block(f"for k in range(total + which * part, min(total + (which + 1) * part, {size})):"):
                text.line(f"store_i64({out}, base + k, {self.length})")
        traffic = self.op.operands[0].tensor.nbytes + self.op.result.tensor.nbytes
        return _draft(self.op, text, "true_places_blocks", self.units, traffic)


COMPOSITE_KERNELS["numhlo.true_places"] = RootRule(emit_true_places, refuse=_refuse)
