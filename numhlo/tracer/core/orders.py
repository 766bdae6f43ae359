"""How NumPy would lay out what it makes: in the order of the operands' axes in memory (``order="K"``).

`bind` notes of which arrays the order is, and nothing is computed until tracing asks, as a reshape does that may be a
view. This file knows of ops only whether NumPy's functions keep the order of what they are given. Strides are in
`strides`, those of views in the views' steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeVar

import numpy as np

from numhlo.lowering.ir import Op, Region, TensorType
from numhlo.lowering.ops import comparison, conversion, creation, layout, reduction, sorting
from numhlo.lowering.ops.control_flow import COMPOSITE
from numhlo.lowering.ops.elementwise import Elementwise
from numhlo.tracer.core.cell import Cell
from numhlo.tracer.core.strides import Strides, are_contiguous, contiguous_strides, reshaped_strides

KEEPING = frozenset(
    {
        COMPOSITE,
        comparison.CLAMP,
        comparison.COMPARE,
        comparison.SELECT,
        conversion.BITCAST_CONVERT,
        conversion.CONVERT,
        layout.BROADCAST_IN_DIM,
        layout.CONCATENATE,
        layout.PAD,
        layout.RESHAPE,
        layout.SLICE,
        reduction.REDUCE,
        sorting.SORT,
    }
)
"""Ops besides elementwise ones whose results lie as their operands do."""


class Laid(Protocol):
    """A traced array, as far as its place in memory is concerned."""

    cell: Cell
    steps: tuple[Any, ...]
    aval: TensorType

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the extents."""
        ...

    @property
    def dtype(self) -> np.dtype:
        """Return the type of the elements."""
        ...

    def through(self, step: Any) -> Self:
        """Return what a step shows of it."""
        ...


L = TypeVar("L", bound=Laid)


class Order:
    """Strides of a new array in the order of some arrays' axes.

    Parameters
    ----------
    sources : sequence of Laid
        With as many axes.
    """

    __slots__ = ("sources",)

    def __init__(self, sources: Sequence[Laid]) -> None:
        self.sources = tuple(sources)

    @property
    def by_key(self) -> dict[Any, Laid]:
        """Return the arrays by what their order depends on."""
        return {_key(x): x for x in self.sources}

    def strides(self, type: TensorType) -> Strides:
        """Return the strides of an array of a type."""
        known = []
        for source in self.sources:
            own = strides_through(source)
            known.append([s if n != 1 else 0 for n, s in zip(source.aval.shape, own, strict=True)])
        return _packed(type.shape, _fastest_first(len(type.shape), known), type.dtype.itemsize)


class Gathered:
    """Strides of what an index array takes: its axes are the slowest, whatever their places in the result.

    Parameters
    ----------
    base : Laid
    axes : tuple of int
        Those that the index has instead of.
    place, batch : int
        Where the index's axes are in the result, and how many.
    shape : tuple of int
        Of the result without new axes.
    """

    __slots__ = ("axes", "batch", "place", "shape", "sources")

    def __init__(self, base: Laid, axes: tuple[int, ...], place: int, batch: int, shape: tuple[int, ...]) -> None:
        self.sources, self.axes, self.place, self.batch, self.shape = (base,), axes, place, batch, shape

    def strides(self, type: TensorType) -> Strides:
        """Return the strides of an array of a type."""
        (base,) = self.sources
        own = zip(base.aval.shape, strides_through(base), strict=True)
        kept = [s if n != 1 else 0 for k, (n, s) in enumerate(own) if k not in self.axes]
        inner = _fastest_first(len(kept), [kept])
        order = [k if k < self.place else k + self.batch for k in inner]
        order += reversed(range(self.place, self.place + self.batch))
        strides = _packed(self.shape, order, type.dtype.itemsize)
        found = reshaped_strides(self.shape, strides, type.shape, type.dtype.itemsize)
        return contiguous_strides(type.shape, type.dtype.itemsize) if found is None else found


def _fastest_first(axes: int, known: Sequence[Sequence[int]]) -> list[int]:
    """Return axes in the order in which NumPy's iterator walks arrays of some strides."""
    order: list[int] = []
    for axis in reversed(range(axes)):
        order.insert(_place(axis, order, known), axis)
    return order


def _packed(shape: Sequence[int], order: Sequence[int], itemsize: int) -> Strides:
    """Return the strides of an array whose axes lie in an order, the fastest first, without gaps."""
    slowest_first = list(reversed(order))
    strides = contiguous_strides([shape[k] for k in slowest_first], itemsize)
    found = dict(zip(slowest_first, strides, strict=True))
    return tuple(found[k] for k in range(len(shape)))


