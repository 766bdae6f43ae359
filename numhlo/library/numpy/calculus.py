"""Differences and sums along a line: diff, gradient, trapezoid, unwrap."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numhlo.library.numpy import elementwise as ufuncs
from numhlo.library.numpy import reductions
from numhlo.library.numpy.cumulative import cumsum
from numhlo.library.numpy.joining import concatenate
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import DTypeError
from numhlo.tracer.building import (
    SCALARS,
    Tracer,
    as_traced,
    asarray,
    broadcast_to_shape,
    convert,
    implements,
    normalize_axes,
    normalize_axis,
    require_casting,
    reshape_to,
    result_dtype,
    shape_of,
)
from numhlo.tracer.building import operations as b

NO_VALUE: Any = np._NoValue

__all__ = [
    "diff",
    "ediff1d",
    "gradient",
    "trapezoid",
    "unwrap",
]


def along(x: Any, axis: int, item: Any) -> Any:
    """Return ``x[..., item, ...]`` with ``item`` on one axis."""
    return as_traced(x)[(*[slice(None)] * axis, item)]  # type: ignore[index]


@implements(np.diff)
def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = NO_VALUE, append: Any = NO_VALUE) -> Any:
    """Return the differences of neighbours along an axis, ``n`` times over.

    Parameters
    ----------
    a : array_like
        Of at least one dimension; booleans give where neighbours differ.
    n : int, optional
        Known while tracing; 0 gives the array itself.
    axis : int, optional
    prepend, append : array_like, optional
        Joined to the array before; a scalar counts as one element.

    Returns
    -------
    Array
        With an extent less by ``n`` (none left for larger ``n``), of the dtype of ``a``: unsigned integers wrap around.

    Raises
    ------
    ValueError
        If ``n`` is negative, or ``a`` a scalar.

    Examples
    --------
    >>> diff([1, 4, 9])
    Array([3, 5])
    """
    array = as_traced(asarray(a))
    if array.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n!r}")
    place = normalize_axis(axis, array.ndim)
    parts = [_border(x, array, place) for x in (prepend, append)]
    joined = [p for p in (parts[0], array, parts[1]) if p is not None]
    result = concatenate(joined, place) if len(joined) > 1 and n else array
    for _ in range(min(n, shape_of(result)[place])):  # nothing is left after as many
        high, low = along(result, place, slice(1, None)), along(result, place, slice(None, -1))
        result = ufuncs.not_equal(high, low) if high.dtype.kind == "b" else ufuncs.subtract(high, low)
    return result


def _border(x: Any, array: Tracer, axis: int) -> Any:
    if x is NO_VALUE:
        return None
    border = asarray(x)
    if shape_of(border) == ():
        border = broadcast_to_shape(border, tuple(1 if k == axis else n for k, n in enumerate(array.shape)))
    return border


@implements(np.ediff1d)
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """Return the differences of neighbours of the flattened array, with more elements before and behind.

    Parameters
    ----------
    ary : array_like
        Of any shape.
    to_end, to_begin : array_like, optional
        Flattened, and converted to the dtype of ``ary``.

    Returns
    -------
    Array
        One-dimensional.

    Raises
    ------
    DTypeError
        If ``ary`` is boolean, or what is put at the ends of another kind.

    Examples
    --------
    >>> ediff1d([1, 4, 9], to_end=99)
    Array([ 3,  5, 99])
    """
    array = as_traced(asarray(ary))
    flat = as_traced(reshape_to(array, (array.size,)))
    _refuse_booleans("ediff1d", flat)
    parts = [to_begin, diff(flat) if flat.size else flat, to_end]
    require_casting("ediff1d", [asarray(p) for p in (to_begin, to_end) if p is not None], array.dtype, "same_kind")
    rows = [convert(asarray(p), array.dtype) for p in parts if p is not None]
    return concatenate([reshape_to(r, (r.size,)) for r in rows], 0)


def _refuse_booleans(name: str, array: Any) -> None:
    if array.dtype.kind == "b" and array.ndim:
        raise DTypeError(
            f"{name} of booleans", where=capture_location(), why="they have no difference", fix="convert to integers"
        )


@implements(np.gradient)
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Return the derivative along each axis by central differences, one-sided at the ends.

    Parameters
    ----------
    f : array_like
    *varargs : scalar or array_like
        Distance of samples, one for all axes or one for each; or their coordinates along an axis, at any distances.
    axis : int or sequence of int, optional
        All axes by default.
    edge_order : 1 or 2, optional
        Of the one-sided differences.

    Returns
    -------
    Array, or tuple of Array
        One for each axis, float64 for integers.

    Raises
    ------
    ValueError
        If an axis has less than ``edge_order + 1`` elements, or coordinates do not match its extent.
    TypeError
        If there are neither one distance nor one for each axis.

    Examples
    --------
    >>> gradient([1.0, 4.0, 9.0])
    Array([3., 4., 5.])
    """
    array = as_traced(asarray(f))
    _refuse_booleans("gradient", array)
    axes = normalize_axes(axis, array.ndim)
    spacings = list(varargs) if varargs else [1.0]
    if len(spacings) == 1 and np.ndim(spacings[0]) == 0:
        spacings = spacings * len(axes)
    if len(spacings) != len(axes):
        raise TypeError("invalid number of arguments")
    if edge_order > 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    if array.dtype.kind in "biu":
        array = convert(array, np.float64)
    found = [
        convert(_gradient_along(array, h, place, edge_order), array.dtype)  # coordinates may be wider
        for h, place in zip(spacings, axes, strict=True)
    ]
    return found[0] if len(axes) == 1 else tuple(found)


