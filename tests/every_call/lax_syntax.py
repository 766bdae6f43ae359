"""Lax programs as trees of statements: what the generator makes, the reducer shrinks, and Python text is printed of.

A statement gives targets types; how it is written stands in a template, or for those with bodies in `lax_text`. The
printed text is the only way to run a program, so what is printed is what failed.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias


class Type(NamedTuple):
    """What a value is.

    Attributes
    ----------
    dtype : str
    shape : tuple of int
    exact : bool
        Whether all engines have to agree on its bits: no sum was reordered, no function approximated.
    """

    dtype: str
    shape: tuple[int, ...]
    exact: bool = True

    @property
    def size(self) -> int:
        """Return the number of elements."""
        count = 1
        for n in self.shape:
            count *= n
        return count

    def fits(self, other: Type) -> bool:
        """Return whether a value of this type may stand where one of the other type does."""
        return self.dtype == other.dtype and self.shape == other.shape and self.exact >= other.exact


@dataclass(eq=False)
class Var:
    """A name, bound once."""

    name: str
    type: Type

    def __str__(self) -> str:
        return self.name


@dataclass(eq=False)
class Literal:
    """A constant, written where it is used."""

    text: str
    type: Type

    def __str__(self) -> str:
        return self.text


Operand: TypeAlias = Var | Literal


@dataclass(eq=False)
class Body:
    """A function inside the program: a loop's, a branch's, or one that is transformed."""

    name: str
    parameters: list[Var]
    statements: list[Statement] = field(default_factory=list)
    results: list[Operand] = field(default_factory=list)


@dataclass(eq=False)
class Statement:
    """``targets = template`` with operands filled in, or a call of one of lax's functions of functions.

    Attributes
    ----------
    kind : str
        ``"value"``, or which function takes the bodies.
    options : dict
        What else the kind needs: numbers and texts.
    """

    kind: str
    targets: list[Var]
    operands: list[Operand]
    template: str = ""
    bodies: list[Body] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(eq=False)
class Program:
    """A whole program.

    Attributes
    ----------
    body : Body
        Its parameters are the arguments.
    seed : int
        Makes its inputs, too.
    donated : tuple of str
        Names of arguments whose memory is given away.
    """

    body: Body
    seed: int
    donated: tuple[str, ...] = ()

    def copy(self) -> Program:
        """Return a copy that shares nothing."""
        return copy.deepcopy(self)

    @property
    def donated_numbers(self) -> tuple[int, ...]:
        """Return the numbers of the arguments whose memory is given away."""
        return tuple(k for k, p in enumerate(self.body.parameters) if p.name in self.donated)

    @property
    def size(self) -> int:
        """Return how many statements there are, those of bodies included."""
        return sum(1 for _ in statements_in(self.body))


def statements_in(body: Body) -> Iterator[Statement]:
    """Yield all statements of a body and of the bodies inside, in order."""
    for statement in body.statements:
        yield statement
        for inner in statement.bodies:
            yield from statements_in(inner)


def bodies_in(body: Body) -> Iterator[Body]:
    """Yield a body and all that are inside."""
    yield body
    for statement in body.statements:
        for inner in statement.bodies:
            yield from bodies_in(inner)


def used_in(body: Body) -> set[Var]:
    """Return the names that a body's statements and results use."""
    found = {x for x in body.results if isinstance(x, Var)}
    for statement in body.statements:
        found |= {x for x in statement.operands if isinstance(x, Var)}
        for inner in statement.bodies:
            found |= used_in(inner)
    return found


CARRYING = {"fori": (1, 1), "while": (1, 1), "scan": (0, 0)}
"""Loops, and at which operand and which parameter of the body their state begins."""


def carried(statement: Statement) -> int:
    """Return how many parts the state of a loop has."""
    return int(statement.options["carries"])
