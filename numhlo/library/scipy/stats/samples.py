"""What is computed from a sample: the standard error of its mean, ranks, the most frequent value.

Values are those of SciPy's functions of these names. Next: `density` for an estimate of the whole distribution.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from numhlo.library.numpy import axis_order, cumulative, moments, reductions, searching, sorting
from numhlo.library.numpy import elementwise as ufuncs
from numhlo.library.numpy.indexing import brackets
from numhlo.library.numpy.joining import concatenate
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, ShapeError, UnsupportedError
from numhlo.tracer.building import (
    as_traced,
    asarray,
    broadcast_to_shape,
    convert,
    full_of,
    normalize_axis,
    reshape_to,
    runs_anywhere,
)
from numhlo.tracer.building import operations as b

__all__ = ["mode", "rankdata", "sem"]

traced: Callable[[Any], Any] = as_traced  # its results are indexed here

RANKS = ("average", "min", "max", "dense", "ordinal")


def _require_propagation(function: str, nan_policy: str) -> None:
    if nan_policy != "propagate":
        raise UnsupportedError(
            f"scipy.stats.{function}(nan_policy={nan_policy!r})",
            where=capture_location(),
            why="the number of elements left would depend on values",
            fix="leave it out, and give only elements that are no NaN",
        )


def _along(a: Any, axis: int | None) -> tuple[Any, int]:
    """Return an array with the axis in question last, and where that was."""
    array = traced(asarray(a))
    if axis is None:
        return traced(reshape_to(array, (array.size,))), -1
    place = normalize_axis(axis, array.ndim)
    return traced(axis_order.moveaxis(array, place, -1)), place


@runs_anywhere
def sem(a: Any, axis: int | None = 0, ddof: int = 1, nan_policy: str = "propagate", *, keepdims: bool = False) -> Any:
    """Return the standard error of the mean: the standard deviation over the square root of the number.

    Parameters
    ----------
    a : array_like
    axis : int or None, optional
        None for all elements.
    ddof : int, optional
        The divisor of the variance is the number of elements minus this.
    nan_policy : {"propagate"}, optional
    keepdims : bool, optional

    Returns
    -------
    Array

    Raises
    ------
    UnsupportedError
        For another policy.

    Examples
    --------
    >>> sem([1.0, 2.0, 3.0])
    Array(0.57735027)
    """
    _require_propagation("sem", nan_policy)
    array = traced(asarray(a))
    spread = moments.std(array, axis, ddof=ddof, keepdims=keepdims)
    number = array.size if axis is None else array.shape[normalize_axis(axis, array.ndim)]
    return ufuncs.divide(spread, math.sqrt(number))


def _runs(ordered: Any) -> tuple[Any, Any]:
    """Return where runs of equal elements begin along the last axis, NaN equal to NaN; and each one's own beginning."""
    extent = ordered.shape[-1]
    before, after = ordered[..., :-1], ordered[..., 1:]
    changed = ufuncs.not_equal(before, after)
    if ordered.dtype.kind in "fcV":
        both_nan = ufuncs.logical_and(ufuncs.isnan(before), ufuncs.isnan(after))
        changed = ufuncs.logical_and(changed, ufuncs.logical_not(both_nan))
    first = traced(concatenate([full_of(True, (*ordered.shape[:-1], 1), np.bool_), changed], -1))
    places = broadcast_to_shape(b.iota(extent), ordered.shape)
    return first, ufuncs.maximum.accumulate(traced(b.select(first, places, 0)), axis=-1)


class ModeResult(NamedTuple):
    """The most frequent values, and how often they occur.

    Attributes
    ----------
    mode, count : Array
    """

    mode: Any
    count: Any


