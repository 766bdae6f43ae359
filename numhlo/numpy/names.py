"""The names of `numhlo.numpy`, gathered: each is defined in the family file of `numhlo.library.numpy` that lists it.

Aliases are one object under two names. Importing this module loads all of them, so the face does it on first use.
"""

import numhlo.library.registration as _registration  # noqa: F401 - traced arrays get their methods
from numhlo.library.citations import cite as _cite
from numhlo.library.numpy import families as _families
from numhlo.library.numpy import functional as _applying
from numhlo.library.numpy import index_tricks as _brackets
from numhlo.library.numpy.array_creation import *  # noqa: F403
from numhlo.library.numpy.axis_order import *  # noqa: F403
from numhlo.library.numpy.bits_and_windows import *  # noqa: F403
from numhlo.library.numpy.calculus import *  # noqa: F403
from numhlo.library.numpy.comparisons import *  # noqa: F403
from numhlo.library.numpy.covariance import *  # noqa: F403
from numhlo.library.numpy.cumulative import *  # noqa: F403
from numhlo.library.numpy.diagonals import *  # noqa: F403
from numhlo.library.numpy.elementwise import *  # noqa: F403
from numhlo.library.numpy.filled_arrays import *  # noqa: F403
from numhlo.library.numpy.functional import *  # noqa: F403
from numhlo.library.numpy.histograms import *  # noqa: F403
from numhlo.library.numpy.in_place import *  # noqa: F403
from numhlo.library.numpy.index_grids import *  # noqa: F403
from numhlo.library.numpy.index_tricks import *  # noqa: F403
from numhlo.library.numpy.indexing.brackets import *  # noqa: F403
from numhlo.library.numpy.insertion import *  # noqa: F403
from numhlo.library.numpy.interpolation import *  # noqa: F403
from numhlo.library.numpy.joining import *  # noqa: F403
from numhlo.library.numpy.linalg.cross_products import *  # noqa: F403
from numhlo.library.numpy.linalg.einsum import *  # noqa: F403
from numhlo.library.numpy.linalg.matrix_products import *  # noqa: F403
from numhlo.library.numpy.linalg.products import *  # noqa: F403
from numhlo.library.numpy.membership import *  # noqa: F403
from numhlo.library.numpy.moments import *  # noqa: F403
from numhlo.library.numpy.nan_quantiles import *  # noqa: F403
from numhlo.library.numpy.nan_reductions import *  # noqa: F403
from numhlo.library.numpy.padding import *  # noqa: F403
from numhlo.library.numpy.polynomial.coefficients import *  # noqa: F403
from numhlo.library.numpy.polynomial.fits import *  # noqa: F403
from numhlo.library.numpy.quantiles import *  # noqa: F403
from numhlo.library.numpy.ranges import *  # noqa: F403
from numhlo.library.numpy.rearranging import *  # noqa: F403
from numhlo.library.numpy.reductions import *  # noqa: F403
from numhlo.library.numpy.reshaping import *  # noqa: F403
from numhlo.library.numpy.rounding import *  # noqa: F403
from numhlo.library.numpy.searching import *  # noqa: F403
from numhlo.library.numpy.selection import *  # noqa: F403
from numhlo.library.numpy.sets import *  # noqa: F403
from numhlo.library.numpy.sliding_products import *  # noqa: F403
from numhlo.library.numpy.sorting import *  # noqa: F403
from numhlo.library.numpy.splitting import *  # noqa: F403
from numhlo.library.numpy.types import *  # noqa: F403
from numhlo.library.numpy.window_functions import *  # noqa: F403
from numhlo.numpy import constants as _constants
from numhlo.numpy.constants import *  # noqa: F403
from numhlo.numpy.inspection import __array_namespace_info__ as __array_namespace_info__
from numhlo.tracer.core.array import Array as Array

_MODULES = (_applying, _brackets, _constants, *_families.FAMILIES)
_PUBLIC = {"Array", *[name for module in _MODULES for name in module.__all__]}
__all__ = [name for name in sorted(globals()) if name in _PUBLIC]
_cite(globals(), "numpy.lib.stride_tricks.{}", ["sliding_window_view"])
_cite(globals(), "numpy.{}", [name for name in __all__ if name != "Array"])
