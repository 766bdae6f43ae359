"""Plans that are kept for other shapes of the same function: what was planned once is filled in with other sizes.

The second time that a function of some structure is to be planned, it is planned with unknowns for its sizes, and what
the planner asks about them is noted (`numhlo.backend.emit.sizes`). The plan is right for all sizes that give the same
answers, and filling it in takes a fraction of planning. What it lacks are the ops of its steps, which native code has
no need of: it serves only where all kernels are there (`Program.has_ops`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Any

from numhlo.backend.emit.sizes import Answers, Questions, Slots
from numhlo.backend.planning.plan import plan
from numhlo.backend.planning.structure import SMALL, key_of, with_unknowns
from numhlo.backend.program import Branch, Buffer, Exchange, Launch, Loop, Place, Program, Step
from numhlo.lowering.ir import Function, Op, TensorType
from numhlo.lowering.ir.interruptions import ProcessLock

MOST_STRUCTURES = 128
"""Structures that plans are kept of."""

MOST_RECIPES = 16
"""Plans that are kept of one structure, for sizes that give other answers."""

MOST_IN_VAIN = 4
"""Plans with unknowns that may be made of one structure before one of them is of use."""

MOST_OPS = 400
"""Longer functions are not looked at: they seldom come again, and planning with unknowns takes longer by far."""


class NeedsOpsError(Exception):
    """A program has steps that no native code does."""


class Recipe:
    """A program with places of numbers instead of numbers.

    Parameters
    ----------
    program : Program
        Of unknowns.
    questions : Questions
        What was noted about them.
    """

    def __init__(self, program: Program, questions: Questions) -> None:
        if program.subroutines:
            raise NeedsOpsError
        place = questions.place
        self.program = replace(
            program,
            buffers=[_map_buffer(buffer, place) for buffer in program.buffers],
            steps=_map_steps(program.steps, place),
            arena_bytes=place(program.arena_bytes),
            kept={},
            has_ops=False,
            body=None,
        )
        self.answers: Answers = questions.close()

    def filled(self, sizes: Sequence[int]) -> Program | None:
        """Return the program for other sizes; None if these give other answers."""
        values = self.answers.values(sizes)
        if values is None:
            return None
        program, number = self.program, values.__getitem__
        return replace(
            program,
            buffers=[_map_buffer(buffer, number) for buffer in program.buffers],
            steps=_map_steps(program.steps, number),
            arena_bytes=number(program.arena_bytes),
            notes=[*program.notes],
        )


Mapped = Callable[[Any], int]


def _map_buffer(buffer: Buffer, number: Mapped) -> Buffer:
    if buffer.place is Place.CONSTANT:
        return buffer
    type = TensorType(tuple(map(number, buffer.type.shape)), buffer.type.dtype)
    offset = number(buffer.offset) if buffer.place is Place.ARENA else 0
    return Buffer(type, buffer.place, buffer.index, offset)


def _map_steps(steps: Sequence[Step], number: Mapped) -> list[Step]:
    """Return steps without ops, with ``number(n)`` for every number."""
    return [_map_step(step, number) for step in steps]


def _map_step(step: Step, number: Mapped) -> Step:
    match step:
        case Launch():
            return Launch(
                step.kernel,
                step.buffers,
                tuple(map(number, step.dims)),
                number(step.extent),
                number(step.grain),
                (),
                (),
                (),
                number(step.flops),
                number(step.bytes),
                step.follows,
                step.scalar,
            )
        case Exchange():
            return step
        case Loop():
            return Loop(
                _map_steps(step.condition, number),
                step.predicate,
                _map_steps(step.body, number),
                _without_operands(step.op),
                step.state,
                counting=step.counting,
            )
        case Branch():
            return Branch(step.index, [_map_steps(b, number) for b in step.branches], _without_operands(step.op))
        case _:
            raise NeedsOpsError


def _without_operands(op: Op) -> Op:
    """Return an op that holds no graph."""
    return Op(op.definition, (), {}, (), (), op.location) if op.operands else op


class _Structure:
    """The recipes of one structure."""

    def __init__(self) -> None:
        self.recipes: tuple[Recipe, ...] = ()
        self.in_vain = 0

    def program(self, sizes: Sequence[int]) -> Program | None:
        """Return the program for some sizes, if there is a recipe for them."""
        for recipe in self.recipes:
            found = recipe.filled(sizes)
            if found is not None:
                self.in_vain = 0
                return found
        return None


_STRUCTURES: dict[Hashable, _Structure] = {}
_lock = ProcessLock()


def plan_again(function: Function, *, donated: frozenset[int], written: Sequence[int]) -> Program | None:
    """Return the program of a function like one that was planned before, but for its steps' ops; else None.

    Parameters
    ----------
    function, donated, written
        As for `plan`.
    """
    if len(function.body.ops) > MOST_OPS:
        return None
    slots = Slots(SMALL)
    key = key_of(function, slots, (donated, tuple(written)))
    if key is None:
        return None
    structure = _STRUCTURES.get(key)
    if structure is None:
        with _lock.own:
            while len(_STRUCTURES) >= MOST_STRUCTURES:
                del _STRUCTURES[next(iter(_STRUCTURES))]  # the oldest
            _STRUCTURES[key] = _Structure()
        return None
    sizes = slots.numbers
    found = structure.program(sizes)
    if found is None and structure.in_vain < MOST_IN_VAIN:
        structure.in_vain += 1
        recipe = _make(function, sizes, donated, written)
        if recipe is not None:
            structure.recipes = (recipe, *structure.recipes[: MOST_RECIPES - 1])
            found = recipe.filled(sizes)
    return found


def _make(function: Function, sizes: Sequence[int], donated: frozenset[int], written: Sequence[int]) -> Recipe | None:
    """Return what was planned with unknowns, None where that is not possible.

    Unknowns stand for integers in all of the planner, in NumPy, and in rules that users register; each may refuse them
    by whatever error it has (`TypeError` of an index, `AttributeError` of a method of int). None of these says anything
    of the program: it is planned with numbers then, and what is wrong with it is raised there. Interrupts pass.
    """
    questions = Questions(sizes, SMALL)
    try:
        program = plan(with_unknowns(function, questions.unknowns), donated=donated, written=written)
        return Recipe(program, questions)
    except Exception:  # noqa: BLE001 - the caller plans with numbers, and meets again what is the program's fault
        return None
    finally:
        questions.close()
