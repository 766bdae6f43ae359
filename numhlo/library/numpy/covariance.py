"""average, covariance and correlation."""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.library.numpy import axis_order, moments, reductions, reshaping
from numhlo.library.numpy import elementwise as ufuncs
from numhlo.library.numpy.joining import concatenate
from numhlo.library.numpy.linalg import matrix_products
from numhlo.library.numpy.reductions import NO_VALUE
from numhlo.tracer.building import (
    Tracer,
    are_arrays_immutable,
    as_traced,
    asarray,
    broadcast_to_shape,
    convert,
    expand,
    full_of,
    implements,
    normalize_axes,
    reshape_to,
    result_dtype,
    shape_of,
)
from numhlo.tracer.building import operations as b

__all__ = ["average", "corrcoef", "cov"]


@implements(np.average)
def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = NO_VALUE) -> Any:
    """Return the weighted mean over axes; with ``returned`` also the sum of weights.

    Parameters
    ----------
    a : array_like
    axis : int or sequence of int, optional
        All by default.
    weights : array_like, optional
        Of the shape of ``a``, or of its axes.
    returned : bool, optional
    keepdims : bool, optional
        Keep the axes, with extent 1.

    Returns
    -------
    Array, or tuple of two Arrays
        Of floats. Weights that add up to 0 give NaN or infinity while tracing, an error outside.

    Raises
    ------
    TypeError, ValueError
        If the weights have another shape.

    Examples
    --------
    >>> average([1.0, 2.0, 6.0], weights=[1, 1, 2])
    Array(3.75)
    """
    array = as_traced(asarray(a))
    if weights is None:
        result = moments.mean(array, axis, keepdims=keepdims)
        count = array.size / max(result.size, 1)
        total = full_of(count, result.shape, result.dtype)
    else:
        scale = aligned_weights(array, asarray(weights), axis)
        wanted = result_dtype(array, scale)
        wanted = np.promote_types(wanted, np.float64) if array.dtype.kind in "biu" else wanted
        total = reductions.sum(convert(scale, wanted), axis, keepdims=keepdims)
        result = ufuncs.divide(
            reductions.sum(ufuncs.multiply(convert(array, wanted), convert(scale, wanted)), axis, keepdims=keepdims),
            total,
        )
    return (result, total) if returned else result


def aligned_weights(array: Tracer, weights: Any, axis: Any) -> Any:
    """Return weights in the array's shape."""
    own = shape_of(weights)
    if own == array.shape:
        return weights
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    axes = normalize_axes(axis, array.ndim)
    if own != tuple(array.shape[k] for k in axes):
        raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    order = tuple(sorted(range(len(axes)), key=lambda k: axes[k]))
    turned = axis_order.transpose(weights, order)
    shape = tuple(n if k in axes else 1 for k, n in enumerate(array.shape))
    return broadcast_to_shape(reshape_to(turned, shape), array.shape)


@implements(np.cov)
def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Any:
    """Return the covariance matrix of variables, one a row unless ``rowvar`` is false.

    Parameters
    ----------
    m : array_like
        At most two dimensions; a vector is one variable.
    y : array_like, optional
        More variables.
    rowvar : bool, optional
    bias : bool, optional
        Divide by N, not N - 1.
    ddof : int, optional
        Divide by N - ddof.
    fweights, aweights : array_like, optional
        How often each observation counts, and how much.
    dtype : dtype, optional
        At least float64 by default.

    Returns
    -------
    Array
        A scalar for one variable.

    Raises
    ------
    ValueError
        If ``m`` has more than two dimensions.

    Examples
    --------
    >>> cov([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])
    Array([[ 1., -1.], [-1.,  1.]])
    """
    first = asarray(m)
    wanted = (
        result_dtype(first, *([] if y is None else [asarray(y)]), np.float64(0)) if dtype is None else np.dtype(dtype)
    )
    x = _rows(first, rowvar, wanted)
    if y is not None:
        second = asarray(y)
        x = concatenate([x, _rows(second, rowvar or shape_of(second)[:1] == (1,), wanted)], 0)  # as NumPy sees them
    weights = _weights(fweights, aweights, x.shape[1])
    mean, total = average(x, 1, weights, returned=True)
    scale = _degrees(x.shape[1], total, bias, ddof, weights, aweights)
    centred = ufuncs.subtract(x, expand(mean, 1))
    weighted = centred if weights is None else ufuncs.multiply(centred, weights)
    product = matrix_products.matmul(centred, ufuncs.conjugate(axis_order.transpose(weighted)))
    result = ufuncs.divide(product, scale)
    return reshape_to(result, ()) if result.shape == (1, 1) else result


