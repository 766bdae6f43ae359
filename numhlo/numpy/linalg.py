"""`numhlo.numpy.linalg`: factorizations, equations, norms and products of matrices, as in `numpy.linalg`."""

from numpy.linalg import LinAlgError as LinAlgError

import numhlo.library.registration as _registration  # noqa: F401 - traced arrays get their methods
from numhlo.library.citations import cite as _cite
from numhlo.library.numpy.linalg import factoring as _factoring
from numhlo.library.numpy.linalg import norms as _norms
from numhlo.library.numpy.linalg import solving as _solving
from numhlo.library.numpy.linalg import standard_products as _products
from numhlo.library.numpy.linalg.factoring import *  # noqa: F403
from numhlo.library.numpy.linalg.norms import *  # noqa: F403
from numhlo.library.numpy.linalg.solving import *  # noqa: F403
from numhlo.library.numpy.linalg.standard_products import *  # noqa: F403

_PUBLIC = {"LinAlgError", *_factoring.__all__, *_norms.__all__, *_products.__all__, *_solving.__all__}
__all__ = [name for name in sorted(globals()) if name in _PUBLIC]
_cite(globals(), "numpy.linalg.{}", __all__)
