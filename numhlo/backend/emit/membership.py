"""isin: elements looked up in a hash table of those that they may be among.

A first launch fills the table: words of 64 bits in slots that a key's mixed bits say, the next free one where it is
taken; at most half of the slots are. A second one looks up all elements, on all threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.backend.emit.cost import grain_of
from numhlo.backend.emit.draft import Draft
from numhlo.backend.emit.kernel_text import KernelText
from numhlo.backend.emit.registers import REGISTERS
from numhlo.backend.emit.special import COMPOSITE_KERNELS
from numhlo.backend.emit.tables import RootRule
from numhlo.lowering.ir import Op, TensorType, Value

FREE = "to_i64(-7046029254386353131)"
"""What a free slot holds. The key of these bits, if it is tested, is noted behind the table."""

MIXER = "to_i64(-4658895280553007687)"
"""An odd factor whose product has high bits that depend on all lower ones (Steele, Lea, Flood 2014)."""

NANOSECONDS = 8
"""Of a look-up in a table that no cache holds, in units of four operations."""


def _refuse(op: Op) -> str:
    x, tested = (v.tensor for v in op.operands)
    if not x.size or not tested.size:
        return "nothing is looked for"
    return "no key of complex numbers" if REGISTERS[x.dtype].kind == "c" else ""


def emit_isin(op: Op, planner: Any) -> None:
    """Append the launch that fills the table, and the one that looks elements up."""
    planner.output(op.result)
    capacity = 1 << (2 * op.operands[1].tensor.size - 1).bit_length()
    table = planner.scratch(TensorType((capacity + 1,), np.dtype(np.int64)))
    writer = _Writer(op, planner, table, capacity)
    planner.launch_op(op, writer.fill(), op.results)
    planner.append(writer.look_up())


class _Writer:
    """Writes both kernels."""

    def __init__(self, op: Op, planner: Any, table: Value, capacity: int) -> None:
        self.op, self.planner, self.table, self.capacity = op, planner, table, capacity
        self.register = REGISTERS[op.operands[0].tensor.dtype]

    def _open(self) -> None:
        self.text = KernelText(self.planner.buffer)
        self.slots = self.text.pointer(self.table, "table")
        self.count = self.text.number("capacity", self.capacity, "capacity")

    def _key(self, pointer: str) -> str:
        """Write the key of element ``i``; return the test whether it equals itself."""
        register = self.register
        self.text.line(f"value = load_{register.storage}({pointer}, i)")
        if register.kind != "f":
            self.text.line("key = to_i64(value)")
            return "True"
        zero = f"{register.convert}(0.0)"
        self.text.line(f"key = to_i64(bits_of_{register.name}(select(value == {zero}, {zero}, value)))")
        return "value == value"

    def _slot(self) -> None:
        """Write the search for the slot that holds a key, or is free for it."""
        self.text.line(f"mixed = multiply(key ^ shift_right_logical(key, to_i64(32)), {MIXER})")
        self.text.line(f"mixed = multiply(mixed ^ shift_right_logical(mixed, to_i64(29)), {MIXER})")
        self.text.line(f"slot = (mixed ^ shift_right_logical(mixed, to_i64(32))) & ({self.count} - 1)")
        self.text.line(f"found = load_i64({self.slots}, slot)")
        with self.text.block(f"while (found != key) & (found != {FREE}):"):
            self.text.line(f"slot = (slot + 1) & ({self.count} - 1)")
            self.text.line(f"found = load_i64({self.slots}, slot)")

    def fill(self) -> Draft:
        """Return the kernel of one unit that fills the table."""
        self._open()
        tested = self.op.operands[1]
        source, size = self.text.pointer(tested), self.text.number("size", tested.tensor.size, "size")
        with self.text.block("for unit in range(lo, hi):"):
            with self.text.block(f"for k in range({self.count}):"):
                self.text.line(f"store_i64({self.slots}, k, {FREE})")
            self.text.line("special = to_i64(0)")
            with self.text.block(f"for i in range({size}):"):
                number = self._key(source)
                with self.text.block(f"if {number}:"):
                    self._slot()
                    self.text.line(f"special = special | to_i64(key == {FREE})")
                    self.text.line(f"store_i64({self.slots}, slot, key)")
            self.text.line(f"store_i64({self.slots}, {self.count}, special)")
        flops, traffic = 4 * NANOSECONDS * tested.tensor.size, tested.tensor.nbytes + self.table.tensor.nbytes
        kernel = self.text.finish(f"isin_table_{self.register.storage}")
        return Draft(kernel, tuple(self.text.buffers), tuple(self.text.dims), 1, 1, flops, traffic)

    def look_up(self) -> Draft:
        """Return the kernel that looks up all elements."""
        self._open()
        x = self.op.operands[0]
        source, out = self.text.pointer(x), self.text.pointer(self.op.result, "out")
        self.text.line(f"special = load_i64({self.slots}, {self.count}) != 0")
        with self.text.block("for i in range(lo, hi):"):
            number = self._key(source)
            self._slot()
            self.text.line(f"there = ((found == key) & ((key != {FREE}) | special)) & ({number})")
            self.text.line(f"store_bool({out}, i, there)")
        flops, traffic = 4 * NANOSECONDS * x.tensor.size, x.tensor.nbytes + self.op.result.tensor.nbytes
        kernel = self.text.finish(f"isin_{self.register.storage}")
        grain = grain_of(x.tensor.size, flops, traffic)
        return Draft(kernel, tuple(self.text.buffers), tuple(self.text.dims), x.tensor.size, grain, flops, traffic)


COMPOSITE_KERNELS["numhlo.isin"] = RootRule(emit_isin, refuse=_refuse)
