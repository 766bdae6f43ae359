"""Constants that a launch's ops read without a buffer: kernels have them as numbers, the NumPy engine needs the ops."""

from __future__ import annotations

from collections.abc import Sequence

from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Op, Value


def with_constants(ops: Sequence[Op], given: set[Value]) -> list[Op]:
    """Return ``ops`` with the ops before them that they read and that depend on nothing, such as constants.

    Parameters
    ----------
    ops : sequence of Op
        In program order.
    given : set of Value
        What lies in buffers.
    """
    present = set(ops)
    found: dict[Op, None] = {}
    for op in ops:
        for value in (*op.operands, *(free_values(op) if op.regions else ())):
            owner = value.owner
            if value in given or not isinstance(owner, Op) or owner in present:
                continue
            for made in _closed_chain(owner, given):
                found.setdefault(made)
    return [*found, *ops]


def _closed_chain(op: Op, given: set[Value]) -> list[Op]:
    """Return an op and what it depends on, operands first, if that is nothing but constants; else nothing."""
    order: list[Op] = []
    stack = [op]
    while stack:
        last = stack.pop()
        if last.regions:
            return []
        order.append(last)
        for value in last.operands:
            if value in given:
                continue
            if not isinstance(value.owner, Op):
                return []
            stack.append(value.owner)
    return list(dict.fromkeys(reversed(order)))
