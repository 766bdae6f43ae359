"""What each unit of a region reads, and the order in which units run.

Units run in program order, each after those whose results it reads.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from numhlo.backend.emit.access import Access, NonlinearViewError, contiguous, whole_array
from numhlo.backend.emit.expressions import ALWAYS, IDENTITY, NEVER, SCALAR, Expressions
from numhlo.backend.emit.maps import Store
from numhlo.backend.emit.reductions.writer import Reduced
from numhlo.backend.emit.registers import REGISTERS
from numhlo.backend.emit.row_chain import Pass
from numhlo.backend.emit.support import is_scalar_constant
from numhlo.backend.planning.constants import carried_constants
from numhlo.backend.planning.fusion import Fusion, FusionPass, Unit
from numhlo.backend.planning.operations import ELEMENT, REDUCTION, Operations
from numhlo.lowering.ir import Op, Region, Value
from numhlo.lowering.ir.errors import InternalError
from numhlo.lowering.ops import creation
from numhlo.lowering.ops.effects import op_has_effects

MOST_SEEN = 200
"""Units that are looked at to find out whether one must run before another."""


def row_strides(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides, over a domain, of a contiguous array without the reduced dimensions.

    Examples
    --------
    >>> row_strides((2, 3, 4), (1,))
    (4, 0, 1)
    """
    kept = [dim for dim in range(len(shape)) if dim not in axes]
    strides = [0] * len(shape)
    for dim, stride in zip(kept, contiguous([shape[dim] for dim in kept]), strict=True):
        strides[dim] = stride
    return tuple(strides)


class _StoredAfter(dict[Value, int]):
    """After which stage values lie in buffers: found once each, and asked by all kernels."""

    def __init__(self, operations: Operations, fusion: Fusion, splats: set[Op]) -> None:
        super().__init__()
        self._operations, self._fusion, self._splats = operations, fusion, splats

    def __missing__(self, value: Value) -> int:
        root = self._operations.roots[value]
        found = self[value] = self[root] if root is not value else self._find(root)
        return found

    def _find(self, value: Value) -> int:
        op = value.owner
        unit = self._fusion.unit_of.get(op)
        if unit is not None:  # a constant in a unit has a buffer for those who need one; kernels write it out
            is_constant = isinstance(op, Op) and op.definition is creation.CONSTANT
            return unit.stage if value in self._fusion.stored and not is_constant else NEVER
        if not isinstance(op, Op):
            return ALWAYS
        if op.definition is creation.CONSTANT:
            return NEVER if op in self._splats else ALWAYS
        if op.definition is creation.IOTA and op not in self._operations.kinds:  # around this region, where it has
            return ALWAYS if value in self._operations.views.forced else NEVER  # a buffer, though it is made up here
        return NEVER if op in self._operations.kinds else ALWAYS