def _gradient_along(f: Tracer, spacing: Any, axis: int, edge_order: int) -> Any:
    if f.shape[axis] < edge_order + 1:
        raise ValueError(
            "Shape of array too small to calculate a numerical gradient, "
            "at least (edge_order + 1) elements are required."
        )
    size = f.shape[axis]
    step = _steps(spacing, f, axis)
    low, mid, high = (along(f, axis, slice(k, size - 2 + k)) for k in range(3))
    if step is None:
        inner = ufuncs.divide(ufuncs.subtract(high, low), _over(2.0, spacing, ufuncs.multiply))
    else:
        before, after = along(step, axis, slice(None, -1)), along(step, axis, slice(1, None))
        total = ufuncs.add(before, after)
        first = ufuncs.divide(ufuncs.negative(after), ufuncs.multiply(before, total))
        second = ufuncs.divide(ufuncs.subtract(after, before), ufuncs.multiply(before, after))
        third = ufuncs.divide(before, ufuncs.multiply(after, total))
        inner = ufuncs.add(
            ufuncs.add(ufuncs.multiply(first, low), ufuncs.multiply(second, mid)), ufuncs.multiply(third, high)
        )
    ends = [_edge(f, spacing, step, axis, edge_order, last) for last in (False, True)]
    return concatenate([ends[0], inner, ends[1]], axis)


def _steps(spacing: Any, f: Tracer, axis: int) -> Any:
    """Return the distances of neighbours along an axis for coordinates, None for a single spacing."""
    if np.ndim(spacing) == 0:
        return None
    coordinates = asarray(spacing)
    if shape_of(coordinates) != (f.shape[axis],):
        raise ValueError("when 1d, distances must match the length of the corresponding dimension")
    if coordinates.dtype.kind in "biu":
        coordinates = convert(coordinates, np.float64)
    return reshape_to(diff(coordinates), tuple(f.shape[axis] - 1 if k == axis else 1 for k in range(f.ndim)))


def _over(number: float, spacing: Any, operation: Any) -> Any:
    """Return a number times, or over, a spacing: a Python number where that is one, so that it adapts to the array."""
    if type(spacing) in SCALARS:
        return number * spacing if operation is ufuncs.multiply else number / spacing
    return operation(number, spacing)


