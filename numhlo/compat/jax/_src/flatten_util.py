"""`jax._src.flatten_util`: pytrees as vectors."""

from numhlo.compat.jax.flatten_util import ravel_pytree

__all__ = ["ravel_pytree"]
