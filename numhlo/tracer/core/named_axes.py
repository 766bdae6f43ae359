"""Named axes of `vmap` and of meshes while a function is traced, and the op that a function of one becomes.

Inside the mapped function such a function is a ``custom_call`` on one lane's array; the `vmap` of that name replaces it
by an op on all lanes (`numhlo.tracer.batching.collectives`), so it never gets into a program that runs. Where the lanes
are processes of a grid, it becomes a collective of theirs. The functions are in `collectives`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from numhlo.lowering.ir import Op, Region, TensorType, capture_location
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
        ``"psum"``, ``"pmax"``, ``"pmin"``, ``"all_gather"``, ``"psum_scatter"``, ``"all_to_all"``, ``"ppermute"``,
        ``"pbroadcast"``, ``"axis_index"``, ``"pvary"``, ``"total"``, ``"share"``.
    name : hashable
        Of the axis.
    size : int
        The axis's extent.
    dimensions : tuple of int
        Those of the lane's array that take part: of `all_gather` the new one, of `psum_scatter` the one that goes, of
        `all_to_all` the one that is split and the one that is made.
    pairs : tuple of (int, int)
        Source and destination of `ppermute`; of `pbroadcast` one pair, whose source counts.

    Notes
    -----
    The last two take a cotangent and a value that it belongs to, and serve derivatives taken inside of a function of
    one device. A value that is the same on all devices has one cotangent, not one on each: ``"total"`` adds those of
    the devices, ``"share"`` gives each device an equal part. Of a value that differs the cotangent stays as it is.
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


CORRECTIONS = ("total", "share")
"""Kinds that hang on which devices have the same value: `numhlo.library.sharding.varying_axes` replaces them."""

_sizes: ScopedValue[tuple[tuple[AxisName, int], ...]] = ScopedValue(())
_batched: ScopedValue[AxisName] = ScopedValue(None)
_checked: ScopedValue[tuple[tuple[AxisName, int], ...]] = ScopedValue(())


@contextmanager
def named_axis(name: AxisName, size: int) -> Iterator[None]:
    """Let functions of a named axis be used while a mapped function is traced."""
    if name is None:
        yield
        return
    with _sizes.bound((*_sizes.get(), (name, size))):
        yield


@contextmanager
def device_axes(axes: Sequence[tuple[AxisName, int]], is_checked: bool) -> Iterator[None]:
    """Let functions of a mesh's axes be used while the function of one device is traced.

    Parameters
    ----------
    axes : sequence of (hashable, int)
        Names and extents.
    is_checked : bool
        Whether it is known which values are the same on all devices: their cotangents are then, too.
    """
    with _sizes.bound((*_sizes.get(), *axes)), _checked.bound((*_checked.get(), *(axes if is_checked else ()))):
        yield


def corrects_cotangents() -> bool:
    """Return whether `corrected` may do anything here."""
    return bool(_checked.get())


def corrected(kind: str, cotangents: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    """Return cotangents between the derivative of one device's function and what is around it; see `Collective`.

    Parameters
    ----------
    kind : str
        One of `CORRECTIONS`.
    cotangents : sequence
        None for zeros.
    values : sequence
        What each of them is the cotangent of; nothing is done where values are left out.
    """
    found = list(cotangents)
    for name, size in _checked.get():
        for k, (cotangent, value) in enumerate(zip(found, values, strict=False)):
            if cotangent is not None:
                type = TensorType(tuple(cotangent.shape), cotangent.dtype)
                found[k] = bind_collective(Collective(kind, name, size), cotangent, type, value)
    return found


@contextmanager
def batching_axis(name: AxisName) -> Iterator[None]:
    """Let batching rules replace the collectives of this axis."""
    with _batched.bound(name):
        yield


def is_batched_axis(name: AxisName) -> bool:
    """Return whether an axis is the one that is being batched."""
    batched = _batched.get()
    return batched is not None and bool(name == batched)


def batched_axis() -> AxisName:
    """Return the name of the axis that is being batched; None if it has none."""
    return _batched.get()


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
        f"{what}: unbound axis name: {name!r}\n  at {where}\n"
        f"  axes of vmap(axis_name=) and shard_map around here: {names}"
    )


def bind_collective(collective: Collective, x: Any, type: TensorType, *others: Any) -> Any:
    """Apply a collective to one lane's array (None for `axis_index`), and what else it takes."""
    operands = [*([] if x is None else [x]), *others]
    return bind1(control_flow.CUSTOM_CALL, *operands, attributes=attributes_of(collective), results=[type])


def attributes_of(collective: Collective) -> dict[str, Any]:
    """Return the attributes of the custom call that a collective is."""
    return {
        "call_target_name": TARGET,
        "has_side_effect": True,  # it must not be evaluated, moved or dropped before its axis is batched
        "backend_config": CollectiveText.of(collective),
    }
