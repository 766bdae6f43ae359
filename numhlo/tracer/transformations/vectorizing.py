"""`vmap`: a function of one example made into a function of a batch, by interpreting its graph with batching rules."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence
from typing import Any, ParamSpec, TypeVar

import numhlo.tracer.batching.families  # noqa: F401 - ops get their rules
from numhlo.lowering.ir import TensorType, capture_location
from numhlo.lowering.ir.errors import ArgumentError, ShapeError
from numhlo.tracer.batching import control_flow
from numhlo.tracer.batching.table import Lanes, batch_function, spread
from numhlo.tracer.core.arguments import is_number
from numhlo.tracer.core.arrangement import move_axis
from numhlo.tracer.core.callable_arguments import require_callable
from numhlo.tracer.core.located_errors import refusing_depth
from numhlo.tracer.core.named_axes import batching_axis, named_axis
from numhlo.tracer.core.operands import asarray, is_weak, known_value, normalize_axis, shape_of
from numhlo.tracer.core.trace import Tracer
from numhlo.tracer.python.plain_numpy import run_traced
from numhlo.tracer.transformations.staging import Staged, ends_its_blocks, stage, transformation
from numhlo.tracer.trees.pytree_paths import leaf_paths
from numhlo.tracer.trees.pytrees import PyTreeDef, tree_flatten, tree_leaves, tree_structure, tree_unflatten

P = ParamSpec("P")
R = TypeVar("R")


def vmap(
    fun: Callable[P, R],
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_name: Hashable = None,
    axis_size: int | None = None,
    chunk: int | None = None,
) -> Callable[P, R]:
    """Make a function of one example a function of a batch of them.

    Parameters
    ----------
    fun : callable
        Takes and returns pytrees of arrays.
    in_axes : int, None, or pytree of them, optional
        Which axis of each positional argument holds the examples; None for an argument that all share. Keyword
        arguments are mapped over axis 0.
    out_axes : int, None, or pytree of them, optional
        Where the axis stands in each result.
    axis_name : hashable, optional
        What `lax.psum` and other functions of a named axis call it.
    axis_size : int, optional
        The number of examples, where no argument tells.
    chunk : int, optional
        Work on so many examples at a time, so that intermediate results take the memory of one chunk.

    Returns
    -------
    callable

    Raises
    ------
    ShapeError
        If the mapped axes have different extents, or an argument has no such axis.
    ArgumentError
        If ``chunk`` is not positive, or the axis has a name, too: chunks can't meet.

    Notes
    -----
    Loops and branches that go the same way for all examples run once on wider arrays. Elsewhere each example runs its
    own branch only, and leaves a loop when it has done, whatever the others do: many examples side by side as SIMD code
    where they compute with numbers alone, else example by example.

    Examples
    --------
    >>> import numpy as np
    >>> vmap(lambda row, k: row.sum() * k, in_axes=(0, None))(np.ones((2, 3)), 2.0)
    Array([6., 6.])
    """
    require_callable(fun, "vmap: fun")
    if chunk is not None and (chunk < 1 or axis_name is not None):
        raise ArgumentError(
            f"vmap: chunk={chunk}" if chunk < 1 else f"vmap: chunk={chunk} with axis_name={axis_name!r}",
            where=capture_location(),
            why="" if chunk < 1 else "functions of a named axis need all examples at once",
            fix="use a positive number" if chunk < 1 else "leave one of the two out",
        )

    @functools.wraps(fun)
    @ends_its_blocks
    def batched(*args: P.args, **kwargs: P.kwargs) -> R:
        given, in_tree = tree_flatten((args, kwargs))
        spread_axes = _argument_axes(in_axes, args, kwargs)
        plain = {k: x for k, (x, a) in enumerate(zip(given, spread_axes, strict=True)) if a is None and _is_plain(x)}
        places = [k for k in range(len(given)) if k not in plain]
        leaves, axes = [given[k] for k in places], [spread_axes[k] for k in places]

        def of_arrays(*arrays: Any) -> Any:
            """Call the function; Python values that all examples share are no arrays, and steer Python code."""
            filled = {**plain, **dict(zip(places, arrays, strict=True))}
            positional, named = tree_unflatten(in_tree, [filled[k] for k in range(len(given))])
            return run_traced(fun, *positional, **named)

        of_arrays.__name__ = getattr(fun, "__name__", "function")
        with transformation() as finish:
            arrays = [asarray(x) for x in leaves]
            size = _lane_count(arrays, axes, axis_size, lambda: [_argument_names(args, kwargs)[k] for k in places])
            lanes = [
                Lanes(x if a is None else _to_front(x, a), a is not None) for x, a in zip(arrays, axes, strict=True)
            ]
            results, staged = _run(of_arrays, lanes, size, leaves, axis_name, chunk)
            placed = _place(results, out_axes, staged.out_tree, size)
            result: R = finish(staged.tree_of(placed))
            return result

    return batched


def _run(
    fun: Callable[..., Any],
    lanes: Sequence[Lanes],
    size: int,
    leaves: Sequence[Any],
    axis_name: Hashable,
    chunk: int | None,
) -> tuple[list[Lanes], Staged]:
    types = [TensorType(shape_of(x.array)[x.mapped :], x.array.dtype) for x in lanes]
    known = [None if x.mapped else known_value(x.array) for x in lanes]
    weak = [is_weak(leaf) for leaf in leaves]
    scalars = [lane.mapped or is_number(leaf) for lane, leaf in zip(lanes, leaves, strict=True)]
    with named_axis(axis_name, size):
        staged = stage(fun.__name__, lambda arguments: fun(*arguments), types, known, weak, scalars)
    inputs = [*lanes, *[Lanes(c, False) for c in staged.captures]]
    with batching_axis(axis_name), refusing_depth():
        if chunk is not None:
            return control_flow.batch_in_chunks(staged.function, inputs, size, chunk), staged
        return batch_function(staged.function, inputs, size), staged


def _is_plain(x: Any) -> bool:
    """Return whether a leaf is Python's: a number, a string, a function."""
    return not isinstance(x, Tracer) and not hasattr(x, "__array__")


