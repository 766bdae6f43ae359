"""An index, normalized: one item an axis, and the views that basic indices show.

Ellipsis and missing axes are filled in, boolean arrays of known value become integers. Constant indices are checked
here and raise; traced ones, and all under JAX's rules, are clamped when read and dropped when written. Source: NumPy,
"Indexing on ndarrays".
"""

from __future__ import annotations

import functools
import operator
from typing import Any, NoReturn, TypeAlias

import numpy as np

from numhlo.library.numpy.indexing.known_widths import known_width
from numhlo.library.numpy.indexing.view_chains import view_slice, view_units
from numhlo.library.numpy.ufunc_rules.elementwise import compare, constant, select
from numhlo.lowering.ir import Location, capture_location
from numhlo.lowering.ir.conversion_errors import DataDependentIndexError
from numhlo.lowering.ir.errors import AxisOutOfBoundsError, InvalidIndexError
from numhlo.lowering.ir.records import record
from numhlo.lowering.ops import elementwise as ops
from numhlo.tracer.building import (
    DynamicSlice,
    Reshape,
    Reverse,
    Slice,
    Tracer,
    Unsized,
    are_arrays_immutable,
    asarray,
    bind1,
    convert,
    refuse_waiting,
    reshape_to,
    shape_of,
    spelling,
    trace_for,
)


@record(frozen=True, slots=True)
class NewAxis:
    """One axis of extent 1 inserted."""


@record(frozen=True, slots=True)
class Gap(NewAxis):
    """An ellipsis that stands for no axis: it adds none, but keeps index arrays apart."""


@record(frozen=True, slots=True)
class Range:
    """A slice of one axis: start, stop, step as Python's ``slice.indices`` gives them."""

    start: int
    stop: int
    step: int

    def __len__(self) -> int:
        return len(range(self.start, self.stop, self.step))


@record(frozen=True, slots=True)
class Position:
    """One element of an axis, whose axis is dropped; the number may be traced."""

    index: Any


@record(frozen=True, slots=True)
class Window:
    """A slice of known width that begins at a traced place."""

    index: Any
    width: int


@record(frozen=True, slots=True)
class Points:
    """An integer index array over one axis; part of an advanced index.

    Attributes
    ----------
    array : array
    from_end : bool
        Negative places count from the end; where there are none, that need not be computed.
    """

    array: Any
    from_end: bool = True


Item: TypeAlias = NewAxis | Range | Position | Window | Points


def normalize_index(index: Any, shape: tuple[int, ...], *, checked: bool = True) -> list[Item]:
    """Return one item an axis (and one a newaxis), in order.

    Parameters
    ----------
    index : object
        What stands between the brackets.
    shape : tuple of int
    checked : bool, optional
        Whether constant indices must lie inside, or are clamped under JAX's rules; otherwise they are treated as
        traced ones are.

    Raises
    ------
    AxisOutOfBoundsError
        If there are too many indices, or a constant one lies outside.
    DataDependentShapeError
        If a boolean index is traced, since the result's shape would depend on its values.
    """
    entries = list(index) if isinstance(index, tuple) else [index]
    entries = [list(e) if isinstance(e, range | tuple) else e for e in entries]
    entries = [
        np.asarray(e, None if e else np.int64) if isinstance(e, list) and not _has_tracer(e) else e for e in entries
    ]
    entries = [asarray(e) if isinstance(e, list) else e for e in entries]
    consumed = sum(_axes_used(e) for e in entries)
    ellipses = [k for k, e in enumerate(entries) if e is Ellipsis]
    if len(ellipses) > 1:
        raise InvalidIndexError("an index can only have a single ellipsis ('...')", where=capture_location())
    if consumed > len(shape):
        raise AxisOutOfBoundsError(
            f"too many indices: the array is {len(shape)}-dimensional, but {consumed} were indexed",
            where=capture_location(),
        )
    place = ellipses[0] if ellipses else len(entries)
    missing: list[Any] = [slice(None)] * (len(shape) - consumed)
    if ellipses and not missing:
        missing = [Ellipsis]
    filled = entries[:place] + missing + entries[place + bool(ellipses) :]
    items: list[Item] = []
    axis = 0
    for entry in filled:
        items.extend(_normalize_entry(entry, shape, axis, checked))
        axis += _axes_used(entry)
    if any(isinstance(item, Window) for item in items) and any(isinstance(item, Points) for item in items):
        raise unknown_extent()
    return items


