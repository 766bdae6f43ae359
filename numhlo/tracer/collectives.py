"""Functions of a named axis, that of a `vmap` around: psum, pmean, all_gather, ppermute, axis_index and their kin.

Inside the mapped function such a function is a ``custom_call`` on one lane's array; the `vmap` of that name replaces it
by an op on all lanes (`numhlo.tracer.batching.collectives`), so it never gets into a program that runs.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from numhlo.lowering.ir import Op, Region, TensorType, capture_location
from numhlo.lowering.ir.errors import ArgumentError, ShapeError
from numhlo.lowering.ops import control_flow
from numhlo.tracer.bind import bind1
from numhlo.tracer.namespace.core import asarray, normalize_axis, shape_of
from numhlo.tracer.namespace.indexing import take
from numhlo.tracer.namespace.manipulation import reshape
from numhlo.tracer.pytrees import tree_map

__all__ = [
    "all_gather",
    "all_to_all",
    "axis_index",
    "axis_size",
    "pmax",
    "pmean",
    "pmin",
    "ppermute",
    "pshuffle",
    "psum",
    "psum_scatter",
    "pswapaxes",
]

AxisName = Any
"""Anything hashable, but for a tuple, which stands for several."""

TARGET = "numhlo.collective"


@dataclass(frozen=True)
class Collective:
    """What a collective op does.

    Attributes
    ----------
    kind : str
        ``"psum"``, ``"pmax"``, ``"pmin"``, ``"all_gather"``, ``"all_to_all"``, ``"ppermute"``, ``"axis_index"``.
    name : hashable
        Of the axis.
    size : int
        The axis's extent.
    dimensions : tuple of int
        Those of the lane's array that take part: of `all_gather` the new one, of `all_to_all` the one that is split and
        the one that is made.
    pairs : tuple of (int, int)
        Source and destination of `ppermute`.
    """

    kind: str
    name: AxisName
    size: int
    dimensions: tuple[int, ...] = ()
    pairs: tuple[tuple[int, int], ...] = ()


class CollectiveText(str):
    """The ``backend_config`` of a collective: a string that holds the `Collective`."""

    __slots__ = ("collective",)
    collective: Collective

    @classmethod
    def of(cls, collective: Collective) -> CollectiveText:
        """Return a collective's text."""
        text = cls(f"{collective.kind} over axis {collective.name!r}")
        text.collective = collective
        return text


def collective_of(op: Op) -> Collective | None:
    """Return what a custom call does on a named axis; None for any other."""
    text = op.attributes["backend_config"]
    return text.collective if isinstance(text, CollectiveText) else None


class _Axes(threading.local):
    def __init__(self) -> None:
        self.sizes: list[tuple[AxisName, int]] = []
        self.batched: AxisName = None


_axes = _Axes()


@contextmanager
def named_axis(name: AxisName, size: int) -> Iterator[None]:
    """Let functions of a named axis be used while a mapped function is traced."""
    if name is None:
        yield
        return
    _axes.sizes.append((name, size))
    try:
        yield
    finally:
        _axes.sizes.pop()


@contextmanager
def batching_axis(name: AxisName) -> Iterator[None]:
    """Let batching rules replace the collectives of this axis."""
    before, _axes.batched = _axes.batched, name
    try:
        yield
    finally:
        _axes.batched = before


def is_batched_axis(name: AxisName) -> bool:
    """Return whether an axis is the one that is being batched."""
    return _axes.batched is not None and bool(name == _axes.batched)


def uses_batched_axis(op: Op) -> bool:
    """Return whether an op is, or has inside, a collective of the axis that is being batched."""
    if _axes.batched is None:
        return False
    waiting, seen = [op], set[Region]()
    while waiting:
        op = waiting.pop()
        if op.definition is control_flow.CUSTOM_CALL:
            found = collective_of(op)
            if found is not None and is_batched_axis(found.name):
                return True
        functions = [a.body for a in op.attributes.values() if hasattr(a, "body")]
        for region in (*op.regions, *functions):
            if region not in seen:
                seen.add(region)
                waiting.extend(region.ops)
    return False


