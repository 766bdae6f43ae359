"""SciPy's special functions that programs use most: erf, gammaln, expit, logsumexp, xlogy and their kin.

Integers are computed in float64. They run outside tracing too, on the same definitions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo.library.documentation import described, named
from numhlo.library.numpy import elementwise as ufuncs
from numhlo.library.numpy import reductions
from numhlo.lowering.ir import TensorType, capture_location
from numhlo.lowering.ir.errors import DTypeError
from numhlo.lowering.ops import elementwise as ops
from numhlo.lowering.ops.annotations import STOP_GRADIENT, make_annotation
from numhlo.lowering.ops.control_flow import COMPOSITE
from numhlo.tracer.building import (
    are_arrays_immutable,
    as_traced,
    asarray,
    bind1,
    broadcast_all,
    broadcast_to_shape,
    composite,
    convert,
    normalize_axes,
    reshape_to,
    result_dtype,
    runs_anywhere,
    shape_of,
    spelling,
)
from numhlo.tracer.building import operations as b

__all__ = [
    "digamma", "entr", "erf", "erfc", "erfinv", "expit", "gammaln", "log_softmax", "logit", "logsumexp", "softmax",
    "xlog1py", "xlogy",
]  # fmt: skip

ONE_REAL = """
Parameters
----------
x : array_like
    Real.

Returns
-------
Array
    Of the shape of ``x``, and its dtype where that is a float.

Raises
------
DTypeError
    If the operand is complex.
"""

_STEADY = """
Parameters
----------
x : array_like
axis : int or sequence of int, optional
    All by default.

Returns
-------
Array
    Of the shape of ``x``, and its dtype where that is a float; nothing overflows.
"""

_ONE_OPERAND = """
Parameters
----------
x, z : array_like
    Real.

Returns
-------
Array
    Of the shape of the operand, and its dtype where that is a float; NaN for NaN.
"""

_PRODUCT = """
Parameters
----------
x, y : array_like
    They broadcast.

Returns
-------
Array
    Of the common float; NaN where ``y`` is NaN, even for 0.
