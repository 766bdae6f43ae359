"""`gather` and the scatters under JAX's names: windows read from, and written to, positions that may be traced.

Each is one StableHLO op, and what a `GatherScatterMode` asks for around it. Indices are never counted from the end.
They run outside tracing too. Slices are in `slices`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numhlo.library.lax.arguments import GatherDimensionNumbers, GatherScatterMode, ScatterDimensionNumbers
from numhlo.library.lax.operands import in_width_of
from numhlo.lowering.ir import TensorType, capture_location
from numhlo.lowering.ir.errors import DTypeError
from numhlo.lowering.ops import indexing
from numhlo.lowering.ops.dimension_numbers import GatherDimensionNumbers as GatherNumbers
from numhlo.lowering.ops.dimension_numbers import ScatterDimensionNumbers as ScatterNumbers
from numhlo.tracer.building import (
    asarray,
    bind1,
    broadcast_to_shape,
    combiner_region,
    convert,
    full_of,
    reshape_to,
    runs_anywhere,
    shape_of,
    spelling,
    trace_region,
)
from numhlo.tracer.building import operations as b

__all__ = [
    "gather", "scatter", "scatter_add", "scatter_apply", "scatter_max", "scatter_min", "scatter_mul", "scatter_sub",
]  # fmt: skip


def _positions(indices: Any, name: str) -> Any:
    """Return indices as int64, so that limits of any extent can be compared with them."""
    array = asarray(indices)
    if array.dtype.kind not in "iu":
        raise DTypeError(
            f"lax.{name}: indices are {spelling(array)}", where=capture_location(), fix="convert them to integers"
        )
    if array.dtype == np.uint64:
        array = b.minimum(array, np.iinfo(np.int64).max)
    return convert(array, np.int64)


def _limits(shape: Sequence[int], window: Sequence[int], axes: Sequence[int], indices: Any) -> Any:
    """Return the greatest starts at which a window fits, in the indices' shape."""
    row = np.array([shape[d] - window[d] for d in axes], np.int64)
    return broadcast_to_shape(row, shape_of(indices))


def _clipped(indices: Any, limits: Any) -> Any:
    return b.minimum(b.maximum(indices, 0), limits)


def _fits(indices: Any, limits: Any) -> Any:
    """Return where all components of an index vector are in bounds."""
    inside = b.both(b.at_least(indices, 0), b.at_most(indices, limits))
    shape = shape_of(indices)
    if shape[-1] == 0:
        return full_of(True, shape[:-1], np.dtype(bool))
    columns = [_column(inside, k) for k in range(shape[-1])]
    found = columns[0]
    for column in columns[1:]:
        found = b.both(found, column)
    return found


def _column(x: Any, k: int) -> Any:
    return reshape_to(asarray(x)[..., k : k + 1], shape_of(x)[:-1])


def _default_fill(dtype: np.dtype) -> Any:
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return limits.min if dtype.kind == "i" else limits.max
    return True if dtype.kind == "b" else np.nan


