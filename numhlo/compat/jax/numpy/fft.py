"""`jax.numpy.fft`: the functions of `numhlo.numpy.fft`, on immutable arrays."""

from __future__ import annotations

import numhlo.numpy.fft as _wrapped
from numhlo.compat.jax.fourier import transforming as _transforming
from numhlo.compat.jax.wrapping import attributes_of as _attributes_of

__all__, __getattr__, __dir__ = _attributes_of(_wrapped, globals(), _transforming)
