"""Devices: there is one, this machine's processor, and every value is there as soon as it is."""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.compat.jax.arrays import frozen
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.tracer.pytrees import tree_map
from numhlo.tracer.trace import Tracer


def devices(backend: str | None = None) -> list[str]:
    """Return all devices."""
    _require_cpu(backend)
    return ["cpu"]


def device_count(backend: str | None = None) -> int:
    """Return how many devices there are."""
    return len(devices(backend))


def default_backend() -> str:
    """Return the platform's name."""
    return "cpu"


def device_put(x: Any, device: Any = None) -> Any:
    """Return a pytree of immutable arrays."""
    _require_cpu(device)
    return tree_map(lambda leaf: leaf if isinstance(leaf, Tracer) else frozen(np.array(leaf)), x)


def device_get(x: Any) -> Any:
    """Return a pytree of NumPy arrays."""
    return tree_map(np.asarray, x)


def block_until_ready(x: Any) -> Any:
    """Return a pytree unchanged: execution is synchronous."""
    return x


def _require_cpu(device: Any) -> None:
    if device not in (None, "cpu"):
        raise ArgumentError(
            f"device {device!r}", why="numhlo runs on this machine's processor", fix='use "cpu" or None'
        )
