"""Programs of one device, made of functions under meshes: the modules that processes of a grid run.

`numhlo.distributed` offers what is here; how such a program is made is in `numhlo.library.sharding.device_programs`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from numhlo.library.sharding.device_programs import (
    DeviceProgram,
    joined,
    lower_for_devices,
    lower_gathering,
    part,
    partition_for_devices,
)
from numhlo.library.sharding.meshes import AbstractMesh, Mesh
from numhlo.library.sharding.shard_map import plan_of
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.counted import counted
from numhlo.lowering.ir.errors import ArgumentError, ShapeError
from numhlo.stablehlo import Module
from numhlo.tracer.core.arguments import ShapeDtypeStruct
from numhlo.tracer.core.array import Array
from numhlo.tracer.trees.pytrees import tree_leaves, tree_map, tree_unflatten


class ShardProgram:
    """A program that each process of a grid runs on its parts of arrays; made by `lower_shard` and `partition`.

    Attributes
    ----------
    module : Module
        The same for all processes. Its function ``main`` takes a device's parts of the arguments' leaves, and returns
        its parts of the results' leaves. Devices are partitions, numbered row-major over the mesh.
    partitions : int
        The number of devices.

    Examples
    --------
    >>> import numpy as np
    >>> from numhlo.distributed import ProcessGrid, PartitionSpec, make_mesh
    >>> rows = {"mesh": make_mesh((2,), "x"), "in_specs": PartitionSpec("x"), "out_specs": PartitionSpec("x")}
    >>> program = lower_shard(lambda part: part[::-1], **rows)(np.arange(4))
    >>> program, program.split(np.arange(4))
    (<program of 2 devices: <function @main(tensor<2xi64>) -> (tensor<2xi64>)>>, [(Array([0, 1]),), (Array([2, 3]),)])
    >>> program.join(ProcessGrid(partitions=2).run(program.module, program.split(np.arange(4))))
    Array([1, 0, 3, 2])
    """

    def __init__(self, program: DeviceProgram) -> None:
        self._program = program
        self.module = Module(program.module)
        self.partitions = int(np.prod([*program.sizes.values()]))

    def __repr__(self) -> str:
        return f"<program of {counted(self.partitions, 'device')}: {self.module.graph.main!r}>"

    @cached_property
    def gathering(self) -> Module:
        """Return the program by which each process gets whole results; ``main`` takes its parts of their leaves."""
        return Module(lower_gathering(self._program).module)

    def tree_of(self, leaves: Sequence[Any]) -> Any:
        """Return results' leaves, as a program has them, in their pytree."""
        return tree_unflatten(self._program.out_tree, leaves)

    def split(self, *args: Any) -> list[tuple[Array, ...]]:
        """Return each device's parts of whole arguments: what `ProcessGrid.run` takes.

        Parameters
        ----------
        *args : pytree of array_like
            Of the shapes that the program was made for.

        Raises
        ------
        ShapeError
            If a shape is another one.
        """
        return [self.part(number, *args) for number in range(self.partitions)]

    def part(self, number: int, /, *args: Any) -> tuple[Array, ...]:
        """Return one device's parts of whole arguments.

        Of arrays in mapped files nothing else is read: each process of a grid loads what it works on.

        Parameters
        ----------
        number : int
            The device's.
        *args : pytree of array_like
            Of the shapes that the program was made for.

        Raises
        ------
        ShapeError
            If a shape is another one.
        ArgumentError
            If there is no such device.
        """
        shapes = [np.shape(x) for x in tree_leaves(args)]
        if shapes != self._program.shapes:
            raise ShapeError(
                f"arguments of shapes {shapes}",
                where=capture_location(),
                why=f"the program was made for {self._program.shapes}",
                fix="call what lower_shard returned again, for other shapes",
            )
        if not 0 <= number < self.partitions:
            raise ArgumentError(f"device {number} of {self.partitions}", where=capture_location())
        return tuple([x.view(Array) for x in part(self._program, number, args)])

    def join(self, results: Sequence[Sequence[Any]]) -> Any:
        """Return whole results, in their pytree, of what each device returned.

        Parameters
        ----------
        results : sequence of sequences of array_like
            What `ProcessGrid.run` returns.

        Raises
        ------
        ArgumentError
            If there is not one for each device.
        """
        if len(results) != self.partitions:
            raise ArgumentError(
                f"results of {counted(len(results), 'device')}, of {self.partitions}", where=capture_location()
            )
        arrays = joined(self._program, [[np.asarray(x) for x in parts] for parts in results])
        return self.tree_of([x.view(Array) for x in arrays])


