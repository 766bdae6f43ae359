"""Frequencies of the results of Fourier transforms, and their order: fftfreq, rfftfreq, fftshift, ifftshift."""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.library.numpy import elementwise, rearranging
from numhlo.tracer.building import as_arrays, as_traced, asarray, implements, known_numbers, normalize_axis

__all__ = ["fftfreq", "fftshift", "ifftshift", "rfftfreq"]


def fftfreq(n: int, d: Any = 1.0, device: Any = None, *, dtype: Any = None) -> Any:
    """Return the frequencies of the results of `fft`: cycles per unit of the sample spacing.

    Parameters
    ----------
    n : int
        Number of points.
    d : number, optional
        Sample spacing; may be traced.
    device : {None, "cpu"}, optional
    dtype : dtype, optional
        float64 by default.

    Returns
    -------
    Array
        Of shape ``(n,)``: 0 and rising, then the negative ones.

    Examples
    --------
    >>> fftfreq(4, 0.5)
    Array([ 0. ,  0.5, -1. , -0.5])
    """
    n = known_numbers(n)
    return _frequencies(np.fft.fftfreq(n, 1.0 / n, device=device), n, d, dtype)


def rfftfreq(n: int, d: Any = 1.0, device: Any = None, *, dtype: Any = None) -> Any:
    """Return the frequencies of the results of `rfft`; parameters as of `fftfreq`.

    Parameters
    ----------
    n, d, device, dtype : optional
        As those of `fftfreq`.

    Returns
    -------
    Array
        Of shape ``(n // 2 + 1,)``, none of them negative.

    Examples
    --------
    >>> rfftfreq(4, 0.5)
    Array([0. , 0.5, 1. ])
    """
    n = known_numbers(n)
    return _frequencies(np.fft.rfftfreq(n, 1.0 / n, device=device), n, d, dtype)


def _frequencies(numbers: np.ndarray, n: int, d: Any, dtype: Any) -> Any:
    """Return whole numbers times ``1 / (n d)``, as NumPy computes it."""
    exact = np.rint(numbers)
    result = as_arrays(exact * (1.0 / (n * d))) if isinstance(d, int | float) else elementwise.divide(exact, n * d)
    return result if dtype is None else result.astype(dtype)


@implements(np.fft.fftshift)
def fftshift(x: Any, axes: Any = None) -> Any:
    """Return the zero frequency moved to the middle.

    Parameters
    ----------
    x : array_like
    axes : int or sequence of int, optional
        All by default.

    Returns
    -------
    Array
        Of the shape of ``x``.

    Examples
    --------
    >>> fftshift([0, 1, 2, -2, -1])
    Array([-2, -1,  0,  1,  2])
    """
    return _shifted(x, axes, 1)


@implements(np.fft.ifftshift)
def ifftshift(x: Any, axes: Any = None) -> Any:
    """Return the zero frequency moved back to the start.

    Parameters
    ----------
    x : array_like
    axes : int or sequence of int, optional
        All by default.

    Returns
    -------
    Array
        Of the shape of ``x``.

    Examples
    --------
    >>> ifftshift([-1, 0, 1])
    Array([ 0,  1, -1])
    """
    return _shifted(x, axes, -1)


def _shifted(x: Any, axes: Any, direction: int) -> Any:
    array = as_traced(asarray(x))
    chosen = range(array.ndim) if axes is None else [axes] if isinstance(axes, int) else axes
    places = [normalize_axis(axis, array.ndim) for axis in chosen]
    return rearranging.roll(array, [direction * (array.shape[k] // 2) for k in places], places)
