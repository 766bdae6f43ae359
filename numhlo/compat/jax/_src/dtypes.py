"""`jax._src.dtypes`: questions about dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.compat.jax.late_modules import same_names as _same_names
from numhlo.lowering.ir.promotion_errors import TypePromotionError as TypePromotionError

__all__ = ["DType", "ExtendedDType", "TypePromotionError", "supports_inf"]

DType = np.dtype


class ExtendedDType:
    """Base of dtypes that are no numbers; arrays of such are not made here."""


def supports_inf(dtype: Any) -> bool:
    """Return whether a floating-point dtype has infinities.

    Examples
    --------
    >>> supports_inf("float32")
    True
    """
    return bool(np.isinf(np.array(np.inf).astype(dtype).astype(np.float64)))


__getattr__, __dir__ = _same_names("numhlo.compat.jax.dtypes")
