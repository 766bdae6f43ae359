"""Python's numbers beside floats that ml_dtypes defines, outside tracing: they are weak there, too.

NumPy knows no order between such dtypes and its own, and widens: bfloat16 times 0.5 would be float32. `Array` has
operators that do so, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.tracer.building import UNORDERED, Tracer, are_arrays_immutable

__all__ = ["clip", "exponent_within", "with_known_exponent", "with_weak_numbers", "wrapped_integer"]


def with_weak_numbers(operands: Sequence[Any]) -> Sequence[Any]:
    """Return operands with Python's numbers in the dtype of a float that ml_dtypes defines, if one is among them.

    Parameters
    ----------
    operands : sequence of array_like

    Returns
    -------
    sequence
        The same where there is nothing to do.

    Examples
    --------
    >>> import ml_dtypes
    >>> with_weak_numbers([np.ones(1, ml_dtypes.bfloat16), 0.5])[1].dtype.name
    'bfloat16'
    """
    for x in operands:
        if isinstance(x, np.ndarray | np.generic) and x.dtype in UNORDERED:
            return [x.dtype.type(y) if type(y) in (int, float) else y for y in operands]
    return operands


def with_known_exponent(operands: Sequence[Any]) -> Sequence[Any]:
    """Return operands of a power; under JAX's rules with an exponent of Python's that the dtype of the base holds."""
    base, exponent = operands
    if not are_arrays_immutable() or not isinstance(base, np.ndarray | np.generic | Tracer):
        return operands
    return base, exponent_within(exponent, base.dtype)


def exponent_within(exponent: Any, dtype: np.dtype) -> Any:
    """Return a Python integer that gives the same powers of integers of a dtype, and that the dtype holds.

    Examples
    --------
    >>> exponent_within(300, np.dtype(np.int8))
    44
    """
    if type(exponent) is not int or dtype.kind not in "iu" or exponent <= np.iinfo(dtype).max:
        return exponent
    bits = np.iinfo(dtype).bits  # x**e -> x**f: even x give 0, odd ones have a period that divides 2**(bits - 2)
    return bits + (exponent - bits) % 2 ** (bits - 2)


def wrapped_integer(x: Any, dtype: np.dtype) -> Any:
    """Return a Python integer that is out of bounds of a dtype wrapped; anything else unchanged.

    Examples
    --------
    >>> wrapped_integer(200, np.dtype(np.int8))
    np.int8(-56)
    """
    if type(x) is not int or dtype.kind not in "iu":
        return x
    bounds = np.iinfo(dtype)
    return x if bounds.min <= x <= bounds.max else np.int64(x).astype(dtype)


def clip(*args: Any, **kwargs: Any) -> Any:
    """Return what NumPy's `clip` does, which has no loop for such floats, and computes in float32."""
    operands = [x for x in (*args, *kwargs.values()) if x is not None and not isinstance(x, str)]
    found = with_weak_numbers(operands)
    result = np.clip(*args, **kwargs)
    return result if found is operands else result.astype(np.result_type(*found), copy=False)
