"""Programs of whole arrays whose manual computations run in all processes of a grid.

Exporters write what each device does with its part of an array as ``sdy.manual_computation``: around it, the program is
one, of whole arrays. Here the program is interpreted once; the computation's body runs in every process, by whatever
runs it there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from numhlo.lowering.interpreter import BoundRegion, Interpreter, Plan, Plans
from numhlo.lowering.ir import Function, Op, Region
from numhlo.lowering.ir.errors import CommunicationError, NumhloError
from numhlo.lowering.ops.primitive import Arrays, EvaluateRule
from numhlo.lowering.ops.process_groups import GridShape, Process
from numhlo.lowering.process_grid import GridPlans, Mailboxes, Place, run_together
from numhlo.lowering.shards import Mesh, Sharding, parse_shardings


def is_manual(op: Op) -> bool:
    """Return whether an op is what each process does with its parts."""
    return op.definition.dialect == "sdy" and op.definition.name == "manual_computation"


Parts = Mapping[Process, list[np.ndarray]]
Runner = Callable[[Region, Parts], Mapping[Process, Sequence[np.ndarray]]]
"""``runner(region, parts)`` returns what each process gives for its parts and for what the region uses from outside."""


def interpreting(shape: GridShape, host: Mailboxes) -> Runner:
    """Return what runs manual computations op by op, each process in a thread."""

    def run(region: Region, parts: Parts) -> Mapping[Process, Sequence[np.ndarray]]:
        def work(place: Place) -> Sequence[np.ndarray]:
            return Plan(region, GridPlans(place)).run([*parts[place.process]])

        return run_together(dict.fromkeys(parts, work), shape, host)

    return run


class WholePlans(Plans):
    """How a program of whole arrays runs ops: all as they are, but its manual computations in a grid."""

    __slots__ = ("_meshes", "_runner", "_shape")

    def __init__(self, shape: GridShape, meshes: Mapping[str, Mesh], runner: Runner) -> None:
        super().__init__()
        self._shape = shape
        self._meshes = meshes
        self._runner = runner

    def rule(self, op: Op) -> EvaluateRule:
        """Return what evaluates an op."""
        return partial(self._evaluate, op) if is_manual(op) else super().rule(op)

    def _evaluate(
        self, op: Op, arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[BoundRegion]
    ) -> Sequence[np.ndarray]:
        try:
            return self._run(op, arrays, regions[0].captured)
        except NumhloError as error:
            error.where = error.where or op.location
            raise

    def _run(self, op: Op, arrays: Arrays, captured: list[np.ndarray]) -> Sequence[np.ndarray]:
        taken, given = (self._shardings(op, name) for name in ("in_shardings", "out_shardings"))
        mesh = self._mesh([*taken, *given])
        places = mesh.places()
        (region,) = op.regions

        parts = {}
        for process in self._shape.processes():
            where = places[self._shape.number(process)]
            own = [np.asarray(a[s.part(a.shape, where)], order="C") for a, s in zip(arrays, taken, strict=True)]
            _require_shapes(own, [v.tensor.shape for v in region.arguments], "takes")
            parts[process] = [*own, *captured]
        return self._joined(op, given, places, self._runner(region, parts))

    def _joined(
        self,
        op: Op,
        given: Sequence[Sharding],
        places: Mapping[int, Mapping[str, int]],
        found: Mapping[Process, Sequence[np.ndarray]],
    ) -> list[np.ndarray]:
        results = [np.empty(v.tensor.shape, v.tensor.dtype) for v in op.results]
        for process, parts in reversed(list(found.items())):  # where parts are there more than once, the first remains
            where = places[self._shape.number(process)]
            for result, part, sharding in zip(results, parts, given, strict=True):
                box = result[sharding.part(result.shape, where)]
                _require_shapes([part], [box.shape], "gives")
                box[...] = part
        return results

    def _shardings(self, op: Op, name: str) -> list[Sharding]:
        text = str(op.attributes[name]).removeprefix("#sdy.sharding_per_value<").removesuffix(">")
        return parse_shardings(text, self._meshes)

    def _mesh(self, shardings: Sequence[Sharding]) -> Mesh:
        meshes = [sharding.mesh for sharding in shardings]
        count = self._shape.replicas * self._shape.partitions
        for mesh in meshes:
            if mesh != meshes[0] or sorted(mesh.devices) != list(range(count)):
                raise CommunicationError(
                    f"a mesh of {len(mesh.devices)} devices, in a grid of {count} processes",
                    why="each process is one device of the mesh",
                )
        return meshes[0] if meshes else Mesh({"": count}, tuple(range(count)))


def _require_shapes(parts: Sequence[np.ndarray], shapes: Sequence[tuple[int, ...]], verb: str) -> None:
    found = [part.shape for part in parts]
    if found != list(shapes):
        raise CommunicationError(
            f"a manual computation {verb} parts of shapes {list(shapes)}, not {found}",
            why="all axes of the mesh must be manual, and cut as the shardings say",
        )


def run_whole(
    function: Function, arrays: Sequence[np.ndarray], shape: GridShape, meshes: Mapping[str, Mesh], runner: Runner
) -> list[np.ndarray]:
    """Return the results of a program of whole arrays.

    Parameters
    ----------
    function : Function
        Of static shapes, without tuples and tokens.
    arrays : sequence of numpy.ndarray
        One an argument, of exactly the argument's shape and dtype.
    shape : GridShape
        Of the processes in which its manual computations run.
    meshes : mapping from str to Mesh
        That its module declares.
    runner : callable
        Runs these in the processes.

    Raises
    ------
    CommunicationError
        If the processes are not the devices of the meshes, or parts are not what the program says.
    """
    return Interpreter(function, WholePlans(shape, meshes, runner))(arrays)
