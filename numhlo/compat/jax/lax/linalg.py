"""`jax.lax.linalg`: the functions of `numhlo.lax.linalg`, on immutable arrays."""

from __future__ import annotations

from typing import Any

import numhlo.lax.linalg as _wrapped
from numhlo.compat.jax.wrapping import seen_as_jax as _seen_as_jax

__all__ = [name for name in _wrapped.__all__ if name != "Array"]


def __getattr__(name: str) -> Any:
    value = globals()[name] = _seen_as_jax(_wrapped, name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
