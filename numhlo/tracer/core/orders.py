"""How NumPy would lay out what it makes: in the order of the operands' axes in memory (``order="K"``).

`bind` notes of which arrays the order is, and nothing is computed until tracing asks, as a reshape does that may be a
view. This file knows of ops only whether NumPy's functions keep the order of what they are given. Strides are in
`strides`, those of views in the views' steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numhlo.lowering.ir import Op, Region, TensorType
from numhlo.lowering.ir.records import record
from numhlo.lowering.ops import comparison, control_flow, conversion, creation, layout, reduction, sorting
from numhlo.lowering.ops.elementwise import Elementwise
from numhlo.lowering.ops.loops import LOOPS
from numhlo.lowering.ops.strides import Strides, are_contiguous, contiguous_strides, reshaped_strides
from numhlo.tracer.core.trace import Tracer

KEEPING = frozenset(
    {
        control_flow.COMPOSITE,
        comparison.CLAMP,
        comparison.COMPARE,
        comparison.SELECT,
        conversion.BITCAST_CONVERT,
        conversion.CONVERT,
        layout.CONCATENATE,
        layout.PAD,
        layout.RESHAPE,
        layout.SLICE,
        reduction.REDUCE,
        sorting.SORT,
    }
)
"""Ops besides elementwise ones whose results lie as their operands do."""


def _key(x: Tracer) -> Any:
    return (x.cell, x.steps) if x.steps else x.cell


class Order:
    """Strides of a new array in the order of some arrays' axes.

    Parameters
    ----------
    sources : sequence of Tracer
        With as many axes.
    """

    __slots__ = ("keys", "sources")

    def __init__(self, sources: Sequence[Tracer]) -> None:
        self.sources = tuple(sources)
        self.keys = frozenset([_key(x) for x in self.sources])

    def strides(self, type: TensorType) -> Strides:
        """Return the strides of an array of a type."""
        known = []
        for source in self.sources:
            own = strides_through(source)
            known.append([s if n != 1 else 0 for n, s in zip(source.aval.shape, own, strict=True)])
        return _packed(type.shape, _fastest_first(len(type.shape), known), type.dtype.itemsize)


NUMBER = Order([])
"""Of arrays that are one number many times, which have no order of their own: they lie as the others do."""


class Gathered:
    """Strides of what an index array takes: its axes are the slowest, whatever their places in the result.

    Parameters
    ----------
    base : Tracer
    axes : tuple of int
        Those that the index has instead of.
    place, batch : int
        Where the index's axes are in the result, and how many.
    shape : tuple of int
        Of the result without new axes.
    """

    __slots__ = ("axes", "batch", "place", "shape", "sources")

    def __init__(self, base: Tracer, axes: tuple[int, ...], place: int, batch: int, shape: tuple[int, ...]) -> None:
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
    source : Tracer
    """

    __slots__ = ("sources",)

    def __init__(self, source: Tracer) -> None:
        self.sources = (source,)

    def strides(self, type: TensorType) -> Strides:
        """Return the other array's strides."""
        (source,) = self.sources
        return _strides_as(source, type)


class Either:
    """Strides of an array that is one of several, which of them is not known while tracing.

    Parameters
    ----------
    sources : sequence of Tracer
    """

    __slots__ = ("sources",)

    def __init__(self, sources: Sequence[Tracer]) -> None:
        self.sources = tuple(sources)

    def strides(self, type: TensorType) -> Strides:
        """Return the strides of the first."""
        return _strides_as(self.sources[0], type)

    @property
    def is_undecided(self) -> bool:
        """Return whether the arrays lie in memory in different ways."""
        return len({_lying(x) for x in self.sources}) > 1


def _strides_as(x: Tracer, type: TensorType) -> Strides:
    """Return an array's strides where it is of a type; what was converted to that is new, and C-contiguous."""
    return strides_through(x) if x.aval == type else contiguous_strides(type.shape, type.dtype.itemsize)


def _lying(x: Tracer) -> tuple[int, ...]:
    """Return the strides of an array's axes of more than one element."""
    return tuple(s for n, s in zip(x.aval.shape, strides_through(x), strict=True) if n != 1)


def lie_alike(one: Tracer, other: Tracer) -> bool:
    """Return whether two arrays lie in memory in the same way."""
    return one.aval.shape != other.aval.shape or _lying(one) == _lying(other)


def is_undecided(x: Tracer) -> bool:
    """Return whether it is not known how an array lies in memory."""
    return isinstance(x.cell.order, Either) and x.cell.order.is_undecided


def lay_out(new: Tracer, order: str | None, like: Any = None) -> Tracer:
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


def strides_through(x: Tracer) -> Strides:
    """Return the strides, in bytes, that NumPy's array in this place would have."""
    type, strides = x.cell.value.tensor, x.cell.strides
    for step in x.steps:
        strides = step.result_strides(type, strides)
        type = step.result_type(type)
    return strides


@record(frozen=True, slots=True)
class _Without:
    """What is left of an array's axes after a reduction: for its strides alone."""

    axes: tuple[int, ...]

    def result_type(self, type: TensorType) -> TensorType:
        return type.with_shape(tuple(n for k, n in enumerate(type.shape) if k not in self.axes))

    def result_strides(self, base: TensorType, strides: Strides) -> Strides:
        return tuple(s for k, s in enumerate(strides) if k not in self.axes)


