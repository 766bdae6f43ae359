"""`jax._src.tree_util`: pytrees."""

from numhlo.compat.jax.late_modules import same_names as _same_names
from numhlo.tracer.trees import pytrees as _pytrees

__all__ = ["_registry"]

_registry = _pytrees.CONTAINERS  # how classes of containers are taken apart: libraries ask which there are

__getattr__, __dir__ = _same_names("numhlo.compat.jax.tree_util")
