"""How `evaluate` finds the NumPy function for an element type.

A `DTypeTable` maps dtypes to functions of arrays. `by_kind` fills one from a function per kind of number and adds the
element types that NumPy has no arithmetic for: narrow floats compute in float32 and round once, to nearest even; 2-bit
and 4-bit integers compute in 8 bits and wrap. Functions return arrays, never NumPy scalars.
Next: `elementwise` has the ops, `type_rules` the types.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.lowering.ir.types import (
    BOOL,
    COMPLEX,
    ELEMENT_TYPES,
    INTEGERS,
    NARROW_FLOATS,
    SIGNED,
    UNSIGNED,
)
from numhlo.lowering.ops.primitive import Arrays, EvaluateRule, RegionFunction

ArrayFunction = Callable[..., np.ndarray]

FLOAT16 = np.dtype(np.float16)
FLOAT32 = np.dtype(np.float32)
FLOAT64 = np.dtype(np.float64)
NARROW_INTEGERS: dict[np.dtype, int] = {
    ELEMENT_TYPES["i2"]: 2,
    ELEMENT_TYPES["ui2"]: 2,
    ELEMENT_TYPES["i4"]: 4,
    ELEMENT_TYPES["ui4"]: 4,
}
"""Integers that NumPy has no arithmetic for, and their widths in bits."""


def widened(dtype: np.dtype) -> np.dtype:
    """Return the type to compute in: float32 for narrow floats, 8 bits for narrower integers, else ``dtype``."""
    if dtype in NARROW_FLOATS:
        return FLOAT32
    if dtype in NARROW_INTEGERS:
        return np.dtype(np.int8 if dtype in SIGNED else np.uint8)
    return dtype


_UFUNCS: dict[ArrayFunction, np.ufunc] = {}
_TABLES: dict[EvaluateRule, Mapping[np.dtype, ArrayFunction]] = {}


def ufunc_of(evaluate: EvaluateRule, dtype: np.dtype) -> np.ufunc | None:
    """Return the ufunc that an evaluate rule is for operands of a dtype, None where it does more than calling one.

    Examples
    --------
    >>> add = binary_evaluate(by_kind("add", integer=np.add))
    >>> ufunc_of(add, np.dtype("i4")), ufunc_of(add, ELEMENT_TYPES["i4"])
    (<ufunc 'add'>, None)
    """
    function = _TABLES.get(evaluate, {}).get(dtype)
    return None if function is None else _UFUNCS.get(function)


class DTypeTable(dict[np.dtype, ArrayFunction]):
    """Functions by dtype of the first operand; a dtype without one raises `UnsupportedError`."""

    def __init__(self, name: str, functions: Mapping[np.dtype, ArrayFunction]) -> None:
        super().__init__(functions)
        self.name = name

    def __missing__(self, dtype: np.dtype) -> ArrayFunction:
        raise UnsupportedError(
            f"{self.name} of {dtype.name} has no meaning yet",
            why="the StableHLO specification leaves it undefined",
        )


def _wrap_ufunc(ufunc: np.ufunc) -> ArrayFunction:
    if ufunc.nin == 1:

        def call_unary(x: np.ndarray) -> np.ndarray:
            result = ufunc(x)
            return result if type(result) is np.ndarray else np.asarray(result)

        _UFUNCS[call_unary] = ufunc
        return call_unary

    def call_binary(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        result = ufunc(x, y)
        return result if type(result) is np.ndarray else np.asarray(result)

    _UFUNCS[call_binary] = ufunc
    return call_binary


def _wrap_function(function: ArrayFunction) -> ArrayFunction:
    def call(*arrays: np.ndarray) -> np.ndarray:
        ndim = arrays[0].ndim
        if any(a.ndim != ndim for a in arrays):  # a region on many elements may use a scalar from outside
            arrays = tuple(np.broadcast_arrays(*arrays))
        if arrays[0].ndim:
            return function(*arrays)
        return function(*[a.reshape(1) for a in arrays]).reshape(())

    return call


def returning_array(function: ArrayFunction | np.ufunc) -> ArrayFunction:
    """Return a function or ufunc as a function that takes and gives arrays, never NumPy scalars.

    A ufunc turns 0-d arrays into scalars; a function written for arrays sees one element in one dimension instead.
    """
    return _wrap_ufunc(function) if isinstance(function, np.ufunc) else _wrap_function(function)


def through(function: ArrayFunction, wide: np.dtype, narrow: np.dtype) -> ArrayFunction:
    """Return ``function`` computed in ``wide`` and rounded to ``narrow``; a boolean result stays."""

    def call(*arrays: np.ndarray) -> np.ndarray:
        result = function(*[a.astype(wide) for a in arrays])
        return result if result.dtype == BOOL else result.astype(narrow)

    return call


def _float_functions(function: ArrayFunction) -> dict[np.dtype, ArrayFunction]:
    call = returning_array(function)
    table = {dtype: through(call, FLOAT32, dtype) for dtype in NARROW_FLOATS}
    if isinstance(function, np.ufunc):
        table[FLOAT16] = call  # NumPy's loops for half compute in float32 and round once, too
    return {**table, FLOAT32: call, FLOAT64: call}


def _integer_functions(function: ArrayFunction, dtypes: frozenset[np.dtype]) -> dict[np.dtype, ArrayFunction]:
    call = returning_array(function)
    table = dict.fromkeys(dtypes, call)
    for dtype in dtypes & NARROW_INTEGERS.keys():
        table[dtype] = through(call, widened(dtype), dtype)
    return table


def by_kind(
    name: str,
    *,
    boolean: ArrayFunction | None = None,
    integer: ArrayFunction | None = None,
    signed: ArrayFunction | None = None,
    unsigned: ArrayFunction | None = None,
    floating: ArrayFunction | None = None,
    complex: ArrayFunction | None = None,
    wide_complex: ArrayFunction | None = None,
) -> DTypeTable:
    """Return a table with one function for each kind of element type.

    Parameters
    ----------
    name : str
        The op, for messages.
    boolean, integer, signed, unsigned, floating, complex : callable or ufunc, optional
        Functions of arrays that keep the dtype (or return booleans).
    wide_complex : callable, optional
        As ``complex``, but complex64 is computed in complex128 and rounded.
    """
    table: dict[np.dtype, ArrayFunction] = {}
    if boolean is not None:
        table[BOOL] = returning_array(boolean)
    for function, dtypes in ((integer, INTEGERS), (signed, SIGNED), (unsigned, UNSIGNED)):
        if function is not None:
            table.update(_integer_functions(function, dtypes))
    if floating is not None:
        table.update(_float_functions(floating))
    if complex is not None:
        table.update(dict.fromkeys(COMPLEX, returning_array(complex)))
    if wide_complex is not None:
        call, single, double = returning_array(wide_complex), np.dtype(np.complex64), np.dtype(np.complex128)
        table.update({double: call, single: through(call, double, single)})
    return DTypeTable(name, table)


def unary_evaluate(table: Mapping[np.dtype, ArrayFunction]) -> EvaluateRule:
    """Return the evaluate rule that applies ``table``'s function to the one operand."""

    def evaluate(arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]) -> tuple[np.ndarray]:
        x = arrays[0]
        return (table[x.dtype](x),)

    _TABLES[evaluate] = table
    return evaluate


def binary_evaluate(table: Mapping[np.dtype, ArrayFunction]) -> EvaluateRule:
    """Return the evaluate rule that applies ``table``'s function to the two operands."""

    def evaluate(arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]) -> tuple[np.ndarray]:
        x, y = arrays
        return (table[x.dtype](x, y),)

    _TABLES[evaluate] = table
    return evaluate
