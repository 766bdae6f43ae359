"""Which variables a function shares with those inside and around it: these must stay the variables that others see.

A branch or a body becomes a function, and what it binds its own variables. Functions that are made outside it would not
see these. Those that it makes itself do; they may only be used in it, since what they see afterwards would differ.
What a function does not bind itself belongs to those around it, though it may write into it.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence

from numhlo.tracer.python.source.names import CHANGING_METHODS, FUNCTIONS, names_of_outer, own_variables

_NUMBER = "numhlo_number"
"""Attribute of nodes that copies of them keep."""

_numbers = itertools.count()

_ANYWHERE = None
"""In the place of a function's name: it may be kept in a container."""


class InnerFunctions:
    """The functions inside another one, and what they use.

    Parameters
    ----------
    function : ast.FunctionDef
        Its nodes are numbered.
    """

    def __init__(self, function: ast.FunctionDef) -> None:
        statements = function.body
        self._own = own_variables(function)
        self._users: dict[str, set[int]] = {}
        self._reads: dict[str, set[int]] = {}
        for node in _nodes(statements):
            number = next(_numbers)
            setattr(node, _NUMBER, number)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                self._reads.setdefault(node.id, set()).add(number)
            if isinstance(node, FUNCTIONS):
                for name in names_of_outer(node):
                    self._users.setdefault(name, set()).add(number)
        self._called = _called_by(statements)

    def shared(self, bound: set[str], written: set[str], block: Sequence[ast.stmt]) -> list[str]:
        """Return which variables that a block binds, or whose values it only writes into, other functions see.

        These are made outside the block, or may be used outside it.
        """
        outer = {n for n in written - self._own if "." not in n}
        if self._users.keys().isdisjoint(bound | written):
            return sorted(outer)
        inside = {getattr(node, _NUMBER, -1) for node in _nodes(block)}
        used = {n for n in bound | written if not all(self._stays(f, inside) for f in self._users.get(n, ()))}
        return sorted(outer | used)

    def _stays(self, function: int, inside: set[int]) -> bool:
        name = self._called.get(function, _ANYWHERE)
        return function in inside and name is not _ANYWHERE and self._reads.get(name, set()) <= inside


def _nodes(statements: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    return (node for statement in statements for node in ast.walk(statement))


def _called_by(statements: Sequence[ast.stmt]) -> dict[int, str]:
    """Return by what name each function is used; no name where it is only handed to a call."""
    found = {}
    for node in _nodes(statements):
        if isinstance(node, ast.FunctionDef):
            found[getattr(node, _NUMBER)] = node.name
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda) and len(node.targets) == 1:
            if isinstance(node.targets[0], ast.Name):
                found[getattr(node.value, _NUMBER)] = node.targets[0].id
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") not in CHANGING_METHODS:
            handed = [*node.args, *[k.value for k in node.keywords]]
            found.update({getattr(x, _NUMBER): "" for x in handed if isinstance(x, ast.Lambda)})
    return found
