"""Constants that are in no buffer: which ones kernels get at run time, and which ops the NumPy engine needs of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np

from numhlo.backend.emit.registers import REGISTERS, is_plain
from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Op, Region, Value

MOST_NUMBERS = 16
"""Numbers that kernels of one region have in their texts, where it has more."""


def carried_constants(region: Region, constants: Collection[Op]) -> frozenset[Op]:
    """Return which constants come at run time because the region has so many: the rare ones.

    An unrolled loop's own numbers come again in every round; what differs from round to round must not make a kernel
    of each.

    Parameters
    ----------
    region : Region
    constants : collection of Op
        Those whose elements are all the same.
    """
    numbers = {op: op.attributes["value"].reshape(-1)[0].tobytes() for op in constants if _is_written(op)}
    if len(set(numbers.values())) <= MOST_NUMBERS:
        return frozenset()
    uses = Counter(numbers[v.owner] for op in region.ops for v in op.operands if v.owner in numbers)
    least = uses.total() / MOST_NUMBERS
    return frozenset(op for op, number in numbers.items() if uses[number] < least)


def _is_written(op: Op) -> bool:
    """Return whether kernels have a constant's number in their texts by themselves."""
    value = op.attributes["value"]
    return isinstance(value, np.ndarray) and value.size > 0 and is_plain(value.reshape(-1)[0], REGISTERS[value.dtype])


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
            if value in given or owner in present or not isinstance(owner, Op):
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
