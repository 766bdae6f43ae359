"""What one device does as a program of its own, the same for all processes of a grid: StableHLO with collectives.

A process is one partition, and its number the device's position in the mesh, row-major. Functions of named axes become
StableHLO's collectives over groups of partitions, as JAX writes them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

import numhlo.library.sharding.partition_rules  # noqa: F401 - ops get their rules
from numhlo.library.lax.collective_moves import all_gather
from numhlo.library.sharding.meshes import AbstractMesh, PartitionSpec
from numhlo.library.sharding.partitioning import partition
from numhlo.library.sharding.parts import Sizes, part_shape
from numhlo.library.sharding.shard_map import MapPlan, spread_specs, trace_mapped
from numhlo.library.sharding.varying_axes import REDUCING
from numhlo.lowering.ir import Function, Module, Op, TensorType, Value
from numhlo.lowering.ops import communication, conversion, layout
from numhlo.lowering.ops import elementwise as ops
from numhlo.lowering.ops.control_flow import CUSTOM_CALL
from numhlo.lowering.ops.dimension_numbers import ChannelHandle
from numhlo.lowering.ops.primitive import Primitive
from numhlo.lowering.passes.legalizer import Builder, Legalizer, Rule
from numhlo.tracer.building import (
    PyTreeDef,
    asarray,
    new_trace,
    run_traced,
    shape_of,
    tree_flatten,
    tree_leaves,
    tree_unflatten,
)
from numhlo.tracer.building.derivatives import stage
from numhlo.tracer.building.named_axes import Collective, collective_of

CHANNEL = ChannelHandle(1, 1)
"""From device to device; the specification tells collectives of partitions by having one."""


class DeviceProgram(NamedTuple):
    """A program that each device of a mesh runs on its parts.

    Attributes
    ----------
    module : Module
        Its function ``main`` takes a device's parts of the arguments' leaves.
    sizes : dict
        Extents of the mesh's axes, by name.
    in_specs, out_specs : list of PartitionSpec
        How the arguments' leaves are cut, and how the results' are made of parts.
    shapes : list of tuple of int
        Of the whole arguments.
    out_tree : PyTreeDef
    """

    module: Module
    sizes: Sizes
    in_specs: list[PartitionSpec]
    out_specs: list[PartitionSpec]
    shapes: list[tuple[int, ...]]
    out_tree: PyTreeDef


def lower_for_devices(plan: MapPlan, args: tuple[Any, ...]) -> DeviceProgram:
    """Return the program of one device for arguments of these types.

    Parameters
    ----------
    plan : MapPlan
    args : tuple of pytrees of array_like
        Whole arrays; their values do not matter.
    """
    leaves = tree_leaves(args)
    shapes = [shape_of(x) for x in leaves]
    with new_trace():
        made = trace_mapped(plan, args, values_matter=False)
    count = len(leaves)
    sizes = dict(plan.mesh.shape)
    constants = [np.asarray(x) for x in made.staged.captures]
    main = _Lowering(sizes, made.function).main(count, constants)
    module = _module(main, made.function.name, plan)
    return DeviceProgram(module, sizes, made.in_specs[:count], made.out_specs, shapes, made.staged.out_tree)


def partition_for_devices(plan: MapPlan, args: tuple[Any, ...]) -> DeviceProgram:
    """Return the program of one device of a function of whole arrays, for arguments of these types.

    Parameters
    ----------
    plan : MapPlan
        Its function takes and returns whole arrays.
    args : tuple of pytrees of array_like
        Their values do not matter.
    """
    leaves, tree = tree_flatten(args)
    sizes = dict(plan.mesh.shape)
    in_specs = spread_specs(plan.in_specs, args, "in_specs")
    types = [TensorType(shape_of(x), asarray(x).dtype) for x in leaves]
    name = getattr(plan.fun, "__name__", "function")
    with new_trace():
        staged = stage(
            name, lambda given: run_traced(plan.fun, *tree_unflatten(tree, given)), types, [None] * len(types)
        )
    count = len(staged.function.body.returns)
    out_specs = spread_specs(plan.out_specs, tree_unflatten(staged.out_tree, range(count)), "out_specs")
    main = partition(staged.function, in_specs, out_specs, [np.asarray(x) for x in staged.captures], sizes)
    return DeviceProgram(
        _module(main, name, plan), sizes, in_specs, out_specs, [t.shape for t in types], staged.out_tree
    )


def _module(main: Function, name: str, plan: MapPlan) -> Module:
    module = Module([main], f"shard_{name}")
    module.attributes = {"mhlo.num_partitions": np.int32(plan.mesh.size), "mhlo.num_replicas": np.int32(1)}
    return module


def lower_gathering(program: DeviceProgram) -> DeviceProgram:
    """Return the program by which each device gets whole results, from its own parts of them and the others'."""
    results = program.module.main.result_types
    pairs = [
        (type, spec) for type, spec in zip(results, program.out_specs, strict=True) if isinstance(type, TensorType)
    ]

    def gather(*parts: Any) -> list[Any]:
        return [_gathered(x, spec) for x, (_, spec) in zip(parts, pairs, strict=True)]

    mesh = AbstractMesh(tuple(program.sizes.values()), tuple(program.sizes))
    specs = tuple(spec for _, spec in pairs)
    plan = MapPlan(gather, mesh, specs, [PartitionSpec()] * len(specs), program.sizes, is_checked=False)
    wholes = [np.broadcast_to(np.zeros((), t.dtype), whole_shape(t.shape, spec, program.sizes)) for t, spec in pairs]
    return lower_for_devices(plan, tuple(wholes))._replace(out_tree=program.out_tree)


