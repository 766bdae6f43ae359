"""Callbacks under JAX's rules: their results are immutable arrays."""

from numhlo.compat.jax.arrays import immutably
from numhlo.library.lax import callbacks

__all__ = ["io_callback", "pure_callback"]

pure_callback = immutably(callbacks.pure_callback)
io_callback = immutably(callbacks.io_callback)
