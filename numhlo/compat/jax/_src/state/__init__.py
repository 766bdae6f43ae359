"""`jax._src.state`: references to arrays."""

from numhlo.compat.jax.ref import AbstractRef as AbstractRef

__all__ = ["AbstractRef"]