def _size_of(name: AxisName, what: str) -> int:
    for known, size in reversed(_axes.sizes):
        if known == name:
            return size
    names = ", ".join(repr(n) for n, _ in _axes.sizes) or "none"
    where = capture_location().describe()
    raise NameError(
        f"{what}: unbound axis name: {name!r}\n  at {where}\n  axes of vmap(axis_name=) around here: {names}"
    )


def bind_collective(collective: Collective, x: Any, type: TensorType) -> Any:
    """Apply a collective to one lane's array (None for `axis_index`)."""
    attributes = {
        "call_target_name": TARGET,
        "has_side_effect": True,  # it must not be evaluated, moved or dropped before its axis is batched
        "backend_config": CollectiveText.of(collective),
    }
    return bind1(control_flow.CUSTOM_CALL, *([] if x is None else [x]), attributes=attributes, results=[type])


def _type_of(x: Any) -> TensorType:
    return TensorType(shape_of(x), x.dtype)


def _names(axis_name: AxisName) -> tuple[AxisName, ...]:
    return axis_name if isinstance(axis_name, tuple) else (axis_name,)


def _refuse_groups(name: str, groups: Any) -> None:
    if groups is not None:
        raise ArgumentError(
            f"{name}(axis_index_groups=...)",
            where=capture_location(),
            fix="use two nested vmaps with names of their own",
        )


def _reduce(kind: str, x: Any, axis_name: AxisName, groups: Any) -> Any:
    _refuse_groups(kind, groups)

    def one(leaf: Any) -> Any:
        array = asarray(leaf)
        for name in _names(axis_name):
            array = bind_collective(Collective(kind, name, _size_of(name, kind)), array, _type_of(array))
        return array

    return tree_map(one, x)


def psum(x: Any, axis_name: AxisName, *, axis_index_groups: Any = None) -> Any:
    """Return the sum over all lanes of the `vmap` around that has this axis name.

    Parameters
    ----------
    x : pytree of arrays
        One lane's; of a Python number, the sum is a Python number.
    axis_name : hashable, or tuple of them

    Returns
    -------
    pytree of arrays
        The same for all lanes.

    Raises
    ------
    NameError
        If there is no such `vmap`.

    Examples
    --------
    >>> from numhlo.tracer.vectorizing import vmap
    >>> vmap(lambda x: x / psum(x, "i"), axis_name="i")(np.array([1.0, 3.0]))
    Array([0.25, 0.75])
    """
    if type(x) in (int, float, complex):
        for name in _names(axis_name):
            x = x * _size_of(name, "psum")
        return x
    return _reduce("psum", x, axis_name, axis_index_groups)


def pmean(x: Any, axis_name: AxisName, *, axis_index_groups: Any = None) -> Any:
    """Return the mean over all lanes; see `psum`.

    Examples
    --------
    >>> from numhlo.tracer.vectorizing import vmap
    >>> vmap(lambda x: x - pmean(x, "i"), axis_name="i")(np.array([1.0, 3.0]))
    Array([-1.,  1.])
    """
    count = psum(1, axis_name)
    return tree_map(
        lambda total: total / count, psum(tree_map(asarray, x), axis_name, axis_index_groups=axis_index_groups)
    )


def pmax(x: Any, axis_name: AxisName, *, axis_index_groups: Any = None) -> Any:
    """Return the maximum over all lanes; see `psum`. It has no derivative.

    Examples
    --------
    >>> from numhlo.tracer.vectorizing import vmap
    >>> vmap(lambda x: x == pmax(x, "i"), axis_name="i")(np.array([1.0, 3.0]))
    Array([False,  True])
    """
    return _reduce("pmax", x, axis_name, axis_index_groups)


def pmin(x: Any, axis_name: AxisName, *, axis_index_groups: Any = None) -> Any:
    """Return the minimum over all lanes; see `psum`. It has no derivative.

    Examples
    --------
    >>> from numhlo.tracer.vectorizing import vmap
    >>> vmap(lambda x: x - pmin(x, "i"), axis_name="i")(np.array([1.0, 3.0]))
    Array([0., 2.])
    """
    return _reduce("pmin", x, axis_name, axis_index_groups)


