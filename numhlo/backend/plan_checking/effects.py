"""What a kernel does with its buffers, found out by reading its text: which it loads from, which it stores to.

This file knows how kernel source looks and nothing of who writes it: a statement is a line, and variables are given
pointers by assignments. A variable may point into several buffers; then each access is one of all of them. Nearly all
lines are loads and stores of which a glance tells enough; Python's parser reads the others. Next: `chunks` asks which
elements are meant.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from typing import NamedTuple

from numhlo.backend.kernels.callees import Access, access_of, passes_on, reads_result, subroutine_access
from numhlo.lowering.ir.errors import InternalError
from numhlo.lowering.ir.records import record

POINTER = re.compile(r"^ *(\w+) = address\(bufs, (\w+)\)$", re.MULTILINE)
HEADER = re.compile(r"(?:for|while|if|elif|else)\b.*:$")
DERIVING = frozenset({"advance", "integer_address", "select"})
"""Words whose result points to where their arguments do."""

Places = Mapping[str, frozenset[int]]
"""Where the variables of a kernel may point: places of buffers in the kernel's order."""
NOWHERE: frozenset[int] = frozenset()


@record(slots=True)
class Effects:
    """What a kernel does with its buffers.

    Attributes
    ----------
    reads, writes : set of int
        Places of buffers in the kernel's order.
    given : set of int
        Places of buffers that a user's function gets, which writes its results and reads the rest: as arguments, or
        among addresses in memory.
    is_list : bool
        The kernel goes through a list of launches, which says what the buffers are.
    """

    reads: set[int] = field(default_factory=set)
    writes: set[int] = field(default_factory=set)
    given: set[int] = field(default_factory=set)
    is_list: bool = False


class Touch(NamedTuple):
    """One access: a call, which of its arguments is the pointer, whether it writes; and the place of the buffer."""

    call: ast.Call
    argument: int
    writes: bool
    place: int


@lru_cache(maxsize=8192)
def effects_of(source: str) -> Effects:
    r"""Return what a kernel does with its buffers.

    Parameters
    ----------
    source : str

    Raises
    ------
    InternalError
        If the kernel calls something that is no known primitive, or passes a pointer to what is not known to take one.

    Examples
    --------
    >>> found = effects_of(
    ...     "\ndef copy(ctx, bufs, dims, lo, hi):\n"
    ...     "    a = address(bufs, 0)\n"
    ...     "    b = address(bufs, 1)\n"
    ...     "    for k in range(lo, hi):\n"
    ...     "        store_f32(b, k, load_f32(a, k))\n"
    ... )
    >>> found.reads, found.writes
    ({0}, {1})
    """
    text = source[source.index("\ndef ") + 1 :]
    effects = Effects()
    places: dict[str, frozenset[int]] = {}
    for name, place in POINTER.findall(text):
        if not place.isdigit():
            effects.is_list = True
            return effects
        places[name] = frozenset({int(place)})
    lines = _point(text, places)
    for word, name in _simple_uses(text, places):
        access = access_of(word)
        assert access is not None
        effects.reads |= places[name] if access.reads else NOWHERE
        effects.writes |= places[name] if access.writes else NOWHERE
    for line in lines:
        for call in calls_in(_parsed(line)):
            _add(call, places, effects)
    return effects


def _simple_uses(text: str, places: Places) -> set[tuple[str, str]]:
    """Return words that a pointer is the first argument of, with the pointer, where that is all that they take."""
    found = set(_uses(places).findall(text))
    return {(word, name) for word, name in found if word and _is_simple(word)}


@lru_cache(maxsize=1024)
def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?:\b(\w+)\()?\b({'|'.join(names)})\b")


def _uses(places: Places) -> re.Pattern[str]:
    return _pattern(tuple(places) or ("no_pointer",))


def _is_simple(word: str) -> bool:
    """Return whether a word looks at memory through its first argument alone."""
    return access_of(word) in (Access((0,), ()), Access((), (0,)), Access((0,), (0,))) if _is_access(word) else False


def _is_access(word: str) -> bool:
    return word not in DERIVING and not word.startswith("call_") and access_of(word) is not None


