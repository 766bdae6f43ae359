"""NumPy's discrete Fourier transforms: fft, rfft, hfft, their inverses, in one, two or all dimensions.

Precision follows the operand: float16 and float32 give complex64, all else complex128. As in NumPy, inverses that give
real numbers give float16 for float16. How they are run is in `transforms`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.library.numpy.fft.transforms import opposite_norm, transform, transform_along
from numhlo.library.numpy.out_arrays import store
from numhlo.tracer.building import as_traced, asarray, implements
from numhlo.tracer.building import matrices as m

__all__ = [
    "fft", "fft2", "fftn", "hfft", "ifft", "ifft2", "ifftn", "ihfft", "irfft",
    "irfft2", "irfftn", "rfft", "rfft2", "rfftn",
]  # fmt: skip


@implements(np.fft.fft)
def fft(a: Any, n: Any = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
    """Return the discrete Fourier transform along an axis.

    Parameters
    ----------
    a : array_like
    n : int, optional
        Number of points: the operand is cut or filled up with zeros.
    axis : int, optional
    norm : {"backward", "ortho", "forward"}, optional
        Where to divide by the number of points: in the inverse (the default), by its root in both, or here.
    out : array, optional

    Returns
    -------
    Array
        Complex, with extent ``n`` along the axis.

    Raises
    ------
    ValueError
        If ``n`` is not positive, or ``norm`` another.

    Notes
    -----
    ``sum(a[k] exp(-2j pi k m / n) for k in range(n))``; StableHLO specification, section ``fft``.

    Examples
    --------
    >>> fft([1.0, 0.0, 0.0, 0.0])
    Array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])
    """
    return store("fft", transform_along(a, "FFT", n, axis, norm), out, exact=True)


@implements(np.fft.ifft)
def ifft(a: Any, n: Any = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
    """Return the inverse of `fft`.

    Parameters
    ----------
    a, n, axis, norm, out : optional
        As those of `fft`.

    Returns
    -------
    Array
        Complex.

    Examples
    --------
    >>> ifft([4.0, 0.0])
    Array([2.+0.j, 2.+0.j])
    """
    return store("ifft", transform_along(a, "IFFT", n, axis, norm), out, exact=True)


@implements(np.fft.rfft)
def rfft(a: Any, n: Any = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
    """Return the first half of the transform of real numbers, which determines the rest.

    Parameters
    ----------
    a : array_like
        Real.
    n, axis, norm, out : optional
        As those of `fft`.

    Returns
    -------
    Array
        Complex, with extent ``n // 2 + 1`` along the axis.

    Raises
    ------
    TypeError
        If ``a`` is complex.

    Examples
    --------
    >>> rfft([1.0, 2.0, 3.0, 4.0])
    Array([10.+0.j, -2.+2.j, -2.+0.j])
    """
    return store("rfft", transform_along(a, "RFFT", n, axis, norm), out, exact=True)


@implements(np.fft.irfft)
def irfft(a: Any, n: Any = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
    """Return the inverse of `rfft`; ``n`` is the number of results, even unless it is given.

    Parameters
    ----------
    a : array_like
    n : int, optional
        ``2 (extent - 1)`` by default: give it where the signal was odd.
    axis, norm, out : optional
        As those of `fft`.

    Returns
    -------
    Array
        Real, with extent ``n`` along the axis; imaginary parts that symmetry forbids are ignored.

    Examples
    --------
    >>> irfft([4.0, 0.0])
    Array([2., 2.])
    """
    return store("irfft", transform_along(a, "IRFFT", n, axis, norm), out, exact=True)


@implements(np.fft.hfft)
def hfft(a: Any, n: Any = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
    """Return the real transform of a signal that is Hermitian-symmetric, given by its first half.

    Parameters
    ----------
    a : array_like
    n : int, optional
        ``2 (extent - 1)`` by default: give it where the signal was odd.
    axis, norm, out : optional
        As those of `fft`.

    Returns
    -------
    Array
        Real, with extent ``n`` along the axis; imaginary parts that symmetry forbids are ignored.

    Examples
    --------
    >>> hfft([1.0, 2.0, 3.0])
    Array([ 8., -2.,  0., -2.])
    """
    result = transform_along(m.conjugate(as_traced(asarray(a))), "IRFFT", n, axis, opposite_norm(norm))
    return store("hfft", result, out, exact=True)


@implements(np.fft.ihfft)
def ihfft(a: Any, n: Any = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
    """Return the inverse of `hfft`.

    Parameters
    ----------
    a, n, axis, norm, out : optional
        As those of `fft`.

    Returns
    -------
    Array
        Complex.

    Examples
    --------
    >>> ihfft([4.0, 0.0])
    Array([2.-0.j, 2.-0.j])
    """
    result = m.conjugate(transform_along(a, "RFFT", n, axis, opposite_norm(norm)))
    return store("ihfft", result, out, exact=True)


@implements(np.fft.fftn)
def fftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: Any = None) -> Any:
    """Return the transform along several axes, all by default; ``s`` are the numbers of points.

    Parameters
    ----------
    a : array_like
    s : sequence of int, optional
        Numbers of points: axes are cut or filled up with zeros; -1 for the extent as it is.
    axes : sequence of int, optional
        The last ``len(s)`` where ``s`` is given.
    norm, out : optional
        As those of `fft`.

    Returns
    -------
    Array
        Complex.

    Raises
    ------
    ValueError
        If ``s`` and ``axes`` differ in length.

    Examples
    --------
    >>> fftn([[1.0, 0.0], [0.0, 0.0]])
    Array([[1.+0.j, 1.+0.j],
           [1.+0.j, 1.+0.j]])
    """
    return store("fftn", transform(a, "FFT", s, axes, norm), out, exact=True)


@implements(np.fft.ifftn)
def ifftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: Any = None) -> Any:
    """Return the inverse of `fftn`.

    Parameters
    ----------
    a, s, axes, norm, out : optional
        As those of `fftn`.

    Returns
    -------
    Array
        Complex.

    Examples
    --------
    >>> ifftn(np.full((2, 2), 4.0)).tolist()
    [[(4+0j), 0j], [0j, 0j]]
    """
    return store("ifftn", transform(a, "IFFT", s, axes, norm), out, exact=True)


@implements(np.fft.rfftn)
def rfftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: Any = None) -> Any:
    """Return the transform of real numbers along several axes; the last one keeps its first half.

    Parameters
    ----------
    a : array_like
        Real.
    s, axes, norm, out : optional
        As those of `fftn`.

    Returns
    -------
    Array
        Complex, with half the last axis: ``n // 2 + 1``.

    Raises
    ------
    TypeError
        If ``a`` is complex.

    Examples
    --------
    >>> rfftn(np.ones((2, 2))).tolist()
    [[(4+0j), 0j], [0j, 0j]]
    """
    return store("rfftn", transform(a, "RFFT", s, axes, norm), out, exact=True)


@implements(np.fft.irfftn)
def irfftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: Any = None) -> Any:
    """Return the inverse of `rfftn`.

    Parameters
    ----------
    a, axes, norm, out : optional
        As those of `fftn`.
    s : sequence of int, optional
        Of the result; the last one is ``2 (extent - 1)`` by default.

    Returns
    -------
    Array
        Real.

    Examples
    --------
    >>> irfftn(np.full((2, 2), 4.0)).tolist()
    [[4.0, 0.0], [0.0, 0.0]]
    """
    return store("irfftn", transform(a, "IRFFT", s, axes, norm), out, exact=True)


@implements(np.fft.fft2)
def fft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: Any = None) -> Any:
    """Return the transform along two axes.

    Parameters
    ----------
    a, s, axes, norm, out : optional
        As those of `fftn`.

    Returns
    -------
    Array
        Complex.

    Examples
    --------
    >>> fft2(np.ones((2, 2))).tolist()
    [[(4+0j), 0j], [0j, 0j]]
    """
    return store("fft2", transform(a, "FFT", s, axes, norm), out, exact=True)


@implements(np.fft.ifft2)
def ifft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: Any = None) -> Any:
    """Return the inverse of `fft2`.

    Parameters
    ----------
    a, s, axes, norm, out : optional
        As those of `fftn`.

    Returns
    -------
    Array
        Complex.

    Examples
    --------
    >>> ifft2(np.full((2, 2), 4.0)).tolist()
    [[(4+0j), 0j], [0j, 0j]]
    """
    return store("ifft2", transform(a, "IFFT", s, axes, norm), out, exact=True)


@implements(np.fft.rfft2)
def rfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: Any = None) -> Any:
    """Return the transform of real numbers along two axes.

    Parameters
    ----------
    a : array_like
        Real.
    s, axes, norm, out : optional
        As those of `fftn`.

    Returns
    -------
    Array
        Complex, with half the last axis: ``n // 2 + 1``.

    Raises
    ------
    TypeError
        If ``a`` is complex.

    Examples
    --------
    >>> rfft2(np.ones((2, 2))).tolist()
    [[(4+0j), 0j], [0j, 0j]]
    """
    return store("rfft2", transform(a, "RFFT", s, axes, norm), out, exact=True)


@implements(np.fft.irfft2)
def irfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: Any = None) -> Any:
    """Return the inverse of `rfft2`.

    Parameters
    ----------
    a, axes, norm, out : optional
        As those of `fftn`.
    s : sequence of int, optional
        Of the result; the last one is ``2 (extent - 1)`` by default.

    Returns
    -------
    Array
        Real.

    Examples
    --------
    >>> irfft2(np.full((2, 2), 4.0)).tolist()
    [[4.0, 0.0], [0.0, 0.0]]
    """
    return store("irfft2", transform(a, "IRFFT", s, axes, norm), out, exact=True)
