"""Elements found: where, argmax and argmin, nonzero, searchsorted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.library.documentation import described
from numhlo.library.numpy.indexing import advanced_indexing as advanced
from numhlo.library.numpy.indexing.brackets import masked_values
from numhlo.library.numpy.indexing.nonzero_positions import places_of
from numhlo.library.numpy.out_arrays import store
from numhlo.library.numpy.sorting import order_keys, precedes
from numhlo.library.numpy.ufunc_rules.elementwise import compare, constant, select
from numhlo.library.numpy.ufunc_rules.greatest_values import note_greatest
from numhlo.library.numpy.weak_numbers import with_weak_numbers, wrapped_integer
from numhlo.lowering.ir import TensorType, capture_location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.lowering.ops import elementwise as ops
from numhlo.lowering.ops import reduction
from numhlo.lowering.ops.control_flow import COMPOSITE
from numhlo.lowering.ops.true_places import make_true_places
from numhlo.tracer.building import (
    are_arrays_immutable,
    as_traced,
    asarray,
    bind,
    bind1,
    broadcast_shapes,
    broadcast_to_shape,
    convert,
    full_of,
    implements,
    normalize_axis,
    promotion_key,
    require_size,
    reshape_to,
    result_dtype,
    shape_of,
    trace_region,
)
from numhlo.tracer.building import operations as b

__all__ = [
    "argmax",
    "argmin",
    "flatnonzero",
    "nonzero",
    "searchsorted",
    "where",
]

_EXTREMUM = """
Parameters
----------
a : array_like
    Complex numbers are ordered by real part, then imaginary part.
axis : int, optional
    Without it, the flattened array.
out : Array, optional
    Where the result is written.
keepdims : bool, optional
    Keep the axis, with extent 1.

Returns
-------
Array
    Of int64.

Raises
------
ValueError
    If there are no elements to choose from.
