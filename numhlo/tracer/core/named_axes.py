"""Named axes of `vmap` while a function is traced, and the op that a function of one becomes.

Inside the mapped function such a function is a ``custom_call`` on one lane's array; the `vmap` of that name replaces it
by an op on all lanes (`numhlo.tracer.batching.collectives`), so it never gets into a program that runs. The functions
are in `collectives`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numhlo.lowering.ir import Op, Region, TensorType, capture_location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.lowering.ir.records import record
from numhlo.lowering.ir.scoped_values import ScopedValue
from numhlo.lowering.ops import control_flow
from numhlo.tracer.core.bind import bind1

AxisName = Any
"""Anything hashable, but for a tuple, which stands for several."""


TARGET = "numhlo.collective"


@record(frozen=True)
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


_sizes: ScopedValue[tuple[tuple[AxisName, int], ...]] = ScopedValue(())
_batched: ScopedValue[AxisName] = ScopedValue(None)


@contextmanager
def named_axis(name: AxisName, size: int) -> Iterator[None]:
    """Let functions of a named axis be used while a mapped function is traced."""
    if name is None:
        yield
        return
    with _sizes.bound((*_sizes.get(), (name, size))):
        yield


@contextmanager
def batching_axis(name: AxisName) -> Iterator[None]:
    """Let batching rules replace the collectives of this axis."""
    with _batched.bound(name):
        yield


def is_batched_axis(name: AxisName) -> bool:
    """Return whether an axis is the one that is being batched."""
    batched = _batched.get()
    return batched is not None and bool(name == batched)


def uses_batched_axis(op: Op) -> bool:
    """Return whether an op is, or has inside, a collective of the axis that is being batched."""
    if _batched.get() is None:
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


def size_of(name: AxisName, what: str) -> int:
    """Return the extent of a named axis, for the function ``what``; `NameError` where there is none."""
    for known, size in reversed(_sizes.get()):
        if known == name:
            return size
    names = ", ".join(repr(n) for n, _ in _sizes.get()) or "none"
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


def refuse_groups(name: str, groups: Any) -> None:
    """Refuse to divide the lanes of one axis into groups."""
    if groups is not None:
        raise ArgumentError(
            f"{name}(axis_index_groups=...)",
            where=capture_location(),
            fix="use two nested vmaps with names of their own",
        )
