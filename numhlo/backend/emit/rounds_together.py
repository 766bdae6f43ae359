"""Rounds of an innermost loop that read and write one array, eight at a time where none reads what another writes.

``a[i, j] = min(a[i, j], a[i, k] + a[k, j])`` for each ``j``: nobody knows whether row ``k`` is the row that is written,
so LLVM goes one element at a time. Here the loop's statements are read again, and written with a test of how far apart
the places are. All loads of eight rounds then come before all their stores, and LLVM makes SIMD code of them. An
element that every round reads is read once up to the round that writes it, and once more behind that. What a branch
writes over an element that was read is written in any case. Knows kernel text; `control_flow` says which loops count.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from numhlo.backend.emit.kernel_text import Block, KernelText

TOGETHER = 8
"""Rounds that run at a time: what the largest SIMD registers hold of float64."""

MOST_STATEMENTS = 24
"""Statements of a round that is written out so often."""

NAME = re.compile(r"\b[A-Za-z_]\w*\b(?!\()")
DEFINITION = re.compile(r"(\w+) = (.+)")
LOAD = re.compile(r"load_(\w+)\((\w+), ([^()]+)\)")
STORE = re.compile(r"store_(\w+)\((\w+), ([^()]+), (.+)\)")
STEP = re.compile(r"(add|subtract)\((\w+), to_i64\((\d+)\)\)")
PRODUCT = re.compile(r"\w+( \* \w+)*")
WORD = re.compile(r"(\w+)\(")
SIMD = frozenset({"add", "subtract", "multiply", "negate", "absolute", "select", "minimum", "maximum"})
"""Words that LLVM makes SIMD instructions of."""

FLOAT_SIMD = SIMD | {"divide", "square_root"}
"""Those of floats."""


@dataclass(frozen=True)
class Place:
    """A place in memory: terms that no round changes, a number, and whether the counter is added."""

    terms: tuple[str, ...]
    number: int
    counts: bool

    def text(self) -> str:
        """Return the text of the place in round 0."""
        return " + ".join([*self.terms, *([str(self.number)] if self.number or not self.terms else [])])


Pairs = Sequence[tuple[Place, Place]]
"""Where is written, and where is read."""


@dataclass
class _Round:
    """What one round does."""

    counter: str
    definitions: dict[str, str] = field(default_factory=dict)
    stores: list[str] = field(default_factory=list)
    loaded: list[tuple[str, Place | None]] = field(default_factory=list)
    stored: list[tuple[str, Place | None]] = field(default_factory=list)

    def read(self, items: Sequence[str | Block]) -> bool:
        """Take a round's statements; return whether they are definitions, with stores behind all loads."""
        for item in items:
            if not isinstance(item, str):
                return False
            store, definition = STORE.fullmatch(item), DEFINITION.fullmatch(item)
            if store is not None:
                self.stores.append(item)
                self.stored.append((store[2], self.place(store[3])))
            elif definition is None or definition[1] in self.definitions or definition[1] == self.counter:
                return False
            else:
                load = LOAD.fullmatch(definition[2])
                if load is not None and self.stores:
                    return False
                if load is not None:
                    self.loaded.append((load[2], self.place(load[3])))
                self.definitions[definition[1]] = definition[2]
        return bool(self.stores)

    def place(self, text: str) -> Place | None:
        """Return what a place is made of; None where that is no sum, or grows faster than the counter."""
        terms: list[str] = []
        number = counts = 0
        waiting = text.split(" + ")
        while waiting:
            term = waiting.pop()
            definition = self.definitions.get(term)
            step = None if definition is None else STEP.fullmatch(definition)
            if term == self.counter:
                counts += 1
            elif re.fullmatch(r"-?\d+", term):
                number += int(term)
            elif step is not None:
                waiting.append(step[2])
                number += int(step[3]) * (1 if step[1] == "add" else -1)
            elif definition is not None and "(" not in definition:
                waiting.extend(definition.split(" + "))
            elif self.moves(term) or not PRODUCT.fullmatch(term):
                return None
            else:
                terms.append(term)
        return Place(tuple(sorted(terms)), number, counts == 1) if counts < 2 else None

    def moves(self, text: str) -> bool:
        """Return whether an expression can differ from round to round."""
        return any(name == self.counter or name in self.definitions for name in NAME.findall(text))

    def is_simd(self) -> bool:
        """Return whether LLVM makes SIMD code of rounds that are written one behind the other."""
        words = {word.removeprefix("quick_") for text in self.definitions.values() for word in WORD.findall(text)}
        words |= {text.partition("(")[0] for text in self.stores}
        kinds = {word.rpartition("_")[2][0] for word in words if word.startswith(("load_", "store_"))}
        known = FLOAT_SIMD if kinds == {"f"} else SIMD
        return kinds <= set("fiu") and all(
            word in known or word.startswith(("load_", "store_", "to_f", "to_i64")) for word in words
        )

    def hazards(self) -> tuple[Pairs, Pairs] | None:
        """Return which stores and loads may meet: those that keep their distance, and those of one element.

        None where rounds wait for each other whatever the distances, or nobody knows.
        """
        apart: list[tuple[Place, Place]] = []
        single: list[tuple[Place, Place]] = []
        for pointer, store in self.stored:
            if store is None or not store.counts:
                return None
            for other, load in self.loaded:
                if other != pointer:
                    continue
                if load is None:
                    return None
                if not load.counts:
                    single.append((store, load))
                elif load.terms != store.terms:
                    apart.append((store, load))
                elif 0 < store.number - load.number < TOGETHER:
                    return None
        return list(dict.fromkeys(apart)), list(dict.fromkeys(single))

    def fixed(self) -> list[str]:
        """Return the variables that are the same in all rounds up to one that writes what they are computed of."""
        found: list[str] = []
        for name, text in self.definitions.items():
            names = [n for n in NAME.findall(text) if n == self.counter or n in self.definitions]
            if all(n in found for n in names):
                found.append(name)
        return found

    def copy(self, fixed: Sequence[str], ahead: int) -> tuple[list[str], list[str]]:
        """Return the definitions and the stores of the round so many rounds ahead."""
        here = f"({self.counter} + {ahead})" if ahead else self.counter

        def renamed(match: re.Match[str]) -> str:
            name = match[0]
            if name == self.counter:
                return here
            return f"{name}_{ahead}" if name in self.definitions and name not in fixed else name

        moving = [(n, quick_to_simd(t)) for n, t in self.definitions.items() if n not in fixed]
        lines = [f"{n}_{ahead} = {NAME.sub(renamed, text)}" for n, text in moving]
        return lines, [NAME.sub(renamed, text) for text in self.stores]


