"""pad: borders of constants, edges, reflections, ramps and statistics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.lowering.ops import layout
from numhlo.tracer.bind import bind1
from numhlo.tracer.namespace import advanced_indexing as advanced
from numhlo.tracer.namespace import building as b
from numhlo.tracer.namespace import moments, reductions, statistics
from numhlo.tracer.namespace.core import asarray, broadcast_to_shape, convert, full_of, implements
from numhlo.tracer.namespace.index_items import as_traced
from numhlo.tracer.namespace.joining import concatenate_arrays
from numhlo.tracer.namespace.sequences import linspace
from numhlo.tracer.trace import Tracer

__all__ = ["pad"]

STATISTICS: dict[str, Callable[..., Any]] = {
    "maximum": reductions.max,
    "minimum": reductions.min,
    "mean": moments.mean,
    "median": statistics.median,
}


@implements(np.pad)
def pad(array: Any, pad_width: Any, mode: str = "constant", **options: Any) -> Any:
    """Return the array with borders around it.

    Parameters
    ----------
    array : array_like
    pad_width : int, pair, sequence of pairs, or dict
        How many elements go before and after each axis.
    mode : str, optional
        ``constant edge empty linear_ramp maximum mean median minimum reflect symmetric wrap``.
    **options
        ``constant_values``, or ``end_values`` of a ramp.

    Returns
    -------
    Array
        Of the dtype of ``array``.

    Raises
    ------
    UnsupportedError
        If mode or option is another, while tracing: ``stat_length``, ``reflect_type="odd"``, a function.

    Examples
    --------
    >>> pad([1, 2], 1, constant_values=7)
    Array([7, 1, 2, 7])
    """
    source = as_traced(asarray(array))
    widths = np.broadcast_to(_pad_widths(pad_width, source.ndim), (source.ndim, 2))
    if mode == "constant":
        return _pad_constant(source, widths, options.pop("constant_values", 0))
    if mode == "empty":
        return _pad_constant(source, widths, 0)
    if mode == "linear_ramp" and set(options) <= {"end_values"}:
        return _pad_ramp(source, widths, options.pop("end_values", 0))
    if mode in STATISTICS and not options:
        return _pad_statistic(source, widths, mode)
    if mode not in ("edge", "reflect", "symmetric", "wrap") or options:
        raise UnsupportedError(
            f"pad({', '.join([f'mode={mode!r}', *options])}) of a traced array",
            where=capture_location(),
            fix="use constant, edge, empty, linear_ramp, maximum, mean, median, minimum, reflect, symmetric or wrap, "
            "with their default options",
        )
    for axis, (low, high) in enumerate(widths):
        if low or high:
            positions = np.pad(np.arange(source.shape[axis]), (low, high), mode)  # type: ignore[call-overload]
            source = advanced.take(source, positions, axis, "raise")
    return source


def _pad_widths(pad_width: Any, ndim: int) -> np.ndarray:
    if isinstance(pad_width, dict):
        widths = np.zeros((ndim, 2), np.int64)
        for axis, width in pad_width.items():
            widths[axis] = width
        return widths
    return np.asarray(pad_width, np.int64)


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
    return values if dtype.kind in "fc" else b.floor(values)


def _slab(source: Tracer, axis: int, place: int) -> Any:
    items = [slice(None)] * axis
    return source[(*items, place, ...)]  # type: ignore[index]


def _pad_statistic(source: Tracer, widths: np.ndarray, mode: str) -> Any:
    for axis, (low, high) in enumerate(widths):
        found = STATISTICS[mode](source, axis, keepdims=True)
        if source.dtype.kind in "iu" and found.dtype.kind == "f":
            found = b.round_even(found)
        found = convert(found, source.dtype)
        parts = []
        for width in (low, high):
            shape = (*source.shape[:axis], int(width), *source.shape[axis + 1 :])
            parts.append(broadcast_to_shape(found, shape))
        source = concatenate_arrays([parts[0], source, parts[1]], axis)
    return source
