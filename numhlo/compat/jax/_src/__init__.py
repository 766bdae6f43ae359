"""`jax._src`: private names of JAX's that libraries import, and that mean the same here."""

from numhlo.compat.jax.late_modules import late as _late

__all__: list[str] = []

__getattr__, __dir__ = _late(
    __name__,
    ["ad_util", "api", "api_util", "checkify", "compiler", "core", "custom_derivatives", "dispatch", "dtypes",
     "flatten_util", "linear_util", "literals", "source_info_util", "state", "traceback_util", "tree_util",
     "util", "xla_bridge"],
)  # fmt: skip