class Layout:
    """A region taken apart: its units in the order of execution, and what each loads.

    Parameters
    ----------
    region : Region
    splats : set of Op
        Constants of one value, of the regions around; those of this region are added.
    overwritable : collection of Value
        Arguments whose buffers may be overwritten.

    Attributes
    ----------
    order : list of Unit
    loads : dict from Unit to list of Value
        Values that a unit reads from buffers.
    expressions : dict from Unit to Expressions
        Of fused units: what they compute.
    root : callable
        Returns the value whose buffer holds a value.
    """

    def __init__(self, region: Region, splats: set[Op], overwritable: Collection[Value] = ()) -> None:
        self.region = region
        self.splats = splats
        self.overwritable = overwritable
        copying: set[Op] = set()
        while True:
            try:
                self._analyse(copying)
                break
            except NonlinearViewError as error:
                # Not twice for one reshape: what it looks at is stored a stage before whoever reads it through that.
                if error.op in copying:
                    raise InternalError(
                        f"{error.op.definition.name} of {error.op.operands[0].tensor.short()} is in no order of memory",
                        where=error.op.location,
                        why="its operand was to be copied, but is computed where it is read",
                        fix="please report it with this message",
                    ) from error
                copying.add(error.op)

    def _analyse(self, copying: set[Op]) -> None:
        self.operations = Operations(self.region, copying, self.overwritable)
        self.root = self.operations.root
        self.splats |= self.operations.splats
        self.carried = carried_constants(self.region, self.operations.splats)
        self.fusion: Fusion = FusionPass(self.region, self.operations).run()
        self.stored_after = _StoredAfter(self.operations, self.fusion, self.splats)
        self.loads: dict[Unit, list[Value]] = {}
        self.expressions: dict[Unit, Expressions] = {}
        self._fused: dict[tuple[Op, int], Expressions] = {}
        self._passes: dict[Unit, Pass] = {}
        units = [unit for unit in self.fusion.units if self._prepare(unit)]
        self.order = self._ordered(units)

    def pass_of(self, unit: Unit) -> Pass:
        """Return what a fused unit stores and reduces."""
        found = self._passes.get(unit)
        if found is None:
            found = self._passes[unit] = self._make_pass(unit)
        return found

    def forget(self, unit: Unit) -> None:
        """Drop what a unit's kernels are made from: it refers to the layout, so that both would stay for long."""
        for one in unit.members or (unit,):
            self.expressions.pop(one, None)
            self._passes.pop(one, None)
            for op in () if one.is_fused else one.ops:
                for number in self.operations.fusible(op):
                    self._fused.pop((op, number), None)

    def _make_pass(self, unit: Unit) -> Pass:
        expressions = self.expressions[unit]
        place = whole_array(unit.domain)
        stores, reduced = [], []
        for op in unit.ops:
            if self.operations.kinds[op] is REDUCTION:
                reduced.append(self._reduced(op, unit, expressions))
            elif (result := op.results[0]) in self.fusion.stored:
                node = expressions.visit(result)
                stores.append(Store(node, result, place, REGISTERS[result.tensor.dtype]))
        return Pass(expressions, stores, reduced)

    def _reduced(self, op: Op, unit: Unit, expressions: Expressions) -> Reduced:
        count = len(op.results)
        assert unit.axes is not None
        place = Access(0, row_strides(unit.domain, unit.axes))
        return Reduced(
            op,
            self.operations.combiner(op.regions[0]),
            [expressions.visit(v, IDENTITY) for v in op.operands[:count]],
            [expressions.visit(v, SCALAR) for v in op.operands[count:]],
            [Store(0, v, place, REGISTERS[v.tensor.dtype]) for v in op.results],
            op.results[0] in self.operations.uses,
        )

    def expressions_over(self, shape: tuple[int, ...], stage: int) -> Expressions:
        """Return an empty expression graph for a unit of ``stage``."""
        return Expressions(shape, self.stored_after, stage, self.carried)

    def _prepare(self, unit: Unit) -> bool:
        """Find out what a unit reads; return False if nobody needs it."""
        if not unit.is_fused:
            (op,) = unit.ops
            if not any(v in self.operations.uses for v in op.results) and not op_has_effects(op):
                return False
            self.loads[unit] = self._loads_of_root(unit)
            return True
        needed = self._needed_ops(unit)
        if not needed:
            return False
        expressions = self.expressions_over(unit.domain, unit.stage)
        for op in needed:
            if self.operations.kinds[op] is ELEMENT:
                expressions.visit(op.results[0])
            else:
                for value in op.operands:
                    expressions.visit(value, 0 if value.tensor.shape == unit.domain else -1)
                expressions.used[op] = None
        unit.ops = needed
        self.expressions[unit] = expressions
        self.loads[unit] = list(expressions.loaded)
        return True

    def _needed_ops(self, unit: Unit) -> list[Op]:
        """Return the ops of a fused unit that its stored results depend on directly."""
        wanted: set[Op] = set()
        here, stored = set(unit.ops), self.fusion.stored
        for op in reversed(unit.ops):
            if op in wanted or not stored.isdisjoint(op.results):
                wanted.add(op)
                if op.results[0] not in self.operations.copied:  # what a view looks at is computed in another order
                    wanted.update([v.owner for v in op.operands if v.owner in here])
        return [op for op in unit.ops if op in wanted]

    def _loads_of_root(self, unit: Unit) -> list[Value]:
        (op,) = unit.ops
        fusible = self.operations.fusible(op)
        found: dict[Value, None] = {}
        for number, value in enumerate(self.operations.inputs(op)):
            if number in fusible:
                if not is_scalar_constant(value):
                    expressions = self._fused[op, number] = self.expressions_over(value.tensor.shape, unit.stage)
                    expressions.visit(value)
                    found.update(expressions.loaded)
            else:
                view = self.operations.strided.get((op, number))
                source = value if view is None else view.base
                if self._has_buffer(source):
                    found[source] = None
        return list(found)

    def graphs_of(self, unit: Unit) -> list[Expressions]:
        """Return the graphs of what a unit computes, of an op on its own those of its operands."""
        if unit.is_fused:
            return [self.expressions[unit]]
        (op,) = unit.ops
        return [self._fused[op, n] for n in self.operations.fusible(op) if (op, n) in self._fused]

    def fused(self, op: Op, number: int) -> Expressions:
        """Return the graph of an operand that the op's kernels compute themselves, to be added to, once."""
        return self._fused.pop((op, number))

    def _has_buffer(self, value: Value) -> bool:
        """Return whether an op that needs a buffer finds one, or whether the value is made up where it is needed."""
        op = self.root(value).owner
        return not (
            isinstance(op, Op) and op.definition in (creation.CONSTANT, creation.IOTA) and op not in self.fusion.unit_of
        )

    def _ordered(self, units: list[Unit]) -> list[Unit]:
        order: dict[Unit, None] = {}
        before, readers = self._effects(units), self._readers(units)
        for unit in units:
            stack = [unit]
            while stack:
                last = stack[-1]
                waiting = [u for u in self._sources(last, before, readers) if u not in order]
                if waiting:
                    stack.extend(waiting)
                    continue
                order.setdefault(stack.pop())
        return list(order)

    def _sources(self, unit: Unit, before: dict[Unit, Unit], readers: dict[Unit, list[Unit]]) -> Iterable[Unit]:
        found = list(readers.get(unit, ()))
        for value in self.loads[unit]:
            made = self.fusion.unit_of.get(self.operations.roots[value].owner)
            if made is not None:
                found.append(made)
        if unit in before:
            found.append(before[unit])
        return found

    def _readers(self, units: list[Unit]) -> dict[Unit, list[Unit]]:
        """Return for each unit that overwrites an array the ones of no later stage that read it as it was.

        Ops on their own are among them but where they must run later, as two do that overwrite each other's operands.
        """
        found: dict[Unit, list[Unit]] = {}
        others: list[tuple[Unit, Unit]] = []
        for unit in units if self.operations.overwritten else ():
            for value in self.loads[unit]:
                op = self.operations.overwritten.get(self.root(value))
                writer = None if op is None else self.fusion.unit_of[op]
                if writer is None or writer is unit or writer.stage < unit.stage:
                    continue
                if unit.is_fused:
                    found.setdefault(writer, []).append(unit)
                else:
                    others.append((writer, unit))
        for writer, reader in others:
            if not self._runs_before(writer, reader, found):
                found.setdefault(writer, []).append(reader)
        return found

    def _runs_before(self, first: Unit, unit: Unit, readers: dict[Unit, list[Unit]]) -> bool:
        """Return whether a unit must run before another one, or nobody knows."""
        seen, waiting = {unit}, [unit]
        while waiting:
            for source in self._sources(waiting.pop(), {}, readers):
                if source is first or len(seen) > MOST_SEEN:
                    return True
                if source not in seen:
                    seen.add(source)
                    waiting.append(source)
        return False

    def _effects(self, units: list[Unit]) -> dict[Unit, Unit]:
        """Return for each unit with effects the one before it."""
        effects = [u for u in units if not u.is_fused and op_has_effects(u.ops[0])]
        return dict(zip(effects[1:], effects, strict=False))
