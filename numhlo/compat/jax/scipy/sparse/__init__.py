"""`jax.scipy.sparse`: solvers that only multiply by a matrix."""

from numhlo.compat.jax.scipy.sparse import linalg

__all__ = ["linalg"]
