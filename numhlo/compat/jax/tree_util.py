"""`jax.tree_util`: numhlo's pytrees, which follow JAX's."""

from typing import Any

import numhlo.tree_util as _wrapped
from numhlo.compat.jax.absent_names import refusing as _refusing
from numhlo.compat.jax.sorted_trees import with_sorted_keys as _with_sorted_keys
from numhlo.tree_util import *  # noqa: F403
from numhlo.tree_util import __all__ as __all__

KeyEntry = Any
"""A step of a path, for annotations."""

KeyPath = tuple[Any, ...]
"""The way to a leaf, for annotations."""

globals().update(_with_sorted_keys(_wrapped))

__getattr__ = _refusing(__name__)
