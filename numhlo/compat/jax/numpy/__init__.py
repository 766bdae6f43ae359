"""`jax.numpy`: the functions of `numhlo.numpy`, on immutable arrays."""

from __future__ import annotations

from typing import Any

import numhlo.numpy as _wrapped
from numhlo.compat.jax import beyond_numpy as _beyond
from numhlo.compat.jax.along_axes import apply_along_axis as apply_along_axis
from numhlo.compat.jax.along_axes import vectorize as vectorize
from numhlo.compat.jax.arrays import Array
from numhlo.compat.jax.beyond_numpy import take as take
from numhlo.compat.jax.beyond_numpy import take_along_axis as take_along_axis
from numhlo.compat.jax.numpy import fft as fft
from numhlo.compat.jax.numpy import linalg as linalg
from numhlo.compat.jax.user_ufuncs import frompyfunc as frompyfunc
from numhlo.compat.jax.user_ufuncs import ufunc as ufunc
from numhlo.compat.jax.wrapping import attributes_of as _attributes_of

__all__, _find, __dir__ = _attributes_of(_wrapped, globals())

ndarray = Array


def __getattr__(name: str) -> Any:
    found = globals()[name] = _beyond.with_options(name, _find(name))
    return found
