"""Shapes and static slices under JAX's names: broadcasts, reshapes, pads, joins, splits.

They run outside tracing too. Slices whose start is traced are in `lax_slices`, elementwise operations in `lax_ops`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from numhlo.lowering.ir import TensorType, capture_location
from numhlo.lowering.ir.errors import ArgumentError, ShapeError
from numhlo.lowering.ops import control_flow, layout
from numhlo.tracer.bind import bind, bind1
from numhlo.tracer.namespace import building as b
from numhlo.tracer.namespace import core
from numhlo.tracer.namespace.core import (
    as_dtype,
    broadcast_to_shape,
    convert,
    normalize_axes,
    normalize_axis,
    reshape_to,
    shape_of,
    spelling,
)
from numhlo.tracer.namespace.eager import operand_of
from numhlo.tracer.namespace.joining import concatenate_arrays
from numhlo.tracer.namespace.manipulation import shape_tuple
from numhlo.tracer.namespace.types import broadcast_shapes
from numhlo.tracer.pytrees import tree_flatten, tree_unflatten

__all__ = [
    "broadcast", "broadcast_in_dim", "broadcast_like", "broadcast_shapes", "broadcasted_iota", "collapse",
    "concatenate", "empty", "expand_dims", "full", "full_like", "index_in_dim", "iota", "optimization_barrier", "pad",
    "reshape", "rev", "slice", "slice_in_dim", "split", "squeeze", "stack", "tile", "transpose", "unstack",
]  # fmt: skip


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Any:
    """Return an array filled with a scalar.

    Examples
    --------
    >>> full((2,), 7)
    Array([7, 7])
    """
    value = operand_of(fill_value)
    return operand_of(broadcast_to_shape(convert(value, as_dtype(dtype, value.dtype)), shape_tuple(shape)))


def full_like(x: Any, fill_value: Any, dtype: Any = None, shape: Any = None) -> Any:
    """Return an array filled with a scalar, of another array's shape and dtype.

    Examples
    --------
    >>> full_like(np.array([1, 2], np.int8), 7)
    Array([7, 7], dtype=int8)
    """
    array = operand_of(x)
    return full(shape_of(array) if shape is None else shape, fill_value, as_dtype(dtype, array.dtype))


def empty(shape: Any, dtype: Any) -> Any:
    """Return an array of zeros.

    Examples
    --------
    >>> empty((2,), "float32")
    Array([0., 0.], dtype=float32)
    """
    return full(shape, 0, dtype)


def iota(dtype: Any, size: int) -> Any:
    """Return 0, 1, ..., size - 1.

    Examples
    --------
    >>> iota("float32", 3)
    Array([0., 1., 2.], dtype=float32)
    """
    (extent,) = shape_tuple(size)
    return b.iota(extent, as_dtype(dtype))


def broadcasted_iota(dtype: Any, shape: Any, dimension: int) -> Any:
    """Return an array whose elements are their index along a dimension.

    Examples
    --------
    >>> broadcasted_iota("int32", (2, 3), 1).tolist()
    [[0, 1, 2], [0, 1, 2]]
    """
    extents = shape_tuple(shape)
    return b.iota_along(extents, normalize_axis(dimension, len(extents)), as_dtype(dtype))


def broadcast(operand: Any, sizes: Sequence[int]) -> Any:
    """Return the operand repeated along new leading dimensions.

    Examples
    --------
    >>> broadcast(np.array([1, 2]), (2,)).tolist()
    [[1, 2], [1, 2]]
    """
    array = operand_of(operand)
    return broadcast_to_shape(array, (*shape_tuple(sizes), *shape_of(array)))


def broadcast_in_dim(operand: Any, shape: Any, broadcast_dimensions: Sequence[int]) -> Any:
    """Return the operand with its dimensions placed in a larger shape, and repeated along the others.

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

    Raises
    ------
    ShapeError
        If the shapes do not broadcast to that of ``like_arr``.

    Examples
    --------
    >>> broadcast_like(np.array([1, 2]), np.zeros((2, 2))).tolist()
    [[1, 2], [1, 2]]
    """
    array, like = operand_of(arr), operand_of(like_arr)
    shape = shape_of(like)
    if core.broadcast_shapes(shape_of(array), shape, name="lax.broadcast_like", operands=[array, like]) != shape:
        raise ShapeError(
            f"lax.broadcast_like: {spelling(array)} has a larger shape than {spelling(like)}", where=capture_location()
        )
    return broadcast_to_shape(array, shape)


def array_type(array: Any, shape: tuple[int, ...]) -> Any:
    """Return the type of an array of ``array``'s dtype."""
    return TensorType(shape, array.dtype)


