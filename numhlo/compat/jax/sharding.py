"""`jax.sharding`: meshes of one device and how arrays are spread over them, which is not at all.

Programs that are written for any number of devices run on one; a mesh that needs more is refused.
"""

from __future__ import annotations

import enum
import math
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from numhlo.compat.jax.processor import Device, Sharding, SingleDeviceSharding
from numhlo.library.lax.devices import require_cpu
from numhlo.library.unsupported_names import raise_absent as _raise_absent
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.lowering.ir.scoped_values import ScopedValue
from numhlo.tracer.trees.pytrees import tree_leaves

__all__ = [
    "AbstractMesh", "AxisType", "Mesh", "NamedSharding", "PartitionSpec", "Sharding", "SingleDeviceSharding",
    "auto_axes", "explicit_axes", "get_abstract_mesh", "get_mesh", "make_mesh", "require_sharding", "reshard",
    "set_mesh", "use_mesh",
]  # fmt: skip


class AxisType(enum.Enum):
    """Who says how arrays are spread along a mesh's axis; on one device nobody needs to."""

    Auto = enum.auto()
    Explicit = enum.auto()
    Manual = enum.auto()


class PartitionSpec(tuple[Any, ...]):
    """Over which of a mesh's axes each axis of an array is spread: a name, a tuple of names, or None.

    Examples
    --------
    >>> PartitionSpec("x", None)
    PartitionSpec('x', None)
    """

    __slots__ = ()
    UNCONSTRAINED = object()

    def __new__(cls, *partitions: Any) -> PartitionSpec:
        """Return a specification, one part for each axis."""
        return super().__new__(cls, partitions)

    def __repr__(self) -> str:
        return f"PartitionSpec({', '.join(map(repr, self))})"

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)

    @property
    def names(self) -> list[Any]:
        """Return the names of axes that it mentions."""
        parts = [part if isinstance(part, tuple) else (part,) for part in self]
        return [name for part in parts for name in part if name is not None and name is not self.UNCONSTRAINED]


class Mesh:
    """Devices in rows and columns, whose axes have names: here one device, on axes of extent 1.

    Parameters
    ----------
    devices : array_like of Device
    axis_names : str or sequence of str
    axis_types : optional
        Accepted: it is the same for one device.

    Raises
    ------
    ArgumentError
        If it is of several devices, or there is not one name for each axis.

    Examples
    --------
    >>> import numhlo.compat.jax as jax
    >>> dict(Mesh(np.array(jax.devices()), ("x",)).shape)
    {'x': 1}
    """

    def __init__(self, devices: Any, axis_names: Any, axis_types: Any = None) -> None:
        given = np.asarray(devices, dtype=object)
        names = (axis_names,) if isinstance(axis_names, str) else tuple(axis_names)
        _require_one(given.shape, f"a mesh of {given.size} devices")
        if len(names) != given.ndim:
            raise ArgumentError(
                f"a mesh of {given.ndim} axes with {len(names)} names", where=capture_location(), fix="name each axis"
            )
        require_cpu(given.reshape(-1)[0])
        self.devices, self.axis_names = given, names
        self.axis_types = (AxisType.Auto,) * len(names) if axis_types is None else axis_types
        self._blocks: list[Any] = []

    @property
    def shape(self) -> OrderedDict[Any, int]:
        """Return the axes' extents by name."""
        return OrderedDict((name, 1) for name in self.axis_names)

    size = 1
    empty = False

    @property
    def abstract_mesh(self) -> AbstractMesh:
        """Return the axes without the devices."""
        return AbstractMesh((1,) * len(self.axis_names), self.axis_names, self.axis_types)

    def __enter__(self) -> Mesh:
        self._blocks.append(_mesh.bound(self))
        self._blocks[-1].__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._blocks.pop().__exit__(*error)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mesh) and self.axis_names == other.axis_names

    def __hash__(self) -> int:
        return hash(self.axis_names)

    def __repr__(self) -> str:
        axes = ", ".join(f"{name!r}: 1" for name in self.axis_names)
        return f"Mesh({axes})"


class AbstractMesh:
    """The names and extents of a mesh's axes, without the devices.

    Parameters
    ----------
    axis_sizes : sequence of int
    axis_names : sequence of str
    axis_types : optional
        Accepted: it is the same for one device.

    Examples
    --------
    >>> AbstractMesh((1,), ("x",)).shape["x"]
    1
    """

    def __init__(self, axis_sizes: Sequence[int], axis_names: Sequence[Any], axis_types: Any = None) -> None:
        self.axis_sizes, self.axis_names = tuple(axis_sizes), tuple(axis_names)
        self.axis_types = (AxisType.Auto,) * len(self.axis_names) if axis_types is None else axis_types

    @property
    def shape(self) -> OrderedDict[Any, int]:
        """Return the axes' extents by name."""
        return OrderedDict(zip(self.axis_names, self.axis_sizes, strict=True))

    @property
    def size(self) -> int:
        """Return the number of devices."""
        return math.prod(self.axis_sizes)

    @property
    def empty(self) -> bool:
        """Return whether there are no axes."""
        return not self.axis_names

    @property
    def are_all_axes_explicit(self) -> bool:
        """Return whether programs say of every axis how arrays are spread along it."""
        return bool(self.axis_names) and all(kind is AxisType.Explicit for kind in self.axis_types)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AbstractMesh):
            return NotImplemented
        return (self.axis_sizes, self.axis_names) == (other.axis_sizes, other.axis_names)

    def __hash__(self) -> int:
        return hash((self.axis_sizes, self.axis_names))

    def __repr__(self) -> str:
        return f"AbstractMesh({', '.join(f'{name!r}: {size}' for name, size in self.shape.items())})"


