"""`break` and `continue` as flags, which the rewriting of branches and loops then carries like other variables.

    while c:                          stop = False
        a()                           while not stop and c:
        if d: break             →         a()
        b()                               if d: stop = True
                                          if not stop: b()

Where the flag of a loop is not known while tracing, the iterations that are left do nothing. An `else` of a loop comes
after it, under a test of the flag. Exits inside `try` or `with` stay as they are.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence

from numhlo.tracer.python.source.marked_calls import runtime_call

SUFFIX = "_numhlo_exit"
"""Ends the names of flags."""


LEAVES = "numhlo_leaves"
"""Attribute of a `for` whose last statement leaves it: the flag that says so."""

HELD = "numhlo_held"
"""Attribute of such a `for` that goes through what is read elsewhere, too: an iterator would be drawn from there."""

ITERATORS = frozenset({"enumerate", "reversed", "zip"})
"""What makes an iterator that draws from its arguments."""


def stop_flag(target: str) -> str:
    """Return the flag that stops a loop over a range, by the name of the loop's variable; empty where there is none."""
    return target.replace("index_", "stop_", 1) if target.endswith(SUFFIX) else ""


_LOOPS = (ast.For, ast.While)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def without_exits(statements: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Return statements in which no loop that can be rewritten has a `break` or `continue`."""
    flattener = _Flattener(statements)
    return flattener.block(statements)


class _Flattener:
    def __init__(self, statements: Sequence[ast.stmt]) -> None:
        self.count = 0
        self._reads = _reads(statements)

    def block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Return a block with the loops in it flattened, innermost first."""
        return [s for statement in statements for s in self._statement(statement)]

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        if isinstance(node, _SCOPES):
            return [node]
        reads = _reads(node.body) if isinstance(node, _LOOPS) else Counter()
        for name in ("body", "orelse", "finalbody"):
            inner = getattr(node, name, None)
            if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                setattr(node, name, self.block(inner))
        return self._loop(node, reads) if isinstance(node, _LOOPS) else [node]

    def _loop(self, node: ast.For | ast.While, reads: Counter[str]) -> list[ast.stmt]:
        kinds = _exits(node.body)
        if None in kinds:
            return [node]
        after, node.orelse = node.orelse, []
        if not kinds:
            return [node, *after]
        self.count += 1
        stop, skip = f"stop_{self.count}{SUFFIX}", f"skip_{self.count}{SUFFIX}"
        body = _guarded(node.body, stop, skip, kinds)
        if ast.Continue in kinds:
            body.insert(0, set_flag(skip, False, node))
        if ast.Break not in kinds:
            node.body = body
            return [node, *after]
        if isinstance(node, ast.While):
            node.test = ast.copy_location(ast.BoolOp(ast.And(), [unset_flag(stop, node), node.test]), node)
            node.body = body
        else:
            self._stop_for(node, body, stop, reads)
        later = sorted(bound_names(after) & bound_names(node.body)) if after else []
        if after:
            after = [ast.copy_location(ast.If(unset_flag(stop, node), after, []), node)]
        return [set_flag(stop, False, node), *[set_later(name, node) for name in later], node, *after]

    def _stop_for(self, node: ast.For, body: list[ast.stmt], stop: str, reads: Counter[str]) -> None:
        """Make the iterations of a `for` that are left when it is stopped do nothing."""
        targets = [n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)]
        counted = _is_counted(node)
        if counted or any(self._reads[name] > reads[name] for name in targets):  # it stays what it was when stopped
            index = f"index_{self.count}{SUFFIX}"
            body.insert(0, ast.copy_location(ast.Assign([node.target], ast.Name(index, ast.Load())), node))
            node.target = ast.copy_location(ast.Name(index, ast.Store()), node)
        node.body = [ast.copy_location(ast.If(unset_flag(stop, node), body, []), node)]
        if not counted:
            leave = ast.If(runtime_call("is_over", ast.Name(stop, ast.Load())), [ast.Break()], [])
            for part in ast.walk(leave):
                ast.copy_location(part, node) if isinstance(part, ast.stmt | ast.expr) else None
            node.body.append(leave)
            setattr(node, LEAVES, stop)
            own = _reads([ast.Expr(node.iter)])
            setattr(node, HELD, any(self._reads[name] > own[name] for name in _sources(node.iter)))


def _reads(statements: Sequence[ast.stmt]) -> Counter[str]:
    """Return how often statements read each variable."""
    names = (n for s in statements for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
    return Counter(n.id for n in names)


def _sources(iterable: ast.expr) -> set[str]:
    """Return the variables that hold what a `for` goes through, not what is made for it."""
    if isinstance(iterable, ast.Call):
        is_known = isinstance(iterable.func, ast.Name) and iterable.func.id in ITERATORS
        return {name for argument in iterable.args for name in _sources(argument)} if is_known else set()
    return (
        set(_reads([ast.Expr(iterable)])) if isinstance(iterable, ast.Name | ast.Attribute | ast.Subscript) else set()
    )


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
            return [*done, set_flag(stop if isinstance(node, ast.Break) else skip, True, node)]
        found = _exits([node])
        if isinstance(node, ast.If) and found:
            node.body = _guarded(node.body, stop, skip, kinds)
            node.orelse = _guarded(node.orelse, stop, skip, kinds)
            rest = _guarded(statements[k + 1 :], stop, skip, kinds)
            flags = [name for kind, name in ((ast.Break, stop), (ast.Continue, skip)) if kind in found]
            tests: list[ast.expr] = [unset_flag(flag, node) for flag in flags]
            test = tests[0] if len(tests) == 1 else ast.copy_location(ast.BoolOp(ast.And(), tests), node)
            return [*done, node, *([ast.copy_location(ast.If(test, rest, []), node)] if rest else [])]
        done.append(node)
    return done


def bound_names(statements: Sequence[ast.stmt]) -> set[str]:
    """Return the variables that statements assign to."""
    names = (n for s in statements for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    return {n.id for n in names if not n.id.endswith(SUFFIX)}


def set_later(name: str, like: ast.stmt, kind: str = "later") -> ast.stmt:
    """Return the statement that says of a variable without a value that every way through a loop gives it one.

    Parameters
    ----------
    name : str
    like : ast.stmt
        Where the statement stands.
    kind : str, optional
        ``"later"``, or ``"in_loops"`` if only ways through loops that run do.
    """
    read = ast.Lambda(ast.arguments([], [], None, [], [], None, []), ast.Name(name, ast.Load()))
    made = ast.Assign([ast.Name(name, ast.Store())], runtime_call(kind, read, ast.Constant(name)))
    for part in ast.walk(made):
        ast.copy_location(part, like) if isinstance(part, ast.stmt | ast.expr) else None
    return made


def set_flag(name: str, value: bool, like: ast.stmt) -> ast.stmt:
    """Return the assignment of a flag."""
    return ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], ast.Constant(value)), like)


def unset_flag(name: str, like: ast.stmt) -> ast.expr:
    """Return the test that a flag is not set."""
    return ast.copy_location(ast.UnaryOp(ast.Not(), ast.Name(name, ast.Load())), like)
