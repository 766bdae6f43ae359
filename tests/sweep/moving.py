"""Random ops that move elements: layout, slices and updates, gather and scatter with every kind of dimension."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from numhlo.lowering.ir import TensorType, Value
from numhlo.lowering.ir.types import BOOL, COMPLEX, INTEGERS, SIGNED
from numhlo.lowering.ops.dimension_numbers import GatherDimensionNumbers, ScatterDimensionNumbers
from tests.sweep.program import DTYPES, Program

ANY = set(DTYPES)
INDICES = [np.dtype(name) for name in ("int32", "int64", "int8", "uint8", "int16", "uint32", "uint64")]


def rearrange(p: Program) -> None:
    """Transpose, reverse, or read in another shape."""
    x = p.like(ANY, 0, 6)
    shape = x.tensor.shape
    match p.below(0, 3):
        case 0:
            p.add("transpose", x, permutation=tuple(p.rng.permutation(len(shape)).tolist()))
        case 1:
            p.add("reverse", x, dimensions=tuple(d for d in range(len(shape)) if p.chance()))
        case _:
            p.add("reshape", x, result=x.tensor.with_shape(_other_shape(p, shape)))


def _other_shape(p: Program, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return a shape of as many elements: neighbours joined, ones put in and taken out."""
    extents = list(shape)
    for _ in range(p.below(0, 3)):
        if len(extents) > 1 and p.chance():
            place = p.below(0, len(extents) - 1)
            extents[place : place + 2] = [extents[place] * extents[place + 1]]
        elif len(extents) < 6:
            extents.insert(p.below(0, len(extents) + 1), 1)
    divisible = [d for d, n in enumerate(extents) if n > 3 and n % 2 == 0]
    if divisible and p.chance():
        place = p.pick(divisible)
        extents[place : place + 1] = [2, extents[place] // 2]
    return tuple(extents)


def cut(p: Program) -> None:
    """Slice with strides."""
    x = p.like(ANY)
    shape = x.tensor.shape
    starts = tuple(p.below(0, n + 1) for n in shape)
    limits = tuple(p.below(s, n + 1) for s, n in zip(starts, shape, strict=True))
    strides = tuple(p.below(1, 4) for _ in shape)
    p.add("slice", x, start_indices=starts, limit_indices=limits, strides=strides)


def pad(p: Program) -> None:
    """Pad: between elements, and at the edges by negative amounts too."""
    x = p.like(ANY)
    low, high, interior = (tuple(p.below(a, b) for _ in x.tensor.shape) for a, b in ((-2, 3), (-2, 3), (0, 3)))
    extents = [n + a + b + max(n - 1, 0) * k for n, a, b, k in zip(x.tensor.shape, low, high, interior, strict=True)]
    if min(extents, default=0) < 0:
        return
    value = p.operand(x.tensor.with_shape(()))
    p.add("pad", x, value, edge_padding_low=low, edge_padding_high=high, interior_padding=interior)


def join(p: Program) -> None:
    """Concatenate one to four arrays."""
    x = p.like(ANY, 1)
    axis = p.below(0, x.tensor.ndim)
    others = []
    for _ in range(p.below(0, 4)):
        extents = list(x.tensor.shape)
        extents[axis] = p.below(0, 4)
        others.append(p.operand(x.tensor.with_shape(tuple(extents))))
    p.add("concatenate", *p.rng.permutation(np.array([x, *others], object)).tolist(), dimension=axis)


def broadcast(p: Program) -> None:
    """Broadcast: into new dimensions, and along extents of 1, in any strictly valid order."""
    shape = p.shape(0, 6)
    dims = tuple(int(d) for d in p.rng.permutation(len(shape))[: p.below(0, len(shape) + 1)])
    extents = tuple(1 if p.chance(0.3) else shape[d] for d in dims)
    x = p.operand(TensorType(extents, p.dtype()))
    p.add("broadcast_in_dim", x, result=x.tensor.with_shape(shape), broadcast_dimensions=dims)


def create(p: Program) -> None:
    """Count along an axis, in any type."""
    type = TensorType(p.shape(1, 5), p.dtype(ANY - {BOOL}))
    if max(type.shape) < 9:  # XLA rounds some sums of eight bits that have no exact value
        p.add("iota", result=type, iota_dimension=p.below(0, type.ndim))


def starts(p: Program, count: int) -> list[Value]:
    """Return scalars of one integer type, anywhere inside and outside."""
    type = TensorType((), p.pick(INDICES))
    made = []
    for _ in range(count):
        number = p.pick([0, 1, 2, 3, 5, 127])
        if type.dtype in SIGNED and p.chance(0.2):  # XLA takes large unsigned numbers for negative ones
            number = p.pick([-1, -3, -128])
        made.append(p.argument(np.array(number).astype(type.dtype)))
    return made


def dynamic_cut(p: Program) -> None:
    """Read a window, or write one."""
    x = p.like(ANY)
    sizes = tuple(p.below(0, n + 1) for n in x.tensor.shape)
    places = starts(p, x.tensor.ndim)
    if p.chance():
        p.add("dynamic_slice", x, *places, slice_sizes=sizes)
    else:
        p.add("dynamic_update_slice", x, p.operand(x.tensor.with_shape(sizes)), *places)


@dataclass
class Indexing:
    """Random dimension numbers of gather and scatter, and the shapes that go with them."""

    operand: tuple[int, ...]
    indices: tuple[int, ...]
    windows: tuple[int, ...]
    sizes: tuple[int, ...]
    fields: dict[str, Any]


def indexing(p: Program) -> Indexing:
    """Return random dimension numbers: collapsed, batching, index vector anywhere or left out."""
    operand = tuple(max(1, n) for n in p.shape(1, 5, 4))
    ndim = len(operand)
    axes = [int(d) for d in p.rng.permutation(ndim)]
    batching = sorted(axes[: p.below(0, min(3, ndim))])
    rest = [d for d in axes if d not in batching]
    mapped = rest[: p.below(min(1, len(rest)), len(rest) + 1)]  # XLA forgets windows if there are none
    collapsed = sorted(d for d in rest if p.chance(0.4))
    sizes = tuple(1 if d in collapsed or d in batching else p.below(1, n + 1) for d, n in enumerate(operand))
    batch = [*(operand[d] for d in batching), *(p.below(1, 4) for _ in range(p.below(0, 3)))]
    order = [int(k) for k in p.rng.permutation(len(batch))]
    shape = [batch[k] for k in order]
    batch_dims = [order.index(k) for k in range(len(batching))]
    vector = p.below(0, len(shape) + 1)
    if len(mapped) == 1 and p.chance(0.4):
        vector = len(shape)  # no dimension for the index vector
    else:
        shape.insert(vector, len(mapped))
        batch_dims = [d + (d >= vector) for d in batch_dims]
    count = len(batch) + sum(d not in collapsed and d not in batching for d in range(ndim))
    offsets = sorted(int(d) for d in p.rng.permutation(count)[: count - len(batch)])
    kept = [n for d, n in enumerate(sizes) if d not in collapsed and d not in batching]
    batch_shape = [n for d, n in enumerate(shape) if d != vector]
    windows = tuple(kept.pop(0) if d in offsets else batch_shape.pop(0) for d in range(count))
    fields = {
        "offset_dims": tuple(offsets),
        "collapsed_slice_dims": tuple(collapsed),
        "operand_batching_dims": tuple(batching),
        "start_indices_batching_dims": tuple(batch_dims),
        "start_index_map": tuple(mapped),
        "index_vector_dim": vector,
    }
    return Indexing(operand, tuple(shape), windows, sizes, fields)


def places(p: Program, shape: tuple[int, ...]) -> Value:
    """Return indices of any integer type, some outside."""
    dtype = p.pick(INDICES)
    low = -3 if dtype in SIGNED else 0
    numbers = np.where(p.rng.random(shape) < 0.85, p.rng.integers(0, 4, shape), p.rng.integers(low, 120, shape))
    return p.argument(np.asarray(numbers).astype(dtype))


def gather(p: Program) -> None:
    """Read windows."""
    made = indexing(p)
    x = p.operand(TensorType(made.operand, p.dtype()))
    numbers = GatherDimensionNumbers(**made.fields)
    p.add("gather", x, places(p, made.indices), dimension_numbers=numbers, slice_sizes=made.sizes)


SCATTER_FIELDS = {
    "update_window_dims": "offset_dims",
    "inserted_window_dims": "collapsed_slice_dims",
    "input_batching_dims": "operand_batching_dims",
    "scatter_indices_batching_dims": "start_indices_batching_dims",
    "scatter_dims_to_operand_dims": "start_index_map",
    "index_vector_dim": "index_vector_dim",
}


def scatter(p: Program) -> None:
    """Combine windows with what is there, by an op that gives the same result in any order, or one array or two."""
    made = indexing(p)
    numbers = ScatterDimensionNumbers(**{name: made.fields[source] for name, source in SCATTER_FIELDS.items()})
    dtypes = [p.dtype(ANY - COMPLEX), p.dtype(INTEGERS)][: p.below(1, 3)]  # XLA wants floats of one precision
    names = [p.pick(["add", "maximum", "minimum", "multiply"] if d != BOOL else ["and", "or", "xor"]) for d in dtypes]
    inputs = [p.operand(TensorType(made.operand, d), "small") for d in dtypes]
    updates = [
        p.operand(TensorType(made.windows, d), "small" if n != "multiply" or d in INTEGERS else "ones")
        for d, n in zip(dtypes, names, strict=True)
    ]
    count = len(dtypes)

    def combine(*values: Value) -> list[Value]:
        return [p.op(names[k], values[k], values[k + count]) for k in range(count)]

    region = p.scalar_region(dtypes * 2, combine)
    indices = places(p, made.indices)
    p.add("scatter", *inputs, indices, *updates, regions=[region], scatter_dimension_numbers=numbers)


MAKERS = [rearrange, cut, pad, join, broadcast, create, dynamic_cut, dynamic_cut, gather, gather, scatter, scatter]
