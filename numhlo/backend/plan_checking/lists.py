"""Kernels that go through a list of launches: the list must say what the launches are.

The list is run-time numbers, an entry a launch: which kernel it is, its buffers and its own numbers. How many there are
of these stands in the kernel's text, which has a side of a branch for each kernel.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from numhlo.backend.plan_checking.contents import Places
from numhlo.backend.plan_checking.effects import POINTER
from numhlo.backend.plan_checking.listing import Finding, step_in_words
from numhlo.backend.program import Kernel, Launch, Place

NUMBER = re.compile(r"^ *\w+ = number\(dims, (\d+)\)$", re.MULTILINE)
LISTED = re.compile(r"(\w+) = number\(dims, (\w+) \+ (\d+)\)")
BUFFER = re.compile(r"\w+ = address\(bufs, (\w+)\)")


class Side(NamedTuple):
    """What the entries of one kernel have: where its buffers and its numbers stand, and how long they are."""

    buffers: tuple[int, ...]
    numbers: tuple[int, ...]
    length: int


def require_listed(launch: Launch, places: Places, finding: Finding) -> None:
    """Raise if a list's run-time numbers name other buffers or numbers than the launches that it is made of."""
    sides = _sides(launch.kernel.source)
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
        wanted = [part.buffers[int(k)] for _, k in POINTER.findall(part.kernel.source)]
        if known != part.kernel or not _are_same(buffers, wanted, places):
            what = f"the list has {step_in_words(part)} with buffers {buffers}, which should be {wanted}"
            raise finding.error(what, launch)
        numbers = [entry[k] for k in side.numbers]
        own = [part.dims[int(k)] for k in NUMBER.findall(part.kernel.source)]
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
def _sides(source: str) -> list[Side]:
    """Return what the entries of each kernel have, by its number."""
    (function,) = (node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef))
    (loop,) = (node for node in function.body if isinstance(node, ast.For))
    (chosen,) = (node for node in loop.body if isinstance(node, ast.If))
    sides: list[Side] = []
    while True:
        sides.append(_side(chosen.body))
        rest = chosen.orelse
        if len(rest) == 1 and isinstance(rest[0], ast.If) and _asks_kind(rest[0], chosen):
            chosen = rest[0]
            continue
        if rest:
            sides.append(_side(rest))
        return sides


def _asks_kind(one: ast.If, other: ast.If) -> bool:
    """Return whether two conditions compare the same variable."""
    tests = one.test, other.test
    names = [ast.unparse(test.left) for test in tests if isinstance(test, ast.Compare)]
    return len(names) == len(tests) and names[0] == names[1]


def _side(body: Sequence[ast.stmt]) -> Side:
    lines = [ast.unparse(statement) for statement in body if isinstance(statement, ast.Assign | ast.AugAssign)]
    listed = {found[1]: int(found[3]) for line in lines if (found := LISTED.fullmatch(line))}
    buffers = [found[1] for line in lines if (found := BUFFER.fullmatch(line))]
    numbers = [place for name, place in listed.items() if name not in buffers]
    length = next(int(line.split("+= ")[1]) for line in reversed(lines) if re.fullmatch(r"\w+ \+= \d+", line))
    return Side(tuple(listed[name] for name in buffers), tuple(numbers), length)
