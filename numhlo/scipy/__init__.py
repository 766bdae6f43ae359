"""`numhlo.scipy`: the parts of SciPy that can be traced."""

from numhlo.scipy import linalg, special

__all__ = ["linalg", "special"]