def axis_size(axis_name: AxisName) -> int:
    """Return the number of lanes of the `vmap` with this axis name, a Python int.

    Examples
    --------
    >>> from numhlo.tracer.vectorizing import vmap
    >>> vmap(lambda x: x * axis_size("i"), axis_name="i")(np.array([1.0, 3.0]))
    Array([2., 6.])
    """
    size: int = psum(1, axis_name)
    return size


def axis_index(axis_name: AxisName) -> Any:
    """Return the lane's number along a named axis, an int64 scalar.

    Examples
    --------
    >>> from numhlo.tracer.vectorizing import vmap
    >>> vmap(lambda x: x + axis_index("i"), axis_name="i")(np.array([1.0, 3.0]))
    Array([1., 4.])
    """
    index: Any = None
    for name in _names(axis_name):
        size = _size_of(name, "axis_index")
        own = bind_collective(Collective("axis_index", name, size), None, TensorType((), np.dtype(np.int64)))
        index = own if index is None else index * size + own
    return index


def all_gather(
    x: Any, axis_name: AxisName, *, axis_index_groups: Any = None, axis: int = 0, tiled: bool = False
) -> Any:
    """Return the arrays of all lanes, stacked along a new ``axis``, or joined along an old one if ``tiled``.

    Examples
    --------
    >>> from numhlo.tracer.vectorizing import vmap
    >>> vmap(lambda x: all_gather(x, "i")[::-1], axis_name="i")(np.array([1.0, 3.0]))
    Array([[3., 1.],
           [3., 1.]])
    """
    _refuse_groups("all_gather", axis_index_groups)

    def one(leaf: Any) -> Any:
        array = asarray(leaf)
        size = _size_of(axis_name, "all_gather")
        shape = shape_of(array)
        place = normalize_axis(axis, len(shape) + (not tiled))
        type = TensorType((*shape[:place], size, *shape[place:]), array.dtype)
        found = bind_collective(Collective("all_gather", axis_name, size, (place,)), array, type)
        return reshape(found, (*shape[:place], size * shape[place], *shape[place + 1 :])) if tiled else found

    return tree_map(one, x)


def all_to_all(
    x: Any,
    axis_name: AxisName,
    split_axis: int,
    concat_axis: int,
    *,
    axis_index_groups: Any = None,
    tiled: bool = False,
) -> Any:
    """Send a part of each lane's array to each lane: the lanes and ``split_axis`` are exchanged.

    Parameters
    ----------
    x : pytree of arrays
    axis_name : hashable
    split_axis : int
        As long as there are lanes (a multiple, if ``tiled``); part k goes to lane k.
    concat_axis : int
        Where the parts that a lane gets are stacked (joined, if ``tiled``).

    Raises
    ------
    ShapeError
        If ``split_axis`` has another extent.

    Examples
    --------
    >>> from numhlo.tracer.vectorizing import vmap
    >>> vmap(lambda x: all_to_all(x, "i", 0, 0), axis_name="i")(np.array([[1, 2], [3, 4]]))
    Array([[1, 3],
           [2, 4]])
    """
    _refuse_groups("all_to_all", axis_index_groups)

    def one(leaf: Any) -> Any:
        array = asarray(leaf)
        size = _size_of(axis_name, "all_to_all")
        shape = shape_of(array)
        split, made = normalize_axis(split_axis, len(shape)), normalize_axis(concat_axis, len(shape))
        if shape[split] % size or (shape[split] != size and not tiled):
            raise ShapeError(
                f"all_to_all: axis {split} of extent {shape[split]} for {size} lanes",
                where=capture_location(),
                fix="make it as long as there are lanes, or a multiple of that with tiled=True",
            )
        if tiled:
            rest = shape[split] // size
            array = reshape(array, (*shape[:split], size, rest, *shape[split + 1 :]))
            made += made > split
        kept = [n for k, n in enumerate(shape_of(array)) if k != split]
        place = made - (made > split) if tiled else made
        type = TensorType((*kept[:place], size, *kept[place:]), array.dtype)
        found = bind_collective(Collective("all_to_all", axis_name, size, (split, place)), array, type)
        if not tiled:
            return found
        joined = shape_of(found)
        return reshape(found, (*joined[:place], joined[place] * joined[place + 1], *joined[place + 2 :]))

    return tree_map(one, x)


