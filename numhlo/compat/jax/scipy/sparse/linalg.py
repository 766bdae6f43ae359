"""`jax.scipy.sparse.linalg`: the functions of `numhlo.scipy.sparse.linalg`, on immutable arrays."""

from __future__ import annotations

import numhlo.scipy.sparse.linalg as _wrapped
from numhlo.compat.jax.wrapping import attributes_of as _attributes_of

__all__, __getattr__, __dir__ = _attributes_of(_wrapped, globals())
