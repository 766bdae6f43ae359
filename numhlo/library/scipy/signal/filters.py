"""Linear filters of signals: recursive ones, forwards and backwards, trends, and the analytic signal.

A recursion is the direct form II transposed, as SciPy's, so that its values are SciPy's to the last place. Outside
tracing, where a step of a loop costs as much as a call, it is SciPy's own.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo.library.numpy import padding
from numhlo.library.scipy.operands import choice, converted, floating, traced
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, ShapeError, UnsupportedError
from numhlo.lowering.ops.lazy_scipy import scipy_function
from numhlo.tracer.building import Array, contains_tracer, current_trace, normalize_axis, runs_anywhere, scan, tree_map

__all__ = ["detrend", "filtfilt", "hilbert", "lfilter", "lfilter_zi", "sosfilt", "sosfilt_zi"]

EXTENSIONS: dict[str, dict[str, Any]] = {
    "odd": {"mode": "reflect", "reflect_type": "odd"},
    "even": {"mode": "reflect"},
    "constant": {"mode": "edge"},
}
"""How a signal goes on beyond its ends: modes of `numpy.pad`."""


def scipys_outside_tracing(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that is SciPy's own of its name outside tracing."""
    own = scipy_function(function.__name__, "signal")

    @functools.wraps(function)
    def public(*args: Any, **kwargs: Any) -> Any:
        if current_trace() is not None or contains_tracer((args, (*kwargs.values(),))):
            return function(*args, **kwargs)
        return tree_map(lambda x: np.asarray(x).view(Array), own(*args, **kwargs))

    return public


def _polynomial(function: str, x: Any) -> Any:
    found = np.atleast_1d(floating(x))
    if found.ndim != 1 or not found.size:
        raise ShapeError(
            f"{function} by coefficients of shape {found.shape}",
            where=capture_location(),
            why="they are two lines, b and a",
            fix="use vmap for several filters",
        )
    return found


def _padded(x: Any, count: int) -> Any:
    return np.concatenate([x, np.zeros(count - x.shape[0], x.dtype)])


def _coefficients(function: str, b: Any, a: Any) -> tuple[Any, Any]:
    """Return the coefficients at the same length, divided by the first of ``a``."""
    b, a = _polynomial(function, b), _polynomial(function, a)
    count = max(b.shape[0], a.shape[0])
    return _padded(b, count) / a[0], _padded(a, count) / a[0]


def _recursion(b: Any, a: Any, rows: Any, state: Any) -> tuple[Any, Any]:
    """Return filtered rows and the last state, of shape (order, ...)."""
    if b.shape[0] == 1:
        return rows * b[0], state
    column = (-1, *(1,) * (rows.ndim - 1))
    ahead, back = (x[1:].reshape(column) for x in (b, a))

    def step(delays: Any, row: Any) -> tuple[Any, Any]:
        found = b[0] * row + delays[0]
        moved = np.concatenate([delays[1:], np.zeros_like(delays[:1])])
        return moved + ahead * row - back * found, found

    last, filtered = scan(step, state, rows)
    return filtered, last


def _filtered(function: str, b: Any, a: Any, x: Any, axis: int, zi: Any) -> tuple[Any, Any]:
    if not x.ndim:
        raise ShapeError(f"{function} of an array without dimensions", where=capture_location(), fix="give a line")
    dtype = np.result_type(*[v.dtype for v in (b, a, x, *([] if zi is None else [zi]))])
    b, a, x = (converted(v, dtype) for v in (b, a, x))
    axis = normalize_axis(axis, x.ndim)
    rows, order = np.moveaxis(x, axis, 0), b.shape[0] - 1
    wanted = (order, *rows.shape[1:])
    state = np.zeros(wanted, dtype)
    if zi is not None:
        given = np.moveaxis(converted(zi, dtype), axis, 0) if zi.ndim == x.ndim else zi
        if given.ndim != x.ndim or given.shape[0] != order:
            raise ValueError(f"Unexpected shape for zi: expected {_placed(wanted, axis)}, found {zi.shape}.")
        state = np.broadcast_to(given, wanted)
    filtered, last = _recursion(b, a, rows, traced(state))
    return np.moveaxis(filtered, 0, axis), np.moveaxis(traced(last), 0, axis)


