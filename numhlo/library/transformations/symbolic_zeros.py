"""What rules of derivatives are given that ask for ``symbolic_zeros``: what is zero by itself, and what has a slope.

The names are JAX's. A rule may leave out what would only be multiplied by zeros, and return such zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir.records import record
from numhlo.tracer.building import shape_of


@record(frozen=True, init=False)
class SymbolicZero:
    """A tangent or cotangent that is zero whatever the values are.

    Parameters
    ----------
    like : tuple of int, or object with a shape and a dtype
        Its shape, or what has both.
    dtype : numpy.dtype, optional

    Attributes
    ----------
    shape : tuple of int
    dtype : numpy.dtype
    """

    shape: tuple[int, ...]
    dtype: np.dtype

    def __init__(self, like: Any, dtype: Any = None) -> None:
        object.__setattr__(self, "shape", tuple(getattr(like, "shape", like)))
        object.__setattr__(self, "dtype", np.dtype(getattr(like, "dtype", None) if dtype is None else dtype))

    @property
    def ndim(self) -> int:
        """Return the number of dimensions."""
        return len(self.shape)

    @property
    def aval(self) -> SymbolicZero:
        """Return what has the shape and the dtype."""
        return self


@record(frozen=True)
class CustomVJPPrimal:
    """An argument of a forward rule.

    Attributes
    ----------
    value : array
    perturbed : bool
        Whether it is differentiated by.
    """

    value: Any
    perturbed: bool


class Flags:
    """Which operands of a rule have a slope, told when it is called: on lanes, too, it is a function of arrays."""

    def __init__(self, symbolic: bool) -> None:
        self.symbolic = symbolic
        self.moving: list[bool] = []

    def told(self, arrays: Sequence[Any]) -> list[Any]:
        """Return tangents, or cotangents, those without a slope as `SymbolicZero` where a rule asks for them."""
        if not self.symbolic:
            return list(arrays)
        pairs = zip(arrays, self.moving, strict=True)
        return [x if moves else SymbolicZero(shape_of(x), x.dtype) for x, moves in pairs]

    def primals(self, arrays: Sequence[Any]) -> list[Any]:
        """Return arguments, each with whether it has a slope where a rule asks for that."""
        if not self.symbolic:
            return list(arrays)
        return [CustomVJPPrimal(x, moves) for x, moves in zip(arrays, self.moving, strict=True)]
