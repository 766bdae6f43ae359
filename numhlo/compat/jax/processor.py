"""The one device, and how an array lies on it: whole."""

from __future__ import annotations

from typing import Any


class Device(str):
    """The processor: its name, with what programs for JAX ask of a device."""

    __slots__ = ()
    id = 0
    local_hardware_id = 0
    platform = "cpu"
    device_kind = "cpu"
    process_index = 0
    host_id = 0

    def memory_stats(self) -> None:
        """Return None: as in JAX, the processor's memory is not counted."""


class Sharding:
    """How an array lies on devices; there is one, which holds all of it."""

    memory_kind = "unpinned_host"
    is_fully_replicated = True
    is_fully_addressable = True
    num_devices = 1

    @property
    def device_set(self) -> set[Device]:
        """Return the one device."""
        return {Device("cpu")}

    addressable_devices = device_set

    def shard_shape(self, global_shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape of a device's part, which is the whole."""
        return tuple(global_shape)

    def devices_indices_map(self, global_shape: tuple[int, ...]) -> dict[Device, tuple[slice, ...]]:
        """Return which part each device holds."""
        return {Device("cpu"): tuple(slice(None) for _ in global_shape)}

    addressable_devices_indices_map = devices_indices_map

    def is_equivalent_to(self, other: Any, ndim: int) -> bool:
        """Return whether an array lies in the same way under another sharding: all do, on one device."""
        return isinstance(other, Sharding)


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

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SingleDeviceSharding)

    def __hash__(self) -> int:
        return hash(SingleDeviceSharding)

    def __repr__(self) -> str:
        return f"SingleDeviceSharding(device={self._device!r})"


class Shard:
    """A device's part of an array: all of it.

    Attributes
    ----------
    data : Array
    index : tuple of slice
        Which part.
    """

    device = Device("cpu")
    replica_id = 0

    def __init__(self, data: Any) -> None:
        self.data = data
        self.index = tuple(slice(None) for _ in data.shape)

    def __repr__(self) -> str:
        return f"Shard(device={self.device!r}, index={self.index}, replica_id=0, data={self.data})"
