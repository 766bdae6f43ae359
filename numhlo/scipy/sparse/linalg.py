"""`numhlo.scipy.sparse.linalg`: linear equations solved by products with the matrix, under JAX's names."""

from numhlo.library.citations import cite as _cite
from numhlo.library.scipy.sparse import iterative_solvers as _krylov
from numhlo.library.scipy.sparse.iterative_solvers import *  # noqa: F403
from numhlo.library.unsupported_names import raise_absent as _raise_absent

__all__ = [name for name in sorted(globals()) if name in _krylov.__all__]
_cite(globals(), "jax.scipy.sparse.linalg.{}", __all__)
_ADVICE = {
    **dict.fromkeys(["minres", "bicg", "cgs", "qmr", "lgmres", "tfqmr"], "use gmres, bicgstab or cg"),
    **dict.fromkeys(["lsqr", "lsmr"], "use cg of the normal equations, or numhlo.numpy.linalg.lstsq"),
    **dict.fromkeys(
        ["eigs", "eigsh", "svds", "lobpcg"], "use numhlo.numpy.linalg, or power iteration by lax.fori_loop"
    ),
    **dict.fromkeys(["spsolve", "splu"], "use numhlo.scipy.linalg.solve of the dense matrix"),
    **dict.fromkeys(["LinearOperator", "aslinearoperator"], "use a function: the solvers take one"),
}
"""What to write instead of names that are not here."""


def __getattr__(name: str) -> object:
    _raise_absent(__name__, name, _ADVICE)