def _is_axis(x: Any) -> bool:
    return x is None


def spread_prefix(prefix: Any, tree: Any, what: str) -> list[Any]:
    """Return one entry of ``prefix`` (a tree prefix whose leaves are ints or None) for each leaf of ``tree``.

    Raises
    ------
    ArgumentError
        If the prefix does not fit the tree.
    """
    if prefix is None or isinstance(prefix, int):
        return [prefix] * len(tree_leaves(tree))
    if isinstance(prefix, list | tuple) and isinstance(tree, list | tuple) and len(prefix) == len(tree):
        return [entry for p, t in zip(prefix, tree, strict=True) for entry in spread_prefix(p, t, what)]
    if isinstance(prefix, dict) and isinstance(tree, dict) and prefix.keys() == tree.keys():
        wanted = tree_structure(dict.fromkeys(tree, 0))
        order = tree_unflatten(wanted, range(len(tree)))
        keys = sorted(tree, key=lambda k: order[k])
        return [entry for k in keys for entry in spread_prefix(prefix[k], tree[k], what)]
    leaves, structure = tree_flatten(prefix, is_leaf=_is_axis)
    if all(leaf is None or isinstance(leaf, int) for leaf in leaves) and structure.num_leaves:
        try:
            parts = structure.flatten_up_to(tree)
        except ArgumentError:
            parts = []
        if parts:
            return [leaf for leaf, part in zip(leaves, parts, strict=True) for _ in tree_leaves(part)]
    raise ArgumentError(
        f"vmap: {what}={prefix!r} does not fit {tree_structure(tree)}",
        where=capture_location(),
        why=f"{what} says for each leaf, or for whole containers, which axis is mapped; None: all examples share it",
        fix="give an int, None, or a pytree with the same outer structure",
    )


