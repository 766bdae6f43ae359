"""Reductions along memory: one result a unit.

Elements go, a block of 4096 at a time, into a scratch block (SIMD code) and from there into lanes; if they lie in
memory just as they are needed, straight into lanes. Where one boolean may settle the result (`any`, `all`, the place of
the first true one), rows end with the block that holds it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from functools import cached_property

from numhlo.backend.emit.access import Access
from numhlo.backend.emit.draft import Draft
from numhlo.backend.emit.expressions import Apply, Load, Position
from numhlo.backend.emit.maps import Store, open_rows
from numhlo.backend.emit.narrowing import Narrowing
from numhlo.backend.emit.nest import Axis, position_text
from numhlo.backend.emit.reductions.narrowing import narrowed_reduction, write_lane_bounds
from numhlo.backend.emit.reductions.writer import Reduced, ReductionWriter, itemsize
from numhlo.lowering.ir import Value
from numhlo.lowering.ops.elementwise import MULTIPLY
from numhlo.lowering.ops.reduction_order import BLOCK

CHAINS = 4
LONG_ROW = 64
"""Rows of at least this length are reduced in four parts where every step has to wait for the one before."""

SHORT_ROW = 16
"""Rows below this length are of a length known to the compiler, which then makes them one masked vector."""

VECTOR_ROW = 1024
"""Rows below this length are worth a vector of their own for what is left when the others are full."""

VECTOR_BYTES = 64
"""What a vector holds: on processors with smaller ones, several take its place."""

SETTLED_BY = {"or": True, "add": True, "maximum": True, "and": False, "multiply": False, "minimum": False}
"""The boolean after which a reduction of booleans stays as it is."""


def short_axes(axes: Sequence[Axis], kept: int) -> set[int]:
    """Return the loops along rows whose extents are part of the text, ``kept`` being the number of loops over rows."""
    return {k for k in range(kept, len(axes)) if axes[k].extent < SHORT_ROW}


class RowWriter(ReductionWriter):
    """One result a unit.

    Attributes
    ----------
    may_fill : bool
        What is left of a row when vectors are full may have a text of its own.
    """

    may_fill = True

    def write(self) -> Draft:
        """Return the kernel."""
        self.nest.literal_axes = short_axes(self.axes, len(self.kept))
        with open_rows(self.nest, self.kept) if self.kept else nullcontext():
            self.row()
        return self.draft(self.outputs)

    def row(self) -> None:
        """Write all of one row."""
        totals = [self.start(reduced) for reduced in self.reduction.reduced]
        if self.narrowing:
            self._narrowed(totals)
        elif self._is_one_chain:
            self._chains(totals)
        elif self._in_blocks or (self._settles and self.blocks > 1):
            if self.blocks == 1:
                self._block("0", self.count_text(), totals)
            else:
                with self._block_loop() as stop:
                    self._block("start", stop, totals)
                    if self._settles:
                        with self.text.block(f"if {self._is_settled(totals)}:"):
                            self.text.line("break")
        else:
            self._plain_loops(self.inner, totals)
        for reduced, names in zip(self.reduction.reduced, totals, strict=True):
            self.finish(reduced, names)

    @cached_property
    def narrowing(self) -> Narrowing | None:
        """Return where the elements of a row are that matter, if bounds say that not all do."""
        if len(self.inner) != 1 or self.count < LONG_ROW or self.reduction.stores or self.extremes:
            return None
        return narrowed_reduction(self.nest, self.inner[0], self.reduction.reduced)

    def _narrowed(self, totals: list[list[str]]) -> None:
        """Write the reduction of those elements of a row that matter."""
        assert self.narrowing is not None
        start, stop = write_lane_bounds(self.nest, self.narrowing, self.count_text())
        if not self._in_blocks:
            with self.nest.loop(self.inner[0], f"{start}, {stop}"):
                self._plain_loops([], totals)
        elif self.blocks == 1:
            self._block(start, stop, totals)
        else:
            with self.nest.block(f"for begin in range({start} & {-BLOCK}, {stop}, {BLOCK}):"):
                self.text.line(f"start = max(begin, {start})")
                self.text.line(f"stop = min(begin + {BLOCK}, {stop})")
                self._block("start", "stop", totals)

    def write_in_parts(self, parts: Sequence[Value]) -> list[Draft]:
        """Return the kernel whose units are blocks, and the one that combines their results."""
        pointers = [self.text.pointer(part, "part") for part in parts]
        count = self.count_text()
        narrowed = write_lane_bounds(self.nest, self.narrowing, count) if self.narrowing and not self.kept else None
        if self._settles and not self.kept:
            self.text.line("settled = False")
        with self.nest.block("for unit in range(lo, hi):"):
            block = "unit"
            if self.kept:
                outputs = self.text.number("outputs", self.outputs, "outputs")
                block = self.text.let(f"divide(to_i64(unit), to_i64({outputs}))", "block")
                self.nest.decode(self.text.let(f"unit - {block} * {outputs}", "row"), self.kept)
            self.text.line(f"start = {block} * {BLOCK}")
            self.text.line(f"stop = min(start + {BLOCK}, {count})")
            if self._settles and not self.kept:
                with self.text.block("if settled:"):
                    self.text.line("stop = start")
            totals = [self.start(reduced) for reduced in self.reduction.reduced]
            if narrowed is None:
                self._block("start", "stop", totals)
            else:
                start = self.text.let(f"max(start, {narrowed[0]})", "begin")
                stop = self.text.let(f"min(stop, {narrowed[1]})", "end")
                with self.nest.block(f"if {start} < {stop}:"):
                    self._block(start, stop, totals)
            if self._settles and not self.kept:
                self.text.line(f"settled = settled | ({self._is_settled(totals)})")
            for reduced, pointer, (total,) in zip(self.reduction.reduced, pointers, totals, strict=True):
                self.text.line(f"store_{reduced.combiner.registers[0].name}({pointer}, unit, {total})")
        first = self.draft(self.blocks * self.outputs, "_blocks")
        return [first, self.combine_parts(parts)]

    @property
    def _in_blocks(self) -> bool:
        return bool(self.extremes) or any(r.combiner.in_lanes for r in self.reduction.reduced)

    @property
    def _settles(self) -> bool:
        """Return whether one element may settle all results, so that the blocks after its own need not be read."""
        if self.reduction.stores:
            return False
        return all(
            r.combiner.registers[0].kind == "b" and (k in self.extremes or r.combiner.name in SETTLED_BY)
            for k, r in enumerate(self.reduction.reduced)
        )

    def _is_settled(self, totals: list[list[str]]) -> str:
        """Return the text of whether no later element changes any result."""
        names = [self.extremes.get(k) or r.combiner.name for k, r in enumerate(self.reduction.reduced)]
        return " & ".join(
            first if SETTLED_BY[name] else f"({first} ^ True)" for name, (first, *_) in zip(names, totals, strict=True)
        )

    @contextmanager
    def _block_loop(self) -> Iterator[str]:
        count = self.count_text()
        with self.nest.block(f"for start in range(0, {count}, {BLOCK}):"):
            self.text.line(f"stop = min(start + {BLOCK}, {count})")
            yield "stop"

    def _plain_loops(self, axes: Sequence[int], totals: list[list[str]]) -> None:
        if axes:
            with self.nest.loop(axes[0]):
                self._plain_loops(axes[1:], totals)
            return
        for reduced, names, values in zip(self.reduction.reduced, totals, self.elements(), strict=True):
            self.take(reduced, names, values)

    @property
    def _is_one_chain(self) -> bool:
        """Return whether long rows are reduced by bodies whose steps wait for each other."""
        long = len(self.inner) == 1 and self.count >= LONG_ROW and not self.reduction.stores
        if not long or self.extremes:
            return False
        combiners = [r.combiner for r in self.reduction.reduced]
        in_any_order = all(c.is_choice and not c.in_lanes for c in combiners)
        return in_any_order and any(c.op is None for c in combiners)

    def _chains(self, totals: list[list[str]]) -> None:
        """Write the reduction of a row in four parts side by side, then of the parts, in order."""
        (axis,) = self.inner
        count = self.nest.extent(axis)
        length = self.text.let(f"{count} // {CHAINS}", "length")
        chains = [totals, *([self.start(r) for r in self.reduction.reduced] for _ in range(CHAINS - 1))]
        with self.nest.block(f"for k in range({length}):"):
            for number, names in enumerate(chains):
                place = self.text.let(f"k + {number} * {length}", "place") if number else "k"
                with self.nest.fixed({axis: place}):
                    for reduced, state, values in zip(self.reduction.reduced, names, self.elements(), strict=True):
                        self.accumulate(reduced.combiner, state, values)
        with self.nest.loop(axis, f"{CHAINS} * {length}, {count}"):
            for reduced, state, values in zip(self.reduction.reduced, chains[-1], self.elements(), strict=True):
                self.accumulate(reduced.combiner, state, values)
        for names in chains[1:]:
            for reduced, state, more in zip(self.reduction.reduced, totals, names, strict=True):
                self.accumulate(reduced.combiner, state, more)

    def _block(self, start: str, stop: str, totals: list[list[str]]) -> None:
        """Write the reduction of elements ``start`` to ``stop`` of one result."""
        places = self._direct(start)
        if not places:
            places = self._computed(start, stop, totals)
        size = stop if start == "0" else f"{stop} - {start}"
        for number, (word, place) in places.items():
            reduced = self.reduction.reduced[number]
            if number in self.extremes:
                value = self._take_extreme(reduced, totals[number], f"{word}({place}, {size})", start, place)
                for other in [k for k, found in self.found.items() if found.search == number]:
                    self._take_found(self.reduction.reduced[other], totals[other], value, f"{place}, {size}")
                continue
            name = reduced.combiner.registers[0].name
            self.accumulate(reduced.combiner, totals[number], [f"{word}_lanes_{name}({place}, {size})"])

    def _take_found(self, reduced: Reduced, totals: list[str], value: str, place: str) -> None:
        """Write how the best element of a block goes into a maximum or minimum: of zeros, any may be the better one."""
        register = reduced.combiner.registers[0]
        if register.kind != "f":
            self.accumulate(reduced.combiner, totals, [value])
            return
        with self.text.block(f"if {value} == {register.convert}(0.0):"):
            lanes = f"{reduced.combiner.name}_lanes_{register.name}({place})"
            self.accumulate(reduced.combiner, totals, [lanes])
        with self.text.block("else:"):
            self.accumulate(reduced.combiner, totals, [value])

    def _take_extreme(self, reduced: Reduced, totals: list[str], search: str, start: str, place: str) -> str:
        """Write the search for a block's best element, take that element with its place, and return it."""
        found = self.text.let(search, "found")
        pointer, first = place.split(", ", 1)
        value, position = reduced.combiner.registers
        index = found if start == "0" else self.text.let(f"{start} + {found}", "index")
        at = found if first == "0" else f"{first} + {found}"
        node = self.reduction.expressions.nodes[reduced.inputs[1]]
        assert isinstance(node, Position)
        with self.nest.fixed({self.inner[0]: index}):
            values = [f"load_{value.name}({pointer}, {at})", position_text(self.nest.index(node.access), position)]
        if self.blocks == 1:
            for total, text in zip(totals, values, strict=True):
                self.text.assign(total, text)
            return totals[0]
        best = [self.text.let(text, "best") for text in values]
        self.accumulate(reduced.combiner, totals, best)
        return best[0]

    def _direct(self, start: str) -> dict[int, tuple[str, str]]:
        """Return word, pointers and first indices for reductions that read memory as it lies; nothing if any can't."""
        places: dict[int, tuple[str, str]] = {}
        if self.reduction.stores or len(self.inner) != 1:
            return places
        for number, reduced in enumerate(self.reduction.reduced):
            if number in self.found:
                continue
            loads = self._searched(number) if number in self.extremes else self._factors(reduced)
            if not loads:
                return {}
            word = self._word(number) if len(loads) == 1 else "add_product"
            places[number] = word, ", ".join(self._place(load.value, load.access, start) for load in loads)
        return places

    def _word(self, number: int) -> str:
        """Return the first part of the name of the primitive that reduces a block."""
        combiner = self.reduction.reduced[number].combiner
        if number not in self.extremes:
            return combiner.name
        name = combiner.registers[0].name
        return f"first_{self.extremes[number]}_{'u8' if name == 'bool' else name}"

    def _searched(self, number: int) -> list[Load]:
        """Return the load whose value is searched, if elements lie one behind the other as they are in registers."""
        node = self.reduction.expressions.nodes[self.reduction.reduced[number].inputs[0]]
        if not isinstance(node, Load) or node.register.narrow or node.register.kind == "b":
            return []
        return [node] if self.nest.strides(node.access)[self.inner[0]] == 1 else []

    def _factors(self, reduced: Reduced) -> list[Load]:
        """Return the one or two loads whose value, or product, is reduced, if all lie one element behind the other."""
        nodes = self.reduction.expressions.nodes
        node = nodes[reduced.inputs[0]]
        found = [node]
        if isinstance(node, Apply) and node.op.definition is MULTIPLY and reduced.combiner.name == "add":
            found = [nodes[k] for k in node.operands]
        loads = [n for n in found if isinstance(n, Load) and not n.register.narrow]
        fits = reduced.combiner.in_lanes and all(self.nest.strides(n.access)[self.inner[0]] == 1 for n in loads)
        return loads if fits and len(loads) == len(found) else []

    def _place(self, value: Value, access: Access, start: str) -> str:
        """Return the pointer to a value's buffer and the index of element ``start``."""
        with self.nest.fixed({self.inner[0]: start}):
            return f"{self.text.pointer(value)}, {self.nest.index(access)}"

    def _computed(self, start: str, stop: str, totals: list[list[str]]) -> dict[int, tuple[str, str]]:
        """Write the loop that computes elements; return where those for lanes then lie."""
        places: dict[int, tuple[str, str]] = {}
        scratch: dict[int, str] = {}
        for number, reduced in enumerate(self.reduction.reduced):
            if number in self.found or (not reduced.combiner.in_lanes and number not in self.extremes):
                continue
            stored = None if self._ends_in_vectors else self._stored(reduced)
            if stored is None:
                scratch[number] = self.text.stack_array("block", BLOCK, itemsize(reduced.combiner.registers[0]))
            place = f"{scratch[number]}, 0" if stored is None else self._place(stored.value, stored.access, start)
            places[number] = self._word(number), place
        if self._ends_in_vectors:
            self._vectors(scratch)
            return places
        with self._run(start, stop) as position:
            for number, values in enumerate(self.elements()):
                reduced = self.reduction.reduced[number]
                if number in scratch:
                    name = reduced.combiner.registers[0].name
                    self.text.line(f"store_{name}({scratch[number]}, {position}, {values[0]})")
                elif number not in places and number not in self.found:
                    self.take(reduced, totals[number], values)
        return places

    @cached_property
    def _ends_in_vectors(self) -> bool:
        """Return whether the elements of a row that are left when vectors are full go into one vector, too.

        A loop of one by one would store them so, and who then loads them as a vector waits for all of these stores: in
        short rows for longer than all else takes.
        """
        whole = self.may_fill and self.blocks == 1 and len(self.inner) == 1 and not self.narrowing
        if not whole or not SHORT_ROW <= self.count < VECTOR_ROW:
            return False
        return all(
            r.combiner.in_lanes or number in self.extremes or number in self.found
            for number, r in enumerate(self.reduction.reduced)
        )

    def _vectors(self, scratch: dict[int, str]) -> None:
        """Write the loop that computes a row's elements, and the one of a full vector for those that are left.

        LLVM knows that the second one has a vector's length, or none: it becomes a vector whose loads are masked.
        """
        (axis,) = self.inner
        registers = {number: self.reduction.reduced[number].combiner.registers[0] for number in scratch}
        width = VECTOR_BYTES // max(map(itemsize, registers.values()))
        count = self.nest.extent(axis)
        whole = self.text.first(f"{count} & {-width}", "whole")
        rest = self.text.first(f"(({count} & {width - 1}) + {width - 1}) & {width}", "rest")
        with self.nest.loop(axis, whole) as place:
            elements = self.elements()
            for number, block in scratch.items():
                self.text.line(f"store_{registers[number].name}({block}, {place}, {elements[number][0]})")
        with self.nest.block(f"for k in range({rest}):"):
            place = self.text.let(f"{whole} + k", "place")
            values = {number: self.text.fresh("value") for number in scratch}
            for number, value in values.items():
                self.text.line(f"{value} = {registers[number].convert}(0)")
            with self.nest.block(f"if {place} < {count}:"):
                self.nest.set_variable(axis, place)
                for number, (found, *_) in enumerate(self.elements()):
                    if number in scratch:
                        self.text.line(f"{values[number]} = {found}")
            for number, block in scratch.items():
                self.text.line(f"store_{registers[number].name}({block}, {place}, {values[number]})")

    def _stored(self, reduced: Reduced) -> Store | None:
        """Return the store that puts a reduction's elements into memory anyway, one behind the other."""
        for store in self.reduction.stores:
            same = store.node == reduced.inputs[0] and not store.register.narrow and len(self.inner) == 1
            if same and self.nest.strides(store.access)[self.inner[0]] == 1:
                return store
        return None

    @contextmanager
    def _run(self, start: str, stop: str) -> Iterator[str]:
        """Open loops over the elements ``start`` to ``stop`` in order; yield an element's place in the block."""
        minus = "" if start == "0" else f" - {start}"
        if len(self.inner) == 1:
            with self.nest.loop(self.inner[0], stop if start == "0" else f"{start}, {stop}") as variable:
                yield variable + minus
            return
        if start == "0":  # all of a row
            with self._nested(self.inner) as place:
                yield place
            return
        position = self.text.fresh("position")
        self.text.line(f"{position} = {start}")
        last = self.inner[-1]
        with self.nest.block(f"while {position} < {stop}:"):
            extent = self.nest.extent(last)
            outer = self.text.let(f"divide(to_i64({position}), to_i64({extent}))", "outer")
            first = self.text.let(f"{position} - {outer} * {extent}", "first")
            self.nest.decode(outer, self.inner[:-1])
            end = self.text.let(f"min({extent}, {first} + {stop} - {position})", "end")
            with self.nest.loop(last, f"{first}, {end}") as variable:
                yield f"{position}{minus} + {variable} - {first}"
            self.text.line(f"{position} = {position} + {end} - {first}")

    @contextmanager
    def _nested(self, axes: Sequence[int]) -> Iterator[str]:
        """Open a loop for each axis; yield an element's place among all."""
        with ExitStack() as loops:
            place = loops.enter_context(self.nest.loop(axes[0]))
            for axis in axes[1:]:
                whole = f"({place})" if "+" in place else place
                first = self.text.let(f"{whole} * {self.nest.extent(axis)}", "first")
                place = f"{first} + {loops.enter_context(self.nest.loop(axis))}"
            yield place
