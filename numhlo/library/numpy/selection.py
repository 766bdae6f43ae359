"""Elements chosen by condition or rank: choose, select, piecewise, compress, extract, partition, argwhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo.library.documentation import described
from numhlo.library.numpy import elementwise as ufuncs
from numhlo.library.numpy import sorting
from numhlo.library.numpy.axis_order import moveaxis
from numhlo.library.numpy.cumulative import cumsum
from numhlo.library.numpy.indexing import advanced_indexing as advanced
from numhlo.library.numpy.indexing.brackets import get_item
from numhlo.library.numpy.indexing.nonzero_positions import Places, Rows
from numhlo.library.numpy.joining import stack
from numhlo.library.numpy.out_arrays import store
from numhlo.library.numpy.searching import nonzero
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, AxisOutOfBoundsError, UnsupportedError
from numhlo.lowering.ops import contraction, fourier, reduction, windows
from numhlo.lowering.ops import sorting as sorting_ops
from numhlo.tracer.building import (
    SCALARS,
    Tracer,
    are_arrays_immutable,
    as_traced,
    asarray,
    broadcast_all,
    broadcast_shapes,
    broadcast_to_shape,
    convert,
    current_trace,
    full_of,
    implements,
    lay_out,
    new_array,
    normalize_axis,
    reshape_to,
    result_dtype,
    shape_of,
    stored,
    unshared,
)
from numhlo.tracer.building import operations as b

__all__ = ["argpartition", "argwhere", "choose", "compress", "extract", "partition", "piecewise", "select"]

_PARTITION = """
Parameters
----------
a : array_like
kth : int or sequence of int
    Known while tracing.
axis : int or None, optional
    The last by default; None for the flattened array.
kind, order : optional
    NumPy's; without a meaning while tracing.

Raises
------
ValueError
    If ``kth`` is out of bounds.
