"""Power spectra of windows of signals: periodograms, Welch's method, coherence.

All are one transform of the windows (`Windows`), multiplied and averaged. They are computed in double precision and
rounded once. Outside tracing they are SciPy's own. Transforms of single windows are in `short_time`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from numhlo.library.documentation import described
from numhlo.library.numpy import padding
from numhlo.library.scipy.operands import along_last, choice, converted, traced
from numhlo.library.scipy.signal import filters
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ShapeError
from numhlo.lowering.ops.lazy_scipy import scipy_function
from numhlo.tracer.building import asarray, normalize_axis

__all__ = ["coherence", "csd", "periodogram", "welch"]

_SPECTRUM = """
Parameters
----------
x : array_like

Returns
-------
tuple of Array
    Frequencies, and the spectrum, real.

Raises
------
ArgumentError
    If an option is another.
ValueError
    If windows, overlap and transform do not fit.
"""

_get_window = scipy_function("get_window", "signal")


class Windows(NamedTuple):
    """How a signal is cut into windows and transformed."""

    window: Any
    step: int
    points: int
    detrend: Any
    one_sided: bool

    def frequencies(self, rate: Any) -> Any:
        """Return the frequencies of the transform's rows."""
        return (np.fft.rfftfreq if self.one_sided else np.fft.fftfreq)(self.points, 1 / rate)

    def transformed(self, lines: Any, axis: int = -1) -> Any:
        """Return the transforms of the windows of lines, of shape (..., windows, frequencies).

        A function that takes off trends is given windows along ``axis``.
        """
        size = self.window.shape[0]
        cut = np.lib.stride_tricks.sliding_window_view(lines, size, axis=-1)[..., :: self.step, :]
        if callable(self.detrend):
            cut = np.moveaxis(traced(self.detrend(np.moveaxis(cut, -1, axis))), axis, -1)
        elif self.detrend:
            cut = filters.detrend(cut, type=self.detrend)
        weighted = traced(cut * self.window)
        return (np.fft.rfft if self.one_sided else np.fft.fft)(weighted, n=self.points)


def chosen_window(function: str, window: Any, size: int | None, length: int | None) -> Any:
    """Return a window in double precision, made by its name where that is given."""
    if isinstance(window, str | tuple):
        size = 256 if size is None else int(size)
        if size < 1:
            raise ValueError("nperseg must be a positive integer")
        return np.asarray(_get_window(window, size if length is None else min(size, length)))
    found = asarray(window)
    if found.ndim != 1:
        raise ShapeError(f"{function} by a window of shape {found.shape}", where=capture_location(), fix="give a line")
    if size is not None and size != found.shape[0]:
        raise ValueError(f"value specified for nperseg ({size}) is different from length of window ({found.shape[0]})")
    if length is not None and found.shape[0] > length:
        raise ValueError("window is longer than input signal")
    return widened(found)


def widened(x: Any) -> Any:
    """Return an array in double precision."""
    return converted(x, np.dtype(np.complex128 if asarray(x).dtype.kind == "c" else np.float64))


def steps_of(size: int, overlap: int | None, points: int | None) -> tuple[int, int]:
    """Return by how much windows are apart, and how many points their transforms have."""
    overlap = size // 2 if overlap is None else int(overlap)
    if overlap >= size:
        raise ValueError("noverlap must be less than nperseg.")
    points = size if points is None else int(points)
    if points < size:
        raise ValueError("nfft must be greater than or equal to nperseg.")
    return size - overlap, points


def _require_positive(rate: Any) -> None:
    if isinstance(rate, int | float) and not rate > 0:
        raise ValueError(f"Sampling frequency fs={rate} must be positive!")


def power_scale(window: Any, scaling: str, rate: float) -> Any:
    """Return what powers are multiplied by."""
    return 1 / (rate * (window * window).sum()) if scaling == "density" else 1 / window.sum() ** 2


def precision_of(*signals: Any) -> np.dtype:
    """Return the dtype of signals' spectra."""
    return np.result_type(*[asarray(x).dtype for x in signals], np.complex64)


def followed_by_zeros(lines: Any, length: int) -> Any:
    """Return lines with zeros behind them, up to a length."""
    missing = length - lines.shape[-1]
    return padding.pad(lines, [(0, 0)] * (lines.ndim - 1) + [(0, missing)]) if missing else lines


