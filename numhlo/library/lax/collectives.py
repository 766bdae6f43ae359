"""Functions of a named axis, that of a `vmap` around: sums and extrema over it, its size, and the place on it.

What goes from place to place is in `collective_moves`; what becomes of them, and how they find their axis, in
`named_axes`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numhlo.library.documentation import described
from numhlo.lowering.ir import TensorType, capture_location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.tracer.building import (
    AxisName,
    Collective,
    are_arrays_immutable,
    asarray,
    bind_collective,
    shape_of,
    size_of,
    tree_map,
)

__all__ = [
    "axis_index", "axis_size", "pcast", "pmax", "pmean", "pmin", "psum",
]  # fmt: skip

_NAMED = """
Parameters
----------
axis_name : hashable, or tuple of them

Raises
------
NameError
    If there is no such `vmap`.
"""

_OVER_LANES = """
Parameters
----------
x, axis_name : optional
    As those of `psum`.
axis_index_groups : None, optional

Returns
-------
pytree of arrays
    The same for all lanes; of numbers, arrays too.

Raises
------
NameError
    If there is no such `vmap`.
"""


def names_of(axis_name: AxisName) -> tuple[AxisName, ...]:
    """Return the names that a function of named axes is given, one or several."""
    return axis_name if isinstance(axis_name, tuple) else (axis_name,)


def refuse_groups(name: str, groups: Any) -> None:
    """Refuse to divide the lanes of one axis into groups."""
    if groups is not None:
        raise ArgumentError(
            f"{name}(axis_index_groups=...)",
            where=capture_location(),
            fix="use two axes with names of their own",
        )


def _reduce(kind: str, x: Any, axis_name: AxisName, groups: Any) -> Any:
    refuse_groups(kind, groups)

    def one(leaf: Any) -> Any:
        array = asarray(leaf)
        for name in names_of(axis_name):
            array = bind_collective(
                Collective(kind, name, size_of(name, kind)), array, TensorType(shape_of(array), array.dtype)
            )
        return array

    return tree_map(one, x)


@described(_NAMED)
def psum(x: Any, axis_name: AxisName, *, axis_index_groups: Any = None) -> Any:
    """Return the sum over all lanes of the `vmap` around that has this axis name.

    Parameters
    ----------
    x : pytree of arrays
        One lane's; of a Python number, the sum is a Python number.
    axis_index_groups : None, optional
        Sums of groups of lanes are not supported.

    Returns
    -------
    pytree of arrays
        The same for all lanes.

    Examples
    --------
    >>> from numhlo.tracer.transformations.vectorizing import vmap
    >>> vmap(lambda x: x / psum(x, "i"), axis_name="i")(np.array([1.0, 3.0]))
    Array([0.25, 0.75])
    """
    if type(x) in (int, float, complex):
        for name in names_of(axis_name):
            x = x * size_of(name, "psum")
        return x
    return _reduce("psum", x, axis_name, axis_index_groups)


@described(_OVER_LANES)
def pmean(x: Any, axis_name: AxisName, *, axis_index_groups: Any = None) -> Any:
    """Return the mean over all lanes; see `psum`.

    Examples
    --------
    >>> from numhlo.tracer.transformations.vectorizing import vmap
    >>> vmap(lambda x: x - pmean(x, "i"), axis_name="i")(np.array([1.0, 3.0]))
    Array([-1.,  1.])
    """
    count = math.prod(size_of(name, "pmean") for name in names_of(axis_name))
    return tree_map(
        lambda total: total / count, psum(tree_map(asarray, x), axis_name, axis_index_groups=axis_index_groups)
    )


@described(_OVER_LANES)
def pmax(x: Any, axis_name: AxisName, *, axis_index_groups: Any = None) -> Any:
    """Return the maximum over all lanes; see `psum`. It has no derivative.

    Examples
    --------
    >>> from numhlo.tracer.transformations.vectorizing import vmap
    >>> vmap(lambda x: x == pmax(x, "i"), axis_name="i")(np.array([1.0, 3.0]))
    Array([False,  True])
    """
    return _reduce("pmax", x, axis_name, axis_index_groups)


@described(_OVER_LANES)
def pmin(x: Any, axis_name: AxisName, *, axis_index_groups: Any = None) -> Any:
    """Return the minimum over all lanes; see `psum`. It has no derivative.

    Examples
    --------
    >>> from numhlo.tracer.transformations.vectorizing import vmap
    >>> vmap(lambda x: x - pmin(x, "i"), axis_name="i")(np.array([1.0, 3.0]))
    Array([0., 2.])
    """
    return _reduce("pmin", x, axis_name, axis_index_groups)


def pcast(x: Any, axis_name: AxisName = None, *, to: str = "varying") -> Any:
    """Return arrays as they are, as ones that may differ from lane to lane.

    That matters inside `shard_map`: derivatives by the result are each lane's own, and not the sum over lanes.

    Parameters
    ----------
    x : pytree of arrays
    axis_name : hashable, or tuple of them
    to : str, optional
        ``"varying"``.

    Returns
    -------
    pytree of arrays

    Raises
    ------
    ArgumentError
        If they are to be something else.
    NameError
        If there is no such axis.

    Examples
    --------
    >>> from numhlo.tracer.transformations.vectorizing import vmap
    >>> vmap(lambda x: pcast(x, "i", to="varying"), axis_name="i")(np.array([1.0, 3.0]))
    Array([1., 3.])
    """
    if to != "varying":
        raise ArgumentError(f"pcast: to={to!r}", where=capture_location(), fix='use "varying", or reduce by psum')
    return x if axis_name is None else _reduce("pvary", x, axis_name, None)


@described(_NAMED)
def axis_size(axis_name: AxisName) -> int:
    """Return the number of lanes of the `vmap` with this axis name, a Python int.

    Returns
    -------
    int

    Examples
    --------
    >>> from numhlo.tracer.transformations.vectorizing import vmap
    >>> vmap(lambda x: x * axis_size("i"), axis_name="i")(np.array([1.0, 3.0]))
    Array([2., 6.])
    """
    return math.prod(size_of(name, "axis_size") for name in names_of(axis_name))


@described(_NAMED)
def axis_index(axis_name: AxisName) -> Any:
    """Return the lane's number along a named axis, an int64 scalar; under JAX's rules an int32 one.

    Parameters
    ----------
    axis_name : hashable, or tuple of them
        Of several, the last one runs fastest.

    Returns
    -------
    Array

    Examples
    --------
    >>> from numhlo.tracer.transformations.vectorizing import vmap
    >>> vmap(lambda x: x + axis_index("i"), axis_name="i")(np.array([1.0, 3.0]))
    Array([1., 4.])
    """
    index: Any = None
    type = TensorType((), np.dtype(np.int32 if are_arrays_immutable() else np.int64))
    for name in names_of(axis_name):
        size = size_of(name, "axis_index")
        own = bind_collective(Collective("axis_index", name, size), None, type)
        index = own if index is None else index * size + own
    return index