def _gathered(array: Any, spec: PartitionSpec) -> Any:
    for dimension in range(len(spec)):
        if names := spec.axes(dimension):
            array = all_gather(array, names, axis=dimension, tiled=True)
    return array


def whole_shape(part: Sequence[int], spec: PartitionSpec, sizes: Sizes) -> tuple[int, ...]:
    """Return the shape of an array whose parts have a shape.

    Examples
    --------
    >>> whole_shape((4, 3), PartitionSpec("x"), {"x": 2})
    (8, 3)
    """
    return tuple([n * math.prod(sizes[name] for name in spec.axes(k)) for k, n in enumerate(part)])


def index_of(spec: PartitionSpec, shape: Sequence[int], sizes: Sizes, place: Mapping[Any, int]) -> tuple[slice, ...]:
    """Return where a device's part is in an array.

    Examples
    --------
    >>> index_of(PartitionSpec(("y", "x"), None), (8, 3), {"x": 2, "y": 2}, {"x": 1, "y": 0})
    (slice(2, 4, None), slice(0, 3, None))
    """
    index = []
    for dimension, step in enumerate(part_shape(shape, spec, sizes, "an array")):
        number = 0
        for name in spec.axes(dimension):
            number = number * sizes[name] + place[name]
        index.append(slice(number * step, (number + 1) * step))
    return tuple(index)


def places(sizes: Sizes) -> list[dict[Any, int]]:
    """Return the devices' places along each axis, in the order of their numbers."""
    return [dict(zip(sizes, place, strict=True)) for place in np.ndindex(*sizes.values())]


def part(program: DeviceProgram, number: int, args: tuple[Any, ...]) -> tuple[np.ndarray, ...]:
    """Return a device's parts of whole arguments: copies, for which nothing else of the arguments is read."""
    place = places(program.sizes)[number]
    pairs = zip(tree_leaves(args), program.in_specs, strict=True)
    wholes = [(np.asarray(asarray(x)), spec) for x, spec in pairs]
    return tuple([np.array(x[index_of(spec, x.shape, program.sizes, place)], order="C") for x, spec in wholes])


def joined(program: DeviceProgram, results: Sequence[Sequence[np.ndarray]]) -> list[np.ndarray]:
    """Return whole results of what each device gave; where several gave the same part, the first device's."""
    whole = []
    for number, spec in enumerate(program.out_specs):
        shape = whole_shape(results[0][number].shape, spec, program.sizes)
        array = np.empty(shape, results[0][number].dtype)
        for place, parts in reversed(list(zip(places(program.sizes), results, strict=True))):
            array[index_of(spec, shape, program.sizes, place)] = parts[number]
        whole.append(array)
    return whole


