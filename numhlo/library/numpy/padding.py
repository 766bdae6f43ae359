"""pad: borders of constants, edges, reflections, ramps and statistics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo.library.numpy import elementwise as ufuncs
from numhlo.library.numpy import moments, quantiles, reductions
from numhlo.library.numpy.axis_order import moveaxis
from numhlo.library.numpy.indexing import advanced_indexing as advanced
from numhlo.library.numpy.ranges import linspace
from numhlo.library.numpy.ufunc_rules.elementwise import select
from numhlo.lowering.ops import layout
from numhlo.tracer.building import (
    Tracer,
    as_traced,
    asarray,
    bind1,
    broadcast_to_shape,
    concatenate_arrays,
    convert,
    full_of,
    implements,
    new_array,
)
from numhlo.tracer.building import operations as b

__all__ = ["pad"]

STATISTICS: dict[str, Callable[..., Any]] = {
    "maximum": reductions.max,
    "minimum": reductions.min,
    "mean": moments.mean,
    "median": quantiles.median,
}


OPTIONS: dict[str, set[str]] = {
    "constant": {"constant_values"},
    "linear_ramp": {"end_values"},
    **{name: {"stat_length"} for name in STATISTICS},
    **{name: {"reflect_type"} for name in ("reflect", "symmetric")},
    **{name: set() for name in ("edge", "empty", "wrap")},
}
"""The modes, and what options each has."""


@implements(np.pad)
def pad(array: Any, pad_width: Any, mode: Any = "constant", **options: Any) -> Any:
    """Return the array with borders around it.

    Parameters
    ----------
    array : array_like
    pad_width : int, pair, sequence of pairs, or dict
        How many elements go before and after each axis.
    mode : str or callable, optional
        ``constant edge empty linear_ramp maximum mean median minimum reflect symmetric wrap``.
        Or a function that writes into the borders of a line: ``function(line, widths, axis, options)``.
    **options
        ``constant_values``, ``end_values`` of a ramp, ``stat_length`` of a statistic, ``reflect_type="odd"`` of a
        reflection.

    Returns
    -------
    Array
        Of the dtype of ``array``.

    Raises
    ------
    ValueError
        If there is no such mode, or the mode has no such option.

    Examples
    --------
    >>> pad([1, 2], 1, constant_values=7)
    Array([7, 1, 2, 7])
    """
    source = as_traced(asarray(array))
    widths = np.broadcast_to(_pad_widths(pad_width, source.ndim), (source.ndim, 2))
    if callable(mode):
        return _pad_by(source, widths, mode, options)
    unknown = options.keys() - OPTIONS.get(mode, set())
    if mode not in OPTIONS or unknown:
        raise ValueError(
            f"mode '{mode}' is not supported" if mode not in OPTIONS else f"no options {unknown} of {mode}"
        )
    if not widths.any():
        return new_array(source)
    if mode in ("constant", "empty"):
        return _pad_constant(source, widths, options.get("constant_values", 0))
    if mode == "linear_ramp":
        return _pad_ramp(source, widths, options.get("end_values", 0))
    if mode in STATISTICS:
        return _pad_statistic(source, widths, mode, options.get("stat_length"))
    if options.get("reflect_type", "even") == "odd":
        return _pad_odd(source, widths, mode)
    for axis, (low, high) in enumerate(widths):
        if low or high:
            places = np.pad(np.arange(source.shape[axis]), (low, high), mode)
            before, after = places[:low], places[low + source.shape[axis] :]
            source = concatenate_arrays([*_border(source, before, axis), source, *_border(source, after, axis)], axis)
    return source


MOST_RUNS = 4
"""Slices that a border is made of; longer ones are read place by place."""


def _border(source: Tracer, places: np.ndarray, axis: int) -> list[Any]:
    """Return arrays which, one after the other, are the elements at some places of an axis."""
    parts: list[Any] = []
    first = 0
    while first < len(places):
        step = int(places[first + 1] - places[first]) if first + 1 < len(places) else 1
        end = first + 1
        while end < len(places) and places[end] - places[end - 1] == step:
            end += 1
        if len(parts) == MOST_RUNS:
            return [advanced.take(source, places, axis, "raise")]
        parts.append(_run(source, int(places[first]), step, end - first, axis))
        first = end
    return parts


def _run(source: Tracer, first: int, step: int, count: int, axis: int) -> Any:
    """Return elements of an axis from one on, in steps: forwards, backwards, or the same again and again."""
    last = first + step * (count - 1)
    before = [slice(None)] * axis
    part = source[(*before, slice(min(first, last), max(first, last) + 1, abs(step) or 1))]  # type: ignore[index]
    if step < 0:
        return bind1(layout.REVERSE, part, attributes={"dimensions": (axis,)})
    if step == 0:
        return broadcast_to_shape(part, (*source.shape[:axis], count, *source.shape[axis + 1 :]))
    return part


def _pad_odd(source: Tracer, widths: np.ndarray, mode: Any) -> Any:
    for axis, (low, high) in enumerate(widths):
        if source.dtype.kind == "b":
            source = _pad_odd_truth(source, axis, int(low), int(high), mode)
        elif low or high:
            positions = np.pad(np.arange(source.shape[axis]), (low, high), mode)
            source = _mirrored(source, advanced.take(source, positions, axis, "raise"), axis, int(low), mode)
    return source


def _pad_odd_truth(source: Any, axis: int, low: int, high: int, mode: Any) -> Any:
    """Return truth values with odd reflections along an axis: 2 * edge - value is not 0 where either is true.

    As in NumPy each round reflects what the rounds before have made, whole multiples of the array's own extent.
    """
    positions = np.pad(np.arange(source.shape[axis]), (low, high), mode)  # refuses an empty axis
    if source.shape[axis] == 1:
        return advanced.take(source, positions, axis, "raise")
    edge = int(mode == "symmetric")  # edges count twice
    period = source.shape[axis] - 1 + edge
    while low or high:
        extent = source.shape[axis]
        longest = (extent - 1 + edge) // period * period
        before, after = min(longest, low), min(longest, high)
        first, last = 1 - edge, extent - 1 + edge
        places = [np.arange(first + before - 1, first - 1, -1), np.arange(last - 1, last - after - 1, -1)]
        low, high = low - before, high - after
        reflected = [advanced.take(source, where, axis, "raise") for where in places]
        ends = [advanced.take(source, np.array([k]), axis, "raise") for k in (0, extent - 1)]
        parts = [ufuncs.logical_or(value, end) for value, end in zip(reflected, ends, strict=True)]
        source = concatenate_arrays([parts[0], source, parts[1]], axis)
    return source


def _mirrored(source: Tracer, even: Any, axis: int, low: int, mode: str) -> Any:
    """Return a reflection with the values, too, turned around the edges that they are reflected at.

    An odd reflection f of n elements x has f(v + p) = f(v) + 2 (x[n-1] - x[0]), with its period p = 2 n - 2, or 2 n
    where edges count twice; in the second half of a period it is twice the last element less the reflected one.
    """
    count = source.shape[axis]
    period = max(1, 2 * count - (2 if mode == "reflect" else 0))
    rounds, place = np.divmod(np.arange(even.shape[axis]) - low, period)
    shape = [1] * source.ndim
    shape[axis] = -1
    turned, rounds = (place >= count).reshape(shape), rounds.reshape(shape)
    first, last = (advanced.take(source, np.array([k]), axis, "raise") for k in (0, count - 1))
    value = select(broadcast_to_shape(asarray(turned), even.shape), 2 * last - even, even)
    return value + (2 * rounds).astype(source.dtype) * (last - first)


def _pad_by(source: Tracer, widths: np.ndarray, function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Return the array with borders that a function of the user's writes, line by line."""
    padded = new_array(_pad_constant(source, widths, 0))
    for axis in range(source.ndim):
        rows: Any = moveaxis(padded, axis, -1)
        for index in np.ndindex(rows.shape[:-1]):
            function(rows[index], tuple(map(int, widths[axis])), axis, options)
    return padded


