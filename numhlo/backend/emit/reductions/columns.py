"""Reductions across memory: as many results a unit as its place on the stack allows, side by side.

Lanes are rows of a small matrix, so that every step is SIMD code across columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, reduce

from numhlo.backend.emit.draft import Draft
from numhlo.backend.emit.expressions import Apply, Load, Position
from numhlo.backend.emit.nest import Axis, position_text
from numhlo.backend.emit.prefetching import ROWS_BYTES, ask_for_rows, is_far, strip_length
from numhlo.backend.emit.reduction import Combiner
from numhlo.backend.emit.reductions.extreme import worst
from numhlo.backend.emit.reductions.writer import Reduction, ReductionWriter, itemsize
from numhlo.backend.emit.registers import Register
from numhlo.lowering.ir import Value
from numhlo.lowering.ops.elementwise import MULTIPLY
from numhlo.lowering.ops.reduction_order import BLOCK, LANES

COLUMNS = 64
"""Results side by side in one unit, at most."""

MOST_COLUMNS, UNITS = 256, 8
"""As many where so many units are left: memory is read in longer pieces."""

FAR_COLUMNS, FAR_UNITS, FAR_TOGETHER = 1024, 3, 8
"""The same, and rows taken together, where no cache holds what is read: the hardware reads ahead within pages.

16 lanes of so many float64 are 128 KB on the stack, which a second cache holds; several reductions share the columns.
"""

TOGETHER, TOGETHER_WITH_LANES = 16, 4
"""Rows that are taken between a load of accumulators and their store, halved for what is computed of each.

