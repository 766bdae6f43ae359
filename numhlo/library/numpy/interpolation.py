"""`interp`: lines between the points of a function, and what is beside them."""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.library.numpy import elementwise as ufuncs
from numhlo.library.numpy.calculus import along
from numhlo.library.numpy.indexing import advanced_indexing as advanced
from numhlo.library.numpy.joining import concatenate
from numhlo.library.numpy.searching import searchsorted
from numhlo.library.numpy.sorting import argsort
from numhlo.tracer.building import (
    Tracer,
    as_traced,
    asarray,
    broadcast_to_shape,
    convert,
    implements,
    shape_of,
    usual_dtype,
)
from numhlo.tracer.building import operations as b

__all__ = ["interp"]


@implements(np.interp)
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """Return the piecewise linear function through the points ``(xp, fp)`` at ``x``; constant outside.

    Parameters
    ----------
    x : array_like
        NaN gives NaN.
    xp : array_like
        One-dimensional and rising, but with a ``period``; that is not checked.
    fp : array_like
        As many real or complex numbers.
    left, right : scalar, optional
        Below and above all of ``xp``; ``fp[0]`` and ``fp[-1]`` by default.
    period : scalar, optional
        Of ``x`` and ``xp``; ``left`` and ``right`` have no meaning then.

    Returns
    -------
    Array
        Of float64 or complex128, and the shape of ``x``.

    Raises
    ------
    ValueError
        If there are no points, or ``xp`` and ``fp`` differ in length.

    Examples
    --------
    >>> interp([0.5, 3.0], [0.0, 1.0, 2.0], [0.0, 10.0, 20.0])
    Array([ 5., 20.])
    """
    usual = usual_dtype(np.float64)
    wanted = usual_dtype(np.complex128) if asarray(fp).dtype.kind == "c" else usual
    if "c" in (asarray(x).dtype.kind, asarray(xp).dtype.kind):
        raise TypeError("interp: complex numbers have no order")
    at, nodes = convert(asarray(x), usual), convert(as_traced(asarray(xp)), usual)
    values = convert(as_traced(asarray(fp)), wanted)
    if nodes.ndim != 1 or values.shape != nodes.shape:
        raise ValueError("fp and xp are not of the same length.")
    if nodes.size == 0:
        raise ValueError("array of sample points is empty")
    if period is not None:
        if not isinstance(period, Tracer) and period == 0:
            raise ValueError("period must be a non-zero value")
        at, nodes, values = _periodic(at, nodes, values, period)
        left = right = None
    place = searchsorted(nodes, at, "right")
    low = b.minimum(b.maximum(b.subtract(place, 1), 0), max(nodes.size - 2, 0))
    high = b.minimum(b.add(low, 1), nodes.size - 1)
    x0, x1, y0, y1 = (advanced.take(line, k, 0, "clip") for line in (nodes, values) for k in (low, high))
    width = ufuncs.subtract(x1, x0)
    width = b.select(b.equal(width, 0), 1.0, width)  # at a last node that occurs twice, or is the only one
    slope = ufuncs.divide(ufuncs.subtract(y1, y0), width)
    from_below = ufuncs.add(ufuncs.multiply(slope, ufuncs.subtract(at, x0)), y0)
    from_above = ufuncs.add(ufuncs.multiply(slope, ufuncs.subtract(at, x1)), y1)
    inside = b.select(b.is_nan(from_below), from_above, from_below)
    inside = b.select(b.both(b.is_nan(inside), ufuncs.equal(y0, y1)), y0, inside)
    inside = b.select(
        b.both(b.is_nan(from_below), b.equal(at, x0)), y0, inside
    )  # elsewhere a node has the slope beside
    first, last = (
        broadcast_to_shape(line[k] if end is None else convert(asarray(end), wanted), shape_of(inside))
        for line, k, end in ((values, 0, left), (values, -1, right))
    )
    inside = b.select(b.less(at, broadcast_to_shape(nodes[0], shape_of(at))), first, inside)
    tail = broadcast_to_shape(nodes[-1], shape_of(at))
    at_tail = b.select(b.is_nan(from_above), broadcast_to_shape(values[-1], shape_of(at)), from_above)
    inside = b.select(b.equal(at, tail), at_tail, inside)
    inside = b.select(b.greater(at, tail), last, inside)
    return b.select(b.is_nan(at), np.nan, inside)


def _periodic(at: Any, nodes: Any, values: Any, period: Any) -> tuple[Any, Any, Any]:
    span = ufuncs.absolute(convert(asarray(period), usual_dtype(np.float64)))
    at, nodes = ufuncs.remainder(at, span), ufuncs.remainder(nodes, span)
    order = argsort(nodes)
    nodes, values = (advanced.take(line, order, 0, "clip") for line in (nodes, values))
    before = ufuncs.subtract(along(nodes, 0, slice(-1, None)), span)
    after = ufuncs.add(along(nodes, 0, slice(0, 1)), span)
    nodes = as_traced(concatenate([before, nodes, after], 0))
    values = as_traced(concatenate([along(values, 0, slice(-1, None)), values, along(values, 0, slice(0, 1))], 0))
    return at, nodes, values
