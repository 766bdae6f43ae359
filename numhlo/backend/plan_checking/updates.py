"""Windows at fixed places that replace a part of an array: outside of them, the array stays what it was."""

from __future__ import annotations

from numhlo.backend.plan_checking.contents import Window
from numhlo.backend.plan_checking.values import constant_of
from numhlo.lowering.ir import Op, Value
from numhlo.lowering.ops.control_flow import COMPOSITE, WHILE
from numhlo.lowering.ops.indexing import DYNAMIC_UPDATE_SLICE, SCATTER
from numhlo.lowering.ops.layout import CONCATENATE, PAD

STRIDED = "numhlo.strided_update"
"""The composite whose result is its first operand, but for elements at regular distances."""

MADE_OF_PARTS = frozenset({COMPOSITE, CONCATENATE, DYNAMIC_UPDATE_SLICE, PAD, SCATTER, WHILE})


def updated_array(result: Value) -> Value | None:
    """Return the array of which a result is a changed copy, if it is one: the rest of it must be there."""
    op = result.owner
    if not isinstance(op, Op):
        return None
    if op.definition is COMPOSITE:
        return op.operands[0] if op.attributes["name"] == STRIDED else None
    if op.definition in (DYNAMIC_UPDATE_SLICE, SCATTER, WHILE):
        return op.operands[op.results.index(result)]
    return None


def has_parts(result: Value) -> bool:
    """Return whether an op's result is made part by part, so that a part may be missing."""
    return isinstance(result.owner, Op) and result.owner.definition in MADE_OF_PARTS


def replaced_window(array: Value, result: Value) -> Window | None:
    """Return the window that a result replaces in an array, if it is the array but for that, and always the same."""
    op = result.owner
    if not isinstance(op, Op) or op.definition is not DYNAMIC_UPDATE_SLICE or op.operands[0] is not array:
        return None
    starts = [constant_of(index) for index in op.operands[2:]]
    places = [int(start.reshape(-1)[0]) for start in starts if start is not None]
    if len(places) != len(starts):
        return None
    return tuple(places), op.operands[1].tensor.shape
