"""What NumPy's ufuncs have as methods, traced: ``reduce``, ``accumulate``, ``reduceat``, ``outer`` and ``at``.

Ufuncs that have an op of their own for it use that; those whose order of combination doesn't matter are reduced by
halves. All others go element by element in NumPy's order: a scan, which compiles to one loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numhlo.library.numpy import cumulative, reductions
from numhlo.library.numpy import elementwise as ufuncs
from numhlo.library.numpy.axis_order import moveaxis
from numhlo.library.numpy.indexing.at import update_in_place
from numhlo.library.numpy.indexing.brackets import is_traced_mask, take
from numhlo.library.numpy.indexing.nonzero_positions import has_selected, set_at, with_masks
from numhlo.library.numpy.out_arrays import store
from numhlo.library.numpy.segments import combine_segments
from numhlo.library.numpy.ufunc_calls import METHODS, Ufunc
from numhlo.library.numpy.ufunc_rules.elementwise import select
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import AxisOutOfBoundsError
from numhlo.tracer.building import (
    Tracer,
    Unsized,
    as_traced,
    asarray,
    broadcast_to_shape,
    concatenate_arrays,
    convert,
    expand,
    extent_product,
    full_of,
    require_array,
    reshape_to,
    result_dtype,
    scan,
    shape_of,
    while_loop,
)

REDUCTIONS: dict[Ufunc, Callable[..., Any]] = {
    ufuncs.add: reductions.sum,
    ufuncs.multiply: reductions.prod,
    ufuncs.maximum: reductions.max,
    ufuncs.minimum: reductions.min,
    ufuncs.logical_and: reductions.all,
    ufuncs.logical_or: reductions.any,
    ufuncs.bitwise_and: reductions.bitwise_and_reduce,
    ufuncs.bitwise_or: reductions.bitwise_or_reduce,
    ufuncs.bitwise_xor: reductions.bitwise_xor_reduce,
}
FOLDED = frozenset({
    ufuncs.fmax, ufuncs.fmin, ufuncs.gcd, ufuncs.hypot, ufuncs.lcm, ufuncs.logaddexp, ufuncs.logaddexp2,
    ufuncs.logical_xor,
})  # fmt: skip
"""What is reduced by halves."""

RUNNING: dict[Ufunc, str] = {
    ufuncs.add: "cumsum",
    ufuncs.multiply: "cumprod",
    ufuncs.maximum: "cummax",
    ufuncs.minimum: "cummin",
    ufuncs.logical_or: "cummax",
    ufuncs.logical_and: "cummin",
}
LOGICAL = frozenset({ufuncs.logical_and, ufuncs.logical_or})
WIDENED = frozenset({ufuncs.add, ufuncs.multiply})
"""Those that combine small integers in wider ones."""

SCATTERED: dict[Ufunc, str] = {
    ufuncs.add: "add",
    ufuncs.subtract: "subtract",
    ufuncs.multiply: "multiply",
    ufuncs.maximum: "maximum",
    ufuncs.minimum: "minimum",
}
"""What ``at`` is a scatter for."""

SEGMENTS = {ufuncs.add: "add", ufuncs.multiply: "multiply", ufuncs.maximum: "maximum", ufuncs.minimum: "minimum"}


def _reduce(
    ufunc: Ufunc,
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = reductions.NO_VALUE,
    where: Any = True,
) -> Any:
    found = None if ufunc in LOGICAL and initial is not reductions.NO_VALUE else REDUCTIONS.get(ufunc)
    if found is None:
        return _folded(ufunc, asarray(array), axis, dtype, out, keepdims, initial, where)
    options: dict[str, Any] = {"axis": axis, "out": out, "keepdims": keepdims, "where": where}
    operand = asarray(array)
    if dtype is not None and ufunc in WIDENED:
        options["dtype"] = dtype
    elif dtype is not None:
        combined, _ = _types(ufunc, operand, dtype)  # raises what NumPy raises
        operand = operand if ufunc in LOGICAL else convert(operand, combined)
    if initial is not reductions.NO_VALUE:
        options["initial"] = initial
    return found(operand, **options)


def _folded(ufunc: Ufunc, array: Any, axis: Any, dtype: Any, out: Any, keepdims: bool, initial: Any, where: Any) -> Any:
    """Return an array combined along axes by the ufunc itself."""
    shape = shape_of(array)
    axes = reductions.reduction_axes(axis, len(shape))
    reorderable = ufunc in FOLDED or ufunc in LOGICAL
    name = f"reduction operation '{ufunc.__name__}'"
    if len(axes) > 1 and not reorderable:
        raise ValueError(f"{name} is not reorderable, so at most one axis may be specified")
    has_start = initial is not reductions.NO_VALUE
    start = initial if has_start else ufunc.identity
    if start is None and (where is not True or 0 in [shape[k] for k in axes]):
        raise ValueError(f"{name} does not have an identity, so 'initial' is needed")
    wanted, result_type = _types(ufunc, array, dtype)
    rows, mask = _lines(convert(array, wanted), axes), None
    rest = shape_of(rows)[1:]
    if where is not True:
        mask = _lines(broadcast_to_shape(asarray(where, np.dtype(bool)), shape), axes)
    if start is not None and (has_start or mask is not None or shape_of(rows)[0] < 2):  # of one: gcd(0, -2) is 2
        first = broadcast_to_shape(convert(asarray(start), wanted), (1, *rest))
        rows = concatenate_arrays([first, rows], 0)
        mask = mask if mask is None else concatenate_arrays([full_of(True, (1, *rest), np.dtype(bool)), mask], 0)
    found = _halved(ufunc, rows) if reorderable and mask is None else _in_order(ufunc, rows, mask)
    result = convert(found, result_type)
    return store(
        f"{ufunc.__name__}.reduce", expand(result, *axes) if reductions.keeps(keepdims) else result, out, exact=True
    )


def _lines(array: Any, axes: Sequence[int]) -> Any:
    """Return an array with some axes in front, as one."""
    rows, count = moveaxis(array, axes, range(len(axes))), len(axes)
    return reshape_to(rows, (extent_product(shape_of(rows)[:count]), *shape_of(rows)[count:]))


def _types(ufunc: Ufunc, array: Any, dtype: Any) -> tuple[np.dtype, np.dtype]:
    """Return the dtypes that elements are combined in, and that the result has; raises what NumPy raises."""
    result = ufunc.ufunc.reduce(np.zeros(1, array.dtype), dtype=dtype).dtype
    return (ufunc.loop((array, array), dtype)[0] if result == np.bool_ else result), result


def _halved(ufunc: Ufunc, rows: Any) -> Any:
    """Return what is left when one half of an array is combined with the other, again and again."""
    dtype = rows.dtype
    while (count := shape_of(rows)[0]) > 1:
        half = count // 2
        combined = convert(ufunc(rows[:half], rows[half : 2 * half]), dtype)
        rows = concatenate_arrays([combined, rows[2 * half :]], 0) if count % 2 else combined
    return reshape_to(rows, shape_of(rows)[1:])


def _in_order(ufunc: Ufunc, rows: Any, mask: Any = None) -> Any:
    """Return the rows combined one after the other, from the first; where a mask holds, if there is one."""

    def step(total: Any, row: Any) -> tuple[Any, None]:
        new = convert(ufunc(total, row[0]), rows.dtype)
        return (new if mask is None else select(row[1], new, total)), None

    return scan(step, rows[0], (rows[1:], rows[1:] if mask is None else mask[1:]))[0]


def _running(ufunc: Ufunc, rows: Any, begins: Any = None) -> Any:
    """Return the running combination of rows; it begins anew where ``begins`` says so."""
    if not shape_of(rows)[0]:
        return rows

    def step(total: Any, given: Any) -> tuple[Any, Any]:
        row, is_first = given
        new = convert(ufunc(total, row), rows.dtype)
        new = new if begins is None else select(broadcast_to_shape(is_first, shape_of(row)), row, new)
        return new, new

    flags = np.zeros(shape_of(rows)[0], bool) if begins is None else begins
    later = scan(step, rows[0], (rows[1:], flags[1:]))[1]
    return concatenate_arrays([rows[:1], later], 0)


def _accumulate(ufunc: Ufunc, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
    kind = RUNNING.get(ufunc)
    given = asarray(array)
    if kind is not None:
        return cumulative.running(kind, convert(given, np.bool_) if ufunc in LOGICAL else given, axis, dtype, out)
    wanted, result_type = _types(ufunc, given, dtype)
    rows = moveaxis(convert(given, wanted), axis, 0)
    result = moveaxis(convert(_running(ufunc, rows), result_type), 0, axis)
    return result if out is None else store(f"{ufunc.__name__}.accumulate", result, out, exact=True)


def _reduceat(ufunc: Ufunc, array: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
    rows = moveaxis(asarray(array), axis, 0)
    wanted, result_type = _types(ufunc, rows, dtype)
    if ufunc in WIDENED:
        wanted = result_type = ufunc.ufunc.reduceat(np.zeros(1, rows.dtype), [0], dtype=dtype).dtype
    rows = convert(rows, wanted)
    if isinstance(indices, Tracer) and indices.known() is None:
        result = _combined_between(ufunc, rows, indices)
    else:
        result = _combined_from(ufunc, rows, indices)
    result = moveaxis(convert(result, result_type), 0, axis)
    return result if out is None else store(f"{ufunc.__name__}.reduceat", result, out, exact=True)


def _combined_from(ufunc: Ufunc, rows: Any, indices: Any) -> Any:
    """Return what lies between known indices combined."""
    starts = np.asarray(indices.known() if isinstance(indices, Tracer) else indices, np.int64)
    extent = shape_of(rows)[0]
    outside = starts[(starts < 0) | (starts >= extent)]
    if outside.size:
        raise AxisOutOfBoundsError(
            f"index {outside[0]} out-of-bounds in {ufunc.__name__}.reduceat [0, {extent})", where=capture_location()
        )
    ends = np.append(starts[1:], extent)
    lengths = np.where(ends > starts, ends - starts, 1)  # as NumPy: an index that is not below the next stands alone
    first = np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
    chosen = take(rows, first + np.arange(lengths.sum()), axis=0)
    combine = SEGMENTS.get(ufunc)
    if combine is not None:
        return combine_segments(combine, chosen, np.repeat(np.arange(len(starts)), lengths), len(starts))
    last = np.cumsum(lengths) - 1
    begins = np.isin(np.arange(lengths.sum()), last - lengths + 1)
    return take(_running(ufunc, chosen, begins), last, axis=0)


def _combined_between(ufunc: Ufunc, rows: Any, indices: Any) -> Any:
    """Return what lies between traced indices combined: a loop for each of them."""
    extent = shape_of(rows)[0]
    starts = convert(indices, np.int64)
    ends = concatenate_arrays([starts[1:], full_of(extent, (1,), np.dtype(np.int64))], 0)

    def following(state: tuple[Any, Any]) -> tuple[Any, Any]:
        place, total = state
        return place + 1, convert(ufunc(total, take(rows, place, axis=0)), rows.dtype)

    def one(_: Any, span: Any) -> tuple[None, Any]:
        start, end = span
        first = (start + 1, take(rows, start, axis=0))
        return None, while_loop(lambda state: state[0] < end, following, first)[1]

    return scan(one, None, (starts, ends))[1]


def _outer(ufunc: Ufunc, A: Any, B: Any, **options: Any) -> Any:
    x, y = asarray(A), asarray(B)
    column = reshape_to(x, (*shape_of(x), *[1] * len(shape_of(y))))
    return ufunc(column, y, **options)


def _at(ufunc: Ufunc, a: Any, indices: Any, b: Any = None) -> None:
    if not isinstance(a, Tracer):
        store(f"{ufunc.__name__}.at", b, a)
    require_array(a, f"{ufunc.__name__}.at")
    indices = indices[0] if isinstance(indices, tuple) and len(indices) == 1 else indices
    indices = with_masks(a, indices) if has_selected(indices) else indices
    whole = b is None or a.dtype.kind not in "biu" or result_dtype(b).kind not in "fc"
    if has_selected(indices):
        _at_places(ufunc, a, indices, b)
    elif whole and ufunc in SCATTERED and not isinstance(b, Unsized):
        update_in_place(a, indices, b, SCATTERED[ufunc])
    elif is_traced_mask(indices) or _is_basic(indices):
        old = as_traced(a)[indices]  # type: ignore[index]
        new = ufunc(old) if b is None else ufunc(old, b)
        a[indices] = new if isinstance(new, Unsized) else convert(new, a.dtype)
    else:
        _one_by_one(ufunc, a, indices, b)


def _at_places(ufunc: Ufunc, a: Tracer, indices: Any, b: Any) -> None:
    """Combine elements at places of unknown number, of which some may be equal, with a number or as many values."""
    kind = SCATTERED.get(ufunc)
    if kind is None:
        next(i for i in (indices if isinstance(indices, tuple) else (indices,)) if isinstance(i, Unsized)).refuse()
    if kind != "subtract":
        set_at(a, indices, b, kind)
        return
    wide = b.astype(a.dtype) if isinstance(b, Unsized) else convert(asarray(b), a.dtype)  # of uint8, 0 - 3 is 253
    set_at(a, indices, ufuncs.negative(wide), "add")


def _is_basic(indices: Any) -> bool:
    """Return whether an index takes no element twice: integers and slices."""
    items = indices if isinstance(indices, tuple) else (indices,)
    return all(isinstance(i, int | np.integer | slice | type(None) | type(...)) for i in items)


def _one_by_one(ufunc: Ufunc, a: Tracer, indices: Any, b: Any) -> None:
    """Apply a ufunc to one chosen element after the other: those that are chosen twice change twice."""
    size = a.size
    numbers = asarray(np.arange(size).reshape(a.shape))
    places = asarray(as_traced(numbers)[indices])  # type: ignore[index]
    chosen = shape_of(places)
    others = places if b is None else broadcast_to_shape(asarray(b), chosen)
    count = extent_product(chosen)

    def step(flat: Any, given: Any) -> tuple[Any, None]:
        place, other = given
        old = take(flat, place)
        flat[place] = convert(ufunc(old) if b is None else ufunc(old, other), a.dtype)
        return flat, None

    flat = as_traced(reshape_to(a, (size,))).copy()  # type: ignore[attr-defined]
    after = scan(step, flat, (reshape_to(places, (count,)), reshape_to(others, (count,))))[0]
    a.assign(as_traced(reshape_to(after, a.shape)))


METHODS.update(reduce=_reduce, accumulate=_accumulate, reduceat=_reduceat, outer=_outer, at=_at)
