"""Sets as sorted arrays: unique, union1d and their kin.

While tracing the number of results must be known: ``size=`` fixes it, and shorter results are filled up.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from numhlo.library.documentation import described
from numhlo.library.numpy import elementwise as ufuncs
from numhlo.library.numpy import reductions, sorting
from numhlo.library.numpy.axis_order import moveaxis
from numhlo.library.numpy.cumulative import cumsum
from numhlo.library.numpy.indexing import advanced_indexing as advanced
from numhlo.library.numpy.indexing.found_values import distinct
from numhlo.library.numpy.indexing.index_items import Points
from numhlo.library.numpy.joining import concatenate
from numhlo.library.numpy.membership import isin
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import DataDependentShapeError
from numhlo.tracer.building import (
    Tracer,
    are_arrays_immutable,
    as_traced,
    asarray,
    broadcast_to_shape,
    convert,
    full_of,
    implements,
    new_array,
    require_size,
    reshape_to,
)
from numhlo.tracer.building import operations as b

__all__ = [
    "intersect1d",
    "setdiff1d",
    "setxor1d",
    "union1d",
    "unique",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
]

_PAIR = """
Parameters
----------
ar1, ar2 : array_like
    Flattened.
assume_unique : bool, optional
    NumPy's; without a meaning while tracing.
size, fill_value : optional
    As those of `unique`.

Returns
-------
Array

Raises
------
DataDependentShapeError
    While tracing, without ``size``.
