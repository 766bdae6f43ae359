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
from numhlo.tracer.namespace import index_brackets as _brackets
from numhlo.tracer.namespace.axis_order import *  # noqa: F403
from numhlo.tracer.namespace.bits_and_windows import *  # noqa: F403
from numhlo.tracer.namespace.calculus import *  # noqa: F403
from numhlo.tracer.namespace.comparing import *  # noqa: F403
from numhlo.tracer.namespace.creation import *  # noqa: F403
from numhlo.tracer.namespace.cumulative import *  # noqa: F403
from numhlo.tracer.namespace.diagonals import *  # noqa: F403
from numhlo.tracer.namespace.editing import *  # noqa: F403
from numhlo.tracer.namespace.einsum import *  # noqa: F403
from numhlo.tracer.namespace.elementwise import *  # noqa: F403
from numhlo.tracer.namespace.from_objects import *  # noqa: F403
from numhlo.tracer.namespace.grids import *  # noqa: F403
from numhlo.tracer.namespace.histograms import *  # noqa: F403
from numhlo.tracer.namespace.index_brackets import *  # noqa: F403
from numhlo.tracer.namespace.indexing import *  # noqa: F403
from numhlo.tracer.namespace.joining import *  # noqa: F403
from numhlo.tracer.namespace.linear_algebra import *  # noqa: F403
from numhlo.tracer.namespace.manipulation import *  # noqa: F403
from numhlo.tracer.namespace.matrix_products import *  # noqa: F403
from numhlo.tracer.namespace.membership import *  # noqa: F403
from numhlo.tracer.namespace.moments import *  # noqa: F403
from numhlo.tracer.namespace.nan_reductions import *  # noqa: F403
from numhlo.tracer.namespace.padding import *  # noqa: F403
from numhlo.tracer.namespace.polynomial_fits import *  # noqa: F403
from numhlo.tracer.namespace.polynomials import *  # noqa: F403
from numhlo.tracer.namespace.quantiles import *  # noqa: F403
from numhlo.tracer.namespace.rearranging import *  # noqa: F403
from numhlo.tracer.namespace.reductions import *  # noqa: F403
from numhlo.tracer.namespace.rounding import *  # noqa: F403
from numhlo.tracer.namespace.searching import *  # noqa: F403
from numhlo.tracer.namespace.selection import *  # noqa: F403
from numhlo.tracer.namespace.sequences import *  # noqa: F403
from numhlo.tracer.namespace.sets import *  # noqa: F403
from numhlo.tracer.namespace.sliding_products import *  # noqa: F403
from numhlo.tracer.namespace.sorting import *  # noqa: F403
from numhlo.tracer.namespace.splitting import *  # noqa: F403
from numhlo.tracer.namespace.statistics import *  # noqa: F403
from numhlo.tracer.namespace.types import *  # noqa: F403
from numhlo.tracer.namespace.windows import *  # noqa: F403
from numhlo.tracer.sources import cite as _cite

__array_api_version__ = "2024.12"
_MODULES = (_applying, _brackets, _constants, *_families.FAMILIES)
_PUBLIC = {"Array", "fft", "lib", "linalg", *[name for module in _MODULES for name in module.__all__]}
__all__ = [name for name in sorted(globals()) if name in _PUBLIC]
_cite(globals(), "numpy.lib.stride_tricks.{}", ["sliding_window_view"])
_cite(globals(), "numpy.{}", [name for name in __all__ if name != "Array"])


def __getattr__(name: str) -> object:
    _raise_absent(name)
