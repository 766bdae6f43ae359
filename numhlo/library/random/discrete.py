"""Integers, choices and orders: randint, bernoulli, categorical, choice, permutation, and their kin.

Algorithms are JAX's, so the same key gives the same numbers.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numhlo.library.lax import reductions as lax_reductions
from numhlo.library.numpy import axis_order, cumulative, elementwise, rounding, searching
from numhlo.library.numpy.indexing import brackets
from numhlo.library.numpy.reshaping import shape_tuple
from numhlo.library.random.continuous import draw_gumbel, draw_uniform, is_high, parameter, sample_shape
from numhlo.library.random.keys import as_key, draw_bits, several_keys
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ConcretizationError
from numhlo.tracer.building import (
    Tracer,
    as_traced,
    asarray,
    broadcast_to_shape,
    convert,
    full_of,
    normalize_axis,
    reshape_to,
    runs_anywhere,
    shape_of,
    usual_dtype,
)
from numhlo.tracer.building import operations as b

__all__ = ["bernoulli", "categorical", "choice", "geometric", "permutation", "rademacher", "randint"]

SHUFFLE_EXPONENT = 3
"""Rounds of sorting by 32-bit keys are as many as make equal keys in all rounds rarer than ``n ** -3``."""


def _bound(x: Any, dtype: np.dtype, extra: int = 0) -> Any:
    """Return a bound as integers, clipped to the range of a dtype."""
    array = asarray(x)
    if array.dtype.kind not in "iu":
        array = convert(array, usual_dtype(np.int64))
    info, own = np.iinfo(dtype), np.iinfo(array.dtype)
    low, high = max(int(info.min), int(own.min)), min(int(info.max) + extra, int(own.max))
    return rounding.clip(array, low, high)


@runs_anywhere
def randint(key: Any, shape: Any, minval: Any, maxval: Any, dtype: Any = None) -> Any:
    """Return integers in ``[minval, maxval)``.

    Parameters
    ----------
    key : (2,) uint32
    shape : tuple of int
    minval, maxval : array_like of int
        They broadcast to ``shape``. Where ``maxval <= minval`` the result is ``minval``.
    dtype : dtype, optional
        int64 by default.

    Returns
    -------
    Array

    Raises
    ------
    TypeError
        If the dtype is no integer.
    ShapeError
        If the bounds don't broadcast to ``shape``.

    Examples
    --------
    >>> from numhlo.library.random.keys import key
    >>> randint(key(0), (3,), 0, 10)
    Array([5, 1, 5])
    """
    own, wanted = as_key(key, "randint"), usual_dtype(np.int64) if dtype is None else np.dtype(dtype)
    if wanted.kind not in "iu":
        raise TypeError(f"randint only accepts integer dtypes, got {wanted}")
    size = sample_shape("randint", shape, minval, maxval)
    if wanted.itemsize < 4:
        wide = np.dtype(np.int32)
        low, high = (convert(_bound(x, wanted, extra), wide) for x, extra in ((minval, 0), (maxval, 1)))
        return convert(_draw_integers(own, size, low, high, wide), wanted)
    return _draw_integers(own, size, minval, maxval, wanted)


def _draw_integers(key: Any, shape: tuple[int, ...], minval: Any, maxval: Any, dtype: np.dtype) -> Any:
    """Return remainders of twice as many bits as the dtype has: nearly all equally likely."""
    top = asarray(maxval)
    top = top if top.dtype.kind in "iu" else convert(top, usual_dtype(np.int64))
    limit = min(int(np.iinfo(dtype).max), int(np.iinfo(top.dtype).max))
    beyond = broadcast_to_shape(b.greater(top, b.constant(limit, top)), shape)
    low, high = (parameter(_bound(x, dtype), shape, dtype) for x in (minval, maxval))
    unsigned = np.dtype(f"u{dtype.itemsize}")
    width = 8 * dtype.itemsize
    upper, lower = (draw_bits(k, shape, width) for k in several_keys(key, 2))
    span = convert(b.subtract(high, low), unsigned)
    span = b.select(b.at_most(high, low), b.constant(1, span), span)
    span = b.select(b.both(beyond, b.greater(high, low)), b.add(span, b.constant(1, span)), span)
    factor = b.remainder(b.constant(2 ** (width // 2), span), span)
    factor = b.remainder(b.multiply(factor, factor), span)
    offset = b.add(b.multiply(b.remainder(upper, span), factor), b.remainder(lower, span))
    return b.add(low, convert(b.remainder(offset, span), dtype))


@runs_anywhere
def bernoulli(key: Any, p: Any = 0.5, shape: Any = None, mode: str = "low") -> Any:
    """Return booleans that are true with probability ``p``.

    Parameters
    ----------
    key : (2,) uint32
    p : array_like, optional
        Of floats, in [0, 1].
    shape : int or tuple of int, optional
        By default that of ``p``, which broadcasts to it.
    mode : "low" or "high", optional
        "high" draws twice the bits, so that chances far below 1e-7 are right for float32, too.

    Returns
    -------
    Array

    Raises
    ------
    TypeError
        If ``p`` is not of floats.
    ValueError
        If there is no such mode.

    Examples
    --------
    >>> from numhlo.library.random.keys import key
    >>> bernoulli(key(0), 1.0, (2,))
    Array([ True,  True])
    """
    own, chance = as_key(key, "bernoulli"), asarray(p)
    if chance.dtype.kind not in "fV":
        raise TypeError(f"bernoulli probability `p` must have a floating dtype, got {chance.dtype}.")
    size = sample_shape("bernoulli", shape, chance)
    if is_high("bernoulli", mode):
        halves: Any = as_traced(draw_uniform(own, (2, *size), chance.dtype))
        rest = b.multiply(halves[1], 2.0 ** -b.finfo(chance.dtype).nmant)
        return b.less(rest, b.subtract(broadcast_to_shape(chance, size), halves[0]))
    return b.less(draw_uniform(own, size, chance.dtype), broadcast_to_shape(chance, size))


@runs_anywhere
def rademacher(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Return -1 or 1, both equally likely; int64 by default.

    Parameters
    ----------
    key : (2,) uint32
    shape : int or tuple of int, optional
    dtype : dtype, optional

    Returns
    -------
    Array

    Examples
    --------
    >>> from numhlo.library.random.keys import key
    >>> rademacher(key(0), (3,)).shape
    (3,)
    """
    own, size = as_key(key, "rademacher"), shape_tuple(shape)
    heads = convert(b.less(draw_uniform(own, size, usual_dtype(np.float64)), 0.5), dtype or usual_dtype(np.int64))
    return b.subtract(b.multiply(heads, 2), 1)


