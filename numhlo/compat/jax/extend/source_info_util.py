"""`jax.extend.source_info_util`: whose lines errors name. Files that are registered are not taken for the user's."""

from numhlo.compat.jax.absent_names import refusing as _refusing
from numhlo.compat.jax.traceback_exclusion import register_exclusion

__all__ = ["register_exclusion"]

__getattr__ = _refusing(__name__)
