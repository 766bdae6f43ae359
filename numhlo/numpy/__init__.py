"""`numhlo.numpy`: NumPy's names, traced under `numhlo.jit` and run by NumPy itself outside it.

Signatures, values and dtypes are NumPy 2's; the namespace is one of the Array API standard. Each name is defined in the
family file of `numhlo.tracer.namespace` that lists it in ``__all__``; aliases are one object under two names. What a
docstring does not say is as in NumPy's function of that name, which is the definition.
"""

from numhlo.numpy import constants as _constants
from numhlo.numpy import fft as fft
from numhlo.numpy import lib as lib
from numhlo.numpy import linalg as linalg
from numhlo.numpy.absent import raise_absent as _raise_absent
from numhlo.numpy.constants import *  # noqa: F403
from numhlo.numpy.inspection import __array_namespace_info__ as __array_namespace_info__
from numhlo.tracer import applying as _applying
from numhlo.tracer.applying import *  # noqa: F403
from numhlo.tracer.array import Array as Array
from numhlo.tracer.namespace import families as _families
from numhlo.tracer.namespace.calculus import *  # noqa: F403
from numhlo.tracer.namespace.comparing import *  # noqa: F403
from numhlo.tracer.namespace.creation.diagonals import *  # noqa: F403
from numhlo.tracer.namespace.creation.filled import *  # noqa: F403
from numhlo.tracer.namespace.creation.from_objects import *  # noqa: F403
from numhlo.tracer.namespace.creation.grids import *  # noqa: F403
from numhlo.tracer.namespace.creation.sequences import *  # noqa: F403
from numhlo.tracer.namespace.cumulative import *  # noqa: F403
from numhlo.tracer.namespace.edits.bits_and_windows import *  # noqa: F403
from numhlo.tracer.namespace.edits.editing import *  # noqa: F403
from numhlo.tracer.namespace.edits.padding import *  # noqa: F403
from numhlo.tracer.namespace.edits.rearranging import *  # noqa: F403
from numhlo.tracer.namespace.edits.writing import *  # noqa: F403
from numhlo.tracer.namespace.elementwise import *  # noqa: F403
from numhlo.tracer.namespace.indexed import index_brackets as _brackets
from numhlo.tracer.namespace.indexed.index_brackets import *  # noqa: F403
from numhlo.tracer.namespace.indexed.indexing import *  # noqa: F403
from numhlo.tracer.namespace.interpolation import *  # noqa: F403
from numhlo.tracer.namespace.linalg.cross_products import *  # noqa: F403
from numhlo.tracer.namespace.linalg.einsum import *  # noqa: F403
from numhlo.tracer.namespace.linalg.matrix_products import *  # noqa: F403
from numhlo.tracer.namespace.linalg.products import *  # noqa: F403
from numhlo.tracer.namespace.moments import *  # noqa: F403
from numhlo.tracer.namespace.ordering.membership import *  # noqa: F403
from numhlo.tracer.namespace.ordering.searching import *  # noqa: F403
from numhlo.tracer.namespace.ordering.selection import *  # noqa: F403
from numhlo.tracer.namespace.ordering.sets import *  # noqa: F403
from numhlo.tracer.namespace.ordering.sorting import *  # noqa: F403
from numhlo.tracer.namespace.polynomials.coefficients import *  # noqa: F403
from numhlo.tracer.namespace.polynomials.fits import *  # noqa: F403
from numhlo.tracer.namespace.reductions import *  # noqa: F403
from numhlo.tracer.namespace.rounding import *  # noqa: F403
from numhlo.tracer.namespace.shapes.axis_order import *  # noqa: F403
from numhlo.tracer.namespace.shapes.joining import *  # noqa: F403
from numhlo.tracer.namespace.shapes.manipulation import *  # noqa: F403
from numhlo.tracer.namespace.shapes.splitting import *  # noqa: F403
from numhlo.tracer.namespace.signals.sliding_products import *  # noqa: F403
from numhlo.tracer.namespace.signals.windows import *  # noqa: F403
from numhlo.tracer.namespace.statistics.covariance import *  # noqa: F403
from numhlo.tracer.namespace.statistics.histograms import *  # noqa: F403
from numhlo.tracer.namespace.statistics.nan_quantiles import *  # noqa: F403
from numhlo.tracer.namespace.statistics.nan_reductions import *  # noqa: F403
from numhlo.tracer.namespace.statistics.quantiles import *  # noqa: F403
from numhlo.tracer.namespace.types import *  # noqa: F403
from numhlo.tracer.sources import cite as _cite

__array_api_version__ = "2024.12"
_MODULES = (_applying, _brackets, _constants, *_families.FAMILIES)
_PUBLIC = {"Array", "fft", "lib", "linalg", *[name for module in _MODULES for name in module.__all__]}
__all__ = [name for name in sorted(globals()) if name in _PUBLIC]
_cite(globals(), "numpy.lib.stride_tricks.{}", ["sliding_window_view"])
_cite(globals(), "numpy.{}", [name for name in __all__ if name != "Array"])


def __getattr__(name: str) -> object:
    _raise_absent(name)
