"""What devices get from their neighbours along an axis of a mesh: shifted arrays, and halos around their parts.

Both are `ppermute` and what is linear, so they have derivatives of every kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numhlo.library.lax.collective_moves import ppermute
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, ShapeError
from numhlo.tracer.building import (
    AxisName,
    asarray,
    concatenate_arrays,
    normalize_axis,
    shape_of,
    size_of,
    slice_axis,
    tree_map,
)


def sendrecv(x: Any, axis_name: AxisName, steps: int = 1, periodic: bool = False) -> Any:
    """Send arrays some devices on along an axis, and return what arrives from the other side.

    Parameters
    ----------
    x : pytree of arrays
    axis_name : hashable
    steps : int, optional
        How many devices on; negative: towards the first one.
    periodic : bool, optional
        Whether the first device follows the last. Otherwise those that nobody sends anything get zeros.

    Returns
    -------
    pytree of arrays
        Of the same shapes.

    Raises
    ------
    NameError
        If there is no such axis.

    Examples
    --------
    >>> import numpy as np
    >>> from numhlo.tracer.transformations.vectorizing import vmap
    >>> x = np.array([1.0, 2.0, 3.0])
    >>> vmap(lambda x: sendrecv(x, "i"), axis_name="i")(x)
    Array([0., 1., 2.])
    >>> vmap(lambda x: sendrecv(x, "i", -1, periodic=True), axis_name="i")(x)
    Array([2., 3., 1.])
    """
    size = size_of(axis_name, "sendrecv")
    targets = [(k, k + steps) for k in range(size)]
    if periodic:
        return ppermute(x, axis_name, [(k, target % size) for k, target in targets])
    return ppermute(x, axis_name, [(k, target) for k, target in targets if 0 <= target < size])


def halo_exchange(
    x: Any,
    axis_name: AxisName,
    width: int | tuple[int, int] = 1,
    periodic: bool | Sequence[bool] = False,
    *,
    dimension: int | Sequence[int] = 0,
) -> Any:
    """Return a device's part of an array with a halo: what lies beside it in the parts of its neighbours.

    Parameters
    ----------
    x : pytree of arrays
        A device's parts, cut along a dimension over an axis of the mesh.
    axis_name : hashable, or tuple of them
        The axis; of several, each cuts one dimension, and the halo has corners.
    width : int, or (int, int), optional
        Elements on either side, or those before and those behind.
    periodic : bool, or sequence of bool, optional
        Whether the first part follows the last. Otherwise the halo is zero outside the array.
    dimension : int, or sequence of int, optional
        The dimension that is cut; one for each axis, the first ones by default.

    Returns
    -------
    pytree of arrays
        Longer along the dimension, by both widths.

    Raises
    ------
    ShapeError
        If a part is shorter than the halo.
    ArgumentError
        If a width is negative, or there is not one dimension for each axis.
    NameError
        If there is no such axis.

    Examples
    --------
    >>> import numpy as np
    >>> from numhlo.library.sharding.meshes import PartitionSpec, make_mesh
    >>> from numhlo.library.sharding.shard_map import shard_map
    >>> rows = PartitionSpec("x")
    >>> def sums_of_three(part):
    ...     wide = halo_exchange(part, "x", 1, periodic=True)
    ...     return wide[:-2] + wide[1:-1] + wide[2:]
    >>> shard_map(sums_of_three, mesh=make_mesh((2,), "x"), in_specs=rows, out_specs=rows)(np.arange(6.0))
    Array([ 6.,  3.,  6.,  9., 12.,  9.])
    """
    names = axis_name if isinstance(axis_name, tuple) else (axis_name,)
    before, behind = width if isinstance(width, tuple) else (width, width)
    cut = tuple(range(len(names))) if dimension == 0 and len(names) > 1 else dimension
    dimensions = (cut,) if isinstance(cut, int) else tuple(cut)
    wraps = (periodic,) * len(names) if isinstance(periodic, bool) else tuple(periodic)
    if min(before, behind) < 0 or len(dimensions) != len(names) or len(wraps) != len(names):
        raise ArgumentError(
            f"halo_exchange: width={width!r}, periodic={periodic!r}, dimension={dimension!r} for axes {names}",
            where=capture_location(),
            fix="give widths of 0 or more, and one dimension for each axis",
        )

    def one(leaf: Any) -> Any:
        array = asarray(leaf)
        for name, place, wrap in zip(names, dimensions, wraps, strict=True):
            array = _with_halo(array, name, normalize_axis(place, len(shape_of(array))), (before, behind), wrap)
        return array

    return tree_map(one, x)


def _with_halo(array: Any, name: AxisName, dimension: int, width: tuple[int, int], periodic: bool) -> Any:
    extent, (before, behind) = shape_of(array)[dimension], width
    if extent < max(width):
        raise ShapeError(
            f"halo_exchange: a halo of {max(width)} beside a part of {extent} along dimension {dimension}",
            where=capture_location(),
            why="it comes from the nearest neighbours alone",
            fix="use fewer devices, or several exchanges",
        )
    parts = [array]
    if before:
        parts.insert(0, sendrecv(slice_axis(array, extent - before, extent, dimension), name, 1, periodic))
    if behind:
        parts.append(sendrecv(slice_axis(array, 0, behind, dimension), name, -1, periodic))
    return concatenate_arrays(parts, dimension)
