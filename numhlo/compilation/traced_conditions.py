"""Whether a function's branches and loops may depend on traced values: found in its source, before it is traced.

An abstract interpretation of the function and of the user's functions that it calls. It need not be right: a condition
that it misses makes the function be traced twice, and one that it takes to be traced makes it be traced rewritten
without need. So it looks at statements in order, at loops a few times, at functions by the kinds of their arguments,
and stops after a bounded number of expressions. No code of the user's runs. Code without conditional jumps and loops,
as bytecode shows within microseconds, is not looked at.
"""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import FunctionType, MethodType
from typing import Any

from numhlo.compilation.abstract_calls import Calls
from numhlo.compilation.abstract_expressions import TooLongError, TracedConditionError
from numhlo.compilation.abstract_values import ARRAY, CONSTANT, UNSIZED, Abstract, container, join, known
from numhlo.tracer.core.installed_code import has_library_code, is_library
from numhlo.tracer.python.code_references import content_of, decides, outer_names

MOST_FUNCTIONS = 200
"""How many functions' bytecode is looked at."""

MOST_PASSES = 4
"""How often the body of a loop is looked at."""


def asks_for_traced_values(fun: Any, args: Sequence[Abstract], kwargs: Mapping[str, Abstract]) -> bool:
    """Return whether a branch or loop of a function, or of one that it calls, probably depends on a traced value.

    Parameters
    ----------
    fun : callable
    args, kwargs
        Abstract values of its arguments.

    Examples
    --------
    >>> asks_for_traced_values(lambda x: x if x.ndim else -x, [ARRAY], {})
    False
    """
    inner, is_plain = _plain(fun)
    if inner is None or not may_decide([inner, *[x.object for x in args]]):
        return False
    found = Interpretation()
    try:
        if is_plain:
            found.called(known(fun), args, kwargs)
        else:  # what it was made into may call it otherwise
            code = inner.__code__
            found.called(known(inner), [ARRAY] * code.co_argcount, {})
    except TracedConditionError:
        return True
    except (TooLongError, RecursionError):
        return False
    return False


def _plain(fun: Any) -> tuple[FunctionType | None, bool]:
    """Return the function of the user's that something callable is, or was made of, and whether it is that function."""
    is_plain = True
    while not isinstance(fun, FunctionType) or has_library_code(fun):
        if isinstance(fun, functools.partial):
            fun = fun.func
        elif isinstance(fun, MethodType):
            fun = fun.__func__
        elif hasattr(fun, "__wrapped__"):
            fun, is_plain = fun.__wrapped__, False
        else:
            return None, False
    return fun, is_plain


def may_decide(roots: Iterable[Any]) -> bool:
    """Return whether the bytecode of functions, or of what they name, has conditional jumps or loops."""
    waiting, seen = list(roots), set[int]()
    while waiting and len(seen) < MOST_FUNCTIONS:
        found = waiting.pop()
        found = getattr(found, "__func__", found)
        if id(found) in seen:
            continue
        seen.add(id(found))
        if isinstance(found, FunctionType):
            if is_library(found.__module__):
                continue
            if decides(found.__code__):
                return True
            waiting += [found.__globals__.get(name) for name in outer_names(found.__code__)]
            waiting += [content_of(cell) for cell in found.__closure__ or ()]
        elif isinstance(found, functools.partial):
            waiting.append(found.func)
        else:
            cls = found if isinstance(found, type) else type(found)
            if not is_library(cls.__module__):
                waiting += [getattr(x, "fget", x) for base in cls.__mro__ for x in vars(base).values()]
    return bool(waiting)


