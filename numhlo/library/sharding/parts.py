"""Whole arrays as stacks of the parts that a specification cuts, and back, in traced ops.

A stack of parts has one dimension in front for each of a mesh's axes along which the parts differ, in the mesh's order.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from numhlo.library.sharding.meshes import PartitionSpec
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ShapeError
from numhlo.tracer.building import as_traced, broadcast_to_shape, expand, reshape_to, shape_of, slice_axis
from numhlo.tracer.building import view_transpose as transposed

Sizes = Mapping[Any, int]
"""Extents of axes by name, the slowest first."""


def require_rank(shape: Sequence[int], spec: PartitionSpec, what: str) -> None:
    """Raise unless an array has as many dimensions as a specification has parts.

    Raises
    ------
    ShapeError
        If it has fewer.
    """
    if len(spec) > len(shape):
        raise ShapeError(
            f"{spec} for {what} of shape {tuple(shape)}",
            where=capture_location(),
            why="it has more parts than the array has axes",
        )


def part_shape(shape: Sequence[int], spec: PartitionSpec, sizes: Sizes, what: str) -> tuple[int, ...]:
    """Return the shape of a part.

    Parameters
    ----------
    shape : sequence of int
        Of the array.
    spec : PartitionSpec
    sizes : mapping
        Extents of the mesh's axes.
    what : str
        What messages call the array.

    Raises
    ------
    ShapeError
        If the specification has more parts than the array has dimensions, or parts would differ in size.

    Examples
    --------
    >>> part_shape((8, 3), PartitionSpec("x"), {"x": 2}, "an array")
    (4, 3)
    """
    require_rank(shape, spec, what)
    found = []
    for dimension, extent in enumerate(shape):
        count = math.prod(sizes[name] for name in spec.axes(dimension))
        if extent % count:
            raise ShapeError(
                f"{spec} for {what} of shape {tuple(shape)}",
                where=capture_location(),
                why=f"axis {dimension} of extent {extent} can't be cut into {count} equal parts",
            )
        found.append(extent // count)
    return tuple(found)


def cut(x: Any, spec: PartitionSpec, sizes: Sizes) -> Any:
    """Return an array as a stack of its parts."""
    shape, names = [], []
    for dimension, extent in enumerate(shape_of(x)):
        axes = spec.axes(dimension)
        shape += [*[sizes[name] for name in axes], extent // math.prod(sizes[name] for name in axes)]
        names += [*axes, None]
    in_front = [names.index(name) for name in sizes if name in names]
    order = (*in_front, *[k for k, name in enumerate(names) if name is None])
    return transposed(as_traced(reshape_to(x, tuple(shape))), order)


def join(parts: Any, differing: Collection[Any], spec: PartitionSpec, sizes: Sizes) -> Any:
    """Return the array that parts make up.

    Parameters
    ----------
    parts : array
        A stack.
    differing : collection
        Names of the axes that are dimensions of the stack. Of those that cut nothing the first part is taken.
    spec : PartitionSpec
    sizes : mapping
    """
    wanted = spec.names
    place = 0
    for name, size in sizes.items():
        if name in differing and name not in wanted:
            shape = shape_of(parts)
            parts = reshape_to(slice_axis(parts, 0, 1, place), (*shape[:place], *shape[place + 1 :]))
        elif name in differing:
            place += 1
        elif name in wanted:
            parts = expand(parts, place)
            shape = shape_of(parts)
            parts = broadcast_to_shape(parts, (*shape[:place], size, *shape[place + 1 :]))
            place += 1
    local = shape_of(parts)[place:]
    there = [name for name in sizes if name in wanted]
    order: list[int] = []
    for dimension in range(len(local)):
        order += [*[there.index(name) for name in spec.axes(dimension)], place + dimension]
    whole = [n * math.prod(sizes[name] for name in spec.axes(k)) for k, n in enumerate(local)]
    return reshape_to(transposed(as_traced(parts), tuple(order)), tuple(whole))
