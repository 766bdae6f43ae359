"""``x[i:j]`` with traced bounds: elements whose number is not known, as the whole array and a mask.

What `selected` does for masks is done for slices, too: elementwise functions, reductions, and assignment. Unlike them,
slices are views: they are read when they are used, and ``v = x[i:]; v += 1`` changes ``x``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

import numpy as np

from numhlo.library.numpy import elementwise as ufuncs
from numhlo.library.numpy.indexing.index_items import (
    Points,
    basic_view,
    normalize_index,
    unknown_extent,
    unknown_number,
)
from numhlo.library.numpy.indexing.intervals import Interval
from numhlo.library.numpy.indexing.known_widths import known_width
from numhlo.library.numpy.indexing.selected import OPERATORS, Columns, Selected, Spread, is_integer
from numhlo.library.numpy.ufunc_calls import Ufunc
from numhlo.lowering.ir import Location, capture_location
from numhlo.tracer.building import (
    Tracer,
    are_arrays_immutable,
    as_traced,
    asarray,
    broadcast_to_shape,
    convert,
    require_casting,
    reshape_to,
    shape_of,
    stored,
)
from numhlo.tracer.building import operations as b

__all__ = ["Part", "TracedSlice", "sliced_part", "write_part"]


BACKWARDS = slice(None, None, -1)


class Run(Selected):
    """What is computed of the elements between traced bounds.

    Attributes
    ----------
    interval : Interval or None
        Where they are, if all between the bounds are meant.
    """

    def __init__(self, values: Tracer, mask: Tracer, spread: Spread, interval: Interval | None = None) -> None:
        super().__init__(values, mask, spread)
        self.interval = interval

    def refuse(self, where: Location | None = None) -> NoReturn:
        """Raise the error for what needs the number of elements."""
        raise unknown_extent(where)

    def with_values(self, values: Any) -> Run:
        return Run(as_traced(values), self.mask, self.spread, self.interval)

    def moved_to(self, mask: Tracer, interval: Interval | None) -> Run:
        """Return the elements where others are that surely are as many; this if nothing is known of that."""
        own = self.interval
        if own is None or interval is None or mask is self.mask:
            return self
        if interval.is_same(own):
            return Run(self.values, mask, self.spread, interval)
        if not interval.is_as_long_as(own):
            return self
        return Run(interval.moved(self.values, own, mask.size), mask, self.spread, interval)

    def reversed(self) -> Run:
        """Return the elements in opposite order."""
        if self.interval is None or not self.interval.extent:
            self.refuse()
        return self.with_values(self.interval.reversed(self.values))

    def call(self, name: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Return a function of the elements, by name."""
        if name in ("flip", "flipud") and len(args) + len(options) <= 2:
            axis = args[1] if len(args) > 1 else options.get("axis", 0 if name == "flipud" else None)
            if axis == 0 or (self.ndim == 1 and axis in (None, -1)):
                return self.reversed()
        return super().call(name, args, options)

    def __getitem__(self, index: Any) -> Any:
        is_reversed = isinstance(index, slice) and index == BACKWARDS
        return self.reversed() if is_reversed else super().__getitem__(index)

    def whole(self, x: Any) -> Any:
        return super().whole(x.moved_to(self.mask, self.interval) if isinstance(x, Run) else x)


class TracedSlice(Run):
    """The elements of an array between traced bounds of its first axis, a view of it.

    Parameters
    ----------
    base : Tracer
    mask : Tracer
        Where they are.
    spread : callable
    interval : Interval or None
    """

    def __init__(self, base: Tracer, mask: Tracer, spread: Spread, interval: Interval | None) -> None:
        self.base, self.mask, self.spread, self.interval = base, mask, spread, interval
        self.location = capture_location()

    @property
    def dtype(self) -> np.dtype:
        """Return the dtype."""
        return self.base.dtype

    @property
    def values(self) -> Tracer:  # type: ignore[override]
        """Return the whole array as it is now; what is left out counts as 1, which no function or derivative minds."""
        shape = self.mask.shape + (1,) * (self.base.ndim - 1)
        inside = broadcast_to_shape(reshape_to(self.mask, shape), self.base.shape)
        return as_traced(b.select(inside, self.base, 1))

    def copy(self, order: str = "C") -> Run:
        """Return the elements as they are now."""
        return self.with_values(self.values)

    def __getitem__(self, index: Any) -> Any:
        """Return one element, counted from either end; a part of all would be a view of a view."""
        if isinstance(index, slice) and index == BACKWARDS:
            return self.reversed()
        if not is_integer(index[0] if isinstance(index, tuple) else index):
            self.refuse()
        return super().__getitem__(index)

    def update(self, ufunc: Ufunc, other: Any) -> Any:
        """Return the slice after ``slice op= other``, which changes the array; what follows if arrays never change."""
        new = ufunc(self, other)
        if are_arrays_immutable():
            return new
        require_casting(ufunc.__name__, [new.values], self.dtype, "same_kind")
        self.base.assign(new.write_into(self.base, self.mask))
        return self