def _median_bias(count: int) -> float:
    """Return the median of a mean of exponential numbers over their mean."""
    even = 2 * np.arange(1.0, (count - 1) // 2 + 1)
    return 1 + float(np.sum(1 / (even + 1) - 1 / even))


def _averaged(powers: Any, average: str) -> Any:
    """Return the average over the last axis but one."""
    if choice("csd", "average", average, ("mean", "median")) == "mean" or powers.shape[-2] == 1:
        return powers.mean(-2)
    middle = np.median(powers.real, axis=-2) + 1j * np.median(powers.imag, axis=-2)
    return middle / _median_bias(powers.shape[-2])


@filters.scipys_outside_tracing
@described(_SPECTRUM)
def csd(  # noqa: PLR0913 - SciPy's signature
    x: Any,
    y: Any,
    fs: float = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> Any:
    """Return the cross power spectral density of two signals, by Welch's method.

    Parameters
    ----------
    x, y : array_like
        The shorter one is followed by zeros.
    fs : float, optional
        Samples for each unit of time.
    window : str, tuple or array_like, optional
        A window, or its name for `scipy.signal.get_window`.
    nperseg, noverlap, nfft : int, optional
        Samples of a window (256 at most), of which it shares with the next one (half), and points of its transform.
    detrend : {"constant", "linear"}, callable or False, optional
        What is taken off each window first.
    return_onesided : bool, optional
        Whether spectra of real signals have no negative frequencies.
    scaling : {"density", "spectrum"}, optional
        Power for each unit of frequency, or power.
    axis : int, optional
        Along which the signals run.
    average : {"mean", "median"}, optional

    Returns
    -------
    tuple of Array
        Frequencies, and the spectrum, complex.

    Examples
    --------
    >>> frequencies, density = csd(np.ones(8), np.arange(8.0), nperseg=4, detrend=False)
    >>> frequencies, density.shape
    (Array([0.  , 0.25, 0.5 ]), (3,))
    """
    choice("csd", "scaling", scaling, ("density", "spectrum"))
    _require_positive(fs)
    dtype = precision_of(x, y)
    place = normalize_axis(axis, asarray(x).ndim)
    lines = [along_last("csd", widened(v), axis) for v in ([x] if y is x else [x, y])]
    length = max(v.shape[-1] for v in lines)
    chosen = chosen_window("csd", window, nperseg, length)
    step, points = steps_of(chosen.shape[0], noverlap, nfft)
    one_sided = return_onesided and are_real(x, y)
    plan = Windows(chosen, step, points, detrend, one_sided)
    spectra = [plan.transformed(followed_by_zeros(v, length)) for v in lines]
    powers = traced(np.conj(spectra[0]) * spectra[-1] * power_scale(chosen, scaling, fs))
    if one_sided:
        weights = np.ones(powers.shape[-1])
        weights[1 : -1 if points % 2 == 0 else None] = 2
        powers = (powers * weights).astype(powers.dtype)
    found = converted(np.moveaxis(_averaged(powers, average), -1, place), dtype)
    return plan.frequencies(fs), found


def are_real(*signals: Any) -> bool:
    """Return whether no signal is complex."""
    return all(asarray(x).dtype.kind != "c" for x in signals)


@filters.scipys_outside_tracing
@described(_SPECTRUM)
def welch(  # noqa: PLR0913 - SciPy's signature
    x: Any,
    fs: float = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> Any:
    """Return the power spectral density of a signal, by Welch's method: the average over windows.

    Parameters
    ----------
    fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average : optional
        As those of `csd`.

    Examples
    --------
    >>> x = np.array([1.0, -1.0] * 8)
    >>> frequencies, density = welch(x, nperseg=4)
    >>> float(frequencies[density.argmax()])
    0.5
    """
    frequencies, found = csd(
        x, x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average
    )
    return frequencies, found.real


@filters.scipys_outside_tracing
@described(_SPECTRUM)
def periodogram(
    x: Any,
    fs: float = 1.0,
    window: Any = "boxcar",
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
) -> Any:
    """Return the power spectral density of a signal as a whole.

    Parameters
    ----------
    fs, window, nfft, detrend, return_onesided, scaling, axis : optional
        As those of `csd`; of a signal of more than ``nfft`` samples the first ones are taken.

    Raises
    ------
    ArgumentError
        If an option is another.
    ValueError
        If a window is not as long as the signal.

    Examples
    --------
    >>> periodogram(np.array([1.0, -1.0, 1.0, -1.0]))[1]
    Array([0., 0., 4.])
    """
    lines = along_last("periodogram", traced(x), axis)
    length = lines.shape[-1]
    if nfft is not None and nfft < length:
        lines, length = lines[..., :nfft], nfft
    signal = np.moveaxis(lines, -1, axis)
    window = "boxcar" if window is None else window
    return welch(signal, fs, window, length, 0, nfft, detrend, return_onesided, scaling, axis)


@filters.scipys_outside_tracing
def coherence(
    x: Any,
    y: Any,
    fs: float = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    axis: int = -1,
) -> Any:
    """Return how far two signals depend linearly on each other at each frequency: between 0 and 1.

    Parameters
    ----------
    x, y : array_like
    fs, window, nperseg, noverlap, nfft, detrend, axis : optional
        As those of `csd`.

    Returns
    -------
    tuple of Array
        Frequencies, and the squared magnitude of the coherence.

    Raises
    ------
    ValueError
        If windows, overlap and transform do not fit.

    Examples
    --------
    >>> x = np.sin(np.arange(16.0))
    >>> coherence(x, 2 * x, nperseg=8)[1].round(6)
    Array([1., 1., 1., 1., 1.])
    """
    options = (fs, window, nperseg, noverlap, nfft, detrend)
    (frequencies, own), (_, other) = (welch(v, *options, axis=axis) for v in (x, y))
    crossed = csd(x, y, *options, axis=axis)[1]
    return frequencies, np.abs(crossed) ** 2 / own / other
