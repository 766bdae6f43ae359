"""Poisson numbers, by rejection: Knuth's products for small means, transformed rejection for large ones.

Sources: Knuth, "The art of computer programming", volume 2, 3.4.1; Hörmann, "The transformed rejection method for
generating Poisson random variables" (1993). Algorithms and the use of keys are JAX's, but for probabilities in float64:
in float32 those of means from some hundred thousand up are noise. They have no derivative.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numhlo.library.numpy import reductions
from numhlo.library.random.continuous import draw_uniform, parameter, sample_shape
from numhlo.library.random.keys import as_key, several_keys
from numhlo.tracer.building import convert, full_of, runs_anywhere, usual_dtype, while_loop
from numhlo.tracer.building import operations as b

__all__ = ["poisson"]


KNUTH_BELOW = 10.0
"""Poisson means below which Knuth's products of uniform numbers are used."""


F32, F64 = np.dtype(np.float32), np.dtype(np.float64)


def _knuth(key: Any, lam: Any, size: tuple[int, ...], dtype: np.dtype) -> Any:
    """Return how many uniform numbers it takes until their product is below ``exp(-lam)``, less one."""
    bound = b.negate(lam)

    def going(state: Any) -> Any:
        return reductions.any(b.greater(state[2], bound))

    def step(state: Any) -> Any:
        k, own, logs = state
        after, subkey = several_keys(own, 2)
        k = b.select(b.greater(logs, bound), b.add(k, 1), k)
        return k, after, b.add(logs, b.log(draw_uniform(subkey, size, F32)))

    k, _, _ = while_loop(going, step, (full_of(0, size, dtype), key, full_of(0, size, F32)))
    return b.subtract(k, 1)


def _log_probability(count: Any, lam: Any) -> Any:
    """Return the logarithm of the Poisson probability of whole numbers, by Stirling's series.

    The terms that nearly cancel at large means, ``k log(lam) - lam - log(k!)``, are taken as one: with the relative
    distance ``d`` of ``k`` from the mean they are ``-lam ((1 + d) log(1 + d) - d)``, less the series' rest.
    """
    positive = b.maximum(count, 1)
    distance = b.divide(b.subtract(positive, lam), lam)
    main = b.multiply(lam, b.subtract(b.multiply(b.add(distance, 1), b.log1p(distance)), distance))
    inverse = b.divide(b.constant(1, positive), positive)
    square = b.multiply(inverse, inverse)
    series = b.add(b.multiply(b.add(b.multiply(square, 1 / 1260), -1 / 360), square), 1 / 12)
    rest = b.add(b.multiply(b.log(b.multiply(positive, 2 * math.pi)), 0.5), b.multiply(series, inverse))
    return b.select(b.less(count, 1), b.negate(lam), b.negate(b.add(main, rest)))


def _transformed(key: Any, lam: Any, size: tuple[int, ...], dtype: np.dtype) -> Any:
    """Return Poisson numbers of large means by transformed rejection."""
    slope = b.add(b.multiply(b.sqrt(lam), 2.53), 0.931)
    a = b.add(b.multiply(slope, 0.02483), -0.059)
    inverse = b.add(b.divide(b.constant(1.1328, lam), b.subtract(slope, 3.4)), 1.1239)
    limit = b.subtract(b.constant(0.9277, lam), b.divide(b.constant(3.6224, lam), b.subtract(slope, 2)))

    def going(state: Any) -> Any:
        return reductions.any(b.invert(state[1]))

    def step(state: Any) -> Any:
        found, accepted, own = state
        after, first, second = several_keys(own, 3)
        u = b.subtract(convert(draw_uniform(first, size, F32), F64), 0.5)
        v = convert(draw_uniform(second, size, F32), F64)
        shifted = b.subtract(b.constant(0.5, u), b.absolute(u))
        wide = b.add(b.divide(b.multiply(a, 2), shifted), slope)
        k = b.floor(b.add(b.add(b.multiply(wide, u), lam), 0.43))
        s = b.log(b.divide(b.multiply(v, inverse), b.add(b.divide(a, b.multiply(shifted, shifted)), slope)))
        early = b.both(b.at_least(shifted, 0.07), b.at_most(v, limit))
        outside = b.either(b.less(k, 0), b.both(b.less(shifted, 0.013), b.greater(v, shifted)))
        taken = b.either(early, b.both(b.invert(outside), b.at_most(s, _log_probability(k, lam))))
        return b.select(taken, k, found), b.either(accepted, taken), after

    start = full_of(-1, size, F64), full_of(False, size, np.bool_), key
    return convert(while_loop(going, step, start)[0], dtype)


@runs_anywhere
def poisson(key: Any, lam: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Return Poisson numbers of mean ``lam``, int64 by default.

    Parameters
    ----------
    key : (2,) uint32
    lam : array_like
        Not negative.
    shape : int or tuple of int, optional
        By default that of ``lam``, which broadcasts to it.
    dtype : dtype, optional

    Returns
    -------
    Array
        -1 where the mean is NaN.

    Notes
    -----
    Means are taken in float64. Numbers of means above 1e14 are whole multiples of a small power of two: uniform
    numbers of float32 have no finer steps.

    Examples
    --------
    >>> from numhlo.library.random.keys import key
    >>> poisson(key(0), 4.0, (2,)).shape
    (2,)
    """
    own, wanted = as_key(key, "poisson"), usual_dtype(np.int64) if dtype is None else np.dtype(dtype)
    size = sample_shape("poisson", shape, lam)
    mean = parameter(lam, size, F64)
    if math.prod(size) == 0:
        return full_of(0, size, wanted)
    is_small = b.either(b.is_nan(mean), b.less(mean, KNUTH_BELOW))
    small = _knuth(own, convert(b.select(is_small, mean, b.constant(0, mean)), F32), size, wanted)
    large = _transformed(own, b.select(is_small, b.constant(1e5, mean), mean), size, wanted)
    result = b.select(is_small, small, large)
    return b.select(b.equal(mean, 0), b.constant(0, result), result)
