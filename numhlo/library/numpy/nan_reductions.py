"""Reductions that leave NaN out: nansum, nanmean and their kin; medians and quantiles are in `nan_quantiles`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo.library.documentation import described
from numhlo.library.numpy import cumulative, elementwise, moments, reductions, searching
from numhlo.library.numpy.out_arrays import store
from numhlo.library.numpy.reductions import NO_VALUE
from numhlo.tracer.building import as_traced, asarray, full_of, implements, on_plain_arrays
from numhlo.tracer.building import operations as b

__all__ = [
    "nanargmax",
    "nanargmin",
    "nancumprod",
    "nancumsum",
    "nanmax",
    "nanmean",
    "nanmin",
    "nanprod",
    "nanstd",
    "nansum",
    "nanvar",
]

_SUMMED = """
Parameters
----------
a : array_like
axis, dtype, out, keepdims, initial, where : optional
    As those of `sum`.

Returns
-------
Array
    0 or 1 where there is NaN only.
"""

_CUMULATIVE = """
Parameters
----------
a : array_like
axis, dtype, out : optional
    As those of `cumsum`.

Returns
-------
Array
"""

_EXTREMUM = """
Parameters
----------
a : array_like
axis, out, keepdims, initial, where : optional
    As those of `max`.

Returns
-------
Array
    Without NumPy's warning for NaN only.

Raises
------
ValueError
    If a reduction is empty and there is no ``initial``.
"""

_INDEX = """
Parameters
----------
a : array_like
axis, out, keepdims : optional
    As those of `argmax`.

Returns
-------
Array
    Of int64.

Raises
------
ValueError
    If there are no elements to choose from; outside tracing also if there is NaN only.
"""

_SPREAD = """
Parameters
----------
a : array_like
axis, dtype, out, ddof, keepdims, where, mean, correction : optional
    As those of `var`.

