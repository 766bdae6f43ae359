"""Finds parts of plans, and changes them, for tests of mistakes in plans."""

from dataclasses import replace

from numhlo.backend.program import Branch, Buffer, Exchange, Launch, Loop, Place, Program, Step


def steps_inside(steps: list[Step]) -> list[list[Step]]:
    """Return lists of steps, those inside others included."""
    found = [steps]
    for step in steps:
        match step:
            case Loop():
                found += [*steps_inside(step.condition), *steps_inside(step.body)]
            case Branch():
                found += [each for branch in step.branches for each in steps_inside(branch)]
            case Launch() if step.loop is not None:
                found += steps_inside([step.loop])[1:]
    return found


def launches(program: Program, name: str) -> list[Launch]:
    """Return the launches of kernels whose names begin so."""
    lists = [each for steps in (program.steps, *[s.steps for s in program.subroutines]) for each in steps_inside(steps)]
    found = [
        step for steps in lists for step in steps if isinstance(step, Launch) and step.kernel.name.startswith(name)
    ]
    assert found, name
    return found


def remove(program: Program, step: Step) -> None:
    """Take a step out."""
    for steps in (program.steps, *[s.steps for s in program.subroutines]):
        for each in steps_inside(steps):
            if step in each:
                each.remove(step)


def loop_of(program: Program) -> Loop:
    """Return the only loop of a plan, be it one kernel or not."""
    found = [step for step in program.steps if isinstance(step, Loop)]
    found += [step.loop for step in program.steps if isinstance(step, Launch) and step.loop is not None]
    (loop,) = found
    return loop


def exchange_of(program: Program) -> Exchange:
    """Return the exchange at the end of the loop's body."""
    last = loop_of(program).body[-1]
    assert isinstance(last, Exchange)
    return last


def put_at(program: Program, number: int, other: int) -> None:
    """Let a buffer lie where another one does."""
    program.buffers[number] = program.buffers[number].at(program.buffers[other].offset)


def reroute(launch: Launch, old: int, new: int) -> None:
    """Let a launch use another buffer."""
    swap = lambda pairs: [(value, new if number == old else number) for value, number in pairs]
    launch.buffers = tuple(new if number == old else number for number in launch.buffers)
    launch.inputs, launch.outputs = swap(launch.inputs), swap(launch.outputs)


def rewrite(launch: Launch, old: str, new: str) -> None:
    """Change a kernel's text, and let it know all primitives."""
    assert old in launch.kernel.source, launch.kernel.source
    source = launch.kernel.source.replace(old, new)
    launch.kernel = replace(launch.kernel, source=f"from numhlo.backend.primitives import *\n{source}")


def new_buffer(program: Program, like: int, place: Place, **fields: object) -> int:
    """Add a buffer of another one's type."""
    program.buffers.append(Buffer(program.buffers[like].type, place, **fields))  # type: ignore[arg-type]
    return len(program.buffers) - 1


def branch_of(program: Program) -> Branch:
    """Return the first branch of a plan."""
    return next(step for step in program.steps if isinstance(step, Branch))
