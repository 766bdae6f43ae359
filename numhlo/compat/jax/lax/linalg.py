"""`jax.lax.linalg`: the functions of `numhlo.lax.linalg`, on immutable arrays."""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import Any as _Any

import numhlo.lax.linalg as _wrapped
from numhlo.compat.jax.wrapping import attributes_of as _attributes_of

_LATE = {"hessenberg": "hessenberg_reflectors", "tridiagonal": "tridiagonal"}
"""Functions that are written with others, and loaded when they are first used; and what they are called there."""

__all__, _find, __dir__ = _attributes_of(_wrapped, globals())
__all__ += ["hessenberg", "tridiagonal"]


def __getattr__(name: str) -> _Any:
    if name in _LATE:
        return getattr(_import_module("numhlo.compat.jax.matrix_functions"), _LATE[name])
    return _find(name)