def lower_shard(
    f: Callable[..., Any],
    *,
    mesh: Mesh | AbstractMesh | None = None,
    in_specs: Any = None,
    out_specs: Any = None,
    axis_names: Collection[Any] | None = None,
    check_vma: bool = True,
) -> Callable[..., ShardProgram]:
    """Make the program of one device of a function that `shard_map` takes: collectives stay collectives.

    Parameters
    ----------
    f, mesh, in_specs, out_specs, axis_names, check_vma
        As those of `shard_map`.

    Returns
    -------
    callable
        Takes whole arrays, of which only the types matter, or `numhlo.ShapeDtypeStruct`, and returns a `ShardProgram`.

    Raises
    ------
    ArgumentError, ShapeError
        As by `shard_map`.

    Examples
    --------
    >>> import numpy as np
    >>> from numhlo.distributed import ProcessGrid, PartitionSpec, make_mesh, psum
    >>> x = np.arange(4.0)
    >>> rows = PartitionSpec("x")
    >>> lower = lower_shard(lambda x: x / psum(x.sum(), "x"), mesh=make_mesh((2,), "x"), in_specs=rows, out_specs=rows)
    >>> program = lower(x)
    >>> program.join(ProcessGrid(partitions=2).run(program.module, program.split(x))).round(2)
    Array([0.  , 0.17, 0.33, 0.5 ])
    """
    plan = plan_of(f, mesh, in_specs, out_specs, axis_names, check_vma)

    @functools.wraps(f)
    def lowered(*args: Any) -> ShardProgram:
        return ShardProgram(lower_for_devices(plan, tree_map(_as_array, args)))

    return lowered


def partition(
    f: Callable[..., Any], *, mesh: Mesh | AbstractMesh | None = None, in_specs: Any = None, out_specs: Any = None
) -> Callable[..., ShardProgram]:
    """Make the program of one device of a function of whole arrays, whose arguments and results are cut over a mesh.

    Which parts of intermediate values are whose follows from the arguments. Elementwise functions, broadcasts,
    transposes, reshapes, slices, sums and matrix products work on parts; what has no rule works on whole arrays, which
    are gathered before. The function knows nothing of devices.

    Parameters
    ----------
    f : callable
        Takes and returns pytrees of arrays.
    mesh : Mesh, optional
        By default that which `set_mesh` chose.
    in_specs, out_specs : PartitionSpec, or pytree of them
        How arguments and results are cut.

    Returns
    -------
    callable
        Takes whole arrays, of which only the types matter, or `numhlo.ShapeDtypeStruct`, and returns a `ShardProgram`.

    Raises
    ------
    ArgumentError, ShapeError
        As by `shard_map`.
    UnsupportedError
        If the function has effects, which would happen on every device.

    Examples
    --------
    >>> import numhlo.numpy as np
    >>> from numhlo.distributed import ProcessGrid, PartitionSpec, make_mesh
    >>> x = np.arange(4.0)
    >>> rows = PartitionSpec("x")
    >>> program = partition(lambda x: x / x.sum(), mesh=make_mesh((2,), "x"), in_specs=rows, out_specs=rows)(x)
    >>> program.module.as_text().count("all_reduce")
    1
    >>> program.join(ProcessGrid(partitions=2).run(program.module, program.split(x))).round(2)
    Array([0.  , 0.17, 0.33, 0.5 ])
    """
    plan = plan_of(f, mesh, in_specs, out_specs, None, False)

    @functools.wraps(f)
    def partitioned(*args: Any) -> ShardProgram:
        return ShardProgram(partition_for_devices(plan, tree_map(_as_array, args)))

    return partitioned


def _as_array(leaf: Any) -> Any:
    """Return a leaf; for a type, an array of it that takes no memory."""
    return np.broadcast_to(np.zeros((), leaf.dtype), leaf.shape) if isinstance(leaf, ShapeDtypeStruct) else leaf
