"""`check_plan`: a proof that a finished plan is right, by walking it.

For any number of iterations of each loop and any number of calls: no buffer is written while a value in it is still to
be read; no memory of a constant, an argument or an earlier result is written, but for arguments that are given for
that; every read finds what was written; memory is reserved for as long as it is used; steps that run at the same time
touch different memory. The walk shares no code with the planner: it knows what ops mean (`values`), what kernels touch
(`effects`), and what `numhlo.backend.program` says of the runtime. It takes for granted that a kernel computes what its
ops say, which tests compare.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from numhlo.backend.plan_checking.communications import require_communications
from numhlo.backend.plan_checking.contents import Contents, Made, Places
from numhlo.backend.plan_checking.launches import require_fit
from numhlo.backend.plan_checking.listing import Finding
from numhlo.backend.plan_checking.walk import Walk
from numhlo.backend.program import Branch, Exchange, Loop, Place, Program, Step, Subroutine
from numhlo.lowering.ir import Function, Region, Value


def check_plan(program: Program, function: Function, donated: frozenset[int] = frozenset()) -> None:
    """Prove that a plan is right.

    Parameters
    ----------
    program : Program
        As `numhlo.backend.planning.plan` returns it, with its ops.
    function : Function
        What it was made of.
    donated : frozenset of int
        Numbers of arguments whose memory the program may overwrite.

    Raises
    ------
    InternalError
        If the plan is wrong; it says which step, buffer and value, and why, and shows the plan around them.
    """
    finding = Finding(program)
    body = program.body
    if body is None or not program.has_ops:
        raise finding.error("it has no ops to prove it with", None)
    pairs = [pair for steps in _all_steps(program) for pair in _exchanged(steps)]
    _require_memory(program, pairs, finding)
    places = Places(program.buffers, pairs)
    _require_groups(places, finding)
    require_communications(program, places, finding)
    walk = Walk(program, places, finding, donated | program.overwritten)
    for subroutine in program.subroutines:
        _check_subroutine(subroutine, walk, places)
    contents = Contents(places, {})
    for number, buffer in enumerate(program.buffers):
        if buffer.place is Place.ARGUMENT:
            require_fit(body.arguments[buffer.index], buffer, number, None, finding)
            contents.add(number, body.arguments[buffer.index])
    walk.enter(body, "argument")
    walk.steps(program.steps, contents)
    _require_results(program, body, function, walk, contents)


def _all_steps(program: Program) -> list[Sequence[Step]]:
    return [program.steps, *[subroutine.steps for subroutine in program.subroutines]]


def _exchanged(steps: Sequence[Step]) -> Iterator[tuple[int, int]]:
    """Give the buffers that change places for good: what one kernel does of a loop, it does by copies."""
    for step in steps:
        match step:
            case Exchange():
                yield from step.pairs
            case Loop():
                yield from _exchanged([*step.condition, *step.body])
            case Branch():
                yield from _exchanged([inner for side in step.branches for inner in side])


def _require_memory(program: Program, pairs: Sequence[tuple[int, int]], finding: Finding) -> None:
    """Raise if a buffer is not all in the arena, or if buffers are exchanged that can't be."""
    for number, buffer in enumerate(program.buffers):
        if buffer.place is Place.ARENA and not 0 <= buffer.offset <= program.arena_bytes - buffer.type.nbytes:
            raise finding.error(f"{finding.buffer(number)} is not in the arena of {program.arena_bytes} bytes", None)
    for first, second in pairs:
        one, other = program.buffers[first], program.buffers[second]
        shown = f"{finding.buffer(first)} and {finding.buffer(second)}"
        if not one.place is other.place is Place.ARENA:
            raise finding.error(f"buffers are exchanged that are not both in the arena: {shown}", None)
        if (one.type.dtype, one.type.size) != (other.type.dtype, other.type.size):
            raise finding.error(f"buffers are exchanged that differ in type: {shown}", None)
        if first == second:
            raise finding.error(f"a buffer is exchanged with itself: {shown}", None)


def _require_groups(places: Places, finding: Finding) -> None:
    """Raise if buffers that are exchanged share memory."""
    for group in set(places.group_of.values()):
        held = sorted((places.buffers[n].offset, places.buffers[n].type.nbytes, n) for n in group)
        for (start, size, first), (other, _, second) in pairwise(held):
            if size and start + size > other:
                shown = f"{finding.buffer(first)} and {finding.buffer(second)}"
                raise finding.error(f"buffers that are exchanged share memory: {shown}", None)


def _check_subroutine(subroutine: Subroutine, walk: Walk, places: Places) -> None:
    """Walk a subroutine's steps: what it takes is there, and nothing else."""
    contents = Contents(places, {})
    body = subroutine.body
    if body is None:
        raise walk.finding.error(f"@{subroutine.name} has no ops to prove it with", None)
    walk.enter(body, f"@{subroutine.name}'s argument")
    for value, number in zip(body.arguments, subroutine.arguments, strict=True):
        require_fit(value, walk.program.buffers[number], number, None, walk.finding)
        contents.write(number, [value], None)
    called = Made(subroutine)
    contents.write(subroutine.place, [called], None)
    for value, number in zip(body.arguments, subroutine.arguments, strict=True):
        walk.need_at(contents, number, value, f"@{subroutine.name} takes")
    walk.steps(subroutine.steps, contents)
    for value, number in zip(body.returns, subroutine.results, strict=True):
        walk.need_at(contents, number, value, f"@{subroutine.name} gives")
    if called not in contents.of(subroutine.place):
        place = walk.finding.buffer(subroutine.place)
        raise walk.finding.error(f"@{subroutine.name} writes over which of its calls to go on after, {place}", None)


def _require_results(program: Program, body: Region, function: Function, walk: Walk, contents: Contents) -> None:
    """Raise if a result, or the new value of an argument that is written, is not in its buffer after the last step."""
    count = len(function.body.returns) - len(program.written)
    if len(program.results) != count:
        raise walk.finding.error(f"it lists {len(program.results)} results of {count}", None)
    wanted: list[tuple[Value, int]] = list(zip(body.returns[:count], program.results, strict=True))
    wanted += list(zip(body.returns[count:], program.written.values(), strict=True))
    for place, (value, number) in enumerate(wanted):
        require_fit(value, program.buffers[number], number, None, walk.finding)
        what = f"result {place} is" if place < count else "the new value of an argument is"
        walk.need_at(contents, number, value, what)
    for index in program.overwritten - program.written.keys():
        shown = walk.finding.value(body.arguments[index])
        raise walk.finding.error(f"the steps write into {shown}, which gets no new value", None)
