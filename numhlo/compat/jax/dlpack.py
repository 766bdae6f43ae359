"""`jax.dlpack`: arrays of other libraries, whose memory is shared."""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.compat.jax.numpy import from_dlpack as from_dlpack

__all__ = ["from_dlpack", "is_supported_dtype"]


def is_supported_dtype(dtype: Any) -> bool:
    """Return whether arrays of a dtype can be exchanged.

    Parameters
    ----------
    dtype : dtype_like

    Examples
    --------
    >>> is_supported_dtype("float32"), is_supported_dtype("str")
    (True, False)
    """
    if dtype is None:
        raise TypeError("Expected a string or dtype-like object; got dtype=None")
    return np.dtype(dtype).kind in "biufc"
