"""`jax.numpy.linalg`: the functions of `numhlo.numpy.linalg`, on immutable arrays."""

from __future__ import annotations

from typing import Any

import numhlo.numpy as _numpy
import numhlo.numpy.linalg as _wrapped
from numhlo.compat.jax import hermitian_matrices as _hermitian
from numhlo.compat.jax.arrays import immutably as _immutably
from numhlo.compat.jax.beyond_numpy import with_options as _with_options
from numhlo.compat.jax.calling import checked_as_jax as _checked_as_jax
from numhlo.compat.jax.degenerate import seen_without_refusals as _seen_without_refusals
from numhlo.compat.jax.degenerate import without_refusals as _without_refusals
from numhlo.compat.jax.promoting import typed as _typed
from numhlo.compat.jax.wrapping import attributes_of as _attributes_of

__all__, _, __dir__ = _attributes_of(_wrapped, globals())
__getattr__ = _seen_without_refusals(_wrapped, globals(), _with_options)

cholesky, eigh, eigvalsh = (
    _checked_as_jax("numpy.linalg", name, _without_refusals(_typed("numpy.linalg", name, getattr(_hermitian, name))))
    for name in ("cholesky", "eigh", "eigvalsh")
)


@_immutably
def lstsq(a: Any, b: Any, rcond: Any = None, *, numpy_resid: bool = False) -> Any:
    """Return the least-squares solution, residuals, rank, and singular values.

    Residuals are there for any rank, unless NumPy's are asked for.
    """
    x, residuals, rank, values = _wrapped.lstsq(a, b, rcond)
    if not numpy_resid:
        rest = _numpy.asarray(b) - _numpy.matmul(a, x)
        residuals = _numpy.sum(_numpy.abs(rest.reshape(rest.shape[0], -1)) ** 2, axis=0)
    return x, residuals, _numpy.asarray(rank).astype(int), values


lstsq = _typed("numpy.linalg", "lstsq", lstsq)
