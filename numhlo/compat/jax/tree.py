"""`jax.tree`: the functions of `jax.tree_util` under shorter names."""

import numhlo.tree as _wrapped
from numhlo.compat.jax.sorted_trees import with_sorted_keys as _with_sorted_keys
from numhlo.tree import *  # noqa: F403
from numhlo.tree import __all__ as __all__

globals().update(_with_sorted_keys(_wrapped))
