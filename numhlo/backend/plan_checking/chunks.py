"""Chunks of one launch run at once on several threads: what one of them reads, no other may write.

A kernel that reads and writes the same buffer is right in chunks if each unit reads only elements that it writes
itself: its loads have the same indices as its stores, with loops over the same range, or both stay within the unit's
own row. That units write different elements, whatever buffer it is, is for who writes kernels.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TypeAlias

from numhlo.backend.plan_checking.effects import (
    POINTER,
    assigned_in,
    calls_in,
    effects_of,
    pointed_to,
    touches_of,
    word_of,
)
from numhlo.backend.plan_checking.listing import Finding, step_in_words
from numhlo.backend.program import Launch

Form: TypeAlias = tuple[tuple[tuple[str, ...], int], ...]
"""A sum of products: names, and how often."""
UNIT = "unit"
FIXED = re.compile(r"(store_\w+)\((\w+), \d+, ")


def require_independent_chunks(launch: Launch, in_place: frozenset[int], finding: Finding) -> None:
    """Raise if a kernel may run in chunks, and reads elements in one that it writes in another.

    Parameters
    ----------
    launch : Launch
    in_place : frozenset of int
        The buffers that hold an input of it when it begins, and that it writes.
    finding : Finding
    """
    if launch.extent <= launch.grain:
        return
    effects = effects_of(launch.kernel.source)
    results = {number for _, number in launch.outputs}
    for place in effects.writes:
        number, source = launch.buffers[place], launch.kernel.source
        common = _common(source).get(place, "") if number in results else ""
        if common:
            what = f"chunks of {step_in_words(launch)} run at once, and all write the same element"
            raise finding.error(f"{what} of {finding.buffer(number)}: {common}", launch)
        shifted = _shifted(source, place) if number in in_place and place in effects.reads else ""
        if shifted:
            what = f"chunks of {step_in_words(launch)} run at once, and one reads what another writes"
            raise finding.error(f"{what}: {shifted} is not where it stores to {finding.buffer(number)}", launch)


@lru_cache(maxsize=8192)
def _common(source: str) -> dict[int, str]:
    """Return stores at a fixed place, whatever the unit, as text, by the place of the buffer."""
    places = {name: int(place) for name, place in POINTER.findall(source)}
    stores = Counter(found[0] for found in FIXED.finditer(source) if found[2] in places)
    if stores:
        stores.subtract(_stores_of_one_unit(source))
    return {places[found[2]]: text for text, count in stores.items() if count > 0 and (found := FIXED.match(text))}


def _stores_of_one_unit(source: str) -> Iterator[str]:
    """Give the stores at a fixed place that only one unit makes, as text."""
    tree = ast.parse(source)
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For) and ast.unparse(node.iter) == "range(lo, hi)"]
    tests = {f"{ast.unparse(loop.target)} == 0" for loop in loops}
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) in tests:
            for statement in node.body:
                yield from (found[0] for found in FIXED.finditer(ast.unparse(statement)))


@lru_cache(maxsize=4096)
def _shifted(source: str, place: int) -> str:
    """Return a load of a buffer that may be of another unit's elements, as text; nothing if there is none."""
    reader = _reader(source)
    loads: dict[Form, ast.Call] = {}
    stores: set[Form] = set()
    for call in calls_in(reader.body):
        for touch in touches_of(call, reader.places):
            if touch.place == place:
                form = reader.form_of(call, touch.argument)
                stores.add(form) if touch.writes else loads.setdefault(form, call)
    for form, call in loads.items():
        if form not in stores and not reader.is_own_row(form, stores):
            return ast.unparse(call)
    return ""


@lru_cache(maxsize=64)
def _reader(source: str) -> _Reader:
    return _Reader(source)


