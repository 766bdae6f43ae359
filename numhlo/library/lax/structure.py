"""Arrays of a shape, and other shapes for the same elements, under JAX's names.

They run outside tracing too. What joins, pads and cuts is in `joining`, slices whose start is traced in
`slices`, elementwise operations in `elementwise`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.library.documentation import described
from numhlo.library.numpy.reshaping import shape_tuple
from numhlo.library.numpy.types import broadcast_shapes
from numhlo.lowering.ir import TensorType, capture_location
from numhlo.lowering.ir.errors import OperandError
from numhlo.lowering.ops import control_flow, layout
from numhlo.tracer.building import (
    as_dtype,
    bind,
    bind1,
    broadcast_to_shape,
    convert,
    normalize_axes,
    normalize_axis,
    operand_of,
    reshape_to,
    shape_of,
    spelling,
    tree_flatten,
    tree_unflatten,
)
from numhlo.tracer.building import operands as core
from numhlo.tracer.building import operations as b

__all__ = [
    "broadcast", "broadcast_in_dim", "broadcast_like", "broadcast_shapes", "broadcasted_iota", "collapse",
    "empty", "expand_dims", "full", "full_like", "iota", "optimization_barrier",
    "reshape", "rev", "squeeze", "transpose",
]  # fmt: skip

_OPERAND = """
Parameters
----------
operand, array : array_like
shape : int or sequence of int
dimensions : sequence of int
fill_value : scalar
    May be traced.
dtype : dtype

