"""Joins running totals with what needs them at their own places: one kernel goes over lines, a block at a time.

A chain begins with totals along memory, or across it. What follows reads the chain's arrays at its own place alone: as
elements or, at the end, as a part of an array that is written part by part. Along memory, reductions of the lines and
other totals may follow, too; across it, reductions whose order has no effect.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from numhlo.backend.emit.access import whole_array
from numhlo.backend.emit.cumulative import COLUMNS, is_running, kind_of
from numhlo.backend.emit.elementwise import COSTS
from numhlo.backend.emit.expressions import Expressions, Graph, Load
from numhlo.backend.emit.maps import Store, write_map
from numhlo.backend.emit.registers import REGISTERS
from numhlo.backend.emit.row_chain import Pass
from numhlo.backend.emit.running_chain import Totals, write_running_chain
from numhlo.backend.emit.running_columns import reduces_in_any_order, write_running_columns
from numhlo.backend.planning.fusion import Unit
from numhlo.backend.planning.parts import parts_of
from numhlo.backend.planning.placed import LONGEST
from numhlo.backend.planning.units import Layout
from numhlo.lowering.ir import Op, Value
from numhlo.lowering.ops.effects import op_has_effects

SHORT_LINE = 32
"""Lines below this length are not worth blocks."""

FEW_LINES = 16
"""Numbers of lines below which threads find more to do in what follows than in the lines."""

MOST_REDUCED = 4
"""Reductions of columns whose results so far are on the stack."""

DEAR = 24
"""Operations an element from which on what follows few lines is better cut among threads."""


def join_totals(layout: Layout) -> None:
    """Replace running totals and what follows them by one unit each, where one kernel can run them.

    Units between that have nothing to do with the totals run before.
    """
    order: list[Unit] = []
    chain: list[Unit] = []
    between: list[Unit] = []
    for unit in layout.order:
        if chain and _continues(layout, chain, unit):
            order += between
            between = []
            chain.append(unit)
        elif _may_begin(unit) or not chain or not _may_run_before(layout, chain, unit):
            order += [*_joined(layout, chain), *between]
            chain, between = ([unit], []) if _may_begin(unit) else ([], [unit])
        else:
            between.append(unit)
    layout.order = [*order, *_joined(layout, chain), *between]


def _may_run_before(layout: Layout, chain: Sequence[Unit], unit: Unit) -> bool:
    """Return whether a unit that follows a chain may run before it."""
    if layout.operations.overwritten or (not unit.is_fused and op_has_effects(unit.ops[0])):
        return False
    made = _made(chain)
    return made.isdisjoint(map(layout.root, layout.loads[unit]))


def _may_begin(unit: Unit) -> bool:
    """Return whether a unit makes totals across memory, or along it, forwards, of lines that are long enough."""
    op = unit.ops[0]
    if unit.is_fused or not is_running(op) or op.result.tensor.size == 0:
        return False
    return _is_across(unit) or (op.result.tensor.shape[_axis(unit)] >= SHORT_LINE and not _is_reverse(unit))


def _is_across(unit: Unit) -> bool:
    """Return whether totals are made side by side: memory runs across the axis."""
    return math.prod(unit.ops[0].result.tensor.shape[_axis(unit) + 1 :]) > 1


def _is_reverse(unit: Unit) -> bool:
    reverse: bool = unit.ops[0].attributes["composite_attributes"]["reverse"]
    return reverse


def _axis(unit: Unit) -> int:
    axis: int = unit.ops[0].attributes["composite_attributes"]["axis"]
    return axis


def _made(chain: Sequence[Unit]) -> set[Value]:
    return {value for unit in chain for op in unit.ops for value in op.results}


def _continues(layout: Layout, chain: Sequence[Unit], unit: Unit) -> bool:
    """Return whether a unit can join a chain, and needs what the chain makes."""
    shape, axis, made = chain[0].ops[0].result.tensor.shape, _axis(chain[0]), _made(chain)
    if not (chain[-1].is_fused or is_running(chain[-1].ops[0])):
        return False  # a part of an array is the end
    if made.isdisjoint(map(layout.root, layout.loads[unit])) or _is_dear(chain[0], unit):
        return False
    if sum([len(one.ops) for one in chain]) + len(unit.ops) > LONGEST:
        return False
    across = _is_across(chain[0])
    if unit.is_fused:
        fits = unit.domain == shape and unit.axes in (None, (axis,)) and not unit.members
        if fits and across and unit.axes is not None:
            reduced = layout.pass_of(unit).reduced
            fits = len(reduced) <= MOST_REDUCED and all(map(reduces_in_any_order, reduced))
    elif is_running(unit.ops[0]):
        same = unit.ops[0].result.tensor.shape == shape and _axis(unit) == axis
        fits = same and not across and _may_begin(unit)
    else:
        return _part_of(layout, unit, shape, made) is not None
    return fits and all(_reads_at_place(layout, graph, shape, made) for graph in layout.graphs_of(unit))


def _is_dear(first: Unit, unit: Unit) -> bool:
    """Return whether a unit has so much to do for few lines that threads had better share it."""
    shape = first.ops[0].result.tensor.shape
    lines = math.prod(shape) // shape[_axis(first)] // (COLUMNS if _is_across(first) else 1)
    return lines < FEW_LINES and sum(COSTS.get(op.definition, 1) for op in unit.ops) > DEAR


def _reads_at_place(layout: Layout, graph: Graph, shape: Sequence[int], made: set[Value]) -> bool:
    """Return whether a kernel reads what a chain made at its own place alone."""
    return all(
        node.value in made and node.value.tensor.shape == shape and node.access == whole_array(tuple(shape))
        for node in graph.nodes
        if isinstance(node, Load) and layout.root(node.value) in made
    )


class _Site:
    """Gives graphs to those who look at an op's parts before they are emitted."""

    def __init__(self, layout: Layout, stage: int) -> None:
        self.layout, self.stage = layout, stage

    def expressions(self, shape: tuple[int, ...]) -> Expressions:
        """Return an empty graph."""
        return self.layout.expressions_over(shape, self.stage)

    def operand_expressions(self, op: Op, number: int) -> Expressions:
        """Return an empty graph over an operand."""
        return self.expressions(op.operands[number].tensor.shape)


def _part_of(layout: Layout, unit: Unit, shape: tuple[int, ...], made: set[Value]) -> int | None:
    """Return which part, if just one, of an array that is written part by part needs what a chain made."""
    parts = [graph for graph, _ in parts_of(unit.ops[0], _Site(layout, unit.stage))]
    needing = [k for k, graph in enumerate(parts) if any(layout.root(v) in made for v in graph.loaded)]
    if len(needing) != 1:
        return None
    graph = parts[needing[0]]
    return needing[0] if graph.shape == shape and _reads_at_place(layout, graph, shape, made) else None


def _joined(layout: Layout, chain: list[Unit]) -> list[Unit]:
    """Return one unit for a chain."""
    if len(chain) < 2:
        return chain
    last = chain[-1]
    first = chain[0]
    ops = [op for unit in chain for op in unit.ops]
    joined = Unit(last.position, last.stage, first.ops[0].result.tensor.shape, (_axis(first),), True, ops, chain)
    made = _made(chain)
    layout.loads[joined] = list(
        dict.fromkeys(v for unit in chain for v in layout.loads[unit] if layout.root(v) not in made)
    )
    for unit in chain:
        del layout.loads[unit]
    return [joined]


def emit_running_chain(unit: Unit, planner: Any) -> None:
    """Append the launch of a chain's kernel, and those of the other parts of an array of which a part ends it."""
    passes, others = _passes(unit, planner)
    stored = [store.value for one in passes for store in one.all_stores]
    inner = {one.store.value for one in passes if isinstance(one, Totals)}
    inner.update(s.value for one in passes if isinstance(one, Pass) for r in one.reduced for s in r.results)
    unstored = {value for value in stored if value in inner and not planner.is_used(value)}
    outputs = [value for value in dict.fromkeys(stored) if value not in unstored]
    for value in outputs:
        planner.output(value)
    (axis,) = unit.axes or ()
    first, *behind = passes
    if _is_across(unit.members[0]):
        assert isinstance(first, Totals)
        reverse = _is_reverse(unit.members[0])
        elements = [one for one in behind if isinstance(one, Pass)]
        draft = write_running_columns(first, elements, axis, reverse, unstored, planner.buffer)
    else:
        draft = write_running_chain(passes, axis, unstored, planner.buffer)
    for graph, stores in others:
        if math.prod(graph.shape):
            planner.append(write_map(graph, stores, planner.buffer))
    graphs = [*[graph for graph, _ in others], *[one.expressions for one in passes]]
    planner.launch_members(unit, draft, graphs, outputs)


def _passes(unit: Unit, planner: Any) -> tuple[list[Totals | Pass], list[tuple[Expressions, list[Store]]]]:
    """Return what the members of a chain do, and the parts of an array that are not of the chain."""
    layout, made = planner.layout, _made(unit.members)
    passes: list[Totals | Pass] = []
    others: list[tuple[Expressions, list[Store]]] = []
    for member in unit.members:
        op = member.ops[0]
        if member.is_fused:
            passes.append(layout.pass_of(member))
            continue
        if is_running(op):
            graph = planner.operand_expressions(op, 0)
            place = whole_array(unit.domain)
            store = Store(graph.visit(op.operands[0]), op.result, place, REGISTERS[op.result.tensor.dtype])
            passes.append(Totals(kind_of(op), graph, store))
        else:
            others = parts_of(op, _Site(layout, member.stage))
            number = _part_of(layout, member, unit.domain, made)
            assert number is not None
            graph, stores = others.pop(number)
            passes.append(Pass(graph, list(stores), []))
        graph.used[op] = None
    return passes, others
