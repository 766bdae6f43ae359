"""Which variables of a kernel's text change: the others have one value wherever they can be read.

A name that is assigned again in the block that holds its value is a new variable from there on, as in static single
assignment. A variable changes where assignments meet: it is assigned in a block inside the one that holds its value, or
read where no assignment has certainly been before. Knows Python's syntax trees, and neither types nor primitives.
"""

from __future__ import annotations

import ast
from dataclasses import field

from numhlo.lowering.ir.records import record


@record(slots=True)
class Changing:
    """Which variables change.

    Attributes
    ----------
    inside : set of (syntax tree, str)
        Statements and the names to which they give values that are replaced in blocks inside the statement's block.
    anywhere : set of str
        Names that are read where no assignment has certainly been before: one variable holds all their values.
    """

    inside: set[tuple[ast.AST, str]] = field(default_factory=set)
    anywhere: set[str] = field(default_factory=set)


def changing_names(function: ast.FunctionDef) -> Changing:
    r"""Return which of a function's variables change.

    Examples
    --------
    >>> text = "def f(n):\n    s = 0\n    for i in range(n):\n        b = i * i\n        s = s + b\n    return s"
    >>> [(ast.unparse(node), name) for node, name in changing_names(ast.parse(text).body[0]).inside]
    [('s = 0', 's')]
    """
    parameters: dict[str, ast.AST] = {argument.arg: function for argument in function.args.args}
    assigned: set[str] = set()
    _see_assigned(function.body, assigned)
    analysis = _Scopes(parameters, assigned)
    for statement in function.body:
        analysis.statement(statement)
    return analysis.changing


def _see_assigned(statements: list[ast.stmt], found: set[str]) -> None:
    """Add the names that statements give values."""
    for node in statements:
        match node:
            case ast.Assign(targets=targets):
                for target in targets:
                    _see_names(target, found)
            case ast.AugAssign(target=target):
                _see_names(target, found)
            case ast.For(target=target, body=body):
                _see_names(target, found)
                _see_assigned(body, found)
            case ast.While(body=body):
                _see_assigned(body, found)
            case ast.If(body=body, orelse=orelse):
                _see_assigned(body, found)
                _see_assigned(orelse, found)


def _see_names(node: ast.AST, found: set[str]) -> None:
    """Add the names in an expression: `ast.walk` would take five times as long."""
    if isinstance(node, ast.Name):
        found.add(node.id)
    elif isinstance(node, ast.Call):
        for argument in node.args:
            _see_names(argument, found)
        _see_names(node.func, found)
    elif isinstance(node, ast.BinOp):
        _see_names(node.left, found)
        _see_names(node.right, found)
    elif not isinstance(node, ast.Constant):
        for inner in ast.iter_child_nodes(node):
            _see_names(inner, found)


class _Scopes:
    """Goes through a function once, with the names that are visible in each open block and what gave them values."""

    def __init__(self, parameters: dict[str, ast.AST], assigned: set[str]) -> None:
        self.assigned = assigned
        self.open: list[dict[str, ast.AST]] = [parameters]
        self.changing = Changing()

    def visible(self, name: str) -> bool:
        """Return whether a value of the name is known in the innermost block."""
        return any(name in scope for scope in self.open)

    def read(self, node: ast.AST) -> None:
        """See the names that an expression reads."""
        found: set[str] = set()
        _see_names(node, found)
        for name in found & self.assigned:
            if not self.visible(name):
                self.changing.anywhere.add(name)

    def assign(self, name: str, node: ast.AST) -> None:
        """See an assignment in the innermost block."""
        for scope in reversed(self.open[:-1]):
            if name in scope and name not in self.open[-1]:
                self.changing.inside.add((scope[name], name))
                return
        self.open[-1][name] = node

    def block(self, statements: list[ast.stmt], counter: str = "", loop: ast.AST | None = None) -> None:
        """Go through a block, perhaps that of a loop with a counter."""
        self.open.append({})
        if loop is not None:
            self.assign(counter, loop)
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
                            self.assign(name.id, node)
            case ast.AugAssign(target=ast.Name(id=name), value=value):
                self.read(ast.Name(name, ast.Load()))
                self.read(value)
                self.assign(name, node)
            case ast.For(target=ast.Name(id=name), iter=bounds, body=body):
                self.read(bounds)
                self.block(body, name, node)
            case ast.While(test=test, body=body):
                self.read(test)
                self.block(body)
            case ast.If(test=test, body=body, orelse=orelse):
                self.read(test)
                self.block(body)
                self.block(orelse)
            case _:
                self.read(node)