@runs_anywhere
def geometric(key: Any, p: Any, shape: Any = None, dtype: Any = None) -> Any:
    """Return how many trials of chance ``p`` it takes to succeed; int64 by default.

    Parameters
    ----------
    key : (2,) uint32
    p : array_like
        In (0, 1].
    shape : int or tuple of int, optional
        By default that of ``p``, which broadcasts to it.
    dtype : dtype, optional

    Returns
    -------
    Array
        From 1 up.

    Examples
    --------
    >>> from numhlo.library.random.keys import key
    >>> geometric(key(0), 1.0, (2,))
    Array([1, 1])
    """
    own, chance = as_key(key, "geometric"), asarray(p)
    chance = chance if chance.dtype.kind in "fV" else convert(chance, usual_dtype(np.float64))
    size = sample_shape("geometric", shape, chance)
    u = draw_uniform(own, size, chance.dtype)
    logs = b.log(b.select(b.equal(u, 0), b.constant(1, u), u))
    fails = broadcast_to_shape(b.log1p(b.negate(chance)), size)
    return convert(b.add(b.floor(b.divide(logs, fails)), 1), dtype or usual_dtype(np.int64))


@runs_anywhere
def categorical(
    key: Any, logits: Any, axis: int = -1, shape: Any = None, replace: bool = True, mode: str | None = None
) -> Any:
    """Return indices along an axis, drawn with probabilities ``softmax(logits)``, by the Gumbel trick.

    Parameters
    ----------
    key : (2,) uint32
    logits : array_like
        Logarithms of probabilities, up to a constant.
    axis : int, optional
    shape : tuple of int, optional
        Of the samples: dimensions of its own, then the shape of ``logits`` without the axis.
    replace : bool, optional
        Without it, the leading dimensions of ``shape`` together hold no index twice.
    mode : "low" or "high", optional
        As of `gumbel`.

    Returns
    -------
    Array
        Of int64; int32 without replacement.

    Raises
    ------
    ValueError
        If there are fewer categories than are to be drawn without replacement, or there is no such mode.

    Notes
    -----
    Maddison, Tarlow, Minka: A* sampling (2014), section 2.

    Examples
    --------
    >>> from numhlo.library.random.keys import key
    >>> categorical(key(0), np.zeros((3, 4))).shape
    (3,)
    """
    own, scores = as_key(key, "categorical"), as_traced(asarray(logits))
    if scores.dtype.kind not in "fV":
        scores = as_traced(convert(scores, usual_dtype(np.float64)))
    place = normalize_axis(axis, scores.ndim)
    batch = scores.shape[:place] + scores.shape[place + 1 :]
    size = sample_shape("categorical", shape, full_of(0, batch, np.int8))
    lead = size[: len(size) - len(batch)]
    if not replace:
        return _without_replacement(own, scores, place, lead, size, mode)
    inner = list(size[len(lead) :])
    inner.insert(place, scores.shape[place])
    noise = draw_gumbel(own, (*lead, *inner), scores.dtype, mode)
    return searching.argmax(elementwise.add(noise, scores), place - scores.ndim)


