"""Random movements of elements: broadcast, reshape, transpose, slice, pad, concatenate, reverse."""

from __future__ import annotations

import math

from numhlo.lowering.ir import Value
from numhlo.lowering.ops import layout
from tests.end_to_end.random_programs import MOST_RANK, Generator


def operand(g: Generator, least_rank: int = 0) -> Value:
    """Return any value, also an inexact one."""
    return g.pick(least_rank=least_rank, exact=False)


def broadcast(g: Generator) -> None:
    """Add dimensions, stretch those of extent 1, and let the order of dimensions change."""
    x = operand(g)
    rank = g.between(x.tensor.ndim, MOST_RANK) if x.tensor.ndim <= MOST_RANK else x.tensor.ndim
    dims = g.sample(range(rank), x.tensor.ndim)
    if g.chance(0.8):
        dims.sort()
    room = g.settings.most_elements // max(1, x.tensor.size)
    shape = [1] * rank
    for axis, extent in zip(dims, x.tensor.shape, strict=True):
        shape[axis] = extent
    for axis in range(rank):
        if shape[axis] == 1 and g.chance(0.7):
            shape[axis] = g.choose([n for n in g.settings.extents if n <= max(room, 1)])
            room //= max(shape[axis], 1)
    result = x.tensor.with_shape(tuple(shape))
    g.emit(layout.BROADCAST_IN_DIM, x, result=result, broadcast_dimensions=tuple(dims), error=g.error(x))


def reshape(g: Generator) -> None:
    """Give another shape: merge neighbours, split an extent, or add and drop units."""
    x = operand(g)
    shape = list(x.tensor.shape)
    for _ in range(g.between(1, 3)):
        kind = g.below(4)
        if kind == 0 and len(shape) < MOST_RANK:
            shape.insert(g.between(0, len(shape)), 1)
        elif kind == 1 and 1 in shape:
            shape.remove(1)
        elif kind == 2 and len(shape) > 1:
            axis = g.below(len(shape) - 1)
            shape[axis : axis + 2] = [shape[axis] * shape[axis + 1]]
        elif kind == 3 and shape and len(shape) < MOST_RANK:
            axis = g.below(len(shape))
            factors = [n for n in range(1, shape[axis] + 1) if shape[axis] % n == 0] or [1]
            part = g.choose(factors)
            shape[axis : axis + 1] = [part, shape[axis] // part]
    g.emit(layout.RESHAPE, x, result=x.tensor.with_shape(tuple(shape)), error=g.error(x))


def transpose(g: Generator) -> None:
    """Permute dimensions."""
    x = operand(g)
    order = g.sample(range(x.tensor.ndim), x.tensor.ndim)
    g.emit(layout.TRANSPOSE, x, permutation=tuple(order), error=g.error(x))


def slice_(g: Generator) -> None:
    """Take a part, with strides."""
    x = operand(g)
    bounds = []
    for extent in x.tensor.shape:
        start = g.between(0, extent) if g.chance(0.5) else 0
        limit = g.between(start, extent) if g.chance(0.5) else extent
        bounds.append((start, limit, g.choose((1, 1, 1, 2, 3))))
    starts, limits, strides = zip(*bounds, strict=True) if bounds else ((), (), ())
    g.emit(layout.SLICE, x, start_indices=starts, limit_indices=limits, strides=strides, error=g.error(x))


def pad(g: Generator) -> None:
    """Pad at both ends and between, also by negative amounts."""
    x = operand(g)
    low, high, interior = [], [], []
    room = g.settings.most_elements // max(1, x.tensor.size)
    for extent in x.tensor.shape:
        between = g.choose((0, 0, 0, 1, 2)) if room > 3 else 0
        length = extent + max(extent - 1, 0) * between
        before = g.choose((0, 0, 1, 2, 5, -1, -3))
        after = g.choose((0, 0, 1, 3, -1, -2))
        if length + before + after < 0:
            before, after = 0, 0
        low.append(before)
        high.append(after)
        interior.append(between)
        room //= between + 1
    value = g.like(x.tensor.with_shape(()), exact=False)
    g.emit(
        layout.PAD,
        x,
        value,
        edge_padding_low=tuple(low),
        edge_padding_high=tuple(high),
        interior_padding=tuple(interior),
        error=max(g.error(x), g.error(value)),
    )


def concatenate(g: Generator) -> None:
    """Join values that differ in one extent."""
    x = operand(g, 1)
    axis = g.below(x.tensor.ndim)
    parts = [x]
    fitting = [v for v in g.visible() if _fits(v, x, axis)]
    for _ in range(g.between(0, 3)):
        if fitting and g.chance(0.7):
            parts.append(g.choose(fitting))
            continue
        shape = list(x.tensor.shape)
        shape[axis] = g.choose((0, 1, 2, 3, 5))
        parts.append(g.leaf(x.tensor.with_shape(tuple(shape))))
    if sum(v.tensor.size for v in parts) > g.settings.most_elements:
        parts = parts[:1]
    parts = [parts[k] for k in g.sample(range(len(parts)), len(parts))]
    g.emit(layout.CONCATENATE, *parts, dimension=axis, error=max(g.error(v) for v in parts))


def _fits(value: Value, other: Value, axis: int) -> bool:
    a, b = value.tensor, other.tensor
    if a.dtype != b.dtype or a.ndim != b.ndim:
        return False
    return all(m == n for k, (m, n) in enumerate(zip(a.shape, b.shape, strict=True)) if k != axis)


def reverse(g: Generator) -> None:
    """Reverse along some dimensions."""
    x = operand(g)
    count = g.between(0, x.tensor.ndim)
    g.emit(layout.REVERSE, x, dimensions=tuple(g.sample(range(x.tensor.ndim), count)), error=g.error(x))


def flatten(g: Generator) -> None:
    """Bring a value of high rank down to a matrix, so that programs don't drift to rank 4."""
    x = operand(g)
    shape = x.tensor.shape
    if len(shape) > 2:
        cut = g.between(1, len(shape) - 1)
        result = x.tensor.with_shape((math.prod(shape[:cut]), math.prod(shape[cut:])))
        g.emit(layout.RESHAPE, x, result=result, error=g.error(x))


MAKERS = [*[broadcast] * 3, *[reshape] * 2, *[transpose] * 2, *[slice_] * 2, pad, concatenate, reverse, flatten]
