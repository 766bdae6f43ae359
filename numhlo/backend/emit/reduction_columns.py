"""Reductions across memory: up to 64 results a unit, side by side.

Lanes are rows of a small matrix, so that every step is SIMD code across columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from numhlo.backend.emit.draft import Draft
from numhlo.backend.emit.expressions import Position
from numhlo.backend.emit.nest import position_text
from numhlo.backend.emit.reduction import Combiner
from numhlo.backend.emit.reduction_extreme import worst
from numhlo.backend.emit.reduction_writer import ReductionWriter, itemsize
from numhlo.backend.emit.registers import Register
from numhlo.lowering.ir import Value
from numhlo.lowering.ops.reduction_order import BLOCK, LANES

COLUMNS = 64
"""Results side by side in one unit, at most."""

FEWEST_COLUMNS = 4

FEW_COLUMNS, FEW_WITH_LANES = 16, 8
"""Up to so many, accumulators may stay in registers: the code is there twice, for full units with a known width."""


class ColumnWriter(ReductionWriter):
    """Up to 64 results a unit, side by side along the last kept axis."""

    def write(self) -> Draft:
        """Return the kernel."""
        with self.nest.block("for unit in range(lo, hi):"):
            width = self._open_columns("unit")
            lanes = any(reduced.combiner.is_ordered for reduced in self.reduction.reduced)
            if self.columns > (FEW_WITH_LANES if lanes else FEW_COLUMNS):
                self._write_unit(width)
            else:
                with self.nest.block(f"if {width} == {self.columns}:"):
                    self._write_unit(str(self.columns))
                with self.nest.block("else:"):
                    self._write_unit(width)
        return self.draft(self._units)

    def _write_unit(self, width: str) -> None:
        """Write the reduction of so many columns."""
        totals = self._start_columns(width)
        if self.blocks == 1:
            self._block("0", self.count_text(), width, totals)
        else:
            count = self.count_text()
            with self.nest.block(f"for start in range(0, {count}, {BLOCK}):"):
                self.text.line(f"stop = min(start + {BLOCK}, {count})")
                self._block("start", "stop", width, totals)
        self._finish_columns(width, totals)

    def write_in_parts(self, parts: Sequence[Value]) -> list[Draft]:
        """Return the kernel whose units are blocks of columns, and the one that combines their results."""
        pointers = [self.text.pointer(part, "part") for part in parts]
        units = self.text.number("units", self._units, "units")
        outputs = self.text.number("outputs", self.outputs, "outputs")
        count = self.count_text()
        with self.nest.block("for unit in range(lo, hi):"):
            block = self.text.let(f"divide(to_i64(unit), to_i64({units}))", "block")
            width = self._open_columns(self.text.let(f"unit - {block} * {units}", "group"))
            self.text.line(f"start = {block} * {BLOCK}")
            self.text.line(f"stop = min(start + {BLOCK}, {count})")
            totals = self._start_columns(width)
            self._block("start", "stop", width, totals)
            with self._column_loop(width) as column:
                place = self.reduction.reduced[0].results[0].access
                for reduced, pointer, (total,) in zip(self.reduction.reduced, pointers, totals, strict=True):
                    name = reduced.combiner.registers[0].name
                    value = f"load_{name}({total}, {column})"
                    index = f"{block} * {outputs} + {self.nest.index(place)}"
                    self.text.line(f"store_{name}({pointer}, {index}, {value})")
        first = self.draft(self.blocks * self._units, "_blocks")
        return [first, self.combine_parts(parts)]

    @property
    def _last(self) -> int:
        return self.kept[-1]

    @property
    def columns(self) -> int:
        """Return the number of results for which a unit has space, a power of two."""
        columns = COLUMNS
        while columns > FEWEST_COLUMNS and columns // 2 >= self.axes[self._last].extent:
            columns //= 2
        return columns

    @property
    def _groups(self) -> int:
        """Return the number of units side by side along the last kept axis."""
        return -(-self.axes[self._last].extent // self.columns)

    @property
    def _units(self) -> int:
        return self.outputs // self.axes[self._last].extent * self._groups

    def _open_columns(self, unit: str) -> str:
        """Write the decoding of a unit into the outer kept axes and a range of columns; return the width's name."""
        extent = self.nest.extent(self._last)
        outer = self.kept[:-1]
        if outer:
            groups = self.text.number("groups", self._groups, "groups")
            rest = self.text.let(f"divide(to_i64({unit}), to_i64({groups}))", "rest")
            unit = self.text.let(f"{unit} - {rest} * {groups}", "group")
            self.nest.decode(rest, outer)
        self.first = self.text.let(f"{unit} * {self.columns}", "first")
        return self.text.let(f"min({self.columns}, {extent} - {self.first})", "width")

    @contextmanager
    def _column_loop(self, width: str) -> Iterator[str]:
        """Open the loop over a unit's columns; yield a column's place among them."""
        column = self.text.fresh("column")
        with self.nest.block(f"for {column} in range({width}):"):
            self.nest.set_variable(self._last, f"{self.first} + {column}")
            yield column

    def _array(self, hint: str, count: int, register: Register) -> str:
        return self.text.stack_array(hint, count, itemsize(register))

    def _start_columns(self, width: str) -> list[list[str]]:
        totals = [
            [self._array("totals", self.columns, register) for register in reduced.combiner.registers]
            for reduced in self.reduction.reduced
        ]
        with self._column_loop(width) as column:
            for number, names in enumerate(totals):
                registers = self.reduction.reduced[number].combiner.registers
                for name, value, register in zip(names, self._first_values(number), registers, strict=True):
                    self.text.line(f"store_{register.name}({name}, {column}, {value})")
        return totals

    def _first_values(self, number: int) -> list[str]:
        """Return what accumulators begin with: values that change no other one."""
        reduced = self.reduction.reduced[number]
        if number in self.extremes:
            value, place = reduced.combiner.registers
            node = self.reduction.expressions.nodes[reduced.inputs[1]]
            assert isinstance(node, Position)
            with self.nest.fixed({self.inner[0]: "0"}):
                return [worst(self.extremes[number], value), position_text(self.nest.index(node.access), place)]
        identity = reduced.combiner.identity
        return [self.nest.name(node) if identity is None else identity for node in reduced.inits]

    def _block(self, start: str, stop: str, width: str, totals: list[list[str]]) -> None:
        """Write the reduction of elements ``start`` to ``stop`` of each column."""
        lanes = [
            self._clear_lanes(reduced.combiner) if reduced.combiner.is_ordered else ""
            for reduced in self.reduction.reduced
        ]
        with self._row_loop(start, stop) as row:
            lane = self.text.let(f"({row} & {LANES - 1}) * {self.columns}", "lane") if any(lanes) else ""
            with self._column_loop(width) as column:
                for number, values in enumerate(self.elements()):
                    reduced = self.reduction.reduced[number]
                    if lanes[number]:
                        self._update(reduced.combiner, [lanes[number]], f"{lane} + {column}", values)
                    else:
                        self._update(reduced.combiner, totals[number], column, values, number)
        for number, name in enumerate(lanes):
            if name:
                self._fold_lanes(self.reduction.reduced[number].combiner, name, totals[number], width)

    @contextmanager
    def _row_loop(self, start: str, stop: str) -> Iterator[str]:
        bounds = stop if start == "0" else f"{start}, {stop}"
        if len(self.inner) == 1:
            with self.nest.loop(self.inner[0], bounds) as variable:
                yield variable
            return
        with self.nest.block(f"for step in range({bounds}):"):
            self.nest.decode("step", self.inner)
            yield "step"

    def _clear_lanes(self, combiner: Combiner) -> str:
        register = combiner.registers[0]
        lanes = self._array("lanes", LANES * self.columns, register)
        with self.text.block(f"for k in range({LANES * self.columns}):"):
            self.text.line(f"store_{register.name}({lanes}, k, {combiner.identity})")
        return lanes

    def _update(
        self, combiner: Combiner, arrays: Sequence[str], index: str, values: Sequence[str], number: int | None = None
    ) -> None:
        names = [r.name for r in combiner.registers]
        state = [f"load_{name}({array}, {index})" for name, array in zip(names, arrays, strict=True)]
        if len(state) > 1:
            state = [self.text.let(value, "state") for value in state]
        combined = combiner.write(self.text, state, values) if number is None else self.combine(number, state, values)
        for name, array, value in zip(names, arrays, combined, strict=True):
            self.text.line(f"store_{name}({array}, {index}, {value})")

    def _fold_lanes(self, combiner: Combiner, lanes: str, totals: Sequence[str], width: str) -> None:
        name = combiner.registers[0].name
        half = LANES // 2
        while half:
            with self.text.block(f"for k in range({half * self.columns}):"):
                other = f"load_{name}({lanes}, k + {half * self.columns})"
                self._update(combiner, [lanes], "k", [other])
            half //= 2
        with self.text.block(f"for k in range({width}):"):
            self._update(combiner, totals, "k", [f"load_{name}({lanes}, k)"])

    def _finish_columns(self, width: str, totals: list[list[str]]) -> None:
        with self._column_loop(width) as column:
            for reduced, arrays in zip(self.reduction.reduced, totals, strict=True):
                names = [r.name for r in reduced.combiner.registers]
                values = [f"load_{name}({array}, {column})" for name, array in zip(names, arrays, strict=True)]
                self.finish(reduced, values)