"""

NUMPY_UNIQUE: Any = np.unique


def _flat(x: Any) -> Tracer:
    array = as_traced(asarray(x))
    return as_traced(reshape_to(array, (array.size,)))


def _require_size(name: str, size: int | None) -> int:
    if size is None:
        raise DataDependentShapeError(
            f"{name} of a traced array",
            where=capture_location(),
            why="the number of results is not known while tracing",
            fix=f"write numhlo.numpy.{name}(..., size=n), and fill_value= for what is left",
        )
    return require_size(size)


def _of_known(function: Callable[..., Any], size: int | None, *operands: Any) -> Any:
    """Return what NumPy's function gives of arrays whose elements are known while tracing; None if some aren't."""
    if size is not None:
        return None
    known = [as_traced(asarray(x)).known() for x in operands]
    if any(x is None for x in known):
        return None
    found = function(*known)
    return tuple(map(new_array, found)) if isinstance(found, tuple) else new_array(found)


def _fill_up(result: Any, size: int | None, fill_value: Any) -> Any:
    if size is None:
        return result
    size = require_size(size)
    short = np.asarray(result)[:size]
    if len(short) == size:
        return short
    filler = fill_value if fill_value is not None else (short[0] if len(short) else 0)
    return np.concatenate([short, np.full((size - len(short), *short.shape[1:]), filler, short.dtype)])


def _eager_unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    found = NUMPY_UNIQUE(ar, return_index, return_inverse, return_counts, axis, equal_nan=equal_nan)
    if size is None:
        return found
    parts = list(found) if isinstance(found, tuple) else [found]
    if axis is not None:
        parts[0] = np.moveaxis(parts[0], axis, 0)
    fillers = [fill_value] + [None] * return_index + [None] * return_inverse + [0] * return_counts
    inverse_at = 1 + return_index if return_inverse else -1
    made = [p if k == inverse_at else _fill_up(p, size, f) for k, (p, f) in enumerate(zip(parts, fillers, strict=True))]
    if axis is not None:
        made[0] = np.moveaxis(made[0], 0, axis)
    return tuple(made) if isinstance(found, tuple) else made[0]


@implements(np.unique, eager=_eager_unique)
def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """Return the sorted distinct elements; while tracing ``size`` of them, filled up with ``fill_value`` or the least.

    Parameters
    ----------
    ar : array_like
    return_index, return_inverse, return_counts : bool, optional
        Also return where each first occurs, which one each element is, how often each occurs.
    axis : int, optional
        Distinct slices along it, in lexical order, instead of distinct elements; NaN is then distinct from NaN.
    equal_nan, sorted : bool, optional
    size : int, optional
        The number of results; while tracing, what has none can be returned, and used as ``x[mask]``.
    fill_value : scalar, optional

    Returns
    -------
    Array, or tuple of Array
        One-dimensional; with an axis, the first one has the shape of ``ar`` but along it.

    Raises
    ------
    DataDependentShapeError
        If ``ar`` is traced, ``size`` left out, and more than the elements asked for.

    Examples
    --------
    >>> unique(np.array([3, 1, 3]), size=3, fill_value=0)
    Array([1, 3, 0])
    """
    array = as_traced(asarray(ar))
    flags = return_index, return_inverse, return_counts, axis
    known = _of_known(lambda x: NUMPY_UNIQUE(x, *flags, equal_nan=equal_nan), size, array)
    if known is not None:
        return known
    rows = _flat(array) if axis is None else as_traced(moveaxis(array, axis, 0))
    is_plain = axis is None and not any(flags[:3])
    if size is None and rows.size and is_plain and not are_arrays_immutable():
        return distinct(rows, equal_nan)
    count = _require_size("unique", size)
    parts = _distinct(rows, count, equal_nan, fill_value)
    wanted = [True, return_index, return_inverse, return_counts]
    if axis is None:
        parts[2] = reshape_to(parts[2], array.shape)
    else:
        parts[0] = moveaxis(parts[0], 0, axis)
    chosen = [p for p, w in zip(parts, wanted, strict=True) if w]
    return tuple(chosen) if len(chosen) > 1 else chosen[0]


def _distinct(rows: Tracer, size: int, equal_nan: bool, fill_value: Any) -> list[Any]:
    """Return ``size`` distinct elements along the first axis, where each begins, which one each is, and counts."""
    number, rest = rows.shape[0], rows.shape[1:]
    if number == 0:
        empty = full_of(0 if fill_value is None else fill_value, (size, *rest), rows.dtype)
        zeros = full_of(0, (size,), np.int64)
        return [empty, zeros, full_of(0, (0,), np.int64), zeros]
    if size == 0:
        _, _, inverse, _ = _distinct(rows, 1, equal_nan, fill_value)
        return [full_of(0, (0, *rest), rows.dtype), full_of(0, (0,), np.int64), inverse, full_of(0, (0,), np.int64)]
    order, changed = _changes(rows, equal_nan) if rows.ndim == 1 else _changes_of_rows(rows)
    rank = concatenate([full_of(0, (1,), np.int64), cumsum(convert(changed, np.int64))], 0)
    filler = rows[order[0]] if fill_value is None else convert(asarray(fill_value), rows.dtype)  # type: ignore[index]
    first_index = _scattered(rank, order, full_of(number, (size,), np.int64), "minimum")
    present = b.less(first_index, number)
    index = _or_first(present, first_index)
    chosen = broadcast_to_shape(reshape_to(present, (size, *[1] * len(rest))), (size, *rest))
    values = b.select(chosen, rows[index], broadcast_to_shape(filler, (size, *rest)))  # type: ignore[index]
    inverse = _scattered(order, rank, full_of(0, (number,), np.int64))
    counts = _scattered(rank, full_of(1, (number,), np.int64), full_of(0, (size,), np.int64), "add")
    return [values, index, inverse, counts]


def _changes(flat: Tracer, equal_nan: bool) -> tuple[Any, Any]:
    """Return the order of elements, and where one differs from the one before it."""
    ordered, order = sorting.sort_together([flat, b.iota(flat.size)], 0)
    ordered = as_traced(ordered)
    changed = ufuncs.not_equal(ordered[1:], ordered[:-1])  # type: ignore[index]
    if equal_nan and flat.dtype.kind in "fcV":
        both_nan = ufuncs.logical_and(ufuncs.isnan(ordered[1:]), ufuncs.isnan(ordered[:-1]))  # type: ignore[index]
        changed = ufuncs.logical_and(changed, ufuncs.logical_not(both_nan))
    return order, changed


def _changes_of_rows(rows: Tracer) -> tuple[Any, Any]:
    """Return the lexical order of slices, and where one differs from the one before it."""
    number, width = rows.shape[0], math.prod(rows.shape[1:])
    if not width:
        return b.iota(number), full_of(False, (number - 1,), np.bool_)
    lines = as_traced(reshape_to(rows, (number, width)))
    order = sorting.lexsort([lines[:, k] for k in reversed(range(width))])  # type: ignore[index]
    ordered = as_traced(lines[order])  # type: ignore[index]
    return order, reductions.any(ufuncs.not_equal(ordered[1:], ordered[:-1]), 1)  # type: ignore[index]


def _scattered(places: Any, values: Any, into: Any, kind: str = "set") -> Any:
    target = new_array(into)
    advanced.scatter_points(target, [Points(places)], values, kind)
    return target


class UniqueAll(NamedTuple):
    """Result of `unique_all`."""

    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


class UniqueCounts(NamedTuple):
    """Result of `unique_counts`."""

    values: Any
    counts: Any


class UniqueInverse(NamedTuple):
    """Result of `unique_inverse`."""

    values: Any
    inverse_indices: Any


VARIANT = """Return the distinct elements as `unique` does, NaN distinct from NaN.

    Parameters
    ----------
    x : array_like
    size, fill_value : int, scalar, optional
        While tracing, how many distinct elements to return, and what fills their places where there are fewer.

    Returns
    -------
    Array, or named tuple of Arrays

    Raises
    ------
    DataDependentShapeError
        While tracing, without ``size``.

    Notes
    -----
    Source: the Array API standard, {name}.

    Examples
    --------
    >>> {name}(np.array([3, 1, 3]))
    {example}
    """


def _variant(numpy_function: Callable[..., Any], kind: Any, example: str, **flags: bool) -> Callable[..., Any]:
    def run(x: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
        found = unique(x, equal_nan=False, size=size, fill_value=fill_value, **flags)
        return kind(*found) if kind is not None else found

    def eager(x: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
        found = _eager_unique(x, equal_nan=False, size=size, fill_value=fill_value, **flags)
        return kind(*found) if kind is not None else found

    name = numpy_function.__name__
    run.__name__ = run.__qualname__ = name
    run.__doc__ = VARIANT.format(name=name, example=example)
    return implements(numpy_function, eager=eager)(run)


unique_all = _variant(
    np.unique_all,
    UniqueAll,
    "UniqueAll(values=Array([1, 3]), indices=Array([1, 0]), inverse_indices=Array([1, 0, 1]), counts=Array([1, 2]))",
    return_index=True,
    return_inverse=True,
    return_counts=True,
)
unique_counts = _variant(
    np.unique_counts, UniqueCounts, "UniqueCounts(values=Array([1, 3]), counts=Array([1, 2]))", return_counts=True
)
unique_inverse = _variant(
    np.unique_inverse,
    UniqueInverse,
    "UniqueInverse(values=Array([1, 3]), inverse_indices=Array([1, 0, 1]))",
    return_inverse=True,
)
unique_values = _variant(np.unique_values, None, "Array([1, 3])")


def _eager_sized(function: Callable[..., Any]) -> Callable[..., Any]:
    def run(*args: Any, size: int | None = None, fill_value: Any = None, **options: Any) -> Any:
        found = function(*args, **options)
        if size is None or not isinstance(found, tuple):
            return _fill_up(found, size, fill_value)
        operands = [*args, *[options[name] for name in ("ar1", "ar2") if name in options]]
        places = [_fill_up(p, size, np.size(x)) for p, x in zip(found[1:], operands, strict=False)]
        return (_fill_up(found[0], size, fill_value), *places)

    return run


@implements(np.union1d, eager=_eager_sized(np.union1d))
@described(_PAIR)
def union1d(ar1: Any, ar2: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    """Return the sorted elements that are in either array.

    Examples
    --------
    >>> union1d([1, 2], [2, 3])
    Array([1, 2, 3])
    """
    known = _of_known(np.union1d, size, ar1, ar2)
    if known is not None:
        return known
    return unique(concatenate([_flat(ar1), _flat(ar2)], 0), size=_require_size("union1d", size), fill_value=fill_value)


@implements(np.intersect1d, eager=_eager_sized(np.intersect1d))
@described(_PAIR)
def intersect1d(
    ar1: Any,
    ar2: Any,
    assume_unique: bool = False,
    return_indices: bool = False,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """Return the sorted elements that are in both arrays.

    Parameters
    ----------
    return_indices : bool, optional
        Return where the elements stand in either, too.

    Returns
    -------
    Array, or tuple of three Arrays

    Raises
    ------
    DataDependentShapeError
        While tracing, without ``size``.

    Examples
    --------
    >>> intersect1d([1, 2, 3], [3, 1, 5])
    Array([1, 3])
    """
    intersection: Any = np.intersect1d
    known = _of_known(lambda x, y: intersection(x, y, return_indices=return_indices), size, ar1, ar2)
    if known is not None:
        return known
    if return_indices:
        return _common(_flat(ar1), _flat(ar2), _require_size("intersect1d", size), fill_value)
    return _kept("intersect1d", _flat(ar1), isin(_flat(ar1), ar2), size, fill_value)


@implements(np.setdiff1d, eager=_eager_sized(np.setdiff1d))
@described(_PAIR)
def setdiff1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, *, size: int | None = None, fill_value: Any = None
) -> Any:
    """Return the sorted elements of the first array that are not in the second.

    Examples
    --------
    >>> setdiff1d([1, 2, 3], [2])
    Array([1, 3])
    """
    known = _of_known(np.setdiff1d, size, ar1, ar2)
    if known is not None:
        return known
    return _kept("setdiff1d", _flat(ar1), isin(_flat(ar1), ar2, invert=True), size, fill_value)


@implements(np.setxor1d, eager=_eager_sized(np.setxor1d))
@described(_PAIR)
def setxor1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, *, size: int | None = None, fill_value: Any = None
) -> Any:
    """Return the sorted elements that are in exactly one of two arrays.

    Examples
    --------
    >>> setxor1d([1, 2], [2, 3])
    Array([1, 3])
    """
    known = _of_known(np.setxor1d, size, ar1, ar2)
    if known is not None:
        return known
    first, second = _flat(ar1), _flat(ar2)
    kept = concatenate([isin(first, second, invert=True), isin(second, first, invert=True)], 0)
    return _kept("setxor1d", as_traced(concatenate([first, second], 0)), kept, size, fill_value)


def _common(first: Tracer, second: Tracer, size: int, fill_value: Any) -> tuple[Any, Any, Any]:
    """Return the sorted distinct elements of both arrays, and where each stands in either: at its end if in none."""
    both = as_traced(concatenate([first, second], 0))
    total = both.size
    if not total:
        nowhere = full_of(0, (size,), np.int64)
        return full_of(0 if fill_value is None else fill_value, (size,), both.dtype), nowhere, nowhere
    values, _, group, _ = _distinct(both, total, False, None)
    group = as_traced(group)
    places = [
        _scattered(part, b.iota(array.size), full_of(array.size, (total,), np.int64), "minimum")
        for array, part in ((first, group[: first.size]), (second, group[first.size :]))  # type: ignore[index]
    ]
    is_common = b.both(b.less(places[0], first.size), b.less(places[1], second.size))
    order = sorting.argsort(ufuncs.logical_not(is_common), stable=True)
    number = broadcast_to_shape(reductions.sum(is_common), (size,))
    present, slots = b.less(b.iota(size), number), ufuncs.minimum(b.iota(size), total - 1)
    values, *places = (advanced.take(advanced.take(x, order, 0, "clip"), slots, 0, "clip") for x in (values, *places))
    rest = full_of(0 if fill_value is None else fill_value, (size,), both.dtype)
    if fill_value is None:
        least = broadcast_to_shape(as_traced(values)[:1], (size,))  # type: ignore[index]
        rest = b.select(b.greater(number, 0), least, rest)
    ends = [full_of(array.size, (size,), np.int64) for array in (first, second)]
    return b.select(present, values, rest), *(b.select(present, p, e) for p, e in zip(places, ends, strict=True))


def _kept(name: str, flat: Tracer, mask: Any, size: int | None, fill_value: Any) -> Any:
    """Return the sorted distinct elements where a mask holds."""
    count = _require_size(name, size)
    if count == 0:
        return full_of(0, (0,), flat.dtype)
    order = sorting.argsort(ufuncs.logical_not(mask), stable=True)
    front = advanced.take(flat, order, 0, "clip")
    number = reductions.sum(mask)
    inside = b.less(b.iota(flat.size), broadcast_to_shape(number, (flat.size,)))
    first = as_traced(front)[0] if flat.size else full_of(0, (), flat.dtype)  # type: ignore[index]
    repeated = b.select(inside, front, broadcast_to_shape(first, (flat.size,)))
    values, _, _, counts = _distinct(as_traced(repeated), count, True, fill_value)
    present = b.both(b.greater(counts, 0), broadcast_to_shape(b.greater(number, 0), (count,)))
    filler = full_of(0 if fill_value is None else fill_value, (count,), flat.dtype)
    return b.select(present, values, filler) if fill_value is not None else _or_first(present, values)


def _or_first(present: Any, values: Any) -> Any:
    return b.select(present, values, broadcast_to_shape(as_traced(values)[0], present.shape))  # type: ignore[index]