"""

LONG_ROW = 2048
"""Rows from this length on are partitioned without being sorted."""


@implements(np.choose)
def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    """Return ``choices[a[i]][i]`` element by element; traced indices out of bounds by ``mode`` clip or wrap.

    Parameters
    ----------
    a : array_like of int
    choices : sequence of array_like
        All broadcast with ``a``, and are computed.
    out : Array, optional
        Where the result is written.
    mode : "raise", "clip" or "wrap", optional
        "raise" clips traced indices, whose values can't raise.

    Returns
    -------
    Array
        Of the choices' common dtype.

    Raises
    ------
    ValueError
        If an index that is known is out of bounds under "raise".
    ArgumentError
        If ``mode`` is another.

    Examples
    --------
    >>> choose([1, 0], [[1, 2], [3, 4]])
    Array([3, 2])
    """
    given = choices if isinstance(choices, list | tuple) else list(as_traced(asarray(choices)))  # type: ignore[call-overload]
    cases = [asarray(c) for c in given]
    wanted = result_dtype(*[c if isinstance(c, SCALARS) else x for c, x in zip(given, cases, strict=True)])
    index, *arrays = broadcast_all(asarray(a), *[convert(c, wanted) for c in cases], name="choose")
    if not np.can_cast(index.dtype, np.int64):
        raise TypeError(f"choose: indices of {index.dtype}, which int64 can't hold safely")
    if mode not in ("raise", "clip", "wrap"):
        raise ArgumentError(f"choose(mode={mode!r})", where=capture_location(), fix="use clip or wrap")
    known = index.concrete if isinstance(index, Tracer) else index
    if mode == "raise" and known is not None and ((known < 0) | (known >= len(arrays))).any():
        raise ValueError("invalid entry in choice array")
    place = advanced.bound(convert(index, np.int64), len(arrays), "clip" if mode == "raise" else mode)
    result = arrays[-1]
    for k in reversed(range(len(arrays) - 1)):
        result = b.select(b.equal(place, k), arrays[k], result)
    return store("choose", unshared(result), out, exact=True)


@implements(np.select)
def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """Return elements of the first choice whose condition holds, else ``default``.

    Parameters
    ----------
    condlist : sequence of array_like of bool
    choicelist : sequence of array_like
        As many; all broadcast, and are computed.
    default : array_like, optional

    Returns
    -------
    Array
        Of the common dtype of choices and default.

    Raises
    ------
    ValueError
        If the two have different lengths, or are empty.
    TypeError
        If a condition is not boolean.

    Examples
    --------
    >>> x = np.arange(4)
    >>> select([x < 1, x > 2], [x, 10 * x], -1)
    Array([ 0, -1, -1, 30])
    """
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if not condlist:
        raise ValueError("select with an empty condition list is not possible")
    conditions = [asarray(c) for c in condlist]
    if any(c.dtype.kind != "b" for c in conditions):
        raise TypeError("invalid entry in condlist: should be boolean ndarray")
    wanted = result_dtype(*choicelist, default)
    cases = [convert(asarray(c), wanted) for c in (*choicelist, default)]
    shape = broadcast_shapes(*[shape_of(x) for x in (*conditions, *cases)], name="select")
    result = broadcast_to_shape(cases[-1], shape)
    for condition, case in reversed(list(zip(conditions, cases[:-1], strict=True))):
        result = b.select(broadcast_to_shape(condition, shape), broadcast_to_shape(case, shape), result)
    return lay_out(unshared(as_traced(result)), "C")


@implements(np.piecewise)
def piecewise(x: Any, condlist: Any, funclist: list[Any], *args: Any, **kw: Any) -> Any:
    """Return a function defined by cases; every case is computed everywhere, and the last condition that holds wins.

    Parameters
    ----------
    x : array_like
    condlist : array_like of bool, or sequence of them
    funclist : sequence of callable or scalar
        One for each condition, and one more for where none holds (else 0).
    *args, **kw
        For the functions. Those see all of ``x`` while tracing, and only their elements outside; so while tracing they
        may not reduce, sort or multiply matrices.

    Returns
    -------
    Array
        Of the shape and dtype of ``x``.

    Raises
    ------
    ValueError
        If there are too few or too many functions.
    UnsupportedError
        While tracing, if a function computes something of several elements.

    Examples
    --------
    >>> piecewise(np.array([-1.0, 2.0]), [np.array([True, False])], [lambda v: -v, 0])
    Array([1., 0.])
    """
    array = as_traced(asarray(x))
    conditions = [asarray(c) for c in (condlist if isinstance(condlist, list | tuple) else [condlist])]
    if len(funclist) not in (len(conditions), len(conditions) + 1):
        count = len(conditions)
        raise ValueError(f"with {count} condition(s), either {count} or {count + 1} functions are expected")
    values = [stored(_value(f, array, args, kw), array.dtype) for f in funclist]
    default = values[-1] if len(values) > len(conditions) else b.constant(0, array)
    shape = broadcast_shapes(array.shape, *map(shape_of, conditions)) if are_arrays_immutable() else array.shape
    result = broadcast_to_shape(default, shape)
    for condition, value in zip(conditions, values, strict=False):
        mask = broadcast_to_shape(convert(_aligned(condition, array.shape), np.bool_), shape)
        result = b.select(mask, broadcast_to_shape(value, shape), result)
    return result


def _aligned(condition: Any, shape: tuple[int, ...]) -> Any:
    """Return a condition that broadcasts to an array's shape: as JAX has it, or as NumPy's masks of leading axes."""
    given = shape_of(condition)
    if are_arrays_immutable() or not given:
        return condition
    if given != shape[: len(given)]:
        raise AxisOutOfBoundsError(
            f"piecewise: a condition of shape {list(given)} for an array of shape {list(shape)}",
            where=capture_location(),
            why="it is a mask of the array's first axes",
            fix="give one of the array's shape",
        )
    return reshape_to(condition, given + (1,) * (len(shape) - len(given)))


def _value(function: Callable[..., Any] | Any, x: Tracer, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return what a case gives for all of ``x``, which must not be more than it gives for each element alone."""
    if not callable(function):
        return function
    trace = current_trace()
    assert trace is not None
    before, reached = len(trace.region.ops), {trace.read(x)}
    found = function(x, *args, **options)
    for op in trace.region.ops[before:]:
        if not reached.isdisjoint(op.operands):
            if op.definition in MIXING:
                raise UnsupportedError(
                    f"piecewise: a function that computes {op.definition.name} of its elements",
                    where=op.location,
                    why="NumPy calls it with the elements where its condition holds; a traced program, with all",
                    fix="compute that outside, with where=: x.mean(where=condition)",
                )
            reached.update(op.results)
    return found


