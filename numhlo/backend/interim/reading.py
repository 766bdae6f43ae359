"""Reads expressions of kernel text: names, numbers, calls of words, a few operators, in Python's order of precedence.

Whoever reads says what the parts mean; there is no tree in between. Python's own parser makes one, which takes longer
than all else that is done with it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

from numhlo.backend.interim.typed import NotPlainError, Typed

TOKEN = re.compile(r"\d+(?:\.\d*)?(?:e[-+]?\d+)?|[A-Za-z_]\w*|[-+*&|^<>=!]=|\S")
"""A number, a name, an operator or a bracket."""

COMPARING = 1
LEVELS = {
    **dict.fromkeys(["==", "!=", "<", "<=", ">", ">="], COMPARING),
    "|": 2,
    "^": 3,
    "&": 4,
    "+": 5,
    "-": 5,
    "*": 6,
}
"""How tightly operators bind; others stand in no kernel that is scalar code."""


class Meanings(Protocol):
    """What the parts of an expression mean."""

    def name(self, name: str) -> Typed:
        """Return what a name stands for."""
        ...

    def number(self, text: str) -> Typed:
        """Return a literal."""
        ...

    def unary(self, operator: str, operand: Typed) -> Typed:
        """Return ``-``, ``~`` or ``not`` of an expression."""
        ...

    def binary(self, operator: str, lhs: Typed, rhs: Typed) -> Typed:
        """Return an operator of two expressions."""
        ...

    def attribute(self, operand: Typed, name: str) -> Typed:
        """Return a part of an expression."""
        ...

    def call(self, word: str, operands: list[Typed]) -> Typed:
        """Return a call of a word."""
        ...


class Reader:
    """Reads the expressions of one line.

    Parameters
    ----------
    tokens : sequence of str
        Of the line.
    at : int
        Where the first expression begins.
    meanings : Meanings
    """

    __slots__ = ("at", "meanings", "tokens")

    def __init__(self, tokens: Sequence[str], at: int, meanings: Meanings) -> None:
        self.tokens, self.at, self.meanings = [*tokens, ""], at, meanings

    def whole(self) -> Typed:
        """Return the expression that goes up to the end of the line.

        Raises
        ------
        NotPlainError
            If there is something else.
        """
        found = self.expression()
        self.skip("")
        return found

    def skip(self, token: str) -> None:
        """Go over a token that has to be here."""
        if self.tokens[self.at] != token:
            raise NotPlainError(f"{self.tokens[self.at] or 'the end of a line'} instead of {token or 'the end'}")
        self.at += 1

    def expression(self, least: int = 0) -> Typed:
        """Return the expression that begins here, as far as operators bind at least so tightly."""
        tokens, meanings = self.tokens, self.meanings
        if tokens[self.at] == "not":
            self.at += 1
            return meanings.unary("not", self.expression(COMPARING))
        found = self._operand()
        while True:
            operator = tokens[self.at]
            level = LEVELS.get(operator)
            if level is None or level < least:
                return found
            self.at += 1
            found = meanings.binary(operator, found, self.expression(level + 1))
            if level == COMPARING and LEVELS.get(tokens[self.at]) == COMPARING:
                raise NotPlainError("a chain of comparisons")

    def arguments(self) -> list[Typed]:
        """Return the expressions up to a closing bracket, and go over it."""
        found = []
        while self.tokens[self.at] != ")":
            found.append(self.expression())
            if self.tokens[self.at] != ")":
                self.skip(",")
        self.at += 1
        return found

    def _operand(self) -> Typed:
        token = self.tokens[self.at]
        self.at += 1
        if token in ("-", "~"):
            return self.meanings.unary(token, self._operand())
        if token == "(":
            found = self.expression()
            self.skip(")")
        elif token[:1].isdigit():
            found = self.meanings.number(token)
        elif not token.isidentifier():
            raise NotPlainError(f"an expression with {token or 'nothing'}")
        elif self.tokens[self.at] == "(":
            self.at += 1
            found = self.meanings.call(token, self.arguments())
        else:
            found = self.meanings.name(token)
        while self.tokens[self.at] == ".":
            found = self.meanings.attribute(found, self.tokens[self.at + 1])
            self.at += 2
        return found
