"""What the user calls the operands of an operation: ``x`` and ``bias`` in ``return x + bias``, for error messages.

The place of an instruction in its source line is known to the column, so the expression there can be parsed. Nothing of
this runs unless an error is raised.
"""

from __future__ import annotations

import ast
import linecache
from itertools import islice

from numhlo.lowering.ir import Location

LONGEST = 24
"""Longer expressions are not shown."""


def operand_names(where: Location, count: int) -> list[str]:
    """Return the source of each operand of the operation at a location; empty where that can't be told.

    Parameters
    ----------
    where : Location
    count : int
        How many operands the operation has.
    """
    names = [ast.unparse(node) for node in _operands(_expression(where))]
    fits = len(names) == count and all(len(name) <= LONGEST for name in names)
    return names if fits else []


def _expression(where: Location) -> ast.AST | None:
    if where.code is None:
        return None
    positions = next(islice(where.code.co_positions(), where.offset // 2, None), None)
    if positions is None or None in positions or positions[0] != positions[1]:
        return None
    line, _, first, last = positions
    text = linecache.getline(where.filename, line or 0).encode()[first:last].decode(errors="replace")
    try:
        (statement,) = ast.parse(text.strip()).body
    except (SyntaxError, ValueError):
        return None
    return statement.value if isinstance(statement, ast.Expr) else statement


def _operands(node: ast.AST | None) -> list[ast.expr]:
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.AugAssign):
        return [node.target, node.value]
    if isinstance(node, ast.Compare) and len(node.comparators) == 1:
        return [node.left, *node.comparators]
    if isinstance(node, ast.Call):
        return list(node.args)
    return []