def quick_to_simd(text: str) -> str:
    """Return an expression without words for what waits for its turn."""
    return text.replace("quick_", "")


def together(text: KernelText, items: Sequence[str | Block], counter: str, end: str) -> list[str | Block] | None:
    """Return the statements of a loop whose rounds may run eight at a time; None where they never may, or may anyway.

    Parameters
    ----------
    text : KernelText
    items : sequence of str or Block
        One round's statements behind the test whether there is one; the last one is the counter's step.
    counter : str
        An int64 variable that grows by one.
    end : str
        What it stays below.
    """
    body = _without_step(list(_without_branches(items)), counter)
    found = _Round(counter)
    if body is None or len(body) > MOST_STATEMENTS or not found.read(body) or not found.is_simd():
        return None
    hazards = found.hazards()
    if hazards is None or not any(hazards):
        return None
    return _pieces(text, found, *hazards, end)


def _pieces(text: KernelText, found: _Round, apart: Pairs, single: Pairs, end: str) -> list[str | Block]:
    """Return the loop: from one round that writes what all read to the next, and there eight rounds at a time."""
    counter, cut, fixed = found.counter, text.fresh("cut"), found.fixed()
    lines: list[str | Block] = []
    pieces = Block(f"while {counter} < {end}:")
    pieces.items.append(f"{cut} = {end}")
    for store, load in single:
        split = text.fresh("split")
        lines.append(f"{split} = ({load.text()}) - ({store.text()})")
        pieces.items.append(_block(f"if ({counter} <= {split}) & ({split} < {cut}):", [f"{cut} = {split} + 1"]))
    pieces.items += [f"{name} = {found.definitions[name]}" for name in fixed]
    tests: list[str] = []
    for store, load in apart:
        distance = text.fresh("apart")
        lines.append(f"{distance} = ({store.text()}) - ({load.text()})")
        tests.append(f"(({distance} <= 0) | ({distance} >= {TOGETHER}))")
    eight = _eight(found, fixed, cut)
    pieces.items.append(_block(f"if {' & '.join(tests)}:", [eight]) if tests else eight)
    rest = [f"{name} = {value}" for name, value in found.definitions.items() if name not in fixed]
    pieces.items.append(_block(f"while {counter} < {cut}:", [*rest, *found.stores, f"{counter} += 1"]))
    return [*lines, pieces]


