"""`jax._src.traceback_util`: files that libraries take out of tracebacks."""

from numhlo.compat.jax.traceback_exclusion import _exclude_paths as _exclude_paths
from numhlo.compat.jax.traceback_exclusion import api_boundary, include_frame, register_exclusion

__all__ = ["api_boundary", "include_frame", "register_exclusion"]
