"""`shard_map`: what one device does with its parts of arrays, made a function of the arrays.

In one process all devices run at once: each axis of the mesh is batched as by a `vmap`, and collectives are ordinary
ops on all parts, which compile like others. For processes of a grid the function of one device is a program of its own
(`numhlo.library.sharding.device_programs`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

from numhlo.library.sharding.mapping import DeviceArgument, run_all_devices, stage_device_function
from numhlo.library.sharding.meshes import AbstractMesh, Mesh, PartitionSpec, get_mesh, require_axes
from numhlo.library.sharding.parts import Sizes, cut, join, part_shape, require_rank
from numhlo.library.sharding.varying_axes import Axes
from numhlo.lowering.ir import Function, TensorType, capture_location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.tracer.building import (
    PyTreeDef,
    asarray,
    require_callable,
    run_traced,
    shape_of,
    tree_flatten,
    tree_leaves,
    tree_structure,
    tree_unflatten,
)
from numhlo.tracer.building.derivatives import Staged, ends_its_blocks, transformation

WHOLE = PartitionSpec()
"""The specification of what every device has all of."""


class MapPlan(NamedTuple):
    """How a function of one device is mapped over a mesh.

    Attributes
    ----------
    fun : callable
    mesh : Mesh or AbstractMesh
    in_specs, out_specs : pytree of PartitionSpec
    sizes : dict
        Extents of the axes over which it is mapped, by name.
    is_checked : bool
        Whether results that are not cut must be the same on all devices.
    """

    fun: Callable[..., Any]
    mesh: Mesh | AbstractMesh
    in_specs: Any
    out_specs: Any
    sizes: Sizes
    is_checked: bool


class MappedFunction(NamedTuple):
    """A function of one device, traced for certain arguments.

    Attributes
    ----------
    staged : Staged
    inputs : list of array
        Whole arrays: the arguments' leaves, then what the function uses from outside.
    in_specs, out_specs : list of PartitionSpec
        One for each input, and for each result.
    differs : list of frozenset
        Along which axes each result differs.
    """

    staged: Staged
    inputs: list[Any]
    in_specs: list[PartitionSpec]
    out_specs: list[PartitionSpec]
    differs: list[Axes]

    @property
    def function(self) -> Function:
        """Return what one device does."""
        return self.staged.function


def shard_map(
    f: Callable[..., Any] | None = None,
    /,
    *,
    mesh: Mesh | AbstractMesh | None = None,
    in_specs: Any = None,
    out_specs: Any = None,
    axis_names: Collection[Any] | None = None,
    check_vma: bool = True,
) -> Any:
    """Make a function of whole arrays of one that says what each device does with its parts.

    Parameters
    ----------
    f : callable, optional
        Takes and returns pytrees of arrays; without it a decorator is returned.
    mesh : Mesh, optional
        By default that which `set_mesh` chose.
    in_specs, out_specs : PartitionSpec, or pytree of them
        How arguments are cut, and how results are made of parts.
    axis_names : collection of str, optional
        The axes over which the function is mapped; all by default.
    check_vma : bool, optional
        Whether results that are not cut must be the same on all devices, as far as their computation tells. Then
        derivatives that are taken inside, by what is the same on all devices, are the same, too: the sum over devices.

    Returns
    -------
    callable

    Raises
    ------
    ArgumentError
        If there is no mesh, or a specification names an axis that the mesh lacks, or one twice; when called, if
        specifications do not fit arguments or results, or a result that is not cut differs from device to device.
    ShapeError
        When called, if a specification has more parts than an array has dimensions, or does not cut it equally.

    Examples
    --------
    >>> import numhlo.numpy as np
    >>> from numhlo.library.lax.collectives import psum
    >>> from numhlo.library.sharding.meshes import make_mesh
    >>> mesh, rows = make_mesh((2,), "x"), PartitionSpec("x")
    >>> share = shard_map(lambda x: x / psum(x.sum(), "x"), mesh=mesh, in_specs=rows, out_specs=rows)
    >>> share(np.array([1.0, 2.0, 3.0, 2.0]))
    Array([0.125, 0.25 , 0.375, 0.25 ])
    """
    if f is None:
        return functools.partial(
            shard_map, mesh=mesh, in_specs=in_specs, out_specs=out_specs, axis_names=axis_names, check_vma=check_vma
        )
    plan = plan_of(f, mesh, in_specs, out_specs, axis_names, check_vma)

    @functools.wraps(f)
    @ends_its_blocks
    def mapped(*args: Any) -> Any:
        with transformation() as finish:
            made = trace_mapped(plan, args)
            parts = [cut(x, spec, plan.sizes) for x, spec in zip(made.inputs, made.in_specs, strict=True)]
            differs = [frozenset(spec.names) for spec in made.in_specs]
            found = run_all_devices(made.function, parts, differs, list(plan.sizes.items()))
            results = [
                join(x, [name for name, flag in zip(plan.sizes, flags, strict=True) if flag], spec, plan.sizes)
                for (x, flags), spec in zip(found, made.out_specs, strict=True)
            ]
            return finish(made.staged.tree_of(results))

    return mapped


def plan_of(
    f: Callable[..., Any],
    mesh: Mesh | AbstractMesh | None,
    in_specs: Any,
    out_specs: Any,
    axis_names: Collection[Any] | None,
    check_vma: bool,
) -> MapPlan:
    """Return how a function is mapped, as `shard_map` is told."""
    require_callable(f, "shard_map: f")
    over = get_mesh() if mesh is None else mesh
    if over is None:
        raise ArgumentError("shard_map without a mesh", where=capture_location(), fix="pass mesh=, or use set_mesh")
    chosen = set(axis_names) if axis_names else set(over.axis_names)
    if unknown := sorted(chosen.difference(over.axis_names), key=str):
        raise ArgumentError(
            f"shard_map: axis_names has {unknown[0]!r}", where=capture_location(), why=f"the mesh has {over.axis_names}"
        )
    sizes = {name: size for name, size in over.shape.items() if name in chosen}
    among = AbstractMesh(tuple(sizes.values()), tuple(sizes))
    for spec in tree_leaves((in_specs, out_specs), is_leaf=is_spec):
        if not is_spec(spec):
            raise ArgumentError(
                f"shard_map: a specification {spec!r}", where=capture_location(), fix="use a PartitionSpec"
            )
        require_axes(among, spec or WHOLE)
    return MapPlan(f, over, in_specs, out_specs, sizes, check_vma)


def is_spec(x: Any) -> bool:
    """Return whether a leaf says how an array is cut; None says that it is not."""
    return x is None or isinstance(x, PartitionSpec)


def spread_specs(specs: Any, values: Any, what: str) -> list[PartitionSpec]:
    """Return one specification for each leaf of a tree.

    Raises
    ------
    ArgumentError
        If they do not fit its structure.
    """
    if is_spec(specs):
        return [specs or WHOLE] * len(tree_leaves(values))
    given, structure = tree_flatten(specs, is_spec)
    try:
        subtrees = structure.flatten_up_to(values)
    except (TypeError, ValueError) as error:
        raise ArgumentError(
            f"shard_map: {what}={specs!r} does not fit {tree_structure(values)}",
            where=capture_location(),
            why=f"{what} says for each leaf, or for whole containers, how arrays are cut",
            fix="give a PartitionSpec, or a pytree with the same outer structure",
        ) from error
    return [spec or WHOLE for spec, tree in zip(given, subtrees, strict=True) for _ in tree_leaves(tree)]


def trace_mapped(plan: MapPlan, args: tuple[Any, ...], values_matter: bool = True) -> MappedFunction:
    """Trace what one device does, in the current trace, and find how arguments and results are cut.

    Parameters
    ----------
    plan : MapPlan
    args : tuple of pytrees of arrays
    values_matter : bool, optional
        Whether Python may look at values that are the same on all devices, where the trace carries them.
    """
    leaves, tree = tree_flatten(args)
    specs = spread_specs(plan.in_specs, args, "in_specs")
    arrays = [asarray(x) for x in leaves]
    arguments = [
        _argument(leaf, x, spec, plan.sizes, values_matter) for leaf, x, spec in zip(leaves, arrays, specs, strict=True)
    ]
    staged, differs = stage_device_function(
        getattr(plan.fun, "__name__", "function"),
        lambda parts: run_traced(plan.fun, *tree_unflatten(tree, parts)),
        arguments,
        list(plan.sizes.items()),
        is_checked=plan.is_checked,
    )
    out_specs = _result_specs(plan, staged, differs)
    inputs = [*arrays, *staged.captures]
    return MappedFunction(staged, inputs, [*specs, *[WHOLE] * len(staged.captures)], out_specs, differs)


def _argument(leaf: Any, array: Any, spec: PartitionSpec, sizes: Sizes, values_matter: bool) -> DeviceArgument:
    shape = part_shape(shape_of(array), spec, sizes, "an argument")
    found = DeviceArgument.of(leaf, TensorType(shape, array.dtype), frozenset(spec.names))
    return found if values_matter else found._replace(known=None)


def _result_specs(plan: MapPlan, staged: Staged, differs: Sequence[Axes]) -> list[PartitionSpec]:
    out_tree: PyTreeDef = staged.out_tree
    specs = spread_specs(plan.out_specs, tree_unflatten(out_tree, range(len(differs))), "out_specs")
    for spec, axes, value in zip(specs, differs, staged.function.body.returns, strict=True):
        require_rank(value.tensor.shape, spec, "a result")
        extra = [name for name in plan.sizes if name in axes and name not in spec.names]
        if extra and plan.is_checked:
            raise ArgumentError(
                f"shard_map: out_specs has {spec} for a result that may differ along the axis {extra[0]!r}",
                where=capture_location(),
                why="what is not cut along an axis must be the same on all its devices",
                fix=f"name the axis in out_specs, reduce the result with lax.psum(x, {extra[0]!r}), or pass "
                "check_vma=False, which takes the first device's",
            )
    return specs
