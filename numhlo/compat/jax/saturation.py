"""Where NumPy would convert an array of floats to integers, JAX's rules do: what does not fit is the nearest one."""

from __future__ import annotations

from typing import Any

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
    with np.errstate(all="ignore"):
        return jax_rules().converted(np.asarray(x), wanted)
