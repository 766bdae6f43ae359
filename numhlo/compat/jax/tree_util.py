"""`jax.tree_util`: numhlo's pytrees, which follow JAX's."""

from numhlo.tree_util import *  # noqa: F403
from numhlo.tree_util import __all__ as __all__
