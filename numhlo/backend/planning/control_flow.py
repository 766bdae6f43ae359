"""Loops as step trees.

The part of a loop's state that changes lives in buffers of its own. The body writes a new value over the old one where
nothing reads that any more; otherwise into a second buffer, and the two are exchanged after each iteration. The part
that does not change may share its buffers with constants, arguments and other values: nothing writes there, and they
are never exchanged. Next: `branches`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from numhlo.backend.emit.tables import KERNELS, RootRule
from numhlo.backend.planning.blocked_kernels import emit_blocked_kernel
from numhlo.backend.planning.buffers import Context
from numhlo.backend.planning.counting import counting_of
from numhlo.backend.planning.joined_loops import join_rounds
from numhlo.backend.planning.region import RegionPlanner
from numhlo.backend.planning.scalar_kernels import emit_scalar_kernel
from numhlo.backend.planning.window_copies import hoist_window_copies
from numhlo.backend.program import Exchange, Loop
from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Op, TensorType, Value
from numhlo.lowering.ops import control_flow as ops
from numhlo.lowering.ops import creation


class OwnBuffer:
    """A target that never takes the planner's buffer for its own."""

    is_argument = False

    def adopt(self, number: int) -> bool:
        """Refuse."""
        return False

    def takes(self, number: int) -> bool:
        """Refuse."""
        return False


class NewTarget(OwnBuffer):
    """A buffer that is allocated when it is written."""

    def __init__(self, context: Context, type: TensorType) -> None:
        self.context, self.type = context, type
        self.number: int | None = None

    def claim(self, overwritable: Callable[[Value], bool]) -> int:
        """Return a new buffer."""
        self.number = self.context.memory.allocate(self.type)
        return self.number


class CarryTarget(OwnBuffer):
    """The next value of a loop's state: over the old one, or beside it."""

    def __init__(self, context: Context, argument: Value) -> None:
        self.context, self.argument = context, argument
        self.current = context.buffer_of[argument]
        self.other: int | None = None

    def claim(self, overwritable: Callable[[Value], bool]) -> int:
        """Return the state's own buffer if nothing reads the old value any more, else a second one."""
        if overwritable(self.argument):
            return self.current
        if self.other is None:
            self.other = self.context.memory.allocate(self.argument.tensor, self.context.since)
        return self.other


def emit_while(op: Op, planner: RegionPlanner) -> None:
    """Append a loop: one kernel, or a tree of steps."""
    reason = emit_scalar_kernel(op, planner)
    if not reason:
        return
    obstacle = emit_blocked_kernel(op, planner)
    if not obstacle:
        return
    context = planner.context
    context.intervals.enter(op)
    condition, body = op.regions
    planner.share_views(op)
    state = _initial_state(op, planner)
    for arguments in (condition.arguments, body.arguments):
        context.buffer_of.update(zip(arguments, state, strict=True))
    context.enter_loop()
    first = len(context.memory.buffers)
    test = NewTarget(context, condition.returns[0].tensor)
    test_planner = RegionPlanner(context, condition, [test])
    test_steps = test_planner.run()
    inputs = [(value, planner.buffer(value)) for value in free_values(op) if not _is_made_anywhere(value)]
    carries = [CarryTarget(context, argument) for argument in body.arguments]
    body_planner = RegionPlanner(context, body, carries, state=True)
    steps = body_planner.run()
    pairs = _exchanges(state, body_planner.results)
    if pairs:
        steps.append(Exchange(pairs))
    _copy_before(planner, hoist_window_copies(body, body_planner, state))
    loop = Loop(test_steps, test_planner.results[0], steps, op, state, inputs)
    if test.number is not None:
        context.memory.release(test.number)
    context.second_buffers += [c.other for c in carries if c.other is not None]
    waiting = join_rounds(loop, first, planner)
    if waiting:
        context.notes.append(f"a loop takes several steps: {reason}; {obstacle}; {waiting}")
        _append_loop(loop, pairs, planner)
    context.leave_loop()
    for result in op.results:
        planner.hand_over(result)


def _append_loop(loop: Loop, pairs: tuple[tuple[int, int], ...], planner: RegionPlanner) -> None:
    """Append a loop as a tree of steps."""
    context = planner.context
    for pair in pairs:
        context.memory.tie(*pair)
    context.exchanged.update(number for pair in pairs for number in pair)
    loop.counting = counting_of(loop)
    planner.steps.append(loop)


def _is_made_anywhere(value: Value) -> bool:
    """Return whether a value is a constant, or counts up: who needs it makes it."""
    return isinstance(value.owner, Op) and value.owner.definition in (creation.CONSTANT, creation.IOTA)


def _copy_before(planner: RegionPlanner, copies: Iterable[tuple[Value, int, int]]) -> None:
    for value, source, target in copies:
        planner.copy(value, source, target)


def _exchanges(state: list[int], found: list[int]) -> tuple[tuple[int, int], ...]:
    """Return the exchanges, one after the other, that bring what lies in buffers ``found`` into those of the state."""
    pairs: list[tuple[int, int]] = []
    holder = {number: number for number in (*state, *found)}  # which buffer's memory is where now
    for wanted, source in zip(state, found, strict=True):
        place = next(name for name, memory in holder.items() if memory == source)
        if place != wanted:
            pairs.append((wanted, place))
            holder[wanted], holder[place] = holder[place], holder[wanted]
    return tuple(pairs)


def _initial_state(op: Op, planner: RegionPlanner) -> list[int]:
    """Return buffers that hold the loop's initial state: those of dying operands, or copies.

    Parts that the loop does not change, and nobody reads after it, stay where the operands are. No other part may begin
    in such an operand's buffer, which would change with it.
    """
    state: list[int] = []
    body = op.regions[1]
    rows = list(zip(op.operands, op.results, body.arguments, body.returns, strict=True))
    stays = [before is after and not planner.is_used(result) for _, result, before, after in rows]
    read_inside = {planner.layout.root(value) for value in free_values(op)}
    read_inside.update(planner.layout.root(operand) for operand, stay in zip(op.operands, stays, strict=True) if stay)
    for (operand, result, _, _), stay in zip(rows, stays, strict=True):
        source = planner.buffer(operand)
        if stay:
            state.append(source)
            continue
        number = None if planner.layout.root(operand) in read_inside else planner.take_over(operand, result)
        if number is None or number in state:
            number = planner.memory.allocate(result.tensor)
            planner.adopt(result, number)
            planner.copy(operand, source, number)
        state.append(number)
    return state


KERNELS.register(ops.WHILE)(RootRule(emit_while))
