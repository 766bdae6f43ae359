"""Counts of successes: binomial and multinomial numbers.

Sources: Devroye, "Non-uniform random variate generation" (1986), X.4, second waiting time method, for few expected
successes; Hörmann, "The generation of binomial random variates" (1993), algorithm BTRS, for many. All samples loop
together until each is accepted. Samples have no derivative by their parameters.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numhlo.library.lax import elementwise as lax_ops
from numhlo.library.numpy import axis_order, reductions
from numhlo.library.numpy.reshaping import shape_tuple
from numhlo.library.random.continuous import draw_uniform, float_dtype, parameter, sample_shape
from numhlo.library.random.keys import as_key, several_keys
from numhlo.tracer.building import (
    as_traced,
    asarray,
    broadcast_to_shape,
    concatenate_arrays,
    convert,
    full_of,
    reshape_to,
    runs_anywhere,
    scan,
    shape_of,
    while_loop,
)
from numhlo.tracer.building import operations as b
from numhlo.tracer.building.derivatives import stop_gradient

__all__ = ["binomial", "multinomial"]

WAIT_BELOW = 10.0
"""Expected numbers of successes below which waiting times are summed."""

F64 = np.dtype(np.float64)
"""Log-factorials of large counts need its precision, whatever dtype is asked for."""


def _by_waiting(key: Any, n: Any, p: Any, size: tuple[int, ...]) -> Any:
    """Return how many geometric waiting times fit into n trials."""
    log_miss = lax_ops.log1p(b.negate(p))

    def going(state: Any) -> Any:
        return reductions.any(b.at_most(state[1], n))

    def step(state: Any) -> Any:
        count, used, own = state
        after, subkey = several_keys(own, 2)
        drawn = b.subtract(b.constant(1, p), draw_uniform(subkey, size, F64))  # in (0, 1]
        wait = b.add(b.floor(b.divide(b.log(drawn), log_miss)), 1)
        used = b.add(used, wait)
        return b.select(b.at_most(used, n), b.add(count, 1), count), used, after

    return while_loop(going, step, (full_of(0, size, F64), full_of(0, size, F64), key))[0]


def _by_rejection(key: Any, n: Any, p: Any, size: tuple[int, ...]) -> Any:
    """Return binomial numbers of ``n p >= 10`` and ``p <= 1/2`` by transformed rejection (BTRS)."""
    mean, miss = b.multiply(n, p), b.subtract(b.constant(1, p), p)
    spread = b.sqrt(b.multiply(mean, miss))
    slope = b.add(b.multiply(spread, 2.53), 1.15)
    a = b.add(b.add(b.multiply(slope, 0.0248), b.multiply(p, 0.01)), -0.0873)
    centre = b.add(mean, 0.5)
    alpha = b.multiply(b.add(b.divide(b.constant(5.1, slope), slope), 2.83), spread)
    limit = b.subtract(b.constant(0.92, slope), b.divide(b.constant(4.2, slope), slope))
    log_odds = b.log(b.divide(p, miss))
    mode = b.floor(b.multiply(b.add(n, 1), p))

    def log_factorials(k: Any) -> Any:
        return b.add(lax_ops.lgamma(b.add(k, 1)), lax_ops.lgamma(b.add(b.subtract(n, k), 1)))

    top = log_factorials(mode)

    def going(state: Any) -> Any:
        return reductions.any(b.invert(state[1]))

    def step(state: Any) -> Any:
        found, accepted, own = state
        after, first, second = several_keys(own, 3)
        u = b.subtract(draw_uniform(first, size, F64), 0.5)
        v = draw_uniform(second, size, F64)
        shifted = b.subtract(b.constant(0.5, u), b.absolute(u))
        k = b.floor(b.add(b.multiply(b.add(b.divide(b.multiply(a, 2), shifted), slope), u), centre))
        inside = b.both(b.at_least(k, 0), b.at_most(k, n))
        early = b.both(b.at_least(shifted, 0.07), b.at_most(v, limit))
        kept = b.select(inside, k, mode)
        hat = b.add(b.divide(a, b.multiply(shifted, shifted)), slope)
        height = b.log(b.divide(b.multiply(v, alpha), hat))
        density = b.add(b.subtract(top, log_factorials(kept)), b.multiply(b.subtract(kept, mode), log_odds))
        taken = b.both(inside, b.either(early, b.at_most(height, density)))
        return b.select(b.both(taken, b.invert(accepted)), k, found), b.either(accepted, taken), after

    return while_loop(going, step, (full_of(0, size, F64), full_of(False, size, np.bool_), key))[0]


def _draw(key: Any, trials: Any, chance: Any, size: tuple[int, ...]) -> Any:
    """Return binomial numbers as float64; NaN for parameters that mean nothing."""
    flips = b.greater(chance, 0.5)
    p = b.select(flips, b.subtract(b.constant(1, chance), chance), chance)
    right = b.both(b.both(b.at_least(p, 0), b.at_least(trials, 0)), b.less(trials, np.inf))
    is_small = b.less(b.multiply(trials, p), WAIT_BELOW)
    waits = b.both(b.both(right, is_small), b.greater(p, 0))
    waiting = _by_waiting(key, b.select(waits, trials, b.constant(0, p)), b.select(waits, p, b.constant(0.5, p)), size)
    many = b.both(right, b.invert(is_small))
    rejecting = _by_rejection(
        key, b.select(many, trials, b.constant(1000, p)), b.select(many, p, b.constant(0.5, p)), size
    )
    count = b.select(is_small, b.select(waits, waiting, b.constant(0, p)), rejecting)
    count = b.select(flips, b.subtract(trials, count), count)
    return b.select(right, count, b.constant(np.nan, p))


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
        Whole numbers; NaN where n is negative or p outside of [0, 1].

    Raises
    ------
    ShapeError
        If the parameters don't broadcast to the shape.

    Notes
    -----
    Source: `jax.random.binomial`; equal in distribution, not number by number.

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
    trials, chance = (stop_gradient(as_traced(parameter(x, size, F64))) for x in (n, p))
    return convert(_draw(own, trials, chance, size), wanted)


@runs_anywhere
def multinomial(key: Any, n: Any, p: Any, *, shape: Any = None, dtype: Any = None, unroll: Any = 1) -> Any:
    """Return how often each of several outcomes comes up in ``n`` independent trials.

    Parameters
    ----------
    key : (2,) uint32
    n : array_like
        Numbers of trials; they broadcast to ``p.shape[:-1]``.
    p : (..., k) array_like
        Probabilities along the last axis; what is missing from 1 is added to the last one.
    shape : tuple of int, optional
        The result's shape without its last axis; that of ``p`` by default.
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
    chances = convert(asarray(p), F64)
    if not shape_of(chances):
        raise ValueError("multinomial requires p.ndim >= 1, got p.ndim == 0")
    outcomes = shape_of(chances)[-1]
    size = shape_of(chances)[:-1] if shape is None else shape_tuple(shape)
    size = sample_shape("multinomial", size, n, reductions.sum(chances, -1))
    if outcomes == 0 or math.prod(size) == 0:
        return full_of(0, (*size, outcomes), wanted)
    trials = stop_gradient(as_traced(parameter(n, size, F64)))
    rows = axis_order.moveaxis(stop_gradient(as_traced(broadcast_to_shape(chances, (*size, outcomes)))), -1, 0)

    def step(left: Any, row: Any) -> Any:
        trials, rest, own = left
        after, subkey = several_keys(own, 2)
        share = b.select(b.greater(rest, 0), b.divide(row, rest), b.constant(0, row))
        count = _draw(subkey, trials, b.select(b.greater(share, 1), b.constant(1, share), share), size)
        return (b.subtract(trials, count), b.subtract(rest, row), after), count

    start = trials, full_of(1, size, F64), own
    (last, _, _), counts = scan(step, start, rows[: outcomes - 1], unroll=unroll)
    whole = reshape_to(last, (1, *size))
    return convert(axis_order.moveaxis(concatenate_arrays([counts, whole], 0), 0, -1), wanted)
