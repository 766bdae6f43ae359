"""`jax.typing`: what annotations of programs for JAX name."""

from numpy.typing import ArrayLike as ArrayLike
from numpy.typing import DTypeLike as DTypeLike

__all__ = ["ArrayLike", "DTypeLike"]
