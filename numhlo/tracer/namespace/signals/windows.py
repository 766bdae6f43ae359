"""Window functions, and the modified Bessel function i0 that one of them needs."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from numhlo.tracer.namespace import building as b
from numhlo.tracer.namespace.core import asarray, broadcast_to_shape, convert, implements
from numhlo.tracer.namespace.elementwise import divide
from numhlo.tracer.namespace.index_items import as_traced, new_array

__all__ = ["bartlett", "blackman", "hamming", "hanning", "i0", "kaiser"]

SMALL = 8.0
"""Where the two expansions of `i0` meet."""

ASYMPTOTIC = 60.0
"""Where Hankel's expansion has become accurate to all bits."""


@lru_cache(maxsize=2)
def _coefficients(large: bool) -> np.ndarray:
    """Return Chebyshev coefficients of ``i0(x) exp(-x)``; for large arguments of it times ``sqrt(x)``, in ``1 / x``."""

    def small_argument(t: np.ndarray) -> np.ndarray:
        x = (t + 1) * (SMALL / 2)
        return np.asarray(np.i0(x) * np.exp(-x))

    def large_argument(t: np.ndarray) -> np.ndarray:
        inverse = (t + 1) / (2 * SMALL)
        x = 1 / np.maximum(inverse, 1 / ASYMPTOTIC)
        return np.where(inverse < 1 / ASYMPTOTIC, _asymptotic(inverse), np.i0(x) * np.exp(-x) * np.sqrt(x))

    return _expand(large_argument if large else small_argument)


def _expand(function: Callable[[np.ndarray], np.ndarray], nodes: int = 64, terms: int = 30) -> np.ndarray:
    """Return a function's Chebyshev coefficients, from its values at the nodes (a discrete cosine transform)."""
    angles = (np.arange(nodes) + 0.5) * (np.pi / nodes)
    coefficients: np.ndarray = (
        2 / nodes * (np.cos(np.outer(np.arange(terms), angles)) * function(np.cos(angles))).sum(1)
    )
    coefficients[0] /= 2
    return coefficients


def _asymptotic(inverse: np.ndarray) -> np.ndarray:
    """Return ``i0(x) exp(-x) sqrt(x)`` from Hankel's expansion, for large x."""
    term = total = np.ones_like(inverse)
    for k in range(1, 20):
        term = term * (2 * k - 1) ** 2 * inverse / (8 * k)
        total = total + term
    return np.asarray(total / np.sqrt(2 * np.pi))


def _chebyshev(coefficients: np.ndarray, t: Any) -> Any:
    """Return a Chebyshev series by Clenshaw's recurrence."""
    before, now = b.constant(0, t), b.constant(0, t)
    for c in coefficients[:0:-1]:
        before, now = now, b.add(b.subtract(b.multiply(b.multiply(t, 2.0), now), before), float(c))
    return b.add(b.subtract(b.multiply(t, now), before), float(coefficients[0]))


@implements(np.i0)
def i0(x: Any) -> Any:
    """Return the modified Bessel function of the first kind, order 0.

    Parameters
    ----------
    x : array_like
        Real.

    Returns
    -------
    Array
        Of floats.

    Raises
    ------
    TypeError
        If ``x`` is complex.

    Notes
    -----
    NIST DLMF section 10.25; while tracing by two Chebyshev expansions.

    Examples
    --------
    >>> i0([0.0, 1.0])
    Array([1.        , 1.26606588])
    """
    array = as_traced(asarray(x))
    if array.dtype.kind == "c":
        raise TypeError("i0 not supported for complex values")
    size = b.absolute(array if array.dtype.kind in "fV" else convert(array, np.float64))
    near = _chebyshev(_coefficients(False), b.subtract(b.multiply(b.minimum(size, SMALL), 2 / SMALL), 1.0))
    wide = b.maximum(size, SMALL)
    far = b.divide(
        _chebyshev(_coefficients(True), b.subtract(b.divide(b.constant(2 * SMALL, wide), wide), 1.0)), b.sqrt(wide)
    )
    return b.multiply(b.select(b.at_most(size, SMALL), near, far), b.exp(size))


def _known(function: Any, M: Any) -> Any:
    return new_array(function(int(M)))


@implements(np.bartlett)
def bartlett(M: int) -> Any:
    """Return the triangular window of ``M`` points.

    Parameters
    ----------
    M : int
        Known while tracing.

    Returns
    -------
    Array
        Of float64 and shape ``(M,)``; none for ``M < 1``.

    Examples
    --------
    >>> bartlett(3)
    Array([0., 1., 0.])
    """
    return _known(np.bartlett, M)


@implements(np.blackman)
def blackman(M: int) -> Any:
    """Return the Blackman window of ``M`` points.

    Parameters
    ----------
    M : int
        Known while tracing.

    Returns
    -------
    Array
        Of float64 and shape ``(M,)``; none for ``M < 1``.

    Examples
    --------
    >>> blackman(3).round(6) + 0.0
    Array([0., 1., 0.])
    """
    return _known(np.blackman, M)


@implements(np.hamming)
def hamming(M: int) -> Any:
    """Return the Hamming window of ``M`` points.

    Parameters
    ----------
    M : int
        Known while tracing.

    Returns
    -------
    Array
        Of float64 and shape ``(M,)``; none for ``M < 1``.

    Examples
    --------
    >>> hamming(3)
    Array([0.08, 1.  , 0.08])
    """
    return _known(np.hamming, M)


@implements(np.hanning)
def hanning(M: int) -> Any:
    """Return the Hann window of ``M`` points.

    Parameters
    ----------
    M : int
        Known while tracing.

    Returns
    -------
    Array
        Of float64 and shape ``(M,)``; none for ``M < 1``.

    Examples
    --------
    >>> hanning(3)
    Array([0., 1., 0.])
    """
    return _known(np.hanning, M)


@implements(np.kaiser)
def kaiser(M: int, beta: Any) -> Any:
    """Return the Kaiser window of ``M`` points; ``beta`` may be traced.

    Parameters
    ----------
    M : int
        Known while tracing.
    beta : scalar
        How narrow it is: 0 for a rectangle, 14 for side lobes of about -100 dB.

    Returns
    -------
    Array
        Of float64 and shape ``(M,)``.

    Examples
    --------
    >>> kaiser(3, 0.0)
    Array([1., 1., 1.])
    """
    if M == 1:
        return new_array(np.ones(1))
    half = (int(M) - 1) / 2.0
    line = np.sqrt(1 - ((np.arange(M) - half) / half) ** 2.0)
    shape = convert(asarray(beta), np.float64)
    return divide(i0(b.multiply(as_traced(line), broadcast_to_shape(shape, line.shape))), i0(shape))
