"""Text of elements and of dense constants.

Knows MLIR's spelling of numbers (``1.500000e+00``, bits for infinities and NaNs) and its choice between a splat, a
nested list and a hexadecimal blob. Reading them back is `numhlo.lowering.text.dense_parser`'s business.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import ml_dtypes
import numpy as np

from numhlo.lowering.ir import TensorType, element_spelling
from numhlo.lowering.ir.types import BOOL, COMPLEX, INTEGERS

LARGEST_LIST = 100
"""Constants of more elements are written as a hexadecimal blob."""

SMALL_INTEGER_MASK: dict[np.dtype, int] = {
    np.dtype(ml_dtypes.int2): 0x03,
    np.dtype(ml_dtypes.int4): 0x0F,
    np.dtype(ml_dtypes.uint2): 0x03,
    np.dtype(ml_dtypes.uint4): 0x0F,
}
"""Bits of the byte that holds a narrow integer, in blobs: one byte an element, the upper bits zero."""


def print_float(value: np.generic | float, dtype: np.dtype) -> str:
    """Return the text of a float: six digits where they are exact, else the shortest that is; bits for inf and NaN.

    Examples
    --------
    >>> print_float(1.5, np.dtype("float32")), print_float(0.1 + 0.2, np.dtype("float64"))
    ('1.500000e+00', '0.30000000000000004')
    >>> print_float(float("inf"), np.dtype("float32"))
    '0x7F800000'
    """
    number = float(np.asarray(value, dtype))
    if not math.isfinite(number):
        bits = np.asarray(value, dtype).reshape(1).view(f"u{dtype.itemsize}")[0]
        return f"0x{int(bits):0{2 * dtype.itemsize}X}"
    text = f"{number:e}"
    if float(text) == number:
        return text
    if dtype == np.float64:
        text = repr(number)
        return text if "." in text else text.replace("e", ".0e")
    if float(np.asarray(float(text), dtype)) == number:
        return text
    return np.format_float_scientific(np.float32(number), trim="0")


def print_elements(array: np.ndarray) -> list[str]:
    """Return the text of each element, in row-major order."""
    dtype = array.dtype
    if dtype == BOOL:
        return ["true" if x else "false" for x in array.ravel().tolist()]
    if dtype in INTEGERS:
        wide = array.astype(np.int64) if dtype.itemsize == 1 else array
        return [str(x) for x in wide.ravel().tolist()]
    if dtype in COMPLEX:
        part = array.real.dtype
        return [f"({print_float(z.real, part)},{print_float(z.imag, part)})" for z in array.ravel()]
    return [print_float(x, dtype) for x in array.ravel()]


def print_blob(array: np.ndarray) -> str:
    """Return all elements as upper-case hexadecimal digits: row-major, little-endian."""
    dtype = array.dtype
    if dtype in SMALL_INTEGER_MASK:
        array = array.view(np.uint8) & SMALL_INTEGER_MASK[dtype]
    elif dtype.byteorder == ">":
        array = array.astype(dtype.newbyteorder("<"))
    return array.tobytes().hex().upper()


def is_splat(array: np.ndarray) -> bool:
    """Return whether all elements (at least one) have the same bits."""
    if array.size <= 1:
        return array.size == 1
    if not any(step for step, extent in zip(array.strides, array.shape, strict=True) if extent > 1):
        return True  # one element, broadcast: of any size
    rows = np.ascontiguousarray(array).reshape(-1, 1).view(np.uint8)
    return bool((rows == rows[0]).all())


def print_dense_body(array: np.ndarray) -> str:
    """Return what stands between ``dense<`` and ``>``."""
    if array.size == 0:
        return ""
    if is_splat(array):
        return print_elements(np.asarray(array[(0,) * array.ndim], array.dtype))[0]
    if array.size > LARGEST_LIST:
        return f'"0x{print_blob(array)}"'
    texts: Sequence[str] = print_elements(array)
    for extent in reversed(array.shape):
        texts = [f"[{', '.join(texts[k : k + extent])}]" for k in range(0, len(texts), extent)]
    return texts[0]


def print_dense(array: np.ndarray) -> str:
    """Return a dense elements attribute with its type.

    Examples
    --------
    >>> print_dense(np.array([[1, 2], [3, 4]], np.int32))
    'dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>'
    >>> print_dense(np.zeros((2, 3)))
    'dense<0.000000e+00> : tensor<2x3xf64>'
    """
    array = np.asarray(array)
    return f"dense<{print_dense_body(array)}> : {TensorType(array.shape, array.dtype)}"


def print_float_attribute(value: np.generic | float, dtype: np.dtype) -> str:
    """Return a float attribute with its type, such as ``1.500000e+00 : f32``."""
    return f"{print_float(value, dtype)} : {element_spelling(dtype)}"
