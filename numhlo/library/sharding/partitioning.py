"""Partitioning: a program of whole arrays made the program of one device, given how its arguments are cut.

Cuts are propagated from operands to results, op by op: elementwise ops, broadcasts, transposes, reshapes, slices,
reductions and products work on parts, and sums over cut dimensions are added up between devices. What has no rule works
on whole arrays, which are gathered. How each op passes cuts on is in `partition_rules`; this file knows parts, and how
they are cut further and gathered.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from numhlo.library.sharding.meshes import PartitionSpec
from numhlo.library.sharding.parts import Sizes, part_shape
from numhlo.lowering.ir import Function, Op, Region, TensorType, Type, Value
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.lowering.ops import communication, conversion, indexing
from numhlo.lowering.ops import elementwise as ops
from numhlo.lowering.ops.dimension_numbers import ChannelHandle
from numhlo.lowering.ops.effects import op_has_effects
from numhlo.lowering.ops.primitive import Primitive
from numhlo.lowering.passes.dead_ops import remove_dead_ops
from numhlo.lowering.passes.legalizer import Builder

Cut = tuple[tuple[Any, ...], ...]
"""Names of the axes that cut each dimension; of several the first cuts into the largest parts."""

CHANNEL = ChannelHandle(1, 1)
INDEX = TensorType((), np.dtype(np.int64))


class Part(NamedTuple):
    """A device's part of a value.

    Attributes
    ----------
    value : Value
        In the program of one device.
    cut : tuple of tuple
        How the whole value is cut.
    shape : tuple of int
        Of the whole value.
    again : callable, optional
        Makes the part for another cut anew, where that needs no device but this one: broadcasts and constants, and
        what is computed of them alone.
    """

    value: Value
    cut: Cut
    shape: tuple[int, ...]
    again: Callable[[Cut], Part] | None = None


def whole(ndim: int) -> Cut:
    """Return the cut of what every device has all of."""
    return ((),) * ndim


def cut_of(spec: PartitionSpec, ndim: int) -> Cut:
    """Return how a specification cuts an array."""
    return tuple([tuple(spec.axes(k)) for k in range(ndim)])


class Partitioner:
    """Writes the program of one device.

    Attributes
    ----------
    b : Builder
    sizes : dict
        Extents of the mesh's axes, by name.
    """

    def __init__(self, sizes: Sizes, name: str, types: Sequence[Type]) -> None:
        self.sizes = sizes
        self.b = Builder(name, types)
        self._parts: dict[Value, Part] = {}
        self._made: dict[tuple[Value, Cut, int], Part] = {}
        self._scope = self._scopes = 0
        self._numbers = np.arange(math.prod(sizes.values())).reshape(*sizes.values())

    # -- walking

    def define(self, values: Sequence[Value], parts: Sequence[Part]) -> None:
        """Note what devices have of values."""
        self._parts.update(zip(values, parts, strict=True))

    def part(self, value: Value) -> Part:
        """Return what devices have of a value."""
        return self._parts[value]

    def fill(self, region: Region) -> list[Part]:
        """Append what a region's ops become, and return its results."""
        for op in region.ops:
            self.b.location = op.location
            self.define(op.results, self.op(op))
        return [self._parts[v] for v in region.returns]

    def op(self, op: Op) -> Sequence[Part]:
        """Append what an op becomes."""
        rule = RULES.get(op.definition) or FAMILIES.get(type(op.definition), on_whole_arrays)
        return rule(self, op, [self._parts[v] for v in op.operands])

    def region(self, region: Region, cuts: Sequence[Cut], results: Sequence[Cut]) -> Region:
        """Return a region of parts, given how its arguments and results are cut."""
        types = [self.local(v.tensor, cut) for v, cut in zip(region.arguments, cuts, strict=True)]

        outer, self._scopes = self._scope, self._scopes + 1
        inner = self._scopes

        def write(*arguments: Value) -> list[Value]:
            self._scope = inner
            given = zip(region.arguments, arguments, cuts, strict=True)
            self.define(region.arguments, [Part(x, cut, v.tensor.shape) for v, x, cut in given])
            found = self.fill(region)
            return [self.to(part, cut).value for part, cut in zip(found, results, strict=True)]

        made = self.b.region(types, write)
        self._scope = outer
        return made

    def scalar_region(self, region: Region) -> Region:
        """Return a copy of a region that works on scalars and uses nothing from outside but scalars."""
        arguments = [whole(v.tensor.ndim) for v in region.arguments]
        return self.region(region, arguments, [whole(v.tensor.ndim) for v in region.returns])

    def emit(self, op: Op, operands: Sequence[Part], cuts: Sequence[Cut], **changed: Any) -> list[Part]:
        """Append an op on parts, whose results are cut in some way."""
        types = [self.local(v.tensor, cut) for v, cut in zip(op.results, cuts, strict=True)]
        regions = [self.scalar_region(r) for r in op.regions]
        attributes = {**op.attributes, **changed}
        made = self.b.append(Op(op.definition, [x.value for x in operands], attributes, regions, types, op.location))
        shapes = [v.tensor.shape for v in op.results]
        return [Part(x, cut, shape) for x, cut, shape in zip(made, cuts, shapes, strict=True)]

    # -- parts

    def count(self, names: Sequence[Any]) -> int:
        """Return into how many parts axes cut."""
        return math.prod(self.sizes[name] for name in names)

    def local_shape(self, shape: Sequence[int], cut: Cut) -> tuple[int, ...]:
        """Return the shape of a part."""
        return tuple([n // self.count(names) for n, names in zip(shape, cut, strict=True)])

    def local(self, type: TensorType, cut: Cut) -> TensorType:
        """Return the type of a part."""
        return type.with_shape(self.local_shape(type.shape, cut))

    def cuts(self, extent: int, names: Sequence[Any]) -> bool:
        """Return whether axes cut an extent into equal parts."""
        return extent % self.count(names) == 0

    def to(self, part: Part, cut: Cut) -> Part:
        """Return a value cut in another way: gathered where it is cut otherwise, and cut where it is not."""
        if part.cut == cut:
            return part
        if part.again is not None:
            key = part.value, cut, self._scope
            if key not in self._made:
                self._made[key] = part.again(cut)
            return self._made[key]
        for dimension, names in enumerate(cut):
            kept = part.cut[dimension]
            if kept != names[: len(kept)]:
                part = self._gather(part, dimension)
        for dimension, names in enumerate(cut):
            if part.cut[dimension] != names:
                part = self._slice(part, dimension, names)
        return part

    def groups(self, names: Sequence[Any]) -> np.ndarray:
        """Return the devices that differ along some axes alone, a row for each group, the first axis slowest."""
        order = list(map(list(self.sizes).index, names))
        rows = np.moveaxis(self._numbers, order, range(-len(order), 0))
        return rows.reshape(-1, self.count(names)).astype(np.int64)

    def _gather(self, part: Part, dimension: int) -> Part:
        names = part.cut[dimension]
        cut = (*part.cut[:dimension], (), *part.cut[dimension + 1 :])
        (value,) = self.b.ops(
            communication.ALL_GATHER,
            part.value,
            results=[part.value.tensor.with_shape(self.local_shape(part.shape, cut))],
            all_gather_dim=dimension,
            replica_groups=self.groups(names),
            channel_handle=CHANNEL,
            use_global_device_ids=True,
        )
        return Part(value, cut, part.shape)

    def _slice(self, part: Part, dimension: int, names: tuple[Any, ...]) -> Part:
        further = names[len(part.cut[dimension]) :]
        shape = part.value.tensor.shape
        step = shape[dimension] // self.count(further)
        zero, start = self.b.constant(np.int64(0)), self.offset(further, step)
        sizes = (*shape[:dimension], step, *shape[dimension + 1 :])
        starts = [start if k == dimension else zero for k in range(len(shape))]
        value = self.b.op(indexing.DYNAMIC_SLICE, part.value, *starts, slice_sizes=sizes)
        return Part(value, (*part.cut[:dimension], names, *part.cut[dimension + 1 :]), part.shape)

    def offset(self, names: Sequence[Any], step: int) -> Value:
        """Return where this device's part begins along a dimension that axes cut into parts of ``step``."""
        number = self.b.op(
            conversion.CONVERT, self.b.op(communication.PARTITION_ID, result=communication.ID), result=INDEX
        )
        total = self.b.constant(np.int64(0))
        order = list(self.sizes)
        for name in names:
            stride = math.prod(self.sizes[n] for n in order[order.index(name) + 1 :])
            place = self.b.op(ops.DIVIDE, number, self.b.constant(np.int64(stride)))
            place = self.b.op(ops.REMAINDER, place, self.b.constant(np.int64(self.sizes[name])))
            total = self.b.op(ops.MULTIPLY, total, self.b.constant(np.int64(self.sizes[name])))
            total = self.b.op(ops.ADD, total, place)
        return self.b.op(ops.MULTIPLY, total, self.b.constant(np.int64(step)))

    def all_reduce(self, value: Value, op: Primitive, names: Sequence[Any]) -> Value:
        """Return the values of devices that differ along some axes, combined."""
        scalar = TensorType((), value.tensor.dtype)
        region = self.b.region([scalar, scalar], lambda x, y: [self.b.op(op, x, y)])
        (found,) = self.b.ops(
            communication.ALL_REDUCE,
            value,
            regions=[region],
            results=[value.type],
            replica_groups=self.groups(names),
            channel_handle=CHANNEL,
            use_global_device_ids=True,
        )
        return found


Rule = Callable[[Partitioner, Op, list[Part]], Sequence[Part]]

RULES: dict[Primitive, Rule] = {}
"""How ops pass cuts on."""

FAMILIES: dict[type[Primitive], Rule] = {}
"""And families of ops."""


def on_whole_arrays(p: Partitioner, op: Op, parts: list[Part]) -> Sequence[Part]:
    """Run an op that has no rule on whole arrays, in every device."""
    if op_has_effects(op):
        raise UnsupportedError(
            f"partitioning of {op.definition.name}", where=op.location, why="it would happen once on every device"
        )
    given = [p.to(x, whole(len(x.shape))) for x in parts]
    return p.emit(op, given, [whole(v.tensor.ndim) for v in op.results])


def partition(
    function: Function,
    arguments: Sequence[PartitionSpec],
    results: Sequence[PartitionSpec],
    constants: Sequence[np.ndarray],
    sizes: Sizes,
) -> Function:
    """Return the program of one device.

    Parameters
    ----------
    function : Function
        Of whole arrays: the arguments, then the constants. It loses what nobody needs, so that no sum of that is made.
    arguments, results : sequence of PartitionSpec
        How they are cut.
    constants : sequence of numpy.ndarray
    sizes : mapping
        Extents of the mesh's axes, by name.
    """
    remove_dead_ops(function.body)
    types = [v.tensor for v in function.body.arguments[: len(arguments)]]
    cuts = [cut_of(spec, type.ndim) for spec, type in zip(arguments, types, strict=True)]
    shapes = [part_shape(t.shape, spec, sizes, "an argument") for t, spec in zip(types, arguments, strict=True)]
    p = Partitioner(sizes, "main", [t.with_shape(shape) for t, shape in zip(types, shapes, strict=True)])
    given = [Part(x, cut, t.shape) for x, cut, t in zip(p.b.arguments, cuts, types, strict=True)]
    given += [Part(p.b.constant(x), whole(x.ndim), x.shape) for x in constants]
    p.define(function.body.arguments, given)
    found = p.fill(function.body)
    for spec, part in zip(results, found, strict=True):
        part_shape(part.shape, spec, sizes, "a result")
    wanted = [cut_of(spec, len(part.shape)) for spec, part in zip(results, found, strict=True)]
    made = p.b.finish([p.to(x, cut).value for x, cut in zip(found, wanted, strict=True)], visibility="public")
    remove_dead_ops(made.body)  # wholes of what is made again in parts
    return made
