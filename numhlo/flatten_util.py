"""`numhlo.flatten_util`: pytrees of arrays as one vector, and back."""

from numhlo.tracer.raveling import ravel_pytree
from numhlo.tracer.sources import cite as _cite

__all__ = ["ravel_pytree"]
_cite(globals(), "jax.flatten_util.{}", __all__)
