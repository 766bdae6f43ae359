"""How a discrete Fourier transform along any axes is run: lengths, norms, precision, one op for up to three axes."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numhlo.library.numpy import axis_order
from numhlo.lowering.ops import layout
from numhlo.tracer.building import as_traced, asarray, bind1, convert, normalize_axis, shape_of
from numhlo.tracer.building import matrices as m
from numhlo.tracer.building import operations as b

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


def opposite_norm(norm: str | None) -> str:
    """Return the norm under which an inverse is multiplied by what the transform is."""
    return OPPOSITE[_norm(norm)]


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


def transform(a: Any, kind: str, s: Sequence[Any] | None, axes: Sequence[int] | None, norm: str | None) -> Any:
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


def transform_along(a: Any, kind: str, n: Any, axis: int, norm: str | None) -> Any:
    """Return a transform of any kind along one axis."""
    if not shape_of(asarray(a)):
        normalize_axis(axis, 0)
    return transform(a, kind, None if n is None else (_length(n),), (axis,), norm)
