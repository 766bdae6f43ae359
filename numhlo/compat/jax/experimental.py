"""`jax.experimental`: what numhlo has of it."""

from numhlo.compat.jax.callbacks import io_callback as io_callback

__all__ = ["io_callback"]
