"""`pmap` and `shard_map` on one device: the function runs once, on all there is, and named axes have extent 1."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from numhlo.compat.jax.sharding import Mesh, PartitionSpec, get_mesh, refuse_unknown
from numhlo.compat.jax.transformations import jit, vmap
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, ShapeError
from numhlo.tracer.core.operands import shape_of
from numhlo.tracer.trees.pytrees import tree_flatten, tree_leaves, tree_map
from numhlo.tree_structures import tree_broadcast

_numbers = itertools.count()


def pmap(
    fun: Callable[..., Any],
    axis_name: Any = None,
    *,
    in_axes: Any = 0,
    out_axes: Any = 0,
    static_broadcasted_argnums: int | Sequence[int] = (),
    **options: Any,
) -> Callable[..., Any]:
    """Make a function that runs on every device at once, each with its part along an axis: here one, with all of it.

    Parameters
    ----------
    fun : callable
        Takes and returns pytrees of arrays.
    axis_name : hashable, optional
        What `lax.psum` and its kin call the axis.
    in_axes, out_axes : int, None, or pytree of them, optional
        Where the axis of devices stands; its extent is 1.
    static_broadcasted_argnums : int or sequence of int, optional
        Positional arguments that are Python values.
    **options
        ``devices``, ``backend``, ``axis_size``, ``donate_argnums`` and ``global_arg_shapes`` mean nothing here.

    Returns
    -------
    callable
        Compiled, as by `jit`.

    Raises
    ------
    ArgumentError
        When called, if the mapped axis is longer than there are devices.

    Examples
    --------
    >>> import numhlo.compat.jax as jax
    >>> pmap(lambda x: x / jax.lax.psum(x, "i"), axis_name="i")(jax.numpy.ones((1, 3)))
    Array([[1., 1., 1.]], dtype=float...)
    """
    name = axis_name if axis_name is not None else f"pmap {next(_numbers)}"
    numbers = static_broadcasted_argnums
    static = (numbers,) if isinstance(numbers, int) else tuple(numbers)
    given = {"axis_size", "backend", "devices", "donate_argnums", "global_arg_shapes"}
    unknown = sorted(set(options) - given)
    if unknown:
        raise TypeError(f"pmap() got an unexpected keyword argument {unknown[0]!r}")

    @functools.wraps(fun)
    def on_all(*args: Any, **kwargs: Any) -> Any:
        dynamic = [k for k in range(len(args)) if k not in static]
        axes = in_axes if not isinstance(in_axes, tuple | list) else tuple(in_axes[k] for k in dynamic)

        def body(*parts: Any, **named: Any) -> Any:
            whole = list(args)
            for place, part in zip(dynamic, parts, strict=True):
                whole[place] = part
            return fun(*whole, **named)

        parts = tuple(args[k] for k in dynamic)
        _require_one_part(axes, parts, kwargs)
        return vmap(body, axes, out_axes, axis_name=name, axis_size=1)(*parts, **kwargs)

    return jit(on_all, static_argnums=static or None)


def _require_one_part(axes: Any, parts: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    spread = tree_leaves(tree_broadcast(axes, parts, is_leaf=_is_none), is_leaf=_is_none) if parts else []
    leaves = tree_leaves(parts)
    spread = spread if len(spread) == len(leaves) else [axes] * len(leaves)
    pairs = [*zip(leaves, spread, strict=True), *((leaf, 0) for leaf in tree_leaves(kwargs))]
    for leaf, axis in pairs:
        shape = shape_of(leaf)
        if isinstance(axis, int) and -len(shape) <= axis < len(shape) and shape[axis] != 1:
            raise ArgumentError(
                f"pmap over an axis of extent {shape[axis]}",
                where=capture_location(),
                why="there is one device, with threads in kernels",
                fix="use vmap, whose axes have any extent",
            )


def _is_none(x: Any) -> bool:
    return x is None


def shard_map(
    f: Callable[..., Any] | None = None,
    /,
    mesh: Mesh | None = None,
    in_specs: Any = None,
    out_specs: Any = None,
    **options: Any,
) -> Any:
    """Make a function that runs on each device's part of the arrays: here one device, and the parts are the arrays.

    Parameters
    ----------
    f : callable, optional
        Takes and returns pytrees of arrays; without it a decorator is returned.
    mesh : Mesh, optional
        By default that which `set_mesh` chose.
    in_specs, out_specs : PartitionSpec, or pytree of them
        How arguments and results are spread.
    **options
        ``axis_names``, ``check_vma``, ``check_rep`` and ``auto`` mean nothing on one device.

    Returns
    -------
    callable

    Raises
    ------
    ArgumentError
        If there is no mesh, or a specification names an axis that the mesh lacks.
    ShapeError
        When called, if a specification has more parts than an array has axes.

    Examples
    --------
    >>> import numhlo.compat.jax as jax
    >>> from numhlo.compat.jax.sharding import make_mesh
    >>> total = shard_map(
    ...     lambda x: jax.lax.psum(x.sum(), "i"), mesh=make_mesh((1,), ("i",)),
    ...     in_specs=PartitionSpec("i"), out_specs=PartitionSpec(),
    ... )
    >>> total(jax.numpy.arange(4.0))
    Array(6., dtype=float...)
    """
    unknown = sorted(set(options) - {"auto", "axis_names", "check_rep", "check_vma"})
    if unknown:
        raise TypeError(f"shard_map() got an unexpected keyword argument {unknown[0]!r}")
    if f is None:
        return functools.partial(shard_map, mesh=mesh, in_specs=in_specs, out_specs=out_specs, **options)
    over = get_mesh() if mesh is None else mesh
    if over is None:
        raise ArgumentError("shard_map without a mesh", where=capture_location(), fix="pass mesh=, or use set_mesh")
    for spec in tree_leaves((in_specs, out_specs), is_leaf=_is_spec):
        refuse_unknown(over, spec)
    names = tuple(over.axis_names)

    @functools.wraps(f)
    def mapped(*args: Any) -> Any:
        _require_axes(in_specs, args, "an argument")
        body = f
        for name in reversed(names):
            body = vmap(body, in_axes=None, axis_name=name, axis_size=1)
        lanes = body(*args)
        results = tree_map(lambda leaf: leaf.reshape(leaf.shape[len(names) :]), lanes)
        _require_axes(out_specs, results, "a result")
        return results

    return mapped


def _is_spec(x: Any) -> bool:
    return isinstance(x, PartitionSpec)


def _require_axes(specs: Any, values: Any, what: str) -> None:
    """Refuse specifications of more axes than there are."""
    given, structure = tree_flatten(specs, _is_spec)
    if _is_spec(specs) or specs is None:
        pairs = [(specs, values)]
    else:
        pairs = list(zip(given, structure.flatten_up_to(values), strict=True))
    for spec, value in pairs:
        for leaf in tree_leaves(value):
            if spec is not None and len(spec) > len(shape_of(leaf)):
                raise ShapeError(
                    f"shard_map: {spec} for {what} of shape {shape_of(leaf)}",
                    where=capture_location(),
                    why="it has more parts than the array has axes",
                )
