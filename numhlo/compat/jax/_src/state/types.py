"""`jax._src.state.types`: abstract values of references."""

from numhlo.compat.jax.ref import AbstractRef as AbstractRef

__all__ = ["AbstractRef"]
