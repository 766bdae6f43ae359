"""`jax._src.tree_util`: pytrees."""

from numhlo.compat.jax.late_modules import same_names as _same_names

__all__: list[str] = []

__getattr__, __dir__ = _same_names("numhlo.compat.jax.tree_util")
