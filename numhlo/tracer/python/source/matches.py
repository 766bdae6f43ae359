"""`match` on values as branches, and `del` in branches as a variable without a value.

    match state:                      if state == 0: a()
        case 0: a()             →     elif state == 1 or state == 2: b()
        case 1 | 2: b()               else: c()
        case _: c()

Patterns are values, alternatives of these, names, wildcards, guards, and tuples of them where the subject is written as
a tuple. Others stay as they are: classes, mappings and sequences are known while tracing.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence

from numhlo.tracer.python.source.exits import SUFFIX
from numhlo.tracer.python.source.marked_calls import runtime_call

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def without_matches(statements: Sequence[ast.stmt]) -> list[ast.stmt]:
    r"""Return statements with `match` as branches where its patterns allow it, and no `del` of variables in branches.

    Examples
    --------
    >>> found = without_matches(ast.parse("match n:\n case 1 | 2: a()\n case k if k > 5: b(k)").body)
    >>> print(ast.unparse(found[0]))
    if n == 1 or n == 2:
        a()
    else:
        k = n
        if k > 5:
            b(k)
    """
    return _Matcher().block(statements)


class _Matcher(ast.NodeTransformer):
    def __init__(self) -> None:
        self.count = 0
        self.depth = 0

    def block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Return statements, rewritten."""
        return list(super().generic_visit(ast.Module(list(statements), [])).body)  # type: ignore[attr-defined]

    def visit(self, node: ast.AST) -> object:
        """Rewrite a node, not what is in functions of its own."""
        if isinstance(node, _SCOPES):
            return node
        inner = isinstance(node, ast.If | ast.While | ast.For)
        self.depth += inner
        found: object = super().visit(node)
        self.depth -= inner
        return found

    def visit_Delete(self, node: ast.Delete) -> ast.stmt | list[ast.stmt]:
        names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        if not self.depth or len(names) < len(node.targets):
            return node
        return [_assigned(name, _nothing(name), node) for name in names]

    def visit_Match(self, node: ast.Match) -> ast.stmt | list[ast.stmt]:
        before, subject = self._subject(node)
        try:
            branches = _branches(subject, node.cases)
        except _OtherPatternError:
            self.generic_visit(node)
            return node
        return self.block([*before, *branches])

    def _subject(self, node: ast.Match) -> tuple[list[ast.stmt], ast.expr]:
        """Return statements that keep what is matched under names, and these."""
        subject = node.subject
        parts = subject.elts if isinstance(subject, ast.Tuple) else [subject]
        before: list[ast.stmt] = []
        kept: list[ast.expr] = []
        for part in parts:
            if isinstance(part, ast.Name | ast.Constant):
                kept.append(part)
                continue
            self.count += 1
            name = f"subject_{self.count}{SUFFIX}"
            before.append(_assigned(name, part, node))
            kept.append(ast.copy_location(ast.Name(name, ast.Load()), part))
        if isinstance(subject, ast.Tuple):
            return before, ast.copy_location(ast.Tuple(kept, ast.Load()), subject)
        return before, kept[0]


class _OtherPatternError(Exception):
    """A pattern that is no comparison with values."""


def _branches(subject: ast.expr, cases: Sequence[ast.match_case]) -> list[ast.stmt]:
    """Return the statements that choose among cases."""
    if not cases:
        return []
    first, *rest = cases
    tests, names = _tests(first.pattern, subject)
    binding: list[ast.stmt] = [_assigned(name, value, first.body[0]) for name, value in names]
    others = _branches(subject, rest)
    if first.guard is not None and tests and names:
        raise _OtherPatternError
    if first.guard is None:
        return _choice(tests, [*binding, *first.body], others, first)
    return [*binding, *_choice([*tests, first.guard], first.body, others, first)]


def _choice(
    tests: list[ast.expr], body: list[ast.stmt], others: list[ast.stmt], case: ast.match_case
) -> list[ast.stmt]:
    if not tests:
        return body
    test = tests[0] if len(tests) == 1 else ast.copy_location(ast.BoolOp(ast.And(), tests), case.pattern)
    return [ast.copy_location(ast.If(test, body, others), case.pattern)]


def _tests(pattern: ast.pattern, subject: ast.expr) -> tuple[list[ast.expr], list[tuple[str, ast.expr]]]:
    """Return what must hold for a subject to match, and the names that it then gets."""
    if isinstance(pattern, ast.MatchAs):
        tests, names = ([], []) if pattern.pattern is None else _tests(pattern.pattern, subject)
        return tests, names if pattern.name is None else [*names, (pattern.name, subject)]
    if isinstance(pattern, ast.MatchSequence) and isinstance(subject, ast.Tuple):
        if len(pattern.patterns) != len(subject.elts) or any(isinstance(p, ast.MatchStar) for p in pattern.patterns):
            raise _OtherPatternError
        pairs = [_tests(p, s) for p, s in zip(pattern.patterns, subject.elts, strict=True)]
        return [t for tests, _ in pairs for t in tests], [n for _, names in pairs for n in names]
    if isinstance(pattern, ast.MatchOr):
        parts = [_tests(p, subject) for p in pattern.patterns]
        if any(names or not tests for tests, names in parts):
            raise _OtherPatternError
        every = [t[0] if len(t) == 1 else ast.copy_location(ast.BoolOp(ast.And(), t), pattern) for t, _ in parts]
        return [ast.copy_location(ast.BoolOp(ast.Or(), every), pattern)], []
    if isinstance(subject, ast.Tuple) or not isinstance(pattern, ast.MatchValue | ast.MatchSingleton):
        raise _OtherPatternError
    if isinstance(pattern, ast.MatchValue):
        compared = ast.Compare(copy.deepcopy(subject), [ast.Eq()], [pattern.value])
    else:
        compared = ast.Compare(copy.deepcopy(subject), [ast.Is()], [ast.Constant(pattern.value)])
    return [ast.copy_location(compared, pattern)], []


def _assigned(name: str, value: ast.expr, like: ast.stmt) -> ast.stmt:
    return ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], value), like)


def _nothing(name: str) -> ast.expr:
    return runtime_call("deleted", ast.Constant(name))
