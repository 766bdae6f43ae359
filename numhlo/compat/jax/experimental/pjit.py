"""`jax.experimental.pjit`: the older name of `jax.jit` with shardings."""

from numhlo.compat.jax.transformations import jit as pjit

__all__ = ["pjit"]
