"""`jax.numpy`: the functions of `numhlo.numpy`, on immutable arrays."""

from __future__ import annotations

from typing import Any

import numhlo.numpy as _wrapped
from numhlo.compat.jax.arrays import Array
from numhlo.compat.jax.numpy import fft as fft
from numhlo.compat.jax.numpy import linalg as linalg
from numhlo.compat.jax.wrapping import seen_as_jax as _seen_as_jax

__all__ = [name for name in _wrapped.__all__ if name != "Array"]

ndarray = Array


def __getattr__(name: str) -> Any:
    value = globals()[name] = _seen_as_jax(_wrapped, name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
