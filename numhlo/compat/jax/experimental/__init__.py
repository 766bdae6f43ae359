"""`jax.experimental`: what numhlo has of it."""

from numhlo.compat.jax.callbacks import io_callback as io_callback
from numhlo.compat.jax.experimental import ode as ode

__all__ = ["io_callback", "ode"]
