"""Kernels that go through a list of launches: the list must say what the launches are.

The list is run-time numbers, an entry a launch: which kernel it is, its buffers and its own numbers. How many there are
of these stands in the kernel, which has a side of a branch for each of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from numhlo.backend.kernels import ir
from numhlo.backend.plan_checking.contents import Places
from numhlo.backend.plan_checking.effects import accesses_in, ir_of
from numhlo.backend.plan_checking.listing import Finding, step_in_words
from numhlo.backend.primitives.memory import address, number
from numhlo.backend.program import Kernel, Launch, Place
from numhlo.lowering.ir.errors import InternalError


class Side(NamedTuple):
    """What the entries of one kernel have: where its buffers and its numbers stand, and how long they are."""

    buffers: tuple[int, ...]
    numbers: tuple[int, ...]
    length: int


def require_listed(launch: Launch, places: Places, finding: Finding) -> None:
    """Raise if a list's run-time numbers name other buffers or numbers than the launches that it is made of."""
    sides = _sides(launch.kernel)
    kinds: dict[int, Kernel] = {}
    place = 1
    if launch.dims[0] != len(launch.parts):
        raise finding.error(f"a list of {launch.dims[0]} launches is made of {len(launch.parts)}", launch)
    for part in launch.parts:
        kind = min(launch.dims[place], len(sides) - 1)
        side = sides[kind]
        known = kinds.setdefault(kind, part.kernel)
        entry = launch.dims[place : place + side.length]
        buffers = [launch.buffers[entry[k]] for k in side.buffers]
        wanted = [part.buffers[k] for k in _literals(part.kernel, address)]
        if known != part.kernel or not _are_same(buffers, wanted, places):
            what = f"the list has {step_in_words(part)} with buffers {buffers}, which should be {wanted}"
            raise finding.error(what, launch)
        numbers = [entry[k] for k in side.numbers]
        own = [part.dims[k] for k in _literals(part.kernel, number)]
        if numbers not in (own, [*own, part.extent]):
            raise finding.error(f"the list has {step_in_words(part)} with numbers {numbers}, not {own}", launch)
        place += side.length


def _are_same(found: Sequence[int], wanted: Sequence[int], places: Places) -> bool:
    """Return whether buffers begin where others do."""
    return len(found) == len(wanted) and all(_begin_alike(a, b, places) for a, b in zip(found, wanted, strict=True))


def _begin_alike(one: int, other: int, places: Places) -> bool:
    if one == other:
        return True
    first, second = places.buffers[one], places.buffers[other]
    fixed = one not in places.group_of and other not in places.group_of
    return fixed and first.place is second.place is Place.ARENA and first.offset == second.offset


@lru_cache(maxsize=256)
def _sides(kernel: Kernel) -> list[Side]:
    """Return what the entries of each kernel have, by its number: a side ends by going on to the next entry."""
    (loop,) = (statement for statement in ir_of(kernel).entry.body if isinstance(statement, ir.For))
    block, sides = loop.body, list[Side]()
    while block and isinstance(chosen := block[-1], ir.If):
        sides.append(_side(chosen.then))
        block = chosen.otherwise
    return [*sides, _side(block)] if block else sides


def _side(body: Sequence[ir.Statement]) -> Side:
    calls = {s.variable: s.value for s in body if isinstance(s, ir.Let) and isinstance(s.value, ir.Call)}
    listed = {variable: _distance(call.operands[1]) for variable, call in calls.items() if call.callee is number}
    pointers = [call.operands[1] for call in calls.values() if call.callee is address]
    buffers = [node.variable for node in pointers if isinstance(node, ir.Read)]
    numbers = [place for variable, place in listed.items() if variable not in buffers]
    last = body[-1]
    assert isinstance(last, ir.Assign)
    return Side(tuple(listed[variable] for variable in buffers), tuple(numbers), _distance(last.value))


def _distance(node: ir.Expression) -> int:
    """Return how far behind an entry's begin a place is."""
    match node:
        case ir.Call(operands=(ir.Read(), ir.Constant(value=int(distance)))):
            return distance
    raise InternalError("an entry of a list is not read at a fixed distance from where it begins")


def _literals(kernel: Kernel, callee: object) -> list[int]:
    """Return the literals that a kernel names its buffers or its numbers by, in order."""
    calls = [node for node in accesses_in(ir_of(kernel)) if isinstance(node, ir.Call) and node.callee is callee]
    found = [call.operands[1] for call in calls]
    return [int(node.value.real) for node in found if isinstance(node, ir.Constant)]
