"""Meshes: devices in an array whose axes have names, and which of the axes cut which dimension of an array.

A device is anything that has an identity: a process's number, or one of JAX's devices. What an axis means for a
function is in `shard_map`, what a specification means for an array in `shardings`.
"""

from __future__ import annotations

import enum
import math
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.lowering.ir.scoped_values import ScopedValue


class AxisType(enum.Enum):
    """Who says how arrays are cut along a mesh's axis; no result depends on it here."""

    Auto = enum.auto()
    Explicit = enum.auto()
    Manual = enum.auto()


class PartitionSpec:
    """Which of a mesh's axes cut which dimension of an array: a name, a tuple of names, or None for each.

    Parameters
    ----------
    *partitions : str, tuple of str, or None
        Dimensions that are not mentioned are not cut. Of several names the first cuts into the largest parts.

    Examples
    --------
    >>> PartitionSpec("x", None), PartitionSpec(("x", "y"))
    (P('x', None), P(('x', 'y'),))
    """

    __slots__ = ("_partitions",)
    UNCONSTRAINED = object()

    def __init__(self, *partitions: Any) -> None:
        self._partitions = tuple([_canonical(part) for part in partitions])

    def __iter__(self) -> Iterator[Any]:
        """Yield what cuts each dimension."""
        return iter(self._partitions)

    def __len__(self) -> int:
        return len(self._partitions)

    def __getitem__(self, index: Any) -> Any:
        return self._partitions[index]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PartitionSpec | tuple):
            return NotImplemented
        return self._partitions == tuple([_canonical(part) for part in other])

    def __hash__(self) -> int:
        return hash(self._partitions)

    def __add__(self, other: Any) -> PartitionSpec:
        return PartitionSpec(*self, *other)

    def __repr__(self) -> str:
        return f"P{self._partitions!r}"

    def __reduce__(self) -> tuple[Any, ...]:
        return PartitionSpec, self._partitions

    @property
    def names(self) -> list[Any]:
        """Return the names of axes that it mentions, those of the first dimension first."""
        return [name for number in range(len(self)) for name in self.axes(number)]

    def axes(self, dimension: int) -> tuple[Any, ...]:
        """Return the names of the axes that cut a dimension.

        Examples
        --------
        >>> PartitionSpec("x", None).axes(0), PartitionSpec("x").axes(1)
        (('x',), ())
        """
        part = self._partitions[dimension] if dimension < len(self) else None
        if part is None or part is self.UNCONSTRAINED:
            return ()
        return part if isinstance(part, tuple) else (part,)


def _canonical(part: Any) -> Any:
    if not isinstance(part, list | tuple):
        return part
    return (part[0] if len(part) == 1 else tuple(part)) if part else None


class Mesh:
    """Devices in an array whose axes have names.

    Parameters
    ----------
    devices : array_like
        Of any devices.
    axis_names : str or sequence of str
    axis_types : optional
        Accepted: results do not depend on it.

    Raises
    ------
    ArgumentError
        If there is not one name for each axis, or one is there twice.

    Examples
    --------
    >>> mesh = Mesh([[0, 1], [2, 3]], ("x", "y"))
    >>> mesh, mesh.size
    (Mesh('x': 2, 'y': 2), 4)
    """

    def __init__(self, devices: Any, axis_names: Any, axis_types: Any = None) -> None:
        given = np.array(devices, dtype=object)
        names = (axis_names,) if isinstance(axis_names, str) else tuple(axis_names)
        if len(names) != given.ndim:
            raise ArgumentError(
                f"a mesh of {given.ndim} axes with {len(names)} names", where=capture_location(), fix="name each axis"
            )
        if len(set(names)) != len(names):
            raise ArgumentError(f"a mesh with axes {names}", where=capture_location(), fix="give each another name")
        self.devices, self.axis_names = given, names
        self.axis_types = axis_types_of(axis_types, len(names))
        self._blocks: list[Any] = []

    @property
    def shape(self) -> OrderedDict[Any, int]:
        """Return the axes' extents by name."""
        return OrderedDict(zip(self.axis_names, self.devices.shape, strict=True))

    @property
    def axis_sizes(self) -> tuple[int, ...]:
        """Return the axes' extents."""
        return tuple(self.devices.shape)

    @property
    def size(self) -> int:
        """Return the number of devices."""
        return self.devices.size

    @property
    def empty(self) -> bool:
        """Return whether there are no axes."""
        return not self.axis_names

    @property
    def abstract_mesh(self) -> AbstractMesh:
        """Return the axes without the devices."""
        return AbstractMesh(self.axis_sizes, self.axis_names, self.axis_types)

    def __enter__(self) -> Mesh:
        self._blocks.append(_mesh.bound(self))
        self._blocks[-1].__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._blocks.pop().__exit__(*error)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mesh) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        return self.axis_names, self.devices.shape, tuple(self.devices.reshape(-1))

    def __repr__(self) -> str:
        return f"Mesh({', '.join(f'{name!r}: {size}' for name, size in self.shape.items())})"


