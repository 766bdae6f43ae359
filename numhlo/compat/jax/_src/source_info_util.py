"""`jax._src.source_info_util`: files that libraries take out of tracebacks."""

from numhlo.compat.jax.traceback_exclusion import register_exclusion

__all__ = ["register_exclusion"]
