"""The definitions of functions as syntax trees, found in their files by line, name and position.

Only the statement of the file around a function is parsed, or the whole file where that is not one by itself. A tree is
read by whoever predicts what a function does, and then taken by who rewrites it.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator, Mapping
from types import CodeType
from typing import Any

from numhlo.lowering.ir.records import record

MOST_KEPT = 64
"""Definitions that are kept until somebody rewrites them."""

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@record(frozen=True, slots=True)
class Definition:
    """Where a function is defined.

    Attributes
    ----------
    node : ast.FunctionDef, ast.AsyncFunctionDef or ast.Lambda
    enclosing : str or None
        The innermost class around it, by which Python completes private names.
    """

    node: Any
    enclosing: str | None


_kept: dict[int, tuple[CodeType, Definition]] = {}
"""By the ids of codes, the latest last."""


def definition_of(code: CodeType, scope: Mapping[str, Any]) -> Definition | None:
    """Return the definition of a function, which is not to be changed; None where its source can't be had.

    Parameters
    ----------
    code : CodeType
    scope : mapping
        The function's globals, by which the source of a module in an archive is found.

    Examples
    --------
    >>> definition_of(definition_of.__code__, globals()).node.name
    'definition_of'
    """
    kept = _kept.get(id(code))
    if kept is not None:
        return kept[1]
    found = _find(code, scope)
    if found is not None:
        _kept[id(code)] = code, found
        while len(_kept) > MOST_KEPT:
            del _kept[next(iter(_kept))]
    return found


def source_of(code: CodeType, scope: Mapping[str, Any]) -> ast.AST | None:
    """Return the tree of a function's code, or a module's; None where its source can't be had."""
    if code.co_name == "<module>":
        return _parsed("".join(linecache.getlines(code.co_filename, dict(scope))))
    found = definition_of(code, scope)
    return None if found is None else found.node


def take_definition(code: CodeType, scope: Mapping[str, Any]) -> Definition | None:
    """Return the definition of a function for the caller to change; None where its source can't be had."""
    found = definition_of(code, scope)
    _kept.pop(id(code), None)
    return found


def _find(code: CodeType, scope: Mapping[str, Any]) -> Definition | None:
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, dict(scope))
    line = code.co_firstlineno
    if not 0 < line <= len(lines):
        return None
    first, last = statement_around(lines, line - 1)
    for text in ("\n" * first + "".join(lines[first:last]), "".join(lines)):
        tree = _parsed(text)
        fitting = [found for found in _definitions(tree, line, None) if _is_of(found.node, code)] if tree else []
        if fitting:
            return max(fitting, key=lambda found: (found.node.lineno, found.node.col_offset))  # the innermost
    return None


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


def statement_around(lines: list[str], at: int) -> tuple[int, int]:
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


def _definitions(node: ast.AST, line: int, enclosing: str | None) -> Iterator[Definition]:
    """Yield the functions in a tree that begin in a line."""
    for child in ast.iter_child_nodes(node):
        start = _first_line(child)
        if start is not None and not start <= line <= child.end_lineno:  # type: ignore[attr-defined]
            continue
        if (isinstance(child, FUNCTIONS) and start == line) or (isinstance(child, ast.Lambda) and child.lineno <= line):
            yield Definition(child, enclosing)
        yield from _definitions(child, line, child.name if isinstance(child, ast.ClassDef) else enclosing)


def _first_line(node: ast.AST) -> int | None:
    decorators = getattr(node, "decorator_list", None)
    return min([node.lineno, *[d.lineno for d in decorators]]) if decorators else getattr(node, "lineno", None)  # type: ignore[attr-defined]


def _is_of(node: Any, code: CodeType) -> bool:
    """Return whether a node may be the source of code: a file that has been changed since may have another one there.

    All that the code of a lambda does stands in its body, and both use the same names.
    """
    arguments = node.args
    given = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    if isinstance(node, FUNCTIONS):
        return node.name == code.co_name and len(given) == len(parameters)
    if code.co_name != "<lambda>" or tuple(given) != parameters:
        return False
    used = {n.id for n in ast.walk(node.body) if isinstance(n, ast.Name)}
    start, end = (node.body.lineno, node.body.col_offset), (node.body.end_lineno or 0, node.body.end_col_offset or 0)
    positions = [
        (line, column)
        for line, last, column, after in code.co_positions()
        if line is not None and column is not None and (line, column) != (last, after)
    ]
    return used <= _names(code) and bool(positions) and all(start <= position < end for position in positions)


def _names(code: CodeType) -> set[str]:
    inner = [_names(x) for x in code.co_consts if isinstance(x, CodeType)]
    return {*code.co_names, *code.co_varnames, *code.co_freevars, *code.co_cellvars}.union(*inner)