def axis_types_of(given: Any, count: int) -> tuple[Any, ...]:
    """Return the types of a mesh's axes: one for all, one for each, or by default that nobody needs to say."""
    return tuple(given) if isinstance(given, tuple | list) else (AxisType.Auto if given is None else given,) * count


class AbstractMesh:
    """The names and extents of a mesh's axes, without the devices.

    Parameters
    ----------
    axis_sizes : sequence of int
    axis_names : sequence of str
    axis_types : optional
        Accepted: results do not depend on it.

    Examples
    --------
    >>> AbstractMesh((4,), ("x",)).shape["x"]
    4
    """

    def __init__(self, axis_sizes: Sequence[int], axis_names: Sequence[Any], axis_types: Any = None) -> None:
        self.axis_sizes, self.axis_names = tuple(axis_sizes), tuple(axis_names)
        self.axis_types = axis_types_of(axis_types, len(self.axis_names))

    @property
    def shape(self) -> OrderedDict[Any, int]:
        """Return the axes' extents by name."""
        return OrderedDict(zip(self.axis_names, self.axis_sizes, strict=True))

    @property
    def size(self) -> int:
        """Return the number of devices."""
        return math.prod(self.axis_sizes)

    @property
    def empty(self) -> bool:
        """Return whether there are no axes."""
        return not self.axis_names

    @property
    def are_all_axes_explicit(self) -> bool:
        """Return whether programs say of every axis how arrays are cut along it."""
        return bool(self.axis_names) and all(kind is AxisType.Explicit for kind in self.axis_types)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AbstractMesh):
            return NotImplemented
        return (self.axis_sizes, self.axis_names) == (other.axis_sizes, other.axis_names)

    def __hash__(self) -> int:
        return hash((self.axis_sizes, self.axis_names))

    def __repr__(self) -> str:
        return f"AbstractMesh({', '.join(f'{name!r}: {size}' for name, size in self.shape.items())})"


def make_mesh(axis_shapes: Sequence[int], axis_names: Sequence[Any], *, devices: Any = None) -> Mesh:
    """Return a mesh of numbered devices: the processes of a grid, or parts of arrays in this one.

    Parameters
    ----------
    axis_shapes : sequence of int
    axis_names : sequence of str
    devices : sequence, optional
        Row-major; the numbers from 0 on by default.

    Returns
    -------
    Mesh

    Raises
    ------
    ArgumentError
        If an extent is less than 1, or there are fewer devices.

    Examples
    --------
    >>> make_mesh((2, 2), ("x", "y")).devices.tolist()
    [[0, 1], [2, 3]]
    """
    shape = tuple(map(int, axis_shapes))
    if min(shape, default=1) < 1:
        raise ArgumentError(f"a mesh of extents {shape}", where=capture_location(), why="each is at least 1")
    count = math.prod(shape)
    given = range(count) if devices is None else list(devices)
    if len(given) < count:
        raise ArgumentError(
            f"a mesh of {count} devices, of {len(given)} that are given", where=capture_location(), fix="give more"
        )
    array = np.empty(count, object)
    array[:] = list(given)[:count]
    return Mesh(array.reshape(shape), axis_names)


_mesh: ScopedValue[Mesh | None] = ScopedValue(None)


class _Chosen:
    """What `set_mesh` returns: the mesh is chosen already; as a block it ends with that."""

    def __init__(self, mesh: Mesh) -> None:
        self._block = _mesh.bound(mesh)
        self._block.__enter__()

    def __enter__(self) -> None:
        """Do nothing: the mesh is chosen."""

    def __exit__(self, *error: object) -> None:
        self._block.__exit__(None, None, None)


_kept: list[_Chosen] = []


def set_mesh(mesh: Mesh) -> _Chosen:
    """Choose the mesh that `shard_map` and specifications alone refer to, in this thread, or in a block."""
    _kept.append(_Chosen(mesh))
    return _kept[-1]


@contextmanager
def use_mesh(mesh: Mesh) -> Iterator[None]:
    """Choose a mesh for a block."""
    with _mesh.bound(mesh):
        yield


def get_mesh() -> Mesh | None:
    """Return the mesh that is chosen, or None."""
    return _mesh.get()


def get_abstract_mesh() -> AbstractMesh:
    """Return the axes of the mesh that is chosen; an empty one where there is none.

    Examples
    --------
    >>> get_abstract_mesh().empty
    True
    """
    mesh = get_mesh()
    return AbstractMesh((), ()) if mesh is None else mesh.abstract_mesh


def require_axes(mesh: Mesh | AbstractMesh, spec: PartitionSpec) -> None:
    """Raise unless a specification names axes of a mesh, each once.

    Raises
    ------
    ArgumentError
        If it names others, or one twice.
    """
    names = spec.names
    unknown = [name for name in names if name not in mesh.axis_names]
    if unknown:
        raise ArgumentError(
            f"{spec} names an axis {unknown[0]!r}", where=capture_location(), why=f"the mesh has {mesh.axis_names}"
        )
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ArgumentError(
            f"{spec} names the axis {twice[0]!r} twice",
            where=capture_location(),
            why="an axis cuts one dimension of an array, once",
        )
