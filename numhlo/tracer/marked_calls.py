"""A function's code with every call marked: ``f(x)`` becomes ``exchange[f](x)``, and nothing else changes.

So the code that is traced can call something else in a callee's place, however it came by it: a method, an item of a
dict, a parameter. The marked code is compiled from the function's source, and only used where that source, unmarked,
gives the very code that the function has: a file that was edited meanwhile does not count. Variables, names and
positions stay the same, so errors show the user's lines.

What callees are exchanged for is decided in `plain_numpy`.
"""

from __future__ import annotations
import __future__

import ast
import functools
import linecache
import weakref
from collections.abc import Iterator, Mapping
from types import CodeType
from typing import Any

MARK = "\0numhlo: a callee"
"""The constant that stands for the exchange until the code is compiled."""

INDEXED = frozenset({"c_", "r_"})
"""NumPy's objects that are used by indexing: they are exchanged, too."""

FRAME_READERS = frozenset({"super", "locals", "globals", "vars", "dir", "eval", "exec"})
"""Builtins that look at their caller's variables."""

_FUTURE = functools.reduce(int.__or__, [getattr(__future__, n).compiler_flag for n in __future__.all_feature_names])
_LITERALS = (
    ast.Constant, ast.JoinedStr, ast.Lambda, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.ListComp, ast.SetComp,
    ast.DictComp, ast.GeneratorExp,
)  # fmt: skip


class Marker(ast.NodeTransformer):
    """Marks the callees of calls, and what is indexed under a name of `INDEXED`."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Mark a callee."""
        self.generic_visit(node)
        is_reader = isinstance(node.func, ast.Name) and node.func.id in FRAME_READERS
        if not is_reader and not isinstance(node.func, _LITERALS):
            node.func = _marked(node.func)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Mark ``np.r_`` and its like."""
        self.generic_visit(node)
        name = getattr(node.value, "attr", getattr(node.value, "id", None))
        if name in INDEXED and isinstance(node.ctx, ast.Load):
            node.value = _marked(node.value)
        return node


def _marked(callee: ast.expr) -> ast.expr:
    made = ast.Subscript(ast.copy_location(ast.Constant(MARK), callee), callee, ast.Load())
    return ast.copy_location(made, callee)


def with_exchange(code: CodeType, exchange: Any) -> CodeType:
    """Return marked code, and the code inside it, with ``exchange`` in the mark's place."""
    constants = tuple(
        [
            with_exchange(c, exchange) if isinstance(c, CodeType) else exchange if c == MARK else c
            for c in code.co_consts
        ]
    )
    return code.replace(co_consts=constants)


class MarkedCodes:
    """The marked codes of functions, each made once.

    Parameters
    ----------
    exchange : object
        ``exchange[callee]`` returns what is called.
    """

    def __init__(self, exchange: Any) -> None:
        self._exchange = exchange
        self._found: dict[int, tuple[weakref.ref[CodeType], CodeType | None]] = {}

    def of(self, code: CodeType, scope: Mapping[str, Any]) -> CodeType | None:
        """Return a function's code, marked; itself if it is so already; None where its source can't be had.

        Parameters
        ----------
        code : CodeType
        scope : mapping
            The function's globals, by which the source of a module in an archive is found.
        """
        known = self._found.get(id(code))
        if known is None:
            known = self._find(code, scope)
        return known[1]

    def _find(self, code: CodeType, scope: Mapping[str, Any]) -> tuple[weakref.ref[CodeType], CodeType | None]:
        key, marked = id(code), None
        for table in _tables(code, scope):
            marked = table.get(code)
            if marked is not None:
                marked = self.finish(marked)
                _remember(marked, code)
                break
        self._found[key] = weakref.ref(code, lambda _: self._found.pop(key, None)), marked
        return self._found[key]

    def finish(self, code: CodeType) -> CodeType:
        """Return code that was compiled from a marked tree with the exchange in the marks' place."""
        marked = with_exchange(code, self._exchange)
        self._note(marked)
        return marked

    def _note(self, marked: CodeType) -> None:
        """Remember that code is marked, and that inside it."""
        key = id(marked)
        self._found[key] = weakref.ref(marked, lambda _: self._found.pop(key, None)), marked
        for inner in _inner(marked):
            self._note(inner)


_originals: dict[int, tuple[weakref.ref[CodeType], weakref.ref[CodeType]]] = {}


def _remember(marked: CodeType, code: CodeType) -> None:
    key = id(marked)
    _originals[key] = weakref.ref(marked, lambda _: _originals.pop(key, None)), weakref.ref(code)
    for new, old in zip(_inner(marked), _inner(code), strict=True):
        _remember(new, old)


def original_code(code: CodeType) -> CodeType:
    """Return the code that marked code was made of; any other code itself."""
    found = _originals.get(id(code))
    return code if found is None else found[1]() or code


def _inner(code: CodeType) -> list[CodeType]:
    return [c for c in code.co_consts if isinstance(c, CodeType)]


def _tables(code: CodeType, scope: Mapping[str, Any]) -> Iterator[Mapping[CodeType, CodeType]]:
    """Yield marked codes by unmarked ones: of the statement around a function, and then of its whole file."""
    lines = linecache.getlines(code.co_filename, dict(scope))
    flags = code.co_flags & _FUTURE
    if not 0 < code.co_firstlineno <= len(lines):
        return
    first, last = _statement(lines, code.co_firstlineno - 1)
    yield _table("".join(lines[first:last]), first, code.co_filename, flags)
    yield _table("".join(lines), 0, code.co_filename, flags)


def _statement(lines: list[str], at: int) -> tuple[int, int]:
    """Return where the top-level statement around a line seems to begin and end."""
    first = at
    while first > 0 and lines[first][:1] in " \t\f\r\n#)]}":
        first -= 1
    last = first
    while last < len(lines) and lines[last].startswith("@"):
        last += 1
    last += 1
    while last < len(lines) and (lines[last][:1] in " \t\f\r\n#)]}" or last <= at):
        last += 1
    return first, last


@functools.lru_cache(maxsize=256)
def _table(source: str, first: int, filename: str, flags: int) -> Mapping[CodeType, CodeType]:
    """Return the marked code of every function in a piece of source, by the code that it has unmarked."""
    try:
        tree = ast.parse(source, filename)
        ast.increment_lineno(tree, first)
        plain = compile(tree, filename, "exec", flags, dont_inherit=True)
        marked = compile(Marker().visit(tree), filename, "exec", flags, dont_inherit=True)
    except (SyntaxError, ValueError):
        return {}
    found: dict[CodeType, CodeType] = {}
    _pair(plain, marked, found)
    return found


def _pair(plain: CodeType, marked: CodeType, found: dict[CodeType, CodeType]) -> None:
    for old, new in zip(_inner(plain), _inner(marked), strict=True):
        if old.co_freevars == new.co_freevars:
            found[old] = new
        _pair(old, new, found)
