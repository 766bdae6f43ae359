"""SciPy's convolutions and correlations of arrays of any rank, with SciPy's signatures.

They run outside tracing too, on the same definitions. Direct sums are windows of StableHLO's convolution; by Fourier
transforms, products of spectra.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.library.lax.joining import slice_in_dim
from numhlo.library.lax.windows import conv_general_dilated
from numhlo.library.numpy import elementwise as ufuncs
from numhlo.library.numpy import padding
from numhlo.library.numpy.fft import fourier
from numhlo.library.numpy.rearranging import flip
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, ShapeError
from numhlo.tracer.building import as_traced, asarray, convert, normalize_axes, reshape_to, result_dtype, runs_anywhere

__all__ = ["convolve", "convolve2d", "correlate", "correlate2d", "fftconvolve"]

BOUNDARIES = {"fill": "constant", "wrap": "wrap", "symm": "symmetric"}


def _choice(name: str, option: str, value: Any, choices: Sequence[str]) -> Any:
    if value not in choices:
        known = ", ".join(choices)
        raise ArgumentError(f"{name}({option}={value!r})", where=capture_location(), fix=f"use one of {known}")
    return value


def _operands(name: str, first: Any, second: Any, ndim: int | None = None) -> tuple[Any, Any]:
    arrays = [as_traced(asarray(x)) for x in (first, second)]
    if arrays[0].ndim != arrays[1].ndim or arrays[0].ndim != (arrays[0].ndim if ndim is None else ndim):
        ranks = " and ".join(str(x.ndim) for x in arrays)
        raise ShapeError(
            f"{name} of arrays of {ranks} dimensions",
            where=capture_location(),
            why=f"both must have {ndim} dimensions" if ndim else "they must have the same number of dimensions",
            fix="reshape one of them, x[None], or use vmap for stacks",
        )
    return arrays[0], arrays[1]


def _is_swapped(name: str, mode: str, first: Sequence[int], second: Sequence[int]) -> bool:
    """Return whether the second array is the larger one, which only matters for what overlaps in full."""
    if mode != "valid" or all(n >= k for n, k in zip(first, second, strict=True)):
        return False
    if all(n <= k for n, k in zip(first, second, strict=True)):
        return True
    raise ShapeError(
        f'{name}(mode="valid") of shapes {tuple(first)} and {tuple(second)}',
        where=capture_location(),
        why="neither is at least as large as the other in every dimension",
        fix='use mode="full" or "same"',
    )


def _windows(first: Any, kernel: Any, pads: Sequence[tuple[int, int]]) -> Any:
    """Return the sums of products of a kernel with all windows of a padded array."""
    wanted = result_dtype(first, kernel)
    summed = np.dtype(np.int64) if wanted.kind == "b" else wanted
    lhs, rhs = (reshape_to(convert(x, summed), (1, 1, *x.shape)) for x in (first, kernel))
    found = conv_general_dilated(lhs, rhs, (1,) * first.ndim, tuple(pads))
    return convert(reshape_to(found, found.shape[2:]), wanted)


def _pads(mode: str, extents: Sequence[int]) -> list[tuple[int, int]]:
    """Return how far windows reach beyond the array: all sums, those in the middle, or those of full overlap."""
    if mode == "same":
        return [(n // 2, n - 1 - n // 2) for n in extents]
    return [(n - 1, n - 1) if mode == "full" else (0, 0) for n in extents]


def _direct(name: str, first: Any, second: Any, mode: str) -> Any:
    if _is_swapped(name, mode, first.shape, second.shape):
        first, second = second, first
    if 0 in (first.size, second.size):
        raise ShapeError(f"{name} of an empty array", where=capture_location(), fix="give both arrays elements")
    if first.ndim == 0:
        return ufuncs.multiply(first, second)
    return _windows(first, flip(second), _pads(mode, second.shape))


def _reversed(x: Any) -> Any:
    turned = flip(x) if x.ndim else x
    return ufuncs.conjugate(turned) if x.dtype.kind == "c" else turned


@runs_anywhere
def convolve(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Any:
    """Return the convolution of two arrays of the same rank.

    Parameters
    ----------
    in1, in2 : array_like
    mode : "full", "same" or "valid", optional
        All sums, as many as ``in1`` has elements, or those of full overlap only.
    method : "auto", "direct" or "fft", optional
        Sums, which "auto" takes too, or products of Fourier transforms, faster for large kernels.

    Returns
    -------
    Array
        Of the common dtype; of floats by Fourier transforms.

    Raises
    ------
    ShapeError
        If the ranks differ, or with "valid" neither array contains the other.
    ArgumentError
        If ``mode`` or ``method`` is another.

    Examples
    --------
    >>> convolve([[1, 2], [3, 4]], [[1, 1]])
    Array([[1, 3, 2],
           [3, 7, 4]])
    """
    first, second = _operands("convolve", in1, in2)
    _choice("convolve", "mode", mode, ("full", "same", "valid"))
    if _choice("convolve", "method", method, ("auto", "direct", "fft")) == "fft":
        return fftconvolve(first, second, mode)
    return _direct("convolve", first, second, mode)


@runs_anywhere
def correlate(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Any:
    """Return the cross-correlation of two arrays of the same rank, the second one conjugated.

    Parameters
    ----------
    in1, in2 : array_like
    mode, method : optional
        As those of `convolve`.

    Returns
    -------
    Array
        Of the common dtype; of floats by Fourier transforms.

    Examples
    --------
    >>> correlate([1, 2, 3], [0, 1, 0.5])
    Array([0.5, 2. , 3.5, 3. , 0. ])
    """
    first, second = _operands("correlate", in1, in2)
    return convolve(first, _reversed(second), mode, method)


@runs_anywhere
def fftconvolve(in1: Any, in2: Any, mode: str = "full", axes: Any = None) -> Any:
    """Return the convolution of two arrays by products of their Fourier transforms.

    Parameters
    ----------
    in1, in2 : array_like
        Of the same rank; along other axes than ``axes`` they broadcast.
    mode : "full", "same" or "valid", optional
        As that of `convolve`.
    axes : int or sequence of int, optional
        By default all.

    Returns
    -------
    Array
        Of floats, or complex numbers.

    Notes
    -----
    The error is that of the transforms: some units in the last place of the greatest sum.

    Examples
    --------
    >>> fftconvolve([1.0, 2.0], [1.0, 1.0]).round(12)
    Array([1., 3., 2.])
    """
    first, second = _operands("fftconvolve", in1, in2)
    _choice("fftconvolve", "mode", mode, ("full", "same", "valid"))
    along = normalize_axes(axes, first.ndim)
    sizes = [[x.shape[k] for k in along] for x in (first, second)]
    if _is_swapped("fftconvolve", mode, *sizes):
        first, second, sizes = second, first, sizes[::-1]
    if 0 in (first.size, second.size):
        raise ShapeError("fftconvolve of an empty array", where=capture_location(), fix="give both arrays elements")
    full = [n + k - 1 for n, k in zip(*sizes, strict=True)]
    is_complex = "c" in (first.dtype.kind, second.dtype.kind)
    there, back = (fourier.fftn, fourier.ifftn) if is_complex else (fourier.rfftn, fourier.irfftn)
    spectrum = ufuncs.multiply(there(first, full, along), there(second, full, along)) if along else None
    found = back(spectrum, full, along) if along else ufuncs.multiply(first, second)
    if mode == "full":
        return found
    for axis, whole, n, k in zip(along, full, *sizes, strict=True):
        extent = n if mode == "same" else n - k + 1
        start = (whole - extent) // 2
        found = slice_in_dim(found, start, start + extent, axis=axis)
    return found


@runs_anywhere
def convolve2d(in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: float = 0) -> Any:
    """Return the convolution of two matrices, with a choice of what is beyond the first one's edges.

    Parameters
    ----------
    in1, in2 : (m, n) array_like
    mode : "full", "same" or "valid", optional
        As that of `convolve`.
    boundary : "fill", "wrap" or "symm", optional
        ``fillvalue``, the matrix again, or its mirror image.
    fillvalue : scalar, optional

    Returns
    -------
    Array
        Of the common dtype.

    Raises
    ------
    ShapeError
        If one is no matrix, or with "valid" neither contains the other.
    ArgumentError
        If ``mode`` or ``boundary`` is another.

    Examples
    --------
    >>> import numhlo.numpy  # gives traced arrays their operators
    >>> convolve2d([[1, 2], [3, 4]], [[1, 1]], "same", boundary="wrap")
    Array([[3, 3],
           [7, 7]])
    """
    first, second = _operands("convolve2d", in1, in2, 2)
    _choice("convolve2d", "mode", mode, ("full", "same", "valid"))
    _choice("convolve2d", "boundary", boundary, tuple(BOUNDARIES))
    if mode == "valid" or 0 in (first.size, second.size):
        return _direct("convolve2d", first, second, mode)
    return _bounded(first, flip(second), _pads(mode, second.shape), boundary, fillvalue)


def _bounded(first: Any, kernel: Any, pads: list[tuple[int, int]], boundary: str, fillvalue: float) -> Any:
    """Return the sums of products of a kernel with all windows of a matrix that goes on beyond its edges."""
    if boundary == "fill" and fillvalue == 0:
        return _windows(first, kernel, pads)
    filled = {"constant_values": fillvalue} if boundary == "fill" else {}
    return _windows(padding.pad(first, pads, BOUNDARIES[boundary], **filled), kernel, [(0, 0), (0, 0)])


@runs_anywhere
def correlate2d(in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: float = 0) -> Any:
    """Return the cross-correlation of two matrices, the second one conjugated.

    Parameters
    ----------
    in1, in2 : (m, n) array_like
    mode, boundary, fillvalue : optional
        As those of `convolve2d`.

    Returns
    -------
    Array
        Of the common dtype.

    Examples
    --------
    >>> correlate2d([[1, 2], [3, 4]], [[0, 1]], "valid")
    Array([[2],
           [4]])
    """
    first, second = _operands("correlate2d", in1, in2, 2)
    if mode != "same" or 0 in (first.size, second.size):
        return convolve2d(first, _reversed(second), mode, boundary, fillvalue)
    _choice("correlate2d", "boundary", boundary, tuple(BOUNDARIES))
    kernel = ufuncs.conjugate(second) if second.dtype.kind == "c" else second
    # an even kernel's middle is after its center here, before it in a convolution
    pads = [(high, low) for low, high in _pads(mode, second.shape)]
    return _bounded(first, kernel, pads, boundary, fillvalue)
