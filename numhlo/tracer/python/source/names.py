"""What statements do to variables: which they bind, update in place, or write into; and what can't be rewritten."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import field

from numhlo.lowering.ir.records import record
from numhlo.tracer.python.source.marked_calls import MODULES


@record
class Names:
    """The variables that some statements change.

    Attributes
    ----------
    bound : set of str
        Assigned to: other objects afterwards.
    updated : set of str
        Changed by ``+=`` and its kin: in place where they are arrays.
    written : set of str
        Arrays and lists of which elements are assigned, or that a call changes: ``x.sort()``, ``np.add.at(x, i, 1)``.
    attributes : set of str
        Attributes that are assigned, as ``self.total``, of objects that were there before.
    kept : set of str
        Those of ``updated`` and ``written`` whose objects from before the statements may be changed: not bound first.
    obstacle : str
        Why the statements can't become a function of their variables; empty if they can.
    """

    bound: set[str] = field(default_factory=set)
    updated: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)
    kept: set[str] = field(default_factory=set)
    obstacle: str = ""

    @property
    def all(self) -> list[str]:
        """Return all of them, sorted."""
        return sorted(self.bound | self.updated | self.written | self.attributes)


CHANGING_METHODS = frozenset({
    "append", "clear", "extend", "fill", "insert", "partition", "pop", "popitem", "put", "remove", "reverse",
    "setdefault", "sort", "update",
})  # fmt: skip
"""Methods that change a list, a dict or an array."""

CHANGING_FUNCTIONS = frozenset({"at", "copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"})
"""NumPy's functions that write into their first argument."""

VIEWS = frozenset({"T", "at", "flat", "imag", "mT", "real"})
"""Attributes of arrays by which these are written into."""

OBSTACLES: dict[type[ast.AST], str] = {
    ast.Return: "a return",
    ast.Break: "a break",
    ast.Continue: "a continue",
    ast.Yield: "a yield",
    ast.YieldFrom: "a yield",
    ast.Await: "an await",
    ast.Global: "a global statement",
    ast.Nonlocal: "a nonlocal statement",
    ast.Delete: "a del statement",
    ast.Import: "an import",
    ast.ImportFrom: "an import",
    ast.ClassDef: "a class",
    ast.Raise: "a raise",
}


def names_of(statements: Sequence[ast.stmt], allowed: tuple[type[ast.AST], ...] = ()) -> Names:
    """Return what statements do to variables.

    Parameters
    ----------
    statements : sequence of ast.stmt
    allowed : tuple of type, optional
        Statements that are no obstacle.

    Examples
    --------
    >>> names = names_of(ast.parse("a = 1; b += a; c[0] = b").body)
    >>> names.bound, names.updated, names.written
    ({'a'}, {'b'}, {'c'})
    """
    names = Names()
    walker = _Walker(names, allowed)
    for statement in statements:
        walker.visit(statement)
    first = _bound_first(statements)
    names.kept = (names.updated | names.written) - first
    for dotted in {x for x in names.all if "." in x}:
        if dotted.partition(".")[0] in names.bound:  # of an object that the statements make
            for kind in (names.updated, names.written, names.attributes, names.kept):
                kind.discard(dotted)
    return names


def _bound_first(statements: Sequence[ast.stmt]) -> set[str]:
    """Return the variables that statements bind before they change them: what they held is only replaced."""
    first: set[str] = set()
    changed: set[str] = set()
    for statement in statements:
        names = Names()
        _Walker(names, ()).visit(statement)
        changed |= names.updated | names.written
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            first |= names.bound - changed
    return first


