"""Which dtypes an elementwise function of JAX's takes its operands in, and gives, once they are promoted to one.

Where a function wants floats, integers of 64 bits become float64, others and bools float32. Where one has no meaning
for bools, these become int32. All else is as NumPy has it of operands of that dtype.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import DTypeError
from numhlo.lowering.ir.types import INTEGERS, SIGNED

NATIVE_DTYPES = frozenset(np.dtype(c) for c in "?bhilqBHILQefdFD")
"""Dtypes that NumPy's functions know."""

BOOL, INT32, INT64 = (np.dtype(d) for d in ("bool", "int32", "int64"))


def stand_in_dtype(dtype: np.dtype) -> np.dtype:
    """Return the dtype that NumPy computes in for one of ml_dtypes: results are rounded to that once.

    Examples
    --------
    >>> import ml_dtypes
    >>> stand_in_dtype(np.dtype(ml_dtypes.bfloat16)), stand_in_dtype(np.dtype(ml_dtypes.int4))
    (dtype('float32'), dtype('int8'))
    """
    return np.dtype(np.int8 if dtype in SIGNED else np.uint8 if dtype in INTEGERS else np.float32)


def inexact_dtype(dtype: np.dtype) -> np.dtype:
    """Return the dtype of floats that stands for integers and bools where floats are wanted; others unchanged.

    Examples
    --------
    >>> inexact_dtype(np.dtype("int8")), inexact_dtype(np.dtype("uint64"))
    (dtype('float32'), dtype('float64'))
    """
    if dtype not in INTEGERS and dtype != BOOL:
        return dtype
    return np.dtype(np.float64 if dtype.itemsize == 8 else np.float32)


def jax_loop(ufunc: np.ufunc, own: Sequence[np.dtype], common: np.dtype) -> tuple[np.dtype, ...]:
    """Return the dtypes that operands are converted to, and those of the results.

    Parameters
    ----------
    ufunc : numpy.ufunc
    own : sequence of numpy.dtype
        Each operand's dtype.
    common : numpy.dtype
        What they are promoted to.

    Raises
    ------
    DTypeError
        If the function has no meaning for it.

    Examples
    --------
    >>> jax_loop(np.sin, [np.dtype("int16")], np.dtype("int16"))
    (dtype('float32'), dtype('float32'))
    """
    if ufunc is np.ldexp:
        first = inexact_dtype(own[0])
        return first, INT32, first
    if ufunc in (np.conjugate, np.positive) and common == BOOL:
        return BOOL, BOOL
    if common in INTEGERS or common == BOOL:
        if ufunc is np.rint:
            return _numpy_loop(ufunc, INT64)
        if ufunc is np.reciprocal or _numpy_loop(ufunc, INT64)[0].kind == "f":
            common = inexact_dtype(common)
        elif common == BOOL and _numpy_loop(ufunc, BOOL)[0] != BOOL:
            common = INT32
    if ufunc is np.float_power:
        return common, common, common
    if common in NATIVE_DTYPES:
        return _numpy_loop(ufunc, common)
    stand_in = stand_in_dtype(common)
    return tuple([common if d == stand_in else d for d in _numpy_loop(ufunc, stand_in)])


@functools.lru_cache(maxsize=4096)
def _numpy_loop(ufunc: np.ufunc, dtype: np.dtype) -> tuple[np.dtype, ...]:
    try:
        return ufunc.resolve_dtypes((dtype,) * ufunc.nin + (None,) * ufunc.nout)
    except TypeError as error:
        raise DTypeError(
            f"{ufunc.__name__} has no loop for {dtype.name}",
            where=capture_location(),
            why=str(error).splitlines()[0],
        ) from None
