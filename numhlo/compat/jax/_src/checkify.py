"""`jax._src.checkify`: checks in traced programs."""

from numhlo.compat.jax.experimental.checkify import JaxRuntimeError as JaxException
from numhlo.compat.jax.late_modules import same_names as _same_names

__all__ = ["JaxException"]

__getattr__, __dir__ = _same_names("numhlo.compat.jax.experimental.checkify")
