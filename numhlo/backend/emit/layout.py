"""Layout ops as views: given where the operand's elements lie, where the result's lie. Two of them write buffers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from numhlo.backend.emit.access import Access, NonlinearViewError, around, contiguous, reshape_strides, whole_array
from numhlo.backend.emit.expressions import IDENTITY, SCALAR, Literal, Load
from numhlo.backend.emit.maps import Store
from numhlo.backend.emit.nest import SMALL_STRIDE
from numhlo.backend.emit.registers import REGISTERS
from numhlo.backend.emit.sizes import reckoned
from numhlo.backend.emit.tables import KERNELS, VIEW, RootRule
from numhlo.lowering.ir import Op
from numhlo.lowering.ops import layout as ops
from numhlo.lowering.ops.primitive import make_op


@VIEW.register(ops.BROADCAST_IN_DIM)
def view_broadcast_in_dim(op: Op, access: Access, *_: object) -> Access:
    """Dimensions that are new, or that grow, have stride 0."""
    strides = [0] * len(op.results[0].tensor.shape)
    shape = op.operands[0].tensor.shape
    for dim, stride, extent in zip(op.attributes["broadcast_dimensions"], access.strides, shape, strict=True):
        strides[dim] = 0 if extent == 1 else stride
    return Access(access.offset, tuple(strides), access.starts)


@VIEW.register(ops.RESHAPE)
def view_reshape(op: Op, access: Access, *_: object) -> Access:
    """Split and merge dimensions that follow each other in memory."""
    strides = reshape_strides(op.operands[0].tensor.shape, access.strides, op.result.tensor.shape)
    if strides is None:
        raise NonlinearViewError(op)
    return access.with_strides(strides)


@VIEW.register(ops.TRANSPOSE)
def view_transpose(op: Op, access: Access, *_: object) -> Access:
    """Reorder the strides."""
    return access.with_strides([access.strides[axis] for axis in op.attributes["permutation"]])


@VIEW.register(ops.SLICE)
def view_slice(op: Op, access: Access, *_: object) -> Access:
    """Move the offset to the first element, and step over those left out."""
    starts, steps = op.attributes["start_indices"], op.attributes["strides"]
    offset = access.offset + sum(a * s for a, s in zip(starts, access.strides, strict=True))
    strides = tuple(a * s for a, s in zip(steps, access.strides, strict=True))
    return Access(offset, strides, access.starts)


@VIEW.register(ops.REVERSE)
def view_reverse(op: Op, access: Access, *_: object) -> Access:
    """Start at the last element and walk back."""
    strides, offset = list(access.strides), access.offset
    for dim in op.attributes["dimensions"]:
        offset += (op.result.tensor.shape[dim] - 1) * strides[dim]
        strides[dim] = -strides[dim]
    return Access(offset, tuple(strides), access.starts)


LINE = 16
"""Elements in a row of an operand below which rows of several operands share cache lines."""

SMALL = 512
"""Elements of an operand up to which a launch takes longer than the copy."""

MOST_INTERLEAVED = 8
"""Operands of several elements that one loop writes."""

LARGE = 4096
"""Elements of a padded array from which on nothing is written twice."""

MOST_ONES = 100
"""Operands of one element that one kernel writes; compile times grow with it."""


def emit_concatenate(op: Op, planner: Any) -> None:
    """Append one launch for each operand, which writes it to its place in the result; or one for all of them."""
    planner.output(op.result)
    planner.launch_parts(op, concatenated_parts(op, planner))


def concatenated_parts(op: Op, site: Any) -> list[tuple[Any, list[Store]]]:
    """Return the expressions and stores of the kernels that put operands together."""
    result, dimension = op.result, op.attributes["dimension"]
    register = REGISTERS[result.tensor.dtype]
    place, strides = 0, contiguous(result.tensor.shape)
    places = []
    for operand in op.operands:
        own = tuple(0 if n == 1 else s for n, s in zip(operand.tensor.shape, strides, strict=True))
        places.append(Access(place, own))
        place += operand.tensor.shape[dimension] * strides[dimension]
    if _meets_closely(op):
        return _joint_parts(op, places, site)
    parts = []
    for number, (operand, at) in enumerate(zip(op.operands, places, strict=True)):
        expressions = site.operand_expressions(op, number)
        parts.append((expressions, [Store(expressions.visit(operand), result, at, register)]))
    if _has_few_columns(op) and all(
        isinstance(node, Load | Literal) for expressions, _ in parts for node in expressions.nodes
    ):
        return [_columns(op, site)]
    return parts


def _has_few_columns(op: Op) -> bool:
    """Return whether rows of the result are so short that their length is part of a kernel's text."""
    shape, last = op.result.tensor.shape, op.result.tensor.ndim - 1
    is_last = op.attributes["dimension"] == last and all(v.tensor.shape[last] > 0 for v in op.operands)
    return is_last and shape[last] <= SMALL_STRIDE and 0 not in shape


