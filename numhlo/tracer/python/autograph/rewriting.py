"""From a function's source to one whose branches and loops are calls.

    if c:                    def then(x): x = x + 1; return (x,)
        x = x + 1     →      def other(x): x = 0; return (x,)
    else:                    (x,) = _numhlo_.if_statement(c, then, other, _numhlo_.Variables(("x",), (x,)))
        x = 0

The new function has the old one's globals, closure, name and line numbers, so errors show the user's lines. What can't
be a function of its variables (a loop with a return, a branch that sets a global) stays as it is.
"""

from __future__ import annotations

import ast
import functools
import inspect
import weakref
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from types import CellType, CodeType, FunctionType, MethodType
from typing import Any

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.tracer.core.installed_code import has_library_code
from numhlo.tracer.python.autograph import logic, staging
from numhlo.tracer.python.autograph.assignments import surely_assigned
from numhlo.tracer.python.autograph.early_returns import without_early_returns
from numhlo.tracer.python.autograph.exits import HELD, ITERATORS, LEAVES, RUNTIME, set_later, without_exits
from numhlo.tracer.python.autograph.function_sources import decides, definition_of
from numhlo.tracer.python.autograph.inner_functions import InnerFunctions
from numhlo.tracer.python.autograph.matches import without_matches
from numhlo.tracer.python.autograph.names import Names, always_returns, contains_return, names_of
from numhlo.tracer.python.autograph.syntax import (
    assigns,
    comparison,
    copied,
    function_of,
    held,
    load,
    local_name,
    read,
    runtime_call,
    strings,
    thunk,
    tuple_of,
)
from numhlo.tracer.python.marked_calls import Marker
from numhlo.tracer.python.plain_numpy import MARKED, Exchange, exchanged_callee, rewrites


def autographed(fun: Callable[..., Any]) -> Callable[..., Any]:
    """Return what does what a function does, whose `if`, `while` and `for` work on traced values, and those in callees.

    Parameters
    ----------
    fun : callable
        A function made by `def`, a partial of one, or one that a transformation or a decorator made of one.

    Raises
    ------
    ArgumentError
        If there is no source to rewrite.

    Examples
    --------
    >>> autographed(inspect.cleandoc)("  x")
    'x'
    """
    if isinstance(fun, functools.partial):
        return functools.partial(autographed(fun.func), *fun.args, **fun.keywords)
    if inspect.ismethod(fun):
        return MethodType(autographed(fun.__func__), fun.__self__)
    inner = exchanged_callee(fun) if hasattr(fun, "__wrapped__") and has_library_code(fun) else rewritten(fun)

    @functools.wraps(fun)
    def run(*args: Any, **kwargs: Any) -> Any:
        with rewriting_callees():
            return inner(*args, **kwargs)

    run.is_autographed = True  # type: ignore[attr-defined]
    return run


def rewriting_callees() -> AbstractContextManager[Any]:
    """Rewrite what is called in a block, where it is traced: functions of the user's that have a source."""
    return rewrites.bound(_rewritten_if_possible)