Of one lane they are sixteen rows apart: with many of them, few rows would be left for matrices of some hundred. Of
places beside values, more than four were slower.
"""

FEWEST_COLUMNS = 4

MOST_ROWS, MOST_PRODUCTS = 64, 8192
"""Of a sum of rows that are multiplied with a number each, whose accumulators then stay in registers. A few columns of
every row are read at a time: of more rows, that is not what the first cache is made for.
"""

BROKEN = "broken"
"""Says that a NaN was among what is searched, or a maximum is zero and its sign open."""

FEW_COLUMNS, FEW_WITH_LANES = 16, 8
"""Up to so many, accumulators may stay in registers: the code is there twice, for full units with a known width."""


def windows_overlap(reduction: Reduction, axes: Sequence[Axis], kept: int) -> bool:
    """Return whether results read elements that others read too, a step further on."""
    for node in reduction.expressions.nodes:
        if isinstance(node, Load):
            strides = [node.access.strides[axis.dims[-1]] for axis in axes]
            if set(strides[:kept]) & set(strides[kept:]) - {0}:
                return True
    return False


class ColumnWriter(ReductionWriter):
    """Results side by side along the last kept axis, `columns` of them a unit."""

    def write(self) -> Draft:
        """Return the kernel."""
        with self.nest.block("for unit in range(lo, hi):"):
            width = self._open_columns("unit")
            lanes = any(reduced.combiner.is_ordered for reduced in self.reduction.reduced)
            if self._factors:
                self._write_products(width, *self._factors)
            elif self.columns > (FEW_WITH_LANES if lanes else FEW_COLUMNS):
                self._write_unit(width)
            else:
                with self.nest.block(f"if {width} == {self.columns}:"):
                    self._write_unit(str(self.columns))
                with self.nest.block("else:"):
                    self._write_unit(width)
        return self.draft(self._units)

    @cached_property
    def _factors(self) -> tuple[Load, Load] | tuple[()]:
        """Return a number a row, and what it is multiplied with: columns side by side, few enough for registers."""
        (reduced, *others), nodes = self.reduction.reduced, self.reduction.expressions.nodes
        few = self.count <= MOST_ROWS and self.count * self.outputs <= MOST_PRODUCTS
        if others or self.reduction.stores or len(self.inner) > 1 or reduced.combiner.name != "add" or not few:
            return ()
        node = nodes[reduced.inputs[0]]
        if not reduced.combiner.in_lanes or not isinstance(node, Apply) or node.op.definition is not MULTIPLY:
            return ()
        loads = [n for n in map(nodes.__getitem__, node.operands) if isinstance(n, Load) and not n.register.narrow]
        loads.sort(key=lambda load: self.nest.strides(load.access)[self._last] != 0)
        if [self.nest.strides(load.access)[self._last] for load in loads] != [0, 1]:
            return ()
        if any(
            self.nest.starts_vary_along(load.access, axis) for load in loads for axis in (self._last, self.inner[0])
        ):
            return ()  # those are no steps of one length
        return loads[0], loads[1]

    def _write_products(self, width: str, number: Load, row: Load) -> None:
        """Write sums of rows, each multiplied with a number, that stay in registers until they are complete."""
        totals = self._arrays()
        ((total,),) = totals
        places = []
        for load in (number, row):
            indices = []
            for k in range(2):
                with self.nest.fixed({self._last: self.first, self.inner[0]: str(k)}):
                    indices.append(self.nest.index(load.access))
            places.append(f"{self.text.pointer(load.value)}, {indices[0]}, {indices[1]} - ({indices[0]})")
        word = f"add_product_columns_{self.carried(0)[0].name}"
        self.text.line(f"{word}({total}, {', '.join(places)}, {self.count_text()}, {width})")
        self._finish_columns(width, totals)

    def _write_unit(self, width: str) -> None:
        """Write the reduction of so many columns."""
        totals = self._arrays()
        self._start_columns(width, totals)
        if self._watched:
            self.text.line(f"{BROKEN} = False")
        if self.blocks == 1:
            self._block("0", self.count_text(), width, totals)
        else:
            count = self.count_text()
            with self.nest.block(f"for start in range(0, {count}, {BLOCK}):"):
                self.text.line(f"stop = min(start + {BLOCK}, {count})")
                self._block("start", "stop", width, totals)
        if self._late:
            self._take_signs(width, totals)
        if self._watched:
            self._search_again(width, totals)
        self._finish_columns(width, totals)

    @cached_property
    def _watched(self) -> list[int]:
        """Return the searches among floats that may go wrong where there are NaNs, and are repeated then.

        Heeding NaN in every comparison takes half as long again. Where elements are stored on the way, they may take
        the place of what they are computed from, so nothing can be repeated.
        """
        if self.reduction.stores:
            return []
        return [n for n in self.extremes if self.reduction.reduced[n].combiner.registers[0].kind == "f"]

    @property
    def choice(self) -> str:
        """Return the word by which searches choose: the widest vectors suit units of many columns."""
        return "overtake" if self.columns >= COLUMNS else "select"

    @cached_property
    def _late(self) -> list[int]:
        """Return the maxima whose sign is that of the element which a watched search finds, unless that is -0.0.

        A first zero that is negative is rare; one that is positive, which leaves the sign of a minimum open, is not.
        """
        found = self.found.items()
        return [n for n, value in found if value.search in self._watched and value.name == "maximum"]

    def _take_signs(self, width: str, totals: list[list[str]]) -> None:
        """Write what takes the signs of maxima from what was found, and has them looked for where one is -0.0."""
        with self._column_loop(width) as column:
            for number in self._late:
                found, (word,) = self.found[number], self.carried(number)
                value = self.text.let(f"load_{found.register.name}({totals[found.search][0]}, {column})", "state")
                bits = self.text.let(f"{word.convert}({found.signs(value)[0]})", "signs")
                self.text.line(f"store_{word.name}({totals[number][0]}, {column}, {bits})")
                self.text.line(f"{BROKEN} = {BROKEN} | ({bits} == {word.convert}({-1 << (word.bits - 1)}))")

    def _search_again(self, width: str, totals: list[list[str]]) -> None:
        """Write the searches once more, row by row and with regard to NaN, for where there was one."""
        with self.nest.block(f"if {BROKEN}:"):
            numbers = [*self._watched, *self._late]
            searched = [names if number in numbers else [] for number, names in enumerate(totals)]
            self._start_columns(width, searched)
            with self.nest.block(f"for again in range({self.count_text()}):"):
                self._take_rows("again", 1, 1, width, searched, [""] * len(totals), numbers)

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
            totals = self._arrays()
            self._start_columns(width, totals)
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

    @cached_property
    def columns(self) -> int:
        """Return the number of results for which a unit has space, a power of two."""
        extent = self.axes[self._last].extent
        columns = COLUMNS
        while columns > FEWEST_COLUMNS and columns // 2 >= extent:
            columns //= 2
        most, units = (FAR_COLUMNS // len(self.reduction.reduced), FAR_UNITS) if self._is_far else (MOST_COLUMNS, UNITS)
        while columns >= COLUMNS and 2 * columns <= most and self.outputs // (2 * columns) >= units:
            columns *= 2
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
    def _column_loop(self, stop: str, start: str = "") -> Iterator[str]:
        """Open the loop over a unit's columns; yield a column's place among them."""
        column = self.text.fresh("column")
        with self.nest.block(f"for {column} in range({start}{', ' if start else ''}{stop}):"):
            self.nest.set_variable(self._last, f"{self.first} + {column}")
            yield column

    @contextmanager
    def _column_strips(self, width: str, ahead: Sequence[dict[int, str]]) -> Iterator[str]:
        """Open the loop over a unit's columns, cut into strips that ask for the rows that come next, if any."""
        if not ahead:
            with self._column_loop(width) as column:
                yield column
            return
        step = strip_length(self.nest)
        with self.nest.block(f"for strip in range(0, {width}, {step}):"):
            ask_for_rows(self.nest, (self._last, f"({self.first} + strip)"), ahead, step)
            with self._column_loop(self.text.let(f"min(strip + {step}, {width})", "stop"), "strip") as column:
                yield column

    @cached_property
    def _is_far(self) -> bool:
        """Return whether elements are far more than near caches hold, and each is read once."""
        return is_far(self.nest, (), ROWS_BYTES) and not windows_overlap(self.reduction, self.axes, len(self.kept))

    def _array(self, hint: str, count: int, register: Register) -> str:
        return self.text.stack_array(hint, count, itemsize(register))

    def _arrays(self) -> list[list[str]]:
        """Return the arrays that hold what each reduction carries, an element a column."""
        numbers = range(len(self.reduction.reduced))
        return [[self._array("totals", self.columns, register) for register in self.carried(n)] for n in numbers]

    def _start_columns(self, width: str, totals: list[list[str]]) -> None:
        """Write what the arrays of reductions begin with, as far as they are given."""
        with self._column_loop(width) as column:
            for number, names in enumerate(totals):
                for name, value, register in zip(names, self._first_values(number), self.carried(number), strict=False):
                    self.text.line(f"store_{register.name}({name}, {column}, {value})")

    def _first_values(self, number: int) -> list[str]:
        """Return what accumulators begin with: values that change no other one."""
        reduced = self.reduction.reduced[number]
        if number in self.found:
            return self.found[number].first
        if number in self.extremes:
            value, place = reduced.combiner.registers
            node = self.reduction.expressions.nodes[reduced.inputs[1]]
            assert isinstance(node, Position)
            with self.nest.fixed({self.inner[0]: "0"}):
                return [worst(self.extremes[number], value), position_text(self.nest.index(node.access), place)]
        identity = reduced.combiner.identity
        return [self.nest.name(node) if identity is None else identity for node in reduced.inits]

    def _block(self, start: str, stop: str, width: str, totals: list[list[str]]) -> None:
        """Write the reduction of elements ``start`` to ``stop`` of each column.

        Some rows of one lane are taken together, and the lanes one after the other; but places are compared in order.
        """
        lanes = [
            self._clear_lanes(reduced.combiner) if reduced.combiner.is_ordered else ""
            for reduced in self.reduction.reduced
        ]
        arrays = [[name] if name else names for name, names in zip(lanes, totals, strict=True)]
        together = self._together
        row = self.text.fresh("row")
        self.text.line(f"{row} = to_i64({start})")
        if not any(lanes):
            for count in dict.fromkeys((together, 1)):
                with self._while_left(row, stop, count):
                    self._take_rows(row, count, 1, width, arrays, [""] * len(lanes), following=f"({row} + {count})")
            return
        if together > 1:
            with (
                self._while_left(row, stop, together * LANES),
                self.nest.block(f"for lane in range({LANES}):"),
            ):
                places = [f"lane * {self.columns} + " if name else "" for name in lanes]
                following = f"({row} + select(lane < {LANES - 1}, lane + 1, {together * LANES}))"
                self._take_rows(f"({row} + lane)", together, LANES, width, arrays, places, following=following)
        with self._while_left(row, stop, 1):
            place = self.text.let(f"({row} & {LANES - 1}) * {self.columns}", "place")
            self._take_rows(row, 1, 1, width, arrays, [f"{place} + " if name else "" for name in lanes])
        for number, name in enumerate(lanes):
            if name:
                self._fold_lanes(self.reduction.reduced[number].combiner, name, totals[number], width)

    @cached_property
    def _together(self) -> int:
        """Return how many rows, a power of two, are taken between a load of accumulators and their store."""
        lanes = LANES if any(reduced.combiner.is_ordered for reduced in self.reduction.reduced) else 1
        size = sum(isinstance(node, Apply) for node in self.reduction.expressions.nodes)
        together = TOGETHER >> size.bit_length() >> (len(self.reduction.reduced) - len(self.found) - 1)
        if lanes > 1 or self.extremes:
            far = self._is_far and not self.extremes
            together = min(together, FAR_TOGETHER if far else TOGETHER_WITH_LANES)
        if windows_overlap(self.reduction, self.axes, len(self.kept)):  # else a kernel serves any number of rows
            while together > 1 and together * lanes > self.count:
                together //= 2
        return max(1, together)

    @contextmanager
    def _while_left(self, row: str, stop: str, count: int) -> Iterator[None]:
        """Open the loop that takes ``count`` rows at a time while there are so many."""
        with self.nest.block(f"while {row} < {stop}{f' - {count - 1}' if count > 1 else ''}:"):
            yield
            self.text.line(f"{row} = {row} + {count}")

    def _take_rows(
        self,
        row: str,
        count: int,
        step: int,
        width: str,
        arrays: list[list[str]],
        places: Sequence[str],
        again: Sequence[int] = (),
        following: str = "",
    ) -> None:
        """Write the loop over columns that takes ``count`` rows, ``step`` apart, into accumulators, in order.

        Of reductions that are done ``again``, if any are given, there are no others, and NaN is heeded. The rows from
        ``following`` on are asked for where many are taken together, and all are more than caches hold.
        """
        indices = [self._indices(f"({row} + {k * step})" if k else row) for k in range(count)]
        ahead: list[dict[int, str]] = []
        if following and count > 1 and self._is_far:
            ahead = [self._indices(f"({following} + {k * step})" if k else following) for k in range(count)]
        with self._column_strips(width, ahead) as column:
            numbers = again or [n for n in range(len(arrays)) if n not in self._late]
            states = {n: self._load(n, arrays[n], places[n] + column) for n in numbers}
            rows = []
            for fixed in indices:
                with self.nest.fixed(fixed):
                    rows.append(self.elements())
            if self._watched and not again:
                self._watch([row[number][0] for row in rows for number in self._watched])
            for number, state in states.items():
                values = [self.taken(number, row[number]) for row in rows]
                total = self._combined(number, state, values, heeds_nan=number not in self._watched or bool(again))
                for register, name, text in zip(self.carried(number), arrays[number], total, strict=True):
                    self.text.line(f"store_{register.name}({name}, {places[number]}{column}, {text})")

    def _load(self, number: int, arrays: Sequence[str], place: str) -> list[str]:
        """Write the loads of what a reduction carries."""
        pairs = zip(self.carried(number), arrays, strict=True)
        return [self.text.let(f"load_{register.name}({name}, {place})", "state") for register, name in pairs]

    def _watch(self, values: Sequence[str]) -> None:
        """Write what notices NaNs."""
        tests = [f"({value} != {value})" for value in dict.fromkeys(values)]
        self.text.line(f"{BROKEN} = {BROKEN} | {' | '.join(tests)}")

    def _combined(self, number: int, state: list[str], values: list[list[str]], *, heeds_nan: bool) -> list[str]:
        """Write what combines the state of a reduction with elements, as many as a power of two."""

        def combine(lhs: Sequence[str], rhs: Sequence[str]) -> list[str]:
            return [self.text.let(text, "state") for text in self.combine(number, lhs, rhs, heeds_nan=heeds_nan)]

        while len(values) > 1 and not self.reduction.reduced[number].combiner.is_ordered:
            values = [
                combine(*pair) for pair in zip(values[::2], values[1::2], strict=True)
            ]  # none waits for all before
        return reduce(combine, values, state)

    def _indices(self, row: str) -> dict[int, str]:
        """Write the indices of the reduced axes at a row, and return them."""
        indices: dict[int, str] = {}
        for axis in reversed(self.inner[1:]):
            extent = self.nest.extent(axis)
            above = self.text.let(f"divide(to_i64({row}), to_i64({extent}))", "above")
            indices[axis] = self.text.let(f"{row} - {above} * {extent}", "index")
            row = above
        return {**indices, self.inner[0]: row}

    def _clear_lanes(self, combiner: Combiner) -> str:
        register = combiner.registers[0]
        lanes = self._array("lanes", LANES * self.columns, register)
        with self.text.block(f"for k in range({LANES * self.columns}):"):
            self.text.line(f"store_{register.name}({lanes}, k, {combiner.identity})")
        return lanes

    def _fold_lanes(self, combiner: Combiner, lanes: str, totals: Sequence[str], width: str) -> None:
        """Write what combines the lanes of each column in halves, and takes the result into the column's total.

        Narrow units fold what space there is: a loop of that many columns needs no code for a rest.
        """
        name = combiner.registers[0].name
        with self.text.block(f"for k in range({width if self.columns >= COLUMNS else self.columns}):"):
            values = [f"load_{name}({lanes}, k + {lane * self.columns})" for lane in range(LANES)]
            values = [self.text.let(value, "lane") for value in values]
            while len(values) > 1:
                half = len(values) // 2
                pairs = zip(values[:half], values[half:], strict=True)
                values = [self.text.let(combiner.write(self.text, [lhs], [rhs])[0], "fold") for lhs, rhs in pairs]
            (total,) = combiner.write(self.text, [f"load_{name}({totals[0]}, k)"], values)
            self.text.line(f"store_{name}({totals[0]}, k, {total})")

    def _finish_columns(self, width: str, totals: list[list[str]]) -> None:
        with self._column_loop(width) as column:
            self.finish_all(
                [
                    [f"load_{r.name}({array}, {column})" for r, array in zip(self.carried(n), arrays, strict=True)]
                    for n, arrays in enumerate(totals)
                ]
            )
