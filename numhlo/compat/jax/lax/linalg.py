"""`jax.lax.linalg`: the functions of `numhlo.lax.linalg`, on immutable arrays."""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import Any

import numhlo.lax.linalg as _wrapped
from numhlo.compat.jax.wrapping import attributes_of as _attributes_of

_HOME = "numhlo.compat.jax.matrix_functions"
_TYPES = ("EigImplementation", "EighImplementation", "SvdAlgorithm")
_LATE = {
    "hessenberg": f"{_HOME}:hessenberg_reflectors",
    "qdwh": "numhlo.compat.jax.polar_iteration:qdwh",
    "tridiagonal": f"{_HOME}:tridiagonal",
    **{name: f"numhlo.compat.jax.lax_types:{name}" for name in _TYPES},
}

__all__, _find, __dir__ = _attributes_of(_wrapped, globals(), late=_LATE)


def __getattr__(name: str) -> Any:
    if name.endswith("_p"):
        return getattr(_import_module("numhlo.compat.jax.extend.core.primitives"), name)
    return _find(name)
