"""`jax.scipy.special`: the functions of `numhlo.scipy.special`, on immutable arrays."""

from __future__ import annotations

import numhlo.scipy.special as _wrapped
from numhlo.compat.jax.wrapping import attributes_of as _attributes_of

_NAMES = ("bernoulli", "bessel_jn", "fresnel", "hyp1f1", "hyp2f1", "owens_t", "sici", "sph_harm_y", "wofz")
_LATE = {name: f"numhlo.compat.jax.special_functions:{name}" for name in _NAMES}

__all__, __getattr__, __dir__ = _attributes_of(_wrapped, globals(), late=_LATE)
