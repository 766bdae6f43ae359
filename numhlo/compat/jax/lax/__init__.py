"""`jax.lax`: the functions of `numhlo.lax`, on immutable arrays."""

from __future__ import annotations

import numhlo.lax as _wrapped
from numhlo.compat.jax.branching import cond as cond
from numhlo.compat.jax.branching import switch as switch
from numhlo.compat.jax.lax import linalg as linalg
from numhlo.compat.jax.wrapping import attributes_of as _attributes_of

__all__, __getattr__, __dir__ = _attributes_of(_wrapped, globals())
