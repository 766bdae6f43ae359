"""`jax.nn`: the functions of `numhlo.nn`, on immutable arrays."""

from __future__ import annotations

import numhlo.nn as _wrapped
from numhlo.compat.jax.nn import initializers as initializers
from numhlo.compat.jax.wrapping import attributes_of as _attributes_of

_LATE = {"scaled_matmul": "numhlo.compat.jax.scaled_products:scaled_matmul"}

__all__, __getattr__, __dir__ = _attributes_of(_wrapped, globals(), late=_LATE)
