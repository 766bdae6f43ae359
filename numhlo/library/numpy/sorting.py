"""sort, argsort and what follows from them, over one stable StableHLO sort.

Floats sort as NumPy sorts them, NaN last, and -0.0 equal to 0.0; complex numbers lexicographically. The comparator
compares *order keys*: integers whose order is NumPy's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.library.documentation import described
from numhlo.library.numpy.indexing import advanced_indexing as advanced
from numhlo.lowering.ir import TensorType
from numhlo.lowering.ops import sorting as sorting_ops
from numhlo.lowering.ops.control_flow import COMPOSITE
from numhlo.lowering.ops.order_statistics import MOST_PLACES, SHORT_ROW, make_order_statistics
from numhlo.tracer.building import (
    as_traced,
    asarray,
    bind,
    bind1,
    convert,
    full_of,
    implements,
    normalize_axis,
    reshape_to,
    shape_of,
    trace_region,
)
from numhlo.tracer.building import operations as b

__all__ = [
    "argsort",
    "lexsort",
    "sort",
    "sort_complex",
]

_SORT = """
Parameters
----------
a : array_like
axis : int or None, optional
    The last by default; None for the flattened array.
kind, order, stable : optional
    NumPy's; while tracing sorting is always stable, and there are no fields.
descending : bool, optional
    The Array API standard's: the greatest first, and still stable.

Returns
-------
Array

Raises
------
ValueError
    If NumPy knows no such ``kind``, or ``order`` is given, or ``kind`` and ``stable`` are.
numpy.exceptions.AxisError
    If there is no such axis.

Notes
-----
StableHLO specification, section ``sort``.
"""


def order_keys(x: Any) -> list[Any]:
    """Return arrays whose lexicographic order is NumPy's sorting order of ``x``.

    Integers are their own key, floats become integers ordered alike. Complex numbers are ordered by where they have NaN
    (nowhere, imaginary part, real part, both), then by real, then by imaginary part.
    """
    if x.dtype.kind in "biu":
        return [x]
    if x.dtype.kind == "c":
        parts = [b.real(x), b.imag(x)]
        nans = [convert(b.is_nan(part), np.int8) for part in parts]
        return [b.add(b.add(nans[0], nans[0]), nans[1]), *[key for part in parts for key in order_keys(part)]]
    bits = b.sign_bits(b.select(b.equal(x, 0), 0, x))
    largest = int(np.iinfo(bits.dtype).max)
    keys = b.select(b.less(bits, 0), b.differ(bits, largest), bits)
    return [b.select(b.is_nan(x), largest, keys)]


def sort_together(operands: list[Any], axis: int, descending: bool = False) -> list[Any]:
    """Return operands sorted together, stably, by the first one's order keys."""
    if len(operands) == 1 and operands[0].dtype in (np.float32, np.float64) and not descending:
        element = TensorType((), operands[0].dtype)
        body = trace_region(lambda x, y: [_number_before(x, y)], [element, element])
        return bind(sorting_ops.SORT, *operands, attributes={"dimension": axis, "is_stable": True}, regions=[body])
    keys = order_keys(operands[0])
    arrays = operands if len(keys) == 1 and keys[0] is operands[0] else [*keys, *operands]
    types = [TensorType((), a.dtype) for a in arrays for _ in (0, 1)]
    direction = "GT" if descending else "LT"
    body = trace_region(lambda *sides: [precedes(direction, sides[: 2 * len(keys)])], types)
    attributes = {"dimension": axis, "is_stable": True}
    return bind(sorting_ops.SORT, *arrays, attributes=attributes, regions=[body])[-len(operands) :]


def _number_before(x: Any, y: Any) -> Any:
    """Return whether a float comes before another one: NaN is last, zeros are equal."""
    return b.either(b.less(x, y), b.both(b.equal(x, x), b.unequal(y, y)))


def precedes(direction: str, sides: Sequence[Any]) -> Any:
    """Return whether the first of two lists of keys, given alternately, comes before the second."""
    x, y, *rest = sides
    wins = b.compare(direction, x, y)
    return b.either(wins, b.both(b.equal(x, y), precedes(direction, rest))) if rest else wins


