"""Other dtypes for the same values, the same bits, or fewer of them, under JAX's names."""

from __future__ import annotations

from typing import Any

from numhlo.library.lax.operands import operands
from numhlo.lowering.ir import TensorType, capture_location
from numhlo.lowering.ir.errors import OperandError
from numhlo.lowering.ops import conversion
from numhlo.tracer.building import as_dtype, asarray, bind1, shape_of, spelling

__all__ = ["bitcast_convert_type", "convert_element_type", "reduce_precision"]


def convert_element_type(operand: Any, new_dtype: Any) -> Any:
    """Return the operand in another dtype.

    Parameters
    ----------
    operand : array_like
    new_dtype : dtype
        One that StableHLO has; complex numbers lose their imaginary part on the way to a real dtype, bool among them.

    Returns
    -------
    Array
        Of the operand's shape. Floats become integers by truncation; what does not fit is unspecified.

    Raises
    ------
    DTypeError
        If StableHLO has no such element type.

    Notes
    -----
    StableHLO specification, section ``convert``.

    Examples
    --------
    >>> import numpy as np
    >>> convert_element_type(np.array([1.5]), "int32")
    Array([1], dtype=int32)
    """
    array = asarray(operand)
    wanted = as_dtype(new_dtype)
    return bind1(conversion.CONVERT, array, results=[TensorType(shape_of(array), wanted)])


def bitcast_convert_type(operand: Any, new_dtype: Any) -> Any:
    """Return the operand's bits as another dtype; a narrower one adds a last axis, a wider one takes it away.

    Parameters
    ----------
    operand : array_like
    new_dtype : dtype
        Of any width.

    Returns
    -------
    Array
        Of the operand's shape, but for the last axis where the widths differ; the first element holds the lowest bits.

    Raises
    ------
    OperandError
        If the last axis does not hold just the elements that make one of a wider dtype.

    Notes
    -----
    StableHLO specification, section ``bitcast_convert``.

    Examples
    --------
    >>> import numpy as np
    >>> bitcast_convert_type(np.float32(1), "int32")
    Array(1065353216, dtype=int32)
    """
    array = asarray(operand)
    wanted = as_dtype(new_dtype)
    old, new = array.dtype.itemsize, wanted.itemsize
    shape = shape_of(array)
    if old > new:
        shape = (*shape, old // new)
    elif old < new:
        if not shape or shape[-1] != new // old:
            raise OperandError(
                f"lax.bitcast_convert_type of {spelling(array)} to {wanted}",
                where=capture_location(),
                why=f"{new // old} elements of the last axis make one",
            )
        shape = shape[:-1]
    return bind1(conversion.BITCAST_CONVERT, array, results=[TensorType(shape, wanted)])


def reduce_precision(operand: Any, exponent_bits: int, mantissa_bits: int) -> Any:
    """Return floats rounded to fewer bits, in the same dtype.

    Parameters
    ----------
    operand : array_like
        Of floats.
    exponent_bits, mantissa_bits : int
        Of the narrower format: 8 and 7 are those of bfloat16. Values beyond its range become infinite.

    Returns
    -------
    Array
        Of the operand's shape and dtype.

    Notes
    -----
    StableHLO specification, section ``reduce_precision``.

    Examples
    --------
    >>> import numpy as np
    >>> reduce_precision(np.float32(1.2345), 8, 7)
    Array(1.234375, dtype=float32)
    """
    attributes = {"exponent_bits": exponent_bits, "mantissa_bits": mantissa_bits}
    return bind1(conversion.REDUCE_PRECISION, *operands("reduce_precision", operand), attributes=attributes)
