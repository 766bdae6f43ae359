"""Discrete cosine and sine transforms of the four types, in one or several dimensions, by Fourier transforms.

Sources: Makhoul, "A fast cosine transform in one and two dimensions", IEEE Transactions on Acoustics, Speech, and
Signal Processing 28 (1980); SciPy's documentation for norms, and for which elements are weighed.
Sines are cosines of reversed or alternating operands.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numhlo.library.scipy.operands import choice, floating
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.tracer.building import as_traced, convert, normalize_axes, normalize_axis, runs_anywhere

__all__ = ["dct", "dctn", "dst", "dstn", "idct", "idctn", "idst", "idstn"]

TYPES = (1, 2, 3, 4)
INVERSES = {1: 1, 2: 3, 3: 2, 4: 4}
"""The type that undoes another, up to a factor."""

NORMS = (None, "backward", "ortho", "forward")
FIRST, LAST = slice(0, 1), slice(-1, None)


def _turns(count: int, step: float, like: np.dtype) -> np.ndarray:
    """Return ``exp(-i pi step k)`` for k below a number, in the precision of a transform."""
    angles = -np.pi * step * np.arange(count)
    turns: np.ndarray = np.cos(angles) + 1j * np.sin(angles)
    return turns.astype(np.complex64 if like.itemsize <= 4 else np.complex128)


def _cosines_2(x: Any) -> Any:
    n = x.shape[-1]
    folded = np.concatenate([x[..., ::2], x[..., 1::2][..., ::-1]], -1)
    turned = 2 * (np.fft.rfft(folded) * _turns(n // 2 + 1, 0.5 / n, x.dtype))
    # the turn of n - k is -i times the conjugate of that of k, so element n - k is -imag of product k
    return np.concatenate([turned.real, -turned.imag[..., 1 : (n + 1) // 2][..., ::-1]], -1)


def _cosines_3(x: Any) -> Any:
    n = x.shape[-1]
    half = n // 2 + 1
    mirrored = np.concatenate([np.zeros_like(x[..., :1]), x[..., n - half + 1 :][..., ::-1]], -1)
    turned = (x[..., :half] - 1j * mirrored) * _turns(half, 0.5 / n, x.dtype).conj()
    folded = np.fft.irfft(turned, n, norm="forward")
    if n % 2 == 0:
        return np.stack([folded[..., : n // 2], folded[..., n // 2 :][..., ::-1]], -1).reshape(x.shape)
    places = np.empty(n, np.int64)
    places[::2], places[1::2] = np.arange((n + 1) // 2), n - 1 - np.arange(n // 2)
    return folded[..., places]


def _cosines_1(x: Any) -> Any:
    return np.fft.rfft(np.concatenate([x, x[..., 1:-1][..., ::-1]], -1)).real


def _cosines_4(x: Any) -> Any:
    n = x.shape[-1]
    turned = np.fft.fft(x * _turns(n, 0.5 / n, x.dtype), 2 * n)[..., :n]
    return 2 * (turned * (_turns(n, 0.5 / n, x.dtype) * np.exp(-0.25j * np.pi / n).astype(turned.dtype))).real


def _signs(n: int, dtype: np.dtype) -> np.ndarray:
    return np.where(np.arange(n) % 2, -1, 1).astype(dtype)


def _sines_1(x: Any) -> Any:
    zero = np.zeros_like(x[..., :1])
    odd = np.concatenate([zero, x, zero, -x[..., ::-1]], -1)
    return -np.fft.rfft(odd).imag[..., 1:-1]


COSINES: dict[int, Callable[[Any], Any]] = {1: _cosines_1, 2: _cosines_2, 3: _cosines_3, 4: _cosines_4}
SINES: dict[int, Callable[[Any], Any]] = {
    1: _sines_1,
    2: lambda x: _cosines_2(x * _signs(x.shape[-1], x.dtype))[..., ::-1],
    3: lambda x: _cosines_3(x[..., ::-1]) * _signs(x.shape[-1], x.dtype),
    4: lambda x: _cosines_4(x[..., ::-1]) * _signs(x.shape[-1], x.dtype),
}
WEIGHED: dict[tuple[bool, int], tuple[tuple[slice, ...], tuple[slice, ...]]] = {
    (False, 1): ((FIRST, LAST), (FIRST, LAST)),
    (False, 2): ((), (FIRST,)),
    (False, 3): ((FIRST,), ()),
    (True, 2): ((), (LAST,)),
    (True, 3): ((LAST,), ()),
}
"""Elements of operands that are multiplied by the root of 2, and those of results divided by it, by sine and type."""


def _weighted(x: Any, places: Sequence[slice], factor: float) -> Any:
    if not places:
        return x
    weights = np.ones(x.shape[-1])
    for place in places:
        weights[place] *= factor
    return x * weights.astype(x.dtype)


def _line(x: Any, is_sine: bool, type: int, norm: str | None, weigh: bool, inverse: bool) -> Any:
    """Return the transform of real numbers along the last axis."""
    n = x.shape[-1]
    if type == 1 and not is_sine and n < 2:
        raise ArgumentError("dct of type 1 of one element", where=capture_location(), fix="give two, or use type 2")
    before, after = WEIGHED.get((is_sine, type), ((), ())) if weigh else ((), ())
    found = (SINES if is_sine else COSINES)[type](_weighted(x, before, math.sqrt(2)))
    found = _weighted(found, after, 1 / math.sqrt(2))
    points = 2 * (n + (0 if type != 1 else 1 if is_sine else -1))
    is_scaled = norm == "ortho" or (norm == "forward") != inverse
    return found * found.dtype.type(1 / math.sqrt(points) if norm == "ortho" else 1 / points) if is_scaled else found


def _resized(x: Any, n: Any) -> Any:
    """Return an array cut or filled up with zeros along the last axis."""
    count = x.shape[-1] if n is None else operator.index(n)
    if count < 1:
        raise ValueError(f"invalid number of data points ({count}) specified")
    missing = count - x.shape[-1]
    return x[..., :count] if missing <= 0 else np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, missing)])


def _transform(
    x: Any, is_sine: bool, type: int, lengths: Sequence[Any], axes: Sequence[int], options: tuple[Any, Any, bool]
) -> Any:
    norm, orthogonalize, inverse = options
    name = ("inverse " if inverse else "") + ("sine" if is_sine else "cosine") + " transform"
    choice(name, "type", type, TYPES)
    choice(name, "norm", norm, NORMS)
    array = floating(x)
    if array.dtype.kind == "V" or array.dtype.itemsize < 4:
        array = as_traced(convert(array, np.dtype(np.float32)))
    weigh = norm == "ortho" if orthogonalize is None else bool(orthogonalize)
    kind = INVERSES[type] if inverse else type
    for axis, n in zip(axes, lengths, strict=True):
        line = _resized(np.moveaxis(array, axis, -1), n)
        parts = (line.real, line.imag) if line.dtype.kind == "c" else (line,)
        found = [_line(part, is_sine, kind, norm, weigh, inverse) for part in parts]
        array = np.moveaxis(found[0] if len(found) == 1 else found[0] + 1j * found[1], -1, axis)
    return array


def _along(x: Any, axis: int) -> tuple[int, ...]:
    return (normalize_axis(axis, np.ndim(x)),)


def _lengths(x: Any, s: Any, axes: Any) -> tuple[list[Any], list[int]]:
    """Return how many points along which axes."""
    ndim = np.ndim(x)
    counts = None if s is None else [s] if np.ndim(s) == 0 else list(s)
    if axes is None and counts is not None:
        axes = range(ndim - len(counts), ndim)
    places = list(normalize_axes(None if axes is None else tuple(np.atleast_1d(axes).tolist()), ndim))
    if counts is not None and len(counts) != len(places):
        raise ValueError("when given, axes and shape arguments have to be of the same length")
    return ([None] * len(places) if counts is None else counts), places


_DOCUMENTATION = """Return the {what} transform of one of four types {along}.

    Parameters
    ----------
    x : array_like
        Of real numbers, or of complex ones, whose parts are transformed each for itself.
    type : {{1, 2, 3, 4}}, optional
    {sizes}
    norm : {{"backward", "ortho", "forward"}}, optional
        Where to divide by the number of points: in the inverse (the default), by its root in both, or forward.
    overwrite_x, workers : optional
        Accepted, and mean nothing here.
    orthogonalize : bool, optional
        Whether the first or last elements are weighed so that the matrix is orthogonal; by default for "ortho".

    Returns
    -------
    Array
        Of the precision of ``x``; integers give float64.

    Raises
    ------
    ArgumentError
        If there is no such type or norm.
    ValueError
        If a number of points is not positive.

    Examples
    --------
    >>> {example}
    """
_LINE = """n : int, optional
        Number of points: the operand is cut or filled up with zeros.
    axis : int, optional"""
_BOX = """s : int or sequence of int, optional
        Numbers of points.
    axes : int or sequence of int, optional
        All, by default."""


def _one(name: str, is_sine: bool, inverse: bool, example: str) -> Callable[..., Any]:
    def transform(
        x: Any,
        type: int = 2,
        n: int | None = None,
        axis: int = -1,
        norm: str | None = None,
        overwrite_x: bool = False,
        workers: int | None = None,
        orthogonalize: bool | None = None,
    ) -> Any:
        del overwrite_x, workers
        return _transform(x, is_sine, type, [n], _along(x, axis), (norm, orthogonalize, inverse))

    return _named(transform, name, is_sine, inverse, _LINE, example)


def _several(name: str, is_sine: bool, inverse: bool, example: str) -> Callable[..., Any]:
    def transform(
        x: Any,
        type: int = 2,
        s: Any = None,
        axes: Any = None,
        norm: str | None = None,
        overwrite_x: bool = False,
        workers: int | None = None,
        orthogonalize: bool | None = None,
    ) -> Any:
        del overwrite_x, workers
        lengths, places = _lengths(x, s, axes)
        return _transform(x, is_sine, type, lengths, places, (norm, orthogonalize, inverse))

    return _named(transform, name, is_sine, inverse, _BOX, example)


def _named(
    function: Callable[..., Any], name: str, is_sine: bool, inverse: bool, sizes: str, example: str
) -> Callable[..., Any]:
    what = ("inverse " if inverse else "") + "discrete " + ("sine" if is_sine else "cosine")
    along = "along axes" if name.endswith("n") else "along an axis"
    function.__name__ = function.__qualname__ = name
    function.__doc__ = _DOCUMENTATION.format(what=what, along=along, sizes=sizes, example=example)
    return runs_anywhere(function)


_SQUARE = "[[1.0, 2.0], [3.0, 4.0]]"
_BACK = "Array([[1., 2.],\n           [3., 4.]])"
_ORTHO = "Array([[ 5., -1.],\n           [-2.,  0.]])"
dct = _one("dct", False, False, "dct([1.0, 2.0, 4.0]).round(4)\n    Array([14.    , -5.1962,  1.    ])")
idct = _one("idct", False, True, "idct(dct([1.0, 2.0, 4.0])).round(4)\n    Array([1., 2., 4.])")
dst = _one("dst", True, False, "dst([1.0, 2.0, 4.0]).round(4)\n    Array([ 9.    , -5.1962,  6.    ])")
idst = _one("idst", True, True, "idst(dst([1.0, 2.0, 4.0])).round(4)\n    Array([1., 2., 4.])")
dctn = _several("dctn", False, False, f'dctn({_SQUARE}, norm="ortho").round(4)\n    {_ORTHO}')
idctn = _several("idctn", False, True, f"idctn(dctn({_SQUARE})).round(4)\n    {_BACK}")
dstn = _several("dstn", True, False, f'dstn({_SQUARE}, norm="ortho").round(4)\n    {_ORTHO}')
idstn = _several("idstn", True, True, f"idstn(dstn({_SQUARE})).round(4)\n    {_BACK}")
