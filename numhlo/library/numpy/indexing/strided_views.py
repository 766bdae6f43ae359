"""Views by distances in memory: ``as_strided``, whose elements are found among those of the array, and all windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.library.numpy.indexing import advanced_indexing as advanced
from numhlo.library.numpy.indexing.index_items import Points
from numhlo.lowering.ir import TensorType, capture_location
from numhlo.lowering.ir.errors import MutationError, ShapeError
from numhlo.lowering.ir.records import record
from numhlo.tracer.building import (
    Reshape,
    Strides,
    Tracer,
    Transpose,
    as_traced,
    asarray,
    implements,
    new_array,
    strides_of,
)
from numhlo.tracer.building import operations as b

__all__ = ["as_strided"]


@record(frozen=True, slots=True, eq=False)
class Scattered:
    """Elements of an array in any order, perhaps more than once.

    Attributes
    ----------
    positions : ndarray of int64
        Of the elements in the flattened array.
    strides : tuple of int
        Of the view, in bytes.
    writeable : bool
    """

    positions: np.ndarray
    strides: Strides
    writeable: bool

    def result_type(self, type: TensorType) -> TensorType:
        """Return the type of as many elements."""
        return type.with_shape(self.positions.shape)

    def result_strides(self, base: TensorType, strides: Strides) -> Strides:
        """Return the strides that were asked for."""
        return self.strides

    def get(self, base: Tracer) -> Tracer:
        """Return the elements."""
        return as_traced(advanced.take(Reshape((base.size,)).get(base), self.positions, 0, "clip"))

    def put(self, base: Tracer, value: Tracer) -> Tracer:
        """Return the base with the elements replaced, one after the other."""
        if not self.writeable:
            raise MutationError("can't write into a view that was made with writeable=False", where=capture_location())
        if len(np.unique(self.positions)) != self.positions.size:
            raise _overlapping("a view by as_strided", "write into the array that it is a view of")
        flat = new_array(Reshape((base.size,)).get(base))
        advanced.scatter_points(flat, [Points(self.positions)], value, "set")
        return Reshape(base.shape).get(flat)


@record(frozen=True, slots=True)
class Windows:
    """All windows of an array: the places within them are new last axes.

    Attributes
    ----------
    axes : tuple of int
        What windows are taken along, one after the other.
    sizes : tuple of int
        Their extents, no larger than those of the axes.
    writeable : bool
        Whether writing was asked for, which changes only what it is refused with.
    """

    axes: tuple[int, ...]
    sizes: tuple[int, ...]
    writeable: bool

    def result_type(self, type: TensorType) -> TensorType:
        """Return the type of the windows."""
        extents = list(type.shape)
        for axis, size in zip(self.axes, self.sizes, strict=True):
            extents[axis] -= size - 1
        return type.with_shape((*extents, *self.sizes))

    def result_strides(self, base: TensorType, strides: Strides) -> Strides:
        """Return the strides: a step within a window is as far as one to the next window."""
        return (*strides, *[strides[axis] for axis in self.axes])

    def get(self, base: Tracer) -> Tracer:
        """Return the windows, read at sums of two ranges: no table of indices, and a view to kernels."""
        for axis, size in zip(self.axes, self.sizes, strict=True):
            shape = (base.shape[axis] - size + 1, size)
            index = b.add(b.iota_along(shape, 0), b.iota_along(shape, 1))
            windows = as_traced(advanced.take(base, index, axis, "raise"))
            kept = [k for k in range(windows.ndim) if k != axis + 1]
            base = Transpose((*kept, axis + 1)).get(windows)
        return base

    def put(self, base: Tracer, value: Tracer) -> Tracer:
        """Raise: an element of the base is one of several windows."""
        if self.writeable:
            raise _overlapping("a sliding_window_view", "write into the array itself: w[i, j] is x[i + j]")
        raise MutationError(
            "can't write into a sliding_window_view",
            where=capture_location(),
            why="it is read-only, as in NumPy",
            fix="write into the array itself, where w[i, j] is x[i + j], or into a copy, w.copy()",
        )


def _overlapping(what: str, fix: str) -> MutationError:
    return MutationError(
        f"can't write into {what} while tracing",
        where=capture_location(),
        why="several of its elements may be one element of the array",
        fix=f"{fix}; or into a copy",
    )


@implements(np.lib.stride_tricks.as_strided)
def as_strided(
    x: Any,
    shape: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
    subok: bool = False,
    writeable: bool = True,
) -> Any:
    """Return a view of elements at given distances in memory, all of which must be elements of ``x``.

    Parameters
    ----------
    x : array_like
    shape : sequence of int, optional
        That of ``x`` by default.
    strides : sequence of int, optional
        In bytes, for each axis, from the first element of ``x``; those of ``x`` by default.
    subok : bool, optional
        NumPy's; ignored while tracing.
    writeable : bool, optional
        Whether what is written into the view is written into ``x``; a traced view that shows an element twice can
        only be read.

    Returns
    -------
    Array

    Raises
    ------
    ShapeError
        If ``x`` is traced and has no element at one of the places, or the lengths differ.

    Examples
    --------
    >>> as_strided(np.arange(4), (3, 2), (8, 8)).tolist()
    [[0, 1], [1, 2], [2, 3]]
    """
    array = as_traced(asarray(x))
    own = strides_of(array)
    extents = array.shape if shape is None else tuple(map(int, shape))
    steps = own if strides is None else tuple(map(int, strides))
    if len(extents) != len(steps):
        raise ShapeError(f"as_strided: shape {extents} and strides {steps} differ in length", where=capture_location())
    places, wanted = _addresses(array.shape, own).ravel(), _addresses(extents, steps)
    order = np.argsort(places, kind="stable")
    found = order[np.searchsorted(places, wanted, sorter=order).clip(max=places.size - 1)] if places.size else wanted
    if wanted.size and not (places.size and (places[found] == wanted).all()):
        raise ShapeError(
            f"as_strided of {array.aval.short()}: shape {extents} and strides {steps} reach beyond its elements",
            where=capture_location(),
            why=f"the array's own strides are {own}, and a traced array has no memory but its elements",
            fix="count strides in bytes, as multiples of x.strides; or take the view of the array that x is a part of",
        )
    return array.through(Scattered(found, steps, writeable))


def _addresses(shape: Sequence[int], strides: Sequence[int]) -> np.ndarray:
    """Return how many bytes each element lies behind the first."""
    total = np.zeros(shape, np.int64)
    for axis, (extent, stride) in enumerate(zip(shape, strides, strict=True)):
        total += (np.arange(extent, dtype=np.int64) * stride).reshape((-1,) + (1,) * (len(shape) - axis - 1))
    return total
