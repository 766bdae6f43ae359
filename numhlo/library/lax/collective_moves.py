"""Functions that move parts of arrays along a named axis: all_gather, all_to_all, ppermute, psum_scatter and their kin.

Reductions over the axis are in `collectives`; what becomes of them all is in `named_axes`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from numhlo.library.lax.collectives import names_of, refuse_groups
from numhlo.library.numpy.reshaping import reshape
from numhlo.lowering.ir import TensorType, capture_location
from numhlo.lowering.ir.errors import ArgumentError, ShapeError
from numhlo.tracer.building import (
    AxisName,
    Collective,
    asarray,
    bind_collective,
    normalize_axis,
    shape_of,
    size_of,
    tree_map,
)

__all__ = ["all_gather", "all_to_all", "pbroadcast", "ppermute", "pshuffle", "psum_scatter", "pswapaxes"]


def all_gather(
    x: Any, axis_name: AxisName, *, axis_index_groups: Any = None, axis: int = 0, tiled: bool = False
) -> Any:
    """Return the arrays of all lanes, stacked along a new ``axis``, or joined along an old one if ``tiled``.

    Parameters
    ----------
    x : pytree of arrays
        One lane's.
    axis_name : hashable, or tuple of them
        Of several, the last one runs fastest.
    axis_index_groups : None, optional
    axis : int, optional
    tiled : bool, optional

    Returns
    -------
    pytree of arrays
        The same for all lanes.

    Raises
    ------
    NameError
        If there is no such `vmap`.

    Examples
    --------
    >>> import numpy as np
    >>> from numhlo.tracer.transformations.vectorizing import vmap
    >>> vmap(lambda x: all_gather(x, "i")[::-1], axis_name="i")(np.array([1.0, 3.0]))
    Array([[3., 1.],
           [3., 1.]])
    """
    refuse_groups("all_gather", axis_index_groups)
    names = names_of(axis_name)

    def one(leaf: Any) -> Any:
        array = asarray(leaf)
        shape = shape_of(array)
        place = normalize_axis(axis, len(shape) + (not tiled))
        count = math.prod(size_of(name, "all_gather") for name in names)
        for name in reversed(names):
            size = size_of(name, "all_gather")
            now = shape_of(array)
            type = TensorType((*now[:place], size, *now[place:]), array.dtype)
            array = bind_collective(Collective("all_gather", name, size, (place,)), array, type)
        rest = shape[place:] if not tiled else shape[place + 1 :]
        wide = (*shape[:place], count * shape[place] if tiled else count, *rest)
        return array if shape_of(array) == wide else reshape(array, wide)

    return tree_map(one, x)


def all_to_all(
    x: Any,
    axis_name: AxisName,
    split_axis: int,
    concat_axis: int,
    *,
    axis_index_groups: Any = None,
    tiled: bool = False,
) -> Any:
    """Send a part of each lane's array to each lane: the lanes and ``split_axis`` are exchanged.

    Parameters
    ----------
    x : pytree of arrays
    axis_name : hashable
    split_axis : int
        As long as there are lanes (a multiple, if ``tiled``); part k goes to lane k.
    concat_axis : int
        Where the parts that a lane gets are stacked (joined, if ``tiled``).
    axis_index_groups : None, optional
    tiled : bool, optional

    Returns
    -------
    pytree of arrays

    Raises
    ------
    ShapeError
        If ``split_axis`` has another extent.
    NameError
        If there is no such `vmap`.

    Examples
    --------
    >>> import numpy as np
    >>> from numhlo.tracer.transformations.vectorizing import vmap
    >>> vmap(lambda x: all_to_all(x, "i", 0, 0), axis_name="i")(np.array([[1, 2], [3, 4]]))
    Array([[1, 3],
           [2, 4]])
    """
    refuse_groups("all_to_all", axis_index_groups)

    def one(leaf: Any) -> Any:
        array = asarray(leaf)
        size = size_of(axis_name, "all_to_all")
        shape = shape_of(array)
        split, made = normalize_axis(split_axis, len(shape)), normalize_axis(concat_axis, len(shape))
        if shape[split] % size or (shape[split] != size and not tiled):
            raise ShapeError(
                f"all_to_all: axis {split} of extent {shape[split]} for {size} lanes",
                where=capture_location(),
                fix="make it as long as there are lanes, or a multiple of that with tiled=True",
            )
        if tiled:
            rest = shape[split] // size
            array = reshape(array, (*shape[:split], size, rest, *shape[split + 1 :]))
            made += made > split
        kept = [n for k, n in enumerate(shape_of(array)) if k != split]
        place = made - (made > split) if tiled else made
        type = TensorType((*kept[:place], size, *kept[place:]), array.dtype)
        found = bind_collective(Collective("all_to_all", axis_name, size, (split, place)), array, type)
        if not tiled:
            return found
        joined = shape_of(found)
        return reshape(found, (*joined[:place], joined[place] * joined[place + 1], *joined[place + 2 :]))

    return tree_map(one, x)


def ppermute(x: Any, axis_name: AxisName, perm: Sequence[tuple[int, int]]) -> Any:
    """Send arrays from lane to lane; lanes that get none have zeros.

    Parameters
    ----------
    x : pytree of arrays
    axis_name : hashable
    perm : sequence of (int, int)
        Source and destination.

    Returns
    -------
    pytree of arrays
        Of the same shapes.

    Raises
    ------
    ArgumentError
        If a lane is named twice as a source or as a destination, or does not exist.
    NameError
        If there is no such `vmap`.

    Examples
    --------
    >>> import numpy as np
    >>> from numhlo.tracer.transformations.vectorizing import vmap
    >>> vmap(lambda x: ppermute(x, "i", [(0, 1)]), axis_name="i")(np.array([1.0, 3.0]))
    Array([0., 1.])
    """
    size = size_of(axis_name, "ppermute")
    pairs = tuple((int(a), int(b)) for a, b in perm)
    for lanes in zip(*pairs, strict=True) if pairs else ():
        if len(set(lanes)) != len(lanes) or not all(0 <= k < size for k in lanes):
            raise ArgumentError(
                f"ppermute: perm={list(pairs)} for {size} lanes",
                where=capture_location(),
                fix="name each lane at most once as a source, and at most once as a destination",
            )

    def one(leaf: Any) -> Any:
        array = asarray(leaf)
        return bind_collective(
            Collective("ppermute", axis_name, size, (), pairs), array, TensorType(shape_of(array), array.dtype)
        )

    return tree_map(one, x)


def pshuffle(x: Any, axis_name: AxisName, perm: Sequence[int]) -> Any:
    """Return the array of lane ``perm[k]`` in lane k.

    Parameters
    ----------
    x : pytree of arrays
    axis_name : hashable
    perm : sequence of int
        A permutation of all lanes.

    Returns
    -------
    pytree of arrays

    Raises
    ------
    NameError
        If there is no such `vmap`.
    ArgumentError
        If a lane is named twice, or does not exist.

    Examples
    --------
    >>> import numpy as np
    >>> from numhlo.tracer.transformations.vectorizing import vmap
    >>> vmap(lambda x: pshuffle(x, "i", [1, 0]), axis_name="i")(np.array([1.0, 3.0]))
    Array([3., 1.])
    """
    return ppermute(x, axis_name, [(source, k) for k, source in enumerate(perm)])


def pswapaxes(x: Any, axis_name: AxisName, axis: int, *, axis_index_groups: Any = None) -> Any:
    """Exchange the lanes with an axis of the same extent.

    Parameters
    ----------
    x : pytree of arrays
    axis_name : hashable
    axis : int
    axis_index_groups : None, optional

    Returns
    -------
    pytree of arrays
        Of the same shapes.

    Raises
    ------
    ShapeError
        If the axis has another extent.
    NameError
        If there is no such `vmap`.

    Examples
    --------
    >>> import numpy as np
    >>> from numhlo.tracer.transformations.vectorizing import vmap
    >>> vmap(lambda x: pswapaxes(x, "i", 0), axis_name="i")(np.array([[1, 2], [3, 4]]))
    Array([[1, 3],
           [2, 4]])
    """
    return all_to_all(x, axis_name, axis, axis, axis_index_groups=axis_index_groups)


def psum_scatter(
    x: Any, axis_name: AxisName, *, scatter_dimension: int = 0, axis_index_groups: Any = None, tiled: bool = False
) -> Any:
    """Return this lane's part of the sum over all lanes: entry k of ``scatter_dimension`` in lane k.

    Parameters
    ----------
    x : pytree of arrays
    axis_name : hashable, or tuple of them
        Of several, the last one runs fastest.
    scatter_dimension : int, optional
        As long as there are lanes (a multiple, if ``tiled``).
    axis_index_groups : None, optional
    tiled : bool, optional
        Keep the dimension, shorter by the number of lanes.

    Returns
    -------
    pytree of arrays

    Raises
    ------
    ShapeError
        If the dimension has another extent.
    NameError
        If there is no such `vmap`.

    Examples
    --------
    >>> import numpy as np
    >>> from numhlo.tracer.transformations.vectorizing import vmap
    >>> vmap(lambda x: psum_scatter(x, "i"), axis_name="i")(np.array([[1, 2], [3, 4]]))
    Array([4, 6])
    """
    refuse_groups("psum_scatter", axis_index_groups)
    names = names_of(axis_name)
    count = math.prod(size_of(name, "psum_scatter") for name in names)

    def one(leaf: Any) -> Any:
        array = asarray(leaf)
        shape = shape_of(array)
        axis = normalize_axis(scatter_dimension, len(shape))
        if shape[axis] % count or (shape[axis] != count and not tiled):
            raise ShapeError(
                f"psum_scatter: axis {axis} of extent {shape[axis]} for {count} lanes",
                where=capture_location(),
                fix="make it as long as there are lanes, or a multiple of that with tiled=True",
            )
        sizes = [size_of(name, "psum_scatter") for name in names]
        rest = (shape[axis] // count,) if tiled else ()
        array = reshape(array, (*shape[:axis], *sizes, *rest, *shape[axis + 1 :]))
        for name, size in zip(names, sizes, strict=True):
            now = shape_of(array)
            type = TensorType((*now[:axis], *now[axis + 1 :]), array.dtype)
            array = bind_collective(Collective("psum_scatter", name, size, (axis,)), array, type)
        return array

    return tree_map(one, x)


def pbroadcast(x: Any, axis_name: AxisName, source: int) -> Any:
    """Return the array of lane ``source`` in all lanes.

    Parameters
    ----------
    x : pytree of arrays
    axis_name : hashable
    source : int

    Returns
    -------
    pytree of arrays

    Raises
    ------
    NameError
        If there is no such `vmap`.
    ArgumentError
        If there is no such lane.

    Examples
    --------
    >>> import numpy as np
    >>> from numhlo.tracer.transformations.vectorizing import vmap
    >>> vmap(lambda x: pbroadcast(x, "i", 1), axis_name="i", out_axes=0)(np.array([1.0, 3.0]))
    Array([3., 3.])
    """
    size = size_of(axis_name, "pbroadcast")
    if not 0 <= source < size:
        raise ArgumentError(f"pbroadcast: source={source} for {size} lanes", where=capture_location())

    def one(leaf: Any) -> Any:
        array = asarray(leaf)
        type = TensorType(shape_of(array), array.dtype)
        return bind_collective(Collective("pbroadcast", axis_name, size, (), ((source, source),)), array, type)

    return tree_map(one, x)
