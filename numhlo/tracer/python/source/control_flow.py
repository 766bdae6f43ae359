"""From branches and loops to calls: the rewriting of a function's statements.

    if c:                    def then(x): x = x + 1; return (x,)
        x = x + 1     →      def other(x): x = 0; return (x,)
    else:                    (x,) = staging.if_statement(c, then, other, staging.Variables(("x",), (x,)))
        x = 0

What can't be a function of its variables (a loop with a return, a branch that sets a global) stays as it is.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from numhlo.tracer.python.source.assignments import surely_assigned
from numhlo.tracer.python.source.early_returns import without_early_returns
from numhlo.tracer.python.source.exits import HELD, ITERATORS, LEAVES, set_later, without_exits
from numhlo.tracer.python.source.inner_functions import InnerFunctions
from numhlo.tracer.python.source.marked_calls import GENERATED, runtime_call
from numhlo.tracer.python.source.matches import without_matches
from numhlo.tracer.python.source.names import Names, always_returns, contains_return, names_of
from numhlo.tracer.python.source.syntax import (
    assigns,
    comparison,
    copied,
    function_of,
    held,
    load,
    local_name,
    read,
    strings,
    thunk,
    tuple_of,
)


def _variables(names: Names, shared: Sequence[str], *blocks: Sequence[ast.stmt]) -> ast.Call:
    """Return the variables that blocks of statements, one of which runs, change; ``names`` has all of them.

    Those of the list ``shared`` are seen by other functions, too.
    """
    order = names.all
    in_place = set().union(*[names_of(block).kept for block in blocks])
    mixed = names.bound & in_place
    owners = [tuple_of([ast.Constant(n), thunk(read(n.rpartition(".")[0]))]) for n in order if "." in n]
    lists = [strings(sorted(x)) for x in (in_place, mixed)]
    return runtime_call("Variables", strings(order), held(order), *lists, tuple_of(owners), held(shared))


def with_control_flow(function: ast.FunctionDef) -> list[ast.stmt]:
    """Return a function's statements with branches and loops as calls."""
    inner = InnerFunctions(function)
    plain = without_matches(function.body)
    given = [a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg)]
    sure = surely_assigned(plain, given)
    flat = without_exits(without_early_returns(plain))
    hidden = sorted(sure - surely_assigned(flat, given)) if sure else []
    start = [set_later(name, function.body[0], "in_loops") for name in hidden]
    return [*start, *_Rewriter(inner).function_body(flat)]


