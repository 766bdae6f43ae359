"""Loops whose rounds are a few short launches become one kernel that does all rounds.

A launch and a step of the driver take some ten nanoseconds each; on small arrays a kernel takes no longer. The kernels
of a round are written one after the other into a loop (`emit.joined_kernels`), branches as branches, and loops that are
one kernel each as they are. What only one round needs gets memory that overlaps with nothing else, since LLVM is told
that no two buffers do; single elements are local variables then.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from numhlo.backend.emit.cost import nanoseconds
from numhlo.backend.emit.draft import Draft
from numhlo.backend.emit.joined_kernels import JoinedWriter, NotJoinedError, early_elements
from numhlo.backend.emit.kernel_text import KernelText
from numhlo.backend.emit.loop_rounds import POLL_ROUNDS, rounds_inside, unpolled_rounds, write_poll
from numhlo.backend.emit.registers import REGISTERS
from numhlo.backend.emit.sizes import reckoned
from numhlo.backend.planning.region import RegionPlanner
from numhlo.backend.program import Branch, Exchange, Launch, Loop, Place, Step
from numhlo.lowering.ir import TensorType, Value
from numhlo.lowering.ops.control_flow import WHILE
from numhlo.lowering.ops.effects import op_has_effects

MOST_NANOSECONDS = 1000
"""Of a launch; beside longer ones it does not matter what a launch takes."""

MOST_LINES = 300
"""Lines of a joined kernel, each of which takes about a millisecond to compile."""

MOST_STACK = 1 << 17
"""Bytes of scratch memory on the stack."""

MOST_COPIED = 4096
"""Bytes of the state that a round may copy, where more than two arrays change places.

