"""Lanes with loops and branches of their own, a block of lanes at a time, so that they are SIMD code.

What a lane computes between its loops and branches is a loop over the lanes of a block, whose values lie in small
arrays in the first-level cache. A loop goes round while more than a few lanes of the block do, each lane keeping what
it had when it stopped; a branch runs if more than a few lanes take it. The few that remain run one by one, as
`control_flow` writes it: so a straggler costs what it would cost alone, and what no lane takes never runs.
`lanes.values` says which values differ from lane to lane.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from numhlo.backend.emit.kernel_text import KernelText
from numhlo.backend.emit.lanes.values import branching, differing_values, is_divergent, kept_values
from numhlo.backend.emit.loop_rounds import rounds_text, write_poll
from numhlo.backend.emit.loop_state import assign, variables
from numhlo.backend.emit.registers import REGISTERS, Register
from numhlo.backend.emit.scalar_code import Content, NotScalarError, ScalarWriter
from numhlo.backend.primitives import STORAGES
from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Op, Region, Value
from numhlo.lowering.ops.control_flow import CASE, IF, WHILE

BLOCK = 64
"""Lanes in a block."""

PIECE = 16
"""A block that has fewer lanes is as long as the next multiple: LLVM must know the length to make it SIMD code."""

FEW_TAKING, FEW_GOING = 8, 4
"""Lanes that are rather run one by one: so many take a branch, or still go round a loop.

A lane alone computes functions of calculus about five times as fast as its share of a block, other arithmetic fifteen.
"""

MOST_BYTES = 32768
"""Of a block's values: they stay in the first-level cache."""

Finish = Callable[[ScalarWriter], object]
"""Writes what comes last in a loop over lanes."""

Start = Callable[[ScalarWriter], object]
"""Writes what comes first in a loop over lanes."""


