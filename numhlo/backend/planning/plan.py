"""`plan`: an optimized function becomes a program."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from numhlo.backend.emit.intervals import Intervals
from numhlo.backend.emit.loop_rounds import LOOK, ends_soon
from numhlo.backend.emit.loop_work import end_soon
from numhlo.backend.planning import branches, communication, control_flow, mapped  # noqa: F401 - importing them fills the table of kernels
from numhlo.backend.planning.buffers import Context
from numhlo.backend.planning.expansion import expand
from numhlo.backend.planning.launch_lists import with_lists
from numhlo.backend.planning.region import RegionPlanner
from numhlo.backend.planning.result_orders import copied_results
from numhlo.backend.planning.subroutines import plan_subroutines
from numhlo.backend.program import Branch, Buffer, Loop, Place, Program, Step
from numhlo.lowering.ir import Function, Region, TensorType, Value
from numhlo.lowering.ops.control_flow import CALL, WHILE


class _FinalTarget:
    """A result of the whole function."""

    is_argument = False

    def takes(self, number: int) -> bool:
        """Return whether the caller fetches the result from a buffer itself."""
        return False


class ResultTarget(_FinalTarget):
    """A result of the whole function: memory of its own."""

    def __init__(self, context: Context, type: TensorType, index: int) -> None:
        self.context, self.type, self.index = context, type, index
        self.number: int | None = None

    def claim(self, overwritable: Callable[[Value], bool]) -> int:
        """Return the result buffer."""
        if self.number is None:
            self.number = self.context.memory.add(Buffer(self.type, Place.RESULT, index=self.index))
        return self.number

    def adopt(self, number: int) -> bool:
        """Turn an arena buffer into a result buffer."""
        memory = self.context.memory
        memory.release(number)
        memory.buffers[number] = Buffer(self.type, Place.RESULT, index=self.index)
        return True


class WrittenTarget(_FinalTarget):
    """The new value of an argument that the function writes into: the argument's own memory, or some of the arena.

    Parameters
    ----------
    context : Context
    argument : Value
    in_place : bool
        Whether the argument's memory may change before all steps are done.
    """

    def __init__(self, context: Context, argument: Value, *, in_place: bool) -> None:
        self.context, self.argument = context, argument
        self.in_place = self.is_argument = in_place
        self.own = context.buffer_of[argument]
        self.number: int | None = None

    def claim(self, overwritable: Callable[[Value], bool]) -> int:
        """Return the argument's buffer if nothing reads the old value any more, else one that is copied at the end."""
        if self.number is None:
            free = self.in_place and overwritable(self.argument)
            self.number = self.own if free else self.context.memory.allocate(self.argument.tensor)
        return self.number

    def adopt(self, number: int) -> bool:
        """Keep an arena buffer to the end."""
        return True

    def takes(self, number: int) -> bool:
        """Return True: what is not in its place after the last step is copied then."""
        return True


def has_loops(region: Region) -> bool:
    """Return whether a region's ops may run for long, and be interrupted: loops, also inside composites, and calls.

    Examples
    --------
    >>> has_loops(Region())
    False
    """
    seen, bodies = {region}, [region]
    for body in bodies:
        for op in body.walk():
            if op.definition in (WHILE, CALL):
                return True
            callees = [a.body for a in op.attributes.values() if isinstance(a, Function)]
            bodies += [callee for callee in callees if callee not in seen]
            seen.update(callees)
    return False


def plan(function: Function, *, donated: frozenset[int] = frozenset(), written: Sequence[int] = ()) -> Program:
    """Return the program that computes a function.

    Parameters
    ----------
    function : Function
        Optimized, with static shapes.
    donated : frozenset of int
        Numbers of arguments whose memory the program may overwrite, and return as a result.
    written : sequence of int
        Numbers of arguments whose new values are the last of the function's results: these go to the arguments' own
        memory, at once where nothing reads the old value and no loop could be interrupted, else after all steps.

    Returns
    -------
    Program
    """
    if written and _ends_soon(function.body):
        program = _planned(function, donated, written, in_place=True)
        if not _may_be_interrupted(program):
            return program
    return _planned(function, donated, written, in_place=False)


def _ends_soon(region: Region) -> bool:
    """Return whether all loops together seem to be done so soon that nobody need look at the wishes of the user."""
    if not has_loops(region):
        return True
    elsewhere = (a.body for op in region.walk() for a in op.attributes.values() if isinstance(a, Function))
    called = any(op.definition is CALL for op in region.walk())
    if called or any(map(has_loops, elsewhere)):
        return False
    return ends_soon(region, Intervals()) or end_soon(region, Intervals())


def _may_be_interrupted(program: Program) -> bool:
    """Return whether something that runs rounds looks at whether the user wants to stop, as long programs do."""
    return _has_rounds(program.steps) or any(LOOK in kernel.callees for kernel in program.kernels)


def _has_rounds(steps: Sequence[Step]) -> bool:
    return any(
        isinstance(step, Loop) or (isinstance(step, Branch) and any(map(_has_rounds, step.branches))) for step in steps
    )


def _planned(function: Function, donated: frozenset[int], written: Sequence[int], *, in_place: bool) -> Program:
    context = Context()
    context.intervals.never_looks = in_place
    for value in function.body.arguments:
        context.extents.update((*value.tensor.shape, value.tensor.size))
    plan_subroutines(function, context)
    body = expand(function.body)
    for number, value in enumerate(body.arguments):
        buffer = Buffer(value.tensor, Place.ARGUMENT, index=number)
        context.buffer_of[value] = context.memory.add(buffer)
        if number in donated and number not in written:
            context.donated.add(value)
    count = len(body.returns) - len(written)
    context.written.update(body.arguments[k] for k in written if in_place)
    places = [WrittenTarget(context, body.arguments[k], in_place=in_place) for k in written]
    results = [ResultTarget(context, value.tensor, k) for k, value in enumerate(body.returns[:count])]
    planner = RegionPlanner(context, body, [*results, *places])
    steps = planner.run()
    memory = context.memory
    arena_bytes = memory.place_all()
    context.notes += copied_results(steps, planner.results[:count])
    steps = with_lists(steps, memory)
    return Program(
        memory.buffers,
        steps,
        arena_bytes,
        planner.results[:count],
        context.notes,
        context.kept,
        dict(zip(written, planner.results[count:], strict=True)),
        [routine.subroutine for routine in context.subroutines.values()],
        frozenset(k for k, place in zip(written, places, strict=True) if place.number == place.own),
        body=body,
    )
