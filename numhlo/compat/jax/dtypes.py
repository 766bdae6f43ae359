"""`jax.dtypes`: questions about dtypes, under numhlo's rules: 64 bits are what they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.library.unsupported_names import raise_absent as _raise_absent
from numhlo.numpy import bfloat16, finfo, iinfo, issubdtype, result_type
from numhlo.tracer.core.promotion import FLOAT0 as float0  # noqa: N811 - it is a dtype, and has JAX's name

__all__ = ["bfloat16", "canonicalize_dtype", "finfo", "float0", "iinfo", "issubdtype", "itemsize_bits", "result_type"]


def canonicalize_dtype(dtype: Any, allow_extended_dtype: bool = False) -> np.dtype:
    """Return the dtype that arrays asked for with ``dtype`` have: itself, since 64 bits are kept.

    Parameters
    ----------
    dtype : dtype_like
    allow_extended_dtype : bool, optional
        JAX's; keys are plain integers here.

    Returns
    -------
    dtype

    Examples
    --------
    >>> canonicalize_dtype("float64")
    dtype('float64')
    """
    found: np.dtype = np.dtype(dtype)
    return found


def itemsize_bits(dtype: Any) -> int:
    """Return the number of bits of an element.

    Parameters
    ----------
    dtype : dtype_like

    Returns
    -------
    int

    Examples
    --------
    >>> itemsize_bits(np.float32)
    32
    """
    return 8 * int(np.dtype(dtype).itemsize)


def __getattr__(name: str) -> object:
    _raise_absent(__name__, name, {"prng_key": "ask for uint32: keys are arrays of two such numbers"})
