"""Patterns of shape and data movement: movements that do nothing, pairs that merge; run-time ones elsewhere."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from numhlo.lowering.ir import Op, TensorType, Value
from numhlo.lowering.ops import creation, layout
from numhlo.lowering.ops.elementwise import Elementwise
from numhlo.lowering.passes.rewriting import Rewriter, is_empty, made_by, pattern

SPLAT_SEARCH = 65536
"""Constants of at most this many elements are searched for being one repeated element."""


@pattern(layout.RESHAPE)
def _reshape(rewriter: Rewriter, op: Op) -> Value | None:
    """reshape(x: T) to T -> x; reshape(reshape(x)) -> reshape(x); of a scalar's broadcast -> broadcast."""
    (x,) = op.operands
    result = op.results[0].tensor
    if x.type == result:
        return x
    inner = made_by(x, layout.RESHAPE)
    if inner is not None:
        return rewriter.op(layout.RESHAPE, inner.operands[0], result=result)
    spread = made_by(x, layout.BROADCAST_IN_DIM)
    if spread is not None and spread.operands[0].tensor.ndim == 0:
        return rewriter.op(layout.BROADCAST_IN_DIM, spread.operands[0], result=result, broadcast_dimensions=())
    return None


@pattern(layout.TRANSPOSE)
def _transpose(rewriter: Rewriter, op: Op) -> Value | None:
    """Transpose by the identity -> x; of a transpose -> one transpose; of moved unit axes only -> reshape.

    Of elementwise ops on what was transposed the other way -> these ops alone.
    """
    (x,) = op.operands
    order = op.attributes["permutation"]
    if order == tuple(range(len(order))):
        return x
    inner = made_by(x, layout.TRANSPOSE)
    if inner is not None:
        first = inner.attributes["permutation"]
        return rewriter.op(layout.TRANSPOSE, inner.operands[0], permutation=tuple(first[k] for k in order))
    wide = [k for k in order if x.tensor.shape[k] != 1]
    if wide == sorted(wide):
        return rewriter.op(layout.RESHAPE, x, result=op.results[0].type)
    if _lies_in(x, order, MOST_LEVELS):
        return _moved(rewriter, x, order)
    spread = made_by(x, layout.BROADCAST_IN_DIM)
    if spread is not None:
        inverse = {axis: k for k, axis in enumerate(order)}
        dims = tuple(inverse[d] for d in spread.attributes["broadcast_dimensions"])
        if list(dims) == sorted(dims):
            return rewriter.op(
                layout.BROADCAST_IN_DIM, spread.operands[0], result=op.results[0].type, broadcast_dimensions=dims
            )
    return None


MOST_LEVELS = 8
"""Elementwise ops between two transpositions that are looked through."""


def _lies_in(x: Value, order: tuple[int, ...], levels: int) -> bool:
    """Return whether a transposition of a value vanishes in one before it, elementwise ops in between.

    All that these compute with must be transposed in that way, or be one number many times.
    """
    op = x.owner
    if not isinstance(op, Op) or type(op.definition) is not Elementwise or not levels:
        return False
    inverse = tuple(sorted(range(len(order)), key=order.__getitem__))
    found = [_is_moved(v, inverse) or _lies_in(v, order, levels - 1) for v in op.operands]
    return any(found) and all(one or _is_number(v) for one, v in zip(found, op.operands, strict=True))


def _is_moved(x: Value, order: tuple[int, ...]) -> bool:
    inner = made_by(x, layout.TRANSPOSE)
    return inner is not None and inner.attributes["permutation"] == order


def _is_number(x: Value) -> bool:
    spread = made_by(x, layout.BROADCAST_IN_DIM)
    return spread is not None and not spread.operands[0].tensor.ndim


def _moved(rewriter: Rewriter, x: Value, order: tuple[int, ...]) -> Value:
    """f(transpose(x), n), transposed back -> f(x, n)."""
    op = x.owner
    assert isinstance(op, Op)
    operands = [rewriter.op(layout.TRANSPOSE, v, permutation=order) for v in op.operands]
    shape = tuple(x.tensor.shape[axis] for axis in order)
    return rewriter.emit(op.definition, operands, op.attributes, (), [x.tensor.with_shape(shape)], op.location)[0]


@pattern(layout.BROADCAST_IN_DIM)
def _broadcast(rewriter: Rewriter, op: Op) -> Value | None:
    """Broadcast to the same shape -> x; of a broadcast -> one broadcast; adding unit axes only -> reshape.

    Of a broadcast whose axes a reshape merges -> one broadcast, reshaped (arrays repeated along two axes).
    """
    (x,) = op.operands
    dims = op.attributes["broadcast_dimensions"]
    result = op.results[0].tensor
    if x.type == result and dims == tuple(range(len(dims))):
        return x
    inner = made_by(x, layout.BROADCAST_IN_DIM)
    if inner is not None:
        composed = tuple(dims[d] for d in inner.attributes["broadcast_dimensions"])
        return rewriter.op(layout.BROADCAST_IN_DIM, inner.operands[0], result=result, broadcast_dimensions=composed)
    if x.tensor.size == result.size and list(dims) == sorted(dims) and x.tensor.ndim:
        return rewriter.op(layout.RESHAPE, x, result=result)
    seen = made_by(x, layout.RESHAPE)
    inner = None if seen is None else made_by(seen.operands[0], layout.BROADCAST_IN_DIM)
    if inner is None or list(dims) != sorted(dims) or result.size == 0:
        return None
    groups = _merged(inner.result.tensor.shape, x.tensor.shape)
    if groups is None or any(result.shape[d] != n for d, n in zip(dims, x.tensor.shape, strict=True)):
        return None
    group_of = dict(zip(dims, groups, strict=True))
    shape: list[int] = []
    places: list[int] = []
    for d, extent in enumerate(result.shape):
        places += range(len(shape), len(shape) + len(group_of.get(d, ())))
        shape += group_of.get(d, (extent,))
    composed = tuple(places[d] for d in inner.attributes["broadcast_dimensions"])
    spread = rewriter.op(
        layout.BROADCAST_IN_DIM,
        inner.operands[0],
        result=TensorType(tuple(shape), result.dtype),
        broadcast_dimensions=composed,
    )
    return rewriter.op(layout.RESHAPE, spread, result=result)


