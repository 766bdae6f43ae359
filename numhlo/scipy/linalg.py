"""`numhlo.scipy.linalg`: SciPy's linear algebra, traced and outside tracing on the same definitions."""

from numhlo.library.citations import cite as _cite
from numhlo.library.scipy.linalg import factorizations as _algebra
from numhlo.library.scipy.linalg import matrix_roots as _roots
from numhlo.library.scipy.linalg import solving as _solving
from numhlo.library.scipy.linalg import special_matrices as _matrices
from numhlo.library.scipy.linalg.factorizations import *  # noqa: F403
from numhlo.library.scipy.linalg.matrix_roots import *  # noqa: F403
from numhlo.library.scipy.linalg.solving import *  # noqa: F403
from numhlo.library.scipy.linalg.special_matrices import *  # noqa: F403
from numhlo.library.unsupported_names import raise_absent as _raise_absent

_PUBLIC = {*_algebra.__all__, *_matrices.__all__, *_roots.__all__, *_solving.__all__}
__all__ = [name for name in sorted(globals()) if name in _PUBLIC]
_cite(globals(), "scipy.linalg.{}", __all__)
_ADVICE = {
    "fiedler_companion": "use companion, which has the same eigenvalues",
    "expm_frechet": "use numhlo.jvp of expm",
    "funm": "use eig, or eigh for symmetric matrices, and apply the function to the eigenvalues",
    "logm": "use eig, or eigh for symmetric matrices, and take the logarithm of the eigenvalues",
    "hessenberg": "use schur, which goes on to the triangular form",
    "qr_multiply": "use qr and @, or lax.linalg.ormqr",
    "rsf2csf": 'use schur with output="complex"',
    "solve_sylvester": "use solve with kron products, or the Schur forms",
    "svdvals": "use numhlo.numpy.linalg.svdvals",
    "eigvalsh": "use numhlo.numpy.linalg.eigvalsh",
    "eigvals": "use numhlo.numpy.linalg.eigvals",
    "eig": "use numhlo.numpy.linalg.eig",
    "pinv": "use numhlo.numpy.linalg.pinv",
    "lstsq": "use numhlo.numpy.linalg.lstsq",
    "norm": "use numhlo.numpy.linalg.norm",
}
"""What to write instead of names that are not here."""


def __getattr__(name: str) -> object:
    _raise_absent(__name__, name, _ADVICE)
