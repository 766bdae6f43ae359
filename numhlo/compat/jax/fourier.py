"""What `jax.numpy.fft` and `jax.scipy.fft` do where NumPy and SciPy do otherwise: empty arrays, repeated axes."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

import numhlo.numpy
from numhlo.compat.jax.arrays import frozen
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, UnsupportedError
from numhlo.tracer.core.trace import Tracer

TO_REAL = ("hfft", "irfft", "irfft2", "irfftn")
OF_REAL = ("ihfft", "rfft", "rfft2", "rfftn")
ALONG_ONE = ("fft", "hfft", "ifft", "ihfft", "irfft", "rfft")


def transforming(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of NumPy's `fft` that takes what JAX's of its name takes."""
    if name in ("fftfreq", "rfftfreq"):
        return _frequencies(name, function)
    if name in ALONG_ONE:
        return _along_one(name, function)
    return _along_several(name, function) if name.removesuffix("2").removesuffix("n").endswith("fft") else function


def _refused(name: str, what: str, fix: str) -> ArgumentError:
    return ArgumentError(f"jax.numpy.fft.{name} {what}", where=capture_location(), fix=fix)


def _along_one(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def public(a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
        if isinstance(axis, tuple | list):
            raise _refused(name, f"does not support multiple axes. Got axis={axis}", f"use {name}n")
        if axis is None:  # as an index: all of a new first axis, and the last one is meant
            axis = -1
        empty = None if n is not None else _empty(name, a, [axis])
        return function(a, n, axis, norm) if empty is None else empty

    return public


def _along_several(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    default = (-2, -1) if name.endswith("2") else None

    @functools.wraps(function)
    def public(a: Any, s: Any = None, axes: Any = default, norm: Any = None) -> Any:
        if name.endswith("2") and len(axes) != 2:
            raise _refused(name, f"only supports 2 axes. Got axes = {axes}.", f"use {name[:-1]}n")
        ndim = np.ndim(a)
        if axes is not None and len({k % ndim if ndim else k for k in axes}) != len(axes):
            raise _refused(name, f"does not support repeated axes. Got axes {axes}.", "name each axis once")
        if s is not None and min(s, default=1) < 0:
            raise _refused(name, f"with s={s}: Shape should be non-negative.", "give the number of points")
        chosen = range(ndim) if axes is None else axes
        if not len(chosen):
            return numhlo.numpy.asarray(a).astype(_complex_of(a))
        empty = None if s is not None else _empty(name, a, list(chosen))
        return function(a, s, axes, norm) if empty is None else empty

    return public


def _complex_of(a: Any) -> np.dtype:
    dtype = a.dtype if hasattr(a, "dtype") else np.asarray(a).dtype
    is_narrow = dtype == np.complex64 or (dtype.kind in "fV" and dtype.itemsize <= 4)
    return np.dtype(np.complex64 if is_narrow else np.complex128)


def _empty(name: str, a: Any, axes: list[int]) -> Any:
    """Return the transform if it has no elements; None if it has some."""
    shape = list(a.shape if isinstance(a, Tracer) else np.shape(a))
    if not all(-len(shape) <= k < len(shape) for k in axes):
        return None
    last = axes[-1]
    if name in TO_REAL:
        shape[last] = max(0, 2 * (shape[last] - 1))
    elif name in OF_REAL:
        shape[last] = shape[last] // 2 + 1
    if math.prod(shape):
        return None
    result = np.zeros(shape, _complex_of(a))
    return frozen(result.real if name in TO_REAL else result)


def _frequencies(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def public(n: Any, d: Any = 1.0, *, dtype: Any = None, device: Any = None) -> Any:
        for option, value in (("n", n), ("d", d)):
            if isinstance(value, list | tuple):
                raise _refused(name, f"only takes a single value for {option}. Got {value}.", "give a number")
        count = int(n) if isinstance(n, float) and n.is_integer() else n
        spacing = numhlo.numpy.asarray(float(d)) if isinstance(d, int | float) and not d else d
        if isinstance(count, int) and count <= 0:
            return frozen(np.zeros(0 if name == "fftfreq" else 1, dtype))
        with np.errstate(divide="ignore", invalid="ignore"):  # a spacing of 0 gives infinity
            return function(count, spacing, device, dtype=dtype)

    return public


def cosine(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a cosine transform that refuses what JAX's does not have."""

    @functools.wraps(function)
    def public(x: Any, type: int = 2, *args: Any, **kwargs: Any) -> Any:
        norm = kwargs.get("norm", args[2] if len(args) > 2 else None)
        for option, value, known in (("type", type, (2,)), ("norm", norm, (None, "ortho", "backward"))):
            if value not in known:
                raise UnsupportedError(
                    f"jax.scipy.fft.{name}({option}={value!r})",
                    where=capture_location(),
                    why="JAX has no other",
                    fix=f"use numhlo.scipy.fft.{name}, which has more",
                )
        return function(x, type, *args, **kwargs)

    return public
