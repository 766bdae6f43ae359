"""`jax.numpy`: the functions of `numhlo.numpy`, on immutable arrays."""

from __future__ import annotations

import sys as _sys

import numhlo.numpy as _wrapped
from numhlo.compat.jax import beyond_numpy as _beyond
from numhlo.compat.jax.along_axes import apply_along_axis as apply_along_axis
from numhlo.compat.jax.along_axes import vectorize as vectorize
from numhlo.compat.jax.arrays import Array
from numhlo.compat.jax.beyond_numpy import clip as clip
from numhlo.compat.jax.beyond_numpy import delete as delete
from numhlo.compat.jax.beyond_numpy import interp as interp
from numhlo.compat.jax.beyond_numpy import mask_indices as mask_indices
from numhlo.compat.jax.beyond_numpy import polydiv as polydiv
from numhlo.compat.jax.beyond_numpy import polymul as polymul
from numhlo.compat.jax.beyond_numpy import put as put
from numhlo.compat.jax.beyond_numpy import put_along_axis as put_along_axis
from numhlo.compat.jax.beyond_numpy import take as take
from numhlo.compat.jax.beyond_numpy import take_along_axis as take_along_axis
from numhlo.compat.jax.creating import array as array
from numhlo.compat.jax.creating import asarray as asarray
from numhlo.compat.jax.creating import frombuffer as frombuffer
from numhlo.compat.jax.creating import fromfile as fromfile
from numhlo.compat.jax.creating import fromiter as fromiter
from numhlo.compat.jax.creating import fromstring as fromstring
from numhlo.compat.jax.creating import load as load
from numhlo.compat.jax.creating import save as save
from numhlo.compat.jax.creating import savez as savez
from numhlo.compat.jax.dtypes import can_cast as can_cast
from numhlo.compat.jax.dtypes import finfo as finfo
from numhlo.compat.jax.dtypes import iinfo as iinfo
from numhlo.compat.jax.dtypes import issubdtype as issubdtype
from numhlo.compat.jax.dtypes import promote_types as promote_types
from numhlo.compat.jax.dtypes import result_type as result_type
from numhlo.compat.jax.numpy import fft as fft
from numhlo.compat.jax.numpy import linalg as linalg
from numhlo.compat.jax.typed_names import typed_names as _typed_names
from numhlo.compat.jax.user_ufuncs import frompyfunc as frompyfunc
from numhlo.compat.jax.user_ufuncs import ufunc as ufunc
from numhlo.compat.jax.wrapping import attributes_of as _attributes_of

__all__, __getattr__, __dir__ = _attributes_of(_wrapped, globals(), _beyond.with_options)

globals().update(_typed_names(_sys.modules[__name__]))

ndarray = Array