@runs_anywhere
def gather(
    operand: Any,
    start_indices: Any,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Sequence[int],
    *,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    mode: Any = None,
    fill_value: Any = None,
) -> Any:
    """Return windows of an array that start at index vectors.

    Parameters
    ----------
    operand : array
    start_indices : integer array, shape (..., n)
        Index vectors along the last dimension; not counted from the end where negative.
    dimension_numbers : GatherDimensionNumbers
    slice_sizes : sequence of int
        The window's extents, one a dimension of the operand.
    unique_indices, indices_are_sorted : bool, optional
        Promises about the indices.
    mode : GatherScatterMode or str, optional
        For windows that are not inside: ``"clip"`` (the default), ``"fill"`` or ``"promise_in_bounds"``.
    fill_value : scalar, optional
        By default NaN, the least signed or greatest unsigned integer, or True.

    Returns
    -------
    Array
        Of the operand's dtype: a window for each index vector.

    Raises
    ------
    VerificationError
        If the dimension numbers do not fit; constraints are numbered as in the StableHLO specification.
    DTypeError
        If the indices are no integers.

    Notes
    -----
    Source: StableHLO specification, "gather".

    Examples
    --------
    >>> rows = GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,))
    >>> gather(np.array([[1, 2], [3, 4]]), np.array([[1], [0]]), rows, (1, 2)).tolist()
    [[3, 4], [1, 2]]
    """
    array, indices = asarray(operand), _positions(start_indices, "gather")
    d, sizes, chosen = dimension_numbers, tuple(int(n) for n in slice_sizes), GatherScatterMode.of(mode or "clip")
    numbers = GatherNumbers(
        offset_dims=tuple(d.offset_dims),
        collapsed_slice_dims=tuple(d.collapsed_slice_dims),
        operand_batching_dims=tuple(d.operand_batching_dims),
        start_indices_batching_dims=tuple(d.start_indices_batching_dims),
        start_index_map=tuple(d.start_index_map),
        index_vector_dim=max(len(shape_of(indices)) - 1, 0),
    )
    attributes = {"dimension_numbers": numbers, "slice_sizes": sizes, "indices_are_sorted": indices_are_sorted}
    found = bind1(indexing.GATHER, array, indices, attributes=attributes)
    if chosen is not GatherScatterMode.FILL_OR_DROP:
        return found
    shape = shape_of(found)
    fits = _fits(indices, _limits(shape_of(array), sizes, d.start_index_map, indices))
    spread = iter(shape_of(fits))
    wide = tuple(1 if k in d.offset_dims else next(spread) for k in range(len(shape)))
    mask = broadcast_to_shape(reshape_to(fits, wide), shape)
    filler = _default_fill(array.dtype) if fill_value is None else fill_value
    return b.select(mask, found, full_of(filler, shape, array.dtype))


def _apply_scatter(name: str, operands: Sequence[Any], d: ScatterDimensionNumbers, hints: Any, region: Any) -> Any:
    array, indices, updates = operands
    updates = in_width_of(array, updates)
    if updates.dtype != array.dtype:
        raise DTypeError(
            f"lax.{name}: updates {spelling(updates)} into {spelling(array)}",
            where=capture_location(),
            fix="convert the updates with lax.convert_element_type",
        )
    numbers = ScatterNumbers(
        update_window_dims=tuple(d.update_window_dims),
        inserted_window_dims=tuple(d.inserted_window_dims),
        input_batching_dims=tuple(d.operand_batching_dims),
        scatter_indices_batching_dims=tuple(d.scatter_indices_batching_dims),
        scatter_dims_to_operand_dims=tuple(d.scatter_dims_to_operand_dims),
        index_vector_dim=max(len(shape_of(indices)) - 1, 0),
    )
    indices_are_sorted, unique_indices, mode = hints
    if GatherScatterMode.of(mode) is GatherScatterMode.CLIP:
        window = numbers.window(len(shape_of(array)), shape_of(updates))
        limits = _limits(shape_of(array), window, numbers.scatter_dims_to_operand_dims, indices)
        indices = _clipped(indices, limits)
    attributes = {
        "scatter_dimension_numbers": numbers,
        "indices_are_sorted": indices_are_sorted,
        "unique_indices": unique_indices,
    }
    return bind1(indexing.SCATTER, array, indices, updates, attributes=attributes, regions=[region])


def _scattering(name: str, kind: str, what: str, example: str) -> Callable[..., Any]:
    def rule(
        operand: Any,
        scatter_indices: Any,
        updates: Any,
        dimension_numbers: ScatterDimensionNumbers,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
    ) -> Any:
        array, new = asarray(operand), asarray(updates)
        values = b.negate(new) if kind == "subtract" else new
        region = combiner_region("add" if kind == "subtract" else kind, array.dtype)
        operands = array, _positions(scatter_indices, name), values
        return _apply_scatter(name, operands, dimension_numbers, (indices_are_sorted, unique_indices, mode), region)

    rule.__name__ = rule.__qualname__ = name
    rule.__doc__ = _SCATTER_DOCUMENTATION.format(what=what, name=name, example=example)
    return runs_anywhere(rule)