class _Lowering(Legalizer):
    """Copies what one device does, with collectives of partitions in the place of functions of named axes."""

    def __init__(self, sizes: Sizes, source: Function) -> None:
        super().__init__()
        self._sizes, self._source = sizes, source
        self._numbers = np.arange(np.prod([*sizes.values()], dtype=np.int64)).reshape(*sizes.values())
        self._chains = reductions_over_several(source)

    def main(self, count: int, constants: Sequence[np.ndarray]) -> Function:
        """Return the function of the first arguments, the others being constants."""
        source = self._source
        builder = Builder("main", source.argument_types[:count])
        given = [*builder.arguments, *[builder.constant(x) for x in constants]]
        values = dict(zip(source.body.arguments, given, strict=True))
        self._fill(builder, source.body, values)
        return builder.finish([values[v] for v in source.body.returns], visibility="public")

    def _rule_of(self, op: Op) -> Rule | None:
        if op.definition is not CUSTOM_CALL:
            return None
        collective = collective_of(op)
        if collective is None:
            return None
        names = self._chains.get(op, (collective.name,))
        return RULES[collective.kind](self.groups(*names), collective, self) if names else _nothing

    def groups(self, *names: Any) -> np.ndarray:
        """Return the partitions that differ along some axes alone, a row for each group."""
        order = sorted(map(list(self._sizes).index, names))
        rows = np.moveaxis(self._numbers, order, range(-len(order), 0))
        return rows.reshape(-1, int(np.prod([self._sizes[name] for name in names])))

    def stride(self, name: Any) -> int:
        """Return by how much the numbers of neighbours along an axis differ."""
        names = list(self._sizes)
        return int(np.prod([self._sizes[n] for n in names[names.index(name) + 1 :]], dtype=np.int64))


def reductions_over_several(source: Function) -> dict[Op, tuple[Any, ...]]:
    """Return the names of the axes over which a reduction goes that ends a chain of them; none for those before."""
    uses: Counter[Value] = Counter()
    regions = [function.body for function in source.reached()]
    for region in regions:  # which grows
        uses.update(region.returns)
        for op in region.ops:
            uses.update(op.operands)
            regions.extend(op.regions)
    found: dict[Op, tuple[Any, ...]] = {}
    for op in [op for region in regions for op in region.ops if op.definition is CUSTOM_CALL]:
        collective = collective_of(op)
        if collective is None or collective.kind not in REDUCING:
            continue
        found[op] = (collective.name,)
        before = op.operands[0].owner
        if not isinstance(before, Op) or not found.get(before) or uses[op.operands[0]] > 1:
            continue
        earlier = collective_of(before)
        if earlier is not None and earlier.kind == collective.kind:
            found[op] = (*found[before], collective.name)
            found[before] = ()
    return found


def _scalar_region(b: Builder, op: Primitive, dtype: np.dtype) -> Any:
    type = TensorType((), dtype)
    return b.region([type, type], lambda x, y: [b.op(op, x, y)])


def _reshaped(b: Builder, x: Value, type: TensorType) -> Value:
    return x if x.type == type else b.op(layout.RESHAPE, x, result=type)


def _among(groups: np.ndarray) -> dict[str, Any]:
    """Return the attributes of a collective that say who takes part."""
    return {"replica_groups": groups, "channel_handle": CHANNEL}


def _among_devices(groups: np.ndarray) -> dict[str, Any]:
    return {**_among(groups), "use_global_device_ids": True}


def _nothing(b: Builder, source: Op, operands: Sequence[Value]) -> Sequence[Value]:
    return operands


def _reduce_by(op: Primitive) -> RuleMaker:
    def make(groups: np.ndarray, collective: Collective, lowering: _Lowering) -> Rule:
        def rule(b: Builder, source: Op, operands: Sequence[Value]) -> Sequence[Value]:
            region, type = _scalar_region(b, op, operands[0].tensor.dtype), operands[0].tensor
            return b.ops(
                communication.ALL_REDUCE, *operands, regions=[region], results=[type], **_among_devices(groups)
            )

        return rule

    return make