def order_statistics(rows: Any, places: Any) -> Any:
    """Return the elements that would stand at some places of the last axis if it were sorted, ``(..., m)``.

    Few places of long rows are found without sorting.
    """
    few = np.prod(shape_of(places), dtype=int) <= MOST_PLACES
    if not few or rows.shape[-1] <= SHORT_ROW or rows.dtype.kind == "c":
        return advanced.take(sort(rows, -1), places, -1, "clip")
    attributes = make_order_statistics(*(TensorType(shape_of(x), x.dtype) for x in (rows, places)))
    return bind1(COMPOSITE, rows, places, attributes=attributes, results=attributes["decomposition"].result_types)


def along(a: Any, axis: int | None) -> tuple[Any, int]:
    """Return an array and the axis that is meant: of the flattened array where that is None."""
    array = as_traced(asarray(a))
    if axis is None:
        return as_traced(reshape_to(array, (array.size,))), 0
    return array, normalize_axis(axis, array.ndim)


def _eager_sort(
    a: Any, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: Any = None, descending: bool = False
) -> Any:
    if not descending:
        return np.sort(a, axis, kind, order, stable=stable)
    return np.take_along_axis(np.asarray(a), _eager_argsort(a, axis, descending=True), axis)


def _eager_argsort(
    a: Any, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: Any = None, descending: bool = False
) -> Any:
    if not descending:
        return np.argsort(a, axis, kind, order, stable=stable)
    array = np.asarray(a).ravel() if axis is None else np.asarray(a)
    place = 0 if axis is None else axis
    backwards = np.argsort(np.flip(array, place), place, stable=True)
    return array.shape[place] - 1 - np.flip(backwards, place)


@implements(np.sort, eager=_eager_sort)
@described(_SORT)
def sort(
    a: Any, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: Any = None, descending: bool = False
) -> Any:
    """Return a sorted copy along an axis; NaN last.

    Examples
    --------
    >>> sort(np.array([3, 1, 2]))
    Array([1, 2, 3])
    """
    _check(kind, order, stable)
    array, place = along(a, axis)
    return array if array.ndim == 0 else sort_together([array], place, descending)[0]


@implements(np.argsort, eager=_eager_argsort)
@described(_SORT)
def argsort(
    a: Any, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: Any = None, descending: bool = False
) -> Any:
    """Return the indices that would sort an array along an axis; equal elements keep their order.

    Examples
    --------
    >>> argsort(np.array([3, 1, 2]))
    Array([1, 2, 0])
    """
    _check(kind, order, stable)
    if asarray(a).ndim == 0 and axis in (-1, 0):
        return full_of(0, (1,), np.int64)
    array, place = along(a, axis)
    index = b.iota_along(array.shape, place)
    return sort_together([array, index], place, descending)[1]


@implements(np.lexsort)
def lexsort(keys: Any, axis: int = -1) -> Any:
    """Return the indices that sort by several keys, the last one first.

    Parameters
    ----------
    keys : sequence of array_like, or array_like
        Of one shape; the last is the primary key.
    axis : int, optional

    Returns
    -------
    Array
        Of int64.

    Examples
    --------
    >>> lexsort((np.array([3, 1]), np.array([0, 0])))
    Array([1, 0])
    """
    rows = [as_traced(asarray(k)) for k in keys]
    if not rows:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    if rows[0].ndim == 0:
        return full_of(0, (), np.int64)
    place = normalize_axis(axis, rows[0].ndim)
    arrays: list[Any] = [*rows, b.iota_along(rows[0].shape, place)]
    for step in range(len(rows)):
        moved = sort_together([arrays[step], *arrays[step + 1 :]], place)
        arrays[step + 1 :] = moved[1:]
    return convert(arrays[-1], np.int64)


@implements(np.sort_complex)
def sort_complex(a: Any) -> Any:
    """Return a sorted copy along the last axis, as complex numbers.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    Array
        By real part, then imaginary part; of complex64 for integers of 8 and 16 bits, of complex128 for other reals.

    Examples
    --------
    >>> sort_complex([2.0, 1.0])
    Array([1.+0.j, 2.+0.j])
    """
    ordered = sort(a)
    if ordered.dtype.kind == "c":
        return ordered
    narrow = ordered.dtype.itemsize < 4 and ordered.dtype.kind in "iu"
    return convert(ordered, np.complex64 if narrow else np.complex128)


def _check(kind: Any, order: Any, stable: Any) -> None:
    """Raise what NumPy raises for options that it does not take."""
    np.sort(np.empty(0), kind=kind, order=order, stable=stable)
