"""`jax.experimental.ode`: solutions of ordinary differential equations, on immutable arrays."""

from __future__ import annotations

import numhlo.library.scipy.integrate.differential_equations as _wrapped
from numhlo.compat.jax.wrapping import attributes_of as _attributes_of

__all__, __getattr__, __dir__ = _attributes_of(_wrapped, globals())
