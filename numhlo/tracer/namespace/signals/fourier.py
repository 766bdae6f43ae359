"""NumPy's discrete Fourier transforms: fft, rfft, hfft, their inverses, in one, two or all dimensions.

Precision follows the operand: float16 and float32 give complex64, all else complex128. As in NumPy, inverses that give
real numbers give float16 for float16.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ops import layout
from numhlo.tracer.bind import bind1
from numhlo.tracer.namespace import building as b
from numhlo.tracer.namespace import elementwise
from numhlo.tracer.namespace.core import asarray, convert, implements, normalize_axis, shape_of
from numhlo.tracer.namespace.index_items import as_traced
from numhlo.tracer.namespace.linalg import matrices as m
from numhlo.tracer.namespace.shapes import axis_order

__all__ = [
    "fft", "fft2", "fftn", "hfft", "ifft", "ifft2", "ifftn", "ihfft", "irfft",
    "irfft2", "irfftn", "rfft", "rfft2", "rfftn",
]  # fmt: skip

SCALES: dict[tuple[str, bool], Callable[[int], float]] = {
    ("backward", False): lambda n: 1.0,
    ("backward", True): lambda n: 1.0,
    ("ortho", False): lambda n: 1 / math.sqrt(n),
    ("ortho", True): math.sqrt,
    ("forward", False): lambda n: 1 / n,
    ("forward", True): float,
}
"""What a transform of n points is multiplied by, for a norm, forward and inverse; the op itself is "backward"."""

OPPOSITE = {"backward": "forward", "ortho": "ortho", "forward": "backward"}
MOST_AXES = 3
"""How many last axes one op transforms."""


def _norm(norm: str | None) -> str:
    chosen = "backward" if norm is None else norm
    if chosen not in OPPOSITE:
        raise ValueError(f'Invalid norm value {norm}; should be "backward","ortho" or "forward".')
    return chosen


def _operand(a: Any, *, is_complex: bool) -> Any:
    """Return a traced array in the precision of the transform."""
    array = as_traced(asarray(a))
    narrow = (array.dtype.kind in "fV" and array.dtype.itemsize <= 4) or array.dtype == np.complex64
    wanted = ("c8" if narrow else "c16") if is_complex else ("f4" if narrow else "f8")
    if array.dtype.kind == "c" and not is_complex:
        raise TypeError("rfft of complex numbers: it transforms real ones; use fft, or the real part")
    return as_traced(convert(array, wanted))


def _length(n: Any) -> int:
    count = operator.index(n)
    if count < 1:
        raise ValueError(f"Invalid number of FFT data points ({count}) specified.")
    return count


def _resized(x: Any, axis: int, extent: int) -> Any:
    """Return an array cut, or filled up with zeros, along an axis."""
    shape = x.shape
    if extent == shape[axis]:
        return x
    if extent < shape[axis]:
        limits = tuple(extent if k == axis else n for k, n in enumerate(shape))
        attributes = {"start_indices": (0,) * x.ndim, "limit_indices": limits, "strides": (1,) * x.ndim}
        return as_traced(bind1(layout.SLICE, x, attributes=attributes))
    high = tuple(extent - shape[axis] if k == axis else 0 for k in range(x.ndim))
    attributes = {"edge_padding_low": (0,) * x.ndim, "edge_padding_high": high, "interior_padding": (0,) * x.ndim}
    return as_traced(bind1(layout.PAD, x, np.zeros((), x.dtype), attributes=attributes))


def _transformed(x: Any, kind: str, lengths: Sequence[int], axes: Sequence[int]) -> Any:
    """Return the transform along some axes: by one op where they are the last ones, else one after the other."""
    last = tuple(range(x.ndim - len(axes), x.ndim))
    if tuple(axes) == last and 1 <= len(axes) <= MOST_AXES:
        return as_traced(m.fourier_transform(x, kind, tuple(lengths)))
    if kind in ("RFFT", "IRFFT") and len(axes) > 1:
        whole = "FFT" if kind == "RFFT" else "IFFT"
        if kind == "IRFFT":
            x = _transformed(x, whole, lengths[:-1], axes[:-1])
        x = _transformed(x, kind, lengths[-1:], axes[-1:])
        return x if kind == "IRFFT" else _transformed(x, whole, lengths[:-1], axes[:-1])
    for length, axis in zip(reversed(lengths), reversed(axes), strict=True):
        moved = as_traced(axis_order.moveaxis(x, axis, -1))
        x = as_traced(axis_order.moveaxis(m.fourier_transform(moved, kind, (length,)), -1, axis))
    return x


def _scaled(x: Any, norm: str, inverse: bool, lengths: Sequence[int]) -> Any:
    scale = SCALES[norm, inverse](math.prod(lengths))
    return x if scale == 1.0 else as_traced(b.multiply(x, b.constant(scale, x)))


def _run(a: Any, kind: str, s: Sequence[Any] | None, axes: Sequence[int] | None, norm: str | None) -> Any:
    """Return a transform of any kind along any axes."""
    chosen = _norm(norm)
    x = _operand(a, is_complex=kind != "RFFT")
    if axes is None:
        axes = range(x.ndim) if s is None else range(-len(s), 0)
    places = [normalize_axis(axis, x.ndim) for axis in axes]
    if s is not None and len(s) != len(places):
        raise ValueError("Shape and axes have different lengths.")
    given = [-1 if s is None else operator.index(n) for n in (places if s is None else s)]
    extents = [x.shape[axis] if n == -1 else n for n, axis in zip(given, places, strict=True)]
    if kind in ("RFFT", "IRFFT") and not places:
        raise IndexError("at least one axis is needed")
    if not places:
        return asarray(a)
    taken = list(extents)
    if kind == "IRFFT":
        extents[-1] = 2 * (x.shape[places[-1]] - 1) if given[-1] == -1 else given[-1]
        taken[-1] = extents[-1] // 2 + 1
    extents = [_length(n) for n in extents]
    for axis, extent in zip(places, taken, strict=True):
        x = _resized(x, axis, extent)
    result = _scaled(_transformed(x, kind, extents, places), chosen, kind in ("IFFT", "IRFFT"), extents)
    return convert(result, np.float16) if kind == "IRFFT" and asarray(a).dtype == np.float16 else result


def _one(a: Any, kind: str, n: Any, axis: int, norm: str | None) -> Any:
    if not shape_of(asarray(a)):
        normalize_axis(axis, 0)
    return _run(a, kind, None if n is None else (_length(n),), (axis,), norm)


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
    return elementwise.store("fft", _one(a, "FFT", n, axis, norm), out, exact=True)


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
    return elementwise.store("ifft", _one(a, "IFFT", n, axis, norm), out, exact=True)


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
    return elementwise.store("rfft", _one(a, "RFFT", n, axis, norm), out, exact=True)


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
    return elementwise.store("irfft", _one(a, "IRFFT", n, axis, norm), out, exact=True)


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
    result = _one(m.conjugate(as_traced(asarray(a))), "IRFFT", n, axis, OPPOSITE[_norm(norm)])
    return elementwise.store("hfft", result, out, exact=True)


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
    result = m.conjugate(_one(a, "RFFT", n, axis, OPPOSITE[_norm(norm)]))
    return elementwise.store("ihfft", result, out, exact=True)


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
    return elementwise.store("fftn", _run(a, "FFT", s, axes, norm), out, exact=True)


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
    return elementwise.store("ifftn", _run(a, "IFFT", s, axes, norm), out, exact=True)


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
    return elementwise.store("rfftn", _run(a, "RFFT", s, axes, norm), out, exact=True)


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
    return elementwise.store("irfftn", _run(a, "IRFFT", s, axes, norm), out, exact=True)


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
    return elementwise.store("fft2", _run(a, "FFT", s, axes, norm), out, exact=True)


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
    return elementwise.store("ifft2", _run(a, "IFFT", s, axes, norm), out, exact=True)


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
    return elementwise.store("rfft2", _run(a, "RFFT", s, axes, norm), out, exact=True)


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
    return elementwise.store("irfft2", _run(a, "IRFFT", s, axes, norm), out, exact=True)