Two that do are written about by two rounds, one after the other, that know them in turn.
"""

LOOK_NANOSECONDS = 100
"""What counts as one round between two looks at whether the user wants to stop."""


Pairs = Sequence[tuple[int, int]]


def join_rounds(loop: Loop, first: int, planner: RegionPlanner) -> str:
    """Append the launch of one kernel that does all of a loop; or return why that can't be.

    Parameters
    ----------
    loop : Loop
    first : int
        Buffers from this number on were made for the loop's steps.
    planner : RegionPlanner
    """
    kept = {*loop.state, *planner.context.second_buffers}  # they hold something from one round to the next
    reason = ""
    for turning in (True, False):
        joined = _JoinedLoop(loop, kept, first, planner, turning=turning)
        try:
            joined.write()
        except NotJoinedError as error:
            reason = reason or str(error)
            if not joined.turns:
                return reason
        else:
            joined.append()
            return ""
    return reason


class _JoinedLoop:
    """The kernel of one loop, written before the buffers of its steps are moved.

    With ``turning``, arrays that change places in pairs are written about by two rounds, which is twice as long.
    """

    def __init__(self, loop: Loop, kept: set[int], first: int, planner: RegionPlanner, *, turning: bool) -> None:
        self.loop, self.kept, self.first, self.planner = loop, kept, first, planner
        self.turns = turning
        self.values: dict[int, Value] = {}
        self.numbers: dict[Value, int] = {}
        self.local: dict[int, str] = {}
        self.places: dict[int, int] = {}
        self.launches: dict[Launch, None] = {}
        self.text = KernelText(self.numbers.__getitem__)
        self.writer = JoinedWriter(self.text, self.pointer)

    def pointer(self, number: int) -> str:
        """Return the name of the pointer to a buffer, or to the local variable that stands for it."""
        number = self.places.get(number, number)
        if number in self.local:
            return self.local[number]
        type = self._type(number)
        if self._is_passing(number) and type.size == 1:
            name = self.local[number] = self.text.stack_array("passed", 1, type.dtype.itemsize)
            return name
        value = self.values.get(number)
        if value is None:
            value = self.values[number] = Value(type, self.planner.region)
            self.numbers[value] = number
        return self.text.pointer(value, "state" if number in self.loop.state else "array")

    def _type(self, number: int) -> TensorType:
        return self.planner.memory.buffers[number].type

    def _is_passing(self, number: int) -> bool:
        """Return whether a buffer holds nothing from one round to the next."""
        own = number >= self.first and self.planner.memory.buffers[number].place is Place.ARENA
        return own and number not in self.kept

    def write(self) -> None:
        """Write the kernel's statements.

        Raises
        ------
        NotJoinedError
            If some step can't be a part of it, or it would become too long.
        """
        loop, text = self.loop, self.text
        if op_has_effects(loop.op):
            raise NotJoinedError("it has effects")
        pairs = [pair for step in loop.body if isinstance(step, Exchange) for pair in step.pairs]
        single = [pair for pair in pairs if self._type(pair[0]).size == 1]
        arrays = [pair for pair in pairs if pair not in single]
        turns = self.turns = self.turns and len({number for pair in arrays for number in pair}) == 2 * len(arrays) > 0
        with text.block("while True:"):
            self._round(single if turns else pairs, [])
            if turns:
                self.places = dict([*arrays, *((place, wanted) for wanted, place in arrays)])
                self._round(single, arrays)
                self.places = {}
            self._poll(1 + turns)
        if self.writer.own.stack_bytes > MOST_STACK:
            raise NotJoinedError("its kernels need much memory on the stack")

    def _round(self, copied: Pairs, turned: Pairs) -> None:
        """Write a round, after which ``copied`` have changed places; ``turned`` have before it, where it reads them."""
        self._steps(self.loop.condition)
        places = self.places
        with self.text.block(f"if not load_bool({self.pointer(self.loop.predicate)}, 0):"):
            self.places = {}
            self._exchange(turned)
            self.text.line("break")
        self.places = places
        self._steps(self.loop.body)
        if sum(self._type(place).nbytes for _, place in copied) > MOST_COPIED:
            raise NotJoinedError("large arrays of its state change places")
        self._exchange(copied)

    def _steps(self, steps: Sequence[Step]) -> None:
        """Write steps, but for the exchange at the end; launches between branches in the order that is best."""
        waiting: list[Launch] = []
        for step in steps:
            if isinstance(step, Launch):
                waiting.append(step)
                continue
            self._launch_all(waiting)
            waiting = []
            if isinstance(step, Branch):
                self._branch(step)
            elif not isinstance(step, Exchange):
                raise NotJoinedError("its rounds are not all kernels and branches")
        self._launch_all(waiting)

    def _branch(self, branch: Branch) -> None:
        """Write a branch: on a boolean, False being the first side, or on an index, the last side if it is outside."""
        storage = REGISTERS[self._type(branch.index).dtype].storage
        chosen = self.text.fresh("chosen")
        self.text.line(f"{chosen} = load_{storage}({self.pointer(branch.index)}, 0)")
        last = len(branch.branches) - 1
        for number, steps in enumerate(branch.branches):
            if number == last:
                header = "else:" if number else "if True:"
            else:
                test = f"not {chosen}" if storage == "bool" else f"{chosen} == {number}"
                header = f"{'el' if number else ''}if {test}:"
            with self.text.block(header):
                self._steps(steps)

    def _launch_all(self, launches: Sequence[Launch]) -> None:
        for launch in early_elements(launches):
            self._launch(launch)

    def _launch(self, launch: Launch) -> None:
        loops = launch.scalar or launch.loop is not None
        if not loops and nanoseconds(launch.flops, launch.bytes) > MOST_NANOSECONDS:
            raise NotJoinedError("its kernels take longer than their launches")
        self.launches[launch] = None
        self.writer.launch(launch)
        if self.writer.lines > MOST_LINES:
            raise NotJoinedError("one kernel would become too long")

    def _exchange(self, pairs: Pairs) -> None:
        """Write the exchange of what is in buffers: the first ones' content only where somebody wants it."""
        for number, (wanted, place) in enumerate(pairs):
            both = place in self.loop.state or any(place in pair for pair in pairs[number + 1 :])
            type = self._type(wanted)
            if type.size == 1:
                self._exchange_element(wanted, place, "0", both=both)
                continue
            index = self.text.fresh("k")
            with self.text.block(f"for {index} in range({self.text.number((number, 'count'), type.size, 'n')}):"):
                self._exchange_element(wanted, place, index, both=both)

    def _exchange_element(self, wanted: int, place: int, index: str, *, both: bool) -> None:
        storage = REGISTERS[self._type(wanted).dtype].storage
        here, there = self.pointer(wanted), self.pointer(place)
        new = self.text.fresh("new")
        self.text.line(f"{new} = load_{storage}({there}, {index})")
        if both:
            old = self.text.fresh("old")
            self.text.line(f"{old} = load_{storage}({here}, {index})")
            self.text.line(f"store_{storage}({there}, {index}, {old})")
        self.text.line(f"store_{storage}({here}, {index}, {new})")

    def _poll(self, rounds: int) -> None:
        """Write a look at whether the user wants to stop, if the loop may take long."""
        time = rounds * self._looks_of(self.launches)
        if self.planner.context.intervals.rounds_of(self.loop.op) * time > rounds * POLL_ROUNDS:
            write_poll(self.text, self.text.number("looks", time, "looks"))

    def _looks_of(self, launches: Iterable[Launch]) -> int:
        """Return what launches count for between two looks; those that look themselves count for what they do alone."""
        intervals, total = self.planner.context.intervals, 0
        for launch in launches:
            total += _looks(launch.flops, launch.bytes)
            if launch.loop is not None:
                each = self._looks_of(launches_of(launch.loop))
                time = intervals.rounds_of(launch.loop.op) * each
                total += int(time) if time <= POLL_ROUNDS else each
                continue
            for op in launch.ops:
                if op.definition is WHILE:
                    total += unpolled_rounds(op, intervals)
                else:
                    total += sum(rounds_inside(region, intervals) for region in op.regions)
        return min(total, POLL_ROUNDS)

    def append(self) -> None:
        """Append the launch, and give what passes memory of its own."""
        memory = self.planner.memory
        memory.set_apart([number for number in self.text.buffers if self._is_passing(number)])
        for number in self.local:
            memory.forget(number)
        flops, traffic = sum(x.flops for x in self.launches), sum(x.bytes for x in self.launches)
        kernel = self.text.finish("while_rounds")
        draft = Draft(kernel, tuple(self.text.buffers), tuple(self.text.dims), 1, 1, flops, traffic)
        self.planner.launch_rounds(self.loop, draft)


def launches_of(loop: Loop) -> list[Launch]:
    """Return the launches of a joined loop's rounds, whatever branches they are in."""
    found: list[Launch] = []
    waiting: list[Step] = [*loop.condition, *loop.body]
    for step in waiting:
        if isinstance(step, Launch):
            found.append(step)
        elif isinstance(step, Branch):
            waiting += [inner for side in step.branches for inner in side]
    return found


@reckoned
def _looks(flops: int, traffic: int) -> int:
    return 1 + int(nanoseconds(flops, traffic)) // LOOK_NANOSECONDS
