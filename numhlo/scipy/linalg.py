"""`numhlo.scipy.linalg`: SciPy's linear algebra, traced and outside tracing on the same definitions."""

from numhlo.tracer.scipy_linear_algebra import *  # noqa: F403
from numhlo.tracer.scipy_linear_algebra import __all__ as __all__
