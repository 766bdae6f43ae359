"""`jax.experimental`: what numhlo has of it."""

from importlib import import_module as _import_module
from typing import Any as _Any

from numhlo.compat.jax.absent_names import raise_absent as _raise_absent
from numhlo.compat.jax.callbacks import io_callback as io_callback
from numhlo.compat.jax.experimental import ode as ode
from numhlo.compat.jax.precision import disable_x64 as disable_x64
from numhlo.compat.jax.precision import enable_x64 as enable_x64

__all__ = ["disable_x64", "enable_x64", "io_callback", "ode"]
_LATE_MODULES = frozenset(
    {
        "checkify",
        "compilation_cache",
        "hijax",
        "jet",
        "layout",
        "mesh_utils",
        "multihost_utils",
        "pjit",
        "shard_map",
        "sparse",
    }
)
"""Modules that are loaded when they are first used."""


def __getattr__(name: str) -> _Any:
    if name not in _LATE_MODULES:
        _raise_absent(__name__, name, {})
    return _import_module(f"{__name__}.{name}")
