"""Neighbours in memory that are computed alike, by one loop: LLVM makes SIMD code of it, and has less to read.

What is computed of the state of a loop with many like variables was written out for each. Here the statements are read
again: where those of neighbours differ only in their places, and in constants, one statement with a counter takes the
place of all. Knows kernel text; `loop_state` says what is stored where.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby

from numhlo.backend.emit.kernel_text import Block, KernelText, without_brackets

LEAST = 8
"""Neighbours that are worth a loop."""

MOST_PARTS = 32
"""Statements that are put together for one of them."""

MOST_USES = 2
"""Variables that are used more often are computed once, before the loop."""

LITERAL = r"to_f(?:32|64)\(-?\d[\w.+-]*\)|f(?:32|64)_from_bits\(-?\d+\)"
LEAF = re.compile(rf"{LITERAL}|\b[A-Za-z_]\w*\b(?!\()")
NAME = re.compile(r"\b[A-Za-z_]\w*\b(?!\()")
DEFINITION = re.compile(r"(\w+) = (.+)")
ASSIGNMENT = re.compile(r"(\w+) [-+]?= ")


@dataclass(frozen=True)
class Formula:
    """How one variable is computed.

    Attributes
    ----------
    pieces : tuple of str
        The text between what differs.
    steps : tuple of (int or str)
        What is between the pieces: how many places further on a variable of the state is, or a name.
    constants : tuple of str
        What is never assigned in the round, in order; these have an empty name among the steps.
    """

    pieces: tuple[str, ...]
    steps: tuple[int | str, ...]
    constants: tuple[str, ...]

    @property
    def kind(self) -> tuple[object, ...]:
        """Return what neighbours must have in common."""
        return self.pieces, self.steps


class Round:
    """The statements of one round of a loop, before its results are assigned.

    Parameters
    ----------
    block : Block
    names : sequence of str
        Variables of the state, in the order in which they lie in memory.
    """

    def __init__(self, block: Block, names: Sequence[str]) -> None:
        self.places = {name: place for place, name in enumerate(names)}
        self.definitions = defined_in(block)
        texts = list(_texts(block.items))
        self.uses = Counter(name for text in texts for name in NAME.findall(text))
        self.uses.subtract(self.definitions.keys())  # a definition is no use
        self.assigned = Counter(m[1] for m in map(ASSIGNMENT.match, texts) if m is not None)

    def is_part(self, name: str) -> bool:
        """Return whether a variable is only needed for few others, and may as well be computed later."""
        text = self.definitions.get(name)
        if text is None or self.assigned[name] != 1 or self.uses[name] > MOST_USES:
            return False
        return "load_" not in text

    def is_settled(self, name: str) -> bool:
        """Return whether a variable has one value from where it is first used to the end of the round."""
        return self.assigned[name] == (name in self.definitions)

    def formula(self, value: str, place: int) -> Formula | None:
        """Return how a value is computed that is to be stored at a place; None where that is too long, or unclear."""
        reading = _Reading(self, place)
        return reading.formula() if reading.add(value) else None


class _Reading:
    """A formula while its statements are put together."""

    def __init__(self, statements: Round, place: int) -> None:
        self.round, self.place = statements, place
        self.pieces, self.parts = [""], 0
        self.steps: list[int | str] = []
        self.constants: list[str] = []

    def formula(self) -> Formula:
        return Formula(tuple(self.pieces), tuple(self.steps), tuple(self.constants))

    def add(self, text: str) -> bool:
        """Add an expression; return whether that was possible."""
        end = 0
        for match in LEAF.finditer(text):
            self.pieces[-1] += text[end : match.start()]
            end = match.end()
            if not self._add_leaf(match[0]):
                return False
        self.pieces[-1] += text[end:]
        return True

    def _add_leaf(self, leaf: str) -> bool:
        statements = self.round
        if leaf not in statements.places and statements.is_part(leaf):
            self.parts += 1
            self.pieces[-1] += "("
            fits = self.parts <= MOST_PARTS and self.add(statements.definitions[leaf])
            self.pieces[-1] += ")"
            return fits
        if leaf in statements.places:
            self.steps.append(statements.places[leaf] - self.place)
        elif statements.assigned[leaf]:
            self.steps.append(leaf)
        else:
            self.steps.append("")
            self.constants.append(leaf)
        self.pieces.append("")
        return leaf in statements.places or statements.is_settled(leaf)


def _texts(items: Iterable[str | Block]) -> Iterator[str]:
    for item in items:
        if isinstance(item, str):
            yield item
        else:
            yield item.header
            yield from _texts(item.items)


@dataclass(frozen=True)
class Places:
    """Where variables of one type lie: an array that is read from one place on and written from another on."""

    pointer: str
    storage: str
    itemsize: int
    here: str
    there: str

    def load(self, place: str) -> str:
        """Return the text of a load of what the round began with."""
        return f"load_{self.storage}({self.pointer}, {self.here} + {place})"

    def store(self, place: int | str, value: str) -> str:
        """Return the text of a store of what the next round begins with."""
        return f"store_{self.storage}({self.pointer}, {self.there} + {place}, {value})"


def store_rolled(text: KernelText, names: Sequence[str], changed: Mapping[str, str], where: Places) -> None:
    """Write the stores of variables, those of neighbours that are computed alike as loops.

    They go from one end of the array to the other, as loads of the next round do: a load of a vector waits until all
    stores to it have reached the cache, so none should be among the last ones.

    Parameters
    ----------
    text : KernelText
        The innermost block is a round of a loop, whose results are to be stored.
    names : sequence of str
        Variables in the order in which they lie in memory.
    changed : mapping from str to str
        The new values of those that change.
    where : Places
    """
    statements = Round(text.open[-1], names)
    formulas = [statements.formula(changed.get(name, name), place) for place, name in enumerate(names)]
    kinds = [place if formula is None else formula.kind for place, formula in enumerate(formulas)]
    for _, group in groupby(range(len(names)), kinds.__getitem__):
        run = list(group)
        alike = [formula for formula in (formulas[k] for k in run) if formula is not None]
        if len(alike) < LEAST or not _write_loop(text, run[0], alike, where):
            for place in run:
                text.line(where.store(place, changed.get(names[place], names[place])))


def defined_in(block: Block) -> dict[str, str]:
    """Return the variables that a block's own statements define, with their definitions; the last one of each."""
    lines = [DEFINITION.fullmatch(item) for item in block.items if isinstance(item, str)]
    return {m[1]: m[2] for m in lines if m is not None}


