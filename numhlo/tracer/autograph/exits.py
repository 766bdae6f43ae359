"""`break` and `continue` as flags, which the rewriting of branches and loops then carries like other variables.

    while c:                          stop = False
        a()                           while not stop and c:
        if d: break             →         a()
        b()                               if d: stop = True
                                          if not stop: b()

Where the flag of a loop over a range is not known while tracing, the rounds that are left do nothing. A `break` out of
a loop over anything else, and exits inside `try` or `with`, stay as they are.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

SUFFIX = "_numhlo_exit"
"""Ends the names of flags."""


def stop_flag(target: str) -> str:
    """Return the flag that stops a loop over a range, by the name of the loop's variable; empty where there is none."""
    return target.replace("index_", "stop_", 1) if target.endswith(SUFFIX) else ""


_LOOPS = (ast.For, ast.While)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def without_exits(statements: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Return statements in which no loop that can be rewritten has a `break` or `continue`."""
    flattener = _Flattener()
    return flattener.block(statements)


class _Flattener:
    def __init__(self) -> None:
        self.count = 0

    def block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Return a block with the loops in it flattened, innermost first."""
        return [s for statement in statements for s in self._statement(statement)]

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        if isinstance(node, _SCOPES):
            return [node]
        for name in ("body", "orelse", "finalbody"):
            inner = getattr(node, name, None)
            if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                setattr(node, name, self.block(inner))
        return self._loop(node) if isinstance(node, _LOOPS) else [node]

    def _loop(self, node: ast.For | ast.While) -> list[ast.stmt]:
        kinds = _exits(node.body)
        can_stop = isinstance(node, ast.While) or _is_counted(node)
        if not kinds or node.orelse or None in kinds or (ast.Break in kinds and not can_stop):
            return [node]
        self.count += 1
        stop, skip = f"stop_{self.count}{SUFFIX}", f"skip_{self.count}{SUFFIX}"
        body = _guarded(node.body, stop, skip, kinds)
        if ast.Continue in kinds:
            body.insert(0, _set(skip, False, node))
        if ast.Break not in kinds:
            node.body = body
            return [node]
        if isinstance(node, ast.While):
            node.test = ast.copy_location(ast.BoolOp(ast.And(), [_unset(stop, node), node.test]), node)
        else:
            index = f"index_{self.count}{SUFFIX}"
            body.insert(0, ast.copy_location(ast.Assign([node.target], ast.Name(index, ast.Load())), node))
            node.target = ast.copy_location(ast.Name(index, ast.Store()), node)
            body = [ast.copy_location(ast.If(_unset(stop, node), body, []), node)]
        node.body = body
        return [_set(stop, False, node), node]


def _is_counted(node: ast.For) -> bool:
    call = node.iter
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"


def _exits(statements: Sequence[ast.stmt]) -> set[type[ast.stmt] | None]:
    """Return which exits of the loop around them statements have; None stands for one that can't be a flag."""
    found: set[type[ast.stmt] | None] = set()
    for node in statements:
        if isinstance(node, ast.Break | ast.Continue):
            found.add(type(node))
        elif isinstance(node, ast.If):
            found |= _exits(node.body) | _exits(node.orelse)
        elif not isinstance(node, (*_LOOPS, *_SCOPES)) and any(
            isinstance(x, ast.Break | ast.Continue) for x in ast.walk(node)
        ):
            found.add(None)
    return found


def _guarded(statements: Sequence[ast.stmt], stop: str, skip: str, kinds: set[type[ast.stmt] | None]) -> list[ast.stmt]:
    """Return statements with flags in place of exits, and what follows one under a test of its flags."""
    done: list[ast.stmt] = []
    for k, node in enumerate(statements):
        if isinstance(node, ast.Break | ast.Continue):
            return [*done, _set(stop if isinstance(node, ast.Break) else skip, True, node)]
        found = _exits([node])
        if isinstance(node, ast.If) and found:
            node.body = _guarded(node.body, stop, skip, kinds)
            node.orelse = _guarded(node.orelse, stop, skip, kinds)
            rest = _guarded(statements[k + 1 :], stop, skip, kinds)
            flags = [name for kind, name in ((ast.Break, stop), (ast.Continue, skip)) if kind in found]
            tests: list[ast.expr] = [_unset(flag, node) for flag in flags]
            test = tests[0] if len(tests) == 1 else ast.copy_location(ast.BoolOp(ast.And(), tests), node)
            return [*done, node, *([ast.copy_location(ast.If(test, rest, []), node)] if rest else [])]
        done.append(node)
    return done


def _set(name: str, value: bool, like: ast.stmt) -> ast.stmt:
    return ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], ast.Constant(value)), like)


def _unset(name: str, like: ast.stmt) -> ast.expr:
    return ast.copy_location(ast.UnaryOp(ast.Not(), ast.Name(name, ast.Load())), like)
