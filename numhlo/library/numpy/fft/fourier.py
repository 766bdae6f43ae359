"""NumPy's discrete Fourier transforms: fft, rfft, hfft, their inverses, in one, two or all dimensions.

Precision follows the operand: float16 and float32 give complex64, all else complex128. As in NumPy, inverses that give
real numbers give float16 for float16. How they are run is in `transforms`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo.library.documentation import described, named
from numhlo.library.numpy.fft.transforms import opposite_norm, transform, transform_along
from numhlo.library.numpy.out_arrays import store
from numhlo.tracer.building import as_traced, asarray, implements
from numhlo.tracer.building import matrices as m

__all__ = [
    "fft", "fft2", "fftn", "hfft", "ifft", "ifft2", "ifftn", "ihfft", "irfft",
    "irfft2", "irfftn", "rfft", "rfft2", "rfftn",
]  # fmt: skip

_ALONG_AXIS = """
Parameters
----------
a, n, axis, norm, out : optional
    As those of `fft`.

Returns
-------
Array
    Complex.
"""

_OF_REAL = """
Parameters
----------
a : array_like
    Real.
n, axis, norm, out : optional
    As those of `fft`.
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
"""

_TO_REAL = """
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
"""

_ALONG_AXES = """
Parameters
----------
a, s, axes, norm, out : optional
    As those of `fftn`.

Returns
-------
Array
    Complex.
"""

_TO_REAL_AXES = """
Parameters
----------
s : sequence of int, optional
    Of the result; the last one is ``2 (extent - 1)`` by default.

Returns
-------
Array
    Real.
"""


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
@described(_ALONG_AXIS)
def ifft(a: Any, n: Any = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
    """Return the inverse of `fft`.

    Examples
    --------
    >>> ifft([4.0, 0.0])
    Array([2.+0.j, 2.+0.j])
    """
    return store("ifft", transform_along(a, "IFFT", n, axis, norm), out, exact=True)


@implements(np.fft.rfft)
@described(_OF_REAL)
def rfft(a: Any, n: Any = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
    """Return the first half of the transform of real numbers, which determines the rest.

    Returns
    -------
    Array
        Complex, with extent ``n // 2 + 1`` along the axis.

    Examples
    --------
    >>> rfft([1.0, 2.0, 3.0, 4.0])
    Array([10.+0.j, -2.+2.j, -2.+0.j])
    """
    return store("rfft", transform_along(a, "RFFT", n, axis, norm), out, exact=True)


@implements(np.fft.irfft)
@described(_TO_REAL)
def irfft(a: Any, n: Any = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
    """Return the inverse of `rfft`; ``n`` is the number of results, even unless it is given.

    Examples
    --------
    >>> irfft([4.0, 0.0])
    Array([2., 2.])
    """
    return store("irfft", transform_along(a, "IRFFT", n, axis, norm), out, exact=True)


@implements(np.fft.hfft)
@described(_TO_REAL)
def hfft(a: Any, n: Any = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
    """Return the real transform of a signal that is Hermitian-symmetric, given by its first half.

    Examples
    --------
    >>> hfft([1.0, 2.0, 3.0])
    Array([ 8., -2.,  0., -2.])
    """
    result = transform_along(m.conjugate(as_traced(asarray(a))), "IRFFT", n, axis, opposite_norm(norm))
    return store("hfft", result, out, exact=True)


@implements(np.fft.ihfft)
@described(_ALONG_AXIS)
def ihfft(a: Any, n: Any = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
    """Return the inverse of `hfft`.

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


def _several(name: str, kind: str, summary: str, example: str, *families: str) -> Callable[..., Any]:
    default = (-2, -1) if name.endswith("2") else None

    def transformed(a: Any, s: Any = None, axes: Any = default, norm: str | None = None, out: Any = None) -> Any:
        return store(name, transform(a, kind, s, axes, norm), out, exact=True)

    return implements(getattr(np.fft, name))(named(transformed, name, summary, example, *families, _ALONG_AXES))


ifftn = _several(
    "ifftn",
    "IFFT",
    "Return the inverse of `fftn`.",
    ">>> ifftn(np.full((2, 2), 4.0)).tolist()\n[[(4+0j), 0j], [0j, 0j]]",
)
rfftn = _several(
    "rfftn",
    "RFFT",
    "Return the transform of real numbers along several axes; the last one keeps its first half.",
    ">>> rfftn(np.ones((2, 2))).tolist()\n[[(4+0j), 0j], [0j, 0j]]",
    _OF_REAL,
)
irfftn = _several(
    "irfftn",
    "IRFFT",
    "Return the inverse of `rfftn`.",
    ">>> irfftn(np.full((2, 2), 4.0)).tolist()\n[[4.0, 0.0], [0.0, 0.0]]",
    _TO_REAL_AXES,
)
fft2 = _several(
    "fft2",
    "FFT",
    "Return the transform along two axes.",
    ">>> fft2(np.ones((2, 2))).tolist()\n[[(4+0j), 0j], [0j, 0j]]",
)
ifft2 = _several(
    "ifft2",
    "IFFT",
    "Return the inverse of `fft2`.",
    ">>> ifft2(np.full((2, 2), 4.0)).tolist()\n[[(4+0j), 0j], [0j, 0j]]",
)
rfft2 = _several(
    "rfft2",
    "RFFT",
    "Return the transform of real numbers along two axes.",
    ">>> rfft2(np.ones((2, 2))).tolist()\n[[(4+0j), 0j], [0j, 0j]]",
    _OF_REAL,
)
irfft2 = _several(
    "irfft2",
    "IRFFT",
    "Return the inverse of `rfft2`.",
    ">>> irfft2(np.full((2, 2), 4.0)).tolist()\n[[4.0, 0.0], [0.0, 0.0]]",
    _TO_REAL_AXES,
)
