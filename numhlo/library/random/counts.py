"""Counts of successes: binomial and multinomial numbers.

Sources: Devroye, "Non-uniform random variate generation" (1986), X.4, second waiting time method, for few expected
successes; Hörmann, "The generation of binomial random variates" (1993), algorithm BTRS, for many. All samples loop
together until each is accepted. The use of keys and the order of operations are JAX's, so that numbers are, too.
Samples have no derivative by their parameters.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numhlo.library.numpy import axis_order, rearranging, reductions
from numhlo.library.numpy.cumulative import cumsum
from numhlo.library.numpy.indexing.advanced_indexing import take
from numhlo.library.numpy.reshaping import shape_tuple
from numhlo.library.random.continuous import draw_uniform, float_dtype, parameter, sample_shape
from numhlo.library.random.keys import as_key, several_keys, split_key
from numhlo.tracer.building import (
    as_traced,
    asarray,
    convert,
    full_of,
    inexact_dtype,
    runs_anywhere,
    scan,
    shape_of,
    while_loop,
)
from numhlo.tracer.building import operations as b
from numhlo.tracer.building.derivatives import stop_gradient

__all__ = ["binomial", "multinomial"]

WAITS_UP_TO = 10.0
"""Expected numbers of successes up to which waiting times are summed."""

TAILS = np.array([
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
    0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287,
])  # fmt: skip
"""What Stirling's formula for the logarithm of k! leaves out, for k from 0 to 9."""


def _by_waiting(key: Any, n: Any, p: Any) -> Any:
    """Return how many geometric waiting times fit into n trials."""
    size, dtype = p.shape, p.dtype
    log_miss = b.log1p(b.negate(p))

    def going(state: Any) -> Any:
        return reductions.any(b.at_most(state[1], n))

    def step(state: Any) -> Any:
        count, used, own = state
        subkey, after = several_keys(own, 2)
        count = b.select(b.at_most(used, n), b.add(count, 1), count)
        wait = b.ceil(b.divide(b.log(draw_uniform(subkey, size, dtype)), log_miss))
        return count, b.add(used, wait), after

    found = while_loop(going, step, (full_of(0, size, dtype), full_of(0, size, dtype), key))[0]
    return b.subtract(found, 1)


def _stirling_tail(k: Any) -> Any:
    """Return what Stirling's formula for the logarithm of k! leaves out."""
    near = b.minimum(b.maximum(k, 0), 9)
    after = b.add(near, 1)
    square = b.multiply(after, after)
    inner = b.subtract(b.constant(1 / 360, k), b.divide(b.constant(1 / 1260, k), square))
    series = b.divide(b.subtract(b.constant(1 / 12, k), b.divide(inner, square)), after)
    known = take(asarray(TAILS.astype(k.dtype)), convert(b.floor(near), np.int32), 0, "clip")
    return b.select(b.at_most(k, 9), known, series)


def _by_rejection(key: Any, n: Any, p: Any) -> Any:
    """Return binomial numbers of ``n p > 10`` and ``p <= 1/2`` by transformed rejection (BTRS)."""
    size, dtype = p.shape, p.dtype
    one, half = b.constant(1, p), b.constant(0.5, p)
    spread = b.sqrt(b.multiply(b.multiply(n, p), b.subtract(one, p)))
    slope = b.add(b.multiply(spread, 2.53), 1.15)
    a = b.add(b.add(b.multiply(slope, 0.0248), -0.0873), b.multiply(p, 0.01))
    centre = b.add(b.multiply(n, p), 0.5)
    limit = b.subtract(b.constant(0.92, p), b.divide(b.constant(4.2, p), slope))
    odds = b.divide(p, b.subtract(one, p))
    alpha = b.multiply(b.add(b.divide(b.constant(5.1, p), slope), 2.83), spread)
    mode = b.floor(b.multiply(b.add(n, 1), p))
    misses = b.add(b.subtract(n, mode), 1)
    at_mode = b.multiply(b.add(mode, 0.5), b.log(b.divide(b.add(mode, 1), b.multiply(odds, misses))))
    tails = _stirling_tail(mode), _stirling_tail(b.subtract(n, mode))

    def log_density(k: Any) -> Any:
        left = b.add(b.subtract(n, k), 1)
        found = b.add(at_mode, b.multiply(b.add(n, 1), b.log(b.divide(misses, left))))
        ratio = b.divide(b.multiply(odds, left), b.add(k, 1))
        found = b.add(found, b.multiply(b.add(k, 0.5), b.log(ratio)))
        found = b.add(b.add(found, tails[0]), tails[1])
        return b.subtract(b.subtract(found, _stirling_tail(k)), _stirling_tail(b.subtract(n, k)))

    def going(state: Any) -> Any:
        return reductions.any(b.invert(state[1]))

    def step(state: Any) -> Any:
        found, accepted, own = state
        after, first, second = several_keys(own, 3)
        u = b.subtract(draw_uniform(first, size, dtype), 0.5)
        v = draw_uniform(second, size, dtype)
        shifted = b.subtract(half, b.absolute(u))
        early = b.both(b.at_least(shifted, 0.07), b.at_most(v, limit))
        wide = b.add(b.divide(b.multiply(a, 2), shifted), slope)
        k = b.floor(b.add(b.multiply(wide, u), centre))
        inside = b.both(b.at_least(k, 0), b.at_most(k, n))
        hat = b.add(b.divide(a, b.multiply(shifted, shifted)), slope)
        height = b.log(b.divide(b.multiply(v, alpha), hat))
        taken = b.either(early, b.both(inside, b.at_most(height, log_density(k))))
        return b.select(taken, k, found), b.either(accepted, taken), after

    return while_loop(going, step, (full_of(-1, size, dtype), full_of(False, size, np.bool_), key))[0]


