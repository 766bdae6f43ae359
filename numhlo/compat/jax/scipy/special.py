"""`jax.scipy.special`: the functions of `numhlo.scipy.special`, on immutable arrays."""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import Any as _Any

import numhlo.scipy.special as _wrapped
from numhlo.compat.jax.wrapping import attributes_of as _attributes_of

__all__, _find, __dir__ = _attributes_of(_wrapped, globals())
__all__ += ["bernoulli", "bessel_jn", "fresnel", "hyp1f1", "hyp2f1", "owens_t", "sici", "sph_harm_y", "wofz"]

_LATE = frozenset(__all__) - frozenset(_wrapped.__all__)
"""Functions that are written with others, and loaded when they are first used."""


def __getattr__(name: str) -> _Any:
    if name in _LATE:
        return getattr(_import_module("numhlo.compat.jax.special_functions"), name)
    return _find(name)
