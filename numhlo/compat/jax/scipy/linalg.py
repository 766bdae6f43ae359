"""`jax.scipy.linalg`: the functions of `numhlo.scipy.linalg`, on immutable arrays."""

from __future__ import annotations

from typing import Any as _Any

import numhlo.scipy.linalg as _wrapped
from numhlo.compat.jax import hermitian_matrices as _hermitian
from numhlo.compat.jax.degenerate import seen_without_refusals as _seen_without_refusals
from numhlo.compat.jax.wrapping import attributes_of as _attributes_of

_NAMES = ("expm_frechet", "funm", "hessenberg", "qr_multiply", "rsf2csf", "solve_sylvester")
_LATE = {name: f"numhlo.compat.jax.matrix_functions:{name}" for name in _NAMES}

__all__, _find_late, __dir__ = _attributes_of(_wrapped, globals(), late=_LATE)
_find = _seen_without_refusals(_wrapped, globals())

eigh = _hermitian.scipy_eigh


def __getattr__(name: str) -> _Any:
    return _find_late(name) if name in _LATE else _find(name)
