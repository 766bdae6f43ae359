"""Devices: this machine's processor, once or more often, and every value is there as soon as it is."""

from __future__ import annotations

from typing import Any

from numhlo.compat.jax.arrays import immutably
from numhlo.compat.jax.deleted_arrays import require_there
from numhlo.compat.jax.processor import Device as Device
from numhlo.compat.jax.processor import all_devices
from numhlo.compat.jax.sharded_arrays import plain
from numhlo.compat.jax.sharding import reshard
from numhlo.library.lax import devices as _values
from numhlo.library.lax.devices import require_cpu
from numhlo.tracer.trees.pytrees import tree_map


def devices(backend: str | None = None) -> list[Device]:
    """Return all devices."""
    require_cpu(backend)
    return all_devices()


def device_count(backend: str | None = None) -> int:
    """Return how many devices there are."""
    return len(devices(backend))


def default_backend() -> str:
    """Return the platform's name."""
    return "cpu"


def process_count(backend: str | None = None) -> int:
    """Return how many processes work on one program."""
    require_cpu(backend)
    return 1


def process_index(backend: str | None = None) -> int:
    """Return this process's number."""
    return process_count(backend) - 1


def effects_barrier() -> None:
    """Return at once: calls return when their effects have happened."""


local_devices = devices
local_device_count = device_count
put = immutably(_values.device_put)


def device_put(
    x: Any, device: Any = None, *, src: Any = None, donate: bool = False, may_alias: bool | None = None
) -> Any:
    """Return a pytree with new arrays in the place of its leaves; see `numhlo.device_put`.

    Parameters
    ----------
    x : pytree of array_like
    device : Device, Sharding, or pytree of them, optional
        Where the arrays are said to lie from now on.
    src, donate, may_alias : optional
        Accepted: values are copied.

    Returns
    -------
    pytree of Array

    Raises
    ------
    ArgumentError
        If there is no such device.
    ShapeError
        If a sharding would cut an array into parts of different size.
    """
    made = put(tree_map(plain, x))
    return made if device is None else reshard(made, device)


def device_get(x: Any) -> Any:
    """Return a pytree with NumPy's arrays in the place of its leaves; see `numhlo.device_get`."""
    require_there(x)
    return _values.device_get(x)


def block_until_ready(x: Any) -> Any:
    """Return a pytree when its values are there: at once."""
    require_there(x)
    return _values.block_until_ready(x)
