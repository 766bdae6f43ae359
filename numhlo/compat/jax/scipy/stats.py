"""`jax.scipy.stats`: what `numhlo.scipy.stats` has, whose functions and methods return immutable arrays."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import numhlo.scipy.stats as _wrapped
from numhlo.compat.jax.arrays import frozen as _frozen
from numhlo.compat.jax.arrays import immutably as _immutably
from numhlo.compat.jax.further_distributions import FURTHER as _FURTHER
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


class _Distribution(ModuleType):
    """A distribution's module, as ``import jax.scipy.stats.norm`` gives it; its functions are wrapped late."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        distribution = self.__name__.rpartition(".")[2]
        if (distribution, name) in _FURTHER:
            return _FURTHER[distribution, name]
        vars(self).update(vars(_methods_of(getattr(_wrapped, distribution), distribution)))
        if name not in vars(self):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}", name=name)
        return vars(self)[name]


__path__: list[str] = []
"""Distributions are modules in this one."""

for _name in __all__:
    if not callable(getattr(_wrapped, _name)):
        _module = _Distribution(f"{__name__}.{_name}", getattr(_wrapped, _name).__doc__)
        globals()[_name] = sys.modules[_module.__name__] = _module


def __getattr__(name: str) -> Any:
    found = globals()[name] = _seen_as_jax(_wrapped, name)
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
