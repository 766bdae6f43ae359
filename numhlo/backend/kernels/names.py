"""Which variables of a kernel's text change: the others have one value wherever they can be read.

A name that is assigned again in the block that holds its value is a new variable from there on, as in static single
assignment. A variable changes where assignments meet: it is assigned in a block inside the one that holds its value, or
read where no assignment has certainly been before. Knows Python's syntax trees, and neither types nor primitives.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field


@dataclass(slots=True)
class Changing:
    """Names of variables that change.

    Attributes
    ----------
    inside : set of str
        They are assigned in blocks inside the one that holds their value.
    anywhere : set of str
        They are read where no assignment has certainly been before: one variable holds all their values.
    """

    inside: set[str] = field(default_factory=set)
    anywhere: set[str] = field(default_factory=set)


def changing_names(function: ast.FunctionDef) -> Changing:
    r"""Return which of a function's variables change.

    Examples
    --------
    >>> text = "def f(n):\n    s = 0\n    for i in range(n):\n        b = i * i\n        s = s + b\n    return s"
    >>> changing_names(ast.parse(text).body[0])
    Changing(inside={'s'}, anywhere=set())
    """
    analysis = _Scopes({argument.arg for argument in function.args.args}, _assigned(function))
    analysis.block(function.body)
    return analysis.changing


def _assigned(function: ast.FunctionDef) -> set[str]:
    return {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


class _Scopes:
    """Goes through a function once, with the names that are visible in each open block."""

    def __init__(self, parameters: set[str], assigned: set[str]) -> None:
        self.assigned = assigned
        self.open: list[set[str]] = [parameters]
        self.changing = Changing()

    def visible(self, name: str) -> bool:
        """Return whether a value of the name is known in the innermost block."""
        return any(name in scope for scope in self.open)

    def read(self, node: ast.AST) -> None:
        """See the names that an expression reads."""
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and inner.id in self.assigned and not self.visible(inner.id):
                self.changing.anywhere.add(inner.id)

    def assign(self, name: str) -> None:
        """See an assignment in the innermost block."""
        if name in self.open[-1]:
            return
        if self.visible(name):
            self.changing.inside.add(name)
            return
        self.open[-1].add(name)

    def block(self, statements: list[ast.stmt], *first: str) -> None:
        """Go through a block, at whose start some names are assigned."""
        self.open.append(set())
        for name in first:
            self.assign(name)
        for statement in statements:
            self.statement(statement)
        self.open.pop()

    def statement(self, node: ast.stmt) -> None:
        """Go through a statement and the blocks inside it."""
        match node:
            case ast.Assign(targets=targets, value=value):
                self.read(value)
                for target in targets:
                    for name in ast.walk(target):
                        if isinstance(name, ast.Name):
                            self.assign(name.id)
            case ast.AugAssign(target=ast.Name(id=name), value=value):
                self.read(ast.Name(name, ast.Load()))
                self.read(value)
                self.assign(name)
            case ast.For(target=ast.Name(id=name), iter=bounds, body=body):
                self.read(bounds)
                self.block(body, name)
            case ast.While(test=test, body=body):
                self.read(test)
                self.block(body)
            case ast.If(test=test, body=body, orelse=orelse):
                self.read(test)
                self.block(body)
                self.block(orelse)
            case _:
                self.read(node)
