"""`numhlo.flatten_util`: pytrees of arrays as one vector, and back."""

from numhlo.tracer.raveling import ravel_pytree

__all__ = ["ravel_pytree"]
