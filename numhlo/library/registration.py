"""Registration of all that traced arrays can do, and of what functions of NumPy, SciPy and Python mean of them.

Importing this module does it. `families` lists the modules of NumPy's functions, which are loaded when a program asks
for a function that the others lack; these give traced arrays their methods and operators, or put something in the place
of what no protocol of NumPy's reaches.
"""

import numhlo.library.math_functions
import numhlo.library.numba_functions
import numhlo.library.numpy.array_methods
import numhlo.library.numpy.element_iterators
import numhlo.library.numpy.filled_arrays
import numhlo.library.numpy.index_tricks
import numhlo.library.numpy.indexing.selected_calls
import numhlo.library.numpy.polynomial.poly1d
import numhlo.library.numpy.polynomial.series
import numhlo.library.scipy.plain_functions  # noqa: F401
from numhlo.lowering.ir.late_modules import late
from numhlo.tracer.building import FUNCTIONS

_families = late("numhlo.library.numpy.families")
FUNCTIONS.load_rest = lambda: _families.FAMILIES
