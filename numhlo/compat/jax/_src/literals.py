"""`jax._src.literals`: arrays that are numbers of a program; here they are arrays like others."""

from __future__ import annotations

import numpy as np

__all__ = ["LiteralArray", "TypedNdArray"]


class TypedNdArray(np.ndarray):
    """What JAX makes of NumPy's arrays whose dtype it keeps: never made here, where that is what arrays are."""

    __slots__ = ()


class LiteralArray(TypedNdArray):
    """The older name."""

    __slots__ = ()
