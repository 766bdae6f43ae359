"""What functions of `jax.numpy` take beyond NumPy's, with a meaning: dtypes of results, reads out of bounds.

Options that are accepted and mean nothing are in `signatures`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

import numhlo.numpy
from numhlo.compat.jax.arrays import frozen
from numhlo.compat.jax.calling import as_jax
from numhlo.compat.jax.complex_functions import FORMULAS, with_complex_numbers
from numhlo.compat.jax.numpy_rules import ruled
from numhlo.compat.jax.refusals import InPlaceError
from numhlo.library.numpy.weak_numbers import wrapped_integer
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import DataDependentShapeError, DTypeError, ShapeError, UnsupportedError
from numhlo.tracer.core.trace import Tracer

PRODUCTS = (
    "convolve", "correlate", "dot", "einsum", "inner", "matmul", "matvec", "tensordot", "vdot", "vecdot", "vecmat",
)  # fmt: skip
"""Functions that take ``precision`` and ``preferred_element_type``."""

QUESTIONS = ("allclose", "array_equal", "array_equiv")
"""Functions whose answer is an array of one bool, where NumPy's is Python's."""


def with_options(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of NumPy's name that takes what JAX's takes, too.

    Parameters
    ----------
    name : str
    function : callable
        Itself where JAX's takes no more.

    Returns
    -------
    callable
    """
    if name in QUESTIONS:
        function = _answer(function)
    if name in PRODUCTS:
        function = _product(function)
    if name in ("full", "full_like"):
        function = _wrapping(function)
    if name in FORMULAS:
        function = with_complex_numbers(name, function)
    if name == "argsort":
        function = stable_by_default(function)
    if name in ("prod", "sum"):
        function = _promoting(function)
    return ruled(name, function)