@record(frozen=True, slots=True)
class _Reshaped:
    """An array with axes of extent 1 more or less: for its strides alone."""

    shape: tuple[int, ...]

    def result_type(self, type: TensorType) -> TensorType:
        return type.with_shape(self.shape)

    def result_strides(self, base: TensorType, strides: Strides) -> Strides:
        found = reshaped_strides(base.shape, strides, self.shape, base.dtype.itemsize)
        return contiguous_strides(self.shape, base.dtype.itemsize) if found is None else found


@record(frozen=True, slots=True)
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


def note_order(op: Op, operands: Sequence[Any], results: Sequence[Tracer]) -> None:
    """Note of an op's new arrays whose order they are in, where that may be another one than C's."""
    definition = op.definition
    if definition.__class__ is Elementwise:
        _follow(operands, results[0])
    elif definition is layout.BROADCAST_IN_DIM:
        spread: Any = _Spread(tuple(op.attributes["broadcast_dimensions"]), results[0].aval.shape)
        arrays = [x for x in operands if isinstance(x, Tracer) and len(x.aval.shape) > 1]
        results[0].cell.order = Order([x.through(spread) for x in arrays]) if arrays else NUMBER
    elif definition in KEEPING:
        seen = _seen(op, operands, results[0].aval.shape)
        for result in results if seen else ():
            if len(result.aval.shape) > 1:
                _follow(seen, result)


def _seen(op: Op, operands: Sequence[Any], shape: tuple[int, ...]) -> Sequence[Any]:
    """Return what an op's results have the order of, with as many axes as they have; nothing where that is C's."""
    match op.definition:
        case layout.RESHAPE:
            if not _only_unit_axes_differ(op.operands[0].tensor.shape, shape):
                return []
            step: Any = _Reshaped(shape)
        case reduction.REDUCE:
            step = _Without(tuple(op.attributes["dimensions"]))
            operands = operands[: len(op.results)]
        case control_flow.COMPOSITE if op.attributes["name"] in LOOPS:
            return []
        case control_flow.COMPOSITE:
            return [x for x in operands if isinstance(x, Tracer) and x.aval.shape == shape]
        case _:
            return operands
    return [x.through(step) for x in operands if isinstance(x, Tracer) and not is_plain(x)]


def _follow(operands: Sequence[Any], result: Tracer) -> None:
    """Let an array lie as operands of an op do: most have one order that all of them follow."""
    shape = result.aval.shape
    order: Order | None = None
    others: list[Tracer] = []
    for x in operands:
        if x.__class__ is not Tracer or len(x.aval.shape) != len(shape) or _is_number(x):
            continue
        is_new = not x.steps and x.aval.shape == shape
        own = x.cell.order
        if is_new and own is None and is_plain(x):
            return  # C's order decides
        if is_new and own.__class__ is Order and (order is None or own.keys > order.keys):
            order = own
        elif own is None or own is not order or not is_new:
            others.append(x)
    if order is None and not others:
        result.cell.order = NUMBER
    elif order is not None and all(_keys(x, shape) <= order.keys for x in _news(operands, order, len(shape))):
        result.cell.order = order  # chains of operations are no deeper than what they begin with
    elif order is not None or not all(map(is_plain, others)):
        result.cell.order = Order([source for x in _news(operands, None, len(shape)) for source in _sources(x, shape)])


def _news(operands: Sequence[Any], order: Order | None, axes: int) -> list[Tracer]:
    """Return operands that have an order of their own, and that is not a given one."""
    arrays = [x for x in operands if x.__class__ is Tracer and len(x.aval.shape) == axes and not _is_number(x)]
    return [x for x in arrays if order is None or x.cell.order is not order or x.steps]


def _keys(x: Tracer, shape: tuple[int, ...]) -> frozenset[Any]:
    order = x.cell.order
    return order.keys if isinstance(order, Order) and not x.steps and x.aval.shape == shape else frozenset([_key(x)])


def _sources(x: Tracer, shape: tuple[int, ...]) -> Sequence[Tracer]:
    """Return what an operand's strides follow from: of a smaller array in the result's shape, that array."""
    order = x.cell.order
    return order.sources if isinstance(order, Order) and not x.steps and _is_spread(x) else (x,)


def _is_number(x: Tracer) -> bool:
    """Return whether an array is one number many times."""
    return x.cell.order is NUMBER or _is_one_number(x)


def _is_one_number(x: Tracer) -> bool:
    """Return whether an array is a number that an operand was spread from: its strides are 0."""
    cell = x.cell
    owner = cell.value.owner
    if owner.__class__ is not Op or owner.definition is not creation.CONSTANT:
        return False
    return cell.order is None and not x.steps and cell.is_laid_out_by_default


def _is_spread(x: Tracer) -> bool:
    """Return whether an array is a smaller one in the shape of a result: along its axes of extent 1 it has stride 0."""
    owner = x.cell.value.owner
    return isinstance(owner, Op) and owner.definition is layout.BROADCAST_IN_DIM


def is_plain(x: Tracer) -> bool:
    """Return whether an array is known to have its axes in C's order: it is new, or a part of what is."""
    cell = x.cell
    is_new = cell.order is None and cell.is_in_order and cell.value.owner.__class__ is not Region
    return is_new and all(getattr(step, "keeps_order", False) for step in x.steps)