def _without_replacement(
    key: Any, scores: Any, place: int, lead: tuple[int, ...], size: tuple[int, ...], mode: str | None
) -> Any:
    count = math.prod(lead)
    if count > scores.shape[place]:
        raise ValueError(
            f"Number of samples without replacement ({count}) cannot exceed number of categories "
            f"({scores.shape[place]})."
        )
    noisy = elementwise.add(scores, draw_gumbel(key, scores.shape, scores.dtype, mode))
    _, found = lax_reductions.top_k(axis_order.moveaxis(noisy, place, -1), count)
    return reshape_to(asarray(axis_order.moveaxis(found, -1, 0)), size)


def _shuffled(key: Any, x: Any, axis: int) -> Any:
    """Return elements sorted by random numbers, in several rounds."""
    size = math.prod(shape_of(x))
    rounds = math.ceil(SHUFFLE_EXPONENT * math.log(max(1, size)) / math.log(np.iinfo(np.uint32).max))
    for _ in range(rounds):
        key, own = several_keys(key, 2)
        _, x = lax_reductions.sort_key_val(draw_bits(own, shape_of(x), 32), x, axis)
    return x


def _static_count(x: Any, name: str) -> int:
    if isinstance(x, Tracer):
        raise ConcretizationError(
            f"random.{name}(key, n) with a traced n",
            where=capture_location(),
            why="the number of elements must be known while tracing",
            fix="pass a Python int, or mark the argument static",
        )
    return int(x)


@runs_anywhere
def permutation(key: Any, x: Any, axis: int = 0, independent: bool = False) -> Any:
    """Return an array, or the numbers below an integer, in random order.

    Parameters
    ----------
    key : (2,) uint32
    x : int or array_like
    axis : int, optional
    independent : bool, optional
        Shuffle each line along the axis by itself.

    Returns
    -------
    Array
        Of the shape of ``x``.

    Raises
    ------
    ConcretizationError
        If the integer is traced.
    TypeError
        If it is another number.

    Notes
    -----
    By sorting with random 32-bit keys, in several rounds.

    Examples
    --------
    >>> from numhlo.library.random.keys import key
    >>> sorted(permutation(key(0), 4).tolist())
    [0, 1, 2, 3]
    """
    own, array = as_key(key, "permutation"), asarray(x)
    if not shape_of(array):
        if array.dtype.kind not in "iu":
            raise TypeError("x must be an integer or at least 1-dimensional")
        return _shuffled(own, b.iota(_static_count(x, "permutation")), 0)
    if independent or len(shape_of(array)) == 1:
        return _shuffled(own, array, axis)
    return brackets.take(array, _shuffled(own, b.iota(shape_of(array)[axis]), 0), axis)


