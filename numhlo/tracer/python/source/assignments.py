"""Definite assignment: which variables have a value wherever they are read, if every loop runs at least once.

What follows a `return`, `break` or `continue` in a branch becomes a branch itself (`exits`, `early_returns`), after
which the variables that it binds seem to have a value sometimes only. Where a function's own paths, which end at these
exits, give a variable a value before every read, what stands for it on the others is never read: any value will do.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from numhlo.tracer.python.source.exits import SUFFIX

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

State = frozenset[str] | None
"""The variables that have a value; None where no path arrives."""


def surely_assigned(statements: Sequence[ast.stmt], given: Iterable[str] = ()) -> frozenset[str]:
    r"""Return the variables of a function that its statements bind, and that have a value wherever they are read.

    Parameters
    ----------
    statements : sequence of ast.stmt
        The function's.
    given : iterable of str
        Its parameters.

    Examples
    --------
    >>> text = "for v in x:\n if v < 0: break\n y = v\n if v > 9: z = v; break\nw = z"
    >>> sorted(surely_assigned(ast.parse(text).body, ["x"]))
    ['v', 'w', 'y']
    """
    walker = _Walker()
    walker.block(statements, frozenset(given))
    return frozenset(n for n in walker.bound - walker.unsure if not n.endswith(SUFFIX))


class _Walker:
    """Follows the paths through statements.

    Attributes
    ----------
    bound, unsure : set of str
        The variables that are bound, and those that are read where they may have no value, or that others share.
    """

    def __init__(self) -> None:
        self.bound: set[str] = set()
        self.unsure: set[str] = set()
        self._breaks: list[list[State]] = []
        self._continues: list[list[State]] = []

    def block(self, statements: Sequence[ast.stmt], state: State) -> State:
        """Return the state after statements."""
        for statement in statements:
            if state is None:
                return None
            state = self._statement(statement, state)
        return state

    def _statement(self, node: ast.stmt, state: frozenset[str]) -> State:
        if isinstance(node, ast.Break | ast.Continue):
            (self._breaks if isinstance(node, ast.Break) else self._continues)[-1].append(state)
            return None
        if isinstance(node, ast.Return | ast.Raise):
            self._uses(node, state)
            return None
        return self._compound(node, state)

    def _compound(self, node: ast.stmt, state: frozenset[str]) -> State:
        match node:
            case ast.If():
                state = self._uses(node.test, state)
                return _met([self.block(node.body, state), self.block(node.orelse, state)])
            case ast.For() | ast.AsyncFor():
                return self._loop(node, self._uses(node.iter, state), [node.target])
            case ast.While():
                return self._loop(node, self._uses(node.test, state), [])
            case ast.With() | ast.AsyncWith():
                return self.block(node.body, self._uses(node.items, state))
            case ast.Try() | ast.TryStar():
                return self._try(node, state)
            case ast.Match():
                return self._match(node, state)
        return self._uses(node, state)

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, state: frozenset[str], targets: list[ast.expr]) -> State:
        self._breaks.append([])
        self._continues.append([])
        after = self.block(node.body, self._uses(targets, state))
        ends = _met([after, *self._continues.pop()])
        endless = isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and bool(node.test.value)
        over = None if endless else self.block(node.orelse, ends)
        return _met([over, *self._breaks.pop()])

    def _try(self, node: ast.Try | ast.TryStar, state: frozenset[str]) -> State:
        """Follow a `try`, of whose body any part may have run where a handler begins."""
        body = self.block(node.body, state)
        ends = [self.block(node.orelse, body)]
        for handler in node.handlers:
            entered = state if handler.type is None else self._uses(handler.type, state)
            if handler.name:
                self.unsure.add(handler.name)
            ends.append(self.block(handler.body, entered))
        met = _met(ends)
        kept = self.block(node.finalbody, state)
        if met is None or kept is None:
            return None
        return met | kept

    def _match(self, node: ast.Match, state: frozenset[str]) -> State:
        state = self._uses(node.subject, state)
        ends: list[State] = []
        for case in node.cases:
            captured = [getattr(p, "name", None) or getattr(p, "rest", None) for p in ast.walk(case.pattern)]
            names = {name for name in captured if isinstance(name, str)}
            self.bound |= names
            entered = state | names
            ends.append(self.block(case.body, entered if case.guard is None else self._uses(case.guard, entered)))
        last = node.cases[-1]
        always = last.guard is None and isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None
        return _met(ends if always else [*ends, state])

    def _uses(self, part: ast.AST | Sequence[ast.AST], state: frozenset[str]) -> frozenset[str]:
        """Return the state after expressions, or a statement without others in it; note what is read too early."""
        parts = [part] if isinstance(part, ast.AST) else part
        found: list[ast.Name] = []
        for each in parts:
            self._collect(each, found)
        gone = {n.id for n in found if isinstance(n.ctx, ast.Del)}
        new = {n.id for n in found if isinstance(n.ctx, ast.Store)}
        self.bound |= new
        self.unsure |= {n.id for n in found if not isinstance(n.ctx, ast.Store)} - state
        return (state | new) - gone

    def _collect(self, node: ast.AST, found: list[ast.Name]) -> None:
        """Add the names in an expression, in the order in which they come; what may not run binds nothing surely."""
        if isinstance(node, ast.Global | ast.Nonlocal):
            self.unsure.update(node.names)
        elif isinstance(node, _DEFINITIONS):  # when these read and bind is not known
            self.unsure.update(n.id for n in ast.walk(node) if isinstance(n, ast.Name))
        elif isinstance(node, _COMPREHENSIONS):
            own = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
            found += [n for n in ast.walk(node) if isinstance(n, ast.Name) and n.id not in own]
        elif isinstance(node, ast.NamedExpr):
            self.unsure.add(node.target.id)
            self._collect(node.value, found)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            found.append(ast.Name(node.target.id, ast.Load()))
            found.append(node.target)
            self._collect(node.value, found)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            self.unsure.update((a.asname or a.name).partition(".")[0] for a in node.names)
        elif isinstance(node, ast.Name):
            found.append(node)
        else:
            for child in ast.iter_child_nodes(node):
                self._collect(child, found)


def _met(states: Iterable[State]) -> State:
    """Return what holds on all paths that arrive."""
    arriving = [s for s in states if s is not None]
    return frozenset.intersection(*arriving) if arriving else None