class Same:
    """Strides of an array that stands for another one.

    Parameters
    ----------
    source : Laid
    """

    __slots__ = ("sources",)

    def __init__(self, source: Laid) -> None:
        self.sources = (source,)

    def strides(self, type: TensorType) -> Strides:
        """Return the other array's strides."""
        (source,) = self.sources
        return strides_through(source)


class Either:
    """Strides of an array that is one of several, which of them is not known while tracing.

    Parameters
    ----------
    sources : sequence of Laid
    """

    __slots__ = ("sources",)

    def __init__(self, sources: Sequence[Laid]) -> None:
        self.sources = tuple(sources)

    def strides(self, type: TensorType) -> Strides:
        """Return the strides of the first."""
        return strides_through(self.sources[0])

    @property
    def is_undecided(self) -> bool:
        """Return whether the arrays lie in memory in different ways."""
        return len({_lying(x) for x in self.sources}) > 1


def _lying(x: Laid) -> tuple[int, ...]:
    """Return the strides of an array's axes of more than one element."""
    return tuple(s for n, s in zip(x.aval.shape, strides_through(x), strict=True) if n != 1)


def lie_alike(one: Laid, other: Laid) -> bool:
    """Return whether two arrays lie in memory in the same way."""
    return one.aval.shape != other.aval.shape or _lying(one) == _lying(other)


def is_undecided(x: Laid) -> bool:
    """Return whether it is not known how an array lies in memory."""
    return isinstance(x.cell.order, Either) and x.cell.order.is_undecided


def lay_out(new: L, order: str | None, like: Any = None) -> L:
    """Note how a new array lies in memory: in NumPy's ``order``, which may be another array's."""
    shape, size = new.aval.shape, new.aval.dtype.itemsize
    if len(shape) < 2:
        return new
    if order == "F":
        new.cell.strides = contiguous_strides(shape[::-1], size)[::-1]
    elif order == "C" or not (hasattr(like, "cell") and like.shape == shape):
        new.cell.strides = contiguous_strides(shape, size)
    else:
        new.cell.strides = None
        new.cell.order = (Order if order in ("K", None) else _OfWhole)([like])
    return new


class _OfWhole(Order):
    """F's order where an array is laid out so, C's otherwise: ``order="A"``."""

    __slots__ = ()

    def strides(self, type: TensorType) -> Strides:
        """Return the strides of an array of a type."""
        (source,) = self.sources
        size, shape = type.dtype.itemsize, type.shape
        backwards = contiguous_strides(shape[::-1], size)[::-1]
        is_backwards = are_contiguous(shape[::-1], strides_through(source)[::-1], source.dtype.itemsize)
        is_forwards = are_contiguous(shape, strides_through(source), source.dtype.itemsize)
        return backwards if is_backwards and not is_forwards else contiguous_strides(shape, size)


def _place(axis: int, order: Sequence[int], known: Sequence[Sequence[int]]) -> int:
    """Return where an axis goes among those that are sorted, as NumPy's iterator does: it is C's order in doubt."""
    place = len(order)
    for number in reversed(range(len(order))):
        other, found = order[number], None
        for strides in known:
            mine, its = abs(strides[axis]), abs(strides[other])
            if mine and its:
                found = mine < its if found is None else found and mine < its
        if found:
            place = number
        elif found is not None:
            break
    return place


def strides_through(x: Laid) -> Strides:
    """Return the strides, in bytes, that NumPy's array in this place would have."""
    type, strides = x.cell.value.tensor, x.cell.strides
    for step in x.steps:
        strides = step.result_strides(type, strides)
        type = step.result_type(type)
    return strides


@dataclass(frozen=True, slots=True)
class _Without:
    """What is left of an array's axes after a reduction: for its strides alone."""

    axes: tuple[int, ...]

    def result_type(self, type: TensorType) -> TensorType:
        return type.with_shape(tuple(n for k, n in enumerate(type.shape) if k not in self.axes))

    def result_strides(self, base: TensorType, strides: Strides) -> Strides:
        return tuple(s for k, s in enumerate(strides) if k not in self.axes)