@runs_anywhere
def choice(
    key: Any, a: Any, shape: Any = (), replace: bool = True, p: Any = None, axis: int = 0, mode: str | None = None
) -> Any:
    """Return elements of an array, or numbers below an integer, chosen at random.

    Parameters
    ----------
    key : (2,) uint32
    a : int or array_like
    shape : tuple of int, optional
    replace : bool, optional
        Whether an element may be chosen again.
    p : (n,) array_like, optional
        Probabilities; all the same by default.
    axis : int, optional
        The axis of ``a`` that elements lie along.
    mode : "low" or "high", optional
        As of `gumbel`, which chooses with ``p`` and without replacement.

    Returns
    -------
    Array
        Of shape ``shape``, in the place of the axis.

    Raises
    ------
    ValueError
        If there are too few elements, or ``p`` has another shape.
    ConcretizationError
        If the integer is traced.

    Examples
    --------
    >>> from numhlo.library.random.keys import key
    >>> choice(key(0), 5, (3,)).shape
    (3,)
    """
    own, array, size = as_key(key, "choice"), asarray(a), shape_tuple(shape)
    extents = shape_of(array)
    draws = math.prod(size)
    count = extents[axis] if extents else _static_count(a, "choice")
    if draws == 0:
        return full_of(0, size, array.dtype)
    if count <= 0:
        raise ValueError("a must be greater than 0 unless no samples are taken")
    if not replace and draws > count:
        raise ValueError(
            f"Cannot take a larger sample (size {draws}) than population (size {count}) when 'replace=False'"
        )
    if p is None and not replace:
        source = array if extents else b.iota(count)
        order = asarray(permutation(own, source, axis % max(1, len(extents))))
        return _reshaped(_first(order, draws, axis), array, size, axis)
    found = randint(own, size, 0, count) if p is None else _weighted(own, p, count, size, replace, mode)
    return found if not extents else _reshaped(brackets.take(array, found, axis), array, size, axis)


def _first(x: Any, count: int, axis: int) -> Any:
    rank = len(shape_of(x))
    traced: Any = as_traced(x)
    return traced[tuple(slice(count) if k == axis % rank else slice(None) for k in range(rank))]


def _reshaped(x: Any, array: Any, size: tuple[int, ...], axis: int) -> Any:
    extents = shape_of(array)
    place = axis % len(extents) if extents else 0
    return reshape_to(asarray(x), (*extents[:place], *size, *extents[place + 1 :]))


def _weighted(key: Any, p: Any, count: int, size: tuple[int, ...], replace: bool, mode: str | None) -> Any:
    """Return indices with given probabilities: by bisection of their sums, or the largest of noisy logarithms."""
    chances = asarray(p)
    chances = chances if chances.dtype.kind in "fV" else convert(chances, usual_dtype(np.float64))
    if shape_of(chances) != (count,):
        raise ValueError(
            "p must be None or a 1D vector with the same size as a.shape[axis]. "
            f"p has shape {shape_of(chances)} and a.shape[axis] is {count}."
        )
    if not replace:
        noisy = b.add(draw_gumbel(key, (count,), chances.dtype, mode), b.log(chances))
        return convert(reshape_to(lax_reductions.top_k(noisy, math.prod(size))[1], size), usual_dtype(np.int64))
    sums: Any = as_traced(cumulative.cumsum(chances))
    u = draw_uniform(key, size, chances.dtype)
    drawn = elementwise.multiply(sums[-1], elementwise.subtract(1, u))
    return convert(searching.searchsorted(sums, drawn), usual_dtype(np.int64))