def _wrapping(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def public(*args: Any, **kwargs: Any) -> Any:
        like, dtype = args[0] if args else kwargs.get("a"), args[2] if len(args) > 2 else kwargs.get("dtype")
        wanted = getattr(like, "dtype", None) if dtype is None else np.dtype(dtype)
        if wanted is not None:
            args = tuple([wrapped_integer(x, wanted) if k == 1 else x for k, x in enumerate(args)])
            kwargs = {k: wrapped_integer(x, wanted) if k == "fill_value" else x for k, x in kwargs.items()}
        return function(*args, **kwargs)

    return public


def stable_by_default(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``argsort``, or the method, that keeps the order of equal elements unless it is told otherwise."""

    @functools.wraps(function)
    def public(*args: Any, **kwargs: Any) -> Any:
        if len(args) < 3 and kwargs.get("kind") is None and kwargs.get("stable") is None:
            kwargs["stable"] = True
        return function(*args, **kwargs)

    return public


def _answer(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def public(*args: Any, **kwargs: Any) -> Any:
        return frozen(numhlo.numpy.asarray(function(*args, **kwargs)))

    return public


def _product(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def public(*args: Any, precision: Any = None, preferred_element_type: Any = None, **kwargs: Any) -> Any:
        del precision
        if preferred_element_type is None:
            return function(*args, **kwargs)
        preferred = np.dtype(preferred_element_type)
        return function(*[_at_least(x, preferred) for x in args], **kwargs).astype(preferred)

    return public


def _at_least(x: Any, preferred: np.dtype) -> Any:
    """Return an array in the dtype that sums are wanted in, unless its own is wider; anything else unchanged."""
    if not hasattr(x, "dtype"):
        return x
    wide = np.promote_types(x.dtype, preferred)
    return x if wide == x.dtype else x.astype(wide)


def _promoting(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def public(a: Any, *args: Any, promote_integers: bool = True, **kwargs: Any) -> Any:
        if promote_integers or len(args) > 1 or kwargs.get("dtype") is not None:
            return function(a, *args, **kwargs)
        array = numhlo.numpy.asarray(a)
        return function(array, *args, **{**kwargs, "dtype": array.dtype})

    return public


@as_jax("numpy")
def take(
    a: Any,
    indices: Any,
    axis: int | None = None,
    out: None = None,
    mode: str | None = None,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    fill_value: Any = None,
) -> Any:
    """Return elements along an axis; those out of bounds are ``fill_value``, NaN by default, as `jax.numpy.take`'s."""
    del out, unique_indices, indices_are_sorted
    if mode == "raise":
        raise UnsupportedError(
            "The 'raise' mode to jnp.take is not supported",
            where=capture_location(),
            why="no program can stop for an index",
            fix="use fill, clip or wrap",
        )
    if mode not in (None, "fill"):
        return numhlo.numpy.take(a, indices, axis, mode=mode)
    array = numhlo.numpy.asarray(a)
    if axis is None:
        array, axis = array.reshape(-1), 0
    index = (*(slice(None) for _ in range(normalize_axis_index(axis, array.ndim))), numhlo.numpy.asarray(indices))
    return _read(array, index, fill_value)


@as_jax("numpy")
def take_along_axis(
    arr: Any,
    indices: Any,
    axis: int | None = -1,
    mode: str | None = None,
    fill_value: Any = None,
    *,
    wrap_negative_indices: bool = True,
) -> Any:
    """Return elements at indices along an axis; those out of bounds are ``fill_value``, NaN by default."""
    array, places = numhlo.numpy.asarray(arr), numhlo.numpy.asarray(indices)
    if axis is None:
        array, axis = array.reshape(-1), 0
    index = _along("take_along_axis", array, places, axis, mode)
    reading = {"mode": "fill" if mode in (None, "wrap") else mode, "fill_value": fill_value}
    return frozen(array.at[index].get(**reading, wrap_negative_indices=wrap_negative_indices))


def _along(name: str, array: Any, places: Any, axis: int, mode: str | None) -> tuple[Any, ...]:
    """Return an index of every axis: the places along one, and all lines along the others."""
    if places.ndim != array.ndim:
        raise ShapeError(
            f"{name}: indices have {places.ndim} dimensions and the array {array.ndim}",
            where=capture_location(),
            fix="give indices as many dimensions as the array",
        )
    axis = normalize_axis_index(axis, array.ndim)
    if mode == "wrap":
        places = places % array.shape[axis]
    lines = [np.arange(n).reshape((-1, *(1,) * (array.ndim - 1 - k))) for k, n in enumerate(array.shape)]
    return tuple(places if k == axis else line for k, line in enumerate(lines))


@as_jax("numpy")
def put_along_axis(
    arr: Any, indices: Any, values: Any, axis: int | None, inplace: bool = True, *, mode: str | None = None
) -> Any:
    """Return an array with values written at indices along an axis; those out of bounds are dropped."""
    if inplace:
        raise InPlaceError("put_along_axis", "x, ...")
    array, places = numhlo.numpy.asarray(arr), numhlo.numpy.asarray(indices)
    flat, along = (array.reshape(-1), 0) if axis is None else (array, axis)
    index = _along("put_along_axis", flat, places, along, mode)
    written = flat.at[index].set(values, mode="drop" if mode in (None, "wrap", "fill") else mode)
    return frozen(written.reshape(array.shape))


@as_jax("numpy")
def put(a: Any, ind: Any, v: Any, mode: str | None = None, *, inplace: bool = True) -> Any:
    """Return an array with values written at places of the flattened one; those out of bounds are dropped."""
    if inplace:
        raise InPlaceError("put", "x, ...")
    if mode is not None:
        return frozen(numhlo.numpy.put(a, ind, v, mode, inplace=False))
    array, places = numhlo.numpy.asarray(a), numhlo.numpy.ravel(ind)
    values = numhlo.numpy.resize(v, places.shape)
    return frozen(array.reshape(-1).at[places].set(values, mode="drop").reshape(array.shape))


@as_jax("numpy")
def mask_indices(n: int, mask_func: Callable[..., Any], k: int = 0, *, size: int | None = None) -> Any:
    """Return the indices where a mask of a square of ones holds, ``size`` of them."""
    return numhlo.numpy.nonzero(mask_func(numhlo.numpy.ones((n, n)), k), size=size)


@as_jax("numpy")
def clip(arr: Any, /, min: Any = None, max: Any = None, *, a_min: Any = None, a_max: Any = None) -> Any:
    """Return values limited by bounds that are there; bounds that the dtype does not hold wrap."""
    if any(map(np.iscomplexobj, (arr, min, max, a_min, a_max))):
        raise DTypeError(
            "clip of complex numbers",
            where=capture_location(),
            why="they have no order",
            fix="clip their real and imaginary parts",
        )
    low, high = a_min if min is None else min, a_max if max is None else max
    limited = numhlo.numpy.asarray(arr)
    if low is not None:
        limited = numhlo.numpy.maximum(limited, low)
    return limited if high is None else numhlo.numpy.minimum(limited, high)


@as_jax("numpy")
def delete(arr: Any, obj: Any, axis: int | None = None, *, assume_unique_indices: bool = False) -> Any:
    """Return an array without the elements at places along an axis; traced ones have to be unique."""
    traced = isinstance(obj, Tracer) and obj.dtype.kind in "iu"
    if not (traced and assume_unique_indices):
        return numhlo.numpy.delete(arr, obj, axis)
    array = numhlo.numpy.asarray(arr)
    if axis is None:
        array, axis = array.reshape(-1), 0
    kept = numhlo.numpy.ones(array.shape[axis], bool).at[numhlo.numpy.ravel(obj)].set(False)
    (places,) = numhlo.numpy.nonzero(kept, size=array.shape[axis] - obj.size)
    return numhlo.numpy.take(array, places, axis)


@as_jax("numpy")
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """Return a function between its known points; ``"extrapolate"`` goes on with the slope at an end."""
    sides = {"left": left, "right": right}
    if "extrapolate" not in [side for side in sides.values() if isinstance(side, str)]:
        return numhlo.numpy.interp(x, xp, fp, left, right, period)
    x, xp, fp = (numhlo.numpy.asarray(v) for v in (x, xp, fp))
    plain = {name: None if isinstance(side, str) else side for name, side in sides.items()}
    found = numhlo.numpy.interp(x, xp, fp, **plain, period=period)
    if period is not None:
        return found
    for name, first, second, beyond in (("left", 0, 1, x < xp[0]), ("right", -1, -2, x > xp[-1])):
        if isinstance(sides[name], str):
            slope = (fp[second] - fp[first]) / (xp[second] - xp[first])
            found = numhlo.numpy.where(beyond, fp[first] + slope * (x - xp[first]), found)
    return found


@as_jax("numpy")
def polymul(a1: Any, a2: Any, *, trim_leading_zeros: bool = False) -> Any:
    """Return the product of two polynomials; zeros that it begins with stay unless they are to be cut off."""
    if trim_leading_zeros:
        return numhlo.numpy.asarray(np.polymul(*_known("polymul", a1, a2)))
    return numhlo.numpy.convolve(numhlo.numpy.atleast_1d(a1), numhlo.numpy.atleast_1d(a2))


@as_jax("numpy")
def polydiv(u: Any, v: Any, *, trim_leading_zeros: bool = False) -> Any:
    """Return quotient and remainder of two polynomials, the remainder as long as ``u`` unless zeros are cut off."""
    if trim_leading_zeros:
        quotient, rest = np.polydiv(*_known("polydiv", u, v))
        return numhlo.numpy.asarray(quotient), numhlo.numpy.asarray(np.trim_zeros(rest, "f"))
    u, v = (x if isinstance(x, Tracer) else np.asarray(x) for x in (u, v))  # NumPy writes into copies of their class
    quotient, rest = numhlo.numpy.polydiv(u, v)
    return quotient, numhlo.numpy.pad(rest, (np.size(u) - rest.size, 0))


def _known(name: str, *polynomials: Any) -> list[Any]:
    """Return coefficients as NumPy's arrays."""
    found = [p.known() if isinstance(p, Tracer) else np.asarray(p) for p in polynomials]
    if any(p is None for p in found):
        raise DataDependentShapeError(
            f"{name} with trim_leading_zeros",
            where=capture_location(),
            why="how many zeros there are depends on values that are not known while tracing",
            fix="leave it out: the zeros stay",
        )
    return found


def _read(array: Any, index: tuple[Any, ...], fill_value: Any) -> Any:
    return frozen(array.at[index].get(mode="fill", fill_value=fill_value))
