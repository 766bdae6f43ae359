"""Arrays joined, padded and cut at places known while tracing, under JAX's names.

They run outside tracing too. Slices whose start is traced are in `slices`, shapes in `structure`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from numhlo.library.documentation import described
from numhlo.library.lax.operands import of_one_width
from numhlo.library.lax.structure import expand_dims, squeeze
from numhlo.library.numpy.reshaping import shape_tuple
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.lowering.ops import layout
from numhlo.tracer.building import bind1, concatenate_arrays, convert, normalize_axis, operand_of, shape_of, spelling

__all__ = ["concatenate", "index_in_dim", "pad", "slice", "slice_in_dim", "split", "stack", "tile", "unstack"]

_OPERAND = """
Parameters
----------
operand : array_like
axis : int, optional

Returns
-------
Array
"""


def concatenate(operands: Sequence[Any], dimension: int) -> Any:
    """Return arrays of one dtype joined along a dimension.

    Parameters
    ----------
    operands : sequence of array_like
        Of one dtype, and equal extents along all other dimensions.
    dimension : int

    Returns
    -------
    Array

    Raises
    ------
    ArgumentError
        If there are none.
    VerificationError
        If dtypes or extents differ.

    Notes
    -----
    StableHLO specification, section ``concatenate``.

    Examples
    --------
    >>> concatenate([np.array([1, 2]), np.array([3])], 0)
    Array([1, 2, 3])
    """
    arrays = [operand_of(x) for x in of_one_width(*operands)]
    if not arrays:
        raise ArgumentError("lax.concatenate: no operands", where=capture_location())
    return concatenate_arrays(arrays, normalize_axis(dimension, len(shape_of(arrays[0]))))


def stack(operands: Sequence[Any], axis: int = 0) -> Any:
    """Return arrays of one shape and dtype joined along a new dimension.

    Parameters
    ----------
    operands : sequence of array_like
        Of one shape and dtype.
    axis : int, optional
        Where the new dimension stands in the result.

    Returns
    -------
    Array

    Raises
    ------
    ArgumentError
        If there are none.

    Examples
    --------
    >>> stack([np.array([1, 2]), np.array([3, 4])], 1).tolist()
    [[1, 3], [2, 4]]
    """
    return concatenate([expand_dims(x, (axis,)) for x in operands], axis)


def unstack(x: Any, axis: int = 0) -> tuple[Any, ...]:
    """Return the slices along a dimension.

    Parameters
    ----------
    x : array_like
    axis : int, optional

    Returns
    -------
    tuple of Array
        Without the dimension; as many as it has elements.

    Examples
    --------
    >>> unstack(np.array([[1, 2], [3, 4]]))
    (Array([1, 2]), Array([3, 4]))
    """
    value = operand_of(x)
    place = normalize_axis(axis, len(shape_of(value)))
    return tuple(index_in_dim(value, k, place, keepdims=False) for k in range(shape_of(value)[place]))


@described(_OPERAND)
def tile(operand: Any, reps: Sequence[int]) -> Any:
    """Return the operand repeated along each dimension.

    Parameters
    ----------
    reps : sequence of int
        One for each of the leading dimensions; the rest stay as they are.

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

    Parameters
    ----------
    operand : array_like
    sizes : sequence of int
        Which together make the extent.
    axis : int, optional

    Returns
    -------
    list of Array

    Raises
    ------
    ArgumentError
        If they don't, or some are negative.

    Examples
    --------
    >>> split(np.arange(5), (2, 3))
    [Array([0, 1]), Array([2, 3, 4])]
    """
    shape = shape_of(operand_of(operand))
    extent = shape[normalize_axis(axis, len(shape))]
    if min(sizes, default=0) < 0 or sum(sizes) != extent:
        raise ArgumentError(
            f"lax.split: sizes={(*sizes,)} of an extent of {extent}",
            where=capture_location(),
            fix="give sizes that together make the extent",
        )
    ends = np.cumsum([0, *sizes]).tolist()
    return [slice_in_dim(operand, low, high, axis=axis) for low, high in pairwise(ends)]


@described(_OPERAND)
def pad(operand: Any, padding_value: Any, padding_config: Sequence[tuple[int, int, int]]) -> Any:
    """Return the operand with a value around and between its elements: (low, high, interior) for each dimension.

    Parameters
    ----------
    padding_value : scalar
        Converted to the operand's dtype.
    padding_config : sequence of (int, int, int)
        A negative low or high takes elements away; interior ones are not negative.

    Raises
    ------
    VerificationError
        If the configuration does not fit.

    Notes
    -----
    StableHLO specification, section ``pad``.

    Examples
    --------
    >>> pad(np.array([1, 2]), 0, [(1, 0, 1)])
    Array([0, 1, 0, 2])
    """
    array = operand_of(operand)
    if len(padding_config) != array.ndim or any(len(c) != 3 for c in padding_config):
        raise ArgumentError(
            f"lax.pad: padding_config={padding_config} for {spelling(array)}",
            where=capture_location(),
            fix="give (low, high, interior) for each dimension",
        )
    low, high, interior = (tuple(int(c[k]) for c in padding_config) for k in range(3))
    attributes = {"edge_padding_low": low, "edge_padding_high": high, "interior_padding": interior}
    return bind1(layout.PAD, array, convert(operand_of(padding_value), array.dtype), attributes=attributes)


@described(_OPERAND)
def slice(
    operand: Any, start_indices: Sequence[int], limit_indices: Sequence[int], strides: Sequence[int] | None = None
) -> Any:
    """Return a rectangle known while tracing.

    Parameters
    ----------
    start_indices, limit_indices : sequence of int
        One for each dimension, with ``0 <= start <= limit <= extent``.
    strides : sequence of int, optional
        Positive; 1 by default.

    Raises
    ------
    VerificationError
        If a bound lies outside: nothing is clipped.

    Notes
    -----
    StableHLO specification, section ``slice``.

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


