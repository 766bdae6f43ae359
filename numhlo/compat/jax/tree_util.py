"""`jax.tree_util`: numhlo's pytrees, which follow JAX's."""

from typing import Any

from numhlo.tree_util import *  # noqa: F403
from numhlo.tree_util import __all__ as __all__

KeyEntry = Any
"""A step of a path, for annotations."""

KeyPath = tuple[Any, ...]
"""The way to a leaf, for annotations."""
