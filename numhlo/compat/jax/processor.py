"""The one device."""

from __future__ import annotations


class Device(str):
    """The processor: its name, with what programs for JAX ask of a device."""

    __slots__ = ()
    id = 0
    platform = "cpu"
    device_kind = "cpu"
    process_index = 0
