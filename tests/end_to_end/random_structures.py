"""Random reductions, sorts, products, running sums, and movements by index: slices, gather, scatter."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from numhlo.lowering.ir import Region, TensorType, Value
from numhlo.lowering.ir.types import BOOL, COMPLEX, FLOATS, INTEGERS, SIGNED
from numhlo.lowering.ops import (
    comparison,
    contraction,
    control_flow,
    conversion,
    cumulative,
    elementwise,
    indexing,
    layout,
    ranking,
    reduction,
    sorting,
)
from numhlo.lowering.ops.cumulative import initial_value
from numhlo.lowering.ops.dimension_numbers import (
    DotDimensionNumbers,
    GatherDimensionNumbers,
    ScatterDimensionNumbers,
)
from numhlo.lowering.ops.primitive import Primitive
from tests.end_to_end.random_arrays import DTYPES
from tests.end_to_end.random_elementwise import REALS
from tests.end_to_end.random_programs import Generator

COMBINERS: list[tuple[Primitive, str, frozenset[np.dtype]]] = [
    (elementwise.ADD, "cumsum", REALS | COMPLEX),
    (elementwise.ADD, "cumsum", REALS | COMPLEX),
    (elementwise.MULTIPLY, "cumprod", REALS),
    (elementwise.MAXIMUM, "cummax", REALS),
    (elementwise.MINIMUM, "cummin", REALS),
    (elementwise.AND, "cumprod", frozenset({BOOL})),
    (elementwise.OR, "cummax", frozenset({BOOL})),
]
"""Bodies of reductions, the running function whose initial value leaves elements unchanged, and element types."""


UNORDERED = 1000.0
"""Error of a float sum whose order is left open."""


def scalars(*dtypes: np.dtype) -> list[TensorType]:
    """Return the types of scalars."""
    return [TensorType((), d) for d in dtypes]


def body(g: Generator, definition: Primitive, dtype: np.dtype) -> Region:
    """Return a body of one op on two scalars."""
    return g.b.region(scalars(dtype, dtype), lambda x, y: [g.b.op(definition, x, y)])


def axes_of(g: Generator, rank: int, least: int = 0) -> tuple[int, ...]:
    """Return some axes."""
    return tuple(g.sample(range(rank), g.between(least, rank)))


# ------------------------------------------------------------------------------------------------------- reductions


def reduce_one(g: Generator) -> None:
    """Reduce by one op, from its identity or any other value; often of an elementwise expression."""
    definition, kind, dtypes = g.choose(COMBINERS)
    x = g.pick(dtypes, least_rank=1)
    dtype = x.tensor.dtype
    identity = g.b.constant(initial_value(kind, dtype))
    init = identity if g.settings.portable or g.chance(0.7) else g.like(x.tensor.with_shape(()))
    dims = axes_of(g, x.tensor.ndim, 0 if g.chance(0.05) else 1)
    error = order_error(g, definition, dtype)
    g.emit(reduction.REDUCE, x, init, regions=[body(g, definition, dtype)], dimensions=dims, error=error)


def order_error(g: Generator, definition: Primitive, dtype: np.dtype) -> float:
    """Return the error of a sum or product: none where the order is ours, as in all of our engines."""
    inexact = definition in {elementwise.ADD, elementwise.MULTIPLY} and dtype in FLOATS | COMPLEX
    return UNORDERED if g.settings.portable and inexact else 0.0


def reduce_custom(g: Generator) -> None:
    """Reduce integers by an associative body of several ops: (1 + x)(1 + y) - 1."""
    x = g.pick(INTEGERS, least_rank=1)
    dtype = x.tensor.dtype

    def write(a: Value, b: Value) -> Sequence[Value]:
        total = g.b.op(elementwise.ADD, a, b)
        return [g.b.op(elementwise.ADD, total, g.b.op(elementwise.MULTIPLY, a, b))]

    region = g.b.region(scalars(dtype, dtype), write)
    zero = g.b.constant(np.zeros((), dtype))
    g.emit(reduction.REDUCE, x, zero, regions=[region], dimensions=axes_of(g, x.tensor.ndim, 1))


def reduce_extreme_place(g: Generator) -> None:
    """Reduce two inputs together: the largest element and where it is, the first of equals."""
    x = g.tidy(g.pick(REALS, least_rank=1))
    places = g.like(x.tensor.with_dtype(g.choose([np.dtype("i4"), np.dtype("i8")])))
    types = scalars(x.tensor.dtype, places.tensor.dtype)
    direction = g.choose(["GT", "LT"])

    def write(a: Value, i: Value, b: Value, j: Value) -> Sequence[Value]:
        wins = g.b.op(comparison.COMPARE, a, b, comparison_direction=direction)
        ties = g.b.op(comparison.COMPARE, a, b, comparison_direction="EQ")
        earlier = g.b.op(comparison.COMPARE, i, j, comparison_direction="LE")
        first = g.b.op(elementwise.OR, wins, g.b.op(elementwise.AND, ties, earlier))
        return [g.b.op(comparison.SELECT, first, a, b), g.b.op(comparison.SELECT, first, i, j)]

    region = g.b.region([*types, *types], write)
    start = initial_value("cummax" if direction == "GT" else "cummin", x.tensor.dtype)
    inits = [g.b.constant(start), g.b.constant(np.zeros((), places.tensor.dtype))]
    dims = axes_of(g, x.tensor.ndim, 1)
    g.emit_all(reduction.REDUCE, x, places, *inits, regions=[region], dimensions=dims)


def reduce_wider(g: Generator) -> None:
    """Reduce in a wider type than the operand's, as the specification allows, but XLA does not."""
    if g.settings.portable:
        return
    pairs = [("i1", "i4"), ("i2", "i8"), ("u1", "u4"), ("f2", "f4"), ("f4", "f8")]
    narrow, wide = (np.dtype(d) for d in g.choose(pairs))
    x = g.like(TensorType(g.shape(1), narrow))
    zero = g.b.constant(np.zeros((), narrow))
    region = body(g, elementwise.ADD, wide)
    g.emit(reduction.REDUCE, x, zero, regions=[region], dimensions=axes_of(g, x.tensor.ndim, 1))