Returns
-------
Array
"""


@described(_OPERAND)
def full(shape: Any, fill_value: Any, dtype: Any = None) -> Any:
    """Return an array filled with a scalar.

    Parameters
    ----------
    shape : int or sequence of int
        Known while tracing.
    dtype : dtype, optional
        That of ``fill_value`` by default.

    Raises
    ------
    DataDependentShapeError
        If an extent is traced.

    Examples
    --------
    >>> full((2,), 7)
    Array([7, 7])
    """
    value = operand_of(fill_value)
    return operand_of(broadcast_to_shape(convert(value, as_dtype(dtype, value.dtype)), shape_tuple(shape)))


@described(_OPERAND)
def full_like(x: Any, fill_value: Any, dtype: Any = None, shape: Any = None) -> Any:
    """Return an array filled with a scalar, of another array's shape and dtype.

    Parameters
    ----------
    x : array_like
        Its shape and dtype are the defaults.
    dtype : dtype, optional
    shape : int or sequence of int, optional

    Examples
    --------
    >>> full_like(np.array([1, 2], np.int8), 7)
    Array([7, 7], dtype=int8)
    """
    array = operand_of(x)
    return full(shape_of(array) if shape is None else shape, fill_value, as_dtype(dtype, array.dtype))


@described(_OPERAND)
def empty(shape: Any, dtype: Any) -> Any:
    """Return an array of zeros.

    Returns
    -------
    Array
        Of zeros: nothing that was not computed is ever seen.

    Examples
    --------
    >>> empty((2,), "float32")
    Array([0., 0.], dtype=float32)
    """
    return full(shape, 0, dtype)


def iota(dtype: Any, size: int) -> Any:
    """Return 0, 1, ..., size - 1.

    Parameters
    ----------
    dtype : dtype
        Of numbers.
    size : int
        Known while tracing.

    Returns
    -------
    Array
        Of shape ``(size,)``.

    Notes
    -----
    StableHLO specification, section ``iota``.

    Examples
    --------
    >>> iota("float32", 3)
    Array([0., 1., 2.], dtype=float32)
    """
    (extent,) = shape_tuple(size)
    return b.iota(extent, as_dtype(dtype))


def broadcasted_iota(dtype: Any, shape: Any, dimension: int) -> Any:
    """Return an array whose elements are their index along a dimension.

    Parameters
    ----------
    dtype : dtype
    shape : int or sequence of int
    dimension : int
        Along which the numbers rise.

    Returns
    -------
    Array
        Of the shape; narrow dtypes wrap around.

    Examples
    --------
    >>> broadcasted_iota("int32", (2, 3), 1).tolist()
    [[0, 1, 2], [0, 1, 2]]
    """
    extents = shape_tuple(shape)
    return b.iota_along(extents, normalize_axis(dimension, len(extents)), as_dtype(dtype))


def broadcast(operand: Any, sizes: Sequence[int]) -> Any:
    """Return the operand repeated along new leading dimensions.

    Parameters
    ----------
    operand : array_like
    sizes : sequence of int
        Extents of the new dimensions.

    Returns
    -------
    Array
        Of shape ``(*sizes, *operand.shape)``.

    Examples
    --------
    >>> broadcast(np.array([1, 2]), (2,)).tolist()
    [[1, 2], [1, 2]]
    """
    array = operand_of(operand)
    return broadcast_to_shape(array, (*shape_tuple(sizes), *shape_of(array)))


def broadcast_in_dim(operand: Any, shape: Any, broadcast_dimensions: Sequence[int]) -> Any:
    """Return the operand with its dimensions placed in a larger shape, and repeated along the others.

    Parameters
    ----------
    operand : array_like
    shape : sequence of int
    broadcast_dimensions : sequence of int
        For each dimension of the operand, the one of the result that it becomes; an extent of 1 is repeated.

    Returns
    -------
    Array
        Of the shape.

    Raises
    ------
    VerificationError
        If the dimensions do not fit.

    Notes
    -----
    StableHLO specification, section ``broadcast_in_dim``.

    Examples
    --------
    >>> broadcast_in_dim(np.array([1, 2]), (2, 3), (0,)).tolist()
    [[1, 1, 1], [2, 2, 2]]
    """
    array = operand_of(operand)
    extents, places = shape_tuple(shape), tuple(int(d) for d in broadcast_dimensions)
    attributes = {"broadcast_dimensions": places}
    results = [array_type(array, extents)]
    return bind1(layout.BROADCAST_IN_DIM, array, attributes=attributes, results=results)


def broadcast_like(arr: Any, like_arr: Any) -> Any:
    """Return an array broadcast to another one's shape, aligned at the last dimension; its dtype stays.

    Parameters
    ----------
    arr, like_arr : array_like
        Of ``like_arr`` only the shape counts.

    Returns
    -------
    Array
        Of the dtype of ``arr``.

    Raises
    ------
    OperandError
        If the shapes do not broadcast to that of ``like_arr``.

    Examples
    --------
    >>> broadcast_like(np.array([1, 2]), np.zeros((2, 2))).tolist()
    [[1, 2], [1, 2]]
    """
    array, like = operand_of(arr), operand_of(like_arr)
    shape = shape_of(like)
    if core.broadcast_shapes(shape_of(array), shape, name="lax.broadcast_like", operands=[array, like]) != shape:
        raise OperandError(
            f"lax.broadcast_like: {spelling(array)} has a larger shape than {spelling(like)}", where=capture_location()
        )
    return broadcast_to_shape(array, shape)


def array_type(array: Any, shape: tuple[int, ...]) -> Any:
    """Return the type of an array of ``array``'s dtype."""
    return TensorType(shape, array.dtype)


def reshape(operand: Any, new_sizes: Any, dimensions: Sequence[int] | None = None) -> Any:
    """Return the elements, read in the order of ``dimensions``, under another shape; one extent may be -1.

    Parameters
    ----------
    operand : array_like
    new_sizes : int or sequence of int
    dimensions : sequence of int, optional
        An order of all dimensions, the slowest first; by default as they are.

    Returns
    -------
    Array
        Row-major.

    Raises
    ------
    OperandError
        If the number of elements differs, or more than one extent is -1.

    Notes
    -----
    StableHLO specification, section ``reshape``.

    Examples
    --------
    >>> reshape(np.arange(6), (2, -1)).tolist()
    [[0, 1, 2], [3, 4, 5]]
    >>> reshape(np.array([[1, 2], [3, 4]]), (4,), (1, 0))
    Array([1, 3, 2, 4])
    """
    array = operand_of(operand) if dimensions is None else transpose(operand, dimensions)
    shape = list(shape_tuple(new_sizes))
    size = int(np.prod(shape_of(array), dtype=np.int64))
    if shape.count(-1) == 1:
        known = int(np.prod([n for n in shape if n != -1], dtype=np.int64))
        shape[shape.index(-1)] = size // known if known else 0
    if int(np.prod(shape, dtype=np.int64)) != size or -1 in shape:
        raise OperandError(f"lax.reshape: {spelling(array)} can't have shape {shape}", where=capture_location())
    return reshape_to(array, tuple(shape))