def _pad_widths(pad_width: Any, ndim: int) -> np.ndarray:
    if isinstance(pad_width, dict):
        pairs = [(0, 0)] * ndim
        for axis, width in pad_width.items():
            pairs[axis] = tuple(np.broadcast_to(width, 2).tolist())
        pad_width = pairs
    widths = np.asarray(pad_width)
    if widths.size and widths.dtype.kind not in "iu":
        raise TypeError("`pad_width` must be of integral type.")
    if (widths < 0).any():
        raise ValueError("index can't contain negative values")
    return widths.astype(np.int64)


def _pad_constant(source: Tracer, widths: np.ndarray, values: Any) -> Any:
    if isinstance(values, Tracer) or np.ndim(values) == 0:
        attributes = {
            "edge_padding_low": tuple(int(n) for n in widths[:, 0]),
            "edge_padding_high": tuple(int(n) for n in widths[:, 1]),
            "interior_padding": (0,) * source.ndim,
        }
        return bind1(layout.PAD, source, convert(asarray(values), source.dtype), attributes=attributes)
    fillers = np.broadcast_to(np.asarray(values), (source.ndim, 2))
    for axis in range(source.ndim):
        parts: list[Any] = [source]
        for side in (0, 1):
            shape = (*source.shape[:axis], int(widths[axis, side]), *source.shape[axis + 1 :])
            border = full_of(fillers[axis, side], shape, source.dtype)
            parts.insert(0 if side == 0 else 2, border)
        source = concatenate_arrays(parts, axis)
    return source


