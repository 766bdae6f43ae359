"""Joins units that follow each other and meet only within rows: one kernel then runs them row by row.

A chain begins with a reduction along rows. What follows may read the chain's results at its own row, and elements that
the chain stores at its own place; anything else that the chain made ends it.
"""

from __future__ import annotations

import math

from numhlo.backend.emit.access import Access, whole_array
from numhlo.backend.emit.elementwise import COSTS
from numhlo.backend.emit.expressions import Load
from numhlo.backend.emit.row_chain import suits_rows
from numhlo.backend.planning.fusion import Unit
from numhlo.backend.planning.placed import LONGEST
from numhlo.backend.planning.units import Layout, row_strides
from numhlo.lowering.ir import Op

LONGEST_ROW = 65536
"""Elements of a row beyond which it would not stay in the cache anyway."""

SIDE_BY_SIDE = 16
"""Rows from which on SIMD code across rows pays."""


def join_rows(layout: Layout) -> None:
    """Replace units of a layout that can run row by row with one unit each."""
    groups: list[list[Unit]] = []
    begun = False
    for unit in layout.order:
        if begun and _continues(layout, groups[-1], unit):
            if len(groups) > 1 and _needs_both(layout, groups[-2], groups[-1], unit):
                groups[-2:] = [groups[-2] + groups[-1]]
            groups[-1].append(unit)
        else:
            groups.append([unit])
            begun = _may_begin(unit)
    layout.order = [_joined(layout, chain) for chain in groups]


def _needs_both(layout: Layout, before: list[Unit], chain: list[Unit], unit: Unit) -> bool:
    """Return whether a unit that continues a chain needs rows of the one before it too, and they can be one chain."""
    first = before[0]
    if first.axes != chain[0].axes or first.domain != chain[0].domain or not _may_begin(first):
        return False
    made = {value for member in before for op in member.ops for value in op.results}
    if made.isdisjoint(map(layout.root, layout.loads[unit])):
        return False
    if not all(made.isdisjoint(map(layout.root, layout.loads[member])) for member in chain):
        return False
    both = [*before, *chain]
    return _continues(layout, both, unit) and all(_suits(layout, one, first.axes or ()) for one in (first, chain[0]))


def _may_begin(unit: Unit) -> bool:
    """Return whether a chain may begin with a unit; that it suits one is asked when another unit could follow."""
    if not unit.is_fused or unit.axes is None or math.prod(unit.domain) == 0:
        return False
    return math.prod([unit.domain[dim] for dim in unit.axes]) <= LONGEST_ROW


def _suits(layout: Layout, unit: Unit, axes: tuple[int, ...]) -> bool:
    kept = [dim for dim in range(len(unit.domain)) if dim not in axes]
    return suits_rows(layout.pass_of(unit), kept, axes)


def _continues(layout: Layout, chain: list[Unit], unit: Unit) -> bool:
    """Return whether a unit can join a chain, and gains from it."""
    first = chain[0]
    assert first.axes is not None
    if not unit.is_fused:
        return False
    made = {value for member in chain for op in member.ops for value in op.results}
    if made.isdisjoint(map(layout.root, layout.loads[unit])):
        return False
    if sum([len(member.ops) for member in chain]) + len(unit.ops) > LONGEST:
        return False
    once = is_once(unit, first)
    if once and _is_dear(unit, math.prod(first.domain[dim] for dim in first.axes)):
        return False
    if not (once or (unit.domain == first.domain and unit.axes in (None, first.axes))):
        return False
    at_place = whole_array(unit.domain)
    in_row = at_place if once else Access(0, row_strides(first.domain, first.axes))
    for node in layout.expressions[unit].nodes:
        if not isinstance(node, Load) or layout.root(node.value) not in made:
            continue
        owner = layout.root(node.value).owner
        assert isinstance(owner, Op)
        expected = at_place if owner.results[0].tensor.shape == first.domain else in_row
        if node.access != expected or (once and owner.results[0].tensor.shape == first.domain):
            return False
    if len(chain) == 1 and not _suits(layout, first, first.axes):
        return False
    return once or _suits(layout, unit, first.axes)


def _is_dear(unit: Unit, row: int) -> bool:
    """Return whether what is computed once a row outweighs the row: on its own it is SIMD code across rows."""
    return math.prod(unit.domain) >= SIDE_BY_SIDE and sum(COSTS.get(op.definition, 1) for op in unit.ops) > row


def is_once(unit: Unit, first: Unit) -> bool:
    """Return whether a unit computes one element a row of the chain that ``first`` begins."""
    if unit.axes is not None or first.axes is None:
        return False
    rows = [n for dim, n in enumerate(first.domain) if dim not in first.axes and n != 1]
    return unit.domain != first.domain and [n for n in unit.domain if n != 1] == rows


def _joined(layout: Layout, chain: list[Unit]) -> Unit:
    """Return one unit for a chain."""
    if len(chain) == 1:
        return chain[0]
    last = chain[-1]
    ops = [op for unit in chain for op in unit.ops]
    joined = Unit(last.position, last.stage, last.domain, chain[0].axes, True, ops, chain)
    made = {value for op in ops for value in op.results}
    loads = dict.fromkeys(v for unit in chain for v in layout.loads[unit] if layout.root(v) not in made)
    layout.loads[joined] = list(loads)
    for unit in chain:
        del layout.loads[unit]
    return joined
