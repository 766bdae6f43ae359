"""`numhlo.numpy`: NumPy's names, traced under `numhlo.jit` and run by NumPy itself outside it.

Signatures, values and dtypes are NumPy 2's; the namespace is one of the Array API standard. What a docstring does not
say is as in NumPy's function of that name, which is the definition. Each name comes when it is used: see `names`.
"""

from numhlo.numpy.gathering import late_names as _late_names

__array_api_version__ = "2024.12"
_MODULES = ("fft", "lib", "linalg")
__getattr__, __dir__ = _late_names(globals(), _MODULES)
