"""`jax.scipy.linalg`: the functions of `numhlo.scipy.linalg`, on immutable arrays."""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import Any as _Any

import numhlo.scipy.linalg as _wrapped
from numhlo.compat.jax import hermitian_matrices as _hermitian
from numhlo.compat.jax.degenerate import seen_without_refusals as _seen_without_refusals
from numhlo.compat.jax.wrapping import attributes_of as _attributes_of

__all__, _, __dir__ = _attributes_of(_wrapped, globals())
__all__ += ["expm_frechet", "funm", "hessenberg", "qr_multiply", "rsf2csf", "solve_sylvester"]

_LATE = frozenset(__all__) - frozenset(_wrapped.__all__)
"""Functions that are written with others, and loaded when they are first used."""

_find = _seen_without_refusals(_wrapped, globals())

eigh = _hermitian.scipy_eigh


def __getattr__(name: str) -> _Any:
    if name in _LATE:
        return getattr(_import_module("numhlo.compat.jax.matrix_functions"), name)
    return _find(name)