def _draw(key: Any, trials: Any, chance: Any) -> Any:
    """Return binomial numbers, of arrays of one shape and float dtype; NaN for parameters that mean nothing."""
    one, nan = b.constant(1, chance), b.constant(np.nan, chance)
    is_rare = b.less(chance, 0.5)
    p = b.select(is_rare, chance, b.subtract(one, chance))
    no_count = b.either(b.is_nan(trials), b.less(trials, 0))
    no_chance = b.either(b.is_nan(p), b.less(p, 0))
    endless = b.equal(trials, np.inf)
    p = b.select(no_chance, b.constant(0.01, p), p)
    waits = b.either(no_count, b.at_most(b.multiply(trials, p), WAITS_UP_TO))
    n = b.floor(trials)
    waiting = _by_waiting(key, b.select(waits, n, b.constant(0, n)), p)
    many, likely = b.select(waits, b.constant(1e4, n), n), b.select(waits, b.constant(0.5, p), p)
    found = b.select(waits, waiting, _by_rejection(key, many, likely))
    found = b.select(b.either(no_chance, no_count), nan, b.select(endless, b.constant(np.inf, found), found))
    kept = b.either(b.either(is_rare, no_count), b.either(b.is_nan(chance), endless))
    return b.select(kept, found, b.subtract(n, found))


@runs_anywhere
def binomial(key: Any, n: Any, p: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Return how many of ``n`` independent trials succeed, each with probability ``p``.

    Parameters
    ----------
    key : (2,) uint32
    n, p : array_like
        Whole numbers of trials, and probabilities; they broadcast to ``shape``.
    shape : tuple of int, optional
        What the parameters broadcast to, by default.
    dtype : dtype, optional
        A float; float64 by default.

    Returns
    -------
    array of ``shape``
        Whole numbers; NaN where n is negative or p outside of [0, 1], infinity where n is.

    Raises
    ------
    ShapeError
        If the parameters don't broadcast to the shape.

    Notes
    -----
    Source: `jax.random.binomial`. Numbers are drawn in the float dtype of ``p``.

    Examples
    --------
    >>> from numhlo.library.random.keys import key
    >>> binomial(key(0), 10, 0.5, (2,)).shape
    (2,)
    """
    own, wanted = as_key(key, "binomial"), float_dtype("binomial", dtype)
    size = sample_shape("binomial", shape, n, p)
    if math.prod(size) == 0:
        return full_of(0, size, wanted)
    return convert(_draw(own, *_parameters(n, p, size)), wanted)


def _parameters(n: Any, p: Any, size: tuple[int, ...]) -> tuple[Any, Any]:
    """Return both parameters in one shape, and the float dtype in which numbers are drawn."""
    drawn = inexact_dtype(as_traced(asarray(p)).dtype)
    trials, chance = (stop_gradient(as_traced(parameter(x, size, drawn))) for x in (n, p))
    return trials, chance


@runs_anywhere
def multinomial(key: Any, n: Any, p: Any, *, shape: Any = None, dtype: Any = None, unroll: Any = 1) -> Any:
    """Return how often each of several outcomes comes up in ``n`` independent trials.

    Parameters
    ----------
    key : (2,) uint32
    n : array_like
        Numbers of trials; they broadcast to ``p.shape[:-1]``.
    p : (..., k) array_like
        Probabilities along the last axis, relative to their sum.
    shape : tuple of int, optional
        The result's shape, to which ``p`` broadcasts; that of ``p`` by default.
    dtype : dtype, optional
        A float; float64 by default.
    unroll : int or bool, optional
        As for `numhlo.lax.scan`.

    Returns
    -------
    (..., k) array
        Whole numbers whose sums along the last axis are n.

    Raises
    ------
    ShapeError
        If the parameters don't broadcast to the shape.

    Notes
    -----
    Source: `jax.random.multinomial`. Each count is binomial, given those before it: Devroye, XI.1.2.

    Examples
    --------
    >>> from numhlo.library.random.keys import key
    >>> multinomial(key(0), 7, [0.2, 0.3, 0.5]).sum()
    Array(7.)
    """
    own, wanted = as_key(key, "multinomial"), float_dtype("multinomial", dtype)
    if not shape_of(p):
        raise ValueError("multinomial requires p.ndim >= 1, got p.ndim == 0")
    size = shape_of(p) if shape is None else shape_tuple(shape)
    sample_shape("multinomial", size, p)
    sample_shape("multinomial", size[:-1], n)
    if math.prod(size) == 0:
        return full_of(0, size, wanted)
    _, chances = _parameters(0, p, size)
    trials = stop_gradient(as_traced(parameter(n, size[:-1], chances.dtype)))
    rows = axis_order.moveaxis(chances, -1, 0)
    rest = as_traced(rearranging.flip(cumsum(rearranging.flip(rows, 0), 0), 0))
    shares = b.divide(rows, b.select(b.equal(rest, 0), b.constant(1, rest), rest))

    def step(left: Any, each: Any) -> Any:
        share, subkey = each
        count = _draw(subkey, left, b.minimum(b.maximum(share, 0), 1))
        return b.subtract(left, count), count

    _, counts = scan(step, trials, (shares, split_key(own, size[-1:])), unroll=unroll)
    return convert(axis_order.moveaxis(counts, 0, -1), wanted)