def ppermute(x: Any, axis_name: AxisName, perm: Sequence[tuple[int, int]]) -> Any:
    """Send arrays from lane to lane; lanes that get none have zeros.

    Parameters
    ----------
    x : pytree of arrays
    axis_name : hashable
    perm : sequence of (int, int)
        Source and destination.

    Raises
    ------
    ArgumentError
        If a lane is named twice as a source or as a destination, or does not exist.

    Examples
    --------
    >>> from numhlo.tracer.vectorizing import vmap
    >>> vmap(lambda x: ppermute(x, "i", [(0, 1)]), axis_name="i")(np.array([1.0, 3.0]))
    Array([0., 1.])
    """
    size = _size_of(axis_name, "ppermute")
    pairs = tuple((int(a), int(b)) for a, b in perm)
    for lanes in zip(*pairs, strict=True) if pairs else ():
        if len(set(lanes)) != len(lanes) or not all(0 <= k < size for k in lanes):
            raise ArgumentError(
                f"ppermute: perm={list(pairs)} for {size} lanes",
                where=capture_location(),
                fix="name each lane at most once as a source, and at most once as a destination",
            )

    def one(leaf: Any) -> Any:
        array = asarray(leaf)
        return bind_collective(Collective("ppermute", axis_name, size, (), pairs), array, _type_of(array))

    return tree_map(one, x)


def pshuffle(x: Any, axis_name: AxisName, perm: Sequence[int]) -> Any:
    """Return the array of lane ``perm[k]`` in lane k.

    Examples
    --------
    >>> from numhlo.tracer.vectorizing import vmap
    >>> vmap(lambda x: pshuffle(x, "i", [1, 0]), axis_name="i")(np.array([1.0, 3.0]))
    Array([3., 1.])
    """
    return ppermute(x, axis_name, [(source, k) for k, source in enumerate(perm)])


def pswapaxes(x: Any, axis_name: AxisName, axis: int, *, axis_index_groups: Any = None) -> Any:
    """Exchange the lanes with an axis of the same extent.

    Examples
    --------
    >>> from numhlo.tracer.vectorizing import vmap
    >>> vmap(lambda x: pswapaxes(x, "i", 0), axis_name="i")(np.array([[1, 2], [3, 4]]))
    Array([[1, 3],
           [2, 4]])
    """
    return all_to_all(x, axis_name, axis, axis, axis_index_groups=axis_index_groups)


def psum_scatter(
    x: Any, axis_name: AxisName, *, scatter_dimension: int = 0, axis_index_groups: Any = None, tiled: bool = False
) -> Any:
    """Return this lane's part of the sum over all lanes: entry k of ``scatter_dimension`` in lane k.

    Examples
    --------
    >>> from numhlo.tracer.vectorizing import vmap
    >>> vmap(lambda x: psum_scatter(x, "i"), axis_name="i")(np.array([[1, 2], [3, 4]]))
    Array([4, 6])
    """
    size = _size_of(axis_name, "psum_scatter")

    def one(leaf: Any) -> Any:
        total = psum(asarray(leaf), axis_name, axis_index_groups=axis_index_groups)
        shape = shape_of(total)
        axis = normalize_axis(scatter_dimension, len(shape))
        if shape[axis] % size or (shape[axis] != size and not tiled):
            raise ShapeError(
                f"psum_scatter: axis {axis} of extent {shape[axis]} for {size} lanes",
                where=capture_location(),
                fix="make it as long as there are lanes, or a multiple of that with tiled=True",
            )
        if tiled:
            total = reshape(total, (*shape[:axis], size, shape[axis] // size, *shape[axis + 1 :]))
        return take(total, axis_index(axis_name), axis=axis)

    return tree_map(one, x)
