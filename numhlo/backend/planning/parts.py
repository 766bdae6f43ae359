"""Arrays that are computed part by part: each part, a box of them, by a kernel of its own, and written to its place.

Parts that meet closely, such as coordinates, are written by one kernel: each would read and write every cache line.
`seams` makes this op of elementwise ops on concatenated and padded arrays. Parts cover the array and don't overlap.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numhlo.backend.emit.access import Access, contiguous
from numhlo.backend.emit.expressions import IDENTITY
from numhlo.backend.emit.layout import LINE, MOST_INTERLEAVED, SMALL, concatenated_parts, padded_parts
from numhlo.backend.emit.maps import Store
from numhlo.backend.emit.registers import REGISTERS
from numhlo.backend.emit.special import COMPOSITE_KERNELS
from numhlo.backend.emit.tables import RootRule
from numhlo.lowering.ir import Location, Op, TensorType, Value
from numhlo.lowering.ops.composites import CompositeDefinition, register
from numhlo.lowering.ops.control_flow import COMPOSITE
from numhlo.lowering.ops.layout import CONCATENATE, PAD
from numhlo.lowering.ops.primitive import Arrays, Primitive

PARTS = "numhlo.parts"

Parts = list[tuple[Any, list[Store]]]
"""The expressions and stores of kernels that write one part each."""

IN_PARTS: dict[Primitive, Callable[[Op, Any], Parts]] = {CONCATENATE: concatenated_parts, PAD: padded_parts}
"""Other ops that are written part by part."""


def is_parts(op: Op) -> bool:
    """Return whether an op computes arrays part by part."""
    return op.definition is COMPOSITE and op.attributes["name"] == PARTS


def parts_of(op: Op, site: Any) -> Parts:
    """Return the expressions and stores of the kernels that write an op's results part by part; none for other ops.

    Parameters
    ----------
    op : Op
    site : object
        Has the methods ``expressions`` and ``operand_expressions`` of a planner.
    """
    if is_parts(op):
        return boxes_of(op, site)
    found = IN_PARTS.get(op.definition)
    return [] if found is None else found(op, site)


def part_count(op: Op) -> int:
    """Return how many parts an op that `is_parts` computes."""
    return len(op.operands) // len(op.results)


def put_together(
    parts: Sequence[Sequence[Value]],
    starts: Sequence[tuple[int, ...]],
    types: Sequence[TensorType],
    append: Callable[[Op], None],
    location: Location,
) -> list[Value]:
    """Append the op that puts arrays of one shape together, and return them.

    Parameters
    ----------
    parts : sequence of sequence of Value
        For each part, its piece of each array.
    starts : sequence of tuple of int
        Where each part begins.
    types : sequence of TensorType
        The arrays'.
    append : callable
    location : Location
    """
    parameters = {"starts": tuple(starts), "shape": types[0].shape}
    operands = [value for part in parts for value in part]
    op = Op(COMPOSITE, operands, {"name": PARTS, "composite_attributes": parameters}, [], list(types), location)
    append(op)
    return op.results


def _evaluate(arrays: Arrays, attributes: Any, regions: Any) -> Arrays:
    parameters = attributes["composite_attributes"]
    starts = parameters["starts"]
    count = len(arrays) // len(starts)
    results = [np.empty(parameters["shape"], piece.dtype) for piece in arrays[:count]]
    for number, piece in enumerate(arrays):
        places = zip(starts[number // count], piece.shape, strict=True)
        results[number % count][tuple(slice(start, start + extent) for start, extent in places)] = piece
    return results


def _emit(op: Op, planner: Any) -> None:
    """Append one launch for each part, or one for all of them."""
    for result in op.results:
        planner.output(result)
    planner.launch_parts(op, boxes_of(op, planner))


def boxes_of(op: Op, site: Any) -> Parts:
    """Return the expressions and stores of the parts that are computed by themselves."""
    strides = contiguous(op.results[0].tensor.shape)
    starts = op.attributes["composite_attributes"]["starts"]
    count = len(op.results)
    together = site.expressions(op.operands[0].tensor.shape) if _meet_closely(op) else None
    parts: Parts = []
    for number, start in enumerate(starts):
        pieces = op.operands[number * count : (number + 1) * count]
        shape = pieces[0].tensor.shape
        own = tuple(0 if n == 1 else s for n, s in zip(shape, strides, strict=True))
        place = Access(sum(a * s for a, s in zip(start, strides, strict=True)), own)
        expressions = together or site.expressions(shape)
        stores = [
            Store(expressions.visit(piece, IDENTITY), result, place, REGISTERS[result.tensor.dtype])
            for piece, result in zip(pieces, op.results, strict=True)
        ]
        parts.append((expressions, stores))
    if together is not None:
        parts = [(together, [store for _, stores in parts for store in stores])]
    return parts


def _meet_closely(op: Op) -> bool:
    """Return whether all parts are written in one loop: each has a part of every cache line, or all are small."""
    count, starts = len(op.results), op.attributes["composite_attributes"]["starts"]
    shapes = [piece.tensor.shape for piece in op.operands[::count]]
    shape = shapes[0]
    if 0 in shape or len(shapes) > MOST_INTERLEAVED or any(other != shape for other in shapes):
        return False
    first = next(axis for axis in range(len(shape)) if any(start[axis] != starts[0][axis] for start in starts))
    return math.prod(shape[first:]) <= LINE or math.prod(shape) <= SMALL


register(CompositeDefinition(PARTS, _evaluate, -1, -1, "Arrays put together of boxes of them."))
COMPOSITE_KERNELS[PARTS] = RootRule(
    _emit, fusible=lambda op: range(len(op.operands)), apart=lambda op: len(op.results) == 1 and not _meet_closely(op)
)
