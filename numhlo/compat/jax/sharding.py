"""`jax.sharding`: meshes of devices, and how arrays are said to lie on them.

All arrays are whole, in one memory. A sharding is checked and recorded; what depends on it is which part belongs to
which device, and what functions under `shard_map` get.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.compat.jax.absent_names import raise_absent as _raise_absent
from numhlo.compat.jax.processor import SingleDeviceSharding, all_devices
from numhlo.compat.jax.sharded_arrays import placed
from numhlo.library.lax.collectives import pcast
from numhlo.library.lax.devices import require_cpu
from numhlo.library.sharding.meshes import (
    AbstractMesh,
    AxisType,
    Mesh,
    PartitionSpec,
    get_abstract_mesh,
    get_mesh,
    require_axes,
    set_mesh,
    use_mesh,
)
from numhlo.library.sharding.shardings import NamedSharding, Sharding
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.tracer.trees.pytrees import tree_map
from numhlo.tree_structures import tree_broadcast

__all__ = [
    "AbstractMesh", "AxisType", "Mesh", "NamedSharding", "PartitionSpec", "Sharding", "SingleDeviceSharding",
    "auto_axes", "explicit_axes", "get_abstract_mesh", "get_mesh", "make_mesh", "require_sharding", "reshard",
    "set_mesh", "use_mesh",
]  # fmt: skip


def make_mesh(
    axis_shapes: Sequence[int], axis_names: Sequence[Any], axis_types: Any = None, *, devices: Any = None
) -> Mesh:
    """Return a mesh of devices.

    Parameters
    ----------
    axis_shapes : sequence of int
    axis_names : sequence of str
    axis_types : optional
        Accepted: results do not depend on it.
    devices : sequence of Device, optional
        By default the first ones.

    Returns
    -------
    Mesh

    Raises
    ------
    ArgumentError
        If it needs more devices than there are.

    Examples
    --------
    >>> make_mesh((1, 1), ("x", "y"))
    Mesh('x': 1, 'y': 1)
    """
    shape = tuple(axis_shapes)
    given = all_devices() if devices is None else list(devices)
    count = math.prod(shape)
    if count > len(given) or min(shape, default=1) < 1:
        raise ArgumentError(
            f"a mesh of {count} devices, and there {'is 1' if len(given) == 1 else f'are {len(given)}'}",
            where=capture_location(),
            fix=f'ask for them first, by jax.config.update("jax_num_cpu_devices", {count}) or by '
            f"XLA_FLAGS=--xla_force_host_platform_device_count={count}",
        )
    array = np.empty(count, object)
    array[:] = given[:count]
    return Mesh(array.reshape(shape), axis_names, axis_types)


def auto_axes(f: Any = None, /, **options: Any) -> Any:
    """Return a function as it is: nobody needs to say how arrays are cut."""
    return (lambda function: function) if f is None else f


explicit_axes = auto_axes


def require_sharding(sharding: Any) -> Sharding | None:
    """Return what a sharding, a specification for the chosen mesh, or a device means; None where it means nothing.

    Raises
    ------
    ArgumentError
        If it is another device, or names an axis that the mesh lacks.
    """
    if isinstance(sharding, PartitionSpec):
        mesh = get_mesh()
        if mesh is None:
            return None
        require_axes(mesh, sharding)
        return NamedSharding(mesh, sharding)
    if isinstance(sharding, Sharding):
        return sharding
    require_cpu(sharding)
    return None if sharding is None or type(sharding) is str else SingleDeviceSharding(sharding)


def is_sharding(x: Any) -> bool:
    """Return whether a leaf of a tree of shardings is one, or stands for one."""
    return x is None or isinstance(x, PartitionSpec | Sharding | str)


def spread_shardings(shardings: Any, tree: Any) -> Any:
    """Return a tree of the same structure with a sharding, or None, for each leaf."""
    spread = tree_broadcast(shardings, tree, is_leaf=is_sharding)
    return tree_map(require_sharding, spread, is_leaf=is_sharding)


def require_parts(shardings: Any, arrays: Any) -> None:
    """Raise unless shardings cut arrays into parts of one size.

    Raises
    ------
    ShapeError
        If they do not.
    """
    found = spread_shardings(shardings, arrays)
    tree_map(lambda s, x: s and s.shard_shape(np.shape(x)), found, arrays, is_leaf=is_sharding)


def reshard(xs: Any, out_shardings: Any) -> Any:
    """Return arrays that lie on devices as shardings say."""
    found = spread_shardings(out_shardings, xs)
    return tree_map(lambda s, x: x if s is None else placed(x, s), found, xs, is_leaf=is_sharding)


def with_sharding_constraint(x: Any, shardings: Any) -> Any:
    """Return arrays that lie on devices as shardings say; traced ones as they are, if they can be cut so.

    Raises
    ------
    ShapeError
        If parts would differ in size.
    """
    return reshard(x, shardings)


def pvary(x: Any, axis_name: Any) -> Any:
    """Return arrays as ones that may differ from device to device: the older name of `lax.pcast`."""
    return pcast(x, axis_name, to="varying")


_ON_MORE = dict.fromkeys(
    ["AbstractDevice", "ManualAxisType"],
    "leave it out: no result depends on it",
)


def __getattr__(name: str) -> object:
    _raise_absent(__name__, name, _ON_MORE)
