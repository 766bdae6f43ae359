"""Statements that look at whole arrays at once: windows, transforms, order statistics, solves, masks made from iotas."""

from __future__ import annotations

from tests.every_call.lax_generator import FLOATS, INTEGERS, Generator
from tests.every_call.lax_syntax import Operand, Var

SINGLE_OR_DOUBLE = ("float64", "float32")
MOST_OF_MATRIX = 20
MOST_OF_WINDOWS = 4000


def windows(g: Generator) -> None:
    """Reduce windows that slide along the last axis."""
    x = g.find(FLOATS, least_rank=1, where=lambda t: t.shape[-1] >= 3 and t.size <= MOST_OF_WINDOWS)
    if x is None:
        return
    rank, n, width, step = len(x.type.shape), x.type.shape[-1], g.choose((2, 3)), g.choose((1, 1, 2))
    ones = "1, " * (rank - 1)
    sizes, strides = f"({ones}{width},)", f"({ones}{step},)"
    if g.chance(0.5):
        shape = (*x.type.shape[:-1], (n - width) // step + 1)
        g.value(f"lax.reduce_window({{0}}, -hnp.inf, lax.max, {sizes}, {strides}, 'VALID')", x, shape=shape)
    else:
        shape = (*x.type.shape[:-1], -(-n // step))
        text = f"lax.reduce_window({{0}}, 0.0, lax.add, {sizes}, {strides}, 'SAME') * {1 / width}"
        g.value(text, x, shape=shape, exact=False)


def convolution(g: Generator) -> None:
    """Convolve with a vector of three numbers."""
    x = g.find(FLOATS, where=lambda t: len(t.shape) == 1 and 3 <= t.shape[0] <= 400)
    if x is None:
        return
    y = g.like(x.type._replace(shape=(3,), exact=False))
    g.value("hnp.convolve({0}, {1}, mode='same') * 0.25", x, y, exact=False)


def transform(g: Generator) -> None:
    """Compute the real part of a Fourier transform."""
    x = g.find(SINGLE_OR_DOUBLE, least_rank=1, where=lambda t: t.size <= MOST_OF_WINDOWS)
    if x is not None:
        g.value(f"hnp.real(hnp.fft.fft({{0}})) * {1 / x.type.shape[-1]}", x, exact=False)


def order_statistics(g: Generator) -> None:
    """Compute medians and quantiles."""
    x = g.find(SINGLE_OR_DOUBLE, least_rank=1)
    if x is None:
        return
    text = g.choose(("hnp.median({0}, axis=-1)", "hnp.quantile({0}, 0.3, axis=-1)", "hnp.std({0}, axis=-1)"))
    text = text if not g.differentiable else "hnp.median({0}, axis=-1)"
    g.value(text, x, shape=x.type.shape[:-1], exact=False)


def solve(g: Generator) -> None:
    """Solve with, or factorize, a matrix that is far from singular."""
    x = g.find(SINGLE_OR_DOUBLE, where=lambda t: len(t.shape) == 2 and max(t.shape) <= MOST_OF_MATRIX)
    if x is None:
        return
    m, n = x.type.shape
    matrix = f"({{0}} @ {{0}}.T * {0.5 / n} + 2 * hnp.eye({m}, dtype={{0}}.dtype))"
    if g.chance(0.5):
        g.value(f"hnp.linalg.solve({matrix}, {{0}})", x, exact=False)
    else:
        g.value(f"hnp.linalg.cholesky({matrix}) * 0.5", x, shape=(m, m), exact=False)


def masked(g: Generator) -> None:
    """Keep a triangle, or the elements whose positions a number divides."""
    x = g.pick(FLOATS + INTEGERS, least_rank=1)
    rank = len(x.type.shape)
    if rank >= 2 and g.chance(0.5):
        g.value(g.choose(("hnp.tril({0})", "hnp.triu({0}, 1)")), x)
        return
    iota = f"lax.broadcasted_iota(np.int32, {x.type.shape}, {g.below(rank)})"
    g.value(f"hnp.where({iota} % {2 + g.below(3)} == 0, {{0}}, 0)", x)


def stacked(g: Generator) -> None:
    """Stack arrays, then take them apart or combine them."""
    x = g.pick(FLOATS, least_rank=1)
    y = g.like(x.type._replace(exact=False))
    axis = g.below(len(x.type.shape) + 1)
    both: Var = g.value(f"hnp.stack([{{0}}, {{1}}, {{0}}], {axis})", x, y, shape=_grown(x, axis, 3))
    if g.chance(0.5):
        g.value(f"hnp.max({{0}}, axis={axis})", both, shape=x.type.shape)


def _grown(x: Operand, axis: int, n: int) -> tuple[int, ...]:
    return (*x.type.shape[:axis], n, *x.type.shape[axis:])


def outer(g: Generator) -> None:
    """Combine every element of one vector with every element of another."""
    x = g.find(FLOATS, where=lambda t: len(t.shape) == 1 and t.size <= 130)
    if x is None:
        return
    y = g.find([x.type.dtype], where=lambda t: len(t.shape) == 1 and t.size <= 130) or x
    shape = (x.type.shape[0], y.type.shape[0])
    text = g.choose(("hnp.outer({0}, {1})", "({0}[:, None] - {1}[None, :]) * 0.5", "hnp.maximum({0}[:, None], {1})"))
    g.value(text, x, y, shape=shape)


def searched(g: Generator) -> None:
    """Find where numbers belong among sorted ones."""
    x = g.find(FLOATS + INTEGERS, exact=True, where=lambda t: len(t.shape) == 1)
    if x is None:
        return
    y = g.find([x.type.dtype], exact=True) or x
    shape = y.type.shape
    g.value("hnp.searchsorted(lax.sort({0}), {1})", x, y, dtype="int64", shape=shape)


def segments(g: Generator) -> None:
    """Add up rows by segment."""
    x = g.find(FLOATS, least_rank=1)
    if x is None:
        return
    n, k = x.type.shape[0], 1 + g.below(5)
    ids = f"lax.iota(np.int32, {n}) {g.choose(('//', '%'))} {k}"
    text = f"numhlo.ops.segment_sum({{0}}, {ids}, num_segments={n}) * {1 / n}"
    g.value(text, x, exact=False)


MAKERS = [
    windows,
    convolution,
    transform,
    order_statistics,
    solve,
    *[masked] * 2,
    *[stacked] * 2,
    *[outer] * 2,
    searched,
    segments,
]