_mesh: ScopedValue[Mesh | None] = ScopedValue(None)


class NamedSharding(Sharding):
    """How an array is spread over the axes of a mesh.

    Parameters
    ----------
    mesh : Mesh
    spec : PartitionSpec
    memory_kind : str, optional
        There is one memory.

    Raises
    ------
    ArgumentError
        If the mesh has no axis of a name.
    """

    def __init__(self, mesh: Mesh, spec: PartitionSpec, *, memory_kind: str | None = None) -> None:
        refuse_unknown(mesh, spec)
        self.mesh, self.spec = mesh, spec

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NamedSharding) and (self.mesh, self.spec) == (other.mesh, other.spec)

    def __hash__(self) -> int:
        return hash((self.mesh, self.spec))

    def __repr__(self) -> str:
        return f"NamedSharding(mesh={self.mesh}, spec={self.spec})"


def refuse_unknown(mesh: Mesh, spec: PartitionSpec) -> None:
    """Raise an error if a mesh lacks an axis that a specification names."""
    unknown = [name for name in spec.names if name not in mesh.axis_names]
    if unknown:
        raise ArgumentError(
            f"{spec} names an axis {unknown[0]!r}", where=capture_location(), why=f"the mesh has {mesh.axis_names}"
        )


def _require_one(shape: Sequence[int], what: str) -> None:
    if math.prod(shape) != 1:
        raise ArgumentError(
            what,
            where=capture_location(),
            why="there is one device, with threads in kernels",
            fix="make every axis of extent jax.device_count(), or 1",
        )


def make_mesh(
    axis_shapes: Sequence[int], axis_names: Sequence[Any], axis_types: Any = None, *, devices: Any = None
) -> Mesh:
    """Return a mesh of the one device.

    Parameters
    ----------
    axis_shapes : sequence of int
        All 1.
    axis_names : sequence of str
    axis_types, devices : optional
        Accepted: there is one of each.

    Returns
    -------
    Mesh

    Raises
    ------
    ArgumentError
        If it needs more devices.

    Examples
    --------
    >>> make_mesh((1, 1), ("x", "y"))
    Mesh('x': 1, 'y': 1)
    """
    shape = tuple(axis_shapes)
    _require_one(shape, f"a mesh of {math.prod(shape)} devices")
    return Mesh(np.array([Device("cpu")], dtype=object).reshape(shape), axis_names, axis_types)


class _Chosen:
    """What `set_mesh` returns: the mesh is chosen already; as a block it ends with that."""

    def __init__(self, mesh: Mesh) -> None:
        self._block = _mesh.bound(mesh)
        self._block.__enter__()

    def __enter__(self) -> None:
        """Do nothing: the mesh is chosen."""

    def __exit__(self, *error: object) -> None:
        self._block.__exit__(None, None, None)


_kept: list[_Chosen] = []


def set_mesh(mesh: Mesh) -> _Chosen:
    """Choose the mesh that `shard_map` and specifications alone refer to, in this thread, or in a block."""
    _kept.append(_Chosen(mesh))
    return _kept[-1]


@contextmanager
def use_mesh(mesh: Mesh) -> Iterator[None]:
    """Choose a mesh for a block."""
    with _mesh.bound(mesh):
        yield


def get_mesh() -> Mesh | None:
    """Return the mesh that is chosen, or None."""
    return _mesh.get()


def get_abstract_mesh() -> AbstractMesh:
    """Return the axes of the mesh that is chosen; an empty one where there is none.

    Examples
    --------
    >>> get_abstract_mesh().empty
    True
    """
    mesh = get_mesh()
    return AbstractMesh((), ()) if mesh is None else mesh.abstract_mesh


def auto_axes(f: Any = None, /, **options: Any) -> Any:
    """Return a function as it is: nobody needs to say how arrays are spread over one device."""
    return (lambda function: function) if f is None else f


explicit_axes = auto_axes


def require_sharding(sharding: Any) -> None:
    """Refuse what is no sharding of the one device.

    Raises
    ------
    ArgumentError
        If it is another device, or names an axis that the mesh lacks.
    """
    if isinstance(sharding, PartitionSpec):
        mesh = get_mesh()
        if mesh is not None:
            refuse_unknown(mesh, sharding)
    elif not isinstance(sharding, Sharding):
        require_cpu(sharding)


def reshard(xs: Any, out_shardings: Any) -> Any:
    """Return arrays as they are: one device holds them."""
    require_sharding(out_shardings)
    return xs


def with_sharding_constraint(x: Any, shardings: Any) -> Any:
    """Return arrays as they are: one device holds them."""
    for sharding in tree_leaves(shardings, is_leaf=lambda s: isinstance(s, PartitionSpec)):
        require_sharding(sharding)
    return x


def pvary(x: Any, axis_name: Any) -> Any:
    """Return arrays as they are: what varies over devices is not told apart where there is one."""
    return x


def pcast(x: Any, axis_name: Any = None, *, to: str = "varying") -> Any:
    """Return arrays as they are: what varies over devices is not told apart where there is one."""
    return x


_ON_MORE = dict.fromkeys(
    ["AbstractDevice", "ManualAxisType"],
    "leave it out: there is one device",
)


def __getattr__(name: str) -> object:
    _raise_absent(__name__, name, _ON_MORE)
