"""`jax.dlpack`: arrays of other libraries, whose memory is shared."""

from numhlo.compat.jax.numpy import from_dlpack as from_dlpack

__all__ = ["from_dlpack"]
