"""Values limited, rounded and replaced: clip, round, fix, nan_to_num."""

from __future__ import annotations

import builtins
import operator
from typing import Any

import numpy as np

from numhlo.library.numpy import elementwise as ufuncs
from numhlo.library.numpy import weak_numbers
from numhlo.library.numpy.out_arrays import store
from numhlo.library.numpy.searching import where
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import DTypeError
from numhlo.tracer.building import (
    WEAK,
    Tracer,
    are_arrays_immutable,
    as_traced,
    asarray,
    convert,
    implements,
    result_dtype,
    shape_of,
    unshared,
)
from numhlo.tracer.building import operations as b

NO_VALUE: Any = np._NoValue

__all__ = ["around", "clip", "fix", "nan_to_num", "round"]


@implements(np.clip, eager=weak_numbers.clip)
def clip(
    a: Any, a_min: Any = NO_VALUE, a_max: Any = NO_VALUE, out: Any = None, *, min: Any = NO_VALUE, max: Any = NO_VALUE
) -> Any:
    """Return values limited to ``[a_min, a_max]``; None leaves a side open.

    Parameters
    ----------
    a : array_like
    a_min, a_max : array_like or None, optional
        They broadcast; where they cross, ``a_max`` wins. A Python integer beyond all of ``a``'s leaves its side open.
    out : Array, optional
        Where the result is written.
    min, max : optional
        The Array API standard's names of the bounds.

    Returns
    -------
    Array
        Of the common dtype; NaN stays.

    Examples
    --------
    >>> clip(np.array([-3, 2, 9]), 0, 5)
    Array([0, 2, 5])
    """
    if (a_min is NO_VALUE) != (a_max is NO_VALUE) and not are_arrays_immutable():  # JAX's function takes one
        missing = "a_min" if a_min is NO_VALUE else "a_max"
        raise TypeError(f"clip() missing 1 required positional argument: {missing!r}")
    if a_min is not NO_VALUE and (min is not NO_VALUE or max is not NO_VALUE):
        raise ValueError("Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is forbidden.")
    return limited(a, min if a_min is NO_VALUE else a_min, max if a_max is NO_VALUE else a_max, out)


def clip_method(a: Any, min: Any = NO_VALUE, max: Any = NO_VALUE, out: Any = None) -> Any:
    """Return what an array's method does, which takes one bound, too."""
    return limited(a, min, max, out)


def limited(a: Any, low: Any, high: Any, out: Any) -> Any:
    """Return values between bounds, each of which may be missing."""
    result = as_traced(asarray(a))
    if result.dtype.kind in "iu" and type(low) is int and low <= np.iinfo(result.dtype).min:
        low = None
    if result.dtype.kind in "iu" and type(high) is int and high >= np.iinfo(result.dtype).max:
        high = None
    sides = [
        (bound, *side)
        for bound, side in ((low, (ufuncs.maximum, ufuncs.less, -0.0)), (high, (ufuncs.minimum, ufuncs.greater, 0.0)))
        if bound is not None and bound is not NO_VALUE
    ]
    if result.dtype.kind == "b":  # which have no room for either bound, and the bounds' own dtypes count together
        result = as_traced(convert(result, result_dtype(result, *[bound for bound, *_ in sides])))
    are_numbers = len(sides) == 2 and not any(shape_of(bound) for bound, *_ in sides)
    for bound, limit, is_beyond, neutral in sides:
        is_traced = isinstance(bound, Tracer) and bound.concrete is None
        if not are_numbers or result.dtype.kind != "f" or not (is_traced or _known_zero(bound) is not None):
            result = limit(result, bound)
        elif is_traced:
            zeros = ufuncs.logical_and(ufuncs.equal(result, 0), ufuncs.equal(bound, 0))
            result = where(zeros, result, limit(result, bound))
        else:
            result = _limit_at_zero(result, bound, _known_zero(bound), limit, is_beyond, neutral)
    return store("clip", result if sides else unshared(result), out, True)


def _known_zero(bound: Any) -> Any:
    """Return a bound as an array if it is known while tracing, and zero; else None."""
    known = bound.concrete if isinstance(bound, Tracer) else np.asarray(bound)
    return known if known is not None and known == 0 else None


