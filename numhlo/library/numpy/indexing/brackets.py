"""NumPy's indexing, read and written: ``x[index]``, ``x[index] = value``, take.

A basic index gives a view; an advanced one gathers or scatters (`advanced_indexing`). Out of bounds: constant indices
raise while tracing; traced ones are clamped when read and dropped when written. Next: `at` for functional updates.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.library.numpy.cumulative import cumsum
from numhlo.library.numpy.indexing import advanced_indexing as advanced
from numhlo.library.numpy.indexing.index_items import (
    Points,
    basic_view,
    element_view,
    normalize_index,
    refuse_list_index,
    strip_leading,
)
from numhlo.library.numpy.indexing.nonzero_positions import get_at, has_selected, set_at, with_masks
from numhlo.library.numpy.indexing.selected import Columns, Selected
from numhlo.library.numpy.indexing.traced_slices import Part, TracedSlice, sliced_part, write_part
from numhlo.library.numpy.out_arrays import store
from numhlo.library.numpy.ufunc_rules.elementwise import select
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import AxisOutOfBoundsError, ShapeError
from numhlo.tracer.building import (
    Flat,
    Tracer,
    are_arrays_immutable,
    as_traced,
    asarray,
    broadcast_to_shape,
    convert,
    implements,
    normalize_axis,
    reshape_to,
    shape_of,
    stored,
    trace_for,
    view_transpose,
)

__all__ = [
    "take",
    "take_along_axis",
]


def get_item(x: Tracer, index: Any) -> Any:
    """Return ``x[index]``: a view for a basic index, a fresh array for an advanced one, a scalar for one element."""
    element = element_view(x, index)
    if element is not None:
        return element if element.aval.shape else _scalar(element)
    if type(index) is list and are_arrays_immutable():
        refuse_list_index()
    if has_selected(index):
        index = with_masks(x, index)
        if has_selected(index):
            return get_at(x, index)
    if is_traced_mask(index) and index.known() is None:
        require_fitting_mask(x, index)
        return Selected.of(x, index, masked_values)
    part = unsized_part(x, index)
    if part is not None and part.axis == 0:
        is_mask, view, mask = part.is_mask, part.view, part.mask
        return get_item(view, mask) if is_mask else TracedSlice(view, mask, masked_values, part.interval)
    if part is not None and part.is_mask and part.mask.ndim == 1:
        rows = view_transpose(part.view, (part.axis, *[k for k in range(part.view.ndim) if k != part.axis]))
        return Columns(Selected.of(rows, part.mask, masked_values), part.axis)
    items = normalize_index(index, x.shape)
    if any(isinstance(item, Points) for item in items):
        return advanced.gather_in_order(x, items)
    view = basic_view(x, items)
    entries = index if isinstance(index, tuple) else (index,)
    copied = any(isinstance(entry, np.ndarray) for entry in entries)  # 0-d arrays, for NumPy an advanced index
    if not copied and (view.ndim or any(entry is Ellipsis for entry in entries)):
        is_copy = x.is_scalar or (x.steps and isinstance(x.steps[-1], Flat))
        return view.copy() if is_copy else view  # type: ignore[attr-defined]
    return _scalar(view)


def _scalar(view: Tracer) -> Tracer:
    trace = trace_for(view)
    found = trace.wrap(trace.read(view))
    found.cell.is_array = False  # what an argument without dimensions holds, too, is a scalar once it is read
    return found


def set_item(x: Tracer, index: Any, value: Any) -> None:
    """Write ``x[index] = value`` into the storage of ``x``."""
    trace_for(x)
    element = element_view(x, index)
    if element is not None:
        _assign(element, value)
        return
    if has_selected(index):
        index = with_masks(x, index)
        if has_selected(index):
            set_at(x, index, value)
            return
    if is_traced_mask(index):
        x.assign(value.write_into(x, index) if isinstance(value, Selected) else _masked(x, index, value))
        return
    part = unsized_part(x, index)
    if part is not None and part.axis == 0 and part.is_mask:
        set_item(part.view, part.mask, value)
        return
    if part is not None:
        write_part(part, value)
        return
    items = normalize_index(index, x.shape)
    if any(isinstance(item, Points) for item in items):
        advanced.scatter_points(x, items, value, "set")
        return
    _assign(basic_view(x, items), value)


def _assign(target: Tracer, value: Any) -> None:
    new = strip_leading(stored(value, target.dtype), target.ndim)
    require_assignable(shape_of(new), target.shape)
    target.assign(as_traced(broadcast_to_shape(new, target.shape)))


def require_assignable(shape: tuple[int, ...], target: tuple[int, ...]) -> None:
    """Raise `ShapeError` unless a value of one shape can be written into another."""
    fits = len(shape) <= len(target) and all(
        n in (1, m) for n, m in zip(reversed(shape), reversed(target), strict=False)
    )
    if not fits:
        raise ShapeError(
            f"could not broadcast input array from shape {shape} into shape {target}", where=capture_location()
        )


def is_traced_mask(index: Any) -> bool:
    """Return whether an index is a boolean array whose values are not known."""
    return isinstance(index, Tracer) and index.dtype.kind == "b" and index.concrete is None


def unsized_part(x: Tracer, index: Any) -> Part | None:
    """Return what an index of unknown extent shows: one traced mask, or slice with traced bounds, among basic ones."""
    return _masked_part(x, index) or sliced_part(x, index)


def _masked_part(x: Tracer, index: Any) -> Part | None:
    """Return, for one traced mask among basic indices, the view that these give, and the mask."""
    places = [k for k, entry in enumerate(index) if is_traced_mask(entry)] if isinstance(index, tuple) else []
    if len(places) != 1:
        return None
    before, mask, after = index[: places[0]], index[places[0]], index[places[0] + 1 :]
    items = normalize_index((*before, *[slice(None)] * mask.ndim, *after), x.shape)
    if any(isinstance(item, Points) for item in items):
        return None
    view = basic_view(x, items)
    is_counted_from_end = any(entry is Ellipsis for entry in before)
    kept = sum(entry is None or isinstance(entry, slice) for entry in (after if is_counted_from_end else before))
    axis = view.ndim - mask.ndim - kept if is_counted_from_end else kept
    if view.shape[axis : axis + mask.ndim] != mask.shape:
        raise AxisOutOfBoundsError(
            f"boolean index of shape {mask.shape} does not match the indexed axes of shape "
            f"{view.shape[axis : axis + mask.ndim]}",
            where=capture_location(),
        )
    return Part(view, mask, axis, True)


def _masked(x: Tracer, mask: Tracer, value: Any) -> Tracer:
    """``x[mask] = value`` as a select: a scalar or broadcastable value, or one value for each true element in order."""
    new = masked_values(x, mask, stored(value, x.dtype))
    full_mask = reshape_to(mask, mask.shape + (1,) * (x.ndim - mask.ndim))
    return as_traced(select(broadcast_to_shape(full_mask, x.shape), new, x))


def require_fitting_mask(x: Tracer, mask: Tracer) -> None:
    """Raise `AxisOutOfBoundsError` unless a mask covers leading axes of ``x``."""
    if mask.shape != x.shape[: mask.ndim]:
        raise AxisOutOfBoundsError(
            f"boolean index of shape {mask.shape} does not match the array's shape {x.shape}",
            where=capture_location(),
        )


def masked_values(x: Tracer, mask: Tracer, value: Any) -> Any:
    """Return, in the shape of ``x``, what each element would get from ``x[mask] = value``."""
    require_fitting_mask(x, mask)
    tail = x.shape[mask.ndim :]
    shape = shape_of(value)
    if len(shape) <= len(tail) or all(n == 1 for n in shape[: len(shape) - len(tail)]):
        return broadcast_to_shape(strip_leading(value, len(tail)), x.shape)
    if shape[0] == 0:
        return convert(x, value.dtype)  # fits only where nothing is chosen
    return advanced.in_order(mask, value, tail, cumsum)


@implements(np.take)
def take(a: Any, indices: Any, axis: int | None = None, out: Any = None, mode: str = "raise") -> Any:
    """Return elements along an axis; ``mode`` is ``"clip"``, ``"wrap"`` or, for constant indices, ``"raise"``.

    Parameters
    ----------
    a : array_like
    indices : array_like of int
        Of any shape, which stands for the axis in the result.
    axis : int, optional
        Without it, the flattened array.
    out : Array, optional
        Where the result is written.
    mode : "raise", "clip" or "wrap", optional
        "raise" clamps traced indices, whose values can't raise; negative ones count from the end, but under "clip".

    Returns
    -------
    Array

    Raises
    ------
    IndexError
        If an index that is known is out of bounds under "raise".

    Examples
    --------
    >>> take(np.array([5, 6, 7]), [2, 0])
    Array([7, 5])
    """
    return store("take", advanced.take(as_traced(asarray(a)), indices, axis, mode), out, exact=True)


@implements(np.take_along_axis)
def take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Any:
    """Return ``arr`` at ``indices``, matched along the other axes.

    Parameters
    ----------
    arr : array_like
    indices : array_like of int
        Of as many dimensions, which broadcast with the other axes of ``arr``; traced ones are clamped.
    axis : int or None, optional
        None for the flattened array.

    Returns
    -------
    Array
        Of the shape of the indices.

    Raises
    ------
    IndexError
        If an index that is known is out of bounds, or the indices are no integers.

    Examples
    --------
    >>> take_along_axis(np.array([[5, 6, 7]]), np.array([[2]]), 1)
    Array([[7]])
    """
    array = as_traced(asarray(arr))
    if axis is None:
        array, axis = as_traced(reshape_to(array, (array.size,))), 0
    place = normalize_axis(axis, array.ndim)
    items = advanced.along_axis_items(array.shape, asarray(indices), place)
    return advanced.gather_along(array, items, place)
