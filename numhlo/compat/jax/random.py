"""`jax.random`: the functions of `numhlo.random`, on immutable arrays, and keys whose dtype says that they are keys."""

from __future__ import annotations

from typing import Any

import numhlo.random as _wrapped
from numhlo.compat.jax.key_arrays import DTYPES as _DTYPES
from numhlo.compat.jax.key_arrays import IMPLEMENTATION as _IMPLEMENTATION
from numhlo.compat.jax.key_arrays import KeyArray as _KeyArray
from numhlo.compat.jax.key_arrays import of_typed_keys as _of_typed_keys
from numhlo.compat.jax.wrapping import attributes_of as _attributes_of
from numhlo.lowering.ir import capture_location as _capture_location
from numhlo.lowering.ir.errors import ArgumentError as _ArgumentError

__all__, __getattr__, __dir__ = _attributes_of(_wrapped, globals(), _of_typed_keys)
__all__ += ["clone", "key_dtype", "key_impl"]


def clone(key: Any) -> Any:
    """Return a key that is used a second time on purpose: the key itself."""
    return key


def key_impl(keys: Any) -> str:
    """Return the name of the function that makes numbers of keys.

    Examples
    --------
    >>> key_impl(_wrapped.key(0))
    'threefry2x32'
    """
    if isinstance(keys, _KeyArray):
        return keys.dtype.impl
    _wrapped.wrap_key_data(keys)  # raises where they are no keys
    return _IMPLEMENTATION


def key_dtype(impl_spec: Any = None) -> Any:
    """Return the dtype of keys of an implementation, by default the usual one.

    Examples
    --------
    >>> key_dtype()
    key<fry>
    """
    name = _IMPLEMENTATION if impl_spec is None else str(impl_spec)
    if name not in _DTYPES:
        raise _ArgumentError(f"key_dtype({impl_spec!r})", where=_capture_location(), fix=f"use one of {[*_DTYPES]}")
    return _DTYPES[name]