def _columns(op: Op, site: Any) -> tuple[Any, list[Store]]:
    """Return the expressions and stores of the kernel that writes all columns of a result, row by row."""
    shape, register = op.result.tensor.shape, REGISTERS[op.result.tensor.dtype]
    rows = (*shape[:-1], 1)
    strides = tuple(0 if n == 1 else s for n, s in zip(rows, contiguous(shape), strict=True))
    expressions, stores = site.expressions(rows), list[Store]()
    for operand in op.operands:
        for column in range(operand.tensor.shape[-1]):
            bounds = {
                "start_indices": (*[0] * len(shape[:-1]), column),
                "limit_indices": (*shape[:-1], column + 1),
                "strides": (1,) * len(shape),
            }
            seen = expressions.push(make_op(ops.SLICE, [operand], bounds), IDENTITY)
            stores.append(Store(expressions.visit(operand, seen), op.result, Access(len(stores), strides), register))
    return expressions, stores


def _joint_parts(op: Op, places: Sequence[Access], site: Any) -> list[tuple[Any, list[Store]]]:
    """Return the expressions and stores of kernels that write many operands at once."""
    shape = op.operands[0].tensor.shape
    register = REGISTERS[op.result.tensor.dtype]
    is_one = math.prod(shape) == 1
    parts = []
    for first in range(0, len(places), MOST_ONES):
        expressions = site.expressions(() if is_one else shape)
        stores = [
            Store(
                expressions.visit(operand, SCALAR if is_one else IDENTITY),
                op.result,
                Access(at.offset, ()) if is_one else at,
                register,
            )
            for operand, at in zip(op.operands[first : first + MOST_ONES], places[first:], strict=False)
        ]
        parts.append((expressions, stores))
    return parts


def _meets_closely(op: Op) -> bool:
    """Return whether all operands are written in one loop: each writes a part of every cache line, or all are small."""
    shape = op.operands[0].tensor.shape
    if 0 in shape or any(v.tensor.shape != shape for v in op.operands):
        return False
    if math.prod(shape) == 1:
        return True
    run = math.prod(shape[op.attributes["dimension"] :])
    return len(op.operands) <= MOST_INTERLEAVED and (run <= LINE or math.prod(shape) <= SMALL)


def emit_pad(op: Op, planner: Any) -> None:
    """Append launches that write the padding value around the operand, and one that writes the operand."""
    planner.output(op.result)
    planner.launch_parts(op, padded_parts(op, planner))


def padded_parts(op: Op, site: Any) -> list[tuple[Any, list[Store]]]:
    """Return the expressions and stores of the kernels that write the padding, and of the one that writes the rest."""
    operand, padding = op.operands
    result, register = op.result, REGISTERS[op.result.tensor.dtype]
    parts = []
    kept, place = _visible(op)
    everywhere = SCALAR if result.tensor.ndim else IDENTITY
    expressions = site.expressions(kept.result.tensor.shape)
    if result.tensor.size > kept.result.tensor.size:
        for shape, place_of_border in _borders(op, kept.result.tensor.shape):
            fill = site.expressions(shape)
            parts.append((fill, [Store(fill.visit(padding, everywhere), result, place_of_border, register)]))
    else:
        expressions.visit(padding, everywhere)  # the NumPy engine takes all operands
    node = expressions.visit(operand, expressions.push(kept, IDENTITY) if operand.tensor.ndim else IDENTITY)
    parts.append((expressions, [Store(node, result, place, register)]))
    return parts


def _borders(op: Op, kept: Sequence[int]) -> Iterator[tuple[tuple[int, ...], Access]]:
    """Give the shapes and places of boxes that cover a pad's padding: two an axis, or the whole result if it is small.

    What the operand is written to is not written before.
    """
    shape = op.result.tensor.shape
    if op.result.tensor.size < LARGE or any(op.attributes["interior_padding"]) or 0 in kept:
        yield shape, whole_array(shape)
        return
    yield from around(shape, [_at_least_0(low, 0) for low in op.attributes["edge_padding_low"]], kept)


_at_least_0 = reckoned(max)


def _visible(op: Op) -> tuple[Op, Access]:
    """Return the slice of a pad's operand that is seen in the result, perhaps an empty one, and where it goes."""
    extents, sizes = op.operands[0].tensor.shape, op.result.tensor.shape
    starts, limits, strides, offset = [], [], [], 0
    for extent, size, low, gap, stride in zip(
        extents,
        sizes,
        op.attributes["edge_padding_low"],
        op.attributes["interior_padding"],
        contiguous(sizes),
        strict=True,
    ):
        step = gap + 1
        first = max(0, -(low // step))  # the least index with low + index * step >= 0
        end = min(extent, -((low - size) // step))
        if end <= first:
            first = end = 0
        starts.append(first)
        limits.append(end)
        strides.append(0 if end - first == 1 else stride * step)
        offset += (low + first * step) * stride
    bounds = {"start_indices": tuple(starts), "limit_indices": tuple(limits), "strides": (1,) * len(starts)}
    return make_op(ops.SLICE, [op.operands[0]], bounds), Access(offset, tuple(strides))


KERNELS.register(ops.CONCATENATE)(
    RootRule(emit_concatenate, fusible=lambda op: range(len(op.operands)), apart=lambda op: not _meets_closely(op))
)
KERNELS.register(ops.PAD)(RootRule(emit_pad, fusible=lambda op: (0, 1)))
