"""What transformations share: expressions compared by what they mean, copied with other values for variables, made."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import Any

from numhlo.backend.kernels import ir
from numhlo.backend.kernels.expressions import FOLDED


def integer(value: int) -> ir.Constant:
    """Return an integer literal."""
    return ir.Constant(value, ir.INT64)


def is_integer(node: ir.Expression, value: int) -> bool:
    """Return whether an expression is an integer literal of a value."""
    return isinstance(node, ir.Constant) and node.type == ir.INT64 and node.value == value


def arithmetic(callee: Callable[..., Any], lhs: ir.Expression, rhs: ir.Expression) -> ir.Expression:
    """Return an operation of Python's on two int64 values, computed where both are literals."""
    assert lhs.type == rhs.type == ir.INT64
    if callee in FOLDED and isinstance(lhs, ir.Constant) and isinstance(rhs, ir.Constant):
        return integer(callee(lhs.value, rhs.value))
    return ir.Call(callee, (lhs, rhs), ir.INT64)


def comparison(callee: Callable[..., Any], lhs: ir.Expression, rhs: ir.Expression) -> ir.Call:
    """Return a comparison, or a connection of booleans by ``&`` or ``|``."""
    return ir.Call(callee, (lhs, rhs), ir.BOOL)


def plus(lhs: ir.Expression, rhs: ir.Expression) -> ir.Expression:
    """Return the sum of two int64 values."""
    return arithmetic(operator.add, lhs, rhs)


def key_of(node: ir.Expression, definitions: Mapping[ir.Variable, ir.Expression] | None = None) -> Hashable:
    """Return what is equal for expressions that are made alike of the same variables.

    Parameters
    ----------
    node : Expression
    definitions : mapping from Variable to Expression, optional
        Variables that stand for their definitions.
    """
    known = definitions or {}
    while isinstance(node, ir.Read) and node.variable in known:
        node = known[node.variable]
    parts = tuple([key_of(operand, known) for operand in ir.operands_of(node)])
    return type(node), node.type, _own_part(node), parts


def _own_part(node: ir.Expression) -> Hashable:
    """Return what an expression says beside its operands."""
    match node:
        case ir.Constant(value=value):
            return type(value), value if isinstance(value, int) else repr(value)
        case ir.Read(variable=variable):
            return variable
        case ir.Load(storage=storage):
            return storage.name
        case ir.Call(callee=callee):
            return id(callee)
        case ir.Part(name=name):
            return name
        case ir.Logical(is_and=is_and):
            return is_and
        case _:
            return None


def rewritten(node: ir.Expression, change: Callable[[ir.Expression], ir.Expression | None]) -> ir.Expression:
    """Return an expression with some expressions in it replaced.

    Parameters
    ----------
    node : Expression
    change : callable
        Gives what takes the place of an expression, None for what stays but for its operands.
    """
    found = change(node)
    if found is not None:
        return found
    match node:
        case ir.Load(pointer=pointer, index=index):
            return replace(node, pointer=rewritten(pointer, change), index=rewritten(index, change))
        case ir.Call(operands=operands) | ir.Logical(operands=operands):
            return replace(node, operands=tuple([rewritten(operand, change) for operand in operands]))
        case ir.Part(operand=operand) | ir.Not(operand=operand):
            return replace(node, operand=rewritten(operand, change))
        case ir.Conditional(condition=condition, then=then, otherwise=otherwise):
            parts = [rewritten(part, change) for part in (condition, then, otherwise)]
            return ir.Conditional(*parts)
        case _:
            return node


def variables_in(node: ir.Expression) -> set[ir.Variable]:
    """Return the variables that an expression reads."""
    found = {node.variable} if isinstance(node, ir.Read) else set()
    return found.union(*[variables_in(operand) for operand in ir.operands_of(node)])


def loads_in(node: ir.Expression) -> list[ir.Load]:
    """Return the loads in an expression."""
    own = [node] if isinstance(node, ir.Load) else []
    return own + [load for operand in ir.operands_of(node) for load in loads_in(operand)]