"""


def inexact(*operands: Any) -> list[Any]:
    """Return operands as floats (or complex numbers) of one dtype and shape."""
    wanted = result_dtype(*operands)
    wanted = np.dtype(np.float64) if wanted.kind in "biu" else wanted
    given = [as_traced(convert(x if isinstance(x, float | int) else asarray(x), wanted)) for x in operands]
    return [as_traced(x) for x in broadcast_all(*given)]


def real_operands(name: str, *operands: Any) -> list[Any]:
    """Return operands as real floats of one dtype and shape."""
    arrays = inexact(*operands)
    if arrays[0].dtype.kind == "c":
        raise DTypeError(
            f"special.{name} of {spelling(arrays[0])}",
            where=capture_location(),
            why="it is defined here for real numbers",
            fix="take the real part, or use SciPy's outside tracing",
        )
    return arrays


def of_one_real(
    name: str, formula: Callable[[Any], Any], summary: str, example: str, *families: str
) -> Callable[[Any], Any]:
    """Return a public function of one real operand; it belongs to the module of its formula."""

    def function(x: Any) -> Any:
        return formula(*real_operands(name, x))

    function.__module__ = formula.__module__
    return runs_anywhere(named(function, name, summary, example, *families, ONE_REAL))


def _real_or_jaxs(name: str, x: Any) -> Any:
    """Return an operand of a function that SciPy has of real numbers only, and JAX of complex ones, too."""
    return (inexact(x) if are_arrays_immutable() else real_operands(name, x))[0]


def in_double(formula: Callable[..., Any], *values: Any) -> Any:
    """Apply a formula in float64 to arrays of one dtype, and round once to that of narrower floats."""
    dtype = values[0].dtype
    if dtype.kind == "c":
        return formula(*values)
    return convert(formula(*[convert(value, np.dtype(np.float64)) for value in values]), dtype)


@runs_anywhere
@described(_ONE_OPERAND)
def erf(z: Any) -> Any:
    """Return the error function.

    Notes
    -----
    NIST DLMF section 7.2. Errors are in ``docs/special_functions.md``, in units in the last place.

    Examples
    --------
    >>> erf(0.5)
    Array(0.52049988)
    """
    return composite("erf", *inexact(z))


@runs_anywhere
@described(_ONE_OPERAND)
def erfc(x: Any) -> Any:
    """Return ``1 - erf(x)``, accurate where that is small.

    Notes
    -----
    NIST DLMF section 7.2.

    Examples
    --------
    >>> erfc([0.0, 2.0])
    Array([1.        , 0.00467773])
    """
    return composite("erfc", *inexact(x))


@runs_anywhere
def erfinv(y: Any) -> Any:
    """Return the inverse of the error function; NaN outside [-1, 1].

    Parameters
    ----------
    y : array_like
        Real.

    Returns
    -------
    Array
        Infinite at -1 and 1.

    Notes
    -----
    NIST DLMF section 7.17.

    Examples
    --------
    >>> erfinv([0.0, 0.5])
    Array([0.        , 0.47693628])
    """
    return composite("erf_inv", *inexact(y))


@runs_anywhere
@described(_ONE_OPERAND)
def gammaln(x: Any) -> Any:
    """Return the logarithm of the absolute value of the gamma function.

    Notes
    -----
    NIST DLMF section 5.2; infinite at 0 and the negative integers.

    Examples
    --------
    >>> gammaln(5.0)
    Array(3.17805383)
    """
    return composite("lgamma", *inexact(x))


@runs_anywhere
@described(_ONE_OPERAND)
def digamma(z: Any) -> Any:
    """Return the logarithmic derivative of the gamma function.

    Notes
    -----
    NIST DLMF section 5.2; NaN at the negative integers.

    Examples
    --------
    >>> digamma([1.0, 2.0])
    Array([-0.57721566,  0.42278434])
    """
    return composite("digamma", *inexact(z))


@runs_anywhere
@described(_STEADY)
def expit(x: Any) -> Any:
    """Return the logistic function, ``1 / (1 + exp(-x))``.

    Examples
    --------
    >>> expit([0.0, 800.0])
    Array([0.5, 1. ])
    """
    return bind1(ops.LOGISTIC, _real_or_jaxs("expit", x))


@runs_anywhere
def logit(x: Any) -> Any:
    """Return ``log(x / (1 - x))``, the inverse of `expit`.

    Parameters
    ----------
    x : array_like

    Returns
    -------
    Array
        Infinite at 0 and 1, NaN outside.

    Examples
    --------
    >>> logit([0.5, 0.75])
    Array([0.        , 1.09861229])
    """
    value = _real_or_jaxs("logit", x)
    return in_double(lambda p: b.subtract(b.log(p), b.log1p(b.negate(p))), value)


@runs_anywhere
@described(_PRODUCT)
def xlogy(x: Any, y: Any) -> Any:
    """Return ``x log(y)``, 0 where ``x`` is 0.

    Examples
    --------
    >>> xlogy([0.0, 2.0], [0.0, 1.0])
    Array([0., 0.])
    """
    factor, value = inexact(x, y)
    logarithm = b.log(b.select(_annulled(factor, value, 0), 1, value))
    return b.add(b.multiply(factor, logarithm), 0)  # 0 log(y) is -0 for y < 1


@runs_anywhere
@described(_PRODUCT)
def xlog1py(x: Any, y: Any) -> Any:
    """Return ``x log(1 + y)``, 0 where ``x`` is 0.

    Examples
    --------
    >>> xlog1py([0.0, 2.0], [-1.0, 1.0])
    Array([0.        , 1.38629436])
    """
    factor, value = inexact(x, y)
    logarithm = b.log1p(b.select(_annulled(factor, value, -1), 0, value))
    return b.add(b.multiply(factor, logarithm), 0)


def _annulled(factor: Any, value: Any, end: int) -> Any:
    """Return where 0 stands before a logarithm that is infinite or none: elsewhere the product has its slopes."""
    if value.dtype.kind == "c":
        return b.both(b.equal(factor, 0), b.equal(value, end))
    return b.both(b.equal(factor, 0), b.either(b.at_most(value, end), b.equal(value, np.inf)))


@runs_anywhere
@described(_ONE_OPERAND)
def entr(x: Any) -> Any:
    """Return ``-x log(x)``, 0 at 0 and minus infinity below.

    Returns
    -------
    Array
        Of floats.

    Examples
    --------
    >>> entr([0.0, 1.0, 0.5])
    Array([ 0.        , -0.        ,  0.34657359])
    """
    value = _real_or_jaxs("entr", x)
    return in_double(_entropy, value)


def _entropy(value: Any) -> Any:
    safe = b.select(b.at_most(value, 0), 1, value)
    result = b.select(b.equal(value, 0), 0, b.negate(b.multiply(value, b.log(safe))))
    return b.select(b.less(value, 0), -np.inf, result)


@runs_anywhere
def logsumexp(
    a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False, where: Any = None
) -> Any:
    """Return ``log(sum(b exp(a)))`` over axes, without overflow.

    Parameters
    ----------
    a : array_like
    axis : int or tuple of int, optional
    b : array_like, optional
        Weights; elements of weight 0 don't count, whatever they are.
    keepdims : bool, optional
    return_sign : bool, optional
        Return the logarithm of the absolute value, and the sign.
    where : array_like, optional
        Which elements count.

    Returns
    -------
    Array, or tuple of two Arrays
        Negative infinity for sums over nothing; NaN where a weighted sum is negative, unless signs are asked for.

    Examples
    --------
    >>> logsumexp([1000.0, 1000.0])
    Array(1000.69314718)
    """
    values, *weights = inexact(a) if b is None else inexact(a, b)
    if weights:  # what has no weight must not be the peak that all others vanish beside
        values = masked_out(ufuncs.not_equal(weights[0], 0), values)
    if where is not None:
        values = masked_out(asarray(where, np.dtype(bool)), values)
    return _log_of_sum(values, weights, axis, keepdims, return_sign)


def masked_out(mask: Any, values: Any) -> Any:
    """Return values with minus infinity, whose exponential is 0, where a mask does not hold."""
    shape = np.broadcast_shapes(shape_of(mask), shape_of(values))
    wide = broadcast_to_shape(values, shape)
    return b.select(broadcast_to_shape(mask, shape), wide, -np.inf)


def _log_of_sum(values: Any, weights: list[Any], axis: Any, keepdims: bool, return_sign: bool) -> Any:
    axes = normalize_axes(axis, values.ndim)
    high = peak(values, axes)
    terms = b.exp(b.subtract(values, broadcast_to_shape(high, values.shape)))
    terms = b.multiply(terms, weights[0]) if weights else terms
    total = reductions.sum(terms, axes, keepdims=True)
    sign = ufuncs.sign(total)
    size = ufuncs.absolute(total) if return_sign else total
    result = b.add(b.log(size), convert(high, size.dtype))
    shape = tuple(1 if k in axes else n for k, n in enumerate(values.shape))
    if not keepdims:
        shape = tuple(n for k, n in enumerate(values.shape) if k not in axes)
    result = reshape_to(result, shape)
    return (result, reshape_to(sign, shape)) if return_sign else result


def peak(values: Any, axes: tuple[int, ...]) -> Any:
    """Return the greatest element over axes, which are kept; 0 where it is not finite (or there is none).

    It is a constant for derivatives: whatever is subtracted, results are the same but for rounding.
    """
    parts = b.real(values) if values.dtype.kind == "c" else values
    type = TensorType(shape_of(parts), parts.dtype)
    parts = bind1(COMPOSITE, parts, attributes=make_annotation(STOP_GRADIENT, type), results=[type])
    high = reductions.max(parts, axes, keepdims=True, initial=-np.inf)
    return convert(b.select(b.is_finite(high), high, 0.0), values.dtype)


@runs_anywhere
@described(_STEADY)
def softmax(x: Any, axis: Any = None) -> Any:
    """Return exponentials that sum to 1 over axes.

    Examples
    --------
    >>> softmax([0.0, 0.0])
    Array([0.5, 0.5])
    """
    (values,) = inexact(x)
    axes = normalize_axes(axis, values.ndim)
    terms = b.exp(b.subtract(values, broadcast_to_shape(peak(values, axes), values.shape)))
    return ufuncs.divide(terms, reductions.sum(terms, axes, keepdims=True))


@runs_anywhere
@described(_STEADY)
def log_softmax(x: Any, axis: Any = None) -> Any:
    """Return the logarithm of `softmax`.

    Examples
    --------
    >>> log_softmax([0.0, 0.0])
    Array([-0.69314718, -0.69314718])
    """
    (values,) = inexact(x)
    axes = normalize_axes(axis, values.ndim)
    high = (
        reductions.max(values, axes, keepdims=True) if values.dtype.kind == "c" and values.size else peak(values, axes)
    )
    shifted = b.subtract(values, broadcast_to_shape(high, values.shape))  # by a number's angle, too: SciPy's branch
    return ufuncs.subtract(shifted, ufuncs.log(reductions.sum(b.exp(shifted), axes, keepdims=True)))