def _has_tracer(entry: Any) -> bool:
    return any(_has_tracer(e) if isinstance(e, list | tuple) else isinstance(e, Tracer) for e in entry)


def _axes_used(entry: Any) -> int:
    if entry is None or entry is Ellipsis:
        return 0
    if isinstance(entry, bool | np.bool_):
        return 0
    if isinstance(entry, np.ndarray | Tracer) and entry.dtype.kind == "b":
        return entry.ndim
    return 1


def _normalize_entry(entry: Any, shape: tuple[int, ...], axis: int, checked: bool) -> list[Item]:
    if entry is None or entry is Ellipsis:
        return [NewAxis() if entry is None else Gap()]
    if isinstance(entry, slice):
        width = known_width(entry)
        return [Range(*_slice_indices(entry, shape[axis])) if width is None else Window(_fresh(entry.start), width)]
    if isinstance(entry, bool | np.bool_) or getattr(getattr(entry, "dtype", None), "kind", "") == "b":
        return _boolean(entry, shape, axis)
    if isinstance(entry, int | np.integer):
        return [_constant_position(int(entry), shape[axis], axis, checked)]
    if isinstance(entry, Tracer) and entry.dtype.kind in "iu":
        _refuse_waiting(entry, shape[axis])
        return [Points(entry) if entry.ndim else Position(_frozen_start(entry, shape[axis]))]
    if isinstance(entry, np.ndarray) and (entry.dtype.kind in "iu" or entry.size == 0):
        if entry.ndim == 0:
            return [_constant_position(int(entry), shape[axis], axis, checked)]
        inside = checked_array if checked else _far_outside
        return [Points(inside(entry.astype(np.int64), shape[axis], axis))]
    if isinstance(entry, Unsized):
        entry.refuse()
    if not isinstance(entry, np.ndarray | Tracer) and hasattr(type(entry), "__index__"):
        return [_constant_position(operator.index(entry), shape[axis], axis, checked)]
    what = spelling(entry) if isinstance(entry, np.ndarray | Tracer) else f"a {type(entry).__name__}"
    raise InvalidIndexError(
        f"an index that is {what}",
        where=capture_location(),
        why="only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are "
        "valid indices",
        fix="convert what counts elements with int(), x // y or x.astype(int)",
    )


def _refuse_waiting(index: Tracer, extent: int) -> None:
    if index.concrete is None:
        what = f"a traced index {index.aval.short()} of an axis of {extent}"
        refuse_waiting(IndexError, what, f"compare it with {extent} in numpy.where or lax.cond")


def _constant_position(position: int, extent: int, axis: int, checked: bool) -> Item:
    if checked or -extent <= position < extent:
        return Position(_checked(position, extent, axis))
    return Points(_far_outside(np.asarray(position, np.int64), extent))


def _slice_indices(entry: slice, extent: int) -> tuple[int, int, int]:
    for bound in (entry.start, entry.stop, entry.step):
        if isinstance(bound, Tracer) and bound.concrete is None:
            raise unknown_extent()
    try:
        return entry.indices(extent)
    except (TypeError, ValueError) as error:  # bounds that are no integers, steps of 0
        raise InvalidIndexError(str(error), where=capture_location()) from error


