"""Which processes of a grid take part in a collective: the specification's four ways to group them.

A grid has replicas and partitions; a process is known by its place in both. This file knows places, not values: what
processes tell each other is in `numhlo.lowering.process_grid`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, CommunicationError, UnsupportedError


class Process(NamedTuple):
    """A place in a grid of processes."""

    replica: int
    partition: int

    def __str__(self) -> str:
        return f"({self.replica}, {self.partition})"


class GridShape(NamedTuple):
    """How many processes there are, along both axes of their grid."""

    replicas: int
    partitions: int

    def __str__(self) -> str:
        return f"ProcessGrid(replicas={self.replicas}, partitions={self.partitions})"

    def processes(self) -> list[Process]:
        """Return all processes, in the order of their flattened ids.

        Examples
        --------
        >>> [tuple(p) for p in GridShape(2, 2).processes()]
        [(0, 0), (0, 1), (1, 0), (1, 1)]
        """
        return [Process(r, p) for r in range(self.replicas) for p in range(self.partitions)]

    def number(self, process: Process) -> int:
        """Return a process's flattened id."""
        return process.replica * self.partitions + process.partition


DEVICES = ("mhlo.num_replicas", "mhlo.num_partitions")
"""Attributes of a module that say for how many devices it is, along both axes of their grid."""


def grid_for(attributes: Mapping[str, Any], size: int) -> GridShape | None:
    """Return the grid that so many processes are for a program; None where it is for one process.

    Parameters
    ----------
    attributes : mapping
        The module's. Where they say nothing, every process is a replica.
    size : int

    Raises
    ------
    ArgumentError
        If the program is for another number of processes.

    Examples
    --------
    >>> grid_for({"mhlo.num_partitions": 2}, 4)
    GridShape(replicas=2, partitions=2)
    """
    replicas, partitions = (attributes.get(name) for name in DEVICES)
    if replicas == partitions == 1:
        return None
    if partitions is None:
        replicas = size if replicas is None else replicas
        partitions = size // replicas
    elif replicas is None:
        replicas = size // partitions
    if replicas * partitions != size:
        raise ArgumentError(
            f"the program is for {replicas} replicas of {partitions} partitions, and there are {size} processes",
            where=capture_location(),
            fix=f"start {replicas * partitions} processes: mpiexec -n {replicas * partitions} python ...",
        )
    return GridShape(int(replicas), int(partitions))


Group = tuple[Process, ...]
Ids = Sequence[Sequence[int]]


def cross_replica(ids: Ids, shape: GridShape) -> Iterator[Group]:
    """Yield groups of replicas, in each partition of its own.

    Examples
    --------
    >>> [[tuple(p) for p in group] for group in cross_replica([[0, 1]], GridShape(2, 2))]
    [[(0, 0), (1, 0)], [(0, 1), (1, 1)]]
    """
    for row in ids:
        for partition in range(shape.partitions):
            yield tuple([Process(replica, partition) for replica in row])


def cross_partition(ids: Ids, shape: GridShape) -> Iterator[Group]:
    """Yield groups of partitions, in each replica of its own."""
    for row in ids:
        for replica in range(shape.replicas):
            yield tuple([Process(replica, partition) for partition in row])


def cross_replica_and_partition(ids: Ids, shape: GridShape) -> Iterator[Group]:
    """Yield groups of replicas, with all their partitions.

    Examples
    --------
    >>> [[tuple(p) for p in group] for group in cross_replica_and_partition([[0, 1]], GridShape(2, 2))]
    [[(0, 0), (1, 0), (0, 1), (1, 1)]]
    """
    for row in ids:
        yield tuple([Process(replica, partition) for partition in range(shape.partitions) for replica in row])


