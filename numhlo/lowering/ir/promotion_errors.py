"""Errors of the promotion of element types under JAX's rules."""

from __future__ import annotations

from numhlo.lowering.ir.errors import DTypeError


class TypePromotionError(DTypeError, ValueError):
    """Element types that promote to nothing in common under JAX's rules.

    Examples
    --------
    >>> print(TypePromotionError("Input dtypes ('int4', 'int8') have no available implicit dtype promotion path"))
    Input dtypes ('int4', 'int8') have no available implicit dtype promotion path
    """
