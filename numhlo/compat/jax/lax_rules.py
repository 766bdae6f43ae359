"""Functions of `jax.lax` that refuse dtypes which numhlo's of their names take: nothing is promoted there."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import numhlo.lax
import numhlo.numpy
from numhlo.compat.jax.bodies import FUNCTIONS as BODIES
from numhlo.compat.jax.bodies import with_bodies
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, DTypeError
from numhlo.tracer.core.jax_types import jax_rules

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

REDUCED: dict[str, Function] = {"pmax": numhlo.numpy.max, "pmin": numhlo.numpy.min, "psum": numhlo.numpy.sum}
"""Reductions over named axes, and what they are over an axis of the array."""


def ruled(name: str, function: Function) -> Function:
    """Return a function of `lax` that refuses what JAX's of its name refuses; itself where that is the same."""
    if name in BODIES:
        function = with_bodies(name, function)
        return _after(name, REQUIREMENTS[name], function) if name in REQUIREMENTS else function
    if name in REDUCED:
        return _over_all_axes(name, function)
    if name in REQUIREMENTS:
        return _after(name, REQUIREMENTS[name], function)
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
        _require_one_dtype(name, x, y)
        return function(x, y, *args, **kwargs)

    return public


def _after(name: str, require: Callable[..., None], function: Function) -> Function:
    """Return a function that is called when its arguments have been looked at."""

    @functools.wraps(function)
    def public(*args: Any, **kwargs: Any) -> Any:
        require(name, *args, **kwargs)
        return function(*args, **kwargs)

    return public


def _require_extents(name: str, operand: Any, new_sizes: Any, *rest: Any, **options: Any) -> None:
    del operand, rest, options
    if any(isinstance(n, int) and n < 0 for n in new_sizes):
        raise _refused(name, f"sizes {tuple(new_sizes)}, which must all be positive")


def _require_numbers(name: str, shape: Any, fill_value: Any, *rest: Any, **options: Any) -> None:
    del shape, rest, options
    if np.ndim(fill_value):
        raise _refused(
            name, f"{fill_value.dtype}{list(np.shape(fill_value))}: it must be called with scalar fill_value"
        )


def _require_one_dtype(name: str, *operands: Any, **options: Any) -> None:
    del options
    numbers = jax_rules().numbers
    found = [numbers.get(type(x), getattr(x, "dtype", None)) for x in operands]
    if len({d for d in found if isinstance(d, np.dtype)}) > 1 and any(type(x) in numbers for x in operands):
        shown = ", ".join(map(str, found))
        raise _refused(name, f"{shown}; it requires arguments to have the same dtypes")


def _require_power(name: str, x: Any, y: Any) -> None:
    dtype = _dtype_of(x)
    if y < 0 and dtype is not None and dtype.kind in "biu":
        raise _refused(name, f"{dtype} and a negative power: integers cannot be raised to them")


def _require_few_keys(name: str, operand: Any, dimension: int = -1, is_stable: bool = True, num_keys: int = 1) -> None:
    del dimension, is_stable
    count = len(operand) if isinstance(operand, tuple | list) else 1
    if not 1 <= num_keys <= count:
        raise ArgumentError(
            f"lax.{name}: num_keys={num_keys} must be between 1 and {count}",
            where=capture_location(),
            fix="name operands that are there",
        )


def _require_lengths(name: str, x: Any, fft_type: Any, fft_lengths: Any) -> None:
    if not isinstance(fft_lengths, tuple | list):
        raise DTypeError(f"lax.{name}: fft_lengths={fft_lengths!r}", where=capture_location(), fix="give a tuple")
    kind = str(getattr(fft_type, "name", fft_type)).upper()
    wanted = tuple(fft_lengths)
    if kind == "IRFFT" and wanted:
        wanted = (*wanted[:-1], wanted[-1] // 2 + 1)
    shape = tuple(np.shape(x))
    if len(wanted) > len(shape) or shape[len(shape) - len(wanted) :] != wanted:
        raise ArgumentError(
            f"lax.{name}: FFT input shape {shape} minor dimensions must be equal to {wanted}",
            where=capture_location(),
            fix=f"fft_lengths are {tuple(fft_lengths)}: cut or pad the array first",
        )


def _require_unroll(name: str, *args: Any, unroll: Any = 1, **options: Any) -> None:
    del options
    given = args[5] if len(args) > 5 else unroll
    if isinstance(given, int) and given < 0:
        raise ArgumentError(
            f"lax.{name}: `unroll` must be a `bool` or a non-negative `int`, not {given}",
            where=capture_location(),
            fix="leave it out",
        )


REQUIREMENTS: dict[str, Callable[..., None]] = {
    "clamp": _require_one_dtype,
    "dynamic_update_slice": lambda name, operand, update, *rest, **options: _require_one_dtype(name, operand, update),
    "fft": _require_lengths,
    "full": _require_numbers,
    "integer_pow": _require_power,
    "pad": _require_one_dtype,
    "reshape": _require_extents,
    "scan": _require_unroll,
    "sort": _require_few_keys,
}
"""By name, what is asked of a function's arguments beyond what numhlo's asks."""


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
