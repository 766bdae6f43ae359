"""Which arrays are overwritten in part, by which op, and what is read of them before.

An update writes into its operand's own buffer if nobody reads the operand later. So who reads a few elements of it
must have done so: views of few elements that are used after the update are copied before it (`early_views`), and
elementwise ops that read the operand don't move down past it (`fusion`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from numhlo.backend.emit.access import whole_array
from numhlo.backend.emit.indexed_values import updated_array
from numhlo.backend.planning.strided_updates import STRIDED_UPDATE
from numhlo.backend.planning.views import Views, is_view
from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Op, Region, Value
from numhlo.lowering.ops import indexing
from numhlo.lowering.ops.control_flow import CASE, COMPOSITE, IF

UPDATES = (indexing.DYNAMIC_UPDATE_SLICE, indexing.SCATTER)
"""Ops whose results are their first operands but for some elements."""

BRANCHES = frozenset({IF, CASE})

MAYBE_UPDATES = frozenset({*UPDATES, *BRANCHES, COMPOSITE})

LARGE = 1024
"""Bytes from where on an array is dearer to copy than to be read one kernel earlier."""

FEW = 8
"""Times that an array has the elements of a view that is copied lest the array be."""


def is_update(op: Op) -> bool:
    """Return whether an op changes a part of its first operands."""
    return op.definition in UPDATES or (op.definition is COMPOSITE and op.attributes["name"] == STRIDED_UPDATE)


def _updates(region: Region) -> list[Op]:
    """Return the ops of a region that may change a part of an array, without asking each."""
    return [op for op in region.ops if op.definition in MAYBE_UPDATES and (op.regions or is_update(op))]


def _arrays_of(op: Op) -> Iterator[Value]:
    """Yield the arrays that an update changes a part of: a branch does if one of its sides does."""
    if op.definition not in BRANCHES:
        yield from op.operands[: len(op.results)]
        return
    for number in range(len(op.results)):
        for side in op.regions:
            returned = side.returns[number]
            array = updated_array(returned, side)
            if array is not None and array is not returned:
                yield array


def find_overwritten(region: Region, views: Views, arguments: Collection[Value]) -> dict[Value, Op]:
    """Return which large arrays are overwritten in part, and the first op that does so.

    Parameters
    ----------
    region : Region
    views : Views
    arguments : collection of Value
        Those of the region's that may be overwritten.
    """
    found: dict[Value, Op] = {}
    updates = _updates(region)
    inside = set(region.ops) if updates else ()
    for op in updates:
        for operand in _arrays_of(op):
            base = views.base(operand)
            ours = base.owner in inside if isinstance(base.owner, Op) else base in arguments
            if ours and operand.tensor.nbytes >= LARGE and _is_whole(operand, views):
                found.setdefault(base, op)
    return found


def _is_whole(value: Value, views: Views) -> bool:
    """Return whether a value is all that it looks at, in the order of memory."""
    view = views.of.get(value)
    return view is None or (not view.indices and view.access == whole_array(value.tensor.shape))


def early_views(region: Region, views: Views, overwritten: dict[Value, Op]) -> set[Value]:
    """Return views of few elements of arrays that are overwritten before the views are used."""
    found: set[Value] = set()
    past: set[Value] = set()
    first = {op: base for base, op in overwritten.items()}
    for op in region.ops if overwritten else ():
        if not is_view(op):
            used = [*op.operands, *free_values(op)] if op.regions else op.operands
            found.update(_lowest(v, views) for v in used if views.base(v) in past and _is_small(v, views))
        if op in first:
            past.add(first[op])
    return found


def _is_small(value: Value, views: Views) -> bool:
    view = views.of.get(value)
    return view is not None and value.tensor.size * FEW <= view.base.tensor.size


def _lowest(value: Value, views: Views) -> Value:
    """Return the first view of few elements on the way to a view."""
    assert isinstance(value.owner, Op)
    below = value.owner.operands[0]
    while _is_small(below, views):
        value = below
        assert isinstance(value.owner, Op)
        below = value.owner.operands[0]
    return value
