"""`jax.experimental.compilation_cache.compilation_cache`: numhlo's cache is another, and needs no settings."""

from __future__ import annotations

from typing import Any

from numhlo.compat.jax.configuration import config

__all__ = ["reset_cache", "set_cache_dir"]


def set_cache_dir(path: Any) -> None:
    """Set `config.jax_compilation_cache_dir`, which nothing depends on; NUMHLO_CACHE_DIR is where kernels are."""
    config.update("jax_compilation_cache_dir", path)


def reset_cache() -> None:
    """Do nothing: kernels that are kept on disk are those that would be compiled again."""
