"""Random chains of views over computed positions: iotas and index arithmetic, reshaped, cut and turned, then used.

Positions feed gathers, scatters, slices and updates, matrix products, reductions and sorts, outside of loops and in
them. No strides express most of the chains, so that kernels have to compute positions in one shape and need them in
another one.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from numhlo.lowering.ir import Region, TensorType, Value
from numhlo.lowering.ops import PRIMITIVES
from numhlo.lowering.ops.dimension_numbers import DotDimensionNumbers, GatherDimensionNumbers, ScatterDimensionNumbers
from tests.sweep.program import Program

MOST = 64
"""Elements of an array of positions that steps enlarge."""

SIZES = [2, 4, 6, 8, 12, 12, 24, 36] * 8 + [600, 1024]
"""Elements of arrays of positions to begin with: what is computed again for few is stored for many."""

TYPES = [np.dtype(np.int64), np.dtype(np.int64), np.dtype(np.int32)]


def _splat(p: Program, like: Value, number: int) -> Value:
    return p.builder.constant(np.full(like.tensor.shape, number, like.tensor.dtype))


def _shape(p: Program, size: int) -> tuple[int, ...]:
    """Return a shape of a number of elements: its prime factors, joined at random, ones among them."""
    factors = []
    while size > 1:
        factor = next(k for k in range(2, size + 1) if size % k == 0)
        factors.append(factor)
        size //= factor
    extents: list[int] = []
    for factor in p.rng.permutation(np.array(factors, int)).tolist():
        if extents and p.chance(0.3):
            extents[-1] *= factor
        else:
            extents.append(factor)
    for _ in range(p.below(0, 2)):
        extents.insert(p.below(0, len(extents) + 1), 1)
    return tuple(extents)


def _source(p: Program, around: list[Value]) -> Value:
    """Return positions to begin with: counted ones, a table's, or what a loop has."""
    found = [v for v in around if v.tensor.dtype in TYPES and v.tensor.size <= MOST]
    if found and p.chance(0.3):
        return p.pick(found)
    shape = _shape(p, p.pick(SIZES))
    if not shape:
        shape = (4,)
    if p.chance(0.2):
        return p.argument(np.asarray(p.rng.integers(-3, 20, shape)).astype(p.pick(TYPES)))
    return p.op("iota", result=TensorType(shape, p.pick(TYPES)), iota_dimension=p.below(0, len(shape)))


def _reshape(p: Program, x: Value) -> Value:
    return p.op("reshape", x, result=x.tensor.with_shape(_shape(p, x.tensor.size)))


def _transpose(p: Program, x: Value) -> Value:
    return p.op("transpose", x, permutation=tuple(p.rng.permutation(x.tensor.ndim).tolist()))


def _reverse(p: Program, x: Value) -> Value:
    return p.op("reverse", x, dimensions=tuple(d for d in range(x.tensor.ndim) if p.chance()))


