"""`jax.scipy.linalg`: the functions of `numhlo.scipy.linalg`, on immutable arrays."""

from __future__ import annotations

import numhlo.scipy.linalg as _wrapped
from numhlo.compat.jax import hermitian_matrices as _hermitian
from numhlo.compat.jax.degenerate import seen_without_refusals as _seen_without_refusals
from numhlo.compat.jax.wrapping import attributes_of as _attributes_of

__all__, _, __dir__ = _attributes_of(_wrapped, globals())
__getattr__ = _seen_without_refusals(_wrapped, globals())

eigh = _hermitian.scipy_eigh
