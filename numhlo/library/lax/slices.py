"""Slices under JAX's names whose start may be traced; starts are clamped so that the slice fits.

They run outside tracing too. Windows at many positions at once are in `indexing`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.library.lax.joining import unstack
from numhlo.library.lax.operands import in_width_of
from numhlo.library.lax.structure import expand_dims, squeeze, transpose
from numhlo.library.numpy.indexing import advanced_indexing as advanced
from numhlo.library.numpy.reshaping import shape_tuple
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, DTypeError, OperandError
from numhlo.lowering.ops import indexing
from numhlo.tracer.building import bind1, normalize_axis, operand_of, reshape_to, runs_anywhere, shape_of, spelling
from numhlo.tracer.building import operations as b

__all__ = [
    "dynamic_index_in_dim", "dynamic_slice", "dynamic_slice_in_dim", "dynamic_update_index_in_dim",
    "dynamic_update_slice", "dynamic_update_slice_in_dim", "index_take",
]  # fmt: skip


def _starts(name: str, start_indices: Any, allow_negative: bool | Sequence[bool], operand: Any) -> list[Any]:
    ndim = len(shape_of(operand))
    entries = list(start_indices) if isinstance(start_indices, list | tuple) else list(unstack(start_indices))
    if len(entries) != ndim:
        raise OperandError(
            f"lax.{name}: {len(entries)} start indices for {spelling(operand)}",
            where=capture_location(),
            fix="give one index for each dimension",
        )
    wraps = [allow_negative] * ndim if isinstance(allow_negative, bool) else list(allow_negative)
    starts = []
    for entry, extent, wrap in zip(entries, shape_of(operand), wraps, strict=True):
        index = operand_of(entry)
        if shape_of(index) != () or index.dtype.kind not in "iu":
            raise OperandError(
                f"lax.{name}: a start index is {spelling(index)}", where=capture_location(), fix="use scalars"
            )
        if not wrap and isinstance(entry, int) and entry < 0:
            raise OperandError(
                f"lax.{name}: start {entry} with allow_negative_indices=False",
                where=capture_location(),
                fix=f"count from the start: {entry + extent}",
            )
        starts.append(advanced.wrap_negative(index, extent) if wrap else index)
    return [np.asarray(s, np.int64) if not hasattr(s, "aval") else s for s in starts]


def dynamic_slice(
    operand: Any,
    start_indices: Any,
    slice_sizes: Sequence[int],
    *,
    allow_negative_indices: bool | Sequence[bool] = True,
) -> Any:
    """Return a rectangle of known extents whose start may be traced; starts are clamped so that it fits.

    Negative starts count from the end.

    Parameters
    ----------
    operand : array_like
    start_indices : sequence of scalar int, or integer array
        One for each dimension.
    slice_sizes : sequence of int
        Known while tracing, and no greater than the operand's extents.
    allow_negative_indices : bool or sequence of bool, optional
        Without, negative starts are clamped, too.

    Returns
    -------
    Array
        Of shape ``slice_sizes``.

    Raises
    ------
    OperandError
        If there is not a scalar start for each dimension.

    Notes
    -----
    StableHLO specification, section ``dynamic_slice``.

    Examples
    --------
    >>> dynamic_slice(np.arange(6), (4,), (3,))
    Array([3, 4, 5])
    """
    array = operand_of(operand)
    sizes = shape_tuple(tuple(slice_sizes))
    starts = _starts("dynamic_slice", start_indices, allow_negative_indices, array)
    return bind1(indexing.DYNAMIC_SLICE, array, *starts, attributes={"slice_sizes": sizes})


def dynamic_update_slice(
    operand: Any, update: Any, start_indices: Any, *, allow_negative_indices: bool | Sequence[bool] = True
) -> Any:
    """Return the operand with a rectangle replaced; starts are clamped so that it fits.

    Parameters
    ----------
    operand : array_like
    update : array_like
        Of as many dimensions and the operand's dtype, no larger in any.
    start_indices : sequence of scalar int, or integer array
        One for each dimension.
    allow_negative_indices : bool or sequence of bool, optional
        Without, negative starts are clamped, too.

    Returns
    -------
    Array
        Of the operand's shape and dtype.

    Raises
    ------
    OperandError
        If the update does not fit, or there is not a scalar start for each dimension.
    DTypeError
        If the update has another dtype.

    Notes
    -----
    StableHLO specification, section ``dynamic_update_slice``.

    Examples
    --------
    >>> dynamic_update_slice(np.arange(4), np.array([9, 9]), (1,))
    Array([0, 9, 9, 3])
    """
    array = operand_of(operand)
    new = in_width_of(array, operand_of(update))
    if len(shape_of(new)) != len(shape_of(array)) or any(
        n > m for n, m in zip(shape_of(new), shape_of(array), strict=True)
    ):
        raise OperandError(
            f"lax.dynamic_update_slice: {spelling(new)} does not fit into {spelling(array)}", where=capture_location()
        )
    if new.dtype != array.dtype:
        raise DTypeError(
            f"lax.dynamic_update_slice: {spelling(new)} into {spelling(array)}",
            where=capture_location(),
            fix="convert the update with lax.convert_element_type",
        )
    starts = _starts("dynamic_update_slice", start_indices, allow_negative_indices, array)
    return bind1(indexing.DYNAMIC_UPDATE_SLICE, array, new, *starts)


def _place(operand: Any, axis: int, index: Any) -> tuple[Any, int, list[Any]]:
    array = operand_of(operand)
    place = normalize_axis(axis, len(shape_of(array)))
    starts: list[Any] = [0] * len(shape_of(array))
    starts[place] = index
    return array, place, starts


def dynamic_slice_in_dim(
    operand: Any, start_index: Any, slice_size: int, axis: int = 0, *, allow_negative_indices: bool = True
) -> Any:
    """Return a slice of known extent along one dimension, whose start may be traced.

    Parameters
    ----------
    operand : array_like
    start_index : scalar int
        Clamped so that the slice fits; negative ones count from the end.
    slice_size : int
        Known while tracing.
    axis : int, optional
    allow_negative_indices : bool, optional
        Without, negative starts are clamped, too.

    Returns
    -------
    Array

    Examples
    --------
    >>> dynamic_slice_in_dim(np.arange(6), 5, 3)
    Array([3, 4, 5])
    """
    array, place, starts = _place(operand, axis, start_index)
    sizes = [slice_size if k == place else n for k, n in enumerate(shape_of(array))]
    return dynamic_slice(array, starts, sizes, allow_negative_indices=allow_negative_indices)


def dynamic_index_in_dim(
    operand: Any, index: Any, axis: int = 0, keepdims: bool = True, *, allow_negative_indices: bool = True
) -> Any:
    """Return one slice along a dimension, at an index that may be traced.

    Parameters
    ----------
    operand : array_like
    index : scalar int
        Clamped; negative ones count from the end.
    axis : int, optional
    keepdims : bool, optional
        Keep the dimension, with extent 1.
    allow_negative_indices : bool, optional
        Without, negative starts are clamped, too.

    Returns
    -------
    Array

    Examples
    --------
    >>> dynamic_index_in_dim(np.array([[1, 2], [3, 4]]), 1, keepdims=False)
    Array([3, 4])
    """
    found = dynamic_slice_in_dim(operand, index, 1, axis, allow_negative_indices=allow_negative_indices)
    return found if keepdims else squeeze(found, (axis,))


def dynamic_update_slice_in_dim(
    operand: Any, update: Any, start_index: Any, axis: int, *, allow_negative_indices: bool = True
) -> Any:
    """Return the operand with a slice along one dimension replaced.

    Parameters
    ----------
    operand, update : array_like
        Of one dtype.
    start_index : scalar int
        Clamped so that the update fits; negative ones count from the end.
    axis : int
    allow_negative_indices : bool, optional
        Without, negative starts are clamped, too.

    Returns
    -------
    Array
        Of the operand's shape and dtype.

    Raises
    ------
    OperandError, DTypeError
        If the update does not fit.

    Examples
    --------
    >>> dynamic_update_slice_in_dim(np.arange(4), np.array([9, 9]), 3, 0)
    Array([0, 1, 9, 9])
    """
    array, _, starts = _place(operand, axis, start_index)
    return dynamic_update_slice(array, update, starts, allow_negative_indices=allow_negative_indices)


def dynamic_update_index_in_dim(
    operand: Any, update: Any, index: Any, axis: int, *, allow_negative_indices: bool = True
) -> Any:
    """Return the operand with one slice along a dimension replaced.

    Parameters
    ----------
    operand : array_like
    update : array_like
        With or without the dimension, of the operand's dtype.
    index : scalar int
        Clamped; negative ones count from the end.
    axis : int
    allow_negative_indices : bool, optional
        Without, negative starts are clamped, too.

    Returns
    -------
    Array
        Of the operand's shape and dtype.

    Raises
    ------
    OperandError, DTypeError
        If the update does not fit.

    Examples
    --------
    >>> dynamic_update_index_in_dim(np.arange(4), 9, 2, 0)
    Array([0, 1, 9, 3])
    """
    array, place, _ = _place(operand, axis, index)
    new = operand_of(update)
    if len(shape_of(new)) < len(shape_of(array)):
        new = expand_dims(new, (place,))
    return dynamic_update_slice_in_dim(array, new, index, place, allow_negative_indices=allow_negative_indices)


@runs_anywhere
def index_take(src: Any, idxs: Sequence[Any], axes: Sequence[int]) -> Any:
    """Return slices at integer index vectors along several dimensions; they come first in the result.

    Parameters
    ----------
    src : array_like
    idxs : sequence of array_like of int
        Of one length; clamped, and negative ones count from the end.
    axes : sequence of int
        As many.

    Returns
    -------
    Array
        Of shape ``(length, *other dimensions)``.

    Raises
    ------
    ArgumentError
        If there is not one vector for each axis.

    Examples
    --------
    >>> index_take(np.array([[1, 2], [3, 4]]), (np.array([0, 1]), np.array([1, 0])), (0, 1))
    Array([2, 3])
    """
    array = operand_of(src)
    if len(idxs) != len(axes) or any(len(shape_of(column)) != 1 for column in idxs):
        raise ArgumentError(
            f"lax.index_take: {len(idxs)} indices for axes={(*axes,)}",
            where=capture_location(),
            fix="give a vector of indices for each axis",
        )
    order = (*axes, *[k for k in range(len(shape_of(array))) if k not in axes])
    rows = transpose(array, order)
    shape = shape_of(rows)
    flat = reshape_to(rows, (int(np.prod(shape[: len(axes)], dtype=np.int64)), *shape[len(axes) :]))
    index: Any = 0
    for extent, column in zip(shape, idxs, strict=False):
        inside = advanced.bound(advanced.wrap_negative(operand_of(column), extent), extent, "clip")
        index = inside if isinstance(index, int) else b.add(b.multiply(index, extent), inside)
    return advanced.take(flat, index, 0, "clip")