def _slice(p: Program, x: Value) -> Value:
    shape = x.tensor.shape
    starts = tuple(p.below(0, max(1, n // 2)) for n in shape)
    strides = tuple(p.pick([1, 1, 2, 3]) for _ in shape)
    return p.op("slice", x, start_indices=starts, limit_indices=shape, strides=strides)


def _broadcast(p: Program, x: Value) -> Value:
    shape = list(x.tensor.shape)
    dims = list(range(len(shape)))
    place = p.below(0, len(shape) + 1)
    shape.insert(place, p.pick([2, 3]))
    dims = [d + (d >= place) for d in dims]
    if math.prod(shape) > MOST:
        return x
    result = x.tensor.with_shape(tuple(shape))
    return p.op("broadcast_in_dim", x, result=result, broadcast_dimensions=tuple(dims))


def _join(p: Program, x: Value) -> Value:
    if not x.tensor.shape or x.tensor.size * 2 > MOST:
        return x
    axis = p.below(0, x.tensor.ndim)
    return p.op("concatenate", x, p.op("reverse", x, dimensions=(axis,)), dimension=axis)


def _pad(p: Program, x: Value) -> Value:
    shape = x.tensor.shape
    low, high, interior = (tuple(p.below(0, 2) for _ in shape) for _ in range(3))
    extents = [n + a + b + max(n - 1, 0) * k for n, a, b, k in zip(shape, low, high, interior, strict=True)]
    if math.prod(extents) > MOST:
        return x
    zero = p.builder.constant(np.zeros((), x.tensor.dtype))
    return p.op("pad", x, zero, edge_padding_low=low, edge_padding_high=high, interior_padding=interior)


def _arithmetic(p: Program, x: Value) -> Value:
    name = p.pick(["add", "multiply", "subtract", "remainder", "maximum", "minimum", "divide"])
    if p.chance(0.6) or name in ("remainder", "divide"):
        other = _splat(p, x, p.pick([2, 3, 5, 7]))
    else:
        axes = x.tensor.ndim
        other = p.op("iota", result=x.tensor, iota_dimension=p.below(0, axes)) if axes else x
    return p.op(name, x, other)


def _choose(p: Program, x: Value) -> Value:
    """Count from the end where a position is negative."""
    zero, extent = _splat(p, x, 0), _splat(p, x, 13)
    below = p.op("compare", x, zero, comparison_direction="LT")
    return p.op("select", below, p.op("add", x, extent), x)


def _own_sum(p: Program, x: Value) -> Value:
    """Add what the same positions are in two orders."""
    turned = _transpose(p, x)
    return p.op("add", x, p.op("reshape", turned, result=x.tensor))


STEPS: list[Callable[[Program, Value], Value]] = [
    _reshape,
    _reshape,
    _reshape,
    _transpose,
    _transpose,
    _reverse,
    _slice,
    _broadcast,
    _join,
    _pad,
    _arithmetic,
    _arithmetic,
    _choose,
    _own_sum,
]


def chain(p: Program, around: list[Value]) -> Value:
    """Return positions that went through a number of steps, of all values between 0 and 19."""
    x = _source(p, around)
    for _ in range(p.below(2, 9)):
        x = p.pick(STEPS)(p, x)
    if p.chance(0.3):
        x = p.op("remainder", x, _splat(p, x, 16))
        for _ in range(p.below(0, 3)):
            x = p.pick([_reshape, _transpose, _reverse])(p, x)
    return x


def _number(p: Program, around: list[Value]) -> Value:
    """Return one of a chain's positions as a scalar."""
    x = chain(p, around)
    starts = tuple(p.below(0, max(1, n)) for n in x.tensor.shape)
    x = p.op("slice", x, start_indices=starts, limit_indices=tuple(s + 1 for s in starts), strides=(1,) * len(starts))
    return p.op("reshape", x, result=x.tensor.with_shape(()))


def _data(p: Program, around: list[Value], ndim: int) -> Value:
    """Return an array to be read or written at positions; now and then one that was moved on the way."""
    found = [v for v in around if v.tensor.ndim == ndim and v.tensor.size > 8]
    if found and p.chance():
        return p.pick(found)
    extents = (17, 5, 4)[:ndim]
    x = p.argument(np.asarray(p.rng.integers(-50, 50, extents)).astype(p.pick([np.int64, np.float64, np.float32])))
    return p.pick([_reverse, _transpose, lambda p, x: x])(p, x)


def take(p: Program, around: list[Value]) -> Value:
    """Read elements, or rows."""
    x, places = _data(p, around, p.below(1, 4)), chain(p, around)
    rank, ndim = places.tensor.ndim, x.tensor.ndim
    numbers = GatherDimensionNumbers(
        offset_dims=tuple(range(rank, rank + ndim - 1)),
        collapsed_slice_dims=(0,),
        start_index_map=(0,),
        index_vector_dim=rank,
    )
    return p.op("gather", x, places, dimension_numbers=numbers, slice_sizes=(1, *x.tensor.shape[1:]))


def take_pairs(p: Program, around: list[Value]) -> Value:
    """Read elements of a matrix, at pairs of positions."""
    x, places = _data(p, around, 2), chain(p, around)
    column = places.tensor.with_shape((*places.tensor.shape, 1))
    other = p.pick([_arithmetic, _choose, _own_sum])(p, places)
    pair = [p.op("reshape", v, result=column) for v in (places, other)]
    rank = places.tensor.ndim
    both = p.op("concatenate", *pair, dimension=rank)
    numbers = GatherDimensionNumbers(collapsed_slice_dims=(0, 1), start_index_map=(0, 1), index_vector_dim=rank)
    return p.op("gather", x, both, dimension_numbers=numbers, slice_sizes=(1, 1))


def put(p: Program, around: list[Value]) -> Value:
    """Add to elements; of floats that are integers, so that the order doesn't matter."""
    x, places = _data(p, around, 1), chain(p, around)
    rank = places.tensor.ndim
    updates = p.op("convert", chain_like(p, places), result=places.tensor.with_dtype(x.tensor.dtype))
    numbers = ScatterDimensionNumbers(
        inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,), index_vector_dim=rank
    )
    region = p.scalar_region([x.tensor.dtype] * 2, lambda a, b: [p.op("add", a, b)])
    (result,) = _ops(p, "scatter", x, places, updates, regions=[region], scatter_dimension_numbers=numbers)
    return result


def chain_like(p: Program, places: Value) -> Value:
    """Return what was made of positions, in their shape."""
    return p.pick([_arithmetic, _reverse, _own_sum, _choose])(p, places)


def cut(p: Program, around: list[Value]) -> Value:
    """Read a window that begins at positions, or write one."""
    x = _data(p, around, p.below(1, 3))
    starts = [p.op("convert", _number(p, around), result=TensorType((), np.dtype(np.int64))) for _ in x.tensor.shape]
    sizes = tuple(p.below(1, max(2, n)) for n in x.tensor.shape)
    window = p.op("dynamic_slice", x, *starts, slice_sizes=sizes)
    if p.chance():
        return _reshape(p, window)
    return p.op("dynamic_update_slice", x, p.op("add", window, window), *starts[::-1])


def reduced(p: Program, around: list[Value]) -> Value:
    """Add up positions, multiply them with themselves, or sort them."""
    x = chain(p, around)
    match p.below(0, 3 if x.tensor.ndim else 1):
        case 0:
            axes = tuple(d for d in range(x.tensor.ndim) if p.chance())
            region = p.scalar_region([x.tensor.dtype] * 2, lambda a, b: [p.op("add", a, b)])
            zero = p.builder.constant(np.zeros((), x.tensor.dtype))
            return _ops(p, "reduce", x, zero, regions=[region], dimensions=axes)[0]
        case 1:
            numbers = DotDimensionNumbers((), (), (x.tensor.ndim - 1,), (x.tensor.ndim - 1,))
            return p.op("dot_general", x, x, dot_dimension_numbers=numbers)
        case _:
            region = p.scalar_region(
                [x.tensor.dtype] * 2, lambda a, b: [p.op("compare", a, b, comparison_direction="LT")]
            )
            dimension = p.below(0, x.tensor.ndim)
            return _ops(p, "sort", x, regions=[region], dimension=dimension, is_stable=True)[0]


def _ops(p: Program, name: str, *operands: Value, regions: list[Region], **options: object) -> list[Value]:
    return p.builder.ops(PRIMITIVES[name], *operands, regions=regions, **options)


USES = [take, take, take, take_pairs, put, put, cut, cut, reduced]


def use(p: Program) -> None:
    """Use positions once."""
    x = p.pick(USES)(p, [])
    p.look(x, again=x.tensor.ndim < 4)


def looped(p: Program) -> None:
    """Use positions in every iteration of a loop: outer ones, those that it counts, and its state."""
    states = [p.argument(np.asarray(p.rng.integers(0, 9, s)).astype(np.int64)) for s in ((12,), (17,), (17, 5))]
    states = states[: p.below(1, 4)]
    outside = [chain(p, []) for _ in range(2)]
    limit = p.argument(np.array(p.below(0, 4), np.int64))

    def condition(i: Value, *state: Value) -> list[Value]:
        return [p.op("compare", i, limit, comparison_direction="LT")]

    def body(i: Value, *state: Value) -> list[Value]:
        around = [i, *state, *outside]
        after = [_mixed(p, x, p.pick(USES)(p, around)) for x in state]
        return [p.op("add", i, p.builder.constant(np.array(1, np.int64))), *after]

    types = [TensorType((), np.dtype(np.int64)), *[v.tensor for v in states]]
    regions = [p.builder.region(types, condition), p.builder.region(types, body)]
    results = _ops(p, "while", p.builder.constant(np.array(0, np.int64)), *states, regions=regions)
    for value in results:
        p.look(value)


def branched(p: Program) -> None:
    """Use positions in branches: outer ones, and those that they count."""
    outside = [chain(p, []) for _ in range(2)]
    state = p.argument(np.asarray(p.rng.integers(0, 9, (17,))).astype(np.int64))

    def write() -> list[Value]:
        return [_mixed(p, state, p.pick(USES)(p, [state, *outside]))]

    index = p.argument(np.array(p.below(-1, 4), np.int32))
    regions = [p.builder.region([], write) for _ in range(p.below(1, 4))]
    p.look(_ops(p, "case", index, regions=regions)[0])


def _mixed(p: Program, x: Value, found: Value) -> Value:
    """Return a state's array with some of what was found added to it, cut to small numbers."""
    if found.tensor.dtype != x.tensor.dtype:
        found = p.op("convert", found, result=found.tensor.with_dtype(x.tensor.dtype))
    flat = p.op("reshape", found, result=found.tensor.with_shape((found.tensor.size,)))
    size = x.tensor.size
    if flat.tensor.size > size:
        flat = p.op("slice", flat, start_indices=(0,), limit_indices=(size,), strides=(1,))
    elif flat.tensor.size < size:
        zero = p.builder.constant(np.zeros((), x.tensor.dtype))
        high = (size - flat.tensor.size,)
        flat = p.op("pad", flat, zero, edge_padding_low=(0,), edge_padding_high=high, interior_padding=(0,))
    total = p.op("add", x, p.op("reshape", flat, result=x.tensor))
    return p.op("remainder", total, _splat(p, total, 19))


MAKERS = [use, use, looped, branched]
