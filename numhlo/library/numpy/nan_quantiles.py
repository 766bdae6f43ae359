"""Medians and quantiles that leave NaN out; how lines with NaN are looked at is in `quantiles`."""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.library.documentation import described
from numhlo.library.numpy import quantiles
from numhlo.library.numpy.out_arrays import store
from numhlo.library.numpy.reductions import NO_VALUE
from numhlo.tracer.building import Tracer, as_traced, asarray, convert, implements

__all__ = ["nanmedian", "nanpercentile", "nanquantile"]

_QUANTILES = """
Parameters
----------
a : array_like
q, axis, out, overwrite_input, method, keepdims, weights : optional
    As those of `quantile`.

Returns
-------
Array
    NaN where there is NaN only.
"""


@implements(np.nanmedian)
@described(_QUANTILES)
def nanmedian(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = NO_VALUE
) -> Any:
    """Return the median over axes of the elements that are not NaN.

    Parameters
    ----------
    axis, out, overwrite_input, keepdims : optional
        As those of `median`.

    Examples
    --------
    >>> nanmedian([np.nan, 1.0, 2.0])
    Array(1.5)
    """
    array = _operand(a)
    if array.dtype.kind in "bui":
        return quantiles.median(array, axis, out, overwrite_input, keepdims)
    return store("nanmedian", quantiles.nan_median(array, axis, keepdims), out)


@implements(np.nanquantile)
@described(_QUANTILES)
def nanquantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: Any = NO_VALUE,
    *,
    weights: Any = None,
) -> Any:
    """Return quantiles over axes of the elements that are not NaN.

    Raises
    ------
    ValueError, ArgumentError, UnsupportedError
        As of `quantile`.

    Examples
    --------
    >>> nanquantile([np.nan, 1.0, 3.0], 0.5)
    Array(2.)
    """
    array = _operand(a)
    if array.dtype.kind in "buic":
        return quantiles.quantile(array, q, axis, out, method=method, keepdims=keepdims, weights=weights)
    return store("nanquantile", quantiles.nan_quantiles(array, q, axis, method, keepdims, weights), out)


@implements(np.nanpercentile)
@described(_QUANTILES)
def nanpercentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: Any = NO_VALUE,
    *,
    weights: Any = None,
) -> Any:
    """Return percentiles over axes of the elements that are not NaN.

    Raises
    ------
    UnsupportedError
        If there are weights, while tracing.

    Examples
    --------
    >>> nanpercentile([np.nan, 1.0, 3.0], 50)
    Array(2.)
    """
    return nanquantile(a, quantiles.fractions_of(q), axis, out, overwrite_input, method, keepdims, weights=weights)


def _operand(a: Any) -> Tracer:
    """Return an operand as a traced array; integers without elements as floats, since their quantiles are NaN."""
    array = as_traced(asarray(a))
    return as_traced(convert(array, np.float64)) if array.dtype.kind in "bui" and array.size == 0 else array