def reshape(operand: Any, new_sizes: Any, dimensions: Sequence[int] | None = None) -> Any:
    """Return the elements, read in the order of ``dimensions``, under another shape; one extent may be -1.

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
        raise ShapeError(f"lax.reshape: {spelling(array)} can't have shape {shape}", where=capture_location())
    return reshape_to(array, tuple(shape))


def collapse(operand: Any, start_dimension: int, stop_dimension: int | None = None) -> Any:
    """Return neighbouring dimensions merged into one.

    Examples
    --------
    >>> collapse(np.zeros((2, 3, 4)), 0, 2).shape
    (6, 4)
    """
    array = operand_of(operand)
    shape = shape_of(array)
    low, high, _ = builtin_slice(start_dimension, stop_dimension).indices(len(shape))
    merged = int(np.prod(shape[low:high], dtype=np.int64))
    return reshape_to(array, (*shape[:low], merged, *shape[high:]))


builtin_slice = slice


def expand_dims(array: Any, dimensions: Sequence[int]) -> Any:
    """Return dimensions of extent 1 inserted at places of the result.

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


def squeeze(array: Any, dimensions: Sequence[int]) -> Any:
    """Return dimensions of extent 1 removed.

    Examples
    --------
    >>> squeeze(np.zeros((1, 3, 1)), (0,)).shape
    (3, 1)
    """
    value = operand_of(array)
    shape = shape_of(value)
    dropped = normalize_axes(tuple(dimensions), len(shape))
    if any(shape[k] != 1 for k in dropped):
        raise ShapeError(
            f"lax.squeeze: dimensions {list(dimensions)} of {spelling(value)} are not all of extent 1",
            where=capture_location(),
        )
    return reshape_to(value, tuple(n for k, n in enumerate(shape) if k not in dropped))


def transpose(operand: Any, permutation: Sequence[int]) -> Any:
    """Return dimensions in another order.

    Examples
    --------
    >>> transpose(np.array([[1, 2], [3, 4]]), (1, 0)).tolist()
    [[1, 3], [2, 4]]
    """
    return bind1(layout.TRANSPOSE, operand_of(operand), attributes={"permutation": tuple(int(k) for k in permutation)})


def rev(operand: Any, dimensions: Sequence[int]) -> Any:
    """Return dimensions in reverse order.

    Examples
    --------
    >>> rev(np.array([1, 2, 3]), (0,))
    Array([3, 2, 1])
    """
    array = operand_of(operand)
    places = normalize_axes(tuple(dimensions), len(shape_of(array)))
    return bind1(layout.REVERSE, array, attributes={"dimensions": places})


def concatenate(operands: Sequence[Any], dimension: int) -> Any:
    """Return arrays of one dtype joined along a dimension.

    Examples
    --------
    >>> concatenate([np.array([1, 2]), np.array([3])], 0)
    Array([1, 2, 3])
    """
    arrays = [operand_of(x) for x in operands]
    if not arrays:
        raise ArgumentError("lax.concatenate: no operands", where=capture_location())
    return concatenate_arrays(arrays, normalize_axis(dimension, len(shape_of(arrays[0]))))


def stack(operands: Sequence[Any], axis: int = 0) -> Any:
    """Return arrays of one shape and dtype joined along a new dimension.

    Examples
    --------
    >>> stack([np.array([1, 2]), np.array([3, 4])], 1).tolist()
    [[1, 3], [2, 4]]
    """
    return concatenate([expand_dims(x, (axis,)) for x in operands], axis)


def unstack(x: Any, axis: int = 0) -> tuple[Any, ...]:
    """Return the slices along a dimension.

    Examples
    --------
    >>> unstack(np.array([[1, 2], [3, 4]]))
    (Array([1, 2]), Array([3, 4]))
    """
    value = operand_of(x)
    return tuple(index_in_dim(value, k, axis, keepdims=False) for k in range(shape_of(value)[axis]))


