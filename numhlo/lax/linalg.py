"""`numhlo.lax.linalg`: strict linear algebra, under the names of `jax.lax.linalg`."""

from numhlo.library.citations import cite as _cite
from numhlo.library.lax.linalg import cholesky as cholesky
from numhlo.library.lax.linalg import eig as eig
from numhlo.library.lax.linalg import eigh as eigh
from numhlo.library.lax.linalg import lu as lu
from numhlo.library.lax.linalg import lu_pivots_to_permutation as lu_pivots_to_permutation
from numhlo.library.lax.linalg import qr as qr
from numhlo.library.lax.linalg import schur as schur
from numhlo.library.lax.linalg import svd as svd
from numhlo.library.lax.linalg import triangular_solve as triangular_solve
from numhlo.library.lax.matrix_updates import cholesky_update as cholesky_update
from numhlo.library.lax.matrix_updates import householder_product as householder_product
from numhlo.library.lax.matrix_updates import ormqr as ormqr
from numhlo.library.lax.matrix_updates import symmetric_product as symmetric_product
from numhlo.library.lax.matrix_updates import tridiagonal_solve as tridiagonal_solve
from numhlo.library.unsupported_names import raise_absent as _raise_absent

__all__ = [
    "cholesky",
    "cholesky_update",
    "eig",
    "eigh",
    "householder_product",
    "lu",
    "lu_pivots_to_permutation",
    "ormqr",
    "qr",
    "schur",
    "svd",
    "symmetric_product",
    "triangular_solve",
    "tridiagonal_solve",
]
_cite(globals(), "jax.lax.linalg.{}", __all__)
_ADVICE = {
    "hessenberg": "use schur, which goes on to the triangular form",
    "qdwh": "use svd: u @ vh is the unitary factor, vh.mT.conj() * s @ vh the other",
    "tridiagonal": "use eigh, which goes on to the diagonal form",
    "lu_pivots": "use lu",
    "geqrf": "use qr",
}
"""What to write instead of names that are not here."""


def __getattr__(name: str) -> object:
    _raise_absent(__name__, name, _ADVICE)
