"""`jax._src.custom_derivatives`: functions with rules of their own."""

from numhlo.compat.jax.late_modules import same_names as _same_names

__all__: list[str] = []

__getattr__, __dir__ = _same_names("numhlo.compat.jax.custom_derivatives")
