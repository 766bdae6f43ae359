"""`jax.scipy.stats`: the distributions of `numhlo.scipy.stats`, whose methods return immutable arrays."""

from __future__ import annotations

from types import SimpleNamespace

import numhlo.scipy.stats as _wrapped
from numhlo.compat.jax.wrapping import methods_of as _methods_of

__all__ = list(_wrapped.__all__)


def __getattr__(name: str) -> SimpleNamespace:
    found = globals()[name] = _methods_of(getattr(_wrapped, name))
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
