"""`jax.tree`: the functions of `jax.tree_util` under shorter names."""

from numhlo.tree import *  # noqa: F403
from numhlo.tree import __all__ as __all__
