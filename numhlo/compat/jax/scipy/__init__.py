"""`jax.scipy`: the parts of SciPy that can be traced, on immutable arrays."""

from numhlo.compat.jax.scipy import linalg, special

__all__ = ["linalg", "special"]
