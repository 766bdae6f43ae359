"""The IR section: ops as they are written, with values, types and attributes by number.

One block in a region, as StableHLO has it. Values are numbered from the innermost op around that is closed to values
from outside (a function, a module): first those of a region, then those of the regions inside each of its ops.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from numhlo.lowering.bytecode.container import (
    IR,
    LAZY_REGIONS,
    PROPERTIES,
    SHORT_ARGUMENTS,
    USE_ORDERS,
    Container,
    read_section,
)
from numhlo.lowering.bytecode.cursor import ByteCursor
from numhlo.lowering.text.lexer import DEEPEST

HAS_ATTRIBUTES, HAS_RESULTS, HAS_OPERANDS, HAS_SUCCESSORS, HAS_REGIONS, HAS_USE_ORDERS, HAS_PROPERTIES = (
    1 << bit for bit in range(7)
)
"""Bits of the byte behind an op's name: what follows."""


@dataclass(slots=True)
class RawOp:
    """An op: numbers of its name, location, attributes (-1 for none), properties, operands and types of results."""

    name: int
    place: int
    location: int
    attributes: int = -1
    properties: int = -1
    operands: list[int] = field(default_factory=list)
    results: list[int] = field(default_factory=list)
    regions: list[RawRegion] = field(default_factory=list)
    is_isolated: bool = False
    """Whether its regions use no values from outside, and number theirs from 0."""


@dataclass(slots=True)
class RawRegion:
    """A region: its arguments' types and locations (-1 for unknown), its ops, and how many values both are."""

    arguments: list[tuple[int, int]] = field(default_factory=list)
    ops: list[RawOp] = field(default_factory=list)
    has_block: bool = False
    values: int = 0


class OperationReader:
    """Reads the IR section."""

    def __init__(self, container: Container) -> None:
        self._container = container
        self._version = container.version
        self._depth = 0

    def read(self) -> list[RawOp]:
        """Return the ops at the top: nearly always one module."""
        region = RawRegion()
        cursor = self._container.sections[IR]
        self._read_block(cursor, region)
        if not cursor.is_at_end:
            cursor.fail("the ops don't fill their section")
        return region.ops

    def _read_region(self, cursor: ByteCursor) -> RawRegion:
        region = RawRegion()
        blocks = cursor.number()
        if blocks == 0:
            return region
        if blocks > 1:
            cursor.fail("regions have one block in StableHLO")
        region.has_block, region.values = True, cursor.number()
        self._read_block(cursor, region)
        count = len(region.arguments) + sum([len(op.results) for op in region.ops])
        if count != region.values:
            cursor.fail(f"a region is to have {region.values} values, and has {count}")
        return region

    def _read_block(self, cursor: ByteCursor, region: RawRegion) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            cursor.fail(f"nested deeper than {DEEPEST} levels")
        count, has_arguments = cursor.flagged()
        if has_arguments:
            self._read_arguments(cursor, region)
        if count > cursor.end - cursor.place:
            cursor.fail(f"{count} ops are announced, and {cursor.end - cursor.place} bytes are left")
        append = region.ops.append
        for _ in range(count):
            append(self._read_op(cursor))
        self._depth -= 1

    def _read_arguments(self, cursor: ByteCursor, region: RawRegion) -> None:
        count = cursor.count()
        for _ in range(count):
            if self._version < SHORT_ARGUMENTS:
                region.arguments.append((cursor.number(), cursor.number()))
                continue
            type, has_location = cursor.flagged()
            region.arguments.append((type, cursor.number() if has_location else -1))
        if self._version >= USE_ORDERS and cursor.byte():
            self._skip_use_orders(cursor, count)

    def _read_op(self, cursor: ByteCursor) -> RawOp:
        op = RawOp(cursor.number(), cursor.place, 0)
        mask = cursor.byte()
        op.location = cursor.number()
        if op.name >= len(self._container.op_names):
            cursor.fail(f"there is no op {op.name}, the file has {len(self._container.op_names)} names of ops")
        if mask & HAS_ATTRIBUTES:
            op.attributes = cursor.number()
        if mask & HAS_PROPERTIES:
            if self._version < PROPERTIES:
                cursor.fail(f"ops have no properties in version {self._version} of MLIR bytecode")
            op.properties = cursor.number()
        if mask & HAS_RESULTS:
            op.results = cursor.numbers()
        if mask & HAS_OPERANDS:
            op.operands = cursor.numbers()
        if mask & HAS_SUCCESSORS:
            cursor.fail("ops that jump to other blocks are not StableHLO's")
        if mask & HAS_USE_ORDERS:
            self._skip_use_orders(cursor, len(op.results))
        if mask & HAS_REGIONS:
            self._read_regions(cursor, op)
        return op

    def _read_regions(self, cursor: ByteCursor, op: RawOp) -> None:
        count, op.is_isolated = cursor.flagged()
        if count > cursor.end - cursor.place:
            cursor.fail(f"{count} regions are announced, and {cursor.end - cursor.place} bytes are left")
        inner = cursor
        if op.is_isolated and self._version >= LAZY_REGIONS:
            number, inner = read_section(cursor)
            if number != IR:
                cursor.fail("a section of ops is expected here")
        for _ in range(count):
            op.regions.append(self._read_region(inner))
        if inner is not cursor and not inner.is_at_end:
            inner.fail("the ops don't fill their section")

    def _skip_use_orders(self, cursor: ByteCursor, values: int) -> None:
        """Go past the orders of values' uses, which say nothing of what a program means."""
        for _ in range(cursor.number() if values > 1 else 1):
            if values > 1:
                cursor.number()
            for _ in range(cursor.flagged()[0]):
                cursor.number()