def _merged(shape: Sequence[int], merged: Sequence[int]) -> list[tuple[int, ...]] | None:
    """Return for each axis of a shape which extents of another one it has merged; None if it splits some.

    Examples
    --------
    >>> _merged((3, 2, 5), (6, 5)), _merged((6, 5), (3, 10))
    ([(3, 2), (5,)], None)
    """
    found: list[tuple[int, ...]] = []
    rest = list(shape)
    for extent in merged:
        group: list[int] = []
        while rest and (not group or math.prod(group) < extent):
            group.append(rest.pop(0))
        if math.prod(group) != extent:
            return None
        found.append(tuple(group))
    return None if rest else found


@pattern(layout.SLICE)
def _slice(rewriter: Rewriter, op: Op) -> Value | None:
    """A slice of everything -> x; a slice of a slice -> one slice."""
    (x,) = op.operands
    if x.type == op.results[0].type and set(op.attributes["strides"]) <= {1}:
        return x
    inner = made_by(x, layout.SLICE)
    if inner is None:
        return None
    starts, strides = inner.attributes["start_indices"], inner.attributes["strides"]
    sizes = op.results[0].tensor.shape
    first = tuple(a + b * s for a, b, s in zip(starts, op.attributes["start_indices"], strides, strict=True))
    step = tuple(s * t for s, t in zip(strides, op.attributes["strides"], strict=True))
    limits = tuple(a + (n - 1) * s + 1 for a, n, s in zip(first, sizes, step, strict=True))
    return rewriter.op(layout.SLICE, inner.operands[0], start_indices=first, limit_indices=limits, strides=step)


@pattern(layout.REVERSE)
def _reverse(rewriter: Rewriter, op: Op) -> Value | None:
    """Reversing unit axes -> x; reversing twice -> x."""
    (x,) = op.operands
    if all(x.tensor.shape[d] <= 1 for d in op.attributes["dimensions"]):
        return x
    inner = made_by(x, layout.REVERSE)
    if inner is not None and set(inner.attributes["dimensions"]) == set(op.attributes["dimensions"]):
        return inner.operands[0]
    return None


@pattern(layout.CONCATENATE)
def _concatenate(rewriter: Rewriter, op: Op) -> Value | None:
    """Concatenate one operand -> it; empty operands are left out."""
    axis = op.attributes["dimension"]
    parts = [v for v in op.operands if v.tensor.shape[axis]]
    if len(parts) == 1:
        return parts[0]
    if len(parts) < len(op.operands):
        return rewriter.op(layout.CONCATENATE, *parts, dimension=axis)
    return None


@pattern(layout.PAD)
def _pad(rewriter: Rewriter, op: Op) -> Value | None:
    """Pad by nothing -> x; pad nothing -> the padding value."""
    x, value = op.operands
    if is_empty(x):
        return rewriter.op(layout.BROADCAST_IN_DIM, value, result=op.result.type, broadcast_dimensions=())
    names = ("edge_padding_low", "edge_padding_high", "interior_padding")
    return op.operands[0] if not any(any(op.attributes[n]) for n in names) else None


@pattern(creation.IOTA)
def _iota(rewriter: Rewriter, op: Op) -> Value | None:
    """An iota along a unit axis -> zeros."""
    result = op.results[0].tensor
    if result.shape[op.attributes["iota_dimension"]] != 1:
        return None
    zero = rewriter.constant(np.zeros((), result.dtype))
    return rewriter.op(layout.BROADCAST_IN_DIM, zero, result=result, broadcast_dimensions=())


@pattern(layout.SLICE)
def _slice_of_concatenate(rewriter: Rewriter, op: Op) -> Value | None:
    """A slice inside one part of a concatenation -> a slice of that part."""
    owner = op.operands[0].owner
    if not isinstance(owner, Op) or owner.definition is not layout.CONCATENATE:
        return None
    axis = owner.attributes["dimension"]
    starts, limits = op.attributes["start_indices"], op.attributes["limit_indices"]
    offset = 0
    for part in owner.operands:
        extent = part.tensor.shape[axis]
        if starts[axis] >= offset and limits[axis] <= offset + extent:
            first = tuple(a - offset if k == axis else a for k, a in enumerate(starts))
            last = tuple(b - offset if k == axis else b for k, b in enumerate(limits))
            return rewriter.op(
                layout.SLICE, part, start_indices=first, limit_indices=last, strides=op.attributes["strides"]
            )
        offset += extent
    return None


@pattern(creation.CONSTANT)
def _constant(rewriter: Rewriter, op: Op) -> Value | None:
    """Rewrite an array of one repeated element as a broadcast scalar, so that kernels see the scalar."""
    array = op.attributes["value"]
    if array.ndim == 0 or array.size < 2:
        return None
    first = array[(0,) * array.ndim]
    if any(array.strides) and (array.size > SPLAT_SEARCH or array.tobytes() != first.tobytes() * array.size):
        return None
    scalar = rewriter.constant(np.array(first))
    return rewriter.op(layout.BROADCAST_IN_DIM, scalar, result=op.results[0].type, broadcast_dimensions=())
