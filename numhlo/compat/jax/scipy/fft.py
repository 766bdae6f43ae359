"""`jax.scipy.fft`: the functions of `numhlo.scipy.fft`, on immutable arrays."""

from __future__ import annotations

import numhlo.scipy.fft as _wrapped
from numhlo.compat.jax.fourier import cosine as _cosine
from numhlo.compat.jax.wrapping import attributes_of as _attributes_of

__all__, __getattr__, __dir__ = _attributes_of(_wrapped, globals(), _cosine)