def _pad_ramp(source: Tracer, widths: np.ndarray, ends: Any) -> Any:
    limits = np.broadcast_to(np.asarray(ends), (source.ndim, 2))
    for axis, (low, high) in enumerate(widths):
        if not (low or high):
            continue
        edges = [_slab(source, axis, 0), _slab(source, axis, source.shape[axis] - 1)]
        before, after = (
            linspace(limit, edge, int(width), endpoint=False, axis=axis)
            for limit, edge, width in zip(limits[axis], edges, (low, high), strict=True)
        )
        after = bind1(layout.REVERSE, after, attributes={"dimensions": (axis,)})
        parts = [convert(_ramp(p, source.dtype), source.dtype) for p in (before, after)]
        source = concatenate_arrays([parts[0], source, parts[1]], axis)
    return source


def _ramp(values: Any, dtype: np.dtype) -> Any:
    return b.floor(values) if dtype.kind in "iu" else values


def _slab(source: Tracer, axis: int, place: int) -> Any:
    items = [slice(None)] * axis
    return source[(*items, place, ...)]  # type: ignore[index]


def _pad_statistic(source: Tracer, widths: np.ndarray, mode: str, lengths: Any) -> Any:
    counts = np.broadcast_to(np.array(-1) if lengths is None else np.asarray(lengths), (source.ndim, 2))
    for axis, (low, high) in enumerate(widths):
        if not (low or high):
            continue
        parts = []
        for width, count, from_end in ((low, counts[axis, 0], False), (high, counts[axis, 1], True)):
            found = STATISTICS[mode](_end(source, axis, int(count), from_end), axis, keepdims=True)
            if source.dtype.kind in "iu" and found.dtype.kind == "f":
                found = b.round_even(found)
            found = convert(found, source.dtype)
            shape = (*source.shape[:axis], int(width), *source.shape[axis + 1 :])
            parts.append(broadcast_to_shape(found, shape))
        source = concatenate_arrays([parts[0], source, parts[1]], axis)
    return source


def _end(source: Tracer, axis: int, count: int, from_end: bool) -> Any:
    """Return so many elements at one end of an axis; all of them for a negative number."""
    extent = source.shape[axis]
    kept = extent if count < 0 else min(count, extent)
    part = slice(extent - kept, extent) if from_end else slice(kept)
    return source[(*[slice(None)] * axis, part)]  # type: ignore[index]
