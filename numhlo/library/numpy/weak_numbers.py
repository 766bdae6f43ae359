"""Python's numbers beside floats that ml_dtypes defines, outside tracing: they are weak there, too.

NumPy knows no order between such dtypes and its own, and widens: bfloat16 times 0.5 would be float32. `Array` has
operators that do so, too. Under JAX's rules integers beside them take their dtype, as they do in a trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.tracer.building import UNORDERED, Tracer, are_arrays_immutable, common_dtype

__all__ = ["clip", "exponent_within", "in_one_dtype", "with_weak_numbers", "with_wrapped_integers", "wrapped_integer"]


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
            found = [x.dtype.type(y) if type(y) in (int, float) else y for y in operands]
            return in_one_dtype(found) if are_arrays_immutable() else found
    return operands


def in_one_dtype(operands: Sequence[Any]) -> list[Any]:
    """Return operands, arrays in the dtype that they have in common in a trace; anything else unchanged."""
    dtypes = [x.dtype for x in operands if isinstance(x, np.ndarray | np.generic)]
    common = common_dtype(dtypes)
    return [x.astype(common, copy=False) if isinstance(x, np.ndarray | np.generic) else x for x in operands]


WRAPPING = frozenset({
    np.add, np.subtract, np.multiply, np.floor_divide, np.remainder, np.divmod, np.maximum, np.minimum, np.gcd,
    np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.left_shift, np.right_shift,
})  # fmt: skip
"""Functions of integers in which, under JAX's rules, Python's numbers wrap; comparisons have true values."""


def with_wrapped_integers(ufunc: np.ufunc, operands: Sequence[Any]) -> Sequence[Any]:
    """Return operands; under JAX's rules Python's integers as the dtype of integer arrays beside them holds them."""
    if not (ufunc in WRAPPING or ufunc is np.power) or not are_arrays_immutable():
        return operands
    dtypes = [x.dtype for x in operands if isinstance(x, np.ndarray | np.generic | Tracer)]
    if len({*dtypes}) != 1:
        return operands
    wrapped = [wrapped_integer(x, dtypes[0]) for x in operands]
    return wrapped if ufunc is not np.power else [wrapped[0], exponent_within(operands[1], dtypes[0])]


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