class _Rewriter(ast.NodeTransformer):
    """Rewrites statements; every rewritten one is a few, so visits return lists."""

    def __init__(self, inner: InnerFunctions) -> None:
        self.count = 0
        self.inner = inner

    def function_body(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Rewrite a function's statements, in which an `if` may return."""
        done: list[ast.stmt] = []
        for k, statement in enumerate(statements):
            if isinstance(statement, ast.If) and contains_return(statement):
                ending = self._ending(statement, statements[k + 1 :])
                if ending is not None:
                    return [*done, *ending]
            done += self._visited(statement)
        return done

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        node.body = with_control_flow(node)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        return self.generic_visit(node)

    def visit_Assert(self, node: ast.Assert) -> Any:
        node.test = self._condition(node.test)
        return node

    def visit_Raise(self, node: ast.Raise) -> Any:
        self.generic_visit(node)
        node.exc = node.exc and ast.copy_location(runtime_call("raised", thunk(node.exc)), node.exc)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        return self.generic_visit(node) if assigns(node) else self._condition(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        return self._condition(node) if isinstance(node.op, ast.Not) else self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> Any:
        return self._condition(node) if len(node.ops) > 1 and not assigns(node) else self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        test = self._condition(node.test)
        then, other = self.visit(node.body), self.visit(node.orelse)
        return ast.copy_location(runtime_call("if_expression", test, thunk(then), thunk(other)), node)

    def visit_If(self, node: ast.If) -> Any:
        names = names_of([*node.body, *node.orelse])
        shared = self._shared(names, [*node.body, *node.orelse])
        if reason := self._reason(names, shared, node.test):
            return self._left(node, reason)
        order = names.all
        variables = _variables(names, shared, node.body, node.orelse)
        result = held(order)
        then, other = self._name("then"), self._name("other")
        functions = [
            function_of(then, order, self._block(node.body), result, node),
            function_of(other, order, self._block(node.orelse), result, node),
        ]
        call = runtime_call("if_statement", self._condition(node.test), load(then), load(other), variables)
        return [*functions, self._assigned(order, call, node)]

    def visit_While(self, node: ast.While) -> Any:
        names = names_of(node.body)
        shared = self._shared(names, node.body)
        if reason := self._reason(names, shared, node.test) or ("an else" if node.orelse else ""):
            return self._left(node, reason)
        order = names.all
        variables = _variables(names, shared, node.body)
        result = held(order)
        test, body = self._name("test"), self._name("body")
        functions = [
            function_of(test, order, [], self._condition(node.test), node),
            function_of(body, order, self._block(node.body), result, node),
        ]
        call = runtime_call("while_statement", load(test), load(body), variables)
        return [*functions, self._assigned(order, call, node)]

    def visit_For(self, node: ast.For) -> Any:
        flag = getattr(node, LEAVES, "")
        statements = node.body[:-1] if flag else node.body
        names = names_of(statements)
        names.bound.update(n.id for n in ast.walk(node.target) if isinstance(n, ast.Name))
        shared = self._shared(names, statements)
        is_left = node.orelse or not _is_plain(node.target) or _is_lazy(node.iter, names.bound | names.updated)
        reason = self._reason(names, shared)
        if is_left or reason:
            if reason and _bounds(node) is not None:
                node.iter = self._known_range(node.iter, reason)
            node.iter = self.visit(node.iter)
            node.body, node.orelse = self._block(node.body), self._block(node.orelse)
            return node
        order = names.all
        result = held(order)
        variables = _variables(names, shared, statements)
        body, index = self._name("body"), self._name("index")
        start = ast.copy_location(ast.Assign([node.target], load(index)), node)
        function = function_of(body, [index, *order], [start, *self._block(statements)], result, node)
        bounds = _bounds(node)
        if bounds is None:
            known = [ast.Constant(flag), ast.Constant(getattr(node, HELD, False))]
            call = runtime_call("for_each", self._items(node.iter), load(body), *known, variables)
        else:
            assert isinstance(node.target, ast.Name)
            target = ast.Constant(node.target.id)
            counts = tuple_of([self.visit(a) for a in bounds])
            maker: Any = self.visit(node.iter.func)  # type: ignore[attr-defined]
            call = runtime_call("for_range", maker, counts, load(body), target, variables)
        return [function, self._assigned(order, call, node)]

    def _items(self, iterable: ast.expr) -> ast.expr:
        """Return what a `for` goes through, with calls of `enumerate`, `zip` and `reversed` as they are written."""
        call = iterable if isinstance(iterable, ast.Call) else None
        options = [] if call is None else call.keywords
        is_known = call is not None and isinstance(call.func, ast.Name) and call.func.id in ITERATORS
        if call is None or not is_known or any(isinstance(a, ast.Starred) for a in call.args):
            visited: ast.expr = self.visit(iterable)
            return visited
        given = ast.Dict(
            [ast.Constant(k.arg) if k.arg else None for k in options], [self.visit(k.value) for k in options]
        )
        made = runtime_call("items", call.func, tuple_of([self._items(a) for a in call.args]), given)
        return ast.copy_location(made, iterable)

    def _ending(self, node: ast.If, rest: Sequence[ast.stmt]) -> list[ast.stmt] | None:
        """Rewrite an `if` that returns, and all that follows it, as branches that both return; None if it can't be."""
        then, other = list(node.body), list(node.orelse)
        if not always_returns(then):
            then += rest
        if not always_returns(other):
            other += rest
        names = names_of([*then, *other], (ast.Return,))
        shared = self._shared(names, [*then, *other])
        if self._reason(names, shared, node.test):
            return None
        order = names.all
        variables = _variables(names, shared, then, other)
        functions = [
            self._returning(self._name(kind), order, body, node) for kind, body in (("then", then), ("other", other))
        ]
        call = runtime_call(
            "if_statement",
            self._condition(node.test),
            *[load(f.name) for f in functions],
            variables,
            ast.Constant(True),
        )
        return [*functions, ast.copy_location(ast.Return(call), node)]

    def _returning(self, name: str, order: Sequence[str], body: Sequence[ast.stmt], like: ast.stmt) -> ast.FunctionDef:
        """Return a function that gives what the statements return, and the variables' values."""
        inner = self.function_body(copied(body))
        result = held(order)
        paired = [_Pairing(result).visit(s) for s in inner]
        return function_of(name, order, paired, tuple_of([ast.Constant(None), result]), like)

    def _shared(self, names: Names, block: Sequence[ast.stmt]) -> list[str]:
        """Return what a block changes that functions outside it use; arrays that it only writes into need no name."""
        bound = names.bound | names.updated
        shared = self.inner.shared(bound, names.written - bound, block)
        names.written.difference_update(shared)
        return shared

    def _reason(self, names: Names, shared: Sequence[str], test: ast.expr | None = None) -> str:
        """Return why statements must be left as they are; nothing if they need not."""
        if names.obstacle:
            return names.obstacle
        if test is not None and assigns(test):
            return "an assignment in its test"
        bound = [n for n in shared if n in names.bound | names.updated]
        return f"the variable {bound[0]!r}, which a function inside uses" if bound else ""

    def _left(self, node: ast.If | ast.While, reason: str) -> ast.stmt:
        """Leave a statement as it is, but for what is in it, and for what is said where its test is not known."""
        if not assigns(node.test):
            kind = f"{'an if' if isinstance(node, ast.If) else 'a while'} on a traced condition"
            node.test = runtime_call("known", self._condition(node.test), ast.Constant(kind), ast.Constant(reason))
        node.body, node.orelse = self._block(node.body), self._block(node.orelse)
        return node

    def _known_range(self, call: ast.expr, reason: str) -> ast.expr:
        """Let a range whose loop is left as it is say why, where its length is not known."""
        assert isinstance(call, ast.Call)
        kind = "a for over a range of traced length"
        call.args = [runtime_call("known", a, ast.Constant(kind), ast.Constant(reason)) for a in call.args]
        return call

    def _visited(self, statement: ast.stmt) -> list[ast.stmt]:
        found = self.visit(statement)
        return found if isinstance(found, list) else [found]

    def _block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        return [s for statement in statements for s in self._visited(statement)]

    def _name(self, kind: str) -> str:
        self.count += 1
        return f"{kind}_{self.count}{GENERATED}"

    def _assigned(self, order: Sequence[str], call: ast.expr, like: ast.stmt) -> ast.stmt:
        if not order:
            return ast.copy_location(ast.Expr(call), like)
        target = ast.Tuple([ast.Name(local_name(n), ast.Store()) for n in order], ast.Store())
        return ast.copy_location(ast.Assign([target], call), like)

    def _condition(self, test: ast.expr) -> ast.expr:
        """Rewrite ``and``, ``or``, ``not`` and chained comparisons in a condition."""
        if isinstance(test, ast.BoolOp):
            *first, last = [self._condition(v) for v in test.values]
            function = "both" if isinstance(test.op, ast.And) else "either"
            for value in reversed(first):
                last = ast.copy_location(runtime_call(function, value, thunk(last)), test)
            return last
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return ast.copy_location(runtime_call("negation", self._condition(test.operand)), test)
        if isinstance(test, ast.Compare) and len(test.ops) > 1:
            links = [
                tuple_of([comparison(op), thunk(self._condition(side))])
                for op, side in zip(test.ops, test.comparators, strict=True)
            ]
            return ast.copy_location(runtime_call("chained", self._condition(test.left), *links), test)
        if isinstance(test, ast.Compare | ast.UnaryOp):
            return self.generic_visit(test)  # type: ignore[return-value]
        visited: ast.expr = self.visit(test)
        return visited


class _Pairing(ast.NodeTransformer):
    """Makes every return of a branch return the variables' values, too."""

    def __init__(self, result: ast.expr) -> None:
        self.result = result

    def visit_Return(self, node: ast.Return) -> Any:
        value = node.value or ast.Constant(None)
        return ast.copy_location(ast.Return(tuple_of([value, self.result])), node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        return node


def _bounds(node: ast.For) -> list[ast.expr] | None:
    """Return the arguments of the `range` that a loop goes through; None if it is not called as it is here."""
    call = node.iter
    if not isinstance(call, ast.Call) or not isinstance(node.target, ast.Name):
        return None
    name = getattr(call.func, "id", None) or getattr(call.func, "attr", None)
    is_simple = (
        name in ("range", "prange") and not call.keywords and not any(isinstance(a, ast.Starred) for a in call.args)
    )
    return call.args if is_simple else None


def _is_plain(target: ast.expr) -> bool:
    """Return whether a target binds variables only."""
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    return all(isinstance(x, ast.Name) or (x is not target and _is_plain(x)) for x in parts)


def _is_lazy(iterable: ast.expr, bound: set[str]) -> bool:
    """Return whether an iterator may look at variables that the loop binds."""
    inner = [n for n in ast.walk(iterable) if isinstance(n, ast.GeneratorExp)]
    return any(isinstance(x, ast.Name) and x.id in bound for n in inner for x in ast.walk(n))
