"""`jax.extend.backend`: there is one, numhlo's own on the CPU."""

from __future__ import annotations

from numhlo.compat.jax.absent_names import refusing as _refusing
from numhlo.compat.jax.devices import Device, devices
from numhlo.compilation.looking import clear_caches

__all__ = ["clear_backends", "get_default_device"]


def get_default_device() -> Device:
    """Return the device."""
    return devices()[0]


def clear_backends() -> None:
    """Forget what is compiled."""
    clear_caches()


__getattr__ = _refusing(__name__)
