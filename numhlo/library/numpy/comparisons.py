"""Questions about values: isclose, allclose, array_equal, isreal, isposinf and their kin; angle, real, imag, sinc."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numhlo.library.documentation import described
from numhlo.library.numpy import elementwise as ufuncs
from numhlo.library.numpy import reductions
from numhlo.library.numpy.out_arrays import store
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ConcretizationError, DTypeError
from numhlo.tracer.building import as_traced, asarray, broadcast_shapes, convert, full_of, implements, shape_of
from numhlo.tracer.building import operations as b

__all__ = [
    "allclose",
    "angle",
    "array_equal",
    "array_equiv",
    "imag",
    "isclose",
    "iscomplex",
    "isneginf",
    "isposinf",
    "isreal",
    "real",
    "real_if_close",
    "sinc",
]

_PART = """
Parameters
----------
val : array_like

Returns
-------
Array
    Of the complex dtype's float; writing into the view of a traced array writes into the array.
"""

_REAL = """
Parameters
----------
x : array_like
    Of real numbers.
out : Array, optional
    Where the result is written.

Returns
-------
Array
    Of booleans.

Raises
------
DTypeError
    If ``x`` is complex.
"""

_VALUE = """
Parameters
----------
x : array_like
    Of any dtype: what counts is the value.

Returns
-------
Array
    Of booleans. An imaginary part of NaN is not zero.
