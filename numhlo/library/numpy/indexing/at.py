"""Functional updates, ``x.at[index].add(value)``: the result is a new array and ``x`` stays as it was.

Each is a copy, then the write that `indexing` does. Outside tracing the same code runs in a trace that carries values,
so both agree. Names and modes are JAX's.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from numhlo.library.numpy.elementwise import add, divide, maximum, minimum, multiply, negative, power, subtract
from numhlo.library.numpy.indexing import advanced_indexing as advanced
from numhlo.library.numpy.indexing.brackets import get_item, is_traced_mask, masked_values, set_item, unsized_part
from numhlo.library.numpy.indexing.index_items import (
    NewAxis,
    Points,
    Position,
    basic_view,
    is_point,
    normalize_index,
    refuse_list_index,
    strip_leading,
)
from numhlo.library.numpy.indexing.selected import Selected
from numhlo.library.numpy.indexing.traced_slices import write_part
from numhlo.library.numpy.weak_numbers import wrapped_integer
from numhlo.lowering.ir import capture_location, tensor_type_of
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.lowering.ir.scoped_values import with_own_bindings
from numhlo.tracer.building import (
    COMBINERS,
    Array,
    Tracer,
    are_arrays_immutable,
    as_traced,
    asarray,
    broadcast_to_shape,
    convert,
    current_trace,
    full_of,
    new_trace,
    reshape_to,
    select,
    short_tracebacks,
    tree_map,
)
from numhlo.tracer.building import operations as b

A = TypeVar("A")

WORDS = {
    None: None,
    "clip": "clip",
    "drop": "drop",
    "fill": "drop",
    "fill_or_drop": "drop",
    "promise_in_bounds": "promise_in_bounds",
}
"""What modes mean, by their words and the names of `GatherScatterMode`."""

HINTS = {"indices_are_sorted", "unique_indices", "out_sharding", "wrap_negative_indices"}
"""Options that all methods of `AtIndex` take. The first three mean nothing for results."""
OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": add,
    "subtract": subtract,
    "multiply": multiply,
    "minimum": minimum,
    "maximum": maximum,
    "divide": divide,
    "power": power,
}


APPLY = "apply"
"""The kind of update whose value is a function of the elements; of indices that may repeat it is APPLY_AGAIN."""

APPLY_AGAIN = "apply again"


class Rules(NamedTuple):
    """What ``.at[]`` does where a call doesn't say.

    Attributes
    ----------
    update_mode, read_mode : str or None
        What happens out of bounds.
    finish : callable
        Applied to every result.
    """

    update_mode: str | None = None
    read_mode: str | None = None
    finish: Callable[[Any], Any] = lambda x: x


class At(Generic[A]):
    """``x.at``: functional updates, ``x.at[index].add(value)``; ``x`` itself is left as it was.

    Parameters
    ----------
    array : array
    rules : Rules, optional
        What happens where a call doesn't say.
    """

    def __init__(self, array: A, rules: Rules | None = None) -> None:
        self.array, self.rules = array, rules or Rules()

    def __getitem__(self, index: Any) -> AtIndex[A]:
        if type(index) is list and (self.rules.update_mode or are_arrays_immutable()):
            refuse_list_index()
        return AtIndex(self.array, index, self.rules)

    def __repr__(self) -> str:
        return f"<at of {self.array!r}>"


class AtIndex(Generic[A]):
    """``x.at[index]``: what to do there. Duplicate indices accumulate; ``mode`` says what happens out of bounds.

    Modes are ``"clip"``, ``"drop"`` or ``"fill"`` (writes nothing, reads ``fill_value``) and ``"promise_in_bounds"``,
    or a `GatherScatterMode`. By default constant indices out of bounds raise; traced ones, and all under JAX's rules,
    are dropped when written and clipped when read. With ``wrap_negative_indices=False`` negative ones are out of
    bounds.
    """

    def __init__(self, array: A, index: Any, rules: Rules) -> None:
        self.array: Any = array
        self.index, self._rules = index, rules

    def __repr__(self) -> str:
        return f"<at {self.index!r} of {self.array!r}>"

    def _update(self, value: Any, kind: str, mode: Any, hints: dict[str, Any]) -> A:
        chosen = _word_of(mode) or self._rules.update_mode or ("drop" if are_arrays_immutable() else None)
        index = self._index(hints, "clip" if chosen == "clip" else "drop")
        if kind not in ("power", "divide") and (self._rules.update_mode or are_arrays_immutable()):
            value = wrapped_integer(value, self.array.dtype)
        found = _update(self.array, index, value, kind, "drop" if chosen == "fill" else chosen)
        result: A = self._rules.finish(found)
        return result

    def _index(self, hints: dict[str, Any], mode: str | None) -> Any:
        unknown = sorted(set(hints) - HINTS)
        if unknown:
            raise TypeError(f".at[...] got an unexpected keyword argument {unknown[0]!r}")
        if hints.get("wrap_negative_indices", True):
            return self.index
        return tree_map(lambda i: _not_wrapped(i, mode), self.index, is_leaf=lambda i: isinstance(i, slice | list))

    def get(self, *, mode: Any = None, fill_value: Any = None, **hints: Any) -> A:
        """Return ``x[index]``; ``mode="fill"`` gives ``fill_value`` out of bounds."""
        chosen = _word_of(mode) or self._rules.read_mode
        chosen = "fill" if chosen == "drop" else chosen
        result: A = self._rules.finish(_get(self.array, self._index(hints, chosen), chosen, fill_value))
        return result

    def set(self, value: Any, *, mode: Any = None, **hints: Any) -> A:
        """Return ``x`` with ``x[index] = value``."""
        return self._update(value, "set", mode, hints)

    def add(self, value: Any, *, mode: Any = None, **hints: Any) -> A:
        """Return ``x`` with ``value`` added at ``index``."""
        return self._update(value, "add", mode, hints)

    def subtract(self, value: Any, *, mode: Any = None, **hints: Any) -> A:
        """Return ``x`` with ``value`` subtracted at ``index``."""
        return self._update(value, "subtract", mode, hints)

    def multiply(self, value: Any, *, mode: Any = None, **hints: Any) -> A:
        """Return ``x`` multiplied by ``value`` at ``index``."""
        return self._update(value, "multiply", mode, hints)

    mul = multiply

    def divide(self, value: Any, *, mode: Any = None, **hints: Any) -> A:
        """Return ``x`` divided by ``value`` at ``index``; integers become floats."""
        return self._update(value, "divide", mode, hints)

    def power(self, value: Any, *, mode: Any = None, **hints: Any) -> A:
        """Return ``x`` raised to ``value`` at ``index``."""
        return self._update(value, "power", mode, hints)

    def min(self, value: Any, *, mode: Any = None, **hints: Any) -> A:
        """Return the minimum of ``x`` and ``value`` at ``index``."""
        return self._update(value, "minimum", mode, hints)

    def max(self, value: Any, *, mode: Any = None, **hints: Any) -> A:
        """Return the maximum of ``x`` and ``value`` at ``index``."""
        return self._update(value, "maximum", mode, hints)

    def apply(self, function: Any, *, mode: Any = None, **hints: Any) -> A:
        """Return ``x`` with ``function`` applied to the elements at ``index``, once for each repetition.

        That has derivatives where it is known while tracing that no index repeats, or ``unique_indices=True`` says so.
        """
        return self._update(function, APPLY if hints.get("unique_indices") else APPLY_AGAIN, mode, hints)


def _word_of(mode: Any) -> str | None:
    """Return the word for a mode, None for what a call leaves open."""
    word = mode.name.lower() if isinstance(mode, enum.Enum) else mode
    if word not in WORDS:
        raise ArgumentError(
            f".at[...] with mode={mode!r}", where=capture_location(), fix="use promise_in_bounds, clip, drop or fill"
        )
    return WORDS[word]


def _not_wrapped(index: Any, mode: str | None) -> Any:
    """Return an index with negative numbers out of bounds: before the first element if clipped, else past the last."""
    if index is None or index is Ellipsis or isinstance(index, slice | bool):
        return index
    array = asarray(index)
    if array.dtype.kind != "i":
        return index
    outside = 0 if mode == "clip" else np.iinfo(array.dtype).max
    if not isinstance(array, Tracer):
        return np.where(array < 0, outside, array)
    return select(b.less(array, 0), full_of(outside, array.shape, array.dtype), array)


def _run(function: Callable[[Tracer], Any], x: Any) -> Any:
    """Run a traced function of one array; outside tracing in a trace that carries values."""
    if current_trace() is not None:
        return function(as_traced(asarray(x)))
    with short_tracebacks:
        return with_own_bindings(_run_now, function, np.asarray(x))


def _run_now(function: Callable[[Tracer], Any], array: np.ndarray) -> Any:
    with new_trace(concrete=True) as trace:
        result = as_traced(function(trace.argument(tensor_type_of(array), array)))
        return np.array(result.concrete).view(Array)


def _items(index: Any, shape: tuple[int, ...], mode: str | None) -> list[Any]:
    items = normalize_index(index, shape, checked=mode in (None, "promise_in_bounds"))
    if mode != "clip":
        return items
    extents = iter(shape)
    return [_clipped(i, next(extents)) if hasattr(i, "__len__") or is_point(i) else i for i in items]


def _clipped(item: Any, extent: int) -> Any:
    if isinstance(item, Points):
        return Points(advanced.bound(advanced.wrap_negative(item.array, extent), extent, "clip"), from_end=False)
    if isinstance(item, Position) and isinstance(item.index, Tracer):
        return Position(advanced.bound(item.index, extent, "clip"))
    return item


def _get(x: Any, index: Any, mode: str | None, fill_value: Any) -> Any:
    def read(array: Tracer) -> Any:
        if unsized_part(array, index) is not None:
            return get_item(array, index).copy()
        items = _items(index, array.shape, mode)
        if mode == "fill" and any(is_point(i) for i in items):
            return _filled(array, items, fill_value)
        if any(isinstance(i, Points) for i in items):
            return advanced.gather_points(array, items)
        return as_traced(basic_view(array, items)).copy()  # type: ignore[attr-defined]

    return _run(read, x)


def _filled(array: Tracer, items: list[Any], fill_value: Any) -> Any:
    plan = advanced.PointPlan(array, items)
    mask = advanced.in_bounds(items, array.shape)
    trailing = len(plan.result_shape) - len(plan.batch) - plan.place
    spread = reshape_to(mask, plan.batch + (1,) * trailing)
    value = reshape_to(advanced.gather_points(array, items), plan.result_shape)
    filler = _default_fill(array.dtype) if fill_value is None else fill_value
    other = full_of(filler, plan.result_shape, array.dtype)
    return reshape_to(select(broadcast_to_shape(spread, plan.result_shape), value, other), plan.final_shape)


def _default_fill(dtype: np.dtype) -> Any:
    if dtype.kind == "i":
        return np.iinfo(dtype).min
    if dtype.kind == "u":
        return np.iinfo(dtype).max
    return True if dtype.kind == "b" else np.nan


def _update(x: Any, index: Any, value: Any, kind: str, mode: str | None) -> Any:
    def write(array: Tracer) -> Any:
        if kind == "divide" and array.dtype.kind in "biu":
            array = as_traced(convert(array, np.float64))
        target = as_traced(array.copy())  # type: ignore[attr-defined]
        update_in_place(target, index, value, kind, mode)
        return target

    return _run(write, x)


def update_in_place(target: Tracer, index: Any, value: Any, kind: str, mode: str | None = None) -> None:
    """Write ``target[index] = value``, or combine the elements there with ``value``, once for each repetition."""
    if kind.startswith(APPLY) and (is_traced_mask(index) or unsized_part(target, index) is not None):
        value, kind = value(_get(target, index, None, None)), "set"
    part = unsized_part(target, (index,) if isinstance(value, Selected) and is_traced_mask(index) else index)
    if part is not None:
        write_part(part, value, None if kind == "set" else lambda old, new: _combined(old, new, kind))
        return
    if is_traced_mask(index):
        new = value if kind == "set" else _combined(target, _spread_over(target, index, value), kind)
        set_item(target, index, value) if kind == "set" else _write_masked(target, index, new)
        return
    items = _items(index, target.shape, mode)
    if any(isinstance(i, Points) for i in items):
        _scatter(target, items, value, kind)
        return
    view = basic_view(target, items)
    new = asarray(value) if kind == "set" else _combined(view, value, kind)
    new = broadcast_to_shape(strip_leading(convert(new, target.dtype), view.ndim), view.shape)
    if mode not in ("clip", "promise_in_bounds"):
        new = _dropped_outside(view, items, target.shape, new)
    view.assign(as_traced(new))


def _spread_over(target: Tracer, mask: Tracer, value: Any) -> Any:
    """Return the operand of a masked update in the target's shape: one value for each true element, or a broadcast."""
    return masked_values(target, mask, asarray(value))


