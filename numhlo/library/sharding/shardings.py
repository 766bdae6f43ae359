"""How whole arrays lie on devices: `NamedSharding`, and what every kind of sharding answers.

In one process all arrays are whole; a sharding says which part of an array is which device's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from numhlo.library.sharding.meshes import Mesh, PartitionSpec, require_axes
from numhlo.library.sharding.parts import part_shape
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError

Index = tuple[slice, ...]
"""Where a part is in an array."""


class Sharding:
    """How an array lies on devices; each kind says which these are, and which part is whose."""

    memory_kind = "unpinned_host"
    is_fully_addressable = True

    @property
    def device_set(self) -> set[Any]:
        """Return the devices."""
        raise NotImplementedError

    def devices_indices_map(self, global_shape: tuple[int, ...]) -> Mapping[Any, Index]:
        """Return which part each device holds."""
        raise NotImplementedError

    @property
    def addressable_devices(self) -> set[Any]:
        """Return the devices of this process: all."""
        return self.device_set

    def addressable_devices_indices_map(self, global_shape: tuple[int, ...]) -> Mapping[Any, Index]:
        """Return which part each device of this process holds."""
        return self.devices_indices_map(global_shape)

    @property
    def num_devices(self) -> int:
        """Return the number of devices."""
        return len(self.device_set)

    @property
    def is_fully_replicated(self) -> bool:
        """Return whether each device holds all of an array."""
        return True

    def shard_shape(self, global_shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape of a device's part."""
        return tuple(global_shape)

    def is_equivalent_to(self, other: Any, ndim: int) -> bool:
        """Return whether an array of ``ndim`` dimensions lies in the same way under another sharding."""
        if not isinstance(other, Sharding):
            return False
        shape = (_divisible(self, other),) * ndim
        return list(self.devices_indices_map(shape).items()) == list(other.devices_indices_map(shape).items())


def _divisible(*shardings: Sharding) -> int:
    """Return an extent that shardings cut equally."""
    return int(np.lcm.reduce([sharding.num_devices for sharding in shardings]))


class NamedSharding(Sharding):
    """How an array is cut over the axes of a mesh.

    Parameters
    ----------
    mesh : Mesh
    spec : PartitionSpec
    memory_kind : str, optional
        There is one memory.

    Raises
    ------
    ArgumentError
        If the mesh has no axis of a name, or one is there twice.

    Examples
    --------
    >>> from numhlo.library.sharding.meshes import make_mesh
    >>> sharding = NamedSharding(make_mesh((2,), "x"), PartitionSpec("x"))
    >>> sharding.shard_shape((4, 3)), sharding.devices_indices_map((4,))
    ((2, 3), {0: (slice(0, 2, None),), 1: (slice(2, 4, None),)})
    """

    def __init__(self, mesh: Mesh, spec: PartitionSpec, *, memory_kind: str | None = None) -> None:
        if not isinstance(spec, PartitionSpec):
            raise ArgumentError(
                f"NamedSharding: a specification {spec!r}", where=capture_location(), fix="use a PartitionSpec"
            )
        require_axes(mesh, spec)
        self.mesh, self.spec = mesh, spec

    @property
    def device_set(self) -> set[Any]:
        """Return the mesh's devices."""
        return set(self.mesh.devices.reshape(-1))

    @property
    def is_fully_replicated(self) -> bool:
        """Return whether each device holds all of an array."""
        return all(self.mesh.shape[name] == 1 for name in self.spec.names)

    def shard_shape(self, global_shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape of a device's part.

        Raises
        ------
        ShapeError
            If parts would differ in size.
        """
        return part_shape(global_shape, self.spec, self.mesh.shape, "an array")

    def devices_indices_map(self, global_shape: tuple[int, ...]) -> dict[Any, Index]:
        """Return which part each device holds.

        Raises
        ------
        ShapeError
            If parts would differ in size.
        """
        shape = self.shard_shape(global_shape)
        return {device: self._index(place, global_shape, shape) for device, place in self.places()}

    def places(self) -> Iterator[tuple[Any, dict[Any, int]]]:
        """Yield each device with its place along each axis of the mesh."""
        for place in np.ndindex(*self.mesh.axis_sizes):
            yield self.mesh.devices[place], dict(zip(self.mesh.axis_names, place, strict=True))

    def _index(self, place: Mapping[Any, int], whole: tuple[int, ...], part: tuple[int, ...]) -> Index:
        index = []
        for dimension, (extent, step) in enumerate(zip(whole, part, strict=True)):
            names = self.spec.axes(dimension)
            if not names:
                index.append(slice(None))
                continue
            number = 0
            for name in names:
                number = number * self.mesh.shape[name] + place[name]
            index.append(slice(number * step, (number + 1) * step) if step < extent else slice(None))
        return tuple(index)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NamedSharding) and (self.mesh, self.spec) == (other.mesh, other.spec)

    def __hash__(self) -> int:
        return hash((self.mesh, self.spec))

    def __repr__(self) -> str:
        return f"NamedSharding(mesh={self.mesh}, spec={self.spec})"
