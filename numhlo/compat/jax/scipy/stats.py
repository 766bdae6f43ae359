"""`jax.scipy.stats`: what `numhlo.scipy.stats` has, whose functions and methods return immutable arrays."""

from __future__ import annotations

from typing import Any

import numhlo.scipy.stats as _wrapped
from numhlo.compat.jax.arrays import frozen as _frozen
from numhlo.compat.jax.arrays import immutably as _immutably
from numhlo.compat.jax.wrapping import methods_of as _methods_of
from numhlo.compat.jax.wrapping import seen_as_jax as _seen_as_jax

__all__ = list(_wrapped.__all__)


class gaussian_kde(_wrapped.gaussian_kde):  # noqa: N801 - SciPy's name
    """A density estimated from a sample; see `numhlo.scipy.stats.gaussian_kde`."""

    def __init__(self, dataset: Any, bw_method: Any = None, weights: Any = None) -> None:
        super().__init__(dataset, bw_method, weights)
        for name in ("dataset", "weights", "covariance", "inv_cov", "neff"):
            setattr(self, name, _frozen(getattr(self, name)))


for _name in ("evaluate", "logpdf", "integrate_gaussian", "integrate_box_1d", "integrate_kde", "resample"):
    setattr(gaussian_kde, _name, _immutably(getattr(_wrapped.gaussian_kde, _name)))


def __getattr__(name: str) -> Any:
    value = getattr(_wrapped, name)
    found = globals()[name] = _seen_as_jax(_wrapped, name) if callable(value) else _methods_of(value)
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
