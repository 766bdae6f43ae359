"""`jax.numpy`: the functions of `numhlo.numpy`, on immutable arrays."""

from __future__ import annotations

import numhlo.numpy as _wrapped
from numhlo.compat.jax.along_axes import apply_along_axis as apply_along_axis
from numhlo.compat.jax.arrays import Array
from numhlo.compat.jax.numpy import fft as fft
from numhlo.compat.jax.numpy import linalg as linalg
from numhlo.compat.jax.wrapping import attributes_of as _attributes_of

__all__, __getattr__, __dir__ = _attributes_of(_wrapped, globals())

ndarray = Array
