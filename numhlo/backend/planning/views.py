"""First pass over a region: what each view op looks at, and which views no strides can express.

A *base* is the value below a chain of views; a value that no view op made is its own base. A view is emitted as index
arithmetic in the kernels that use it. Where that is impossible the value that it looks at gets a buffer (`forced`).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import field

from numhlo.backend.emit.access import Access, NonlinearViewError, contiguous, whole_array
from numhlo.backend.emit.tables import VIEW
from numhlo.backend.emit.windows import overlaps
from numhlo.lowering.ir import Op, Region, Value
from numhlo.lowering.ir.records import record
from numhlo.lowering.ops import creation, layout


class _NoExpressions:
    """Stands in for `Expressions` where only the strides of a view matter."""

    def visit(self, value: Value, chain: int = 0) -> int:
        return 0

    def push(self, step: object, chain: int) -> int:
        return 0


_NOWHERE = _NoExpressions()


@record(slots=True)
class View:
    """A view value.

    Attributes
    ----------
    base : Value
        What it looks at, through all views.
    access : Access
        Where its elements lie, if the base is a contiguous array.
    indices : tuple of Value
        Run-time start indices along the way.
    reshaped : bool
        Whether dimensions are split or merged along the way.
    """

    base: Value
    access: Access
    indices: tuple[Value, ...] = ()
    reshaped: bool = False


@record(slots=True)
class Views:
    """The views of a region, and the values that must have a buffer because a view of them has no strides."""

    of: dict[Value, View] = field(default_factory=dict)
    forced: set[Value] = field(default_factory=set)
    flat: set[Value] = field(default_factory=set)
    """Elementwise values that may be computed in any shape of the same size."""

    def base(self, value: Value) -> Value:
        """Return what a value looks at; itself if it is no view."""
        view = self.of.get(value)
        return value if view is None else view.base


def is_view(op: Op) -> bool:
    """Return whether an op is emitted as index arithmetic."""
    return VIEW.find(op.definition) is not None


def find_views(
    region: Region,
    elementwise: set[Op],
    looking: Collection[Op],
    copying: Collection[Op] = (),
    early: Collection[Value] = (),
) -> Views:
    """Return the views of a region.

    Parameters
    ----------
    region : Region
    elementwise : set of Op
        The ops that are emitted per element.
    looking : collection of Op
        The ops that are views.
    copying : collection of Op
        Reshapes whose operand is to have a buffer in any case.
    early : collection of Value
        Views that are to have a buffer in any case.
    """
    views = Views(forced=set(early))
    for op in region.ops:
        if op in elementwise:
            (result,) = op.results
            shape, flat = result.tensor.shape, views.flat
            if not [v for v in op.operands if not (v in flat or _is_flat(v, shape, views, elementwise))]:
                flat.add(result)
        elif op in looking:
            _add_view(op, views, elementwise, op in copying)
    return views


def _is_flat(value: Value, shape: tuple[int, ...], views: Views, elementwise: set[Op]) -> bool:
    op, view = value.owner, views.of.get(value)
    if view is not None:
        strides = view.access.strides
        flat = not any(strides) or (view.base in views.flat and strides == contiguous(shape))
    elif isinstance(op, Op) and op.definition is creation.IOTA:
        flat = value.tensor.ndim == 1
    else:
        flat = op not in elementwise
    return flat or value.tensor.size == 1


def _add_view(op: Op, views: Views, elementwise: set[Op], copying: bool) -> None:
    operand = op.operands[0]
    below, overlapping = views.of.get(operand), overlaps(op)
    if below is not None and overlapping and operand.tensor.size > below.base.tensor.size:
        views.forced.add(below.base)  # windows of windows; a copy of these would be larger than what they look at
    elif copying or overlapping:
        views.forced.add(operand)
    if below is None or operand in views.forced:
        below = View(operand, whole_array(operand.tensor.shape))
    try:
        access = VIEW[op.definition](op, below.access, _NOWHERE, 0)
    except NonlinearViewError:
        views.forced.add(operand)
        below = View(operand, whole_array(operand.tensor.shape))
        access = VIEW[op.definition](op, below.access, _NOWHERE, 0)
    assert isinstance(access, Access)
    reshaped = below.reshaped or (op.definition is layout.RESHAPE and not _only_ones(op))
    if reshaped and below.base.owner in elementwise and below.base not in views.flat:
        views.forced.add(below.base)
    views.of[op.results[0]] = View(below.base, access, (*below.indices, *op.operands[1:]), reshaped)


def _only_ones(op: Op) -> bool:
    """Return whether a reshape only adds and drops dimensions of extent 1."""
    before, after = op.operands[0].tensor.shape, op.result.tensor.shape
    return [n for n in before if n != 1] == [n for n in after if n != 1]


def steps_from(base: Value, seen: Value) -> list[Op]:
    """Return the views from a value to what is seen of it, in order."""
    steps: list[Op] = []
    while seen is not base:
        assert isinstance(seen.owner, Op)
        steps.append(seen.owner)
        seen = seen.owner.operands[0]
    return steps[::-1]
