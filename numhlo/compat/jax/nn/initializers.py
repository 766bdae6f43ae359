"""`jax.nn.initializers`: the functions of `numhlo.nn.initializers`, on immutable arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numhlo.nn.initializers as _wrapped
from numhlo.compat.jax.wrapping import attributes_of as _attributes_of

__all__, __getattr__, __dir__ = _attributes_of(_wrapped, globals())

Initializer = Callable[..., Any]
"""What makes parameters from a key, a shape and a dtype, for annotations."""
