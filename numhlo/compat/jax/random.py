"""`jax.random`: the functions of `numhlo.random`, on immutable arrays."""

from __future__ import annotations

from typing import Any

import numhlo.random as _wrapped
from numhlo.compat.jax.wrapping import attributes_of as _attributes_of

__all__, __getattr__, __dir__ = _attributes_of(_wrapped, globals())
__all__.append("clone")


def clone(key: Any) -> Any:
    """Return a key that is used a second time on purpose: the key itself."""
    return key