class LaneBlockWriter:
    """Writes what the lanes of one block do.

    Parameters
    ----------
    text : KernelText
    scalars : ScalarWriter
        Writes what is the same for all lanes, and knows it.
    body : Region
    arguments : sequence of Value
        The body's arguments that differ from lane to lane.

    Attributes
    ----------
    least_blocks : int
        Blocks that one thread goes through at least.
    """

    def __init__(self, text: KernelText, scalars: ScalarWriter, body: Region, arguments: Sequence[Value]) -> None:
        self.text, self.scalars, self.body = text, scalars, body
        self.differing = differing_values(body, arguments)
        if not branching(body, self.differing):
            raise NotScalarError("all lanes go the same way")
        self.kept = kept_values(body, self.differing) | self.differing.intersection(body.returns)
        self.least_blocks = 1
        self._slots: dict[Value, np.ndarray] = {}
        self._bytes = 0
        self.pieces, self.few_taking = "", FEW_TAKING

    def write(self, lanes: str, begin: Start, end: Callable[[], None]) -> None:
        """Write blocks ``lo`` to ``hi`` of so many lanes.

        Parameters
        ----------
        lanes : str
            How many lanes there are, at least a block.
        begin, end : callable
            Write what lane ``lane`` gets and, from what lane ``k`` of the block has by then, gives.
        """
        text = self.text
        with text.block("for block in range(lo, hi):"):
            text.line(f"first = min(block * {BLOCK}, {lanes} - {BLOCK})")
            self._series(self.body.ops, "", None, begin)
            with text.block(f"for k in range({BLOCK}):"):
                text.line("lane = first + k")
                end()

    # Values

    def slot(self, value: Value) -> np.ndarray:
        """Return the names of the arrays that hold a value's elements for all lanes of a block."""
        found = self._slots.get(value)
        if found is None:
            found = self._slots[value] = np.empty(value.tensor.shape, object)
            for index in np.ndindex(found.shape):
                found[index] = self._array("lanes", REGISTERS[value.tensor.dtype])
        return found

    def _array(self, hint: str, register: Register, count: int = BLOCK) -> str:
        """Return the name of an array of register values, or those of real and imaginary parts."""
        size = STORAGES[register.name].dtype.itemsize
        self._bytes += size * count
        if self._bytes > MOST_BYTES:
            raise NotScalarError("a lane has too many values")
        if register.kind == "c":
            return " ".join(self.text.stack_array(f"{hint}_{part}", count, size // 2) for part in ("real", "imag"))
        return self.text.stack_array(hint, count, size)

    def _load(self, slot: str, register: Register) -> str:
        if register.kind != "c":
            return f"load_{register.name}({slot}, k)"
        part = "f32" if register.name == "c64" else "f64"
        return f"make_{register.name}({', '.join(f'load_{part}({array}, k)' for array in slot.split())})"

    def _store(self, slot: str, register: Register, name: str) -> None:
        if register.kind != "c":
            self.text.line(f"store_{register.name}({slot}, k, {name})")
            return
        part = "f32" if register.name == "c64" else "f64"
        for array, field in zip(slot.split(), ("real", "imag"), strict=True):
            self.text.line(f"store_{part}({array}, k, {name}.{field})")

    def load(self, value: Value) -> Content:
        """Write the loads of lane ``k``'s value, and return its names."""
        if value not in self._slots:
            return self.scalars.content(value)
        register = REGISTERS[value.tensor.dtype]
        names = np.empty(value.tensor.shape, object)
        for index in np.ndindex(names.shape):
            names[index] = self.text.let(self._load(str(self._slots[value][index]), register), "x")
        return names

    def give(self, writer: ScalarWriter, value: Value, names: np.ndarray) -> None:
        """Say what lane ``k``'s value is; write it into its array if other loops over lanes use it."""
        writer.contents[value] = names
        if value in self.kept:
            self.store(value, names)

    def store(self, value: Value, names: np.ndarray, mask: str = "") -> None:
        """Write lane ``k``'s value, where a mask says so."""
        register = REGISTERS[value.tensor.dtype]
        slots = self.slot(value)
        for index in np.ndindex(names.shape):
            slot, name = str(slots[index]), str(names[index])
            if mask:
                name = self._chosen(mask, name, self._load(slot, register), register)
            self._store(slot, register, name)

    def _chosen(self, mask: str, name: str, other: str, register: Register) -> str:
        if register.kind == "c":
            chosen = [f"select({mask}, {name}.{part}, {other}.{part})" for part in ("real", "imag")]
            return self.text.let(f"make_{register.name}({', '.join(chosen)})", "kept")
        return f"select({mask}, {name}, {other})"

    def _writer(self) -> ScalarWriter:
        """Return a writer of lane ``k``, who knows what is the same for all lanes."""
        writer = ScalarWriter(self.text, self.load, contents=dict(self.scalars.contents))
        writer.statements = self.scalars.statements
        return writer

    # Regions

    def _region(self, region: Region, mask: str, finish: Finish | None) -> None:
        self._series(region.ops, mask, finish)

    def _series(self, ops: Sequence[Op], mask: str, finish: Finish | None, begin: Start | None = None) -> None:
        """Write ops for the lanes of a mask; ``finish`` goes into the loop that computes the last values."""
        waiting: list[Op] = []
        for op in ops:
            if not any(v in self.differing for v in op.results):
                self.scalars.op(op)
            elif is_divergent(op, self.differing):
                self._over_lanes(waiting, None, begin)
                waiting, begin = [], None
                self._divergent(op, mask)
            else:
                waiting.append(op)
        self._over_lanes(waiting, finish, begin)

    def _over_lanes(self, ops: Sequence[Op], finish: Finish | None, begin: Start | None = None) -> None:
        """Write a loop over lanes for ops without loops and branches of their own."""
        if not ops and finish is None and begin is None:
            return
        with self._each_lane():
            writer = self._writer()
            if begin is not None:
                self.text.line("lane = first + k")
                begin(writer)
            self._straight(writer, ops)
            if finish is not None:
                finish(writer)
            self.scalars.statements = writer.statements

    @contextmanager
    def _each_lane(self) -> Iterator[None]:
        """Open a loop over the lanes of a block, or of so many pieces of one."""
        text = self.text
        if not self.pieces:
            with text.block(f"for k in range({BLOCK}):"):
                yield
            return
        with text.block(f"for piece in range({self.pieces}):"), text.block(f"for member in range({PIECE}):"):
            text.line(f"k = piece * {PIECE} + member")
            yield

    def _straight(self, writer: ScalarWriter, ops: Sequence[Op]) -> None:
        for op in ops:
            if op.definition in (IF, CASE):
                self._choose(writer, op)
            else:
                writer.op(op)
            for value in op.results:
                if value in self.kept:
                    self.store(value, writer.names(value))

    def _choose(self, writer: ScalarWriter, op: Op) -> None:
        """Write all branches of a cheap one, and a choice."""
        chosen = self._choice(writer, op.regions, self._tests(writer, op))
        writer.contents.update(zip(op.results, chosen, strict=True))

    def _choice(self, writer: ScalarWriter, regions: Sequence[Region], tests: Sequence[str]) -> list[np.ndarray]:
        """Write some branches, and what lane ``k`` has if it takes one of them: the last one if it fails all tests."""
        for region in regions:
            self._straight(writer, region.ops)
        results: list[np.ndarray] = []
        for parts in zip(*([writer.names(v) for v in region.returns] for region in regions), strict=True):
            register = REGISTERS[regions[0].returns[len(results)].tensor.dtype]
            names = np.empty(parts[0].shape, object)
            for index in np.ndindex(names.shape):
                chosen = str(parts[-1][index])
                for test, part in zip(tests[-2::-1], parts[-2::-1], strict=True):
                    chosen = self.text.let(self._chosen(test, str(part[index]), chosen, register), "chosen")
                names[index] = chosen
            results.append(names)
        return results

    def _tests(self, writer: ScalarWriter, op: Op) -> list[str]:
        """Return which branch a lane takes, as one condition for each."""
        (index,) = writer.names(op.operands[0]).reshape(-1)
        if op.definition is IF:
            return [str(index), self.text.let(f"{index} ^ True", "other")]
        last = len(op.regions) - 1
        tests = [self.text.let(f"{index} == {number}", "taken") for number in range(last)]
        inside = self.text.let(f"({index} >= 0) & ({index} < {last})", "inside")
        return [*tests, self.text.let(f"{inside} ^ True", "other")]

    # Branches

    def _divergent(self, op: Op, mask: str) -> None:
        if op.definition is not WHILE:
            self._branches(op, mask)
        elif op.regions[0].returns[0] in self.differing:
            self._loop(op, mask)
        else:
            self._common_loop(op, mask)

    def _branches(self, op: Op, mask: str) -> None:
        """Write branches for the lanes that take them."""
        text = self.text
        masks = [self._array("takes", REGISTERS[np.dtype(bool)]) for _ in op.regions]
        counts = [text.fresh("count") for _ in op.regions]
        for value in op.results:
            self.slot(value)
        for count in counts:
            text.line(f"{count} = to_i64(0)")

        def take(writer: ScalarWriter) -> None:
            for test, own, count in zip(self._tests(writer, op), masks, counts, strict=True):
                self._count(test, mask, own, count)

        self._over_lanes([], take)
        for region, own, count in zip(op.regions, masks, counts, strict=True):
            self._run(op, region, own, count)

    def _run(self, op: Op, region: Region, mask: str, count: str) -> None:
        """Write a branch for so many lanes of a mask."""
        with self.text.block(f"if {count} > {self.few_taking}:"):
            self._inside(region, mask, op.results)
        with self.text.block(f"elif {count} > 0:"), self._one_by_one(mask, count):
            writer = self._ready_writer(free_values(region))
            writer.region(region)
            self._put(op.results, [writer.names(v) for v in region.returns])
            self.scalars.statements = writer.statements

    def _inside(self, region: Region, mask: str, results: Sequence[Value]) -> None:
        """Write a branch for all lanes, whose results the lanes of a mask get."""
        known = dict(self.scalars.contents)

        def give(writer: ScalarWriter) -> None:
            taken = self.text.let(f"load_bool({mask}, k)", "taken")
            self._put(results, [writer.names(v) for v in region.returns], taken)

        self._region(region, mask, give)
        self.scalars.contents = known

    def _count(self, test: str, mask: str, own: str, count: str) -> str:
        """Write that lane ``k`` takes part if a condition holds and it did before."""
        if mask:
            test = self.text.let(f"{test} & load_bool({mask}, k)", "goes")
        self.text.line(f"store_bool({own}, k, {test})")
        self.text.line(f"{count} += select({test}, to_i64(1), to_i64(0))")
        return test

    @contextmanager
    def _one_by_one(self, mask: str, count: str) -> Iterator[None]:
        """Open a loop over so many lanes of a mask; LLVM must not take it for one over all lanes."""
        text = self.text
        text.line("k = -1")
        with text.block(f"while {count} > 0:"):
            text.line("k += 1")
            with text.block(f"if load_bool({mask}, k):"):
                text.line(f"{count} -= 1")
                yield

    def _ready_writer(self, values: Iterable[Value]) -> ScalarWriter:
        """Return a writer of lane ``k`` that has loaded what a loop or branch uses."""
        writer = self._writer()
        for value in dict.fromkeys(values):
            writer.content(value)
        return writer

    def _put(self, values: Sequence[Value], names: Sequence[np.ndarray], mask: str = "") -> None:
        for value, own in zip(values, names, strict=True):
            if value in self.differing:
                self.store(value, own, mask)

    # Loops

    def _enter(self, op: Op) -> list[Value]:
        """Write a loop's initial state, and return the results that change and differ from lane to lane.

        State that never changes goes under its old names, and state that is the same for all lanes into variables.
        """
        condition, body = op.regions
        changing = []
        rows = zip(op.operands, condition.arguments, body.arguments, body.returns, op.results, strict=True)
        initial: list[tuple[Value, Value]] = []
        for operand, first, argument, returned, result in rows:
            if returned is argument and operand not in self.differing:
                same = self.scalars.content(operand)
                self.scalars.contents.update(dict.fromkeys((first, argument, result), same))
                continue
            if result not in self.differing:
                state = variables(self.scalars, self.scalars.content(operand))
                self.scalars.contents.update(dict.fromkeys((first, argument, result), state))
                continue
            slots = self.slot(result)
            self._slots[first] = self._slots[argument] = slots
            initial.append((operand, result))
            if returned is not argument:
                changing.append(result)

        def begin(writer: ScalarWriter) -> None:
            self._put([r for _, r in initial], [writer.names(v) for v, _ in initial])

        self._over_lanes([], begin)
        return changing

    def _loop(self, op: Op, mask: str) -> None:
        """Write a loop that each lane leaves when it wants to."""
        text = self.text
        condition, body = op.regions
        changing = self._enter(op)
        going, count = self._array("going", REGISTERS[np.dtype(bool)]), text.fresh("count")
        known = dict(self.scalars.contents)

        def advance(writer: ScalarWriter, taken: str) -> None:
            returns = dict(zip(op.results, body.returns, strict=True))
            self._put(changing, [writer.names(returns[v]) for v in changing], taken)

        with text.block("while True:"):
            text.line(f"{count} = to_i64(0)")

            def ask(writer: ScalarWriter) -> str:
                (test,) = writer.names(condition.returns[0]).reshape(-1)
                return self._count(str(test), mask, going, count)

            if any(is_divergent(o, self.differing) for region in op.regions for o in region.ops):
                self._region(condition, mask, ask)
                self._leave_if(f"{count} <= {FEW_GOING}")
                self._region(body, going, lambda writer: advance(writer, text.let(f"load_bool({going}, k)", "taken")))
            else:
                waiting = [o for o in condition.ops if self._is_waiting(o)]
                also = [o for o in body.ops if self._is_waiting(o)]
                with self._each_lane():
                    writer = self._writer()
                    self._straight(writer, waiting)
                    taken = ask(writer)
                    self._straight(writer, also)
                    advance(writer, taken)
                    self.scalars.statements = writer.statements
                self._leave_if(f"{count} <= {FEW_GOING}")
            write_poll(text, f"{BLOCK} * {rounds_text(text, body, self.scalars.intervals)}")
        self.scalars.contents = known
        with text.block(f"if {count} > 0:"), self._one_by_one(going, count):
            writer = self._ready_writer((*op.operands, *free_values(op)))
            for value in op.results:
                if value in self.differing:
                    writer.initial[value] = self.load(value)
            writer.op(op)
            self._put(changing, [writer.names(v) for v in changing])
            self.scalars.statements = writer.statements

    def _is_waiting(self, op: Op) -> bool:
        """Return whether an op differs from lane to lane; write it if it doesn't."""
        if any(v in self.differing for v in op.results):
            return True
        self.scalars.op(op)
        return False

    def _leave_if(self, test: str) -> None:
        with self.text.block(f"if {test}:"):
            self.text.line("break")

    def _common_loop(self, op: Op, mask: str) -> None:
        """Write a loop that all lanes leave together; lanes outside the mask go along."""
        text = self.text
        condition, body = op.regions
        changing = self._enter(op)
        rows = list(zip(body.arguments, body.returns, op.results, strict=True))
        common = [(a, r) for a, r, result in rows if result not in self.differing and a is not r]
        state = [self.scalars.content(a) for a, _ in common]
        known = dict(self.scalars.contents)
        returns = {result: returned for _, returned, result in rows}
        with text.block("while True:"):
            for inner in condition.ops:
                self._is_waiting(inner)
            (test,) = self.scalars.names(condition.returns[0]).reshape(-1)
            self._leave_if(f"not {test}")
            self._region(body, mask, lambda writer: self._put(changing, [writer.names(returns[v]) for v in changing]))
            assign(self.scalars, state, [self.scalars.content(r) for _, r in common])
            write_poll(text, f"{BLOCK} * {rounds_text(text, body, self.scalars.intervals)}")
        self.scalars.contents = known