def flattened_ids(ids: Ids, shape: GridShape) -> Iterator[Group]:
    """Yield groups of processes by their numbers.

    Examples
    --------
    >>> [[tuple(p) for p in group] for group in flattened_ids([[0, 3]], GridShape(2, 2))]
    [[(0, 0), (1, 1)]]
    """
    for row in ids:
        yield tuple([Process(*divmod(number, shape.partitions)) for number in row])


DEVICES = ("mhlo.num_replicas", "mhlo.num_partitions")
"""Attributes of a module that say for how many devices it is, along both axes of their grid."""

OF_EITHER = frozenset({"all_to_all", "collective_broadcast", "collective_permute", "cross-replica-sum"})
"""Ops that join replicas, or partitions where they have a channel; the others join both there."""

OF_SOME = frozenset({"collective_broadcast", "collective_permute"})
"""Ops that may leave processes out."""


def groups_of(name: str, attributes: Mapping[str, Any], shape: GridShape) -> list[Group]:
    """Return the groups of a collective; of ``collective_permute`` the pairs of a source and a target.

    Parameters
    ----------
    name : str
        The op's.
    attributes : mapping
        The op's, with defaults filled in or left out.
    shape : GridShape

    Raises
    ------
    CommunicationError
        If ids are out of the grid, or some are missing where all must be there.
    UnsupportedError
        If groups are given as axes of a mesh.

    Notes
    -----
    StableHLO specification, collective ops. No groups at all are one group of all.
    """
    channel = attributes.get("channel_handle")
    has_channel = channel is not None and channel.handle > 0
    ids = _rows(name, attributes.get("source_target_pairs", attributes.get("replica_groups")))
    if attributes.get("use_global_device_ids") is not None:
        count, strategy = shape.replicas * shape.partitions, flattened_ids
    elif not has_channel:
        count, strategy = shape.replicas, cross_replica
    elif name in OF_EITHER:
        count, strategy = shape.partitions, cross_partition
    else:
        count, strategy = shape.replicas, cross_replica_and_partition
    if not any(ids) and name != "collective_permute":
        ids = [list(range(count))]
    _require_ids(name, ids, count)
    return list(strategy(ids, shape))


def _rows(name: str, given: Any) -> list[list[int]]:
    if not isinstance(given, np.ndarray | list | tuple):
        raise UnsupportedError(
            f"stablehlo.{name} has groups that are axes of a mesh", fix="write replica_groups as a matrix of numbers"
        )
    return [[int(number) for number in row if number >= 0] for row in np.asarray(given, np.int64).tolist()]


def _require_ids(name: str, ids: Iterable[Iterable[int]], count: int) -> None:
    """Raise unless ids are known, and all there where they must be."""
    found = {number for row in ids for number in row}
    is_known = found.issubset(range(count))
    if is_known and (name in OF_SOME or len(found) == count):
        return
    raise CommunicationError(
        f"stablehlo.{name} groups {sorted(found)}, the grid has {count} of them",
        why="ids must be in the grid" if not is_known else "its groups must hold all ids of the grid",
        fix="run it on a grid of the size that it was written for",
    )


def require_size(attributes: Mapping[str, Any], grid: GridShape | None) -> None:
    """Raise if a module of these attributes is for another number of processes than there are.

    Parameters
    ----------
    attributes : mapping
    grid : GridShape or None
        None is one process that is not of a grid.

    Raises
    ------
    UnsupportedError
        If a single process is to run a program for several.
    ArgumentError
        If the program is for another grid.
    """
    for name, extent in zip(DEVICES, grid or (1, 1), strict=True):
        count = attributes.get(name, extent)
        if count != extent and grid is None:
            raise UnsupportedError(
                f"the program is for several devices: {name} is {count}",
                where=capture_location(),
                why="a program that is called is one process",
                fix="export it for one device, without shardings; or run all processes, by "
                "numhlo.distributed.ProcessGrid",
            )
        if count != extent:
            raise ArgumentError(
                f"the program is for another grid: {name} is {count}, not {extent}", where=capture_location()
            )
