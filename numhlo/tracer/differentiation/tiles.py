"""Cotangents of arrays that are read and written part by part, at places known while tracing.

An unrolled loop (``for i in range(n): x[i] = f(x[i - 1])``) goes back through one write for each step: the cotangent of
what was written is taken out of the array's, and that place is zero from there on. If each step made an array of that,
n steps would cost n arrays. A `Tiles` keeps the array as it was, and beside it what stands at some places instead; an
array is made once, when somebody needs it whole.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial, reduce
from itertools import starmap
from typing import Any

import numpy as np

from numhlo.lowering.ir import TensorType
from numhlo.lowering.ops import elementwise, indexing, layout
from numhlo.tracer.core.bind import bind1
from numhlo.tracer.core.operands import asarray, full_of
from numhlo.tracer.core.trace import Tracer

MUCH = 8
"""A part of less than one in so many is kept apart; larger ones are padded, which fuses with what follows."""

Place = tuple[int, ...]


class Tiles:
    """An array of a cotangent, and what stands in some of its tiles instead.

    Parameters
    ----------
    type : TensorType
        Of the whole.
    sizes : tuple of int
        Of a tile; tiles start at multiples of these, so two of them are one or disjoint.
    base : array, optional
        What stands in the other tiles; zeros where left out.
    axis : int, optional
        Tiles are a few large slabs along it, such as the gates of a recurrent layer: once all are there, they are
        joined, and until then padded.
    """

    def __init__(self, type: TensorType, sizes: Place, base: Any = None, axis: int | None = None) -> None:
        self.type, self.sizes, self.base, self.axis = type, sizes, base, axis
        self.changed: dict[Place, Any] = {}

    def read(self, place: Place) -> Any:
        """Return a tile, None for zeros."""
        if place in self.changed or self.base is None:
            return self.changed.get(place)
        limits = tuple(a + n for a, n in zip(place, self.sizes, strict=True))
        attributes = {"start_indices": place, "limit_indices": limits, "strides": (1,) * len(place)}
        return bind1(layout.SLICE, self.base, attributes=attributes)

    def add(self, place: Place, part: Any) -> None:
        """Add to a tile."""
        there = self.read(place)
        self.changed[place] = part if there is None else bind1(elementwise.ADD, there, part)

    def clear(self, place: Place) -> None:
        """Set a tile to zeros."""
        if self.base is None:
            self.changed.pop(place, None)
        else:
            self.changed[place] = full_of(0, self.sizes, self.type.dtype)

    def is_zero(self) -> bool:
        """Return whether nothing is left."""
        return self.base is None and not self.changed

    def absorb(self, other: Tiles) -> Tiles:
        """Return the sum with other tiles; either may be changed."""
        if other.sizes != self.sizes or (self.base is not None and other.base is not None):
            return Tiles(self.type, self.sizes, bind1(elementwise.ADD, self.whole(), other.whole()))
        into, from_ = (self, other) if other.base is None and len(other.changed) <= len(self.changed) else (other, self)
        if from_.base is not None:
            into, from_ = from_, into
        for place, part in from_.changed.items():
            into.add(place, part)
        return into

    def plus(self, array: Any) -> Any:
        """Return the sum with an array."""
        if self.base is not None or self.axis is not None:
            return bind1(elementwise.ADD, self.whole(), array)
        total = Tiles(self.type, self.sizes, array)
        for place, part in self.changed.items():
            total.add(place, part)
        return total

    def onto(self, array: Any) -> Any:
        """Return the sum with an array, into which it is written."""
        if self.base is not None or self.axis is not None:
            return bind1(elementwise.ADD, array, self.whole())
        for place, part in self.changed.items():
            starts = [np.int64(k) for k in place]
            there = bind1(indexing.DYNAMIC_SLICE, array, *starts, attributes={"slice_sizes": self.sizes})
            array = bind1(indexing.DYNAMIC_UPDATE_SLICE, array, bind1(elementwise.ADD, there, part), *starts)
        return array

    def whole(self) -> Any:
        """Return the array."""
        total, parts = self.base, iter(self.changed.items())
        if self.axis is not None and total is None:
            return self._joined(self.axis)
        if total is None:
            place, part = next(parts)
            total = self._alone(place, part)
        for place, part in parts:
            total = bind1(indexing.DYNAMIC_UPDATE_SLICE, total, part, *[np.int64(k) for k in place])
        return total

    def _joined(self, axis: int) -> Any:
        """Return the slabs side by side, or the sum of each alone where some are zeros."""
        if len(self.changed) * self.sizes[axis] == self.type.shape[axis]:
            parts = [self.changed[place] for place in sorted(self.changed)]
            return bind1(layout.CONCATENATE, *parts, attributes={"dimension": axis})
        return reduce(partial(bind1, elementwise.ADD), starmap(self._alone, self.changed.items()))

    def _alone(self, place: Place, part: Any) -> Any:
        extents = zip(self.type.shape, place, self.sizes, strict=True)
        attributes = {
            "edge_padding_low": place,
            "edge_padding_high": tuple(n - a - size for n, a, size in extents),
            "interior_padding": (0,) * len(place),
        }
        return bind1(layout.PAD, part, np.zeros((), self.type.dtype), attributes=attributes)


def slab_axis(type: TensorType, sizes: Place, starts: Place) -> int | None:
    """Return along which axis a part of an array is one of a few equal slabs, None where it is not."""
    axes = [k for k, (size, extent) in enumerate(zip(sizes, type.shape, strict=True)) if size != extent]
    if len(axes) != 1 or not type.size:
        return None
    size, extent = sizes[axes[0]], type.shape[axes[0]]
    fits = size > 0 and extent % size == 0 and starts[axes[0]] % size == 0
    return axes[0] if fits and MUCH * size > extent else None


def tile_at(type: TensorType, sizes: Place, starts: Sequence[Any]) -> Place | None:
    """Return where a small part of an array starts, if that is known while tracing and a multiple of its sizes."""
    if not 0 < MUCH * math.prod(sizes) <= type.size:
        return None
    place = []
    for start, size, extent in zip(starts, sizes, type.shape, strict=True):
        known = _known(start)
        if known is None or known % size or not 0 <= known <= extent - size:
            return None
        place.append(known)
    return tuple(place)


def _known(x: Any) -> int | None:
    found = x.concrete if isinstance(x, Tracer) else asarray(x)
    return None if found is None else int(found)


def tiles_of(type: TensorType, sizes: Place, cotangent: Any) -> Tiles:
    """Return a cotangent, an array or tiles of any size, as tiles of one size."""
    if isinstance(cotangent, Tiles):
        if cotangent.sizes == sizes:
            return cotangent
        cotangent = cotangent.whole()
    return Tiles(type, sizes, cotangent)
