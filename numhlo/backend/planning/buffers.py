"""Which buffer holds which value of a region, and for how long.

Buffers come from the arena when a value is made and go back after the last unit that reads it. A kernel may write
its result over an operand that dies with it, if it reads each element of the operand only where it writes. Values
that the region returns are written straight to where the caller wants them (`Target`), when possible. Next: `region`
writes the kernels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import field
from itertools import chain
from typing import NamedTuple, Protocol

import numpy as np

from numhlo.backend.emit.access import whole_array
from numhlo.backend.emit.expressions import PLACED, Graph, Load, Node, operand_nodes
from numhlo.backend.emit.intervals import Intervals
from numhlo.backend.planning.chains import join_rows
from numhlo.backend.planning.fusion import Unit
from numhlo.backend.planning.memory import Memory
from numhlo.backend.planning.overwritten import is_update
from numhlo.backend.planning.running_chains import join_totals
from numhlo.backend.planning.units import Layout
from numhlo.backend.program import Kept, Place, Subroutine
from numhlo.lowering.ir import Function, Op, Region, TensorType, Value
from numhlo.lowering.ir.records import record
from numhlo.lowering.ops import creation
from numhlo.lowering.ops.control_flow import WHILE


class Routine(NamedTuple):
    """A subroutine, and the buffers of what it takes and of what it gives."""

    subroutine: Subroutine
    arguments: Sequence[int]
    results: Sequence[int]


@record(slots=True)
class Context:
    """What all regions of a program share.

    Attributes
    ----------
    memory : Memory
    buffer_of : dict from Value to int
    splats : set of Op
        Constants of one value, which kernels write out.
    donated : set of Value
        Arguments whose buffers may be overwritten once they are dead.
    written : set of Value
        Arguments whose buffers their new values may take once they are dead.
    notes : list of str
    kept : dict from Value to Kept
        Why values lie in memory that kernels could have computed where they are used.
    """

    memory: Memory = field(default_factory=Memory)
    buffer_of: dict[Value, int] = field(default_factory=dict)
    splats: set[Op] = field(default_factory=set)
    donated: set[Value] = field(default_factory=set)
    written: set[Value] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    kept: dict[Value, Kept] = field(default_factory=dict)
    loops: int = 0
    """How many loops are being planned, one in the other."""
    since: int = 0
    """When the outermost of them began, as of `Memory.now`."""
    second_buffers: list[int] = field(default_factory=list)
    """Of the state of these loops."""
    exchanged: set[int] = field(default_factory=set)
    """Buffers whose addresses change while the program runs."""
    intervals: Intervals = field(default_factory=Intervals)
    """What integers can be, in all loops that are planned so far."""
    extents: set[int] = field(default_factory=set)
    """Of the program's arguments."""
    subroutines: dict[Function, Routine] = field(default_factory=dict)
    """Of functions that are called, and not inlined."""

    def enter_loop(self) -> None:
        """Begin to plan a loop."""
        if self.loops == 0:
            self.since = self.memory.now
        self.loops += 1

    def leave_loop(self) -> None:
        """End planning a loop: inside another one, exchanged buffers stay as they are for the next round."""
        self.loops -= 1
        if self.loops == 0:
            for number in self.second_buffers:
                self.memory.release(number)
            self.second_buffers.clear()


class Target(Protocol):
    """Where a region's caller wants a result.

    Attributes
    ----------
    is_argument : bool
        It may be the memory of an argument, which has its new value at once then.
    """

    is_argument: bool

    def claim(self, overwritable: Callable[[Value], bool]) -> int:
        """Return the buffer to write; ``overwritable(argument)`` says whether an argument's buffer may be it."""
        ...

    def adopt(self, number: int) -> bool:
        """Make an arena buffer that holds the result the caller's own, and return True, or refuse."""
        ...

    def takes(self, number: int) -> bool:
        """Return whether the caller fetches the result at the end from wherever it is."""
        ...


def in_place_operands(layout: Layout, expressions: Graph, *, whole: bool = False) -> list[Value]:
    """Return the loaded values that a kernel reads only where it writes its results.

    Parameters
    ----------
    layout : Layout
    expressions : Graph
    whole : bool
        The kernel runs over all of its domain at once: single elements that all others need are read before it writes.
    """
    place = whole_array(expressions.shape)
    before: set[int] = set()
    roots: dict[Value, bool] = {}
    values: dict[Value, Value] = {}
    for number, node in enumerate(expressions.nodes):
        if whole and _is_read_before(node, before):
            before.add(number)
        if isinstance(node, Load):
            root = layout.root(node.value)
            roots[root] = roots.get(root, True) and (node.access == place or number in before)
            values[root] = node.value
    return [values[root] for root, same in roots.items() if same]