def _edge(f: Tracer, spacing: Any, steps: Any, axis: int, order: int, last: bool) -> Any:
    places = [-1, -2, -3] if last else [0, 1, 2]
    values = [along(f, axis, slice(p, p + 1 or None)) for p in places[: order + 1]]
    if order == 1:
        rise = ufuncs.subtract(values[0], values[1]) if last else ufuncs.subtract(values[1], values[0])
        return ufuncs.divide(
            rise, spacing if steps is None else along(steps, axis, slice(-1, None) if last else slice(0, 1))
        )
    if steps is None:
        weights = [_over(w if last else -w, spacing, ufuncs.divide) for w in (1.5, -2.0, 0.5)]
    else:
        near, far = (along(steps, axis, slice(p, p + 1 or None)) for p in ((-1, -2) if last else (0, 1)))
        total = ufuncs.add(near, far)
        outer = ufuncs.divide(ufuncs.add(ufuncs.multiply(2.0, near), far), ufuncs.multiply(near, total))
        middle = ufuncs.divide(total, ufuncs.multiply(near, far))
        inner = ufuncs.divide(near, ufuncs.multiply(far, total))
        weights = [outer, ufuncs.negative(middle), inner]
        weights = weights if last else [ufuncs.negative(w) for w in weights]
    terms = [ufuncs.multiply(w, v) for w, v in zip(weights, values, strict=True)]
    return (
        ufuncs.add(ufuncs.add(terms[0], terms[1]), terms[2])
        if not last
        else ufuncs.add(ufuncs.add(terms[2], terms[1]), terms[0])
    )


@implements(np.trapezoid)
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """Return the integral along an axis by the trapezoidal rule.

    Parameters
    ----------
    y : array_like
    x : array_like, optional
        Where the samples stand, along the axis or for all elements.
    dx : scalar, optional
        Their distance, without ``x``.
    axis : int, optional

    Returns
    -------
    Array
        Without the axis; 0 for fewer than two samples.

    Examples
    --------
    >>> trapezoid([1.0, 2.0, 3.0])
    Array(4.)
    """
    array = as_traced(asarray(y))
    place = normalize_axis(axis, array.ndim)
    width = dx
    if x is not None:
        line = as_traced(asarray(x))
        width = diff(line) if line.ndim == 1 else diff(line, axis=axis)
        if line.ndim == 1:
            width = reshape_to(width, tuple(width.size if k == place else 1 for k in range(array.ndim)))
    pairs = ufuncs.add(along(array, place, slice(1, None)), along(array, place, slice(None, -1)))
    return reductions.sum(ufuncs.divide(ufuncs.multiply(width, pairs), 2.0), place)


@implements(np.unwrap)
def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: Any = 2 * math.pi) -> Any:
    """Return angles with jumps of more than half a period removed along an axis.

    Parameters
    ----------
    p : array_like
    discont : scalar, optional
        Smaller jumps stay; half a period by default, and never less.
    axis : int, optional
    period : scalar, optional
        In the units of ``p``.

    Returns
    -------
    Array
        Of the dtype of ``p`` and ``period``.

    Examples
    --------
    >>> unwrap([0.0, 2 * np.pi]).round(6) + 0.0
    Array([0., 0.])
    """
    array = as_traced(asarray(p))
    place = normalize_axis(axis, array.ndim)
    wanted = result_dtype(array, period)
    steps = diff(array, axis=place)
    whole = wanted.kind in "iu"
    high = ufuncs.floor_divide(period, 2) if whole else ufuncs.divide(period, 2)
    low = ufuncs.negative(high)
    turned = ufuncs.add(ufuncs.remainder(ufuncs.subtract(steps, low), period), low)
    at_low = ufuncs.logical_and(ufuncs.equal(turned, low), ufuncs.greater(steps, 0))
    if whole:  # half a period upwards is also half a period downwards, unless halving it left a rest
        at_low = ufuncs.logical_and(at_low, ufuncs.equal(ufuncs.remainder(period, 2), 0))
    turned = b.select(at_low, broadcast_to_shape(convert(asarray(high), turned.dtype), turned.shape), turned)
    correction = ufuncs.subtract(turned, steps)
    limit = high if discont is None else discont
    small = ufuncs.less(ufuncs.absolute(steps), limit)
    correction = b.select(small, 0, correction)
    rest = ufuncs.add(along(array, place, slice(1, None)), cumsum(correction, place))
    return concatenate([convert(along(array, place, slice(0, 1)), wanted), convert(rest, wanted)], place)