@dataclass(frozen=True, slots=True)
class _Reshaped:
    """An array with axes of extent 1 more or less: for its strides alone."""

    shape: tuple[int, ...]

    def result_type(self, type: TensorType) -> TensorType:
        return type.with_shape(self.shape)

    def result_strides(self, base: TensorType, strides: Strides) -> Strides:
        found = reshaped_strides(base.shape, strides, self.shape, base.dtype.itemsize)
        return contiguous_strides(self.shape, base.dtype.itemsize) if found is None else found


@dataclass(frozen=True, slots=True)
class _Spread:
    """A smaller array in the shape of a result: along axes that it does not have its strides are 0."""

    axes: tuple[int, ...]
    shape: tuple[int, ...]

    def result_type(self, type: TensorType) -> TensorType:
        return type.with_shape(self.shape)

    def result_strides(self, base: TensorType, strides: Strides) -> Strides:
        own = {axis: s for axis, n, s in zip(self.axes, base.shape, strides, strict=True) if n != 1}
        return tuple(own.get(k, 0) for k in range(len(self.shape)))


def _only_unit_axes_differ(old: Sequence[int], new: Sequence[int]) -> bool:
    return [n for n in old if n != 1] == [n for n in new if n != 1]


def note_order(op: Op, operands: Sequence[Any], results: Sequence[Laid]) -> None:
    """Note of an op's new arrays whose order they are in, where that may be another one than C's."""
    definition = op.definition
    if not (isinstance(definition, Elementwise) or definition in KEEPING):
        return
    if definition is layout.RESHAPE:
        operands = [x.through(_Reshaped(results[0].shape)) for x in operands if hasattr(x, "cell") and not is_plain(x)]
        if not all(_only_unit_axes_differ(op.operands[0].tensor.shape, results[0].shape) for _ in operands):
            return
    elif definition is reduction.REDUCE:
        arrays = [x for x in operands[: len(results)] if hasattr(x, "cell") and not is_plain(x)]
        operands = [x.through(_Without(tuple(op.attributes["dimensions"]))) for x in arrays]
    elif definition is layout.BROADCAST_IN_DIM:
        spread = _Spread(tuple(op.attributes["broadcast_dimensions"]), results[0].shape)
        arrays = [x for x in operands if hasattr(x, "cell") and x.ndim > 1]
        results[0].cell.order = Order([x.through(spread) for x in arrays])
        return
    elif definition is COMPOSITE:
        operands = [x for x in operands if getattr(x, "shape", None) == results[0].shape]
    for result in results:
        sources = _sources(operands, result.shape)
        if sources is not None and (not sources or not all(map(is_plain, sources))):
            result.cell.order = Order(sources)


def _sources(operands: Sequence[Any], shape: tuple[int, ...]) -> list[Laid] | None:
    """Return the arrays whose order a new one has, none where it is made of numbers; None where it is C's."""
    given: list[dict[Any, Laid]] = []
    direct: list[Laid] = []
    for x in operands:
        aval = getattr(x, "aval", None)
        if aval is None or len(aval.shape) < 2 or _is_one_number(x):
            continue
        if is_plain(x) and aval.shape == shape:
            return None  # C's order decides
        is_made = not x.steps and type(x.cell.order) is Order and aval.shape == shape
        given.append(x.cell.order.by_key if is_made else {_key(x): x})
        direct += x.cell.order.sources if is_made and _is_spread(x) else [x]
    most = max(given, key=len, default={})
    if all(each.keys() <= most.keys() for each in given):
        return list(most.values())  # chains of operations are no deeper than what they begin with
    return direct


def _key(x: Laid) -> Any:
    return (x.cell, x.steps) if x.steps else x.cell


def _is_one_number(x: Laid) -> bool:
    """Return whether an array is a number that an operand was spread from: its strides are 0."""
    owner = x.cell.value.owner
    is_constant = isinstance(owner, Op) and owner.definition is creation.CONSTANT
    return is_constant and not x.steps and x.cell.is_laid_out_by_default and x.cell.order is None


def _is_spread(x: Laid) -> bool:
    """Return whether an array is a smaller one in the shape of a result: along its axes of extent 1 it has stride 0."""
    owner = x.cell.value.owner
    return isinstance(owner, Op) and owner.definition is layout.BROADCAST_IN_DIM


def is_plain(x: Laid) -> bool:
    """Return whether an array is known to have its axes in C's order: it is new, or a part of what is."""
    cell = x.cell
    is_new = cell.order is None and cell.is_in_order and cell.value.owner.__class__ is not Region
    return is_new and all(getattr(step, "keeps_order", False) for step in x.steps)