@runs_anywhere
def mode(a: Any, axis: int | None = 0, nan_policy: str = "propagate", keepdims: bool = False) -> ModeResult:
    """Return the most frequent value along an axis, the least of several, and how often it occurs.

    Parameters
    ----------
    a : array_like
    axis : int or None, optional
        None for all elements.
    nan_policy : {"propagate"}, optional
        NaN is a value like others, greater than all.
    keepdims : bool, optional

    Returns
    -------
    ModeResult
        Of ``mode`` and ``count``, an int64 array.

    Raises
    ------
    UnsupportedError
        For another policy.
    ShapeError
        If there are no elements along the axis.

    Examples
    --------
    >>> mode([3, 1, 3, 2])
    ModeResult(mode=Array(3), count=Array(2))
    """
    _require_propagation("mode", nan_policy)
    lines, place = _along(a, axis)
    if lines.shape[-1] == 0:
        raise ShapeError("scipy.stats.mode of no elements", where=capture_location(), fix="give at least one")
    ordered = traced(sorting.sort(lines, -1))
    places = broadcast_to_shape(b.iota(ordered.shape[-1]), ordered.shape)
    lengths = ufuncs.subtract(places, _runs(ordered)[1])
    winner = searching.argmax(lengths, -1, keepdims=True)
    found = [brackets.take_along_axis(x, winner, -1) for x in (ordered, ufuncs.add(lengths, 1))]
    if not keepdims:
        return ModeResult(*[traced(x)[..., 0].copy() for x in found])
    ndim = traced(asarray(a)).ndim
    if axis is None:
        return ModeResult(*[reshape_to(x, (1,) * ndim) for x in found])
    return ModeResult(*[axis_order.moveaxis(x, -1, place) for x in found])


@runs_anywhere
def rankdata(a: Any, method: str = "average", *, axis: int | None = None, nan_policy: str = "propagate") -> Any:
    """Return which place each element has when all are in order, from 1 up.

    Parameters
    ----------
    a : array_like
    method : {"average", "min", "max", "dense", "ordinal"}, optional
        What equal elements share: the mean of their places, the least, the greatest, the number of smaller values plus
        one, or nothing.
    axis : int or None, optional
        None for all elements, in a flat result.
    nan_policy : {"propagate"}, optional
        Where there is NaN along the axis, all places are NaN, or 0 if they are whole numbers.

    Returns
    -------
    Array
        Of float64 for "average", else of int64.

    Raises
    ------
    ArgumentError
        If there is no such method.
    UnsupportedError
        For another policy.

    Examples
    --------
    >>> rankdata([0.5, 9.0, 0.5])
    Array([1.5, 3. , 1.5])
    """
    if method not in RANKS:
        raise ArgumentError(
            f"scipy.stats.rankdata(method={method!r})", where=capture_location(), fix=f"use {', '.join(RANKS)}"
        )
    _require_propagation("rankdata", nan_policy)
    lines, place = _along(a, axis)
    extent = lines.shape[-1]
    wanted = np.dtype(np.float64 if method == "average" else np.int64)
    if lines.size == 0:
        return full_of(0, traced(asarray(a)).shape if axis is not None else (0,), wanted)
    order = sorting.argsort(lines, -1, stable=True)
    back = sorting.argsort(order, -1, stable=True)
    if method == "ordinal":
        ranks = ufuncs.add(back, 1)
    else:
        ordered = traced(brackets.take_along_axis(lines, order, -1))
        ranks = brackets.take_along_axis(_shared(ordered, method, extent), back, -1)
    ranks = convert(ranks, wanted)
    if lines.dtype.kind == "f":
        bad = reductions.any(ufuncs.isnan(lines), -1, keepdims=True)
        ranks = b.select(broadcast_to_shape(bad, lines.shape), np.nan if method == "average" else 0, ranks)
    return ranks if axis is None else axis_order.moveaxis(ranks, -1, place)


def _shared(ordered: Any, method: str, extent: int) -> Any:
    first, begins = _runs(ordered)
    if method == "dense":
        return cumulative.cumsum(convert(first, np.int64), -1)
    if method == "min":
        return ufuncs.add(begins, 1)
    last = traced(concatenate([first[..., 1:], full_of(True, (*ordered.shape[:-1], 1), np.bool_)], -1))
    places = broadcast_to_shape(b.iota(extent), ordered.shape)
    backwards = traced(b.select(last, places, extent))[..., ::-1]
    ends = ufuncs.add(traced(ufuncs.minimum.accumulate(backwards, axis=-1))[..., ::-1], 1)
    return ends if method == "max" else ufuncs.multiply(ufuncs.add(ufuncs.add(begins, ends), 1), 0.5)
