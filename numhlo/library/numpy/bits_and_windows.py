"""Bits packed into bytes, and all windows of an array: packbits, unpackbits, sliding_window_view."""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.library.numpy import reductions
from numhlo.library.numpy.axis_order import moveaxis
from numhlo.library.numpy.indexing.strided_views import Windows
from numhlo.library.numpy.joining import concatenate
from numhlo.library.numpy.sorting import along
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, DTypeError
from numhlo.tracer.building import (
    as_traced,
    asarray,
    broadcast_to_shape,
    convert,
    expand,
    full_of,
    implements,
    normalize_axis,
    reshape_to,
)
from numhlo.tracer.building import operations as b

__all__ = ["packbits", "sliding_window_view", "unpackbits"]


def _weights(bitorder: str) -> np.ndarray:
    if bitorder not in ("big", "little"):
        raise ArgumentError(f"bitorder={bitorder!r}", where=capture_location(), fix="use big or little")
    powers = np.arange(8, dtype=np.uint8)
    return powers[::-1].copy() if bitorder == "big" else powers


@implements(np.packbits)
def packbits(a: Any, /, axis: int | None = None, bitorder: str = "big") -> Any:
    """Return bits packed into bytes along an axis, zeros at the end where they don't fill the last one.

    Parameters
    ----------
    a : array_like
        Of booleans or integers, where nonzero is 1.
    axis : int, optional
        Along which bits are packed; without it, the flattened array.
    bitorder : "big" or "little", optional
        Whether the first element is the highest bit of a byte.

    Returns
    -------
    Array
        Of uint8, with an eighth of the extent, rounded up.

    Raises
    ------
    DTypeError
        If the array holds neither booleans nor integers.
    ArgumentError
        If ``bitorder`` is another.

    Examples
    --------
    >>> packbits([1, 0, 1])
    Array([160], dtype=uint8)
    """
    array, place = along(a, axis)
    if array.dtype.kind not in "biu":
        raise DTypeError("packbits of an array that is neither boolean nor integer", where=capture_location())
    flags = as_traced(moveaxis(as_traced(b.truth(array)), place, -1))
    missing = -flags.shape[-1] % 8
    padded = as_traced(concatenate([flags, full_of(False, (*flags.shape[:-1], missing), np.bool_)], -1))
    grouped = reshape_to(padded, (*padded.shape[:-1], padded.shape[-1] // 8, 8))
    shifts = broadcast_to_shape(_weights(bitorder), grouped.shape)
    ones = b.shift_left(convert(grouped, np.uint8), shifts)
    return moveaxis(reductions.sum(ones, -1, np.uint8), -1, place)


@implements(np.unpackbits)
def unpackbits(a: Any, /, axis: int | None = None, count: int | None = None, bitorder: str = "big") -> Any:
    """Return the bits of bytes along an axis; ``count`` of them, or all but ``-count``.

    Parameters
    ----------
    a : array_like
        Of uint8.
    axis : int, optional
        Along which bytes are unpacked; without it, the flattened array.
    count : int, optional
        The number of bits, padded with zeros; a negative one takes so many away.
    bitorder : "big" or "little", optional
        Whether the highest bit of a byte comes first.

    Returns
    -------
    Array
        Of uint8, each 0 or 1.

    Raises
    ------
    DTypeError
        If the array is not of uint8.
    ArgumentError
        If ``bitorder`` is another.

    Examples
    --------
    >>> unpackbits(np.array([5], np.uint8))
    Array([0, 0, 0, 0, 0, 1, 0, 1], dtype=uint8)
    """
    array, place = along(a, axis)
    if array.dtype != np.uint8:
        raise DTypeError("unpackbits of an array that is not uint8", where=capture_location())
    moved = as_traced(moveaxis(array, place, -1))
    shape = (*moved.shape, 8)
    wide = broadcast_to_shape(expand(moved, moved.ndim), shape)
    bits = b.both(b.shift_right_logical(wide, broadcast_to_shape(_weights(bitorder), shape)), 1)
    flat = as_traced(reshape_to(bits, (*moved.shape[:-1], moved.shape[-1] * 8)))
    if count is not None:
        missing = max(count - flat.shape[-1], 0)
        padded = as_traced(concatenate([flat, full_of(0, (*flat.shape[:-1], missing), np.uint8)], -1))
        flat = padded[..., :count]  # type: ignore[index]
    return moveaxis(flat, -1, place)


@implements(np.lib.stride_tricks.sliding_window_view)
def sliding_window_view(
    x: Any, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> Any:
    """Return a view of all windows of an array, in new last axes.

    Parameters
    ----------
    x : array_like
    window_shape : int or sequence of int
        The extent of a window along each of the axes.
    axis : int or sequence of int, optional
        All axes by default, and then ``window_shape`` has an entry for each.
    subok : bool, optional
        NumPy's; ignored while tracing.
    writeable : bool, optional
        NumPy's; a traced view of windows can only be read.

    Returns
    -------
    Array
        With ``extent - window + 1`` along each axis, and the windows' axes last.

    Raises
    ------
    ValueError
        If a window is larger than the array, or the two lengths differ.

    Examples
    --------
    >>> sliding_window_view([1, 2, 3], 2).tolist()
    [[1, 2], [2, 3]]
    """
    array = as_traced(asarray(x))
    sizes = tuple(map(int, window_shape)) if np.iterable(window_shape) else (int(window_shape),)
    axes = tuple(range(array.ndim)) if axis is None else tuple(axis) if np.iterable(axis) else (axis,)
    axes = tuple(normalize_axis(k, array.ndim) for k in axes)
    if len(sizes) != len(axes):
        raise ValueError("Must provide matching length window_shape and axis")
    room = list(array.shape)
    for size, place in zip(sizes, axes, strict=True):
        if not 0 <= size <= room[place]:
            raise ValueError("each window extent must lie between 0 and the array's")
        room[place] -= size - 1
    return array.through(Windows(axes, sizes, writeable))
