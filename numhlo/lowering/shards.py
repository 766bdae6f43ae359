"""How whole arrays are cut into the parts of processes, and joined again: meshes and shardings of exporters' text.

Of the dialect sdy this file knows what says where parts are: meshes of named axes, and which axes cut which dimension.
What processes do with their parts is in `numhlo.lowering.manual_computations`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

import numpy as np

from numhlo.lowering.ir.errors import ShapeError, UnsupportedError
from numhlo.lowering.ir.records import record

MESH = re.compile(r'sdy\.mesh @("[^"]*"|[\w$.]+) = (<.*)')
AXIS = re.compile(r'"([^"]*)"=(\d+)')
DEVICES = re.compile(r"device_ids=\[([^\]]*)\]")
DIMENSION = re.compile(r"\{([^}]*)\}")


@record(frozen=True)
class Mesh:
    """Devices in an array whose axes have names.

    Attributes
    ----------
    axes : dict of str to int
        Extents by name, the slowest first.
    devices : tuple of int
        Their numbers, row-major.
    """

    axes: dict[str, int]
    devices: tuple[int, ...]

    def places(self) -> dict[int, dict[str, int]]:
        """Return where each device is along each axis."""
        corners = np.ndindex(*self.axes.values())
        return {k: dict(zip(self.axes, place, strict=True)) for k, place in zip(self.devices, corners, strict=True)}


@record(frozen=True)
class Sharding:
    """Which axes of a mesh cut which dimensions of an array; those named first cut into larger parts."""

    mesh: Mesh
    dimensions: tuple[tuple[str, ...], ...]

    def part(self, shape: tuple[int, ...], place: Mapping[str, int]) -> tuple[slice, ...]:
        """Return where a device's part is in an array.

        Raises
        ------
        ShapeError
            If an extent is no multiple of the number of its parts.

        Examples
        --------
        >>> mesh = parse_mesh('<["i"=2, "j"=2]>')
        >>> parse_shardings('[<@m, [{"j", "i"}, {}]>]', {"m": mesh})[0].part((8, 3), {"i": 1, "j": 0})
        (slice(2, 4, None), slice(0, 3, None))
        """
        parts = []
        for extent, axes in zip(shape, self.dimensions, strict=True):
            sizes = [self.mesh.axes[axis] for axis in axes]
            count = math.prod(sizes)
            if extent % count:
                raise ShapeError(
                    f"{extent} elements can't be cut into {count} equal parts", why=f"axes {axes} cut them"
                )
            number = int(np.ravel_multi_index([place[axis] for axis in axes], sizes)) if axes else 0
            step = extent // count
            parts.append(slice(number * step, (number + 1) * step))
        return tuple(parts)


def parse_mesh(text: str) -> Mesh:
    """Return the mesh that ``<["i"=2, "j"=2]>`` means.

    Examples
    --------
    >>> parse_mesh('<["i"=2], device_ids=[1, 0]>').devices
    (1, 0)
    """
    axes = {name: int(size) for name, size in AXIS.findall(text.partition("]")[0])}
    listed = DEVICES.search(text)
    count = math.prod(axes.values())
    devices = tuple(map(int, listed[1].split(","))) if listed else tuple(range(count))
    return Mesh(axes, devices)


def parse_meshes(lines: Sequence[str]) -> dict[str, Mesh]:
    """Return the meshes that lines at a module's top declare, by their names.

    Examples
    --------
    >>> parse_meshes(['sdy.mesh @mesh = <["x"=2]>'])
    {'mesh': Mesh(axes={'x': 2}, devices=(0, 1))}
    """
    found = [match for line in lines if (match := MESH.match(line))]
    return {match[1].strip('"'): parse_mesh(match[2]) for match in found}


def parse_shardings(text: str, meshes: Mapping[str, Mesh]) -> list[Sharding]:
    """Return what a list of shardings means, one a value.

    Parameters
    ----------
    text : str
        Such as ``[<@mesh, [{"i"}, {}]>, <@mesh, []>]``.
    meshes : mapping from str to Mesh

    Raises
    ------
    UnsupportedError
        If a part of an axis cuts a dimension, values are yet to be added, or a mesh is not declared.
    """
    return [_parse_sharding(item, meshes) for item in _items(text.strip()[1:-1])]


def _parse_sharding(text: str, meshes: Mapping[str, Mesh]) -> Sharding:
    where, dimensions, *rest = _items(text[1:-1])
    mesh = meshes.get(where.removeprefix("@").strip('"'))
    if where.startswith("mesh<"):
        mesh = parse_mesh(where.removeprefix("mesh"))
    if mesh is None:
        raise UnsupportedError(f"the mesh {where} is not declared")
    if any(item.startswith("unreduced") for item in rest):
        raise UnsupportedError(f"values that are yet to be added: {text}")
    cuts = [tuple(_axes(item, mesh)) for item in DIMENSION.findall(dimensions)]
    return Sharding(mesh, tuple(cuts))


def _axes(text: str, mesh: Mesh) -> list[str]:
    items = [item.strip() for item in text.split(",")]
    names = [item.strip('"') for item in items if item not in ("", "?")]
    unknown = [name for name in names if name not in mesh.axes]
    if unknown:
        raise UnsupportedError(f"the axis {unknown[0]} of a sharding", why=f"the mesh has {', '.join(mesh.axes)}")
    return names


def _items(text: str) -> list[str]:
    """Return what is between commas that no bracket encloses."""
    items, depth, start = [], 0, 0
    for k, letter in enumerate(text):
        depth += (letter in "<[({") - (letter in ">])}")
        if letter == "," and not depth:
            items.append(text[start:k].strip())
            start = k + 1
    return [*items, text[start:].strip()] if text.strip() else []
