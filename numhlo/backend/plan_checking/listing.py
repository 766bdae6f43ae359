"""How the checker speaks of plans: steps, buffers and values in words, and the lines of a plan around a step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
)
from numhlo.lowering.ir import Op, Region, Value
from numhlo.lowering.ir.errors import InternalError
from numhlo.lowering.ir.location import UNKNOWN, Location

AROUND = 4
"""Lines of a plan that are shown before and behind the step where a proof fails."""


class Finding:
    """Makes the errors of one program.

    Parameters
    ----------
    program : Program
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.arguments: dict[Region, str] = {}
        """What the arguments of regions are, in words."""

    def error(self, what: str, step: object, value: Value | None = None) -> InternalError:
        """Return the error that says what is wrong, with the user's line and the plan around the step."""
        shown = self._around(step)
        return InternalError(
            f"the plan is wrong: {what}",
            where=_location(step, value),
            why="\n  ".join(["a proof of the plan failed here:", *shown]) if shown else "",
            fix="" if shown else "report this program",
        )

    def buffer(self, number: int) -> str:
        """Return a buffer in words."""
        return f"buffer {number} ({in_words(self.program.buffers[number])})"

    def value(self, value: Value) -> str:
        """Return a value in words: what made it, and its type."""
        owner = value.owner
        if isinstance(owner, Op):
            number = f" (result {owner.results.index(value)})" if len(owner.results) > 1 else ""
            return f"the {owner.definition.name}{number}, {value.tensor.short()}"
        place = owner.arguments.index(value) if value in owner.arguments else -1
        return f"{self.arguments.get(owner, 'argument')} {place}, {value.tensor.short()}"

    def _around(self, step: object) -> list[str]:
        lines = list(_listed(self.program.steps, ""))
        for subroutine in self.program.subroutines:
            lines += [(None, f"@{subroutine.name}:"), *_listed(subroutine.steps, "    ")]
        places = [k for k, (listed, _) in enumerate(lines) if listed is step and step is not None]
        if not places:
            return []
        first = max(0, places[0] - AROUND)
        shown = lines[first : places[0] + AROUND + 1]
        return [f"{'>' if k == places[0] else ' '} {text}" for k, (_, text) in enumerate(shown, first)]


def in_words(buffer: Buffer) -> str:
    """Return where a buffer lies, and its type."""
    match buffer.place:
        case Place.ARENA:
            where = f"arena {buffer.offset}:{buffer.offset + buffer.type.nbytes}"
        case Place.CONSTANT:
            where = "constant"
        case _:
            where = f"{buffer.place.value} {buffer.index}"
    return f"{where}, {buffer.type.short()}"


def step_in_words(step: object) -> str:
    """Return a step in a few words."""
    match step:
        case Launch():
            return f"the launch of {step.kernel.name}"
        case Evaluate():
            return f"the evaluation of {step.op.definition.name}"
        case Communicate():
            return f"the communication of {step.op.definition.name}"
        case Loop():
            return "the loop"
        case Branch():
            return "the branch"
        case Exchange():
            return "the exchange"
        case Call():
            return f"the call of @{step.subroutine.name}"
        case _:
            return "a step"


def _listed(steps: Sequence[Step], indent: str) -> Iterator[tuple[Step | None, str]]:
    """Give a line for each step, with the step."""
    for step in steps:
        yield step, indent + _line(step)
        inner = indent + "    "
        match step:
            case Launch():
                yield from _listed(step.parts, inner)
                if step.loop is not None:
                    yield from _listed([step.loop], inner)
            case Loop():
                yield from _listed(step.condition, inner)
                yield None, f"{indent}do while buffer {step.predicate}"
                yield from _listed(step.body, inner)
            case Branch():
                for number, branch in enumerate(step.branches):
                    yield None, f"{indent}case {number}"
                    yield from _listed(branch, inner)


def _line(step: Step) -> str:
    match step:
        case Launch():
            places = f"{_numbers(step.inputs)} -> {_numbers(step.outputs)}"
            follows = "... " if step.follows else ""
            return f"{follows}{step.kernel.name}{list(step.buffers)}: {places}, {step.extent} units of {step.grain}"
        case Evaluate():
            return f"evaluate {step.op.definition.name}: {_numbers(step.inputs)} -> {_numbers(step.outputs)}"
        case Communicate():
            return f"communicate {step.op.definition.name}: {_numbers(step.inputs)} -> {_numbers(step.outputs)}"
        case Loop():
            return f"loop, state {list(step.state)}"
        case Branch():
            return f"branch on buffer {step.index}"
        case Exchange():
            return "exchange " + ", ".join(f"{first} and {second}" for first, second in step.pairs)
        case Call():
            return f"call @{step.subroutine.name}"


def _numbers(places: Sequence[tuple[Value, int]]) -> str:
    return str([number for _, number in places])


def _location(step: object, value: Value | None) -> Location:
    """Return the user's line of a value's op, or of a step's."""
    if value is not None and isinstance(value.owner, Op) and value.owner.location is not UNKNOWN:
        return value.owner.location
    if isinstance(step, Evaluate | Communicate | Loop | Branch | Call):
        return step.op.location
    if isinstance(step, Launch):
        known = [op.location for op in reversed(step.ops) if op.location is not UNKNOWN]
        return known[0] if known else UNKNOWN
    return UNKNOWN