def running(g: Generator) -> None:
    """Apply a running sum, product, maximum or minimum."""
    kind = g.choose(list(cumulative.COMBINERS))
    x = g.tidy(g.pick(REALS, least_rank=1))
    attributes = cumulative.make_cumulative(kind, x.tensor, g.below(x.tensor.ndim), g.chance(0.3))
    error = order_error(g, cumulative.COMBINERS[kind][0], x.tensor.dtype)
    g.emit(control_flow.COMPOSITE, x, result=x.type, error=error, **attributes)


def top_k(g: Generator) -> None:
    """Take the largest elements."""
    x = g.tidy(g.pick(REALS, least_rank=1))
    k = g.between(0, x.tensor.shape[-1])
    attributes = ranking.make_top_k(x.tensor, k)
    shape = (*x.tensor.shape[:-1], k)
    results = [x.tensor.with_shape(shape), TensorType(shape, ranking.INDEX)]
    g.emit_all(control_flow.COMPOSITE, x, results=results, **attributes)


# ------------------------------------------------------------------------------------------------------------- sorts


def sort(g: Generator) -> None:
    """Sort one to three operands by the first, or by two keys."""
    first = g.tidy(g.pick(REALS | {BOOL}, least_rank=1))
    operands = [first]
    for _ in range(g.choose((0, 0, 1, 2))):
        operands.append(g.tidy(g.like(first.tensor.with_dtype(g.choose(g.dtypes)))))
    direction = g.choose(["LT", "GT"])
    total = g.chance(0.3) and first.tensor.dtype in FLOATS
    by_size = g.chance(0.2) and first.tensor.dtype in SIGNED | FLOATS
    two_keys = len(operands) > 1 and operands[1].tensor.dtype not in COMPLEX and g.chance(0.4)

    def write(*values: Value) -> Sequence[Value]:
        x, y = [g.magnitude(v) for v in values[:2]] if by_size else values[:2]
        kind = "TOTALORDER" if total else None
        less = g.b.op(comparison.COMPARE, x, y, comparison_direction=direction, compare_type=kind)
        if not two_keys:
            return [less]
        equal = g.b.op(comparison.COMPARE, x, y, comparison_direction="EQ", compare_type=kind)
        next_less = g.b.op(comparison.COMPARE, values[2], values[3], comparison_direction="LT")
        return [g.b.op(elementwise.OR, less, g.b.op(elementwise.AND, equal, next_less))]

    types = [t for v in operands for t in scalars(v.tensor.dtype) * 2]
    region = g.b.region(types, write)
    rank = first.tensor.ndim
    dimension = g.below(rank) - (rank if g.chance(0.2) else 0)
    g.emit_all(sorting.SORT, *operands, regions=[region], dimension=dimension, is_stable=True)


