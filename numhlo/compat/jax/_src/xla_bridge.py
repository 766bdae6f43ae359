"""`jax._src.xla_bridge`: what there is to run programs on: one device."""

from __future__ import annotations

from numhlo.compat.jax.devices import (
    default_backend,
    device_count,
    devices,
    local_devices,
    process_count,
    process_index,
)

__all__ = ["backends", "default_backend", "device_count", "devices", "local_devices", "process_count", "process_index"]

_backends: dict[str, object] = {}
"""XLA's, by platform: none."""


def backends() -> dict[str, object]:
    """Return XLA's backends: none."""
    return {}


def backends_are_initialized() -> bool:
    """Return True: there is nothing to start.

    Examples
    --------
    >>> backends_are_initialized()
    True
    """
    return True