MIXING = (
    contraction.DOT_GENERAL,
    fourier.FFT,
    reduction.REDUCE,
    sorting_ops.SORT,
    windows.REDUCE_WINDOW,
)
"""Ops whose results depend on several elements."""


def _eager_compress(condition: Any, a: Any, axis: int | None = None, out: Any = None, **sized: Any) -> Any:
    found = np.compress(condition, a, axis, out)
    size = sized.get("size")
    if size is None:
        return found
    array = np.moveaxis(np.asarray(found), 0 if axis is None else axis, 0)[:size]
    filler = np.full((size - len(array), *array.shape[1:]), sized.get("fill_value", 0), array.dtype)
    return np.moveaxis(np.concatenate([array, filler]), 0, 0 if axis is None else axis)


@implements(np.compress, eager=_eager_compress)
def compress(
    condition: Any, a: Any, axis: int | None = None, out: Any = None, *, size: int | None = None, fill_value: Any = 0
) -> Any:
    """Return the slices along an axis where a condition holds; ``size`` fixes their number while tracing.

    Parameters
    ----------
    condition : array_like of bool
        One-dimensional; slices beyond its end are left out.
    a : array_like
    axis : int, optional
        Without it, the flattened array.
    out : Array, optional
        Where the result is written.
    size : int, optional
        Further slices are dropped, missing ones filled in.
    fill_value : scalar, optional

    Returns
    -------
    Array
        By a traced condition without ``size``, what ``a[condition]`` is: elements whose number is not known.

    Raises
    ------
    IndexError
        If it holds beyond the end of the axis.

    Examples
    --------
    >>> compress([False, True], [[1, 2], [3, 4]], axis=0).tolist()
    [[3, 4]]
    """
    array = as_traced(asarray(a))
    if axis is None:
        array, axis = as_traced(reshape_to(array, (array.size,))), 0
    place = normalize_axis(axis, array.ndim)
    mask = as_traced(asarray(condition, np.dtype(bool)))
    if size is None and out is None and mask.known() is None:
        before = (slice(None),) * place
        return get_item(get_item(array, (*before, slice(mask.size))), (*before, mask) if before else mask)
    (index,) = nonzero(mask, size=size, fill_value=array.shape[place])
    known = as_traced(index).known()
    if size is None and known is not None and known.size and known[-1] >= array.shape[place]:
        raise IndexError(f"index {known[-1]} is out of bounds for axis {place} with size {array.shape[place]}")
    taken = advanced.take(array, index, place, "clip")
    if size is not None:
        missing = b.equal(index, array.shape[place])
        spread = reshape_to(missing, (size,) + (1,) * (array.ndim - place - 1))
        taken = b.select(broadcast_to_shape(spread, shape_of(taken)), fill_value, taken)
    return store("compress", taken, out, exact=True)


def _eager_extract(condition: Any, arr: Any, **sized: Any) -> Any:
    return _eager_compress(np.ravel(condition), np.ravel(arr), 0, **sized)


@implements(np.extract, eager=_eager_extract)
def extract(condition: Any, arr: Any, *, size: int | None = None, fill_value: Any = 0) -> Any:
    """Return the elements where a condition holds; ``size`` fixes their number while tracing.

    Parameters
    ----------
    condition, arr : array_like
        Both are flattened.
    size, fill_value : optional
        As those of `compress`.

    Returns
    -------
    Array
        One-dimensional; by a traced condition without ``size``, what ``arr[condition]`` is.

    Examples
    --------
    >>> extract([False, True, True], [1, 2, 3])
    Array([2, 3])
    """
    flags, array = asarray(condition), asarray(arr)
    flat = reshape_to(flags, (flags.size,))
    return compress(flat, reshape_to(array, (array.size,)), 0, size=size, fill_value=fill_value)


