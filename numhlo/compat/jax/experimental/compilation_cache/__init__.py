"""`jax.experimental.compilation_cache`: kernels are cached without being asked; see NUMHLO_CACHE_DIR."""

from numhlo.compat.jax.experimental.compilation_cache import compilation_cache as compilation_cache

__all__ = ["compilation_cache"]
