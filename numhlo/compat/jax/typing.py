"""`jax.typing`: what annotations of programs for JAX name."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike as DTypeLike

from numhlo.compat.jax.arrays import Array

__all__ = ["ArrayLike", "DTypeLike"]

ArrayLike = Array | np.ndarray | np.bool_ | np.number | bool | int | float | complex
"""Arrays and numbers; as in JAX no lists, and good for `isinstance`."""
