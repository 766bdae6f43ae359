"""Running sums, products, maxima and minima along an axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.library.documentation import described
from numhlo.library.numpy.out_arrays import store
from numhlo.lowering.ir import TensorType
from numhlo.lowering.ops.control_flow import COMPOSITE
from numhlo.lowering.ops.cumulative import make_cumulative
from numhlo.tracer.building import (
    asarray,
    bind1,
    concatenate_arrays,
    convert,
    full_of,
    implements,
    normalize_axis,
    reshape_to,
    shape_of,
)

__all__ = [
    "cumprod",
    "cumsum",
    "cumulative_prod",
    "cumulative_sum",
]

_RUNNING = """
Parameters
----------
a : array_like
axis : int, optional
    Without it, the flattened array.
dtype, out : optional
    As those of `cumsum`.

Returns
-------
Array
    Of the shape of ``a``, or one-dimensional. NaN stays from its place on, and integers wrap around.

Raises
------
numpy.exceptions.AxisError
    If there is no such axis.
"""

_STANDARD = """
Parameters
----------
x : array_like
axis : int, optional
    Needed where ``x`` has more than one.
dtype, out : optional
    As those of `cumsum`.
include_initial : bool, optional
    Begin with the sum or product of nothing, so that the axis is longer by one.

Returns
-------
Array

Raises
------
ValueError
    If ``axis`` is missing.
"""


def accumulate(kind: str, x: Any, axis: int, reverse: bool = False) -> Any:
    """Return the running combination ``kind`` (cumsum, cumprod, cummax, cummin) of an array along an axis."""
    type = TensorType(shape_of(x), x.dtype)
    attributes = make_cumulative(kind, type, axis, reverse)
    return bind1(COMPOSITE, x, attributes=attributes, results=[type])


def accumulator_dtype(dtype: np.dtype) -> np.dtype:
    """Return the dtype that sums and products accumulate in: small integers and bools widen to the default integer."""
    if dtype.kind == "b" or (dtype.kind == "i" and dtype.itemsize < 8):
        return np.dtype(np.int64)
    return np.dtype(np.uint64) if dtype.kind == "u" and dtype.itemsize < 8 else dtype


def running(kind: str, a: Any, axis: int | None, dtype: Any, out: Any) -> Any:
    """Return the running combination as NumPy's functions do: flattened for no axis, small integers widened."""
    array = asarray(a)
    if axis is None or (array.ndim == 0 and axis in (-1, 0)):
        array, axis = reshape_to(array, (array.size,)), 0
    place = normalize_axis(axis, array.ndim)
    widened = kind in ("cumsum", "cumprod")
    default = array.dtype if out is None else out.dtype
    wanted = np.dtype(dtype or (accumulator_dtype(default) if widened and out is None else default))
    return store(kind, accumulate(kind, convert(array, wanted), place), out, exact=True)


@implements(np.cumsum)
@described(_RUNNING)
def cumsum(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """Return the running sum along an axis, of the flattened array for None.

    Parameters
    ----------
    dtype : dtype, optional
        In which is added up; int64 or uint64 by default for narrower integers and booleans.
    out : Array, optional
        Where the result is written; its dtype is then the default.

    Examples
    --------
    >>> cumsum(np.array([1, 2, 3]))
    Array([1, 3, 6])
    """
    return running("cumsum", a, axis, dtype, out)


@implements(np.cumprod)
@described(_RUNNING)
def cumprod(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """Return the running product along an axis, of the flattened array for None.

    Parameters
    ----------
    dtype : dtype, optional
        In which is added up; int64 or uint64 by default for narrower integers and booleans.
    out : Array, optional
        Where the result is written; its dtype is then the default.

    Examples
    --------
    >>> cumprod(np.array([1, 2, 3]))
    Array([1, 2, 6])
    """
    return running("cumprod", a, axis, dtype, out)


@implements(np.cumulative_sum)
@described(_STANDARD)
def cumulative_sum(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, out: Any = None, include_initial: bool = False
) -> Any:
    """Return the running sum, with a leading zero on request (the Array API standard's spelling).

    Examples
    --------
    >>> cumulative_sum(np.array([1, 2]), include_initial=True)
    Array([0, 1, 3])
    """
    return _standard("cumsum", x, axis, dtype, out, include_initial)


@implements(np.cumulative_prod)
@described(_STANDARD)
def cumulative_prod(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, out: Any = None, include_initial: bool = False
) -> Any:
    """Return the running product, with a leading one on request (the Array API standard's spelling).

    Examples
    --------
    >>> cumulative_prod(np.array([2, 3]))
    Array([2, 6])
    """
    return _standard("cumprod", x, axis, dtype, out, include_initial)


def _standard(kind: str, x: Any, axis: int | None, dtype: Any, out: Any, include_initial: bool) -> Any:
    array = asarray(x)
    if axis is None:
        if array.ndim > 1:
            raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
        axis = 0
    result = running(kind, array, axis, dtype, None)
    if include_initial:
        place = normalize_axis(axis, result.ndim)
        shape = (*result.shape[:place], 1, *result.shape[place + 1 :])
        first = full_of(0 if kind == "cumsum" else 1, shape, result.dtype)
        result = concatenate_arrays([first, result], place)
    return store(kind, result, out, exact=True)