_SCATTER_DOCUMENTATION = """Return an array with windows {what} updates, at index vectors.

    Parameters
    ----------
    operand : array
    scatter_indices : integer array, shape (..., n)
        Index vectors along the last dimension; not counted from the end where negative.
    updates : array
        Of the operand's dtype.
    dimension_numbers : ScatterDimensionNumbers
    indices_are_sorted, unique_indices : bool, optional
        Promises about the indices.
    mode : GatherScatterMode or str, optional
        For windows that are not inside: ``"drop"`` (the default), ``"clip"`` or ``"promise_in_bounds"``.

    Returns
    -------
    Array
        Of the operand's shape and dtype.

    Raises
    ------
    VerificationError
        If the dimension numbers do not fit; constraints are numbered as in the StableHLO specification.
    DTypeError
        If the updates have another dtype, or the indices are no integers.

    Notes
    -----
    Source: StableHLO specification, "scatter". Windows are written in the order of the indices, so where they overlap
    the last one counts.

    Examples
    --------
    >>> elements = ScatterDimensionNumbers((), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,))
    >>> {name}(np.array([5, 5, 5]), np.array([[0], [2], [2]]), np.array([1, 2, 9]), elements)
    {example}
    """

scatter = _scattering("scatter", "set", "replaced by", "Array([1, 5, 9])")
scatter_add = _scattering("scatter_add", "add", "increased by", "Array([ 6,  5, 16])")
scatter_max = _scattering("scatter_max", "maximum", "raised to", "Array([5, 5, 9])")
scatter_min = _scattering("scatter_min", "minimum", "lowered to", "Array([1, 5, 2])")
scatter_mul = _scattering("scatter_mul", "multiply", "multiplied by", "Array([ 5,  5, 90])")
scatter_sub = _scattering("scatter_sub", "subtract", "decreased by", "Array([ 4,  5, -6])")


@runs_anywhere
def scatter_apply(
    operand: Any,
    scatter_indices: Any,
    func: Callable[[Any], Any],
    dimension_numbers: ScatterDimensionNumbers,
    *,
    update_shape: Sequence[int] = (),
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Any:
    """Return an array with a function of scalars applied to the elements of windows, at index vectors.

    Parameters
    ----------
    operand : array
    scatter_indices : integer array, shape (..., n)
    func : callable
        From a scalar to a scalar; applied again where an index repeats.
    dimension_numbers : ScatterDimensionNumbers
    update_shape : sequence of int, optional
        The shape that updates would have.
    indices_are_sorted, unique_indices : bool, optional
    mode : GatherScatterMode or str, optional
        As for `scatter`.

    Returns
    -------
    Array
        Of the operand's shape and dtype.

    Raises
    ------
    VerificationError
        If the dimension numbers do not fit.

    Examples
    --------
    >>> elements = ScatterDimensionNumbers((), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,))
    >>> import numhlo.numpy  # gives traced arrays their operators
    >>> scatter_apply(np.array([1, 2, 3]), np.array([[2], [0]]), lambda x: -x, elements, update_shape=(2,))
    Array([-1,  2, -3])
    """
    array = asarray(operand)
    scalar = TensorType((), array.dtype)
    region = trace_region(lambda old, _: [convert(asarray(func(old)), array.dtype)], [scalar, scalar])
    operands = array, _positions(scatter_indices, "scatter_apply"), full_of(0, tuple(update_shape), array.dtype)
    return _apply_scatter(
        "scatter_apply", operands, dimension_numbers, (indices_are_sorted, unique_indices, mode), region
    )
