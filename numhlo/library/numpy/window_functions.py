"""Window functions, and the modified Bessel function i0 that one of them needs."""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.library.numpy.elementwise import divide
from numhlo.tracer.building import as_traced, asarray, broadcast_to_shape, composite, convert, implements, new_array
from numhlo.tracer.building import operations as b

__all__ = ["bartlett", "blackman", "hamming", "hanning", "i0", "kaiser"]


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
    NIST DLMF section 10.25; computed in float64.

    Examples
    --------
    >>> i0([0.0, 1.0])
    Array([1.        , 1.26606588])
    """
    array = as_traced(asarray(x))
    if array.dtype.kind == "c":
        raise TypeError("i0 not supported for complex values")
    wanted = np.dtype(np.float64) if array.dtype.kind in "biu" else array.dtype
    x = convert(array, np.dtype(np.float64))
    half = b.exp(b.multiply(b.absolute(x), 0.5))  # twice, since exp overflows before the product
    return convert(b.multiply(b.multiply(composite("bessel_i0e", x), half), half), wanted)


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
