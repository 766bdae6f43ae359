"""Statements that move elements: long chains of views, slices that are read and written, gathers, scatters, tables of
indices made from iotas."""

from __future__ import annotations

from tests.every_call.lax_generator import FLOATS, INTEGERS, MOST_ELEMENTS, Generator
from tests.every_call.lax_syntax import Operand, Var

INDICES = ("int64", "int32")


def transposed(g: Generator, x: Operand) -> Var:
    """Permute the axes."""
    shape = x.type.shape
    order = tuple(int(d) for d in g.rng.permutation(len(shape)))
    return g.value(f"lax.transpose({{0}}, {order})", x, shape=tuple(shape[d] for d in order))


def reversed_(g: Generator, x: Operand) -> Var:
    """Reverse some axes."""
    axes = tuple(d for d in range(len(x.type.shape)) if g.chance(0.6)) or (0,)
    return g.value(f"lax.rev({{0}}, {axes})", x)


def reshaped(g: Generator, x: Operand) -> Var:
    """Change the shape."""
    new = _other_shape(g, x.type.size)
    return g.value(f"lax.reshape({{0}}, {new})", x, shape=new)


def sliced(g: Generator, x: Operand) -> Var:
    """Take a slice, with steps."""
    shape = x.type.shape
    starts = tuple(g.below(max(1, n // 2)) for n in shape)
    limits = tuple(n - g.below(max(1, (n - s) // 2)) for n, s in zip(shape, starts, strict=True))
    steps = tuple(g.choose((1, 1, 2, 3)) for _ in shape)
    new = tuple(-(-(b - a) // s) for a, b, s in zip(starts, limits, steps, strict=True))
    return g.value(f"lax.slice({{0}}, {starts}, {limits}, {steps})", x, shape=new)


def rolled(g: Generator, x: Operand) -> Var:
    """Roll along an axis."""
    axis = g.below(len(x.type.shape))
    n = x.type.shape[axis]
    return g.value(f"hnp.roll({{0}}, {g.below(2 * n) - n}, {axis})", x)


def repeated(g: Generator, x: Operand) -> Var:
    """Repeat along a new axis, the first or the last."""
    k, shape, rank = g.choose((2, 3)), x.type.shape, len(x.type.shape)
    front = g.chance(0.5)
    new = (k, *shape) if front else (*shape, k)
    dims = tuple(range(1, rank + 1)) if front else tuple(range(rank))
    return g.value(f"lax.broadcast_in_dim({{0}}, {new}, {dims})", x, shape=new)


def padded(g: Generator, x: Operand) -> Var:
    """Pad with zeros, at the ends of an axis and between elements."""
    shape = x.type.shape
    axis = g.below(len(shape))
    config = tuple((g.below(3), g.below(3), 0) if d == axis else (0, 0, g.below(2)) for d in range(len(shape)))
    new = tuple(n + a + b + (n - 1) * c for n, (a, b, c) in zip(shape, config, strict=True))
    return g.value(f"lax.pad({{0}}, hnp.zeros((), {{0}}.dtype), {config})", x, shape=new)


def joined(g: Generator, x: Operand) -> Var:
    """Put another array behind."""
    axis = g.below(len(x.type.shape))
    y = g.like(x.type._replace(exact=False))
    new = tuple(n * 2 if d == axis else n for d, n in enumerate(x.type.shape))
    return g.value(f"lax.concatenate([{{0}}, {{1}}], {axis})", x, y, shape=new)


KEEPING = (transposed, reversed_, reshaped, sliced, rolled)
GROWING = (repeated, padded, joined)
MOST_TO_GROW = 4000
"""Elements of arrays that are made larger: at most four times so many come of it."""


def view(g: Generator, x: Operand) -> Var:
    """Append one operation that only moves elements."""
    if not x.type.shape:
        return repeated(g, x)
    made: Var = g.choose((*KEEPING, *GROWING) if x.type.size <= MOST_TO_GROW else KEEPING)(g, x)
    return made


def _other_shape(g: Generator, size: int) -> tuple[int, ...]:
    """Return a shape of so many elements."""
    shape, rest = [], size
    for _ in range(g.below(3)):
        divisors = [d for d in range(1, min(rest, 64) + 1) if rest % d == 0]
        shape.append(g.choose(divisors))
        rest //= shape[-1]
    return (*shape, rest)


def chain(g: Generator) -> None:
    """Append views of views; the last one often goes back to the shape of the first."""
    x: Operand = g.pick(least_rank=1)
    first = x.type
    for _ in range(1 + g.below(5)):
        x = view(g, x)
    if g.chance(0.5) and x.type.size >= first.size:
        flat = g.value("lax.reshape({0}, (-1,))", x, shape=(x.type.size,))
        cut = g.value(f"lax.slice({{0}}, (0,), ({first.size},))", flat, shape=(first.size,))
        g.value(f"lax.reshape({{0}}, {first.shape})", cut, shape=first.shape)


def table(g: Generator) -> None:
    """Take elements at positions that are computed from iotas, reshaped and moved about."""
    x = g.pick(least_rank=1)
    axis = g.below(len(x.type.shape))
    n, rest = x.type.shape[axis], x.type.size // x.type.shape[axis]
    indices, largest = _positions(g, x)
    if indices.type.size * rest > MOST_ELEMENTS:
        return
    taken = (*x.type.shape[:axis], *indices.type.shape, *x.type.shape[axis + 1 :])
    if largest < n and axis == 0:
        g.value("hnp.asarray({0})[{1}]", x, indices, shape=taken)
    elif g.chance(0.6) or largest < n:
        g.value(f"hnp.take({{0}}, {{1}}{'' if largest < n else f' % {n}'}, axis={axis})", x, indices, shape=taken)
    else:
        g.value(f'hnp.take({{0}}, {{1}}, axis={axis}, mode="clip")', x, indices, shape=taken)


def _positions(g: Generator, x: Operand) -> tuple[Var, int]:
    """Return indices made from iotas by arithmetic and views, and the largest of them."""
    shape = g.choose([(2, 2), (3, 2), (4,), (2, 3, 2), (5, 1), (x.type.shape[0],), (2, g.n)])
    dtype, factors, shift = g.choose(INDICES), [g.choose((0, 1, 1, 2, 3)) for _ in shape], g.below(3)
    terms = [f"{f} * lax.broadcasted_iota(np.{dtype}, {shape}, {d})" for d, f in enumerate(factors)]
    type = x.type._replace(dtype=dtype, shape=shape, exact=True)
    indices = g.add(" + ".join([*terms, str(shift)]), [], type)
    for _ in range(g.below(4)):
        indices = g.choose((*KEEPING, repeated) if indices.type.size < MOST_TO_GROW else KEEPING)(g, indices)
    return indices, shift + sum(f * (n - 1) for f, n in zip(factors, shape, strict=True))


def two_tables(g: Generator) -> None:
    """Take elements at pairs of positions, both computed from iotas."""
    x = g.find(least_rank=2, where=lambda t: t.size <= MOST_TO_GROW)
    if x is None:
        return
    rows, columns = (lax_iota(g, x.type.shape[d], d) for d in (0, 1))
    shape = (*x.type.shape[:2][::-1], *x.type.shape[2:])
    g.value(f"{{0}}[{rows}, {columns}]", x, shape=shape)


def lax_iota(g: Generator, n: int, axis: int) -> str:
    """Return the text of positions along an axis, in order or backwards, for a grid whose axes are exchanged."""
    text = f"lax.iota(np.int32, {n})"
    text = g.choose((text, f"{n - 1} - {text}", f"({text} * 3 + 1) % {n}"))
    return f"({text}).reshape({(1, n) if axis == 0 else (n, 1)})"


def take(g: Generator) -> None:
    """Take elements at computed positions."""
    x = g.pick(least_rank=1)
    n = x.type.shape[0]
    indices = g.pick(INDICES)
    if indices.type.size * (x.type.size // n) > MOST_ELEMENTS:
        return
    shape = (*indices.type.shape, *x.type.shape[1:])
    g.value(f"hnp.asarray({{0}})[{{1}} % {n}]", x, indices, shape=shape)


def read_slice(g: Generator) -> None:
    """Read a slice whose position is computed."""
    x = g.pick(least_rank=1)
    start = g.pick(INDICES) if g.chance(0.5) else g.like(x.type._replace(dtype="int32", shape=(), exact=True))
    if start.type.shape:
        start = g.like(x.type._replace(dtype="int32", shape=(), exact=True))
    axis = g.below(len(x.type.shape))
    size = 1 + g.below(x.type.shape[axis])
    shape = tuple(size if d == axis else n for d, n in enumerate(x.type.shape))
    g.value(f"lax.dynamic_slice_in_dim({{0}}, {{1}}, {size}, axis={axis})", x, start, shape=shape)


def write_slice(g: Generator) -> None:
    """Write a slice whose position is computed."""
    x = g.pick(least_rank=1)
    axis = g.below(len(x.type.shape))
    size = 1 + g.below(x.type.shape[axis])
    start = g.like(x.type._replace(dtype="int32", shape=(), exact=True))
    part = g.like(
        x.type._replace(shape=tuple(size if d == axis else n for d, n in enumerate(x.type.shape)), exact=False)
    )
    g.value(f"lax.dynamic_update_slice_in_dim({{0}}, {{1}}, {{2}}, {axis})", x, part, start)


def at(g: Generator) -> None:
    """Write, add to or multiply elements and slices."""
    x = g.pick(FLOATS + INTEGERS, least_rank=1)
    n = x.type.shape[0]
    row = x.type._replace(shape=x.type.shape[1:], exact=False)
    index = g.like(x.type._replace(dtype="int32", shape=(), exact=True))
    where = g.choose([f"{{2}} % {n}", "{2}" if isinstance(index, Var) else "0", "-1", f"{n // 2}"])
    if n > 2 and g.chance(0.4):
        where, row = g.choose([("1:", x.type._replace(shape=(n - 1, *row.shape), exact=False)), ("::-1", x.type)])
    new = g.like(row._replace(exact=False))
    how = g.choose(("set", "set", "max", "min"))
    g.value(f"hnp.asarray({{0}}).at[{where}].{how}({{1}})", x, new, index)


def stencil(g: Generator) -> None:
    """Combine a slice of an array with a neighbouring one."""
    x = g.find(FLOATS, least_rank=1, where=lambda t: t.shape[0] > 2)
    if x is None:
        return
    text = g.choose(
        ("{0}[1:] * 0.5 + {0}[:-1] * 0.5", "{0}[:-1] * 0.5 - {0}[1:] * 0.25", "{0}[1:] * 0.5 + {0}[:-1][::-1] * 0.5")
    )
    where = "1:" if text.startswith("{0}[1") else ":-1"
    g.value(f"{{0}}.at[{where}].set({text})", x)


def scatter(g: Generator) -> None:
    """Add or write rows at computed positions."""
    x = g.pick(FLOATS + INTEGERS, least_rank=1)
    n = x.type.shape[0]
    indices = g.find(INDICES, where=lambda t: len(t.shape) == 1 and t.size <= 400)
    if indices is None:
        indices = g.value(f"(lax.iota(np.int32, {n}) * {1 + g.below(5)} + {g.below(4)})", x, dtype="int32", shape=(n,))
        indices.type = indices.type._replace(exact=True)
    count = indices.type.shape[0]
    rows = x.type._replace(shape=(count, *x.type.shape[1:]), exact=False)
    if rows.size > MOST_ELEMENTS:
        return
    new = g.like(rows)
    how = g.choose(("add", "max", "min"))
    if how == "add" and x.type.dtype in FLOATS:
        g.value(
            f"hnp.asarray({{0}}).at[{{2}} % {n}].add({{1}} * (1 / {count + 1})) * 0.5", x, new, indices, exact=False
        )
    else:
        g.value(f"hnp.asarray({{0}}).at[{{2}} % {n}].{how}({{1}})", x, new, indices)


MAKERS = [
    *[chain] * 4,
    *[table] * 3,
    two_tables,
    take,
    *[read_slice] * 2,
    *[write_slice] * 3,
    *[at] * 3,
    *[stencil] * 2,
    scatter,
]
