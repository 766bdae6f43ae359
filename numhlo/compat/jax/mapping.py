"""`pmap` and `shard_map`: what each device does with its part, for all of them at once, as a `vmap` does it."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Collection, Sequence
from typing import Any

from numhlo.compat.jax.arrays import immutably
from numhlo.compat.jax.processor import all_devices
from numhlo.compat.jax.refusals import errors_of_both_kinds
from numhlo.compat.jax.transformations import jit, raising_both, traced_immutably, vmap
from numhlo.library.sharding import shard_map as mapping
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.tracer.core.operands import shape_of
from numhlo.tracer.trees.pytrees import tree_leaves
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
    """Make a function that runs on every device at once, each with its part along an axis.

    Parameters
    ----------
    fun : callable
        Takes and returns pytrees of arrays.
    axis_name : hashable, optional
        What `lax.psum` and its kin call the axis.
    in_axes, out_axes : int, None, or pytree of them, optional
        Where the axis of devices stands.
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
        _require_devices(axes, parts, kwargs)
        return vmap(body, axes, out_axes, axis_name=name)(*parts, **kwargs)

    return jit(on_all, static_argnums=static or None)


def _require_devices(axes: Any, parts: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    spread = tree_leaves(tree_broadcast(axes, parts, is_leaf=_is_none), is_leaf=_is_none) if parts else []
    leaves = tree_leaves(parts)
    spread = spread if len(spread) == len(leaves) else [axes] * len(leaves)
    count = len(all_devices())
    pairs = [*zip(leaves, spread, strict=True), *((leaf, 0) for leaf in tree_leaves(kwargs))]
    for leaf, axis in pairs:
        shape = shape_of(leaf)
        if isinstance(axis, int) and -len(shape) <= axis < len(shape) and shape[axis] > count:
            raise ArgumentError(
                f"pmap over an axis of extent {shape[axis]}",
                where=capture_location(),
                why=f"there {'is 1 device' if count == 1 else f'are {count} devices'}",
                fix="use vmap, whose axes have any extent, or ask for more devices first, by "
                f'jax.config.update("jax_num_cpu_devices", {shape[axis]})',
            )


def _is_none(x: Any) -> bool:
    return x is None


def shard_map(
    f: Callable[..., Any] | None = None,
    /,
    mesh: Any = None,
    in_specs: Any = None,
    out_specs: Any = None,
    axis_names: Collection[Any] = frozenset(),
    check_vma: bool = True,
    *,
    check_rep: bool | None = None,
) -> Any:
    """Make a function of whole arrays of one that says what each device does with its parts.

    All devices run at once, in this process.

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
        Whether results that are not cut must be the same on all devices.
    check_rep : bool, optional
        The older name of ``check_vma``.

    Returns
    -------
    callable

    Raises
    ------
    ArgumentError
        If there is no mesh, or a specification names an axis that the mesh lacks, or one twice; when called, if
        specifications do not fit arguments or results, or a result that is not cut differs from device to device.
    ShapeError
        When called, if a specification has more parts than an array has axes, or does not cut it equally.

    Examples
    --------
    >>> import numhlo.compat.jax as jax
    >>> total = shard_map(
    ...     lambda x: jax.lax.psum(x.sum(), "i"), mesh=jax.make_mesh((1,), ("i",)),
    ...     in_specs=jax.P("i"), out_specs=jax.P(),
    ... )
    >>> total(jax.numpy.arange(4.0))
    Array(6., dtype=float...)
    """
    is_checked = check_vma if check_rep is None else check_rep
    if f is None:
        return functools.partial(
            shard_map, mesh=mesh, in_specs=in_specs, out_specs=out_specs, axis_names=axis_names, check_vma=is_checked
        )
    with errors_of_both_kinds:
        mapped = mapping.shard_map(
            traced_immutably(f),
            mesh=mesh,
            in_specs=in_specs,
            out_specs=out_specs,
            axis_names=axis_names,
            check_vma=is_checked,
        )
    return raising_both(immutably(mapped))
