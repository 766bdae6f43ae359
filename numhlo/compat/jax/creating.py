"""`jax.numpy.array`, `asarray`, and arrays from files and buffers: they hold numbers alone, and are immutable.

NumPy makes arrays of texts and objects without a word; under JAX's names these are refused.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import numhlo.numpy
from numhlo.compat.jax.arrays import immutably
from numhlo.compat.jax.saturation import fitting
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, DTypeError, UnsupportedError
from numhlo.tracer.core.jax_types import jax_rules
from numhlo.tracer.core.trace import Tracer
from numhlo.tracer.core.type_rules import as_typed


def _of_numbers(made: Any, name: str) -> Any:
    if getattr(made, "dtype", np.dtype(float)).kind == "O" and any(x is None for x in made.flat):
        raise ArgumentError(
            f"None is not a valid value for jnp.{name}",
            where=capture_location(),
            fix="leave the argument out, or give a number",
        )
    if getattr(made, "dtype", np.dtype(float)).kind not in "OSUMm":
        return made
    raise DTypeError(
        f"jax.numpy.{name}: an array of dtype {made.dtype}",
        where=capture_location(),
        why="arrays hold bools, integers, floats and complex numbers",
        fix="keep texts, None and other objects in lists or dicts",
    )


def _fitting(made: Any, source: Any, dtype: Any) -> Any:
    """Return an array of 32 bits where there are no 64; Python's integers must fit."""
    is_of_numbers = dtype is None and isinstance(source, int | list | tuple) and not isinstance(made, Tracer)
    return as_typed(made, source, jax_rules()) if is_of_numbers else made


def _as_told(x: Any) -> Any:
    """Return what an object says that it is as an array; anything else as it is."""
    return x.__jax_array__() if hasattr(x, "__jax_array__") else x


def _require_unset(name: str, out_sharding: Any) -> None:
    if out_sharding is not None:
        raise UnsupportedError(f"jax.numpy.{name}(out_sharding=)", where=capture_location(), fix="leave it out")


@immutably
def array(
    object: Any,
    dtype: Any = None,
    copy: bool = True,
    order: str | None = "K",
    ndmin: int = 0,
    *,
    device: Any = None,
    out_sharding: Any = None,
) -> Any:
    """Return an array of what is given; without ``copy`` it is made only where it is needed."""
    del device
    _require_unset("array", out_sharding)
    object = fitting(_as_told(object), dtype)
    made = numhlo.numpy.array(object, dtype, copy=copy or None, order=order or "K", ndmin=ndmin)
    return _of_numbers(_fitting(made, object, dtype), "array")


@immutably
def asarray(
    a: Any, dtype: Any = None, order: str | None = None, *, copy: bool | None = None, device: Any = None, **options: Any
) -> Any:
    """Return what is given as an array."""
    _require_unset("asarray", options.pop("out_sharding", None))
    a = fitting(_as_told(a), dtype)
    made = numhlo.numpy.asarray(a, dtype, order, copy=copy, device=device, **options)
    return _of_numbers(_fitting(made, a, dtype), "asarray")


def _from_numpy(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def public(*args: Any, **kwargs: Any) -> Any:
        return asarray(function(*args, **kwargs))

    return public


load: Any = _from_numpy(np.load)
frombuffer: Any = _from_numpy(np.frombuffer)
fromfile: Any = _from_numpy(np.fromfile)
fromiter: Any = _from_numpy(np.fromiter)
fromstring: Any = _from_numpy(np.fromstring)
save, savez = np.save, np.savez