class _Walker(ast.NodeVisitor):
    def __init__(self, names: Names, allowed: tuple[type[ast.AST], ...]) -> None:
        self.names, self.allowed = names, allowed
        self.loops = self.tries = 0

    def visit(self, node: ast.AST) -> None:
        what = OBSTACLES.get(type(node))
        own = self.loops and isinstance(node, ast.Break | ast.Continue)  # of a loop that is among the statements
        own = own or (isinstance(node, ast.Raise) and node.exc is not None and not self.tries)  # raised when it runs
        if what and not own and not isinstance(node, self.allowed):
            self.names.obstacle = self.names.obstacle or what
        super().visit(node)

    def visit_For(self, node: ast.For) -> None:
        self._loop(node)

    def visit_While(self, node: ast.While) -> None:
        self._loop(node)

    def visit_Try(self, node: ast.Try) -> None:
        self.tries += 1
        self.generic_visit(node)
        self.tries -= 1

    def _loop(self, node: ast.For | ast.While) -> None:
        self.loops += 1
        self.generic_visit(node)
        self.loops -= 1

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):
            self.names.bound.add(node.id)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        dotted = dotted_name(node.target)
        if dotted:
            self.names.updated.add(dotted)
        else:
            self.visit(node.target)
        self.visit(node.value)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if isinstance(node.ctx, ast.Store):
            self._write(node.value)
        self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.ctx, ast.Store):
            dotted = dotted_name(node)
            self.names.attributes.add(dotted) if dotted else self._write(node.value)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in CHANGING_FUNCTIONS and node.args:
            self._change(node.args[0])
        if isinstance(function, ast.Attribute) and function.attr in CHANGING_METHODS:
            self._change(function.value)
        for keyword in node.keywords:
            if keyword.arg == "out":
                targets = keyword.value.elts if isinstance(keyword.value, ast.Tuple) else [keyword.value]
                for target in targets:
                    self._change(target)
        self.generic_visit(node)

    def _change(self, target: ast.expr) -> None:
        while isinstance(target, ast.Subscript) or (isinstance(target, ast.Attribute) and target.attr in VIEWS):
            target = target.value
        name = dotted_name(target)
        if name and name.partition(".")[0] not in MODULES:
            self.names.written.add(name)

    def _write(self, target: ast.expr) -> None:
        while isinstance(target, ast.Subscript) or (isinstance(target, ast.Attribute) and not dotted_name(target)):
            target = target.value
        name = dotted_name(target)
        if name:
            self.names.written.add(name)
        else:
            self.names.obstacle = self.names.obstacle or "an assignment into a call's result"

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.names.bound.add(node.name)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        pass

    def visit_ListComp(self, node: ast.ListComp) -> None:
        pass

    def visit_SetComp(self, node: ast.SetComp) -> None:
        pass

    def visit_DictComp(self, node: ast.DictComp) -> None:
        pass

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        pass


def dotted_name(node: ast.expr) -> str:
    """Return a variable or an attribute as written, ``self.total``; empty for all else, and for views of arrays."""
    if isinstance(node, ast.Name):
        return node.id
    if not isinstance(node, ast.Attribute) or node.attr in VIEWS:
        return ""
    owner = dotted_name(node.value)
    return f"{owner}.{node.attr}" if owner else ""


def always_returns(statements: Sequence[ast.stmt]) -> bool:
    """Return whether control never falls off the end of statements."""
    if not statements:
        return False
    last = statements[-1]
    if isinstance(last, ast.If):
        return always_returns(last.body) and always_returns(last.orelse)
    return isinstance(last, ast.Return | ast.Raise)


def contains_return(node: ast.AST) -> bool:
    """Return whether a statement has a return of the function that it is in."""
    if isinstance(node, ast.Return):
        return True
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
        return False
    return any(contains_return(child) for child in ast.iter_child_nodes(node))


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_SCOPES = (*FUNCTIONS, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.ClassDef)


def names_of_outer(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> set[str]:
    """Return the names that a function uses but surely does not bind; functions in it are looked at by themselves."""
    used: set[str] = set()
    bound = {a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg)}
    waiting: list[tuple[ast.AST, bool]] = [(n, True) for n in ast.iter_child_nodes(function)]
    while waiting:
        node, own = waiting.pop()
        if isinstance(node, ast.Nonlocal):
            return {n.id for n in ast.walk(function) if isinstance(n, ast.Name)}
        if isinstance(node, ast.Name):
            (bound if own and isinstance(node.ctx, ast.Store) else used).add(node.id)
        own = own and not isinstance(node, _SCOPES)
        waiting += [(n, own) for n in ast.iter_child_nodes(node) if not isinstance(node, FUNCTIONS)]
    return used - bound


def own_variables(function: ast.FunctionDef) -> set[str]:
    """Return the variables that are a function's own: its parameters, and what it binds.

    Examples
    --------
    >>> sorted(own_variables(ast.parse("def f(a): b = a; c[0] = lambda d: (e := d)").body[0]))
    ['a', 'b']
    """
    found = {a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg)}
    waiting: list[ast.AST] = [*function.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            found.add(node.id)
        found.update(x for x in (getattr(node, "name", None), getattr(node, "rest", None)) if isinstance(x, str))
        if isinstance(node, ast.alias):
            found.add((node.asname or node.name).partition(".")[0])
        waiting += [] if isinstance(node, (*FUNCTIONS, ast.ClassDef)) else ast.iter_child_nodes(node)
    return found