# ---------------------------------------------------------------------------------------------------------- products


def small(g: Generator, type: TensorType) -> Value:
    """Return numbers whose products add up exactly in any order: low bits of an integer, or a new leaf."""
    same = [v for v in g.visible() if v.tensor.shape == type.shape and v.tensor.dtype in INTEGERS]
    if not same or g.chance(0.5):
        return g.leaf(type, "small")
    x = g.choose(same)
    three = g.b.constant(np.asarray(3, x.tensor.dtype))
    mask = g.b.op(layout.BROADCAST_IN_DIM, three, result=x.type, broadcast_dimensions=())
    low = g.b.op(elementwise.AND, x, mask)
    return g.b.op(conversion.CONVERT, low, result=type)


def dot_general(g: Generator) -> None:
    """Multiply with random batching, contracting and free dimensions, in random order."""
    dtype = g.choose([d for d in g.settings.dtypes if d != BOOL])
    counts = [g.choose((0, 0, 1, 2)), g.choose((0, 1, 1, 1, 2)), g.choose((0, 1, 1, 2)), g.choose((0, 1, 1, 2))]
    extents = [[g.choose((0, 1, 2, 3, 5, 8, 17)) for _ in range(n)] for n in counts]
    while math.prod(n for part in extents for n in part) > 20_000:
        extents = [[max(1, n // 2) for n in part] for part in extents]
    batch, summed, left, right = extents
    sides = []
    for free in (left, right):
        roles = [("b", k, n) for k, n in enumerate(batch)] + [("c", k, n) for k, n in enumerate(summed)]
        roles += [("f", k, n) for k, n in enumerate(free)]
        order = g.sample(roles, len(roles))
        place = {role[:2]: axis for axis, role in enumerate(order)}
        batching = tuple(place["b", k] for k in range(len(batch)))
        contracting = tuple(place["c", k] for k in range(len(summed)))
        sides.append((small(g, TensorType(tuple(n for *_, n in order), dtype)), batching, contracting, order))
    (lhs, lb, lc, lo), (rhs, rb, rc, ro) = sides
    free = [n for kind, _, n in lo if kind == "f"] + [n for kind, _, n in ro if kind == "f"]
    result = TensorType((*batch, *free), dtype)
    g.emit(contraction.DOT_GENERAL, lhs, rhs, result=result, dot_dimension_numbers=DotDimensionNumbers(lb, rb, lc, rc))


# ------------------------------------------------------------------------------------------------- positions as data

INDEX_DTYPES = [d for d in DTYPES if d in INTEGERS]


def start(g: Generator, extent: int, dtype: np.dtype) -> Value:
    """Return a scalar index, now and then outside."""
    if g.chance(0.3):
        return g.like(TensorType((), dtype))
    low = 0 if dtype.kind == "u" else -2
    number = np.asarray(g.between(low, min(extent + 2, 100)), dtype)
    if g.depth == 0 and g.chance(0.7):
        g.arrays.append(number)
        return g.b.argument(TensorType((), dtype))  # type: ignore[attr-defined]
    return g.b.constant(number)


def dynamic_slice(g: Generator) -> None:
    """Take a window."""
    x = g.pick(exact=False)
    sizes = tuple(g.between(0, n) if g.chance(0.5) else n for n in x.tensor.shape)
    dtype = g.choose(INDEX_DTYPES)
    starts = [start(g, n, dtype) for n in x.tensor.shape]
    g.emit(indexing.DYNAMIC_SLICE, x, *starts, slice_sizes=sizes, error=g.error(x))


def dynamic_update_slice(g: Generator) -> None:
    """Overwrite a window."""
    x = g.pick()
    sizes = tuple(g.between(0, n) if g.chance(0.6) else n for n in x.tensor.shape)
    update = g.like(x.tensor.with_shape(sizes))
    dtype = g.choose(INDEX_DTYPES)
    g.emit(indexing.DYNAMIC_UPDATE_SLICE, x, update, *[start(g, n, dtype) for n in x.tensor.shape])


def _roles(g: Generator, shape: Sequence[int]) -> tuple[list[int], list[int], list[int], list[int]]:
    """Return batching, collapsed and window dimensions of an operand, and those that indices move."""
    batching, collapsed, window, mapped = [], [], [], []
    for d, extent in enumerate(shape):
        kind = g.below(5)
        if kind == 0 and extent < 20:
            batching.append(d)
            continue
        (collapsed if kind < 3 and extent > 0 else window).append(d)
        if g.chance(0.7):
            mapped.append(d)
    return batching, collapsed, window, g.sample(mapped, len(mapped))


def _indices(g: Generator, shape: Sequence[int], batching: Sequence[int], mapped: Sequence[int]) -> tuple:
    """Return an index tensor, where its vectors lie, and its dimensions that go with the operand's batching ones."""
    dims = [("b", d, shape[d]) for d in batching] + [("p", k, g.choose((1, 2, 3, 5))) for k in range(g.below(3))]
    if len(mapped) != 1 or g.chance(0.6):
        dims.append(("v", 0, len(mapped)))
    dims = g.sample(dims, len(dims))
    place = {role[:2]: axis for axis, role in enumerate(dims)}
    vector = place.get(("v", 0), len(dims))
    type = TensorType(tuple(n for *_, n in dims), g.choose(INDEX_DTYPES))
    reach = max([shape[d] for d in mapped], default=1)
    low = 0 if type.dtype.kind == "u" else -1
    if g.depth == 0 and g.chance(0.6):
        indices = g.b.argument(type)  # type: ignore[attr-defined]
        g.arrays.append(np.asarray(g.rng.integers(low, min(reach + 1, 100), type.shape)).astype(type.dtype))
    else:
        indices = g.bounded(g.like(type), low, min(reach, 100)) if g.chance(0.7) else g.like(type)
    return indices, vector, [place["b", d] for d in batching], [n for k, _, n in dims if k != "v"]


def gather(g: Generator) -> None:
    """Gather windows."""
    x = g.pick(exact=False)
    shape = x.tensor.shape
    batching, collapsed, window, mapped = _roles(g, shape)
    indices, vector, paired, batch = _indices(g, shape, batching, mapped)
    sizes = [1 if d not in window else (g.between(0, n) if g.chance(0.6) else n) for d, n in enumerate(shape)]
    sizes = [min(size, n) for size, n in zip(sizes, shape, strict=True)]
    total = math.prod(batch) * math.prod(sizes)
    if total > 2 * g.settings.most_elements:
        return
    offsets = sorted(g.sample(range(len(batch) + len(window)), len(window)))
    numbers = GatherDimensionNumbers(
        tuple(offsets), tuple(collapsed), tuple(batching), tuple(paired), tuple(mapped), vector
    )
    g.emit(indexing.GATHER, x, indices, dimension_numbers=numbers, slice_sizes=tuple(sizes), error=g.error(x))


def scatter(g: Generator) -> None:
    """Scatter updates, with bodies that add, multiply, choose, keep, or do more."""
    x = g.pick()
    shape, dtype = x.tensor.shape, x.tensor.dtype
    batching, inserted, window, mapped = _roles(g, shape)
    indices, vector, paired, batch = _indices(g, shape, batching, mapped)
    sizes = [g.between(0, shape[d]) if g.chance(0.6) else shape[d] for d in window]
    if math.prod(batch) * math.prod(sizes) > g.settings.most_elements:
        return
    places = sorted(g.sample(range(len(batch) + len(window)), len(window)))
    rest, windows = iter(batch), iter(sizes)
    update_shape = tuple(next(windows) if k in places else next(rest) for k in range(len(batch) + len(window)))
    update = g.like(x.tensor.with_shape(update_shape))
    numbers = ScatterDimensionNumbers(
        tuple(places), tuple(inserted), tuple(batching), tuple(paired), tuple(mapped), vector
    )
    region = g.b.region(scalars(dtype, dtype), lambda a, b: [_combined(g, a, b)])
    error = order_error(g, elementwise.ADD, dtype)
    g.emit(indexing.SCATTER, x, indices, update, regions=[region], scatter_dimension_numbers=numbers, error=error)


def _combined(g: Generator, old: Value, new: Value) -> Value:
    """Return what a scatter's body makes of the old element and the update."""
    fitting = [op for op, _, dtypes in COMBINERS if old.tensor.dtype in dtypes]
    kind = g.below(4)
    if kind == 0 or not fitting:
        return new
    if kind < 3:
        return g.b.op(g.choose(fitting), old, new)
    total = g.b.op(g.choose(fitting), old, new)
    return g.b.op(g.choose(fitting), total, new)


MAKERS = [
    *[reduce_one] * 4,
    reduce_custom,
    reduce_extreme_place,
    reduce_wider,
    running,
    top_k,
    sort,
    dot_general,
    dynamic_slice,
    dynamic_update_slice,
    gather,
    scatter,
]