def drop_unused(block: Block, names: Collection[str]) -> None:
    """Remove the definitions of variables that no statement needs any more, and of those that only these needed."""
    uses = Counter(name for text in _texts(block.items) for name in NAME.findall(text))
    kept: list[str | Block] = []
    for item in reversed(block.items):
        found = DEFINITION.fullmatch(item) if isinstance(item, str) else None
        if found is not None and found[1] in names and uses[found[1]] == 1:
            uses.subtract(NAME.findall(found[0]))
        else:
            kept.append(item)
    block.items[:] = reversed(kept)


def _write_loop(text: KernelText, first: int, alike: Sequence[Formula], where: Places) -> bool:
    """Write the loop over neighbours from a place on; return False where constants differ that are none everywhere."""
    columns = list(zip(*[formula.constants for formula in alike], strict=True))
    known = set(text.top.known.values())
    if any(len(set(column)) > 1 and not all(map(partial(_is_constant, known), column)) for column in columns):
        return False
    counter = text.fresh("place")
    constants = [
        column[0]
        if len(set(column)) == 1
        else f"load_{where.storage}({_table(text, column, where)}, {counter} - {first})"
        for column in columns
    ]
    with text.block(f"for {counter} in range({first}, {first + len(alike)}):"):
        value, remaining = alike[0].pieces[0], iter(constants)
        for step, piece in zip(alike[0].steps, alike[0].pieces[1:], strict=True):
            name = (step or next(remaining)) if isinstance(step, str) else where.load(f"{counter} + {step}")
            value += (text.let(name, "x") if name.startswith("load_") else name) + piece
        text.line(where.store(counter, without_brackets(value)))
    return True


def _is_constant(known: set[str], name: str) -> bool:
    return name in known or re.fullmatch(LITERAL, name) is not None


def _table(text: KernelText, column: Sequence[str], where: Places) -> str:
    """Return the name of an array that holds constants, filled at the start of the kernel."""
    table = text.stack_array("table", len(column), where.itemsize)
    for k, constant in enumerate(column):
        text.begin(f"store_{where.storage}({table}, {k}, {constant})")
    return table
