"""Random ops whose indices and bounds are as far outside as their types allow, on arrays that may have no elements."""

from __future__ import annotations

import numpy as np

from numhlo.lowering.ir import TensorType, Value
from numhlo.lowering.ir.types import BOOL, COMPLEX, INTEGERS
from numhlo.lowering.ops import PRIMITIVES
from numhlo.lowering.ops.dimension_numbers import GatherDimensionNumbers, ScatterDimensionNumbers
from tests.sweep.moving import ANY, INDICES, SCATTER_FIELDS, indexing
from tests.sweep.program import Program

LONGEST = 300
"""Elements of a row that vectors go over several times, and a remainder."""


def far(p: Program, shape: tuple[int, ...], extent: int, dtype: np.dtype | None = None) -> np.ndarray:
    """Return integers of a type: inside, at the edges of an extent, and at those of the type."""
    dtype = p.pick(INDICES) if dtype is None else dtype
    limits = np.iinfo(dtype)
    edges = [limits.min, limits.min + 1, limits.max, limits.max - 1, limits.max // 2, 0, extent - 1, extent, extent + 1]
    edges += [-1, -extent, -extent - 1] if limits.min < 0 else [limits.max - extent, limits.max - extent + 1]
    fitting = [n for n in edges if limits.min <= n <= limits.max]
    inside = p.rng.integers(0, max(1, min(extent, int(limits.max))), shape).astype(dtype)
    outside = np.array(fitting, object)[p.rng.integers(0, len(fitting), shape)]
    chosen = np.where(p.rng.random(shape) < p.pick([0.0, 0.3, 0.9]), inside, outside)
    return np.asarray(chosen).astype(dtype).reshape(shape)


def far_window(p: Program) -> None:
    """Read a window, or write one, anywhere."""
    x = p.like(ANY)
    sizes = tuple(p.below(0, n + 1) for n in x.tensor.shape)
    dtype = p.pick(INDICES)
    places = [p.argument(far(p, (), n, dtype)) for n in x.tensor.shape]
    if p.chance():
        p.add("dynamic_slice", x, *places, slice_sizes=sizes)
    else:
        p.add("dynamic_update_slice", x, p.operand(x.tensor.with_shape(sizes)), *places)


def far_gather(p: Program) -> None:
    """Read windows that lie anywhere."""
    made = indexing(p)
    x = p.operand(TensorType(made.operand, p.dtype()))
    numbers = GatherDimensionNumbers(**made.fields)
    indices = p.argument(far(p, made.indices, max(made.operand, default=1)))
    p.add("gather", x, indices, dimension_numbers=numbers, slice_sizes=made.sizes)


def far_scatter(p: Program) -> None:
    """Combine windows that lie anywhere with what is there."""
    made = indexing(p)
    numbers = ScatterDimensionNumbers(**{name: made.fields[source] for name, source in SCATTER_FIELDS.items()})
    dtype = p.dtype(ANY - COMPLEX - {BOOL})
    x, updates = (p.operand(TensorType(shape, dtype), "small") for shape in (made.operand, made.windows))
    region = p.scalar_region([dtype] * 2, lambda a, b: [p.op(p.pick(["add", "maximum", "minimum"]), a, b)])
    indices = p.argument(far(p, made.indices, max(made.operand, default=1)))
    p.add("scatter", x, indices, updates, regions=[region], scatter_dimension_numbers=numbers)


def far_take(p: Program) -> None:
    """Read elements or rows of a table, which may be empty of rows where none are read."""
    rows, width = p.below(1, LONGEST), p.pick([None, 1, 3, 8, 33])
    shape = (rows,) if width is None else (rows, width)
    count = p.pick([0, 1, 7, 64, LONGEST])
    x = p.operand(TensorType(shape, p.dtype()))
    indices = p.argument(far(p, (count,), rows))
    numbers = GatherDimensionNumbers(
        offset_dims=() if width is None else (1,),
        collapsed_slice_dims=(0,),
        start_index_map=(0,),
        index_vector_dim=1,
    )
    sizes = (1,) if width is None else (1, width)
    p.add("gather", x, indices, dimension_numbers=numbers, slice_sizes=sizes)


def far_segments(p: Program) -> None:
    """Reduce rows by segments: of none, of some, of more than there are rows."""
    segments, count, width = p.pick([0, 1, 5, LONGEST]), p.pick([0, 1, 40, LONGEST]), p.pick([None, 1, 4, 17])
    dtype = p.dtype(INTEGERS | {np.dtype(np.float32), np.dtype(np.float64)})
    tail = () if width is None else (width,)
    x = p.operand(TensorType((segments, *tail), dtype), "small")
    updates = p.operand(TensorType((count, *tail), dtype), "small")
    indices = far(p, (count,), segments)
    is_sorted = p.chance(0.3)
    if is_sorted:
        indices.sort()
    numbers = ScatterDimensionNumbers(
        update_window_dims=() if width is None else (1,),
        inserted_window_dims=(0,),
        scatter_dims_to_operand_dims=(0,),
        index_vector_dim=1,
    )
    name = p.pick(["add", "maximum", "minimum", "multiply"])
    region = p.scalar_region([dtype] * 2, lambda a, b: [p.op(name, a, b)])
    options = {"indices_are_sorted": is_sorted, "scatter_dimension_numbers": numbers}
    p.add("scatter", x, p.argument(indices), updates, regions=[region], **options)


def far_loop(p: Program) -> None:
    """Count up to the end of an integer type, or from its begin, and read and write where the counter says."""
    dtype = p.pick(INDICES)
    limits, count = np.iinfo(dtype), p.below(0, 4)
    start = int(p.pick([limits.min, limits.max - count, limits.max // 2, 0]))
    stop = start + count if p.chance(0.8) else limits.min
    x = p.operand(TensorType((p.below(1, 40),), np.dtype(np.float64)), "small")
    limit = p.argument(np.array(stop, dtype))
    one = p.builder.constant(np.array(1, dtype))

    def condition(i: Value, carried: Value) -> list[Value]:
        return [p.op("compare", i, limit, comparison_direction="LT")]

    def body(i: Value, carried: Value) -> list[Value]:
        found = p.op("dynamic_slice", carried, i, slice_sizes=(1,))
        return [p.op("add", i, one), p.op("dynamic_update_slice", carried, p.op("negate", found), i)]

    types = [limit.tensor, x.tensor]
    regions = [p.builder.region(types, condition), p.builder.region(types, body)]
    results = p.builder.ops(PRIMITIVES["while"], p.argument(np.array(start, dtype)), x, regions=regions)
    for value in results:
        p.look(value)


MAKERS = [far_window, far_gather, far_gather, far_scatter, far_scatter, far_take, far_segments, far_loop]
