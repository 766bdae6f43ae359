"""`numhlo.scipy.special`: SciPy's special functions, traced and outside tracing on the same definitions."""

from numhlo.tracer.namespace import special_functions as _functions
from numhlo.tracer.namespace import special_gamma as _gamma
from numhlo.tracer.namespace.special_functions import *  # noqa: F403
from numhlo.tracer.namespace.special_gamma import *  # noqa: F403

_PUBLIC = {*_functions.__all__, *_gamma.__all__}
__all__ = [name for name in sorted(globals()) if name in _PUBLIC]
