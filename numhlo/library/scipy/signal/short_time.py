"""Short-time Fourier transforms of signals, their inverse, and spectrograms.

As power spectra (`spectra`, which says how windows are cut) they are computed in double precision and rounded once.
Outside tracing they are SciPy's own.
"""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np

from numhlo.library.numpy import padding
from numhlo.library.scipy.operands import along_last, choice, converted, traced
from numhlo.library.scipy.signal.filters import EXTENSIONS, scipys_outside_tracing
from numhlo.library.scipy.signal.spectra import (
    Windows,
    are_real,
    chosen_window,
    followed_by_zeros,
    power_scale,
    precision_of,
    steps_of,
    widened,
)
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, ShapeError
from numhlo.tracer.building import asarray, normalize_axis

__all__ = ["istft", "spectrogram", "stft"]

BOUNDARIES: dict[str, dict[str, Any]] = {**EXTENSIONS, "zeros": {}}
"""How a signal goes on beyond its ends: modes of `numpy.pad`."""


def _short_time(
    function: str,
    x: Any,
    window: Any,
    sizes: tuple[Any, ...],
    detrend: Any,
    sides: bool,
    ends: tuple[Any, bool],
    axis: int,
) -> tuple[Windows, Any, Any]:
    """Return the windows, their middles in samples, and their transforms, frequencies and windows being last."""
    lines = along_last(function, widened(x), axis)
    chosen = chosen_window(function, window, sizes[0], lines.shape[-1])
    size = chosen.shape[0]
    step, points = steps_of(size, *sizes[1:])
    boundary, padded = ends
    if boundary is not None:
        choice(function, "boundary", boundary, (*BOUNDARIES, None))
        lines = padding.pad(lines, [(0, 0)] * (lines.ndim - 1) + [(size // 2, size // 2)], **BOUNDARIES[boundary])
    if padded:
        lines = followed_by_zeros(lines, lines.shape[-1] + (-(lines.shape[-1] - size) % step) % size)
    plan = Windows(chosen, step, points, detrend, sides and are_real(x))
    middles = np.arange(size / 2, lines.shape[-1] - size / 2 + 1, step) - (0 if boundary is None else size / 2)
    return plan, middles, np.moveaxis(plan.transformed(lines, axis), -1, -2)


@scipys_outside_tracing
def stft(  # noqa: PLR0913 - SciPy's signature
    x: Any,
    fs: float = 1.0,
    window: Any = "hann",
    nperseg: int = 256,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = False,
    return_onesided: bool = True,
    boundary: str | None = "zeros",
    padded: bool = True,
    axis: int = -1,
    scaling: str = "spectrum",
) -> Any:
    """Return the short-time Fourier transform of a signal.

    Parameters
    ----------
    x : array_like
    fs, window, nperseg, noverlap, nfft, detrend, return_onesided, axis : optional
        As those of `csd`.
    boundary : {"zeros", "even", "odd", "constant"} or None, optional
        How the signal goes on for half a window beyond its ends.
    padded : bool, optional
        Whether zeros fill the last window.
    scaling : {"spectrum", "psd"}, optional

    Returns
    -------
    tuple of Array
        Frequencies, times, and the transform, complex: frequencies in the place of the axis, windows last.

    Raises
    ------
    ArgumentError
        If an option is another.
    ValueError
        If windows, overlap and transform do not fit.

    Examples
    --------
    >>> frequencies, times, found = stft(np.arange(8.0), nperseg=4)
    >>> found.shape, times
    ((3, 5), Array([0., 2., 4., 6., 8.]))
    """
    choice("stft", "scaling", scaling, ("spectrum", "psd"))
    sizes, ends = (nperseg, noverlap, nfft), (boundary, padded)
    plan, middles, found = _short_time("stft", x, window, sizes, detrend, return_onesided, ends, axis)
    scale = np.sqrt(power_scale(plan.window, "density" if scaling == "psd" else "spectrum", fs))
    place = normalize_axis(axis, found.ndim - 1)
    result = converted(np.moveaxis(found * scale, -2, place), precision_of(x))
    return plan.frequencies(fs), middles / float(fs), result


@scipys_outside_tracing
def spectrogram(  # noqa: PLR0913 - SciPy's signature
    x: Any,
    fs: float = 1.0,
    window: Any = ("tukey", 0.25),
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    mode: str = "psd",
) -> Any:
    """Return the spectra of a signal's windows.

    Parameters
    ----------
    x : array_like
    fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis : optional
        As those of `csd`; windows share an eighth.
    mode : {"psd", "complex", "magnitude", "angle", "phase"}, optional
        Powers, or the transform, its magnitude, or its angle, as it is or unwrapped.

    Returns
    -------
    tuple of Array
        Frequencies, times, and the spectra: frequencies in the place of the axis, windows last.

    Raises
    ------
    ArgumentError
        If an option is another.
    ValueError
        If windows, overlap and transform do not fit.

    Examples
    --------
    >>> spectrogram(np.arange(16.0), nperseg=8)[2].shape
    (5, 2)
    """
    choice("spectrogram", "mode", mode, ("psd", "complex", "magnitude", "angle", "phase"))
    choice("spectrogram", "scaling", scaling, ("density", "spectrum"))
    axis = normalize_axis(axis, asarray(x).ndim)
    size = chosen_window("spectrogram", window, nperseg, asarray(x).shape[axis]).shape[0]
    sizes = (nperseg, size // 8 if noverlap is None else noverlap, nfft)
    plan, middles, found = _short_time("spectrogram", x, window, sizes, detrend, return_onesided, (None, False), axis)
    scale, dtype = power_scale(plan.window, scaling, fs), precision_of(x)
    if mode == "psd":
        found = traced((np.conj(found) * found).real * scale)
        if plan.one_sided:
            weights = np.ones((found.shape[-2], 1))
            weights[1 : -1 if plan.points % 2 == 0 else None] = 2
            found = found * weights.astype(found.dtype)
        dtype = np.dtype(f"f{dtype.itemsize // 2}")
    else:
        found = found * np.sqrt(scale)
    found = converted(np.moveaxis(found, -2, axis), dtype)
    if mode in ("angle", "phase"):
        found = np.angle(found)
    found = np.abs(found) if mode == "magnitude" else found
    return plan.frequencies(fs), middles / float(fs), np.unwrap(found, axis=axis) if mode == "phase" else found


def _added(windows: Any, step: int) -> Any:
    """Return windows of shape (..., windows, samples) added where they overlap."""
    *outer, count, size = windows.shape
    layers = -(-size // step)
    filled = followed_by_zeros(windows, layers * step).reshape(*outer, count, layers, step)
    still = [(0, 0)] * len(outer)
    shifted = [np.pad(filled[..., k, :], [*still, (k, layers - 1 - k), (0, 0)]) for k in range(layers)]
    total = functools.reduce(operator.add, shifted)
    return total.reshape(*outer, -1)[..., : size + (count - 1) * step]


@scipys_outside_tracing
def istft(  # noqa: PLR0913 - SciPy's signature
    Zxx: Any,
    fs: float = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    input_onesided: bool = True,
    boundary: bool = True,
    time_axis: int = -1,
    freq_axis: int = -2,
    scaling: str = "spectrum",
) -> Any:
    """Return the signal whose short-time Fourier transform is nearest to what is given.

    Parameters
    ----------
    Zxx : array_like
        Of two dimensions at least.
    fs, window, nperseg, noverlap, nfft, scaling : optional
        As those of `stft`.
    input_onesided : bool, optional
        Whether negative frequencies are left out.
    boundary : bool, optional
        Whether the signal was extended at its ends.
    time_axis, freq_axis : int, optional

    Returns
    -------
    tuple of Array
        Times, and the signal.

    Raises
    ------
    ArgumentError
        If an option is another, or the axes are one.
    ShapeError
        If there are fewer dimensions than two.
    ValueError
        If windows, overlap and transform do not fit.

    Examples
    --------
    >>> x = np.arange(8.0)
    >>> istft(stft(x, nperseg=4)[2], nperseg=4)[1].round(6)
    Array([0., 1., 2., 3., 4., 5., 6., 7.])
    """
    choice("istft", "scaling", scaling, ("spectrum", "psd"))
    given = traced(Zxx)
    dtype = precision_of(given)
    if given.ndim < 2:
        raise ShapeError(
            f"istft of an array of shape {given.shape}", where=capture_location(), fix="give frequencies and times"
        )
    axes = [normalize_axis(a, given.ndim) for a in (freq_axis, time_axis)]
    if axes[0] == axes[1]:
        raise ArgumentError("istft: time_axis and freq_axis are one", where=capture_location(), fix="give two")
    rows = np.moveaxis(converted(given, np.dtype(np.complex128)), [axes[1], axes[0]], [-2, -1])
    default = 2 * (rows.shape[-1] - 1) if input_onesided else rows.shape[-1]
    size = default if nperseg is None else int(nperseg)
    if size < 1:
        raise ValueError("nperseg must be a positive integer")
    usual = size if input_onesided and size == default + 1 else default
    step, points = steps_of(size, noverlap, usual if nfft is None else nfft)
    chosen = chosen_window("istft", window, size, None)
    parts = (np.fft.irfft if input_onesided else np.fft.ifft)(rows, n=points)[..., :size]
    amount = chosen.sum() if scaling == "spectrum" else np.sqrt(fs * (chosen * chosen).sum())
    signal = _added(traced(parts * (chosen * amount)), step)
    weight = _added(traced(np.broadcast_to(chosen * chosen, (rows.shape[-2], size))), step)
    if boundary:
        signal, weight = (v[..., size // 2 : -(size // 2)] for v in (signal, weight))
    signal = signal / np.where(weight > 1e-10, weight, 1.0)
    place = axes[1] - (axes[0] < axes[1])
    wanted = np.dtype(f"f{dtype.itemsize // 2}") if input_onesided else dtype
    found = converted(np.moveaxis(signal, -1, place) if signal.ndim > 1 else signal, wanted)
    return np.arange(found.shape[0]) / float(fs), found
