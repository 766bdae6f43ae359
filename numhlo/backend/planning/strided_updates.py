"""Writes through slices with steps, as ``x[::2] = v`` is traced: a choice between the array and the padded update.

Nothing smaller than that is StableHLO for it. The planner sees one op instead, which writes what is chosen from the
update and touches nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numhlo.backend.emit.access import Access, contiguous
from numhlo.backend.emit.indexing import emit_update
from numhlo.backend.emit.scalar_code import MOST_ELEMENTS
from numhlo.backend.emit.special import COMPOSITE_KERNELS
from numhlo.backend.emit.tables import RootRule
from numhlo.lowering.ir import Op, Value
from numhlo.lowering.ops.comparison import SELECT
from numhlo.lowering.ops.composites import CompositeDefinition, register
from numhlo.lowering.ops.control_flow import COMPOSITE
from numhlo.lowering.ops.creation import CONSTANT
from numhlo.lowering.ops.layout import BROADCAST_IN_DIM, PAD
from numhlo.lowering.ops.primitive import Arrays

STRIDED_UPDATE = "numhlo.strided_update"
GEOMETRY = ("edge_padding_low", "edge_padding_high", "interior_padding")


def is_strided_update(op: Op) -> bool:
    """Return whether an op chooses a padded update where a mask, padded likewise, says so.

    Arrays of few elements don't count, as loops keep those in local variables.
    """
    if op.definition is not SELECT or op.result.tensor.size <= MOST_ELEMENTS:
        return False
    mask, spread = (_padded(value) for value in op.operands[:2])
    if mask is None or spread is None:
        return False
    same = all(tuple(mask.attributes[key]) == tuple(spread.attributes[key]) for key in GEOMETRY)
    inside = min(*spread.attributes["edge_padding_low"], *spread.attributes["edge_padding_high"], 0) == 0
    return same and inside and _is_all(mask.operands[0], True) and _is_all(mask.operands[1], False)


def _padded(value: Value) -> Op | None:
    op = value.owner
    return op if isinstance(op, Op) and op.definition is PAD else None


def _is_all(value: Value, wanted: bool) -> bool:
    """Return whether all elements of a boolean array are the same constant."""
    op = value.owner
    while isinstance(op, Op) and op.definition is BROADCAST_IN_DIM:
        op = op.operands[0].owner
    return isinstance(op, Op) and op.definition is CONSTANT and bool((op.attributes["value"] == wanted).all())


def strided_update(op: Op, operands: Sequence[Value], append: Callable[[Op], None]) -> Value:
    """Append the op that writes the update alone, and return its result.

    Parameters
    ----------
    op : Op
    operands : sequence of Value
        The array, and the update without padding.
    append : callable
    """
    spread = op.operands[1].owner
    assert isinstance(spread, Op)
    starts = tuple(spread.attributes["edge_padding_low"])
    steps = tuple(gap + 1 for gap in spread.attributes["interior_padding"])
    attributes = {"name": STRIDED_UPDATE, "composite_attributes": {"starts": starts, "steps": steps}}
    made = Op(COMPOSITE, list(operands), attributes, [], [op.result.type], op.location)
    append(made)
    return made.result


def _evaluate(arrays: Arrays, attributes: Any, regions: Any) -> Arrays:
    array, update = arrays
    result = array.copy()
    parameters = attributes["composite_attributes"]
    places = zip(parameters["starts"], parameters["steps"], update.shape, strict=True)
    result[tuple(slice(start, start + step * count, step) for start, step, count in places)] = update
    return [result]


def _emit(op: Op, planner: Any) -> None:
    array, update = (v.tensor for v in op.operands)
    parameters = op.attributes["composite_attributes"]
    strides = contiguous(array.shape)
    offset = int(np.dot(parameters["starts"], strides))
    steps = [s * step if n > 1 else 0 for s, step, n in zip(strides, parameters["steps"], update.shape, strict=True)]
    emit_update(op, planner, Access(offset, tuple(steps)))


register(
    CompositeDefinition(STRIDED_UPDATE, _evaluate, 2, 1, "An array with a strided rectangle of it replaced by another.")
)
COMPOSITE_KERNELS[STRIDED_UPDATE] = RootRule(_emit, fusible=lambda op: (1,))
