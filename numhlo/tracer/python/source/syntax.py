"""Pieces of syntax trees that rewritten code is built of."""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence

from numhlo.tracer.python.source.marked_calls import GENERATED, runtime_call


def load(name: str) -> ast.expr:
    """Return what reads a variable."""
    return ast.Name(name, ast.Load())


def thunk(expression: ast.expr) -> ast.Lambda:
    """Return a function of nothing that gives an expression's value."""
    return ast.Lambda(parameters([]), expression)


def parameters(names: Sequence[str]) -> ast.arguments:
    """Return a function's parameters."""
    return ast.arguments(posonlyargs=[], args=[ast.arg(n) for n in names], kwonlyargs=[], kw_defaults=[], defaults=[])


def tuple_of(items: Sequence[ast.expr]) -> ast.Tuple:
    """Return a tuple of expressions."""
    return ast.Tuple(list(items), ast.Load())


def strings(names: Sequence[str]) -> ast.Tuple:
    """Return a tuple of names as text."""
    return tuple_of([ast.Constant(n) for n in names])


def read(name: str) -> ast.expr:
    """Return what reads a variable, or an attribute as ``self.total``."""
    owner, _, attribute = name.rpartition(".")
    return ast.Attribute(read(owner), attribute, ast.Load()) if owner else load(name)


def held(order: Sequence[str]) -> ast.Tuple:
    """Return the variables' values as they are where this is evaluated."""
    return tuple_of([runtime_call("value", thunk(read(n)), ast.Constant(n)) for n in order])


def local_name(name: str) -> str:
    """Return what holds a variable's value inside: itself, or what stands for an attribute."""
    return name.replace(".", "_of_") + GENERATED if "." in name else name


def puts(order: Sequence[str]) -> list[ast.stmt]:
    """Return statements that give attributes the values that local variables hold."""
    parts = [(n, *n.rpartition(".")[::2]) for n in order if "." in n]
    return [ast.Expr(runtime_call("put", read(o), ast.Constant(a), load(local_name(n)))) for n, o, a in parts]


def function_of(
    name: str, given: Sequence[str], body: list[ast.stmt], result: ast.expr, like: ast.stmt
) -> ast.FunctionDef:
    """Return the definition of a function of variables' values, by the line of a statement."""
    statements = [*puts(given), *body, ast.Return(result)]
    made = ast.FunctionDef(name=name, args=parameters([*map(local_name, given)]), body=statements, decorator_list=[])
    for node in (made, *made.body):
        if not hasattr(node, "lineno"):
            ast.copy_location(node, like)
    return made


def comparison(operator: ast.cmpop) -> ast.Lambda:
    """Return a comparison as a function."""
    return ast.Lambda(parameters(["a", "b"]), ast.Compare(load("a"), [operator], [load("b")]))


def assigns(expression: ast.expr) -> bool:
    """Return whether an expression binds variables."""
    return any(isinstance(n, ast.NamedExpr) for n in ast.walk(expression))


def copied(statements: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Return copies of statements."""
    return [copy.deepcopy(s) for s in statements]
