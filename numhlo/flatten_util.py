"""`numhlo.flatten_util`: pytrees of arrays as one vector, and back."""

from numhlo.library.citations import cite as _cite
from numhlo.library.lax.raveling import ravel_pytree

__all__ = ["ravel_pytree"]
_cite(globals(), "jax.flatten_util.{}", __all__)