"""

NO_VALUE: Any = np._NoValue


def _eager_where(condition: Any, *branches: Any, **sized: Any) -> Any:
    if branches and branches[0] is not None:
        return np.where(condition, *with_weak_numbers(branches))
    return _eager_nonzero(condition, **sized)


@implements(np.where, eager=_eager_where)
def where(
    condition: Any, x: Any = NO_VALUE, y: Any = NO_VALUE, /, *, size: int | None = None, fill_value: Any = None
) -> Any:
    """Return ``x`` where the condition holds, else ``y``; with one argument, the indices of true elements.

    Parameters
    ----------
    condition : array_like
        What is not zero is true.
    x, y : array_like, optional
        Both or none; all three broadcast.
    size, fill_value : optional
        As those of `nonzero`, for one argument.

    Returns
    -------
    Array, or tuple of Array
        Of the common dtype of ``x`` and ``y``. Both are computed in full, and only those elements taken.

    Raises
    ------
    ShapeError
        If the shapes do not broadcast.

    Examples
    --------
    >>> where(np.array([True, False]), 1, 2)
    Array([1, 2])
    """
    if (x is NO_VALUE) != (y is NO_VALUE):
        raise ValueError("either both or neither of x and y should be given")
    if x is NO_VALUE or x is None:
        return nonzero(condition, size=size, fill_value=fill_value)
    wanted = result_dtype(x, y)
    mask = _truth(asarray(condition))
    shape = broadcast_shapes(shape_of(mask), shape_of(x), shape_of(y), name="where", operands=(mask, x, y))
    if int in (type(x), type(y)) and are_arrays_immutable():
        x, y = wrapped_integer(x, wanted), wrapped_integer(y, wanted)
    branches = [
        broadcast_to_shape(convert(b if promotion_key(b) in (int, float, complex) else asarray(b), wanted), shape)
        for b in (x, y)
    ]
    return select(broadcast_to_shape(mask, shape), *branches)


def _truth(x: Any) -> Any:
    return x if x.dtype.kind == "b" else compare("NE", x, constant(0, x))


def _arg_extremum(direction: str, a: Any, axis: int | None, out: Any, keepdims: Any) -> Any:
    array = as_traced(asarray(a))
    kept_shape = (1,) * array.ndim
    if axis is None or (array.ndim == 0 and axis in (-1, 0)):
        array, place = as_traced(reshape_to(array, (array.size,))), 0
    else:
        place = normalize_axis(axis, array.ndim)
        kept_shape = tuple(1 if k == place else n for k, n in enumerate(array.shape))
    if array.shape[place] == 0:
        raise ValueError(
            "attempt to get argmax of an empty sequence"
            if direction == "GT"
            else "attempt to get argmin of an empty sequence"
        )
    keys = _ranking(direction, array)
    index = b.iota_along(array.shape, place)
    inits = [_worst(direction, k.dtype) for k in keys] + [np.asarray(np.iinfo(np.int64).max)]
    types = [TensorType((), x.dtype) for x in inits * 2]
    count = len(inits)
    body = trace_region(lambda *sides: _better(direction, sides[:count], sides[count:]), types)
    attributes = {"dimensions": (place,)}
    result = bind(reduction.REDUCE, *keys, index, *inits, attributes=attributes, regions=[body])[-1]
    result = note_greatest(result, array.shape[place] - 1)
    if keepdims is not NO_VALUE and keepdims:
        result = reshape_to(result, kept_shape)
    return store("argmax" if direction == "GT" else "argmin", result, out, exact=True)


def _ranking(direction: str, array: Any) -> list[Any]:
    """Return keys that rank elements lexicographically; a complex number with a NaN ranks best."""
    if array.dtype.kind != "c":
        return [array]
    broken = b.unequal(array, array)
    keys = [key for part in (b.real(array), b.imag(array)) for key in order_keys(part)]
    limits = np.iinfo(keys[0].dtype)
    return [b.select(broken, int(limits.max if direction == "GT" else limits.min), key) for key in keys]


def _worst(direction: str, dtype: np.dtype) -> np.ndarray:
    if dtype.kind == "b":
        return np.asarray(direction == "LT")
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return np.asarray(info.min if direction == "GT" else info.max, dtype)
    return np.asarray(-np.inf if direction == "GT" else np.inf).astype(dtype)


def _better(direction: str, one: Sequence[Any], other: Sequence[Any]) -> list[Any]:
    """Keep the better of two (keys..., index) rows: NaN first, then the keys, then the lower index."""
    wins = b.less(one[-1], other[-1])
    for v, w in reversed(list(zip(one[:-1], other[:-1], strict=True))):
        ahead, same = b.compare(direction, v, w), b.equal(v, w)
        if v.dtype.kind in "fV":
            ahead = b.either(ahead, b.both(b.is_nan(v), b.invert(b.is_nan(w))))
            same = b.either(same, b.both(b.is_nan(v), b.is_nan(w)))
        wins = b.either(ahead, b.both(same, wins))
    return [b.select(wins, v, w) for v, w in zip(one, other, strict=True)]


@implements(np.argmax)
@described(_EXTREMUM)
def argmax(a: Any, axis: int | None = None, out: Any = None, *, keepdims: Any = NO_VALUE) -> Any:
    """Return the index of the greatest element along an axis, the first of equals; NaN counts as greatest.

    Examples
    --------
    >>> argmax(np.array([3, 9, 5]))
    Array(1)
    """
    return _arg_extremum("GT", a, axis, out, keepdims)


@implements(np.argmin)
@described(_EXTREMUM)
def argmin(a: Any, axis: int | None = None, out: Any = None, *, keepdims: Any = NO_VALUE) -> Any:
    """Return the index of the least element along an axis, the first of equals; NaN counts as least.

    Examples
    --------
    >>> argmin(np.array([3, 9, 5]))
    Array(0)
    """
    return _arg_extremum("LT", a, axis, out, keepdims)


def _eager_nonzero(a: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    found = np.nonzero(a)
    if size is None:
        return found
    size = require_size(size)
    filler = fill_value if isinstance(fill_value, tuple) else (fill_value or 0,) * len(found)
    return tuple(
        np.append(f[:size], np.full(max(0, size - len(f)), v, f.dtype)) for f, v in zip(found, filler, strict=True)
    )


@implements(np.nonzero, eager=_eager_nonzero)
def nonzero(a: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    """Return the indices of true elements, one array a dimension; ``size`` fixes their number while tracing.

    Parameters
    ----------
    a : array_like
        NaN is true.
    size : int, optional
        Further ones are dropped, missing ones filled in.
    fill_value : int or tuple of int, optional
        For all axes or each one; 0 by default.

    Returns
    -------
    tuple of Array
        Of int64, in row-major order. Of a traced array without ``size``, they can be indexed by and computed with;
        what needs their number raises `DataDependentShapeError`.

    Examples
    --------
    >>> nonzero(np.array([0, 7, 8]), size=2)
    (Array([1, 2]),)
    """
    array = as_traced(asarray(a))
    if array.ndim == 0:
        raise ValueError("Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead.")
    known = array.known()
    if size is None and known is not None:
        return tuple(as_traced(i) for i in np.nonzero(known))
    if size is None:
        return places_of(as_traced(_truth(array)), masked_values, array.aval.short())
    mask = reshape_to(_truth(array), (array.size,))
    attributes = make_true_places(TensorType((array.size,), np.dtype(np.bool_)), require_size(size))
    found = bind1(COMPOSITE, mask, attributes=attributes, results=attributes["decomposition"].result_types)
    return tuple(_coordinate(as_traced(found), array.shape, k, fill_value) for k in range(array.ndim))


def _coordinate(flat: Any, shape: tuple[int, ...], axis: int, fill_value: Any) -> Any:
    """Return the index along an axis of each place in the flattened array; a filler where that is its size."""
    filler = fill_value[axis] if isinstance(fill_value, tuple) else (0 if fill_value is None else fill_value)
    extent, inner = math.prod(shape), math.prod(shape[axis + 1 :])
    index = flat if inner <= 1 else bind1(ops.DIVIDE, flat, constant(inner, flat))
    if axis:
        index = bind1(ops.REMAINDER, index, constant(max(shape[axis], 1), index))
    return select(compare("LT", flat, constant(extent, flat)), index, constant(filler, index))


def _eager_flatnonzero(a: Any, **sized: Any) -> Any:
    return _eager_nonzero(np.ravel(a), **sized)[0]


@implements(np.flatnonzero, eager=_eager_flatnonzero)
def flatnonzero(a: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    """Return the indices of true elements of the flattened array; ``size`` fixes their number while tracing.

    Parameters
    ----------
    a : array_like
    size, fill_value : optional
        As those of `nonzero`.

    Returns
    -------
    Array
        Of int64, one-dimensional; of a traced array without ``size``, as those of `nonzero`.

    Examples
    --------
    >>> flatnonzero(np.array([0, 7]))
    Array([1])
    """
    array = as_traced(asarray(a))
    return nonzero(reshape_to(array, (array.size,)), size=size, fill_value=fill_value)[0]


@implements(np.searchsorted)
def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    """Return where values would be inserted into a sorted array to keep it sorted (binary search).

    Parameters
    ----------
    a : array_like
        One-dimensional, sorted or with a ``sorter``; NaN last.
    v : array_like
        Of any shape.
    side : "left" or "right", optional
        Before or after equal elements.
    sorter : array_like of int, optional
        Indices that sort ``a``.

    Returns
    -------
    Array
        Of int64 and the shape of ``v``, each from 0 to ``a.size``. Unspecified where ``a`` is not sorted.

    Raises
    ------
    ArgumentError
        If ``side`` is another.
    ValueError
        If ``a`` is not one-dimensional.

    Examples
    --------
    >>> searchsorted(np.array([1, 3, 5]), 4)
    Array(2)
    """
    if side not in ("left", "right"):
        raise ArgumentError(f"searchsorted(side={side!r})", where=capture_location(), fix="use left or right")
    line = as_traced(asarray(a))
    if line.ndim != 1:
        raise ValueError(f"object {'too deep' if line.ndim else 'of too small depth'} for desired array")
    if sorter is not None:
        order = asarray(sorter)
        if order.dtype.kind not in "biu" or len(shape_of(order)) != 1:
            raise TypeError("could not parse sorter argument")
        if shape_of(order) != line.shape:
            raise ValueError("sorter.size must equal a.size")
        line = advanced.take(line, order, 0, "clip")
    values = asarray(v)  # a number of Python's, too: -1 is less than all unsigned numbers
    wanted = result_dtype(line, values)
    line, values = as_traced(convert(line, wanted)), as_traced(convert(values, wanted))
    low = full_of(0, shape_of(values), np.int64)
    high = full_of(line.size, shape_of(values), np.int64)
    columns = list(zip(order_keys(line), order_keys(values), strict=True))
    for _ in range(int(line.size).bit_length()):
        middle = bind1(ops.SHIFT_RIGHT_ARITHMETIC, bind1(ops.ADD, low, high), constant(1, low))
        probes = [x for keys, sought in columns for x in (advanced.take(keys, middle, 0, "clip"), sought)]
        before = precedes("LT", probes) if side == "left" else b.invert(precedes("GT", probes))
        active = compare("LT", low, high)
        go_up = bind1(ops.AND, before, active)
        go_down = bind1(ops.AND, bind1(ops.NOT, before), active)
        high = select(go_down, middle, high)
        low = select(go_up, bind1(ops.ADD, middle, constant(1, low)), low)
    return note_greatest(low, line.size)