def tile(operand: Any, reps: Sequence[int]) -> Any:
    """Return the operand repeated along each dimension.

    Examples
    --------
    >>> tile(np.array([1, 2]), (2,))
    Array([1, 2, 1, 2])
    """
    array = operand_of(operand)
    for axis, count in enumerate(reps):
        array = concatenate_arrays([array] * count, axis) if count != 1 else array
    return array


def split(operand: Any, sizes: Sequence[int], axis: int = 0) -> list[Any]:
    """Return pieces of given extents along a dimension.

    Examples
    --------
    >>> split(np.arange(5), (2, 3))
    [Array([0, 1]), Array([2, 3, 4])]
    """
    ends = np.cumsum([0, *sizes]).tolist()
    return [slice_in_dim(operand, low, high, axis=axis) for low, high in pairwise(ends)]


def pad(operand: Any, padding_value: Any, padding_config: Sequence[tuple[int, int, int]]) -> Any:
    """Return the operand with a value around and between its elements: (low, high, interior) for each dimension.

    Examples
    --------
    >>> pad(np.array([1, 2]), 0, [(1, 0, 1)])
    Array([0, 1, 0, 2])
    """
    array = operand_of(operand)
    low, high, interior = (tuple(int(c[k]) for c in padding_config) for k in range(3))
    attributes = {"edge_padding_low": low, "edge_padding_high": high, "interior_padding": interior}
    return bind1(layout.PAD, array, convert(operand_of(padding_value), array.dtype), attributes=attributes)


def slice(
    operand: Any, start_indices: Sequence[int], limit_indices: Sequence[int], strides: Sequence[int] | None = None
) -> Any:
    """Return a rectangle known while tracing.

    Examples
    --------
    >>> slice(np.arange(6), (1,), (6,), (2,))
    Array([1, 3, 5])
    """
    array = operand_of(operand)
    steps = (1,) * len(shape_of(array)) if strides is None else strides
    attributes = {
        "start_indices": shape_tuple(tuple(start_indices)),
        "limit_indices": shape_tuple(tuple(limit_indices)),
        "strides": shape_tuple(tuple(steps)),
    }
    return bind1(layout.SLICE, array, attributes=attributes)


def slice_in_dim(operand: Any, start_index: int | None, limit_index: int | None, stride: int = 1, axis: int = 0) -> Any:
    """Return a slice along one dimension; negative indices count from the end.

    Examples
    --------
    >>> slice_in_dim(np.arange(6), 1, -1, 2)
    Array([1, 3])
    """
    shape = shape_of(operand_of(operand))
    place = normalize_axis(axis, len(shape))
    low, high, _ = builtin_slice(start_index, limit_index).indices(shape[place])
    starts, limits, strides = [0] * len(shape), list(shape), [1] * len(shape)
    starts[place], limits[place], strides[place] = low, max(low, high), stride
    return slice(operand, starts, limits, strides)


def index_in_dim(operand: Any, index: int, axis: int = 0, keepdims: bool = True) -> Any:
    """Return one slice along a dimension, at an index known while tracing.

    Examples
    --------
    >>> index_in_dim(np.array([[1, 2], [3, 4]]), -1, keepdims=False)
    Array([3, 4])
    """
    extent = shape_of(operand_of(operand))[axis]
    if not -extent <= index < extent:
        raise IndexError(f"index {index} is out of bounds for axis {axis} with size {extent}")
    place = index % extent
    found = slice_in_dim(operand, place, place + 1, axis=axis)
    return found if keepdims else squeeze(found, (axis,))


def optimization_barrier(operand: Any, /) -> Any:
    """Return a pytree unchanged; no optimization moves work across it.

    Examples
    --------
    >>> optimization_barrier((np.array(1), {"a": np.array(2)}))
    (Array(1), {'a': Array(2)})
    """
    leaves, tree = tree_flatten(operand)
    return tree_unflatten(tree, bind(control_flow.OPTIMIZATION_BARRIER, *[operand_of(x) for x in leaves]))
