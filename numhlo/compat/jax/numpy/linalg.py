"""`jax.numpy.linalg`: the functions of `numhlo.numpy.linalg`, on immutable arrays."""

from __future__ import annotations

import numhlo.numpy.linalg as _wrapped
from numhlo.compat.jax import hermitian_matrices as _hermitian
from numhlo.compat.jax.degenerate import seen_without_refusals as _seen_without_refusals
from numhlo.compat.jax.degenerate import without_refusals as _without_refusals
from numhlo.compat.jax.wrapping import attributes_of as _attributes_of

__all__, _, __dir__ = _attributes_of(_wrapped, globals())
__getattr__ = _seen_without_refusals(_wrapped, globals())

cholesky = _without_refusals(_hermitian.cholesky)
eigh = _without_refusals(_hermitian.eigh)
eigvalsh = _without_refusals(_hermitian.eigvalsh)
