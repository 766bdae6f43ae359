"""`jax.scipy`: the parts of SciPy that can be traced, on immutable arrays."""

from importlib import import_module as _import_module
from typing import Any as _Any

import numhlo.scipy as _wrapped
from numhlo.compat.jax.scipy import (
    fft,
    integrate,
    interpolate,
    linalg,
    ndimage,
    optimize,
    signal,
    sparse,
    special,
    stats,
)

__all__ = ["fft", "integrate", "interpolate", "linalg", "ndimage", "optimize", "signal", "sparse", "special", "stats"]


_LATE_MODULES = frozenset({"cluster", "spatial"})
"""Modules that are loaded when they are first used."""


def __getattr__(name: str) -> _Any:
    if name in _LATE_MODULES:
        return _import_module(f"{__name__}.{name}")
    return getattr(_wrapped, name)