def _rows(x: Any, rowvar: bool, dtype: np.dtype) -> Tracer:
    shape = shape_of(x)
    if len(shape) > 2:
        raise ValueError("m has more than 2 dimensions")
    x = convert(x, dtype)
    if len(shape) < 2:
        return as_traced(reshape_to(x, (1, int(np.prod(shape, dtype=np.int64)))))
    return as_traced(x if rowvar else axis_order.transpose(x))


def _weights(fweights: Any, aweights: Any, samples: int) -> Any:
    given = []
    for name, line in (("fweights", fweights), ("aweights", aweights)):
        if line is None:
            continue
        weights = asarray(line)
        if len(shape_of(weights)) > 1:
            raise RuntimeError(f"cannot handle multidimensional {name}")
        if shape_of(weights) != (samples,):
            raise RuntimeError(f"incompatible numbers of samples and {name}")
        _check_known(name, weights.known() if isinstance(weights, Tracer) else weights)
        given.append(convert(weights, np.dtype(np.float64)))
    if not given:
        return None
    return given[0] if len(given) == 1 else ufuncs.multiply(*given)


def _check_known(name: str, weights: Any) -> None:
    """Raise what NumPy raises of weights, as far as they are known while tracing."""
    if weights is None or are_arrays_immutable():  # JAX takes them as they are
        return
    if name == "fweights" and not np.all(weights == np.around(weights)):
        raise TypeError("fweights must be integer")
    if np.any(weights < 0):
        raise ValueError(f"{name} cannot be negative")


def _degrees(count: int, total: Any, bias: bool, ddof: int | None, weights: Any, aweights: Any) -> Any:
    less = (0 if bias else 1) if ddof is None else ddof
    if weights is None:
        return max(count - less, 0) or 0.0
    total = as_traced(total)[0]  # type: ignore[index]
    if aweights is None or less == 0:
        return ufuncs.subtract(total, less)
    spread = reductions.sum(ufuncs.multiply(weights, asarray(aweights)))
    return ufuncs.subtract(total, ufuncs.divide(ufuncs.multiply(less, spread), total))


@implements(np.corrcoef)
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    """Return the matrix of correlation coefficients.

    Parameters
    ----------
    x, y, rowvar, dtype : optional
        As those of `cov`.

    Returns
    -------
    Array
        In [-1, 1]; NaN for variables that do not vary. A scalar for one variable.

    Examples
    --------
    >>> corrcoef([1.0, 2.0], [3.0, 1.0]).tolist()
    [[0.9999999999999999, -0.9999999999999999], [-0.9999999999999999, 0.9999999999999999]]
    """
    covariance = cov(x, y, rowvar, dtype=dtype)
    if shape_of(covariance) == ():
        return ufuncs.divide(covariance, covariance)
    spread = ufuncs.sqrt(b.real(reshaping.diagonal(covariance)))
    result = ufuncs.divide(ufuncs.divide(covariance, expand(spread, 1)), expand(spread, 0))
    if result.dtype.kind == "c":
        parts = [ufuncs.minimum(ufuncs.maximum(part, -1), 1) for part in (b.real(result), b.imag(result))]
        return b.as_complex(*parts)
    return ufuncs.minimum(ufuncs.maximum(result, -1), 1)