def rewritten(fun: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose `if`, `while` and ``for i in range`` work on traced values.

    Raises
    ------
    ArgumentError
        If there is no source to rewrite: code that was typed into ``python -c``, compiled functions.

    Examples
    --------
    >>> rewritten(inspect.cleandoc)("  x")
    'x'
    """
    if inspect.ismethod(fun):
        return MethodType(rewritten(fun.__func__), fun.__self__)
    if not isinstance(fun, FunctionType):
        raise ArgumentError(
            f"autograph: {fun!r} is no function of Python's", where=capture_location(), fix="write it with def"
        )
    definition, first = definition_of(fun)
    definition.decorator_list = []
    name = definition.name = f"{definition.name}{RUNTIME}"  # so that its own name means in it what it did
    definition.body = _Rewriter.of(definition)
    free = [RUNTIME, *fun.__code__.co_freevars]
    factory = ast.FunctionDef(
        name="factory",
        args=ast.arguments(posonlyargs=[], args=[ast.arg(n) for n in free], kwonlyargs=[], kw_defaults=[], defaults=[]),
        body=[definition, ast.Return(load(definition.name))],
        decorator_list=[],
    )
    module = Marker().visit(ast.fix_missing_locations(ast.Module([factory], [])))
    ast.increment_lineno(module, first - 1)
    code = _inner(_inner(compile(module, fun.__code__.co_filename, "exec"), "factory"), name)
    code = MARKED.finish(_with_own_names(code, fun.__name__, fun.__qualname__), CALLEES)
    _note(code)
    cells = dict(zip(fun.__code__.co_freevars, fun.__closure__ or (), strict=True))
    cells[RUNTIME] = CellType(staging)
    closure = tuple(cells[name] for name in code.co_freevars)
    made = FunctionType(code, fun.__globals__, fun.__name__, fun.__defaults__, closure)
    functools.update_wrapper(made, fun)
    made.__kwdefaults__ = fun.__kwdefaults__
    return made


_STAGING = frozenset({id(vars(staging)), id(vars(logic))})


def _called(callee: Any) -> Any:
    """Return what rewritten code calls: the user's own functions rewritten, too, where that can be done."""
    if isinstance(callee, MethodType) and isinstance(callee.__func__, FunctionType):
        made = _called(callee.__func__)
        return exchanged_callee(callee) if made is None else MethodType(made, callee.__self__)
    if not isinstance(callee, FunctionType):
        return exchanged_callee(callee)
    if id(callee.__globals__) in _STAGING:
        return callee  # most calls of rewritten code
    return _rewritten_if_possible(callee) or exchanged_callee(callee)


@functools.lru_cache(maxsize=512)
def _rewritten_if_possible(fun: FunctionType) -> Callable[..., Any] | None:
    code = fun.__code__
    if inspect.isgeneratorfunction(fun) or _is_own(code) or has_library_code(fun):
        return None
    if code.co_name == "<lambda>" and not decides(code):
        return None
    try:
        return rewritten(fun)
    except (ArgumentError, SyntaxError):
        return None


_rewritten: dict[int, weakref.ref[CodeType]] = {}


def _note(code: CodeType) -> None:
    key = id(code)
    _rewritten[key] = weakref.ref(code, lambda _: _rewritten.pop(key, None))
    for inner in code.co_consts:
        if (
            isinstance(inner, CodeType) and inner.co_flags & inspect.CO_OPTIMIZED
        ):  # methods of classes are left as they are
            _note(inner)


def _is_own(code: CodeType) -> bool:
    """Return whether code is rewritten, or a piece of rewritten code: a branch, a body, or a function inside."""
    return id(code) in _rewritten


def _with_own_names(code: CodeType, name: str, qualname: str) -> CodeType:
    """Return code under the name that the user gave it, which messages show; branches and bodies go by the same."""

    def renamed(inner: CodeType) -> CodeType:
        if inner.co_name.endswith(RUNTIME) or inner.co_name == "<lambda>":
            return _with_own_names(inner, name, qualname)
        return _with_own_names(inner, inner.co_name, f"{qualname}.<locals>.{inner.co_name}")

    constants = [renamed(c) if isinstance(c, CodeType) else c for c in code.co_consts]
    return code.replace(co_name=name, co_qualname=qualname, co_consts=tuple(constants))


CALLEES = Exchange(_called)


def _inner(code: CodeType, name: str) -> CodeType:
    return next(c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == name)


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


class _Rewriter(ast.NodeTransformer):
    """Rewrites statements; every rewritten one is a few, so visits return lists."""

    def __init__(self, inner: InnerFunctions) -> None:
        self.count = 0
        self.inner = inner

    @classmethod
    def of(cls, function: ast.FunctionDef) -> list[ast.stmt]:
        """Return a function's statements, rewritten."""
        inner = InnerFunctions(function)
        plain = without_matches(function.body)
        given = [a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg)]
        sure = surely_assigned(plain, given)
        flat = without_exits(without_early_returns(plain))
        hidden = sorted(sure - surely_assigned(flat, given)) if sure else []
        start = [set_later(name, function.body[0], "in_loops") for name in hidden]
        return [*start, *cls(inner).function_body(flat)]

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
        node.body = _Rewriter.of(node)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        return self.generic_visit(node)

    def visit_Assert(self, node: ast.Assert) -> Any:
        node.test = self._condition(node.test)
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
        return f"{kind}_{self.count}{RUNTIME}"

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