def _point(text: str, places: dict[str, frozenset[int]]) -> list[str]:
    """Add the variables that are given pointers on the way; return the lines that a glance tells too little of."""
    lines: dict[str, None] = {}
    while True:
        before = dict(places)
        for match in _uses(places).finditer(text):
            if match[1] and _is_simple(match[1]):
                continue
            start, end = text.rfind("\n", 0, match.start()) + 1, text.find("\n", match.end())
            line = text[start:end].strip()
            if not POINTER.fullmatch(line):
                lines[line] = None
        for line in lines:
            for name, value in assigned_in(_parsed(line)):
                target = pointed_to(value, places)
                if target:
                    places[name] = places.get(name, NOWHERE) | target
        if places == before:
            return list(lines)


@lru_cache(maxsize=4096)
def _parsed(line: str) -> ast.Module:
    """Return a line as Python sees it, the first of a block with nothing in it."""
    if line.startswith(("elif ", "else:")):
        line = f"if True: pass\n{line}"
    return ast.parse(f"{line} pass" if HEADER.search(line) else line)


def _add(call: ast.Call, places: Places, effects: Effects) -> None:
    """Add what a call does."""
    if word_of(call) == "call_function" and isinstance(call.args[1], ast.Name) and call.args[1].id == "ctx":
        effects.given.update(place for argument in call.args for place in pointed_to(argument, places))
        return
    if word_of(call) == "store_i64":  # an address in memory is for a native function to find
        effects.given.update(pointed_to(call.args[2], places))
    for touch in touches_of(call, places):
        (effects.writes if touch.writes else effects.reads).add(touch.place)


def touches_of(call: ast.Call, places: Places) -> list[Touch]:
    """Return the accesses that a call is."""
    word = word_of(call)
    if passes_on(word):
        return []
    targets = [pointed_to(argument, places) for argument in call.args]
    if not any(targets):
        return []
    access = _access(call, word, [number for number, target in enumerate(targets) if target])
    return [
        Touch(call, number, writes, place)
        for arguments, writes in ((access.reads, False), (access.writes, True))
        for number in arguments
        for place in sorted(targets[number])
    ]


def _access(call: ast.Call, word: str, pointers: Sequence[int]) -> Access:
    if word == "call_fortran":
        return subroutine_access(ast.unparse(call.args[0]), pointers)
    if word == "call_function":
        return Access(tuple(pointers), tuple(pointers))
    access = access_of(word)
    if access is None:
        raise InternalError(f"{word} gets a pointer: {ast.unparse(call)}", fix="teach kernels.callees the word")
    return Access((*access.reads, *access.writes), access.writes) if reads_result(call, word) else access


def word_of(call: ast.Call) -> str:
    """Return the name of what is called."""
    return call.func.id if isinstance(call.func, ast.Name) else ast.unparse(call.func)


def calls_in(node: ast.AST) -> Iterator[ast.Call]:
    """Give all calls."""
    return (inner for inner in ast.walk(node) if isinstance(inner, ast.Call))


def pointed_to(node: ast.expr, places: Places) -> frozenset[int]:
    """Return the places of the buffers that an expression may point into."""
    match node:
        case ast.Name():
            return places.get(node.id, NOWHERE)
        case ast.Constant() | ast.Compare():
            return NOWHERE
        case ast.Call():
            if word_of(node) not in DERIVING:
                return NOWHERE
            return NOWHERE.union(*[pointed_to(argument, places) for argument in node.args])
        case _:
            parts = [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
            return NOWHERE.union(*[pointed_to(part, places) for part in parts])


def assigned_in(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Give the variables that statements assign, and what to."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.AugAssign) and isinstance(inner.target, ast.Name):
            yield inner.target.id, inner.value
        elif isinstance(inner, ast.Assign):
            for target in inner.targets:
                yield from _pairs(target, inner.value)


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple):
        values = value.elts if isinstance(value, ast.Tuple) else [value] * len(target.elts)
        yield from (
            (name.id, part) for name, part in zip(target.elts, values, strict=True) if isinstance(name, ast.Name)
        )