def _eight(found: _Round, fixed: Sequence[str], cut: str) -> Block:
    """Return the loop of eight rounds at a time, all loads before all stores."""
    copies = [found.copy(fixed, ahead) for ahead in range(TOGETHER)]
    defined = [line for lines, _ in copies for line in lines]
    stored = [line for _, lines in copies for line in lines]
    header = f"while {found.counter} <= {cut} - {TOGETHER}:"
    return _block(header, [*defined, *stored, f"{found.counter} += {TOGETHER}"])


def _without_branches(items: Sequence[str | Block]) -> Iterator[str | Block]:
    """Yield statements: ``if c: store(p, i, x)`` as ``store(p, i, select(c, x, old))`` where old was loaded."""
    definitions: dict[str, str] = {}
    stored: set[str] = set()
    for item in items:
        if isinstance(item, Block) and item.header == "else:" and not item.items:
            continue
        lines = [item] if isinstance(item, str) else _stored_always(item, definitions, stored)
        if lines is None:
            yield item
            continue
        for line in lines:
            store, definition = STORE.fullmatch(line), DEFINITION.fullmatch(line)
            if store is not None:
                stored.add(store[2])
            elif definition is not None:
                definitions[definition[1]] = definition[2]
            yield line


def _stored_always(branch: Block, definitions: dict[str, str], stored: Collection[str]) -> list[str] | None:
    """Return a branch that only writes an element, as statements that write it in any case; None if it is no such."""
    lines = [item for item in branch.items if isinstance(item, str)]
    made = [DEFINITION.fullmatch(line) for line in lines[:-1]]
    store = STORE.fullmatch(lines[-1]) if lines else None
    header = re.fullmatch(r"if (\w+):", branch.header)
    if header is None or store is None or len(lines) < len(branch.items) or store[2] in stored:
        return None
    if any(d is None or "load_" in d[2] for d in made):
        return None
    known = {**definitions, **{d[1]: d[2] for d in made if d is not None}}
    for name, text in definitions.items():
        load = LOAD.fullmatch(text)
        if load is None or (load[1], load[2]) != (store[1], store[2]):
            continue
        if known.get(load[3], load[3]) == known.get(store[3], store[3]):
            return [*lines[:-1], f"store_{store[1]}({store[2]}, {store[3]}, select({header[1]}, {store[4]}, {name}))"]
    return None


def _without_step(items: Sequence[str | Block], counter: str) -> Sequence[str | Block] | None:
    """Return a round's statements without the counter's step, None where that is not one."""
    *body, last = items
    if not isinstance(last, str) or not last.startswith(f"{counter} = "):
        return None
    stepped = last.removeprefix(f"{counter} = ")
    step = f"{stepped} = add({counter}, to_i64(1))"
    if step not in body:
        return None
    used = any(stepped in NAME.findall(item) for item in body if isinstance(item, str) and item != step)
    return body if used else [item for item in body if item != step]


def _block(header: str, items: Sequence[str | Block]) -> Block:
    block = Block(header)
    block.items.extend(items)
    return block