Returns
-------
Array
"""


def _filled(a: Any, value: Any) -> Any:
    """Return the array with ``value`` in place of NaN."""
    array = as_traced(asarray(a))
    return array if array.dtype.kind in "bui" else b.select(b.is_nan(array), value, array)


def _present(a: Any) -> Any:
    """Return where the array is not NaN."""
    array = as_traced(asarray(a))
    return full_of(True, array.shape, np.bool_) if array.dtype.kind in "bui" else b.equal(array, array)


def _both(mask: Any, where: Any) -> Any:
    return mask if where is NO_VALUE or where is True else elementwise.logical_and(mask, where)


@implements(np.nansum)
@described(_SUMMED)
def nansum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = NO_VALUE,
    initial: Any = NO_VALUE,
    where: Any = NO_VALUE,
) -> Any:
    """Return the sum over axes, NaN counting as 0.

    Examples
    --------
    >>> nansum([1.0, np.nan])
    Array(1.)
    """
    return reductions.sum(_filled(a, 0), axis, dtype, out, keepdims, initial, where)


@implements(np.nanprod)
@described(_SUMMED)
def nanprod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = NO_VALUE,
    initial: Any = NO_VALUE,
    where: Any = NO_VALUE,
) -> Any:
    """Return the product over axes, NaN counting as 1.

    Examples
    --------
    >>> nanprod([np.nan, 2.0, 3.0])
    Array(6.)
    """
    return reductions.prod(_filled(a, 1), axis, dtype, out, keepdims, initial, where)


@implements(np.nancumsum)
@described(_CUMULATIVE)
def nancumsum(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """Return the running sum, NaN counting as 0.

    Examples
    --------
    >>> nancumsum([1.0, np.nan, 2.0])
    Array([1., 1., 3.])
    """
    return cumulative.cumsum(_filled(a, 0), axis, dtype, out)


@implements(np.nancumprod)
@described(_CUMULATIVE)
def nancumprod(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """Return the running product, NaN counting as 1.

    Examples
    --------
    >>> nancumprod([2.0, np.nan, 3.0])
    Array([2., 2., 6.])
    """
    return cumulative.cumprod(_filled(a, 1), axis, dtype, out)


def _nan_extremum(
    function: Callable[..., Any], worst: float, a: Any, axis: Any, out: Any, keepdims: Any, initial: Any, where: Any
) -> Any:
    array = as_traced(asarray(a))
    if array.dtype.kind in "bui":
        return function(array, axis, out, keepdims, initial, where)
    result = function(_filled(array, worst), axis, None, keepdims, initial, where)
    present = reductions.any(_present(array), axis, keepdims=keepdims)
    if initial is NO_VALUE:
        result = b.select(present, result, np.nan)
    return store(function.__name__, result, out, exact=True)


@implements(np.nanmax, eager=on_plain_arrays(np.nanmax))
@described(_EXTREMUM)
def nanmax(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, initial: Any = NO_VALUE, where: Any = NO_VALUE
) -> Any:
    """Return the greatest element over axes that is not NaN; NaN where there is none.

    Examples
    --------
    >>> nanmax([np.nan, 1.0])
    Array(1.)
    """
    return _nan_extremum(reductions.max, -np.inf, a, axis, out, keepdims, initial, where)


@implements(np.nanmin, eager=on_plain_arrays(np.nanmin))
@described(_EXTREMUM)
def nanmin(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, initial: Any = NO_VALUE, where: Any = NO_VALUE
) -> Any:
    """Return the least element over axes that is not NaN; NaN where there is none.

    Examples
    --------
    >>> nanmin([np.nan, 1.0])
    Array(1.)
    """
    return _nan_extremum(reductions.min, np.inf, a, axis, out, keepdims, initial, where)


@implements(np.nanargmax)
@described(_INDEX)
def nanargmax(a: Any, axis: int | None = None, out: Any = None, *, keepdims: Any = NO_VALUE) -> Any:
    """Return the index of the greatest element that is not NaN; 0 where there is none, since no error can be raised.

    Examples
    --------
    >>> nanargmax([np.nan, 1.0, 3.0])
    Array(2)
    """
    return searching.argmax(_filled(a, -np.inf), axis, out, keepdims=keepdims)


@implements(np.nanargmin)
@described(_INDEX)
def nanargmin(a: Any, axis: int | None = None, out: Any = None, *, keepdims: Any = NO_VALUE) -> Any:
    """Return the index of the least element that is not NaN; 0 where there is none, since no error can be raised.

    Examples
    --------
    >>> nanargmin([np.nan, 1.0, 3.0])
    Array(1)
    """
    return searching.argmin(_filled(a, np.inf), axis, out, keepdims=keepdims)


@implements(np.nanmean)
def nanmean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE, *, where: Any = NO_VALUE
) -> Any:
    """Return the mean over axes of the elements that are not NaN.

    Parameters
    ----------
    a : array_like
    axis, dtype, out, keepdims, where : optional
        As those of `mean`.

    Returns
    -------
    Array
        NaN where there is NaN only.

    Examples
    --------
    >>> nanmean([np.nan, 1.0, 2.0])
    Array(1.5)
    """
    array = as_traced(asarray(a))
    dtype = moments.inexact_dtype(array, dtype)
    return moments.mean(array, axis, dtype, out, keepdims, where=_both(_present(array), where))


@implements(np.nanvar)
@described(_SPREAD)
def nanvar(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = NO_VALUE,
    *,
    where: Any = NO_VALUE,
    mean: Any = NO_VALUE,
    correction: Any = NO_VALUE,
) -> Any:
    """Return the variance over axes of the elements that are not NaN; NaN where there are not more than ``ddof``.

    Examples
    --------
    >>> nanvar([np.nan, 1.0, 3.0])
    Array(1.)
    """
    array = as_traced(asarray(a))
    mask = _both(_present(array), where)
    less = moments.lessening(ddof, correction)
    dtype = moments.computed_dtype(array, dtype, out)
    result = moments.var(array, axis, dtype, None, less, keepdims, where=mask, mean=mean)
    count = reductions.sum(mask, axis, np.int64, keepdims=keepdims)
    enough = elementwise.greater(count, less)
    return store("nanvar", b.select(enough, result, np.nan), out, exact=True)


@implements(np.nanstd)
@described(_SPREAD)
def nanstd(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = NO_VALUE,
    *,
    where: Any = NO_VALUE,
    mean: Any = NO_VALUE,
    correction: Any = NO_VALUE,
) -> Any:
    """Return the standard deviation over axes of the elements that are not NaN.

    Examples
    --------
    >>> nanstd([np.nan, 1.0, 3.0])
    Array(1.)
    """
    array = as_traced(asarray(a))
    dtype = moments.computed_dtype(array, dtype, out)
    spread = nanvar(array, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction)
    return store("nanstd", b.sqrt(spread), out, exact=True)
