"""Devices: this machine's processor, as many times as a program asks for, and how an array lies on the first: whole.

There is one memory and one pool of threads. More devices than one are for programs that cut arrays over meshes, as JAX
has them with ``jax_num_cpu_devices``.
"""

from __future__ import annotations

from typing import Any

from numhlo.library.sharding.shardings import Index, Sharding
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.switches import jax_device_count


class Device:
    """The processor, with what programs for JAX ask of a device; it equals its platform's name, too.

    Parameters
    ----------
    number : int, optional
    """

    __slots__ = ("id",)
    platform = "cpu"
    device_kind = "cpu"
    process_index = 0
    host_id = 0

    def __init__(self, number: int = 0) -> None:
        self.id = number

    @property
    def local_hardware_id(self) -> int:
        """Return the number."""
        return self.id

    def memory_stats(self) -> None:
        """Return None: as in JAX, the processor's memory is not counted."""

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return other == self.platform
        return isinstance(other, Device) and self.id == other.id

    def __hash__(self) -> int:
        return hash(self.platform)

    def __repr__(self) -> str:
        return f"CpuDevice(id={self.id})"

    def __str__(self) -> str:
        return f"cpu:{self.id}"


class _Count:
    """How many devices there are in the process."""

    number: int | None = None


def all_devices() -> list[Device]:
    """Return all devices."""
    if _Count.number is None:
        _Count.number = jax_device_count()
    return [Device(number) for number in range(_Count.number)]


def set_device_count(count: int) -> None:
    """Choose how many devices there are; -1 leaves that to the environment.

    Raises
    ------
    ArgumentError
        If it is neither -1 nor positive.
    """
    if count != -1 and count < 1:
        raise ArgumentError(f"{count!r} devices", where=capture_location(), why="there is at least one")
    _Count.number = None if count == -1 else count


class SingleDeviceSharding(Sharding):
    """An array on one device.

    Parameters
    ----------
    device : Device
    memory_kind : str, optional
        There is one memory.
    """

    def __init__(self, device: Any, *, memory_kind: str | None = None) -> None:
        self._device = device

    @property
    def device_set(self) -> set[Device]:
        """Return the one device."""
        return {self._device}

    def devices_indices_map(self, global_shape: tuple[int, ...]) -> dict[Device, Index]:
        """Return which part the device holds: all."""
        return {self._device: tuple(slice(None) for _ in global_shape)}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SingleDeviceSharding) and self._device == other._device

    def __hash__(self) -> int:
        return hash(SingleDeviceSharding)

    def __repr__(self) -> str:
        return f"SingleDeviceSharding(device={self._device!r}, memory_kind={self.memory_kind})"


class Shard:
    """A device's part of an array.

    Attributes
    ----------
    device : Device
    index : tuple of slice
        Which part.
    replica_id : int
        The number of devices before this one that have the same part.
    data : Array
    """

    def __init__(self, device: Any, index: Index, replica_id: int, data: Any) -> None:
        self.device, self.index, self.replica_id, self.data = device, index, replica_id, data

    def __repr__(self) -> str:
        return f"Shard(device={self.device!r}, index={self.index}, replica_id={self.replica_id}, data={self.data})"


def shards_of(array: Any, sharding: Sharding) -> list[Shard]:
    """Return all devices' parts of an array."""
    seen: dict[tuple[Any, ...], int] = {}
    shards = []
    for device, index in sharding.devices_indices_map(array.shape).items():
        key = tuple([(s.start, s.stop) for s in index])
        seen[key] = number = seen.get(key, -1) + 1
        shards.append(Shard(device, index, number, array[index]))
    return shards