def _is_read_before(node: Node, before: set[int]) -> bool:
    """Return whether a kernel has a node's value before its first loop: it is the same for all elements."""
    if isinstance(node, PLACED) and any(node.access.strides):
        return False
    return before.issuperset(operand_nodes(node))


def unchanged_arguments(body: Region) -> dict[int, Value]:
    """Return the arguments of a loop's body that it returns as they are, by their numbers."""
    rows = enumerate(zip(body.arguments, body.returns, strict=True))
    return {number: before for number, (before, after) in rows if before is after}


def _may_be_placed(unit: Unit) -> bool:
    """Return whether a unit writes its results where they are wanted."""
    return unit.is_fused or is_update(unit.ops[0])


def _loops(unit: Unit) -> bool:
    return unit.ops[0].definition is WHILE


class RegionBuffers:
    """The buffers of one region's values.

    Parameters
    ----------
    context : Context
    region : Region
        Its arguments have buffers already.
    targets : sequence of Target
        One for each returned value.
    state : bool
        The region is a loop's body: what it returns may stay in its arguments' buffers, in any order. Arguments that it
        returns as they are keep their buffers, which others may share: nothing is written there.
    given : collection of Value
        Values from outside that nobody else reads from here on: the region may write over them.
    """

    def __init__(
        self,
        context: Context,
        region: Region,
        targets: Sequence[Target],
        *,
        state: bool = False,
        given: Collection[Value] = (),
    ) -> None:
        self.context = context
        self.memory = context.memory
        self.buffer_of = context.buffer_of
        self.region = region
        self.targets = targets
        self.unchanged = unchanged_arguments(region) if state else {}
        self.state = set(region.arguments) - set(self.unchanged.values()) if state else set(given)
        self.layout = Layout(region, context.splats, self.state | context.donated | context.written)
        context.kept.update(self.layout.fusion.kept)
        join_rows(self.layout)
        join_totals(self.layout)
        self.unit: Unit | None = None
        self.claimed: dict[int, Value] = {}
        self.scratch_values: list[Value] = []
        self.lent: dict[int, Unit] = {}
        self._remaining = self._count_uses()
        self._wanted: dict[Value, int] = {}
        self._held = {value: value for value in self.state}
        """Of the state's buffers: the value that lies there now, and the one that was there at first."""
        self._taken: dict[Value, Value] = {}
        """The same the other way round, where another value has taken the first one's place."""
        self._owned: set[Value] = {v for v in region.arguments if v in context.donated}
        for number, value in enumerate(region.returns):
            self._wanted.setdefault(self.layout.root(value), number)
        if not state:
            self._pass_on_wishes()

    def _pass_on_wishes(self) -> None:
        """Let a value that a result may overwrite be made where the result is wanted, if the result is its last use."""
        last: dict[Value, Unit] = {}
        for unit in self.layout.order:
            last.update(dict.fromkeys(map(self.layout.root, self.layout.loads[unit]), unit))
        for unit in reversed(self.layout.order):
            wanted = [v for op in unit.ops for v in op.results if v in self._wanted]
            if not wanted:
                continue
            self._pass_on_to_state(unit, last)
            for operand in map(self.layout.root, self._overwritable_operands(unit)):
                made = self.layout.fusion.unit_of.get(operand.owner) if isinstance(operand.owner, Op) else None
                if made is None or operand in self._wanted or last[operand] is not unit:
                    continue
                for value in wanted:
                    in_place = _loops(made) and self.targets[self._wanted[value]].is_argument
                    if value.tensor == operand.tensor and (_may_be_placed(made) or in_place):
                        self._wanted[operand] = self._wanted[value]
                        wanted.remove(value)
                        break

    def _pass_on_to_state(self, unit: Unit, last: dict[Value, Unit]) -> None:
        """Let a loop's state begin in the memory of the argument whose new value it is."""
        op = unit.ops[0]
        for operand, result in zip(map(self.layout.root, op.operands), op.results, strict=True) if _loops(unit) else ():
            number = self._wanted.get(result)
            made = self.layout.fusion.unit_of.get(operand.owner) if isinstance(operand.owner, Op) else None
            if number is None or made is None or operand in self._wanted or last[operand] is not unit:
                continue
            if self.targets[number].is_argument and (_may_be_placed(made) or _loops(made)):
                self._wanted[operand] = number

    def _overwritable_operands(self, unit: Unit) -> list[Value]:
        """Return the operands over which a unit could write its results, if nothing else needs them."""
        if unit.is_fused:
            return [] if unit.axes is not None else in_place_operands(self.layout, self.layout.expressions[unit])
        (op,) = unit.ops
        return op.operands[: len(op.results)] if is_update(op) else []

    # Life times

    def _count_uses(self) -> dict[Value, int]:
        loaded = chain.from_iterable(self.layout.loads.values())
        return dict(Counter(map(self.layout.root, chain(loaded, self.region.returns))))

    def use(self, root: Value) -> None:
        """Count one use of a value; give its buffer back after the last."""
        self._remaining[root] -= 1
        if self._remaining[root] == 0 and root in self._owned:
            self._owned.discard(root)
            self.memory.release(self.buffer_of[root])

    def dies_here(self, root: Value) -> bool:
        """Return whether nothing after the current unit reads a value."""
        remaining = self._remaining.get(root, 0)
        if remaining == 0:
            return True
        assert self.unit is not None
        return remaining <= list(map(self.layout.root, self.layout.loads[self.unit])).count(root)

    # Buffers

    def buffer(self, value: Value) -> int:
        """Return the buffer that holds a value."""
        number = self.buffer_of.get(value)
        if number is None:
            root = self.layout.root(value)
            if root is not value:
                number = self.buffer(root)
            else:
                number = self._make_up(value)
            self.buffer_of[value] = number
        return number

    def share_views(self, op: Op) -> None:
        """Let an op's regions find the buffers of the views that they use: they can't see what the views look at."""
        for value in self.layout.operations.inputs(op):
            if self.layout.root(value) is not value:
                self.buffer(value)

    def _make_up(self, value: Value) -> int:
        """Return a constant buffer for a value that nobody computes: a constant, an iota of a region around."""
        op = value.owner
        assert isinstance(op, Op), value
        if op.definition is creation.CONSTANT:
            return self.memory.constant(op.attributes["value"])
        assert op.definition is creation.IOTA, op
        type = op.result.tensor
        return self.memory.constant(creation.make_iota(type.shape, type.dtype, op.attributes["iota_dimension"]))

    def is_used(self, value: Value) -> bool:
        """Return whether anything outside the current unit reads a result."""
        return self._remaining.get(value, 0) > 0

    def put_with(self, value: Value, other: Value) -> None:
        """Put a value into the buffer of one that is to overwrite it within the current unit."""
        self.buffer_of[value] = self.buffer_of[other]

    def output(self, value: Value, reusable: Sequence[Value] = ()) -> int:
        """Return the buffer for a result: its target's, that of a dying operand, or a new one.

        Parameters
        ----------
        value : Value
        reusable : sequence of Value
            Operands whose buffer the kernel could overwrite, if they die here.
        """
        self._remaining.setdefault(value, 0)
        number = self._wanted.get(value)
        before = self.claimed.get(number) if number is not None else None
        if number is not None and before is not None and self._is_handed_on(before, reusable):
            self.claimed[number] = value
            found = self.buffer_of[before]
        elif number is not None and before is None:
            self.claimed[number] = value
            reused = self._reused(value, reusable)  # a donated argument's memory
            found = self._claim(number, reusable) if reused is None else reused
        else:
            reused = self._reused(value, reusable)
            found = self.memory.allocate(value.tensor) if reused is None else reused
            self._owned.add(value)
        self.buffer_of[value] = found
        return found

    def _claim(self, number: int, reusable: Sequence[Value]) -> int:
        return self.targets[number].claim(lambda argument: self._is_overwritable(argument, reusable))

    def _is_handed_on(self, before: Value, reusable: Sequence[Value]) -> bool:
        """Return whether what was made in a result's place is overwritten by the result now."""
        return self.dies_here(before) and any(self.layout.root(v) is before for v in reusable)

    def _is_overwritable(self, argument: Value, reusable: Sequence[Value]) -> bool:
        assert self.unit is not None
        held = self._taken.get(argument, argument)
        if self._is_made_here(held) or not self.dies_here(held):
            return False
        roots = {self.layout.root(v) for v in self.layout.loads[self.unit]}
        return held not in roots or any(self.layout.root(v) is held for v in reusable)

    def is_dead(self, argument: Value) -> bool:
        """Return whether nothing reads an argument any more, nor what lies in its buffer in its place."""
        held = self._taken.get(argument, argument)
        return self._remaining.get(held, 0) == 0 and not self._is_made_here(held)

    def _is_made_here(self, value: Value) -> bool:
        """Return whether a value is a result of the current unit, which writes it even if nobody reads it."""
        return self.unit is not None and value.owner in self.unit.ops

    def _reused(self, value: Value, reusable: Sequence[Value]) -> int | None:
        for operand in reusable:
            root = self.layout.root(operand)
            if root not in self._owned or not self.dies_here(root):
                continue
            number = self.buffer_of[root]
            buffer = self.memory.buffers[number]
            if value in self._wanted:
                returned = self.region.returns[self._wanted[value]].tensor
                fits = buffer.place is Place.ARGUMENT and buffer.type == returned
            else:
                fits = buffer.type.dtype == value.tensor.dtype and buffer.type.size == value.tensor.size
            if fits:
                self._owned.discard(root)
                return number
        return None

    def take_over(self, operand: Value, result: Value) -> int | None:
        """Make a dying operand's arena buffer that of a result, and return it; None where it is still needed."""
        root = self.layout.root(operand)
        if not self.dies_here(root) or operand.tensor != result.tensor:
            return None
        number = self.buffer_of[root]
        if root in self._owned and self.memory.buffers[number].place is Place.ARENA:
            self._owned.discard(root)
            self.adopt(result, number)
            return number
        if root in self._held:
            argument = self._held.pop(root)
            self._held[result], self._taken[argument] = argument, result
            self.buffer_of[result] = number
            return number
        return None

    def may_take_over(self, operand: Value, result: Value) -> bool:
        """Return whether a result could get a dying operand's buffer."""
        root = self.layout.root(operand)
        if not self.dies_here(root) or operand.tensor != result.tensor:
            return False
        if root in self._owned and self.memory.buffers[self.buffer_of[root]].place is Place.ARENA:
            return True
        number = self._wanted.get(result)
        claimed = number is not None and (self.claimed.get(number) is root or root in self.context.written)
        return claimed or root in self._held

    def hand_over(self, value: Value) -> None:
        """Make the arena buffer of a returned value its target's own, if it has not been claimed."""
        number = self._wanted.get(value)
        if number is None or number in self.claimed or value not in self._owned:
            return
        if self.buffer_of[value] in self.context.exchanged:  # its address changes, and a result's must not
            return
        if self.targets[number].adopt(self.buffer_of[value]):
            self._owned.discard(value)
            self.claimed[number] = value

    def adopt(self, value: Value, number: int) -> None:
        """Make an arena buffer that of a value, to be given back after its last use."""
        self.buffer_of[value] = number
        self._owned.add(value)
        self._remaining.setdefault(value, 0)

    def scratch(self, type: TensorType) -> Value:
        """Return a value that stands for memory of the current unit."""
        value = Value(type, self.region)
        self.buffer_of[value] = self.memory.allocate(type)
        self.scratch_values.append(value)
        return value

    def lend(self, type: TensorType) -> Value | None:
        """Return a value that stands for memory of a loop's state, which is dead and gets its new value later.

        It is the current unit's, which has claimed the buffers of its results by now.
        """
        assert self.unit is not None
        for place, argument in enumerate(self.region.arguments if self.state else ()):
            if place in self.unchanged:
                continue
            number = self.buffer_of[argument]
            buffer = self.memory.buffers[number]
            is_free = place not in self.claimed and self.is_dead(argument) and self.lent.get(number) is not self.unit
            if is_free and buffer.place is not Place.ARGUMENT and buffer.type.nbytes >= type.nbytes:
                self.lent[number] = self.unit
                value = Value(type, self.region)
                self.buffer_of[value] = number
                return value
        return None

    def table(self, array: np.ndarray) -> Value:
        """Return a value that stands for an array which the program keeps, for its kernels to read."""
        value = Value(TensorType(array.shape, array.dtype), self.region)
        self.buffer_of[value] = self.memory.constant(array)
        return value

    def drop_unused(self, value: Value) -> None:
        """Give the buffer of a result that nobody reads back."""
        if value in self._owned and self._remaining.get(value, 0) == 0:
            self._owned.discard(value)
            self.memory.release(self.buffer_of[value])

    def stays(self, source: int, results: Sequence[int]) -> bool:
        """Return whether a returned value may stay where it is: in the buffer of a loop's state, once."""
        if source in results:
            return False
        return any(self.buffer_of[argument] == source for argument in self.state)