def _limit_at_zero(x: Any, bound: Any, zero: Any, limit: Any, is_beyond: Any, neutral: float) -> Any:
    """Return values limited by a zero, zeros with their own sign.

    IEEE's maximum of -0.0 and 0.0 is 0.0. NumPy's loop for two numbers takes a bound only where the value is beyond it;
    its other loops take what the processor's instruction gives. ``neutral`` is the zero that leaves both zeros alone.
    """
    is_weak = bound.weak if isinstance(bound, Tracer) else type(bound) in WEAK
    result = limit(x, neutral if is_weak else np.result_type(x.dtype, zero.dtype).type(neutral))
    return result if np.signbit(zero) == np.signbit(neutral) else where(is_beyond(x, bound), bound, result)


@implements(np.round, np.around)
def round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    """Return values rounded to nearest, ties to even, at a number of decimals.

    Parameters
    ----------
    a : array_like
        Of complex numbers, both parts are rounded.
    decimals : int, optional
        Negative ones round to tens, hundreds and so on.
    out : Array, optional
        Where the result is written.

    Returns
    -------
    Array
        Of the dtype of ``a``, float16 for booleans.

    Raises
    ------
    DTypeError
        If ``a`` is boolean and ``decimals`` not 0.

    Notes
    -----
    Decimals are found by scaling, as NumPy does: 5.015 may go either way, since it has no exact float.

    Examples
    --------
    >>> round(np.array([1.25, 1.35]), 1)
    Array([1.2, 1.4])
    """
    array = as_traced(asarray(a))
    kind = array.dtype.kind
    decimals = int(np.intc(operator.index(decimals)))
    if kind == "c":
        result = b.as_complex(_rounded(b.real(array), decimals), _rounded(b.imag(array), decimals))
    elif kind in "iu" and decimals >= 0:
        result = unshared(array)
    elif kind in "iu":
        result = convert(_rounded(convert(array, np.float64), decimals), array.dtype)
    elif kind == "b":
        if decimals:
            raise DTypeError("round of booleans to decimals", where=capture_location(), fix="convert to float first")
        result = convert(array, np.float16)
    else:
        result = _rounded(array, decimals)
    return store("round", result, out, exact=True)


def _rounded(x: Any, decimals: int) -> Any:
    if decimals == 0:
        return b.round_even(x)
    scale = float(f"1e{builtins.abs(decimals)}")  # infinite beyond 308, where NumPy's results are NaN
    if decimals > 0:
        return b.divide(b.round_even(b.multiply(x, scale)), scale)
    return b.multiply(b.round_even(b.divide(x, scale)), scale)


around = round


@implements(np.nan_to_num)
def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """Return finite numbers in place of NaN and infinities.

    Parameters
    ----------
    x : array_like
    copy : bool, optional
        False to write into ``x``.
    nan : array_like, optional
        In place of NaN.
    posinf, neginf : array_like, optional
        In place of infinities: the greatest and the least finite number by default.

    Returns
    -------
    Array
        Of the dtype of ``x``; integers stay as they are.

    Examples
    --------
    >>> nan_to_num(np.array([np.nan, 1.0]))
    Array([0., 1.])
    """
    array = as_traced(asarray(x))
    if array.dtype.kind == "c":
        parts = [nan_to_num(part, copy, nan, posinf, neginf) for part in (b.real(array), b.imag(array))]
        result = b.as_complex(*parts)
    else:
        result = _finite(array, nan, posinf, neginf)
    if not copy:
        return store("nan_to_num", result, array)
    return result


def _finite(array: Any, nan: Any, posinf: Any, neginf: Any) -> Any:
    if array.dtype.kind not in "fV":
        return array.copy()
    info = b.finfo(array.dtype)
    high = info.max if posinf is None else posinf
    low = info.min if neginf is None else neginf
    result = where(b.is_nan(array), convert(asarray(nan), array.dtype), array)
    result = where(b.equal(array, np.inf), convert(asarray(high), array.dtype), result)
    return where(b.equal(array, -np.inf), convert(asarray(low), array.dtype), result)


@implements(np.fix)
def fix(x: Any, out: Any = None) -> Any:
    """Return values rounded toward zero.

    Parameters
    ----------
    x : array_like
        Of real numbers.
    out : Array, optional
        Where the result is written.

    Returns
    -------
    Array
        Of the dtype of ``x``.

    Examples
    --------
    >>> fix(np.array([-1.7, 1.7]))
    Array([-1.,  1.])
    """
    return ufuncs.trunc(x, out=out)