def _eager_argwhere(a: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    found = np.argwhere(a)
    if size is None:
        return found
    filler = np.full((max(size - len(found), 0), found.shape[1]), 0 if fill_value is None else fill_value)
    return np.concatenate([found[:size], filler])


@implements(np.argwhere, eager=_eager_argwhere)
def argwhere(a: Any, *, size: int | None = None, fill_value: Any = None) -> Any:
    """Return the indices of true elements, one row each; ``size`` fixes their number while tracing.

    Parameters
    ----------
    a : array_like
    size, fill_value : optional
        As those of `nonzero`.

    Returns
    -------
    Array
        Of int64 and shape ``(count, a.ndim)``; of a traced array without ``size``, as those of `nonzero`.

    Examples
    --------
    >>> argwhere([[0, 1], [1, 0]]).tolist()
    [[0, 1], [1, 0]]
    """
    array = as_traced(asarray(a))
    found = nonzero(array, size=size, fill_value=fill_value)
    return Rows(found) if found and isinstance(found[0], Places) else stack(found, 1)


@implements(np.partition)
@described(_PARTITION)
def partition(a: Any, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None) -> Any:
    """Return a copy in which the k-th element stands where sorting puts it; while tracing, short rows are sorted.

    Returns
    -------
    Array
        Of the shape of ``a``.

    Examples
    --------
    >>> int(partition([7, 1, 9], 0)[0])
    1
    """
    rows = _split_rows(a, kth, axis)
    return sorting.sort(a, axis) if rows is None else _split(rows, kth, axis, rows)


@implements(np.argpartition)
@described(_PARTITION)
def argpartition(a: Any, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None) -> Any:
    """Return the indices that partition an array; while tracing, those that sort it where rows are short.

    Returns
    -------
    Array
        Of the shape of ``a``.

    Examples
    --------
    >>> int(argpartition([7, 1, 9], 0)[0])
    1
    """
    rows = _split_rows(a, kth, axis)
    return (
        sorting.argsort(a, axis) if rows is None else _split(rows, kth, axis, b.iota_along(rows.shape, rows.ndim - 1))
    )


def _split_rows(a: Any, kth: Any, axis: int | None) -> Tracer | None:
    """Return an array with the axis to be partitioned last, or None where sorting is as fast; check ``kth``."""
    array, place = sorting.along(a, axis)
    extent = array.shape[place]
    if np.asarray(kth).dtype.kind not in "iu":
        raise TypeError(f"Partition index must be integer, not {kth!r}")
    for k in np.ravel(kth) if extent else ():
        if not -extent <= k < extent:
            raise ValueError(f"kth(={k}) out of bounds ({extent})")
    if extent < LONG_ROW or np.size(kth) != 1 or array.dtype.kind not in "iuf":
        return None
    return as_traced(moveaxis(array, place, -1))


def _split(rows: Tracer, kth: Any, axis: int | None, moved: Any) -> Any:
    """Return elements moved as those of rows are: those before the k-th, then its equals, then the others.

    Each group keeps its order. The k-th is found without sorting.
    """
    (key,) = sorting.order_keys(rows)
    pivot = sorting.order_statistics(key, np.ravel(kth) % rows.shape[-1])
    before, after = ufuncs.less(key, pivot), ufuncs.greater(key, pivot)
    seen = cumsum(before, -1), cumsum(ufuncs.logical_not(after), -1)
    first, second = (get_item(as_traced(count), (..., slice(-1, None))) for count in seen)
    place = b.iota_along(rows.shape, rows.ndim - 1)
    equals = ufuncs.subtract(ufuncs.add(ufuncs.subtract(seen[1], seen[0]), first), 1)
    others = ufuncs.subtract(ufuncs.add(place, second), seen[1])
    target = b.select(before, ufuncs.subtract(seen[0], 1), b.select(after, others, equals))
    result = new_array(full_of(0, rows.shape, moved.dtype))
    advanced.scatter_points(result, advanced.along_axis_items(rows.shape, target, rows.ndim - 1), moved, "set")
    return moveaxis(result, -1, 0 if axis is None else axis)
