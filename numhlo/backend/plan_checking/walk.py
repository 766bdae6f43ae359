"""Walks a plan step by step, knowing what lies where, and finds the first step that is not right.

Loops are walked until what is known at their beginning stays the same, for any number of iterations; branches each by
themselves, and what all of them leave goes on; subroutines once, for all calls. Next: `contents` knows what a write
does, `launches` what a kernel touches.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from numhlo.backend.plan_checking.chunks import require_independent_chunks
from numhlo.backend.plan_checking.contents import Contents, Fact, Made, Outside, Places
from numhlo.backend.plan_checking.counters import require_counting
from numhlo.backend.plan_checking.launches import (
    Touched,
    holds_constant,
    is_writable,
    missing_input,
    require_apart,
    require_fit,
)
from numhlo.backend.plan_checking.listing import Finding, step_in_words
from numhlo.backend.plan_checking.lists import require_listed
from numhlo.backend.plan_checking.needed import Needs
from numhlo.backend.plan_checking.stored import copied_buffers, stored_elements
from numhlo.backend.plan_checking.updates import has_parts, replaced_window, updated_array
from numhlo.backend.plan_checking.values import Roots, constant_of, is_anything, parts_in_use, used_by, values_inside
from numhlo.backend.program import (
    Branch,
    Buffer,
    Call,
    Communicate,
    Evaluate,
    Exchange,
    Launch,
    Loop,
    Place,
    Program,
    Step,
    Subroutine,
)
from numhlo.lowering.ir import Op, Region, Value
from numhlo.lowering.ops.control_flow import CASE, IF

MOST_WALKED_AGAIN = 4
"""Loops inside each other that are walked until nothing changes; what is inside of these is walked once a time."""


class Walk:
    """One walk through a program.

    Parameters
    ----------
    program : Program
    places : Places
    finding : Finding
    writable : frozenset of int
        Numbers of arguments whose memory the steps may write.
    """

    def __init__(self, program: Program, places: Places, finding: Finding, writable: frozenset[int]) -> None:
        self.program, self.places, self.finding, self.writable = program, places, finding, writable
        self.roots = Roots()
        self.needs = Needs(self.roots, program.body or Region())
        self._copies = 0
        self._inside: dict[Region, frozenset[Value]] = {}
        self._entered: set[Region] = set()
        self._subroutines: dict[Subroutine, frozenset[int]] = {}
        self._depth = 0

    # What lies where

    def holds(self, contents: Contents, number: int, value: Value) -> bool:
        """Return whether a buffer holds a value."""
        if is_anything(value):
            return True
        root = self.roots.of(value)
        if root in contents.of(number):
            return True
        buffer = self.program.buffers[number]
        return buffer.place is Place.CONSTANT and holds_constant(buffer, root)

    def need(self, contents: Contents, number: int, value: Value, step: Step, purpose: str) -> None:
        """Raise if a buffer does not hold a value that a step reads."""
        if self.holds(contents, number, value):
            return
        what = f"{step_in_words(step)} reads {self.finding.value(value)} {purpose}from {self.finding.buffer(number)}"
        raise self.finding.error(f"{what}, {self._reason(contents, number, value)}", step, value)

    def _reason(self, contents: Contents, number: int, value: Value) -> str:
        lost = contents.lost.get((number, self.roots.of(value)))
        if lost is None:
            elsewhere = contents.with_fact(self.roots.of(value))
            where = f"it lies in {', '.join(map(str, elsewhere))}" if elsewhere else "it lies nowhere"
            return f"where nothing has written it by then: {where}"
        return f"which {step_in_words(lost.step)} (into {self.finding.buffer(lost.writer)}) wrote over before"

    def need_at(self, contents: Contents, number: int, value: Value, what: str) -> None:
        """Raise if a buffer does not hold a value in the end."""
        if not self.holds(contents, number, value):
            shown = f"{what} {self.finding.value(value)} in {self.finding.buffer(number)}"
            step = contents.lost.get((number, self.roots.of(value)))
            at = step.step if step is not None else None
            raise self.finding.error(f"{shown}, {self._reason(contents, number, value)}", at, value)

    def enter(self, region: Region, arguments: str) -> None:
        """Take note that a region's values are meant from here on, and of what its arguments are, in words."""
        self._entered.add(region)
        self.finding.arguments[region] = arguments

    def write(self, contents: Contents, number: int, facts: Iterable[Fact], step: Step) -> None:
        """Let a step write a buffer, or raise if it must not."""
        buffer = self.program.buffers[number]
        if not is_writable(buffer, self.writable):
            what = f"{step_in_words(step)} writes into {self.finding.buffer(number)}, which must stay as it is"
            raise self.finding.error(what, step)
        contents.write(number, facts, step)

    def bind(self, contents: Contents, source: Value, targets: Sequence[Value], number: int | None) -> None:
        """Let values be what lies wherever another value does; ``number`` is where it should lie."""
        found = contents.with_fact(self.roots.of(source))
        if number is not None and number not in found and self.holds(contents, number, source):
            if not contents.of(number):
                contents.write(number, [], None)  # memory that is not yet written is in use from here on
            found.append(number)
        for target in targets:
            root = self.roots.of(target)
            for place in found:
                contents.add(place, root)

    # Steps

    def steps(self, steps: Sequence[Step], contents: Contents) -> None:
        """Walk steps in order."""
        place = 0
        while place < len(steps):
            step = steps[place]
            place += 1
            match step:
                case Launch():
                    unit = [step]
                    while place < len(steps) and isinstance(next_step := steps[place], Launch) and next_step.follows:
                        unit.append(next_step)
                        place += 1
                    self.unit(unit, contents)
                case Evaluate() | Communicate():
                    self.evaluate(step, contents)
                case Loop():
                    self.loop(step, contents)
                case Branch():
                    self.branch(step, contents)
                case Exchange():
                    self.exchange(step, contents)
                case Call():
                    self.call(step, contents)

    def evaluate(self, step: Evaluate | Communicate, contents: Contents) -> None:
        """An op that NumPy computes, all of it before it writes, or that is the transport's."""
        for value, number in step.inputs:
            self.need(contents, number, value, step, "")
        for value, number in step.outputs:
            require_fit(value, self.program.buffers[number], number, step, self.finding)
        for value, number in step.outputs:
            self.write(contents, number, [self.roots.of(value)], step)

    def exchange(self, step: Exchange, contents: Contents) -> None:
        """Two buffers change places; what a single kernel does of a loop is done by copies."""
        for first, second in step.pairs:
            if not self._copies:
                contents.exchange(first, second)
                continue
            one, other = set(contents.of(first)), set(contents.of(second))
            self.write(contents, first, other, step)
            self.write(contents, second, one, step)

    def loop(self, step: Loop, contents: Contents) -> None:
        """Walk a loop until what is known where each iteration begins stays the same."""
        op = step.op
        condition, body = op.regions
        if len(step.state) != len(op.operands):
            raise self.finding.error("a loop does not list a buffer for each part of its state", step)
        self.roots.enter(op)
        inside = self._values_inside(condition, body)
        contents.forget(inside)
        for region in op.regions:
            self.enter(region, "what a loop carries as its part")
        used = parts_in_use(op)
        self._begin(contents, step, used)
        require_counting(step, self.finding)
        self._depth += 1
        while True:
            state = contents.copy()
            self.steps(step.condition, state)
            self.need(state, step.predicate, condition.returns[0], step, "as its predicate ")
            after = state.copy()
            self.steps(step.body, state)
            for number in sorted(used):
                self._need_part(state, step, number, body.returns[number], "go on with")
            self._go_back(step, state, inside)
            if not contents.meet(state):
                break
        self._depth -= 1
        for argument, result, number in zip(condition.arguments, op.results, step.state, strict=True):
            self.bind(after, argument, [result], number)
        after.forget(inside)
        contents.become(after)
        self._entered -= {condition, body}

    def _begin(self, contents: Contents, step: Loop, used: set[int]) -> None:
        """Let the state of a loop be what lies in its buffers, or raise if what the loop needs does not."""
        for number, operand in enumerate(step.op.operands):
            if number in used:
                self._need_part(contents, step, number, operand, "begin with")
        if self._depth >= MOST_WALKED_AGAIN:
            self._keep_state(contents, step)
            return
        for number, operand in enumerate(step.op.operands):
            self.bind(contents, operand, self._arguments(step, number), step.state[number])

    def _keep_state(self, contents: Contents, step: Loop) -> None:
        """Know of what a loop may write over its state alone, so that one walk of it is enough.

        Loops that are walked again and again inside each other take a time that doubles with each level.
        """
        held = [
            number for number, operand in enumerate(step.op.operands) if self._is_held(contents, step, number, operand)
        ]
        for number in sorted(self._written([*step.condition, *step.body])):
            contents.write(number, [], step)
        for number in held:
            for argument in self._arguments(step, number):
                contents.add(step.state[number], self.roots.of(argument))

    def _is_held(self, contents: Contents, step: Loop, number: int, operand: Value) -> bool:
        place = step.state[number]
        return self._buffer(place).place is not Place.CONSTANT and self.holds(contents, place, operand)

    def _need_part(self, contents: Contents, step: Loop, number: int, value: Value, purpose: str) -> None:
        """Raise if a part of a loop's state is not in its buffer when an iteration begins."""
        place = step.state[number]
        if not self.holds(contents, place, value):
            what = f"part {number} of a loop's state is to {purpose} {self.finding.value(value)} in"
            reason = self._reason(contents, place, value)
            raise self.finding.error(f"{what} {self.finding.buffer(place)}, {reason}", step, value)

    def _arguments(self, step: Loop, number: int) -> list[Value]:
        return [region.arguments[number] for region in step.op.regions]

    def _go_back(self, step: Loop, contents: Contents, inside: frozenset[Value]) -> None:
        """Let the values that an iteration returns be those that the next one begins with."""
        body = step.op.regions[1]
        found: list[tuple[Value, Fact, int]] = []
        for argument, returned, number in zip(body.arguments, body.returns, step.state, strict=True):
            if argument is returned:
                continue
            root = self.roots.of(returned)
            found += [(argument, root, place) for place in contents.with_fact(root)]
            if self.holds(contents, number, returned):
                found.append((argument, root, number))
            window = replaced_window(argument, returned)
            if window is not None:
                rest = [*contents.with_fact(argument), *contents.with_fact(Outside(argument, window))]
                found += [(argument, Outside(argument, window), place) for place in rest]
        contents.forget(inside)
        for argument, fact, place in found:
            for region in step.op.regions:
                meant = region.arguments[body.arguments.index(argument)]
                new = Outside(meant, fact.window) if isinstance(fact, Outside) else self.roots.of(meant)
                contents.add(place, new)

    def _values_inside(self, *regions: Region) -> frozenset[Value]:
        found = self._inside.get(regions[0])
        if found is None:
            found = self._inside[regions[0]] = values_inside(*regions)
        return found

    def branch(self, step: Branch, contents: Contents) -> None:
        """Walk each branch from the same beginning; what all of them leave goes on."""
        op = step.op
        self.need(contents, step.index, op.operands[0], step, "to choose ")
        regions = list(reversed(op.regions)) if op.definition is IF else list(op.regions)
        if len(regions) != len(step.branches):
            raise self.finding.error("a branch has not as many sides as its op", step)
        sides = []
        for region, steps in zip(regions, step.branches, strict=True):
            side = contents.copy()
            self.enter(region, "argument")
            self.steps(steps, side)
            for returned, result in zip(region.returns, op.results, strict=True):
                self.bind(side, returned, [result], None)
            side.forget(self._values_inside(region))
            sides.append(side)
        for side in sides[1:]:
            sides[0].meet(side)
        contents.become(sides[0])

    def call(self, step: Call, contents: Contents) -> None:
        """A subroutine is right for all calls by itself; here what it takes is there, and what it writes is gone."""
        routine = step.subroutine
        for operand, number in zip(step.op.operands, routine.arguments, strict=True):
            self.need(contents, number, operand, step, "as an operand ")
        self.write(contents, routine.place, [], step)
        for number in sorted(self._written_by(routine)):
            self.write(contents, number, [], step)
        for result, number in zip(step.op.results, routine.results, strict=True):
            if not is_anything(result):
                contents.add(number, self.roots.of(result))

    def _written(self, steps: Sequence[Step]) -> set[int]:
        """Return the buffers that steps may write."""
        found: set[int] = set()
        for step in steps:
            match step:
                case Launch():
                    found |= Touched(step, step.outputs).writes
                    found |= self._written(step.parts)
                case Evaluate() | Communicate():
                    found.update(number for _, number in step.outputs)
                case Loop():
                    found |= self._written([*step.condition, *step.body])
                case Branch():
                    found |= self._written([inner for side in step.branches for inner in side])
                case Exchange():
                    found.update(number for pair in step.pairs for number in pair)
                case Call():
                    found |= self._written_by(step.subroutine)
        return found

    def _written_by(self, subroutine: Subroutine) -> frozenset[int]:
        """Return the buffers that a subroutine may write, found once for all that call it."""
        found = self._subroutines.get(subroutine)
        if found is None:
            found = self._subroutines[subroutine] = frozenset({subroutine.place} | self._written(subroutine.steps))
        return found

    # Launches

    def unit(self, unit: Sequence[Launch], contents: Contents) -> None:
        """Walk launches that belong together: the first lists what they compute, of what, and where."""
        first = unit[0]
        if first.parts:
            require_listed(first, self.places, self.finding)
            self.steps(first.parts, contents)
            return
        for value, number in first.inputs:
            self._require_fit(value, number, first)
            if not (self._is_copy(first) and self._is_ahead(value)):
                self.need(contents, number, value, first, "")
        self._require_computed(first)
        if first.loop is not None:
            self._walk_inside(first, contents)
        moved = {number: set(contents.of(number)) for _, number in first.inputs} if self._is_copy(first) else {}
        before = {number: set(contents.of(number)) for _, number in first.outputs}
        touched = [Touched(launch, first.outputs) for launch in unit]
        self._require_whole(unit, touched, before)
        unread = self._unread(first, {n for each in touched for n in each.reads}, before, contents)
        self._require_update(unit, contents)
        self._run(unit, touched, contents)
        self._put(first, {n for each in touched for n in each.writes}, contents)
        if unread is not None:
            what = f"{step_in_words(first)} reads no memory of {self.finding.value(unread)}, which its results need"
            raise self.finding.error(what, first, unread)
        for (_, source), (_, target) in zip(first.inputs, first.outputs, strict=False):
            for fact in moved.get(source, ()):
                contents.add(target, fact)

    def _buffer(self, number: int) -> Buffer:
        return self.program.buffers[number]

    def _require_fit(self, value: Value, number: int, launch: Launch) -> None:
        """Raise if a buffer is not made for a value; what one kernel keeps in variables has no memory."""
        if not (self._copies and self._buffer(number).type.size == 0):
            require_fit(value, self._buffer(number), number, launch, self.finding)

    def _is_copy(self, launch: Launch) -> bool:
        """Return whether a launch only moves a value from one buffer to another."""
        return not launch.ops and len(launch.inputs) == len(launch.outputs) == 1

    def _is_ahead(self, value: Value) -> bool:
        """Return whether a value is an argument of a region that is yet to come, as where a loop begins with copies."""
        return isinstance(value.owner, Region) and value.owner not in self._entered

    def _require_computed(self, first: Launch) -> None:
        missing = missing_input(first.ops, first.inputs, first.outputs, self.roots)
        if missing is not None:
            what = f"{step_in_words(first)} needs {self.finding.value(missing)}, which is none of its inputs"
            raise self.finding.error(what, first, missing)

    def _unread(self, first: Launch, read: set[int], before: dict[int, set[Fact]], contents: Contents) -> Value | None:
        """Return an input that results depend on and that no kernel reads the memory of, if there is one."""
        loaded = {value for value, number in first.inputs if number in read}
        return self.needs.unread(
            first,
            is_read=lambda v: v in loaded or any(self.holds(contents, number, v) for number in read),
            is_in_place=lambda array, result, number: self._is_there(array, result, before[number]),
        )

    def _require_whole(self, unit: Sequence[Launch], touched: Sequence[Touched], before: dict[int, set[Fact]]) -> None:
        """Raise if kernels leave out elements of results that are made part by part."""
        first = unit[0]
        read = {number for each in touched for number in each.reads}
        written = {number for each in touched for number in each.writes}
        places = {self.roots.of(value): number for value, number in first.inputs}
        for result, number in first.outputs:
            if number not in written or number in places.values() or not (len(unit) > 1 or has_parts(result)):
                continue
            array = updated_array(result)
            if array is not None and (is_anything(array) or self._is_there(array, result, before[number])):
                continue
            count, size = stored_elements(unit, number), self._buffer(number).type.size
            source = None if array is None or constant_of(array) is not None else places.get(self.roots.of(array))
            if count is None and source is not None and source not in read:
                count = 0
            if count is not None and count < size:
                what = f"of {size} elements of {self.finding.value(result)} in {self.finding.buffer(number)}"
                raise self.finding.error(f"{what}, {step_in_words(first)} writes {count} at most", first, result)

    def _require_update(self, unit: Sequence[Launch], contents: Contents) -> None:
        """Raise if all that is done for an update of an array is a copy of the array."""
        first = unit[0]
        copied = copied_buffers(first) if len(unit) == 1 and first.ops else None
        if copied is None or any(self._buffer(number).type.size != first.extent for number in copied):
            return
        source, target = copied
        for value, number in first.outputs:
            if number == target and updated_array(value) is not None and not self.holds(contents, source, value):
                what = f"{step_in_words(first)} only copies {self.finding.buffer(source)}"
                raise self.finding.error(f"{what}, which is not {self.finding.value(value)}", first, value)

    def _is_there(self, array: Value, result: Value, facts: set[Fact]) -> bool:
        """Return whether memory has all of an array already but for the window that a result replaces."""
        window = replaced_window(array, result)
        root = self.roots.of(array)
        return root in facts or (window is not None and Outside(root, window) in facts)

    def _run(self, unit: Sequence[Launch], touched: Sequence[Touched], contents: Contents) -> None:
        """Let the kernels of a unit do their reads and writes."""
        first = unit[0]
        inputs: dict[int, list[Value]] = {}
        for value, number in first.inputs:
            inputs.setdefault(number, []).append(value)
        for value in {value for op in first.ops for value in used_by(op)}:
            for number in contents.with_fact(self.roots.of(value)):
                inputs.setdefault(number, [value])
        fact = Made(first)
        for launch, each in zip(unit, touched, strict=True):
            require_apart(launch, each, self.places, self.finding)
            require_independent_chunks(launch, frozenset(inputs) & each.writes, self.finding)
            for number in each.reads - each.writes:
                self._require_there(launch, number, inputs, fact, contents)
            for number in sorted(each.writes):
                self.write(contents, number, [fact], launch)

    def _require_there(
        self, launch: Launch, number: int, inputs: dict[int, list[Value]], fact: Made, contents: Contents
    ) -> None:
        if self._buffer(number).place is Place.CONSTANT or fact in contents.of(number):
            return
        if number not in inputs:
            what = f"{step_in_words(launch)} reads {self.finding.buffer(number)}, which is none of its inputs"
            raise self.finding.error(what, launch)
        for value in inputs[number]:
            if not self._is_ahead(value):
                self.need(contents, number, value, launch, "")

    def _put(self, first: Launch, written: set[int], contents: Contents) -> None:
        """Let the buffers of a unit's outputs hold these."""
        for value, number in first.outputs:
            self._require_fit(value, number, first)
            if number in written:
                continue
            if not self._is_left(first, value, number, contents):
                what = f"{step_in_words(first)} writes nothing into {self.finding.buffer(number)}"
                raise self.finding.error(f"{what}, where {self.finding.value(value)} should be then", first, value)
            contents.add(number, self.roots.of(value))
        for number in {number for _, number in first.outputs} & written:
            values = {self.roots.of(v) for v, place in first.outputs if place == number and not is_anything(v)}
            contents.write(number, values, first)

    def _is_left(self, first: Launch, result: Value, number: int, contents: Contents) -> bool:
        """Return whether a buffer has a result already: all branches give what is there, or no iteration writes it."""
        op = result.owner
        if isinstance(op, Op) and op.definition in (IF, CASE):
            place = op.results.index(result)
            return all(self.holds(contents, number, region.returns[place]) for region in op.regions)
        if first.loop is not None:  # the walk of its steps has found the result there
            return number not in self._written([*first.loop.condition, *first.loop.body])
        return self.holds(contents, number, result)

    def _walk_inside(self, launch: Launch, contents: Contents) -> None:
        """Walk the loop that a kernel does all of, as if its steps were taken one by one."""
        assert launch.loop is not None
        state = contents.copy()
        self._copies += 1
        self.steps([launch.loop], state)
        self._copies -= 1
        for value, number in launch.outputs:
            self.need(state, number, value, launch, "as its result ")