class _Reader:
    """What a kernel's indices are made of.

    Parameters
    ----------
    source : str
        Of the kernel.
    """

    def __init__(self, source: str) -> None:
        tree = ast.parse(source)
        self.body = next(node for node in tree.body if isinstance(node, ast.FunctionDef))
        self.places = _places(source, self.body)
        self._values: dict[str, ast.expr | None] = {}
        for name, value in assigned_in(self.body):
            self._values[name] = None if name in self._values else value
        self._ranges: dict[str, str] = {}
        for node in ast.walk(self.body):
            if isinstance(node, ast.For) and isinstance(node.target, ast.Name) and isinstance(node.iter, ast.Call):
                self._add_loop(node.target.id, node.iter)
        fixed = {name for name, value in self._values.items() if value is not None}
        ranges = {text for text in self._ranges.values() if text.startswith("[")}
        self._told = fixed | ranges | {UNIT}

    def _add_loop(self, name: str, ranged: ast.Call) -> None:
        text = ", ".join(ast.unparse(argument) for argument in ranged.args)
        if text == "lo, hi":
            self._ranges[name] = UNIT
            return
        before = self._ranges.get(name)
        only = before in (None, f"[{text}]") and name not in self._values
        self._ranges[name] = f"[{text}]" if only else f"{name} of several loops"

    def form_of(self, call: ast.Call, argument: int) -> Form:
        """Return what an access's place is made of: the pointer and the index behind it, or all arguments behind it."""
        word = word_of(call)
        parts = [self._sum(call.args[argument])]
        rest = call.args[argument + 1 :]
        if rest and word.startswith(("load", "store")):
            parts.append(self._sum(rest[0]))
        elif len(rest) > 1:
            parts += [self._sum(rest[0]), {(f"[{ast.unparse(rest[1])}]",): 1}]
        return _form(parts)

    def _sum(self, node: ast.expr) -> dict[tuple[str, ...], int]:
        """Return an expression as a sum of products of names."""
        match node:
            case ast.Constant(value=int(number)):
                return {(): number}
            case ast.Name():
                return self._of_name(node.id)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return _added(self._sum(left), self._sum(right), 1)
            case ast.BinOp(left=left, op=ast.Sub(), right=right):
                return _added(self._sum(left), self._sum(right), -1)
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                return _multiplied(self._sum(left), self._sum(right))
            case ast.Call() if word_of(node) in ("to_i64", "integer_address"):
                return self._sum(node.args[0])
            case ast.Call() if word_of(node) == "advance":
                return _added(self._sum(node.args[0]), self._sum(node.args[1]), 1)
            case _:
                return {(ast.unparse(node),): 1}

    def _of_name(self, name: str) -> dict[tuple[str, ...], int]:
        if name in self._ranges:
            return {(self._ranges[name],): 1}
        value = self._values.get(name)
        if value is None or (isinstance(value, ast.Call) and word_of(value) in ("address", "number")):
            return {(name,): 1}
        return self._sum(value)

    def is_own_row(self, form: Form, stores: set[Form]) -> bool:
        """Return whether a place is in the row of its unit, as those of all stores are, as far as can be told."""
        row, rest = _split(form)
        if not row or any(_split(store)[0] != row for store in stores):
            return False
        if any(name not in self._told for names, _ in rest for name in names):
            return True  # what is worked on in no fixed order
        ((names, count),) = row if len(row) == 1 else (((), 0),)
        extent = [name for name in names if name != UNIT]
        moving = [(names, times) for names, times in rest if names and names[0].startswith("[")]
        others = [names for names, _ in rest if not (names and (names[0].startswith("[") or names[0] in self.places))]
        return count == 1 and len(extent) == 1 and not others and moving == [((f"[{extent[0]}]",), 1)]


def _split(form: Form) -> tuple[Form, Form]:
    """Return the parts of a sum that depend on the unit, and the others."""
    return tuple(p for p in form if UNIT in p[0]), tuple(p for p in form if UNIT not in p[0])


def _places(source: str, body: ast.FunctionDef) -> Mapping[str, frozenset[int]]:
    """Return where the variables of a kernel may point."""
    places = {name: frozenset({int(place)}) for name, place in POINTER.findall(source)}
    assigned = list(assigned_in(body))
    while True:
        before = dict(places)
        for name, value in assigned:
            target = pointed_to(value, places)
            if target:
                places[name] = places.get(name, frozenset()) | target
        if places == before:
            return places


def _form(parts: list[dict[tuple[str, ...], int]]) -> Form:
    total: dict[tuple[str, ...], int] = {}
    for part in parts:
        total = _added(total, part, 1)
    return tuple(sorted(total.items()))


def _added(
    one: Mapping[tuple[str, ...], int], other: Mapping[tuple[str, ...], int], sign: int
) -> dict[tuple[str, ...], int]:
    total = dict(one)
    for names, count in other.items():
        total[names] = total.get(names, 0) + sign * count
    return {names: count for names, count in total.items() if count}


def _multiplied(one: Mapping[tuple[str, ...], int], other: Mapping[tuple[str, ...], int]) -> dict[tuple[str, ...], int]:
    total: dict[tuple[str, ...], int] = {}
    for names, count in one.items():
        for others, times in other.items():
            key = tuple(sorted([*names, *others]))
            total[key] = total.get(key, 0) + count * times
    return {names: count for names, count in total.items() if count}