def _placed(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    rest = list(shape[1:])
    rest.insert(axis, shape[0])
    return tuple(rest)


@scipys_outside_tracing
def lfilter(b: Any, a: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """Return a signal filtered by a rational transfer function.

    Parameters
    ----------
    b, a : (k,), (m,) array_like
        Coefficients of the numerator and the denominator; ``a[0]`` must not be zero.
    x : array_like
    axis : int, optional
        Along which the signal runs.
    zi : array_like, optional
        The delays before the first sample: as ``x``, with ``max(k, m) - 1`` in the place of the axis' extent.

    Returns
    -------
    Array or tuple of Array
        The filtered signal, of the common dtype of floats; with ``zi`` also the delays after the last sample.

    Raises
    ------
    ShapeError
        If coefficients are no lines, or ``x`` has no dimensions.
    ValueError
        If ``zi`` has another shape.

    Notes
    -----
    ``a[0] y[n] = sum(b[i] x[n - i]) - sum(a[i] y[n - i] for i > 0)``, as a `lax.scan` over the samples; it can be
    differentiated with respect to all operands.

    Examples
    --------
    >>> lfilter([1.0], [1.0, -0.5], [1.0, 0.0, 0.0, 4.0])
    Array([1.   , 0.5  , 0.25 , 4.125])
    """
    numerator, denominator = _coefficients("lfilter", b, a)
    start = None if zi is None else floating(zi)
    filtered, last = _filtered("lfilter", numerator, denominator, floating(x), axis, start)
    return filtered if zi is None else (filtered, last)


@runs_anywhere
def lfilter_zi(b: Any, a: Any) -> Any:
    """Return the delays of `lfilter` for a signal that has been 1 for ever.

    Parameters
    ----------
    b, a : (k,), (m,) array_like

    Returns
    -------
    (max(k, m) - 1,) Array

    Raises
    ------
    ShapeError
        If coefficients are no lines.

    Examples
    --------
    >>> lfilter_zi([1.0], [1.0, -0.5])
    Array([1.])
    """
    numerator, denominator = _coefficients("lfilter_zi", b, a)
    change = numerator[1:] - denominator[1:] * numerator[0]
    first = change.sum() / denominator.sum()
    return np.cumsum(denominator)[:-1] * first - np.concatenate([change[:0], np.cumsum(change) - change])


@scipys_outside_tracing
def filtfilt(
    b: Any,
    a: Any,
    x: Any,
    axis: int = -1,
    padtype: str | None = "odd",
    padlen: int | None = None,
    method: str = "pad",
    irlen: int | None = None,
) -> Any:
    """Return a signal filtered forwards and then backwards, so that nothing is delayed.

    Parameters
    ----------
    b, a : (k,), (m,) array_like
        As those of `lfilter`.
    x : array_like
    axis : int, optional
    padtype : {"odd", "even", "constant", None}, optional
        How the signal goes on beyond its ends.
    padlen : int, optional
        How far: ``3 max(k, m)`` by default.
    method : {"pad"}, optional
    irlen : optional
        Of the other method; None.

    Returns
    -------
    Array

    Raises
    ------
    ArgumentError
        If ``padtype`` is another.
    UnsupportedError
        For Gustafsson's method.
    ValueError
        If the signal is not longer than ``padlen``.

    Examples
    --------
    >>> filtfilt([0.5, 0.5], [1.0], [0.0, 1.0, 4.0, 9.0], padlen=0)
    Array([0.25, 1.5 , 4.5 , 6.5 ])
    """
    if method != "pad" or irlen is not None:
        raise UnsupportedError(f"filtfilt({method=})", where=capture_location(), fix='use method="pad"')
    choice("filtfilt", "padtype", padtype, (*EXTENSIONS, None))
    numerator, denominator = _coefficients("filtfilt", b, a)
    signal = floating(x)
    axis = normalize_axis(axis, signal.ndim)
    reach = 3 * numerator.shape[0] if padlen is None else padlen
    reach = 0 if padtype is None else reach
    if signal.shape[axis] <= reach:
        raise ValueError(f"The length of the input vector x must be greater than padlen, which is {reach}.")
    rows = np.moveaxis(signal, axis, -1)
    if reach:
        rows = padding.pad(rows, [(0, 0)] * (rows.ndim - 1) + [(reach, reach)], **EXTENSIONS[str(padtype)])
    delays = lfilter_zi(numerator, denominator)
    for _ in range(2):
        start = traced(delays * rows[..., :1])
        rows = _filtered("filtfilt", numerator, denominator, rows, -1, start)[0][..., ::-1]
    kept = rows[..., reach : rows.shape[-1] - reach] if reach else rows
    return np.moveaxis(kept, -1, axis)


def _sections(function: str, sos: Any) -> Any:
    sections = floating(sos)
    if sections.ndim != 2 or sections.shape[1] != 6:
        raise ValueError("sos array must be shape (n_sections, 6)")
    return sections


@scipys_outside_tracing
def sosfilt(sos: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """Return a signal filtered by sections of second order, one after the other.

    Parameters
    ----------
    sos : (s, 6) array_like
        For each section three coefficients of the numerator, then three of the denominator, the first of them 1.
    x : array_like
    axis : int, optional
    zi : (s, ..., 2, ...) array_like, optional
        The delays of each section before the first sample.

    Returns
    -------
    Array or tuple of Array
        The filtered signal; with ``zi`` also the delays after the last sample.

    Raises
    ------
    ValueError
        If ``sos`` or ``zi`` have another shape.

    Examples
    --------
    >>> sosfilt([[1.0, 0, 0, 1.0, -0.5, 0]], [1.0, 0.0, 4.0])
    Array([1.  , 0.5 , 4.25])
    """
    sections, signal = _sections("sosfilt", sos), floating(x)
    starts = None if zi is None else floating(zi)
    after = []
    for k in range(sections.shape[0]):
        start = None if starts is None else starts[k]
        signal, last = _filtered("sosfilt", sections[k, :3], sections[k, 3:], signal, axis, start)
        after.append(last)
    return signal if zi is None else (signal, np.stack(after))


@runs_anywhere
def sosfilt_zi(sos: Any) -> Any:
    """Return the delays of `sosfilt` for a signal that has been 1 for ever.

    Parameters
    ----------
    sos : (s, 6) array_like

    Returns
    -------
    (s, 2) Array

    Raises
    ------
    ValueError
        If ``sos`` has another shape.

    Examples
    --------
    >>> sosfilt_zi([[1.0, 0, 0, 1.0, -0.5, 0]])
    Array([[1., 0.]])
    """
    sections, gain, found = _sections("sosfilt_zi", sos), 1.0, []
    for k in range(sections.shape[0]):
        b, a = sections[k, :3], sections[k, 3:]
        found.append(gain * lfilter_zi(b, a))
        gain = gain * (b.sum() / a.sum())
    return np.stack(found)


@runs_anywhere
def detrend(data: Any, axis: int = -1, type: str = "linear", bp: Any = 0, overwrite_data: bool = False) -> Any:
    """Return data without their mean, or without the line that fits them best.

    Parameters
    ----------
    data : array_like
    axis : int, optional
    type : {"linear", "constant"}, optional
    bp : int or sequence of int, optional
        Where one line ends and the next begins.
    overwrite_data : bool, optional
        Accepted, and means nothing here.

    Returns
    -------
    Array
        Of floats.

    Raises
    ------
    ArgumentError
        If ``type`` is another.
    ValueError
        If a break is beyond the data.

    Examples
    --------
    >>> detrend([1.0, 2.0, 6.0], type="constant")
    Array([-2., -1.,  3.])
    """
    del overwrite_data
    array = floating(data)
    if choice("detrend", "type", type, ("linear", "l", "constant", "c")) in ("constant", "c"):
        return array - array.mean(axis, keepdims=True)
    lines = np.moveaxis(array, axis, -1)
    count = lines.shape[-1]
    breaks = sorted({0, count, *np.atleast_1d(bp).tolist()})
    if breaks[-1] > count or breaks[0] < 0:
        raise ValueError("Breakpoints must be less than length of data along given axis.")
    parts = []
    for start, end in itertools.pairwise(breaks):
        part = lines[..., start:end]
        time = (np.arange(end - start) - 0.5 * (end - start - 1)).astype(part.real.dtype)
        level = part.mean(-1, keepdims=True)
        slope = (part * time).sum(-1, keepdims=True) / max(float((time * time).sum()), np.finfo(float).tiny)
        parts.append(part - level - slope * time)
    return np.moveaxis(np.concatenate(parts, -1), -1, axis)


@runs_anywhere
def hilbert(x: Any, N: int | None = None, axis: int = -1) -> Any:
    """Return the analytic signal: the signal, and its Hilbert transform as imaginary part.

    Parameters
    ----------
    x : array_like
        Real.
    N : int, optional
        Number of points of the Fourier transform.
    axis : int, optional

    Returns
    -------
    Array
        Complex.

    Raises
    ------
    ArgumentError
        If ``x`` is complex, or ``N`` not positive.

    Examples
    --------
    >>> np.abs(hilbert([0.0, 1.0, 0.0, -1.0])).round(12)
    Array([1., 1., 1., 1.])
    """
    signal = floating(x)
    if signal.dtype.kind == "c":
        raise ArgumentError("hilbert of complex numbers", where=capture_location(), fix="give the real part")
    count = signal.shape[normalize_axis(axis, signal.ndim)] if N is None else N
    if count <= 0:
        raise ArgumentError(f"hilbert with N={count}", where=capture_location(), fix="give a positive number of points")
    spectrum = np.fft.fft(np.moveaxis(signal, axis, -1), count)
    weights = np.zeros(count)
    weights[0] = 1
    weights[1 : (count + 1) // 2] = 2
    if count % 2 == 0:
        weights[count // 2] = 1
    return np.moveaxis(np.fft.ifft(spectrum * weights.astype(spectrum.real.dtype)), -1, axis)
