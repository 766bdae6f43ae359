"""Arrays that were told how they lie on devices, and making them from what each device holds.

An array is whole, in the one memory that there is; what it was told is recorded, and says which part is whose.
Operations forget it: their results are on the first device.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numhlo.compat.jax.arrays import FINISHED, LEAVES, OWN, Array, frozen
from numhlo.library.sharding.shardings import Index, Sharding
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, ShapeError
from numhlo.tracer.core.jax_types import jax_rules
from numhlo.tracer.core.trace import Tracer


class ShardedArray(Array):
    """An immutable array with a sharding of its own."""

    __slots__ = ("_placed",)
    _placed: Sharding | None

    def __array_finalize__(self, source: Any) -> None:
        self._placed = None

    @property
    def sharding(self) -> Sharding:
        """Return how the array lies on devices."""
        return super().sharding if self._placed is None else self._placed

    @property
    def committed(self) -> bool:  # type: ignore[override]
        """Return whether it was told on which devices it lies."""
        return self._placed is not None

    @property
    def is_fully_replicated(self) -> bool:  # type: ignore[override]
        """Return whether each device holds all of it."""
        return self.sharding.is_fully_replicated

    @property
    def device(self) -> Any:  # type: ignore[override]
        """Return the device, or the sharding where there are several."""
        devices = self.sharding.device_set
        return next(iter(devices)) if len(devices) == 1 else self.sharding


ShardedArray.__name__ = ShardedArray.__qualname__ = "Array"

for _classes in (FINISHED, LEAVES, OWN):
    _classes.add(ShardedArray)


def placed(x: Any, sharding: Sharding) -> Any:
    """Return an array that lies on devices as a sharding says; a traced one as it is.

    Raises
    ------
    ShapeError
        If parts would differ in size.
    """
    sharding.shard_shape(tuple(np.shape(x)))
    if isinstance(x, Tracer):
        return x
    array = frozen(np.asarray(x) if type(x) not in OWN else x)
    found = array.view(ShardedArray)
    found.flags.writeable = False
    found._placed = sharding
    return found


def plain(x: Any) -> Any:
    """Return an array without what it was told of devices; anything else as it is."""
    return x.view(Array) if type(x) is ShardedArray else x


def make_array_from_callback(
    shape: Sequence[int], sharding: Sharding, data_callback: Callable[[Index], Any], dtype: Any = None
) -> Any:
    """Return an array of what a function returns for each part, by its place in the array.

    Parameters
    ----------
    shape : sequence of int
    sharding : Sharding
    data_callback : callable
        Takes a tuple of slices, returns that part.
    dtype : dtype, optional

    Returns
    -------
    Array

    Raises
    ------
    ShapeError
        If a part has another shape.

    Examples
    --------
    >>> import numhlo.compat.jax as jax
    >>> whole = np.arange(4.0)
    >>> sharding = jax.NamedSharding(jax.make_mesh((1,), ("x",)), jax.P("x"))
    >>> make_array_from_callback((4,), sharding, lambda index: whole[index])
    Array([0., 1., 2., 3.], dtype=float...)
    """
    extents = tuple(map(operator.index, shape))
    indices = sharding.devices_indices_map(extents)
    parts = {_key(index): index for index in indices.values()}
    return _joined(extents, sharding, [(index, data_callback(index)) for index in parts.values()], dtype)


def make_array_from_single_device_arrays(
    shape: Sequence[int], sharding: Sharding, arrays: Sequence[Any], *, dtype: Any = None
) -> Any:
    """Return an array of its parts, one for each device.

    Parameters
    ----------
    shape : sequence of int
    sharding : Sharding
    arrays : sequence of Array
        In the devices' order, or each put on its device.
    dtype : dtype, optional

    Returns
    -------
    Array

    Raises
    ------
    ArgumentError
        If there is not one for each device.
    ShapeError
        If a part has another shape.
    """
    extents = tuple(map(operator.index, shape))
    indices = sharding.devices_indices_map(extents)
    if len(arrays) != len(indices):
        raise ArgumentError(
            f"{len(arrays)} arrays for {len(indices)} devices", where=capture_location(), fix="give one for each"
        )
    by_device = {next(iter(x.devices())): x for x in arrays if isinstance(x, ShardedArray)}
    given = [by_device.get(device) for device in indices] if len(by_device) == len(indices) else arrays
    return _joined(extents, sharding, list(zip(indices.values(), given, strict=True)), dtype)


def make_array_from_process_local_data(
    sharding: Sharding, local_data: Any, global_shape: Sequence[int] | None = None
) -> Any:
    """Return an array of this process's part, which is all of it: there is one process.

    Parameters
    ----------
    sharding : Sharding
    local_data : array_like
    global_shape : sequence of int, optional

    Returns
    -------
    Array

    Raises
    ------
    ShapeError
        If the shape is another one.
    """
    shape = np.shape(local_data)
    if global_shape is not None and tuple(global_shape) != shape:
        raise ShapeError(
            f"local data of shape {shape} for an array of shape {tuple(global_shape)}",
            where=capture_location(),
            why="one process has all of it",
        )
    return placed(local_data, sharding)


def _key(index: Index) -> tuple[Any, ...]:
    return tuple([(s.start, s.stop) for s in index])


def _joined(shape: tuple[int, ...], sharding: Sharding, parts: Sequence[tuple[Index, Any]], dtype: Any) -> Any:
    arrays = [(index, np.asarray(part, dtype)) for index, part in parts]
    whole = np.empty(shape, arrays[0][1].dtype)
    wanted = sharding.shard_shape(shape)
    for index, part in arrays:
        if part.shape != wanted:
            raise ShapeError(
                f"a part of shape {part.shape} of an array of shape {shape}",
                where=capture_location(),
                why=f"each device holds one of shape {wanted}",
            )
        whole[index] = part
    return placed(whole.astype(jax_rules().canonical(whole.dtype), copy=False), sharding)