def unknown_extent(where: Location | None = None) -> DataDependentIndexError:
    """Return the error for what needs the extent of a slice with traced bounds."""
    return DataDependentIndexError(
        "a slice with a traced bound",
        where=where or capture_location(),
        why="the extent of the result would depend on a value that is not known while tracing",
        fix="use lax.dynamic_slice(x, starts, sizes) with a static size, or a mask: where(arange(n) < stop, x, 0)",
    )


def unknown_number(mask: Tracer) -> DataDependentIndexError:
    """Return the error for what needs the number of elements that a traced mask selects."""
    return DataDependentIndexError(
        f"x[mask] with a traced boolean mask {mask.aval.short()}",
        where=capture_location(),
        why="the extent of the result would depend on the mask's values",
        fix="use where(mask, x, fill), a reduction with where=mask, or x[nonzero(mask, size=n)]",
    )


def _checked(position: int, extent: int, axis: int) -> int:
    if not -extent <= position < extent:
        if extent and are_arrays_immutable():
            return 0 if position < 0 else extent - 1  # JAX's rule
        raise AxisOutOfBoundsError(
            f"index {position} is out of bounds for axis {axis} with size {extent}",
            where=capture_location(),
        )
    return position % extent


def checked_array(positions: np.ndarray, extent: int, axis: int) -> np.ndarray:
    """Return positions with negative ones counted from the end; NumPy's `IndexError` where one lies outside."""
    outside = (positions < -extent) | (positions >= extent)
    if outside.any():
        _checked(int(positions[outside][0]), extent, axis)
        positions = np.clip(positions, -extent, extent - 1)
    return np.where(positions < 0, positions + extent, positions)


