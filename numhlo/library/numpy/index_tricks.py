"""What is made by indexing: mgrid, ogrid, r_, c_, s_ and index_exp."""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.library.numpy.joining import concatenate
from numhlo.library.numpy.ranges import arange, linspace
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.tracer.building import (
    SCALARS,
    as_arrays,
    asarray,
    common_dtype,
    contains_tracer,
    convert,
    current_trace,
    is_weak,
    new_array,
    promotion_key,
    reshape_to,
    shape_of,
    stands_for,
)

__all__ = ["c_", "index_exp", "mgrid", "ogrid", "r_", "s_"]


index_exp = np.index_exp


s_ = np.s_


class Grid:
    """``mgrid`` and ``ogrid``: index with slices ``start:stop:step``, a complex step counting points."""

    def __init__(self, sparse: bool) -> None:
        self._sparse = sparse
        self._numpy = np.ogrid if sparse else np.mgrid

    def __getitem__(self, key: Any) -> Any:
        made = as_arrays(self._numpy[key])
        if current_trace() is None:
            return made
        return tuple(new_array(x) for x in made) if isinstance(made, tuple) else new_array(made)


mgrid = Grid(False)


ogrid = Grid(True)


class Joiner:
    """``r_`` and ``c_``: arrays, numbers and slices joined by indexing."""

    def __init__(self, numpy_object: Any, axis: int, columns: bool) -> None:
        self._numpy, self._axis, self._columns = numpy_object, axis, columns

    def __getitem__(self, key: Any) -> Any:
        if current_trace() is None:
            return as_arrays(self._numpy[key])
        entries = list(key) if isinstance(key, tuple) else [key]
        if not contains_tracer(entries):
            return new_array(self._numpy[key])
        if isinstance(entries[0], str):
            return self._by_text(entries[0], entries[1:])
        return concatenate([self._shaped(part) for part in _of_one_dtype(entries)], self._axis)

    def _by_text(self, text: str, entries: list[Any]) -> Any:
        """Join as ``"axis,ndim,place"`` says: along an axis, of so many dimensions, an entry's own being at a place."""
        try:
            axis, rank, place = [*map(int, text.split(",")), -1][:3] if "," in text else (int(text), 1, -1)
        except ValueError:
            raise ArgumentError(
                f"r_[{text!r}, ...] of traced arrays", where=capture_location(), fix="use concatenate or stack"
            ) from None
        parts = zip(_of_one_dtype(entries), entries, strict=True)
        return concatenate([_of_rank(self._shaped(part), entry, rank, place) for part, entry in parts], axis)

    def _shaped(self, array: Any) -> Any:
        if len(shape_of(array)) == 0:
            array = reshape_to(array, (1,))
        if self._columns and len(shape_of(array)) == 1:
            array = reshape_to(array, (array.size, 1))
        return array


def _of_one_dtype(entries: list[Any]) -> list[Any]:
    """Return entries as arrays of their common dtype, to which Python numbers adapt."""
    values = [_points(entry) if isinstance(entry, slice) else entry for entry in entries]
    arrays = [asarray(value) for value in values]
    keys = [promotion_key(x) if is_weak(x) else array.dtype for x, array in zip(values, arrays, strict=True)]
    dtype = common_dtype(keys)
    # From the number itself: one that is too large for the dtype is refused.
    return [convert(x if type(x) in SCALARS else array, dtype) for x, array in zip(values, arrays, strict=True)]


def _of_rank(array: Any, entry: Any, rank: int, place: int) -> Any:
    """Return an array with extents of 1 around its own, as many as it lacks."""
    own = shape_of(array) if isinstance(entry, slice) else np.shape(entry)
    missing = rank - len(own)
    if missing <= 0:
        return array
    before = place if place >= 0 else missing + place + 1
    return reshape_to(array, (*(1,) * before, *own, *(1,) * (missing - before)))


def _points(item: slice) -> Any:
    start = 0 if item.start is None else item.start
    step = 1 if item.step is None else item.step
    if isinstance(step, complex):
        return linspace(start, item.stop, int(abs(step)))
    return arange(start, item.stop, step)


r_ = Joiner(np.r_, 0, columns=False)


c_ = Joiner(np.c_, -1, columns=True)

stands_for(np.c_)(c_)
stands_for(np.r_)(r_)
stands_for(np.mgrid)(mgrid)
stands_for(np.ogrid)(ogrid)
