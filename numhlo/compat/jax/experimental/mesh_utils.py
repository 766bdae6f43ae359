"""`jax.experimental.mesh_utils`: devices as an array of devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.compat.jax.absent_names import refusing as _refusing
from numhlo.compat.jax.sharding import make_mesh

__all__ = ["create_device_mesh"]


def create_device_mesh(mesh_shape: Sequence[int], devices: Any = None, **options: Any) -> np.ndarray:
    """Return devices as an array.

    Parameters
    ----------
    mesh_shape : sequence of int
    devices : sequence of Device, optional
        By default the first ones.
    **options
        Accepted: no device is nearer to another.

    Raises
    ------
    ArgumentError
        If there are fewer.

    Examples
    --------
    >>> create_device_mesh((1, 1)).shape
    (1, 1)
    """
    found: np.ndarray = make_mesh(mesh_shape, [str(k) for k in range(len(mesh_shape))], devices=devices).devices
    return found


__getattr__ = _refusing(__name__)