@described(_OPERAND)
def slice_in_dim(operand: Any, start_index: int | None, limit_index: int | None, stride: int = 1, axis: int = 0) -> Any:
    """Return a slice along one dimension; negative indices count from the end.

    Parameters
    ----------
    start_index, limit_index : int or None
        Negative ones count from the end.
    stride : int, optional
        Positive.

    Raises
    ------
    VerificationError
        If the slice does not lie in the dimension.

    Examples
    --------
    >>> slice_in_dim(np.arange(6), 1, -1, 2)
    Array([1, 3])
    """
    shape = shape_of(operand_of(operand))
    place = normalize_axis(axis, len(shape))
    starts, limits, strides = [0] * len(shape), list(shape), [1] * len(shape)
    if start_index is not None:
        starts[place] = start_index + (start_index < 0) * shape[place]
    if limit_index is not None:
        limits[place] = limit_index + (limit_index < 0) * shape[place]
    strides[place] = stride
    return slice(operand, starts, limits, strides)


@described(_OPERAND)
def index_in_dim(operand: Any, index: int, axis: int = 0, keepdims: bool = True) -> Any:
    """Return one slice along a dimension, at an index known while tracing.

    Parameters
    ----------
    index : int
        Negative ones count from the end.
    keepdims : bool, optional
        Keep the dimension, with extent 1.

    Raises
    ------
    IndexError
        If there is no such slice.

    Examples
    --------
    >>> index_in_dim(np.array([[1, 2], [3, 4]]), -1, keepdims=False)
    Array([3, 4])
    """
    extent = shape_of(operand_of(operand))[normalize_axis(axis, len(shape_of(operand_of(operand))))]
    if not -extent <= index < extent:
        raise IndexError(f"index {index} is out of bounds for axis {axis} with size {extent}")
    place = index % extent
    found = slice_in_dim(operand, place, place + 1, axis=axis)
    return found if keepdims else squeeze(found, (axis,))
