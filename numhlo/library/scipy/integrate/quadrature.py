"""Integrals of sampled functions: SciPy's `trapezoid`, `simpson` and their running form.

Source: Cartwright, "Simpson's rule cumulative integration with MS Excel and irregularly-spaced data", Journal of
Mathematical Sciences and Mathematics Education 12 (2017), for the last interval of an even number of samples.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.library.scipy.operands import floating, traced
from numhlo.tracer.building import normalize_axis, runs_anywhere

__all__ = ["cumulative_trapezoid", "simpson", "trapezoid"]


@runs_anywhere
def trapezoid(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Any:
    """Return the integral of samples by the trapezoidal rule.

    Parameters
    ----------
    y : array_like
    x : array_like, optional
        Where the samples are: a line, or as ``y``; else they are ``dx`` apart.
    dx : scalar, optional
    axis : int, optional

    Returns
    -------
    Array

    Examples
    --------
    >>> trapezoid([1.0, 2.0, 4.0], dx=0.5)
    Array(2.25)
    """
    return np.trapezoid(traced(y), None if x is None else traced(x), dx, axis)


def _widths(samples: Any, x: Any, axis: int) -> Any:
    """Return the distances between samples along the last axis."""
    places = traced(x)
    if places.ndim == 1:
        if places.shape[0] != samples.shape[-1]:
            raise ValueError("If given, length of x along axis must be the same as y.")
        return np.diff(places)
    if places.ndim != samples.ndim:
        raise ValueError("If given, shape of x must be 1-D or the same as y.")
    places = np.moveaxis(places, axis, -1)
    if places.shape[-1] != samples.shape[-1]:
        raise ValueError("If given, length of x along axis must be the same as y.")
    return np.diff(places, axis=-1)


@runs_anywhere
def cumulative_trapezoid(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1, initial: float | None = None) -> Any:
    """Return the running integral of samples by the trapezoidal rule.

    Parameters
    ----------
    y, x, dx, axis : optional
        As those of `trapezoid`.
    initial : {0, None}, optional
        With 0 the result begins with it, and is as long as ``y``.

    Returns
    -------
    Array

    Raises
    ------
    ValueError
        If ``initial`` is another, or the extents differ.

    Examples
    --------
    >>> cumulative_trapezoid([1.0, 2.0, 4.0], initial=0)
    Array([0. , 1.5, 4.5])
    """
    if initial not in (0, None):
        raise ValueError("`initial` must be `None` or `0`.")
    array = traced(y)
    if not array.shape[normalize_axis(axis, array.ndim)]:
        raise ValueError("At least one point is required along `axis`.")
    samples = np.moveaxis(array, axis, -1)
    widths = dx if x is None else _widths(samples, x, axis)
    found = np.cumsum(widths * (samples[..., 1:] + samples[..., :-1]) / 2.0, -1)
    if initial is not None:
        found = np.concatenate([np.zeros_like(found[..., :1], shape=(*found.shape[:-1], 1)), found], -1)
    return np.moveaxis(found, -1, axis)


@runs_anywhere
def simpson(y: Any, x: Any = None, *, dx: float = 1.0, axis: int = -1) -> Any:
    """Return the integral of samples by Simpson's rule, corrected where their number is even.

    Parameters
    ----------
    y, x, dx, axis : optional
        As those of `trapezoid`.

    Returns
    -------
    Array

    Raises
    ------
    ValueError
        If the extents differ.

    Examples
    --------
    >>> simpson([0.0, 1.0, 4.0, 9.0, 16.0])
    Array(21.33333333)
    """
    samples = np.moveaxis(floating(y), axis, -1)
    count = samples.shape[-1]
    widths = None if x is None else _widths(samples, x, axis)
    if count % 2 == 1:
        return _by_pairs(samples, widths, dx)
    if count == 2:
        width = dx if widths is None else widths[..., 0]
        return 0.5 * width * (samples[..., 0] + samples[..., 1])
    inner = _by_pairs(samples[..., :-1], None if widths is None else widths[..., :-1], dx)
    before, last = (dx, dx) if widths is None else (widths[..., -2], widths[..., -1])
    return inner + _last_interval(samples, before, last)


def _ratio(over: Any, under: Any) -> Any:
    """Return a quotient; 0 where samples coincide."""
    under = np.asarray(under, np.float64) if np.isscalar(under) else under
    return np.where(under == 0, 0.0, over / np.where(under == 0, 1.0, under))


def _by_pairs(samples: Any, widths: Any, dx: float) -> Any:
    """Return the integral over pairs of intervals."""
    first, middle, last = samples[..., :-2:2], samples[..., 1:-1:2], samples[..., 2::2]
    if widths is None:
        return (first + 4.0 * middle + last).sum(-1) * (dx / 3.0)
    left, right = widths[..., ::2] * 1.0, widths[..., 1::2] * 1.0
    both, ratio = left + right, _ratio(left, right)
    terms = first * (2.0 - _ratio(1.0, ratio)) + middle * (both * _ratio(both, left * right)) + last * (2.0 - ratio)
    return (both / 6.0 * terms).sum(-1)


def _last_interval(samples: Any, before: Any, last: Any) -> Any:
    """Return the integral over the last interval of the parabola through the last three samples."""
    both = before + last
    alpha = _ratio(2 * last**2 + 3 * before * last, 6 * both)
    beta = _ratio(last**2 + 3.0 * before * last, 6 * before)
    eta = _ratio(last**3, 6 * before * both)
    return alpha * samples[..., -1] + beta * samples[..., -2] - eta * samples[..., -3]