"""


@implements(np.isclose)
def isclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Any:
    """Return where two arrays are equal within a tolerance: ``|a - b| <= atol + rtol * |b|``.

    Parameters
    ----------
    a, b : array_like
        That broadcast; ``b`` is the reference.
    rtol, atol : array_like, optional
        Relative and absolute tolerance.
    equal_nan : bool, optional
        Whether NaN is close to NaN. Infinities are close to themselves.

    Returns
    -------
    Array
        Of booleans, of the broadcast shape.

    Examples
    --------
    >>> isclose([1.0, 1e-9], [1.0, 0.0], rtol=0)
    Array([ True,  True])
    """
    x, y = asarray(a), asarray(b)
    if y.dtype.kind in "bui":
        y = convert(y, np.float64)
    bound = ufuncs.add(atol, ufuncs.multiply(rtol, ufuncs.absolute(y)))
    near = ufuncs.logical_and(ufuncs.less_equal(ufuncs.absolute(ufuncs.subtract(x, y)), bound), ufuncs.isfinite(y))
    result = ufuncs.logical_or(near, ufuncs.equal(x, y))
    if equal_nan:
        result = ufuncs.logical_or(result, ufuncs.logical_and(ufuncs.isnan(x), ufuncs.isnan(y)))
    return result


@implements(np.allclose)
def allclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Any:
    """Return whether all elements are equal within a tolerance.

    Parameters
    ----------
    a, b : array_like
        That broadcast.
    rtol, atol, equal_nan : optional
        As those of `isclose`.

    Returns
    -------
    bool or Array
        A traced boolean scalar while tracing, true for empty arrays.

    Examples
    --------
    >>> allclose([1.0, 1e-9], [1.0, 0.0])
    True
    """
    return reductions.all(isclose(a, b, rtol, atol, equal_nan))


@implements(np.array_equal)
def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    """Return whether two arrays have one shape and equal elements.

    Parameters
    ----------
    a1, a2 : array_like
    equal_nan : bool, optional
        Whether NaN equals NaN.

    Returns
    -------
    bool or Array
        A traced boolean scalar while tracing; shapes that differ give False, no error.

    Examples
    --------
    >>> array_equal([1, 2], [1, 2]), array_equal([1, 2], [[1, 2]])
    (True, False)
    """
    x, y = asarray(a1), asarray(a2)
    if shape_of(x) != shape_of(y):
        return full_of(False, (), np.bool_)
    same = ufuncs.equal(x, y)
    if equal_nan:
        same = ufuncs.logical_or(same, ufuncs.logical_and(ufuncs.isnan(x), ufuncs.isnan(y)))
    return reductions.all(same)


@implements(np.array_equiv)
def array_equiv(a1: Any, a2: Any) -> Any:
    """Return whether two arrays are equal after broadcasting.

    Parameters
    ----------
    a1, a2 : array_like

    Returns
    -------
    bool or Array
        A traced boolean scalar while tracing; shapes that do not broadcast give False, no error.

    Examples
    --------
    >>> array_equiv([1, 2], [[1, 2], [1, 2]])
    True
    """
    x, y = asarray(a1), asarray(a2)
    try:
        broadcast_shapes(shape_of(x), shape_of(y))
    except ValueError:
        return full_of(False, (), np.bool_)
    return reductions.all(ufuncs.equal(x, y))


@implements(np.real)
@described(_PART)
def real(val: Any) -> Any:
    """Return the real part: a view of a complex array, the array itself where it is real.

    Examples
    --------
    >>> real([1 + 2j, 3.0])
    Array([1., 3.])
    """
    return as_traced(asarray(val)).real  # type: ignore[attr-defined]


@implements(np.imag)
@described(_PART)
def imag(val: Any) -> Any:
    """Return the imaginary part: a view of a complex array, zeros where it is real.

    Examples
    --------
    >>> imag([1 + 2j, 3.0])
    Array([2., 0.])
    """
    return as_traced(asarray(val)).imag  # type: ignore[attr-defined]


@implements(np.angle)
def angle(z: Any, deg: bool = False) -> Any:
    """Return the argument of complex numbers, in radians or degrees.

    Parameters
    ----------
    z : array_like
        Of numbers; the argument of a negative real number is pi.
    deg : bool, optional
        In degrees.

    Returns
    -------
    Array
        Of floats in ``(-pi, pi]``; NaN for NaN.

    Examples
    --------
    >>> angle(np.array([1j, -1.0]), deg=True)
    Array([ 90., 180.])
    """
    array = asarray(z)
    if array.dtype.kind == "c":
        found = b.atan2(b.imag(array), b.real(array))
    else:
        found = ufuncs.arctan2(0, array if array.dtype.kind != "b" else convert(array, np.int64))
    return ufuncs.multiply(found, 180 / math.pi) if deg else found


@implements(np.isreal)
@described(_VALUE)
def isreal(x: Any) -> Any:
    """Return where the imaginary part is zero.

    Examples
    --------
    >>> isreal([1 + 0j, 2j])
    Array([ True, False])
    """
    array = asarray(x)
    return b.equal(b.imag(array), 0) if array.dtype.kind == "c" else full_of(True, shape_of(array), np.bool_)


@implements(np.iscomplex)
@described(_VALUE)
def iscomplex(x: Any) -> Any:
    """Return where the imaginary part is not zero.

    Examples
    --------
    >>> iscomplex([1 + 0j, 2j])
    Array([False,  True])
    """
    array = asarray(x)
    return b.unequal(b.imag(array), 0) if array.dtype.kind == "c" else full_of(False, shape_of(array), np.bool_)


def _is_infinity(name: str, value: float, x: Any, out: Any) -> Any:
    array = asarray(x)
    if array.dtype.kind == "c":
        raise DTypeError(f"{name} of complex numbers", where=capture_location(), fix="ask it of the parts")
    if array.dtype.kind in "bui":
        return store(name, full_of(False, shape_of(array), np.bool_), out)
    return store(name, b.equal(array, value), out)


@implements(np.isposinf)
@described(_REAL)
def isposinf(x: Any, out: Any = None) -> Any:
    """Return where the value is positive infinity.

    Examples
    --------
    >>> isposinf([-np.inf, np.inf])
    Array([False,  True])
    """
    return _is_infinity("isposinf", math.inf, x, out)


@implements(np.isneginf)
@described(_REAL)
def isneginf(x: Any, out: Any = None) -> Any:
    """Return where the value is negative infinity.

    Examples
    --------
    >>> isneginf([-np.inf, np.inf])
    Array([ True, False])
    """
    return _is_infinity("isneginf", -math.inf, x, out)


@implements(np.real_if_close)
def real_if_close(a: Any, tol: float = 100) -> Any:
    """Return the array itself where it is real; whether a traced complex one is close to real can't be known.

    Parameters
    ----------
    a : array_like
    tol : float, optional
        In units of the dtype's epsilon; above 1, else absolute.

    Returns
    -------
    Array
        Real where all imaginary parts are within the tolerance.

    Raises
    ------
    ConcretizationError
        If ``a`` is traced and complex: the dtype of the result would depend on its values.

    Examples
    --------
    >>> real_if_close([1 + 0j])
    Array([1.])
    """
    array = as_traced(asarray(a))
    if array.dtype.kind == "c":
        raise ConcretizationError(
            f"real_if_close of a traced array {array.aval.short()}",
            where=capture_location(),
            why="the result's dtype would depend on values that are not known while tracing",
            fix="use real",
        )
    return array


@implements(np.sinc)
def sinc(x: Any) -> Any:
    """Return ``sin(pi x) / (pi x)``, 1 at zero.

    Parameters
    ----------
    x : array_like

    Returns
    -------
    Array
        Of float64 for integers and booleans, else of the dtype of ``x``.

    Examples
    --------
    >>> np.abs(sinc([0.0, 1.0])) > 0.5
    Array([ True, False])
    """
    array = asarray(x)
    wide = array if array.dtype.kind in "fcV" else convert(array, np.float64)
    scaled = ufuncs.multiply(math.pi, wide)
    near = b.less(b.absolute(scaled), 0.5)
    inner, outer = b.select(near, scaled, 0.0), b.select(near, 1.0, scaled)
    # the quotient alone would lose its derivatives at 0, and their last places around it
    series = b.series(b.multiply(inner, inner), [(-1) ** k / math.factorial(2 * k + 1) for k in range(9)])
    return b.select(near, series, b.divide(ufuncs.sin(outer), outer))
