"""Questions about types and shapes that need no op: result_type, finfo, ndim, shape, size, iscomplexobj."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numhlo.tracer.building import (
    FUNCTIONS,
    Tracer,
    asarray,
    common_dtype,
    normalize_axes,
    operands,
    promotion_key,
    shape_of,
)
from numhlo.tracer.building import operations as b

__all__ = [
    "broadcast_shapes",
    "can_cast",
    "common_type",
    "finfo",
    "iinfo",
    "iscomplexobj",
    "isrealobj",
    "min_scalar_type",
    "ndim",
    "promote_types",
    "result_type",
    "shape",
    "size",
]


def result_type(*arrays_and_dtypes: Any) -> np.dtype:
    """Return NumPy 2's common dtype of arrays, dtypes and Python scalars.

    Parameters
    ----------
    *arrays_and_dtypes : array_like or dtype
        Python numbers adapt to the others (NEP 50).

    Returns
    -------
    numpy.dtype

    Raises
    ------
    DTypeError
        If there is none.

    Examples
    --------
    >>> result_type(np.float32, 1.0)
    dtype('float32')
    """
    return common_dtype([_key(x) for x in arrays_and_dtypes])


def _key(x: Any) -> Any:
    return np.dtype(x) if isinstance(x, np.dtype | type | str) else promotion_key(x)


def promote_types(type1: Any, type2: Any) -> np.dtype:
    """Return the smallest dtype that holds both.

    Parameters
    ----------
    type1, type2 : dtype

    Returns
    -------
    numpy.dtype

    Raises
    ------
    TypeError
        If there is none.

    Examples
    --------
    >>> promote_types("int32", "float32")
    dtype('float64')
    """
    return common_dtype([np.dtype(type1), np.dtype(type2)])


def can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
    """Return whether a dtype (or an array's) can be converted under a casting rule.

    Parameters
    ----------
    from_, to : dtype or Array
    casting : str, optional
        NumPy's rule: "no", "equiv", "safe", "same_kind" or "unsafe".

    Returns
    -------
    bool

    Examples
    --------
    >>> can_cast("int64", "float32"), can_cast("int8", "float32")
    (False, True)
    """
    return np.can_cast(from_.dtype if isinstance(from_, Tracer) else from_, to, casting)


def common_type(*arrays: Any) -> Any:
    """Return the inexact scalar type that all arrays can be converted to.

    Parameters
    ----------
    *arrays : array_like

    Returns
    -------
    type
        numpy.float16 to complex128; float64 where there are integers.

    Raises
    ------
    TypeError
        If one is boolean.

    Examples
    --------
    >>> common_type(np.ones(1, "float32"), np.ones(1, int)).__name__
    'float64'
    """
    return np.common_type(*[np.empty(0, asarray(a).dtype) for a in arrays])


def min_scalar_type(a: Any, /) -> np.dtype:
    """Return the smallest dtype that holds a number's value; an array's own dtype.

    Parameters
    ----------
    a : array_like
        A traced number counts as an array: its value is not known.

    Returns
    -------
    numpy.dtype

    Examples
    --------
    >>> min_scalar_type(300)
    dtype('uint16')
    """
    return a.dtype if isinstance(a, Tracer) else np.min_scalar_type(a)


class FloatInfo:
    """Limits of a floating-point dtype, the standard's as Python floats; the rest as NumPy's ``finfo`` has it."""

    def __init__(self, dtype: np.dtype) -> None:
        self._info = b.finfo(dtype)
        self.dtype: np.dtype = self._info.dtype
        self.bits = int(self._info.bits)
        self.eps, self.max, self.min = (float(getattr(self._info, name)) for name in ("eps", "max", "min"))
        self.smallest_normal, self.tiny = float(self._info.smallest_normal), float(self._info.tiny)

    def __getattr__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "_info"), name)

    def __repr__(self) -> str:
        return f"finfo(min={self.min}, max={self.max}, eps={self.eps}, dtype={self.dtype})"


def broadcast_shapes(*args: Any) -> tuple[int, ...]:
    """Return the shape that arrays of the given shapes broadcast to.

    Parameters
    ----------
    *args : tuple of int

    Returns
    -------
    tuple of int

    Raises
    ------
    ShapeError
        If two extents differ and neither is 1.

    Notes
    -----
    Source: `numpy.broadcast_shapes`.

    Examples
    --------
    >>> broadcast_shapes((3, 1), (4,))
    (3, 4)
    """
    return operands.broadcast_shapes(*args)


def finfo(dtype: Any) -> FloatInfo:
    """Return the limits of a floating-point dtype, or of an array's; of the parts of a complex one.

    Parameters
    ----------
    dtype : dtype or array_like

    Returns
    -------
    FloatInfo

    Raises
    ------
    ValueError
        If it is of integers.

    Examples
    --------
    >>> finfo("float32").eps
    1.1920928955078125e-07
    """
    found = np.dtype(dtype if isinstance(dtype, type) else getattr(dtype, "dtype", dtype))
    return FloatInfo(np.dtype(f"f{found.itemsize // 2}") if found.kind == "c" else found)


def iinfo(int_type: Any) -> np.iinfo:
    """Return the limits of an integer dtype, or of an array's.

    Parameters
    ----------
    int_type : dtype or array_like

    Returns
    -------
    numpy.iinfo

    Raises
    ------
    ValueError
        If it is not of integers.

    Examples
    --------
    >>> iinfo("int8").max
    127
    """
    return np.iinfo(int_type if isinstance(int_type, type) else getattr(int_type, "dtype", int_type))


def ndim(a: Any) -> int:
    """Return the number of dimensions.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    int
        Known while tracing.

    Examples
    --------
    >>> ndim([[1, 2]])
    2
    """
    return len(shape(a))


def shape(a: Any) -> tuple[int, ...]:
    """Return the shape.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    tuple of int
        Known while tracing.

    Examples
    --------
    >>> shape([[1, 2, 3]])
    (1, 3)
    """
    return shape_of(asarray(a) if isinstance(a, list | tuple) else a)


def size(a: Any, axis: Any = None) -> int:
    """Return the number of elements, or the extent of an axis.

    Parameters
    ----------
    a : array_like
    axis : int or sequence of int, optional

    Returns
    -------
    int
        Known while tracing.

    Raises
    ------
    numpy.exceptions.AxisError
        If there is no such axis.

    Examples
    --------
    >>> size([[1, 2, 3]])
    3
    """
    extents = shape(a)
    return math.prod(extents if axis is None else [extents[k] for k in normalize_axes(axis, len(extents))])


def iscomplexobj(x: Any) -> bool:
    """Return whether the dtype is complex.

    Parameters
    ----------
    x : array_like
        Only the dtype counts.

    Returns
    -------
    bool
        Known while tracing.

    Examples
    --------
    >>> iscomplexobj([1 + 0j])
    True
    """
    return bool(asarray(x).dtype.kind == "c") if isinstance(x, Tracer | list | tuple) else np.iscomplexobj(x)


def isrealobj(x: Any) -> bool:
    """Return whether the dtype is not complex.

    Parameters
    ----------
    x : array_like
        Only the dtype counts.

    Returns
    -------
    bool
        Known while tracing.

    Examples
    --------
    >>> isrealobj([1 + 0j])
    False
    """
    return not iscomplexobj(x)


_TRACED: dict[Any, Any] = {
    np.can_cast: can_cast,
    np.common_type: common_type,
    np.iscomplexobj: iscomplexobj,
    np.isrealobj: isrealobj,
    np.min_scalar_type: min_scalar_type,
    np.ndim: ndim,
    np.result_type: result_type,
    np.shape: shape,
    np.size: size,
}
FUNCTIONS.update(_TRACED)
