"""Functions of `jax.lax` that refuse dtypes which numhlo's of their names take: nothing is promoted there."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import numhlo.lax
import numhlo.numpy
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import DTypeError

Function = Callable[..., Any]

REFUSED: dict[str, str] = {
    **dict.fromkeys(["abs", "cummax", "cummin", "cumprod", "cumsum", "square"], "b"),
    **dict.fromkeys(["imag", "real"], "biufV"),
    **dict.fromkeys(["cbrt", "digamma", "lgamma"], "biuc"),
    "pow": "biu",
}
"""By name, the kinds of dtypes that a function's first operand must not have."""

PAIRS = frozenset({
    "add", "atan2", "complex", "div", "eq", "ge", "gt", "igamma", "igammac", "le", "lt", "max", "min", "mul", "ne",
    "nextafter", "polygamma", "rem", "sub", "zeta",
})  # fmt: skip
"""Functions of two operands of one dtype, where Python's numbers are of the dtypes that they have alone."""

REDUCED = {"pmax": numhlo.numpy.max, "pmin": numhlo.numpy.min, "psum": numhlo.numpy.sum}
"""Reductions over named axes, and what they are over an axis of the array."""


def ruled(name: str, function: Function) -> Function:
    """Return a function of `lax` that refuses what JAX's of its name refuses; itself where that is the same."""
    if name in REDUCED:
        return _over_all_axes(name, function)
    if name in PAIRS:
        return _of_one_dtype(name, function)
    if name in REFUSED:
        return _of_kinds(name, function)
    return _choosing(function) if name == "select" else function


def _refused(name: str, dtype: Any) -> DTypeError:
    return DTypeError(f"lax.{name} does not accept dtype {dtype}", where=capture_location(), fix="convert it first")


def _dtype_of(x: Any) -> np.dtype | None:
    found: np.dtype | None = getattr(x, "dtype", None)
    return np.result_type(x) if found is None and isinstance(x, bool | int | float | complex) else found


def _of_kinds(name: str, function: Function) -> Function:
    @functools.wraps(function)
    def public(x: Any, *args: Any, **kwargs: Any) -> Any:
        dtype = _dtype_of(x)
        if dtype is not None and dtype.kind in REFUSED[name]:
            raise _refused(name, dtype)
        return function(x, *args, **kwargs)

    return public


def _of_one_dtype(name: str, function: Function) -> Function:
    @functools.wraps(function)
    def public(x: Any, y: Any, *args: Any, **kwargs: Any) -> Any:
        for number, other in ((x, y), (y, x)):
            dtype = getattr(other, "dtype", None)
            if type(number) is int and dtype is not None and dtype.kind in "fcV":
                raise _refused(name, f"int64 beside {dtype}; it requires arguments to have the same dtypes")
        return function(x, y, *args, **kwargs)

    return public


def _choosing(function: Function) -> Function:
    @functools.wraps(function)
    def public(pred: Any, on_true: Any, on_false: Any) -> Any:
        dtype = getattr(pred, "dtype", None)
        if dtype is not None and dtype.kind in "iu":
            pred = numhlo.lax.ne(pred, dtype.type(0))
        return function(pred, on_true, on_false)

    return public


def _over_all_axes(name: str, function: Function) -> Function:
    """Return a reduction over named axes that reduces axes of the array itself, too, where integers name them."""

    @functools.wraps(function)
    def public(x: Any, axis_name: Any, **options: Any) -> Any:
        names = axis_name if isinstance(axis_name, tuple | list) else (axis_name,)
        places = tuple(k for k in names if isinstance(k, int))
        if not places:
            return function(x, axis_name, **options)
        found = numhlo.tree.map(lambda leaf: REDUCED[name](leaf, axis=places), x)
        others = tuple(k for k in names if not isinstance(k, int))
        return function(found, others, **options) if others else found

    return public