@described(_OPERAND)
def collapse(operand: Any, start_dimension: int, stop_dimension: int | None = None) -> Any:
    """Return neighbouring dimensions merged into one.

    Parameters
    ----------
    start_dimension, stop_dimension : int
        As the bounds of a Python slice of dimensions; all to the last one for None.

    Examples
    --------
    >>> collapse(np.zeros((2, 3, 4)), 0, 2).shape
    (6, 4)
    """
    array = operand_of(operand)
    shape = shape_of(array)
    low, high, _ = slice(start_dimension, stop_dimension).indices(len(shape))
    merged = int(np.prod(shape[low:high], dtype=np.int64))
    return reshape_to(array, (*shape[:low], merged, *shape[high:]))


@described(_OPERAND)
def expand_dims(array: Any, dimensions: Sequence[int]) -> Any:
    """Return dimensions of extent 1 inserted at places of the result.

    Parameters
    ----------
    dimensions : sequence of int
        Negative ones count from the result's last.

    Raises
    ------
    numpy.exceptions.AxisError
        If the result has no such dimension.

    Examples
    --------
    >>> expand_dims(np.zeros((2, 3)), (0, 3)).shape
    (1, 2, 3, 1)
    """
    value = operand_of(array)
    ndim = len(shape_of(value)) + len(dimensions)
    places = normalize_axes(tuple(dimensions), ndim)
    own = iter(shape_of(value))
    return reshape_to(value, tuple(1 if k in places else next(own) for k in range(ndim)))


@described(_OPERAND)
def squeeze(array: Any, dimensions: Sequence[int]) -> Any:
    """Return dimensions of extent 1 removed.

    Raises
    ------
    OperandError
        If an extent is not 1.

    Examples
    --------
    >>> squeeze(np.zeros((1, 3, 1)), (0,)).shape
    (3, 1)
    """
    value = operand_of(array)
    shape = shape_of(value)
    dropped = normalize_axes(tuple(dimensions), len(shape))
    if any(shape[k] != 1 for k in dropped):
        raise OperandError(
            f"lax.squeeze: dimensions {list(dimensions)} of {spelling(value)} are not all of extent 1",
            where=capture_location(),
        )
    return reshape_to(value, tuple(n for k, n in enumerate(shape) if k not in dropped))


@described(_OPERAND)
def transpose(operand: Any, permutation: Sequence[int]) -> Any:
    """Return dimensions in another order.

    Parameters
    ----------
    permutation : sequence of int
        Dimension ``k`` of the result is dimension ``permutation[k]`` of the operand.

    Raises
    ------
    VerificationError
        If it is no permutation of all dimensions.

    Notes
    -----
    StableHLO specification, section ``transpose``.

    Examples
    --------
    >>> transpose(np.array([[1, 2], [3, 4]]), (1, 0)).tolist()
    [[1, 3], [2, 4]]
    """
    return bind1(layout.TRANSPOSE, operand_of(operand), attributes={"permutation": tuple(int(k) for k in permutation)})


@described(_OPERAND)
def rev(operand: Any, dimensions: Sequence[int]) -> Any:
    """Return dimensions in reverse order.

    Returns
    -------
    Array
        Of the operand's shape.

    Notes
    -----
    StableHLO specification, section ``reverse``.

    Examples
    --------
    >>> rev(np.array([1, 2, 3]), (0,))
    Array([3, 2, 1])
    """
    array = operand_of(operand)
    places = normalize_axes(tuple(dimensions), len(shape_of(array)))
    return bind1(layout.REVERSE, array, attributes={"dimensions": places})


def optimization_barrier(operand: Any, /) -> Any:
    """Return a pytree unchanged; no optimization moves work across it.

    Parameters
    ----------
    operand : pytree of array_like

    Returns
    -------
    pytree of Array
        Computed whole before anything that uses a part of it.

    Notes
    -----
    StableHLO specification, section ``optimization_barrier``.

    Examples
    --------
    >>> optimization_barrier((np.array(1), {"a": np.array(2)}))
    (Array(1), {'a': Array(2)})
    """
    leaves, tree = tree_flatten(operand)
    return tree_unflatten(tree, bind(control_flow.OPTIMIZATION_BARRIER, *[operand_of(x) for x in leaves]))
