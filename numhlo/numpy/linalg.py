"""`numhlo.numpy.linalg`: factorizations, equations, norms and products of matrices, as in `numpy.linalg`."""

from numpy.linalg import LinAlgError as LinAlgError

from numhlo.tracer.namespace.linalg import factoring as _factoring
from numhlo.tracer.namespace.linalg import norms as _norms
from numhlo.tracer.namespace.linalg import solving as _solving
from numhlo.tracer.namespace.linalg import standard_products as _products
from numhlo.tracer.namespace.linalg.factoring import *  # noqa: F403
from numhlo.tracer.namespace.linalg.norms import *  # noqa: F403
from numhlo.tracer.namespace.linalg.solving import *  # noqa: F403
from numhlo.tracer.namespace.linalg.standard_products import *  # noqa: F403
from numhlo.tracer.sources import cite as _cite

_PUBLIC = {"LinAlgError", *_factoring.__all__, *_norms.__all__, *_products.__all__, *_solving.__all__}
__all__ = [name for name in sorted(globals()) if name in _PUBLIC]
_cite(globals(), "numpy.linalg.{}", __all__)