def _far_outside(positions: np.ndarray, extent: int, axis: int = 0) -> np.ndarray:
    """Return positions with those before the first element moved so far that counting from the end can't reach it."""
    wide = positions if positions.dtype.itemsize >= np.dtype(np.int32).itemsize else positions.astype(np.int32)
    return np.where(wide < -extent, np.iinfo(wide.dtype).min // 2, wide)


def _frozen_start(index: Tracer, extent: int) -> Tracer:
    """Return a traced index as a fresh int64 scalar with negatives wrapped; later writes to it don't move a view."""
    return _wrapped(_fresh(index), extent)


def _fresh(index: Tracer) -> Tracer:
    trace = trace_for(index)
    return trace.wrap(trace.read(convert(index, np.int64)))


def _boolean(entry: Any, shape: tuple[int, ...], axis: int) -> list[Item]:
    if isinstance(entry, Tracer):
        known = entry.known()
        if known is None:
            raise unknown_number(entry)
        entry = known
    mask = np.asarray(entry)
    if mask.ndim == 0:
        if not mask:
            raise InvalidIndexError("a False scalar index", where=capture_location(), fix="write x[None][:0]")
        return [NewAxis()]
    covered = shape[axis : axis + mask.ndim]
    if mask.shape != covered:
        raise AxisOutOfBoundsError(
            f"boolean index of shape {mask.shape} does not match the indexed axes of shape {covered}",
            where=capture_location(),
        )
    return [Points(positions.astype(np.int64)) for positions in np.nonzero(mask)]


def _wrapped(index: Tracer, extent: int) -> Tracer:
    negative = compare("LT", index, constant(0, index))
    return select(negative, bind1(ops.ADD, index, constant(extent, index)), index)  # type: ignore[no-any-return]


def whole(extent: int) -> Range:
    """Return the item that selects a whole axis."""
    return Range(0, extent, 1)


def is_point(item: Item) -> bool:
    """Return whether an item takes part in an advanced index: an index array, or an integer beside one."""
    return isinstance(item, Points | Position)


def point_array(item: Points | Position) -> Any:
    """Return an item's index array; 0-d for an integer."""
    if isinstance(item, Points):
        return item.array
    return item.index if isinstance(item.index, Tracer) else np.asarray(item.index, np.int64)


def basic_view(x: Tracer, items: list[Item]) -> Tracer:
    """Return the view that a basic index shows."""
    axes = [item for item in items if not isinstance(item, NewAxis)]
    x = _view_traced_positions(x, axes)
    ranges = [_forward(item) for item in axes]
    starts, limits, strides = (tuple(r[k] for r in ranges) for k in range(3))
    x = view_slice(x, Slice(starts, limits, strides))
    backwards = tuple(k for k, i in enumerate(axes) if isinstance(i, Range) and i.step < 0 and len(i) > 1)
    if backwards:
        x = x.through(Reverse(backwards))
    extents = iter(x.shape)
    shape: list[int] = []
    for item in items:
        if isinstance(item, NewAxis):
            shape += [] if isinstance(item, Gap) else [1]
            continue
        extent = next(extents)
        if not isinstance(item, Position):
            shape.append(extent)
    return view_units(x, tuple(shape)) if tuple(shape) != x.shape else Tracer(x.cell, x.steps, x.aval)


def element_view(x: Tracer, index: Any) -> Tracer | None:
    """Return the view that an index of Python's integers shows, which loops over elements make; None for others."""
    entries = index if type(index) is tuple else (index,)
    for entry in entries:
        if type(entry) is not int:
            return None
    if not entries or len(entries) > len(x.aval.shape):
        return None
    if are_arrays_immutable():
        entries = tuple(_checked(place, x.aval.shape[axis], axis) for axis, place in enumerate(entries))
    step, rest = _element_step(entries, x.aval.shape)
    if x.steps or step.shape == x.aval.shape:
        return view_units(view_slice(x, step), rest.shape)
    return Tracer(x.cell, (step, rest), x.aval.with_shape(rest.shape))


@functools.lru_cache(maxsize=1024)
def _element_step(index: tuple[int, ...], shape: tuple[int, ...]) -> tuple[Slice, Reshape]:
    """Return the steps to the element, or the part, at an index."""
    places = [_checked(position, shape[axis], axis) for axis, position in enumerate(index)]
    rest = shape[len(index) :]
    starts = (*places, *[0] * len(rest))
    return Slice(starts, (*[place + 1 for place in places], *rest), (1,) * len(shape)), Reshape(rest)


def _view_traced_positions(x: Tracer, axes: list[Any]) -> Tracer:
    traced = [isinstance(a, Position | Window) and isinstance(a.index, Tracer) for a in axes]
    if not any(traced):
        return x
    zero = np.zeros((), np.int64)
    starts = tuple(a.index if t else zero for a, t in zip(axes, traced, strict=True))
    widths = [a.width if isinstance(a, Window) else 1 for a in axes]
    sizes = tuple(width if t else n for t, width, n in zip(traced, widths, x.shape, strict=True))
    return x.through(DynamicSlice(starts, sizes))


def _forward(item: Any) -> tuple[int, int, int]:
    """Return start, limit and positive stride of what an item selects, read forwards."""
    if isinstance(item, Position):
        position = 0 if isinstance(item.index, Tracer) else item.index
        return position, position + 1, 1
    if isinstance(item, Window):
        return 0, item.width, 1
    count = len(item)
    if count == 0:
        return 0, 0, 1
    last = item.start + (count - 1) * item.step
    low, high = min(item.start, last), max(item.start, last)
    return low, high + 1, abs(item.step)


def strip_leading(value: Any, ndim: int) -> Any:
    """Return a value to be assigned without leading axes of extent 1 beyond ``ndim``, which NumPy ignores."""
    shape = shape_of(value)
    extra = len(shape) - ndim
    if extra > 0 and all(n == 1 for n in shape[:extra]):
        return reshape_to(value, shape[extra:])
    return value


def refuse_list_index() -> NoReturn:
    """Raise the error for a list between brackets, which is no index under JAX's rules."""
    raise InvalidIndexError(
        "x[list]: Using a non-tuple sequence for multidimensional indexing is not allowed",
        where=capture_location(),
        fix="use x[jnp.array(list)] for elements, x[tuple(list)] for one index along each axis",
    )
