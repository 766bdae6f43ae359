"""`jax._src.api_util`: functions of pytrees as functions of flat arguments."""

from numhlo.compat.jax.late_modules import same_names as _same_names

__all__: list[str] = []

__getattr__, __dir__ = _same_names("numhlo.compat.jax.api_util")
