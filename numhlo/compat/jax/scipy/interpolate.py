"""`jax.scipy.interpolate`: what `numhlo.scipy.interpolate` has, whose results are immutable arrays."""

from __future__ import annotations

from typing import Any

import numhlo.scipy.interpolate as _wrapped
from numhlo.compat.jax.arrays import immutably as _immutably

__all__ = list(_wrapped.__all__)


class RegularGridInterpolator(_wrapped.RegularGridInterpolator):
    """A function known at the points of a grid; see `numhlo.scipy.interpolate.RegularGridInterpolator`."""

    def __call__(self, xi: Any, method: str | None = None) -> Any:
        """Return the function's values at points."""
        return _immutably(super().__call__)(xi, method)


def __getattr__(name: str) -> Any:
    return getattr(_wrapped, name)
