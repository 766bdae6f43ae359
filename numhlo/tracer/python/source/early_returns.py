"""`return` inside loops as a flag, a result and a `break`; assignments in tests as statements before them.

    for i in range(n):                left = False
        if c: return i                for i in range(n):
    return -1                 →           if c: result = i; left = True; break
                                      if left: return result
                                      return -1

    while (y := f()) < 5:             while True:
        a(y)                  →           y = f()
                                          if not y < 5: break
                                          a(y)

Loops that return inside `try` or `with`, and tests that may skip their assignment, stay as they are.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from numhlo.tracer.python.source.exits import SUFFIX, set_flag, set_later

_LOOPS = (ast.For, ast.While)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def without_early_returns(statements: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Return statements in which no loop that can be rewritten returns, and tests assign nothing where they need not.

    Examples
    --------
    >>> found = without_early_returns(ast.parse("while (y := f()) < 5: g(y)").body)
    >>> print(ast.unparse(found[0]))
    while True:
        y = f()
        if not y < 5:
            break
        g(y)
    """
    return _Leaver().block([s for statement in statements for s in _hoisted(statement)])


def _hoisted(node: ast.stmt) -> list[ast.stmt]:
    """Return a statement with the assignments in its test, and in those of the statements in it, before it."""
    if isinstance(node, _SCOPES):
        return [node]
    for name in ("body", "orelse", "finalbody"):
        inner = getattr(node, name, None)
        if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
            setattr(node, name, [s for statement in inner for s in _hoisted(statement)])
    if not isinstance(node, ast.If | ast.While) or not any(isinstance(n, ast.NamedExpr) for n in ast.walk(node.test)):
        return [node]
    hoister = _Hoister(node.test)
    if not hoister.is_possible or (isinstance(node, ast.While) and node.orelse):
        return [node]
    test = hoister.visit(node.test)
    if isinstance(node, ast.If):
        node.test = test
        return [*hoister.before, node]
    leave = ast.If(ast.UnaryOp(ast.Not(), test), [ast.Break()], [])
    node.body = [*hoister.before, _located(leave, node), *node.body]
    node.test = ast.copy_location(ast.Constant(True), node)
    return [node]


class _Hoister(ast.NodeTransformer):
    """Takes assignments out of a test that always makes them before it reads them."""

    def __init__(self, test: ast.expr) -> None:
        self.before: list[ast.stmt] = []
        assigned = [n for n in ast.walk(test) if isinstance(n, ast.NamedExpr)]
        place = {n.target.id: (n.lineno, n.col_offset) for n in assigned}
        reads = [n for n in ast.walk(test) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
        self.is_possible = len(place) == len(assigned) and all(
            (n.lineno, n.col_offset) > place[n.id] for n in reads if n.id in place
        )
        skipping = (ast.BoolOp, ast.IfExp, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
        for node in (n for n in ast.walk(test) if isinstance(n, skipping)):
            maybe = node.values[1:] if isinstance(node, ast.BoolOp) else [node]
            self.is_possible &= not any(isinstance(n, ast.NamedExpr) for m in maybe for n in ast.walk(m))

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        value = self.visit(node.value)
        self.before.append(ast.copy_location(ast.Assign([node.target], value), node))
        return ast.copy_location(ast.Name(node.target.id, ast.Load()), node)


class _Leaver:
    def __init__(self) -> None:
        self.count = 0

    def block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Return a block outside of loops, with the loops in it rewritten."""
        return [s for statement in statements for s in self._statement(statement)]

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        if isinstance(node, _SCOPES):
            return [node]
        if not isinstance(node, _LOOPS):
            for name in ("body", "orelse", "finalbody"):
                inner = getattr(node, name, None)
                if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                    setattr(node, name, self.block(inner))
            return [node]
        if not _returns(node.body) or not _can_leave(node.body):
            return [node]
        self.count += 1
        flag, result = f"left_{self.count}{SUFFIX}", f"result_{self.count}{SUFFIX}"
        endless = isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and bool(node.test.value)
        breaks = _breaks(node.body)
        endless = endless and not breaks
        node.body, node.orelse = _leaving(node.body, flag, result), self.block(node.orelse)
        rest: list[ast.stmt] = []
        if not breaks:  # an else runs wherever nothing was returned
            rest, node.orelse = node.orelse, []
        after: ast.stmt = ast.Return(ast.Name(result, ast.Load()))
        if not endless:
            after = ast.If(ast.Name(flag, ast.Load()), [after], [])
        return [set_flag(flag, False, node), set_later(result, node), node, _located(after, node), *rest]


def _breaks(statements: Sequence[ast.stmt]) -> bool:
    """Return whether statements leave the loop around them by a break."""
    return any(
        isinstance(node, ast.Break) or (not isinstance(node, (*_SCOPES, *_LOOPS)) and any(map(_breaks, _blocks(node))))
        for node in statements
    )


def _leaving(statements: Sequence[ast.stmt], flag: str, result: str) -> list[ast.stmt]:
    """Return statements of a loop that leave it where they returned."""
    done: list[ast.stmt] = []
    for node in statements:
        if isinstance(node, ast.Return):
            value = node.value or ast.copy_location(ast.Constant(None), node)
            kept = ast.copy_location(ast.Assign([ast.Name(result, ast.Store())], value), node)
            return [*done, kept, set_flag(flag, True, node), ast.copy_location(ast.Break(), node)]
        if isinstance(node, ast.If | ast.For | ast.While) and _returns([node]):
            inner = isinstance(node, _LOOPS) and _returns(node.body)
            node.body, node.orelse = _leaving(node.body, flag, result), _leaving(node.orelse, flag, result)
            done.append(node)
            if inner:
                done.append(_located(ast.If(ast.Name(flag, ast.Load()), [ast.Break()], []), node))
            continue
        done.append(node)
    return done


def _returns(statements: Sequence[ast.stmt]) -> bool:
    return any(
        isinstance(node, ast.Return) or (not isinstance(node, _SCOPES) and any(map(_returns, _blocks(node))))
        for node in statements
    )


def _blocks(node: ast.stmt) -> list[list[ast.stmt]]:
    handlers = [h.body for h in getattr(node, "handlers", [])]
    return [*handlers, *[b for k in ("body", "orelse", "finalbody") if isinstance(b := getattr(node, k, None), list)]]


def _can_leave(statements: Sequence[ast.stmt]) -> bool:
    """Return whether all returns are in branches and loops only."""
    return all(
        isinstance(node, ast.Return)
        or not _returns([node])
        or (isinstance(node, ast.If | ast.For | ast.While) and all(map(_can_leave, (node.body, node.orelse))))
        for node in statements
    )


def _located(node: ast.stmt | ast.expr, like: ast.stmt) -> ast.stmt:
    for part in ast.walk(node):
        if isinstance(part, ast.stmt | ast.expr) and not hasattr(part, "lineno"):
            ast.copy_location(part, like)
    return node  # type: ignore[return-value]