def _all_gather(groups: np.ndarray, collective: Collective, lowering: _Lowering) -> Rule:
    def rule(b: Builder, source: Op, operands: Sequence[Value]) -> Sequence[Value]:
        (place,), type = collective.dimensions, source.results[0].tensor
        one = _reshaped(b, operands[0], type.with_shape((*type.shape[:place], 1, *type.shape[place + 1 :])))
        return b.ops(communication.ALL_GATHER, one, results=[type], all_gather_dim=place, **_among_devices(groups))

    return rule


def _psum_scatter(groups: np.ndarray, collective: Collective, lowering: _Lowering) -> Rule:
    def rule(b: Builder, source: Op, operands: Sequence[Value]) -> Sequence[Value]:
        (place,), type = collective.dimensions, source.results[0].tensor
        (part,) = b.ops(
            communication.REDUCE_SCATTER,
            *operands,
            regions=[_scalar_region(b, ops.ADD, type.dtype)],
            results=[type.with_shape((*type.shape[:place], 1, *type.shape[place:]))],
            scatter_dimension=place,
            **_among_devices(groups),
        )
        return [_reshaped(b, part, type)]

    return rule


def _all_to_all(groups: np.ndarray, collective: Collective, lowering: _Lowering) -> Rule:
    def rule(b: Builder, source: Op, operands: Sequence[Value]) -> Sequence[Value]:
        (cut, made), type = collective.dimensions, operands[0].tensor
        (found,) = b.ops(
            communication.ALL_TO_ALL,
            *operands,
            results=[type],
            split_dimension=cut,
            concat_dimension=cut,
            split_count=collective.size,
            **_among(groups),
        )
        order = [k for k in range(len(type.shape)) if k != cut]
        order.insert(made, cut)
        return [found if cut == made else b.op(layout.TRANSPOSE, found, permutation=tuple(order))]

    return rule


def _ppermute(groups: np.ndarray, collective: Collective, lowering: _Lowering) -> Rule:
    def rule(b: Builder, source: Op, operands: Sequence[Value]) -> Sequence[Value]:
        pairs = np.array([[row[s], row[t]] for row in groups for s, t in collective.pairs], np.int64).reshape(-1, 2)
        attributes: dict[str, Any] = {"source_target_pairs": pairs, "channel_handle": CHANNEL}
        return b.ops(communication.COLLECTIVE_PERMUTE, *operands, results=[operands[0].type], **attributes)

    return rule


def _pbroadcast(groups: np.ndarray, collective: Collective, lowering: _Lowering) -> Rule:
    def rule(b: Builder, source: Op, operands: Sequence[Value]) -> Sequence[Value]:
        first = collective.pairs[0][0]
        order = [first, *[k for k in range(collective.size) if k != first]]
        return b.ops(
            communication.COLLECTIVE_BROADCAST, *operands, results=[operands[0].type], **_among(groups[:, order])
        )

    return rule


def _axis_index(groups: np.ndarray, collective: Collective, lowering: _Lowering) -> Rule:
    def rule(b: Builder, source: Op, operands: Sequence[Value]) -> Sequence[Value]:
        number = b.op(communication.PARTITION_ID, result=communication.ID)
        for op, count in ((ops.DIVIDE, lowering.stride(collective.name)), (ops.REMAINDER, collective.size)):
            number = b.op(op, number, b.constant(np.asarray(count, communication.ID.dtype)))
        return [b.op(conversion.CONVERT, number, result=source.results[0].tensor)]

    return rule


RuleMaker = Callable[[np.ndarray, Collective, _Lowering], Rule]

RULES: dict[str, RuleMaker] = {
    "psum": _reduce_by(ops.ADD),
    "pmax": _reduce_by(ops.MAXIMUM),
    "pmin": _reduce_by(ops.MINIMUM),
    "all_gather": _all_gather,
    "psum_scatter": _psum_scatter,
    "all_to_all": _all_to_all,
    "ppermute": _ppermute,
    "pbroadcast": _pbroadcast,
    "axis_index": _axis_index,
    "pvary": lambda groups, collective, lowering: _nothing,
}
"""What collectives become; corrections of cotangents are resolved before."""
