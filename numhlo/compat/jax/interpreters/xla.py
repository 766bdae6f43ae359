"""`jax.interpreters.xla`: what programs still ask of it."""

from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo.compat.jax.absent_names import refusing as _refusing
from numhlo.compat.jax.avals import get_aval as abstractify
from numhlo.compat.jax.dtypes import canonicalize_dtype
from numhlo.compat.jax.primitives import apply_primitive

__all__ = ["abstractify", "apply_primitive", "canonicalize_dtype", "canonicalize_dtype_handlers"]

canonicalize_dtype_handlers: dict[type, Callable[[Any], Any]] = {np.ndarray: np.asarray}
"""Classes of arrays that programs register. Subclasses of NumPy's arrays are taken without."""

__getattr__ = _refusing(__name__)
