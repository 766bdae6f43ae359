"""Where NumPy would convert an array of floats to integers, JAX's rules do: what does not fit is the nearest one."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from numhlo.lowering.ir.types import FLOATS, INTEGERS
from numhlo.tracer.core.array import Array
from numhlo.tracer.core.jax_types import jax_rules


def fitting(x: Any, dtype: Any) -> Any:
    """Return what is about to be converted to a dtype: a new array of integers if that was one of floats, else itself.

    NumPy's own arrays are converted as NumPy converts them, as JAX has it.
    """
    if dtype is None or not isinstance(x, Array) or x.dtype not in FLOATS:
        return x
    wanted = jax_rules().canonical(np.dtype(dtype))
    if wanted not in INTEGERS:
        return x
    return as_integers(np.asarray(x), wanted)


def as_integers(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return floats as integers: those beyond the range become its nearest number, and NaN zero.

    Examples
    --------
    >>> as_integers(np.array([300.5, -1.5, np.nan]), np.dtype("uint8"))
    array([255,   0,   0], dtype=uint8)
    """
    limits: Any = ml_dtypes.iinfo(dtype)  # type: ignore[no-untyped-call]
    with np.errstate(all="ignore"):
        found = array.astype(dtype)
        least, beyond = array.dtype.type(limits.min), array.dtype.type(float(limits.max) + 1.0)
        found[array <= least], found[array >= beyond], found[np.isnan(array)] = limits.min, limits.max, 0
    return found