def _is_traced(entry: Any) -> bool:
    bounds = (entry.start, entry.stop) if isinstance(entry, slice) else ()
    return any(isinstance(bound, Tracer) and bound.concrete is None for bound in bounds) and known_width(entry) is None


class Part(NamedTuple):
    """Elements of unknown number: those of a view at which a mask over some of its axes is true.

    Attributes
    ----------
    view, mask : Tracer
    axis : int
        The first axis of the view that the mask is over.
    is_mask : bool
        Whether the program wrote a mask, not a slice.
    interval : Interval or None
        Where the elements of a slice are.
    """

    view: Tracer
    mask: Tracer
    axis: int
    is_mask: bool
    interval: Interval | None = None


def sliced_part(x: Tracer, index: Any) -> Part | None:
    """Return, for one slice with traced bounds among basic indices, the view without it, and its mask."""
    entries = index if isinstance(index, tuple) else (index,)
    places = [k for k, entry in enumerate(entries) if _is_traced(entry)]
    if len(places) != 1 or not isinstance(entries[places[0]].step, int | None):
        return None
    before, entry, after = entries[: places[0]], entries[places[0]], entries[places[0] + 1 :]
    if (entry.step or 1) < 0 or any(not _is_basic(other) for other in (*before, *after)):
        return None
    items = normalize_index((*before, slice(None), *after), x.shape)
    if any(isinstance(item, Points) for item in items):
        return None
    view = basic_view(x, items)
    is_counted_from_end = any(other is Ellipsis for other in before)
    kept = sum(other is None or isinstance(other, slice) for other in (after if is_counted_from_end else before))
    axis = view.ndim - 1 - kept if is_counted_from_end else kept
    extent = view.shape[axis]
    start = np.int64(0) if entry.start is None else _bound(entry.start, extent)
    end = np.int64(extent) if entry.stop is None else _bound(entry.stop, extent)
    return Part(view, _mask_of(entry, start, end, extent), axis, False, Interval.of(entry, extent, start, end))


def _is_basic(entry: Any) -> bool:
    return (
        entry is None or entry is Ellipsis or is_integer(entry) or (isinstance(entry, slice) and not _is_traced(entry))
    )


def _mask_of(entry: slice, start: Any, end: Any, extent: int) -> Tracer:
    """Return where the elements of a slice are, whose bounds are counted from the start."""
    places = b.iota(extent)
    mask: Any = broadcast_to_shape(np.True_, (extent,))
    if entry.start is not None:
        mask = b.at_least(places, broadcast_to_shape(start, (extent,)))
    if entry.stop is not None:
        mask = b.both(mask, b.less(places, broadcast_to_shape(end, (extent,))))
    if entry.step is not None and entry.step > 1:
        first = broadcast_to_shape(ufuncs.maximum(start, 0), (extent,))
        mask = b.both(mask, b.equal(b.remainder(b.subtract(places, first), entry.step), 0))
    return as_traced(mask)


def _bound(bound: Any, extent: int) -> Any:
    """Return a bound, counted from the start."""
    place = as_traced(convert(asarray(bound), np.dtype(np.int64)))
    return b.select(b.less(place, 0), b.add(place, extent), place)


def write_part(part: Part, value: Any, combine: Callable[[Any, Any], Any] | None = None) -> None:
    """Write a value, or what is made of the elements there and a value, into elements of unknown number.

    Raises
    ------
    DataDependentShapeError
        If the value has as many dimensions, so that its extent would have to be that of the elements.
    """
    view, mask, axis, _, interval = part
    if isinstance(value, Columns):
        if combine is not None:
            value.refuse()
        value.write_into(view, axis, mask)
        return
    if isinstance(value, Selected):
        if axis:
            value.refuse()
        if isinstance(value, Run):
            value = value.moved_to(mask, interval)
        new = value if combine is None else combine(Run(view, mask, value.spread, interval), value)
        view.assign(new.write_into(view, mask))
        return
    spread = _spread(part, stored(value, view.dtype) if combine is None else asarray(value))
    wide = broadcast_to_shape(reshape_to(mask, mask.shape + (1,) * (view.ndim - axis - mask.ndim)), view.shape)
    new = spread if combine is None else combine(view, value if spread.shape == () else spread)
    view.assign(as_traced(b.select(wide, broadcast_to_shape(convert(new, view.dtype), view.shape), view)))


def _spread(part: Part, value: Any) -> Any:
    """Return a value that broadcasts with the view, though one axis stood for all those of the mask."""
    shape, ndim = shape_of(value), part.mask.ndim
    place = len(shape) - (part.view.ndim - part.axis - ndim) - 1
    if place < 0:
        return value
    if shape[place] != 1:
        raise (unknown_number(part.mask) if part.is_mask else unknown_extent())
    return reshape_to(value, shape[:place] + (1,) * ndim + shape[place + 1 :])


def _in_place(function: str) -> Callable[[TracedSlice, Any], Any]:
    ufunc = getattr(ufuncs, function)
    return lambda self, other: self.update(ufunc, other)


for _name, _function in OPERATORS.items():
    setattr(TracedSlice, f"__i{_name}__", _in_place(_function))