def _argument_axes(in_axes: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[int | None]:
    prefix = tuple(in_axes) if isinstance(in_axes, list) else in_axes
    if isinstance(prefix, tuple) and len(prefix) != len(args):
        raise ArgumentError(
            f"vmap: in_axes has {len(prefix)} entries for {len(args)} positional arguments",
            where=capture_location(),
            why="it has an entry for each of them; keyword arguments are mapped along their first axes",
            fix="give one int or None for all, or a tuple with an entry for each",
        )
    return spread_prefix(prefix, args, "in_axes") + [0] * len(tree_leaves(kwargs))


def _argument_names(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[str]:
    """Return what messages call each leaf: ``argument 1['w']``, ``argument scale``."""
    names = [f"argument {k}{path}" for k, x in enumerate(args) for path in leaf_paths(x)]
    return names + [f"argument {k}{path}" for k, x in sorted(kwargs.items()) for path in leaf_paths(x)]


def _lane_count(
    arrays: Sequence[Any], axes: Sequence[int | None], axis_size: int | None, names: Callable[[], list[str]]
) -> int:
    sizes: dict[int, int | None] = {} if axis_size is None else {axis_size: None}
    for number, (array, axis) in enumerate(zip(arrays, axes, strict=True)):
        if axis is None:
            continue
        shape = shape_of(array)
        if not -len(shape) <= axis < len(shape):
            raise ShapeError(
                f"vmap: {names()[number]} of shape {list(shape)} has no axis {axis}",
                where=capture_location(),
                why="each example is one slice of it",
                fix="use in_axes=None for an argument that all examples share",
            )
        sizes.setdefault(shape[axis], number)
    if len(sizes) > 1:
        found = ", ".join(f"{n} ({'axis_size' if k is None else names()[k]})" for n, k in sizes.items())
        raise ShapeError(
            f"vmap: mapped axes have different extents: {found}",
            where=capture_location(),
            why="the extent of the mapped axes is the number of examples",
            fix="make them equal, or say with in_axes=None which arguments all examples share",
        )
    if not sizes:
        raise ArgumentError(
            "vmap: no argument is mapped",
            where=capture_location(),
            why="the number of examples is not known",
            fix="map one, or pass axis_size=",
        )
    return next(iter(sizes))


def _to_front(x: Any, axis: int) -> Any:
    place = normalize_axis(axis, len(shape_of(x)))
    return move_axis(x, place, 0) if place else x


def _place(results: Sequence[Lanes], out_axes: Any, out_tree: PyTreeDef, size: int) -> list[Any]:
    axes = spread_prefix(out_axes, tree_unflatten(out_tree, range(len(results))), "out_axes")
    placed = []
    for number, (result, axis) in enumerate(zip(results, axes, strict=True)):
        if axis is None:
            if result.mapped:
                paths = leaf_paths(tree_unflatten(out_tree, range(len(results))))
                raise ArgumentError(
                    f"vmap: result{paths[number]} differs by example, but out_axes is None",
                    where=capture_location(),
                    why="out_axes=None returns one value for all examples",
                    fix="give the axis along which to stack, or reduce over the examples with lax.psum",
                )
            placed.append(result.array)
            continue
        array = spread(result, size)
        if not -len(shape_of(array)) <= axis < len(shape_of(array)):
            raise ShapeError(
                f"vmap: out_axes={axis} for a result leaf {number} of shape {list(shape_of(array))[1:]}",
                where=capture_location(),
                why="with the mapped axis the result has one dimension more",
                fix=f"use a number below {len(shape_of(array))}",
            )
        place = normalize_axis(axis, len(shape_of(array)))
        placed.append(move_axis(array, 0, place) if place else array)
    return placed