def _write_masked(target: Tracer, mask: Tracer, new: Any) -> None:
    full = reshape_to(mask, mask.shape + (1,) * (target.ndim - mask.ndim))
    target.assign(select(broadcast_to_shape(full, target.shape), convert(new, target.dtype), target))


def _dropped_outside(view: Tracer, items: list[Any], shape: tuple[int, ...], new: Any) -> Any:
    """Return ``new`` where every traced position lies inside, else what was there."""
    positions = [i for i in items if not isinstance(i, NewAxis)]
    traced = [
        (item.index, extent)
        for item, extent in zip(positions, shape, strict=True)
        if isinstance(item, Position) and isinstance(item.index, Tracer)
    ]
    for index, extent in traced:
        inside = b.both(b.at_least(index, 0), b.less(index, extent))
        new = select(broadcast_to_shape(inside, view.shape), new, view)
    return new


def _combined(old: Any, value: Any, kind: str) -> Any:
    return value(old) if kind.startswith(APPLY) else OPERATIONS[kind](old, value)


def _scatter(target: Tracer, items: list[Any], value: Any, kind: str) -> None:
    if kind == "set" or kind in COMBINERS:
        advanced.scatter_points(target, items, value, kind)
    elif kind == "subtract":
        advanced.scatter_points(target, items, negative(convert(asarray(value), target.dtype)), "add")
    elif kind == "divide":
        advanced.scatter_points(target, items, divide(1, convert(asarray(value), target.dtype)), "multiply")
    elif kind == APPLY or are_distinct(advanced.PointPlan(target, items)):
        old = advanced.gather_points(target, items)
        advanced.scatter_points(target, items, _combined(old, value, kind), "set")
    elif kind == "power":
        exponents = as_traced(full_of(1, target.shape, target.dtype))
        advanced.scatter_points(exponents, items, value, "multiply")
        target.assign(as_traced(power(target, exponents)))
    else:
        advanced.scatter_function(target, items, value)


def are_distinct(plan: advanced.PointPlan) -> bool:
    """Return whether the positions of an advanced index are known while tracing, and none of them repeats."""
    starts = plan.starts.known() if isinstance(plan.starts, Tracer) else plan.starts
    return starts is not None and len(np.unique(starts.reshape(-1, len(plan.axes)), axis=0)) == starts[..., 0].size


Array.at = property(At)  # type: ignore[assignment]
