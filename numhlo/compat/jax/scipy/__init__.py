"""`jax.scipy`: the parts of SciPy that can be traced, on immutable arrays."""

import numhlo.scipy as _wrapped
from numhlo.compat.jax.scipy import linalg, special

__all__ = ["linalg", "special"]


def __getattr__(name: str) -> object:
    return getattr(_wrapped, name)