class Interpretation(Calls):
    """Interprets statements."""

    def run(self, statements: Sequence[ast.stmt]) -> bool:
        """Interpret statements; return whether they surely end the function."""
        for statement in statements:
            rule = getattr(self, f"_run_{type(statement).__name__.lower()}", None)
            if rule is not None and rule(statement):
                return True
        return False

    def _either(self, *blocks: Sequence[ast.stmt]) -> bool:
        """Interpret blocks of which one runs; return whether all of them end the function."""
        before, after, ends = self.frame.variables, list[dict[str, Abstract]](), list[bool]()
        for block in blocks:
            self.frame.variables = dict(before)
            ends.append(self.run(block))
            if not ends[-1]:
                after.append(self.frame.variables)
        self.frame.variables = functools.reduce(_joined, after) if after else before
        return all(ends)

    def _repeat(self, once: Callable[[], object]) -> None:
        """Interpret a loop until its variables stay what they are."""
        for _ in range(MOST_PASSES):
            before = dict(self.frame.variables)
            once()
            self.frame.variables = _joined(self.frame.variables, before)
            known_before = before.keys() == self.frame.variables.keys()
            if known_before and all(x.is_like(self.frame.variables[n]) for n, x in before.items()):
                break

    def _run_expr(self, node: ast.Expr) -> None:
        self.value(node.value)

    def _run_assign(self, node: ast.Assign) -> None:
        found = self.value(node.value)
        for target in node.targets:
            self.store(target, found)

    def _run_annassign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.store(node.target, self.value(node.value))

    def _run_augassign(self, node: ast.AugAssign) -> None:
        found = self.operation(node.op, self.value(node.target), self.value(node.value))
        self.store(node.target, found)

    def _run_return(self, node: ast.Return) -> bool:
        self.frame.results.append(self.value(node.value))
        return True

    def _run_raise(self, node: ast.Raise) -> bool:
        return True

    def _run_assert(self, node: ast.Assert) -> None:
        self.value(node.test)

    def _run_if(self, node: ast.If) -> bool:
        holds = self.test(node.test)
        if holds is not None:
            return self.run(node.body if holds else node.orelse)
        return self._either(node.body, node.orelse)

    def _run_while(self, node: ast.While) -> None:
        def once() -> None:
            if self.test(node.test) is not False:
                self.run(node.body)

        self._repeat(once)
        self.run(node.orelse)

    def _run_for(self, node: ast.For) -> None:
        items = self.value(node.iter)
        if items.kind == UNSIZED:
            raise TracedConditionError

        def once() -> None:
            self.store(node.target, items.inside)
            self.run(node.body)

        self._repeat(once)
        self.run(node.orelse)

    def _run_with(self, node: ast.With) -> bool:
        for item in node.items:
            found = self.value(item.context_expr)
            if item.optional_vars is not None:
                self.store(item.optional_vars, found)
        return self.run(node.body)

    def _run_try(self, node: ast.Try) -> None:
        self._either(node.body, [])
        self._either([], *[handler.body for handler in node.handlers])
        self.run(node.orelse)
        self.run(node.finalbody)

    def _run_functiondef(self, node: ast.FunctionDef) -> None:
        self.frame.variables[node.name] = Abstract(0, node, frame=self.frame)

    def _run_import(self, node: ast.Import) -> None:
        for name in node.names:
            module = sys.modules.get(name.name if name.asname else name.name.partition(".")[0])
            self.frame.variables[name.asname or name.name.partition(".")[0]] = known(module)

    def _run_importfrom(self, node: ast.ImportFrom) -> None:
        module = vars(sys.modules[node.module]) if node.module in sys.modules else {}
        for name in node.names:
            self.frame.variables[name.asname or name.name] = known(module.get(name.name))

    def _run_match(self, node: ast.Match) -> bool:
        subject = self.value(node.subject)
        values = [p for case in node.cases for p in ast.walk(case.pattern) if isinstance(p, ast.MatchValue)]
        if subject.holds_traced and values:
            raise TracedConditionError
        for case in node.cases:
            for name in [p.name for p in ast.walk(case.pattern) if isinstance(p, ast.MatchAs) and p.name]:
                self.frame.variables[name] = subject if subject.is_traced else subject.inside
            if case.guard is not None:
                self.test(case.guard)
        return self._either(*[case.body for case in node.cases], [])

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp) -> Abstract:
        before = self.frame.variables
        self.frame.variables = dict(before)
        for generator in node.generators:
            self.store(generator.target, self.value(generator.iter).inside)
            for test in generator.ifs:
                self.value(test)
        inside = self.value(node.value if isinstance(node, ast.DictComp) else node.elt)
        self.frame.variables = before
        return container(inside, dict if isinstance(node, ast.DictComp) else list)

    _value_listcomp = _value_generatorexp = _value_setcomp = _value_dictcomp = _comprehension

    def _value_yield(self, node: ast.Yield) -> Abstract:
        self.frame.results.append(container(self.value(node.value)))
        return CONSTANT


def _joined(first: dict[str, Abstract], second: dict[str, Abstract]) -> dict[str, Abstract]:
    return {
        name: join(first[name], second[name]) if name in first and name in second else first.get(name) or second[name]
        for name in {**first, **second}
    }
