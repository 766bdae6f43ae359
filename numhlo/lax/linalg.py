"""`numhlo.lax.linalg`: strict linear algebra, under the names of `jax.lax.linalg`."""

from numhlo.tracer.lax_linear_algebra import cholesky as cholesky
from numhlo.tracer.lax_linear_algebra import eig as eig
from numhlo.tracer.lax_linear_algebra import eigh as eigh
from numhlo.tracer.lax_linear_algebra import lu as lu
from numhlo.tracer.lax_linear_algebra import lu_pivots_to_permutation as lu_pivots_to_permutation
from numhlo.tracer.lax_linear_algebra import qr as qr
from numhlo.tracer.lax_linear_algebra import schur as schur
from numhlo.tracer.lax_linear_algebra import svd as svd
from numhlo.tracer.lax_linear_algebra import triangular_solve as triangular_solve

__all__ = [
    "cholesky",
    "eig",
    "eigh",
    "lu",
    "lu_pivots_to_permutation",
    "qr",
    "schur",
    "svd",
    "triangular_solve",
]
