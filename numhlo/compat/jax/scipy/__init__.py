"""`jax.scipy`: the parts of SciPy that can be traced, on immutable arrays."""

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


def __getattr__(name: str) -> object:
    return getattr(_wrapped, name)
