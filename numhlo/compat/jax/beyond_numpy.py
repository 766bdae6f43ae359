"""What functions of `jax.numpy` take beyond NumPy's: dtypes of results, reads out of bounds, choices of an algorithm.

A choice of an algorithm or a device is accepted, and means nothing: here is one of each.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import numhlo.numpy
from numhlo.compat.jax.arrays import frozen, immutably
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ShapeError

PRODUCTS = (
    "convolve", "correlate", "dot", "einsum", "inner", "matmul", "matvec", "tensordot", "vdot", "vecdot", "vecmat",
)  # fmt: skip
"""Functions that take ``precision`` and ``preferred_element_type``."""

QUESTIONS = ("allclose", "array_equal", "array_equiv")
"""Functions whose answer is an array of one bool, where NumPy's is Python's."""

CHOICES = {"array": "device", "digitize": "method", "isin": "method", "polyval": "unroll", "searchsorted": "method"}
"""Functions with an option that means nothing here, and its name."""


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
        return _answer(function)
    if name in PRODUCTS:
        return _product(function)
    if name in CHOICES:
        return _without(function, CHOICES[name])
    return _promoting(function) if name in ("sum", "prod") else function


def _answer(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def public(*args: Any, **kwargs: Any) -> Any:
        return frozen(numhlo.numpy.asarray(function(*args, **kwargs)))

    return public


def _without(function: Callable[..., Any], option: str) -> Callable[..., Any]:
    @functools.wraps(function)
    def public(*args: Any, **kwargs: Any) -> Any:
        kwargs.pop(option, None)
        return function(*args, **kwargs)

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


@immutably
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
    if mode not in (None, "fill"):
        return numhlo.numpy.take(a, indices, axis, mode=mode)
    array = numhlo.numpy.asarray(a)
    if axis is None:
        array, axis = array.reshape(-1), 0
    index = (*(slice(None) for _ in range(axis % array.ndim)), numhlo.numpy.asarray(indices))
    return _read(array, index, fill_value)


@immutably
def take_along_axis(
    arr: Any, indices: Any, axis: int | None = -1, mode: str | None = None, fill_value: Any = None
) -> Any:
    """Return elements at indices along an axis; those out of bounds are ``fill_value``, NaN by default."""
    array, places = numhlo.numpy.asarray(arr), numhlo.numpy.asarray(indices)
    if axis is None:
        array, axis = array.reshape(-1), 0
    if mode not in (None, "fill"):
        low, extent = 0, array.shape[axis]
        inside = numhlo.numpy.clip(places, low, extent - 1) if mode == "clip" else places % extent
        return numhlo.numpy.take_along_axis(array, inside if mode in ("clip", "wrap") else places, axis)
    if places.ndim != array.ndim:
        raise ShapeError(
            f"take_along_axis: indices have {places.ndim} dimensions and the array {array.ndim}",
            where=capture_location(),
            fix="give indices as many dimensions as the array",
        )
    axis %= array.ndim
    lines = [np.arange(n).reshape((-1, *(1,) * (array.ndim - 1 - k))) for k, n in enumerate(array.shape)]
    return _read(array, tuple(places if k == axis else line for k, line in enumerate(lines)), fill_value)


def _read(array: Any, index: tuple[Any, ...], fill_value: Any) -> Any:
    return frozen(array.at[index].get(mode="fill", fill_value=fill_value))
