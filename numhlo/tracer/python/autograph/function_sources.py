"""The source of functions as syntax trees: of those that `def` made, and of lambdas."""

from __future__ import annotations

import ast
import dis
import functools
import linecache
import textwrap
import tokenize
from collections.abc import Mapping
from copy import deepcopy
from types import CodeType, FunctionType
from typing import Any

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.tracer.core.source_lines import source_lines

_DECIDES = frozenset({"UNARY_NOT", "TO_BOOL"})


def decides(code: CodeType) -> bool:
    """Return whether code asks for the truth of a value, or code inside it does.

    Examples
    --------
    >>> decides((lambda x: x if x else 1).__code__), decides((lambda x: x + 1).__code__)
    (True, False)
    """
    names = [instruction.opname for instruction in dis.get_instructions(code)]
    if any(("JUMP" in name and "IF" in name) or name in _DECIDES for name in names):
        return True
    return any(decides(inner) for inner in code.co_consts if isinstance(inner, CodeType))


def definition_of(fun: FunctionType) -> tuple[ast.FunctionDef, int]:
    """Return a function's definition as a tree, and the number of its first line.

    Raises
    ------
    ArgumentError
        If there is no source, or other code stands in its place.

    Examples
    --------
    >>> definition_of(textwrap.dedent)[0].name
    'dedent'
    """
    name = fun.__code__.co_name
    if name == "<lambda>":
        found = _definition_of_lambda(fun.__code__, fun.__globals__)
        if found is None:
            raise ArgumentError(
                "autograph: the source of a lambda can't be found", where=capture_location(), fix="write it with def"
            )
        return found, 1
    try:
        lines, first = source_lines(fun.__code__, fun.__globals__)  # not that of what a decorator's function wraps
        tree = ast.parse(textwrap.dedent("".join(lines)))
        # Other source may go by the file's name: "<string>" is what both `exec` and `python -c` call it.
        definition = next((n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == name), None)
        why = "what stands in its place is other code"
    except (OSError, TypeError, SyntaxError, tokenize.TokenError) as error:
        definition, why = None, str(error)
    if definition is None:
        raise ArgumentError(
            f"autograph: the source of {fun.__qualname__} can't be read",
            where=capture_location(),
            why=why,
            fix="put the function into a file or a notebook cell",
        )
    return definition, first


def _definition_of_lambda(code: CodeType, scope: Mapping[str, Any]) -> ast.FunctionDef | None:
    """Return a lambda as a function definition with its line numbers;  None where its source isn't found."""
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, dict(scope))
    found = [node for node in _lambdas("".join(lines)) if _holds(node, code)]
    if not found:
        return None
    node = deepcopy(max(found, key=lambda node: _start(node.body)))  # the innermost
    body = ast.copy_location(ast.Return(node.body), node.body)
    made = ast.FunctionDef(name="lambda_", args=node.args, body=[body], decorator_list=[])
    return ast.copy_location(made, node)


@functools.lru_cache(maxsize=8)
def _lambdas(text: str) -> list[ast.Lambda]:
    """Return the lambdas of a text, in order; none where it is not Python's alone, as in a notebook's magic lines."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return []
    return [node for node in ast.walk(tree) if isinstance(node, ast.Lambda)]


def _holds(node: ast.Lambda, code: CodeType) -> bool:
    """Return whether all that code does stands in a lambda's body, and both use the same names.

    A file that has been changed since may have another lambda in its place.
    """
    given = {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)}
    used = {n.id for n in ast.walk(node.body) if isinstance(n, ast.Name)}
    if not (given >= {*code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]} and used <= _names(code)):
        return False
    start, end = _start(node.body), (node.body.end_lineno or 0, node.body.end_col_offset or 0)
    places = [
        (line, column)
        for line, last, column, after in code.co_positions()
        if line is not None and column is not None and (line, column) != (last, after)
    ]
    return bool(places) and all(start <= place < end for place in places)


def _names(code: CodeType) -> set[str]:
    inner = [_names(x) for x in code.co_consts if isinstance(x, CodeType)]
    return {*code.co_names, *code.co_varnames, *code.co_freevars, *code.co_cellvars}.union(*inner)


def _start(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset
