"""Devices: there is one, this machine's processor, and every value is there as soon as it is."""

from __future__ import annotations

from numhlo.compat.jax.arrays import immutably
from numhlo.compat.jax.processor import Device as Device
from numhlo.tracer import devices as _values
from numhlo.tracer.devices import require_cpu


def devices(backend: str | None = None) -> list[Device]:
    """Return all devices."""
    require_cpu(backend)
    return [Device("cpu")]


def device_count(backend: str | None = None) -> int:
    """Return how many devices there are."""
    return len(devices(backend))


def default_backend() -> str:
    """Return the platform's name."""
    return "cpu"


def process_count(backend: str | None = None) -> int:
    """Return how many processes work on one program."""
    return len(devices(backend))


def process_index(backend: str | None = None) -> int:
    """Return this process's number."""
    return process_count(backend) - 1


def effects_barrier() -> None:
    """Return at once: calls return when their effects have happened."""


local_devices = devices
local_device_count = device_count
device_put = immutably(_values.device_put)
device_get = _values.device_get
block_until_ready = _values.block_until_ready
