"""Integers that are added to few elements, in four tables that take turns.

``counts[i] += 1`` waits for the last one if that was the same element: what is loaded has just been stored. Neighbours
in four tables don't wait for each other. The tables are added up behind the loop, which is exact for integers alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from numhlo.backend.emit.expressions import Graph
from numhlo.backend.emit.kernel_text import KernelText
from numhlo.backend.emit.registers import Register
from numhlo.lowering.ir import Region
from numhlo.lowering.ir.records import record
from numhlo.lowering.ops.elementwise import ADD

TABLES, LENGTH = 4, 256
"""How many tables, and of how many elements at most: all of them stay in the first cache."""

FEWEST_EACH = 8
"""Updates for each element from which on clearing the tables, and adding them up, is worth it."""


@record(frozen=True, slots=True)
class CountTables:
    """The tables of one kernel: the name of the pointer to them, the text of how long each is, and their type.

    An element's places in all tables are neighbours. Behind those of the last one is what is counted nowhere.
    """

    name: str
    length: str
    storage: str

    def place(self, start: str, is_inside: str, variable: str) -> str:
        """Return where to add instead of at a start index, in the round with this counter: no branch."""
        return f"select({is_inside}, {start}, {LENGTH}) * {TABLES} + ({variable} & {TABLES - 1})"

    def clear(self, text: KernelText) -> None:
        """Write what fills the tables with zeros."""
        with text.block(f"for k in range({TABLES} * {self.length}):"):
            text.line(f"store_{self.storage}({self.name}, k, to_{self.storage}(0))")

    def add_to(self, text: KernelText, out: str) -> None:
        """Write what adds the tables to a result."""
        with text.block(f"for k in range({self.length}):"):
            total = f"load_{self.storage}({out}, k)"
            for table in range(TABLES):
                total = f"add({total}, load_{self.storage}({self.name}, k * {TABLES} + {table}))"
            text.line(f"store_{self.storage}({out}, k, {total})")


def count_tables(
    text: KernelText, body: Region, registers: Sequence[Register], expressions: Graph, length: int
) -> CountTables | None:
    """Return tables for updates of as many elements, None where they aren't worth it, or not exact."""
    add = body.ops[0] if len(body.ops) == 1 else None
    if add is None or add.definition is not ADD or {*add.operands} != {*body.arguments} or body.returns != add.results:
        return None
    register = registers[0]
    updates = math.prod(expressions.shape)
    if register.kind not in "iu" or register.narrow or length > LENGTH or updates < FEWEST_EACH * length:
        return None
    name = text.stack_array("tables", TABLES * (LENGTH + 1), register.dtype.itemsize)
    return CountTables(name, text.number("table", length, "length"), register.storage)
