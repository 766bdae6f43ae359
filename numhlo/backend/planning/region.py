"""Turns one region into steps: kernels for units, in order, and step trees for loops and branches.

What is stored where is `buffers`' business, which ops make up a unit that of `fusion`. Rules of ops that are emitted
on their own (`numhlo.backend.emit.tables.KERNELS`) get the planner and append to it: see the methods under "Steps".
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence

import numpy as np

from numhlo.backend.emit.access import Access, around, whole_array
from numhlo.backend.emit.draft import Draft
from numhlo.backend.emit.expressions import EVERYTHING, IDENTITY, SCALAR, Expressions, Load
from numhlo.backend.emit.maps import Store, is_short, write_map
from numhlo.backend.emit.reductions.kernels import write_reduction
from numhlo.backend.emit.reductions.writer import Reduced, Reduction
from numhlo.backend.emit.registers import REGISTERS, Register
from numhlo.backend.emit.row_chain import Pass, pass_within_rows, rows_at_once, write_chain
from numhlo.backend.emit.support import is_scalar_constant
from numhlo.backend.emit.tables import KERNELS
from numhlo.backend.planning.buffers import Context, RegionBuffers, Target, in_place_operands
from numhlo.backend.planning.chains import is_once
from numhlo.backend.planning.constants import with_constants
from numhlo.backend.planning.fusion import Unit
from numhlo.backend.planning.running_chains import emit_running_chain
from numhlo.backend.planning.views import steps_from
from numhlo.backend.program import Evaluate, Launch, Loop, Step
from numhlo.lowering.ir import Op, Region, TensorType, Value
from numhlo.lowering.ops import layout
from numhlo.lowering.ops.primitive import make_op

LARGE = 4096
"""Elements of an array from which on only those are copied that are not written anyway."""


class RegionPlanner(RegionBuffers):
    """Plans one region; the parameters are those of `RegionBuffers`.

    Attributes
    ----------
    steps : list of Step
    results : list of int
        The buffers of the returned values.
    copies : dict from Value to Launch
        The copies with which updates of arrays began.
    """

    def __init__(
        self,
        context: Context,
        region: Region,
        targets: Sequence[Target],
        *,
        state: bool = False,
        given: Collection[Value] = (),
    ) -> None:
        super().__init__(context, region, targets, state=state, given=given)
        self.steps: list[Step] = []
        self.results: list[int] = []
        self.copies: dict[Value, Launch] = {}
        self._launches: list[Launch] = []

    def run(self) -> list[Step]:
        """Return the steps; `results` are the buffers of the returned values."""
        for unit in self.layout.order:
            self.unit = unit
            self._launches = []
            if unit.is_fused:
                self._emit_fused(unit)
            else:
                self._emit_root(unit)
            if len(self._launches) > 1:
                self._gather_ops()
            for value in self.layout.loads[unit]:
                self.use(self.layout.root(value))
            self.layout.forget(unit)
        self._return()
        return self.steps

    # Units

    def _emit_fused(self, unit: Unit) -> None:
        self.scratch_values = []
        if unit.members and not unit.members[0].is_fused:
            emit_running_chain(unit, self)
        elif unit.members:
            self._emit_chain(unit)
        elif unit.axes is None:
            self._emit_map(unit, self.layout.expressions[unit])
        else:
            self._emit_reduction(unit, unit.axes, self.layout.expressions[unit])
        for value in self.scratch_values:
            self.memory.release(self.buffer_of[value])
        for op in unit.ops:
            for value in op.results:
                if value in self._owned:
                    self.drop_unused(value)

    def _emit_map(self, unit: Unit, expressions: Expressions) -> None:
        stores = self.layout.pass_of(unit).stores
        elements = reusable = in_place_operands(self.layout, expressions)
        if len(elements) < len(self.layout.loads[unit]) and is_short(expressions, stores):
            reusable = in_place_operands(self.layout, expressions, whole=True)
        for store in stores:
            self.output(store.value, reusable)
        if math.prod(unit.domain):
            draft = write_map(expressions, stores, self.buffer)
            if reusable != elements:
                draft = draft._replace(grain=draft.extent + 1)  # what one run reads first, another would have written
            self.launch(draft, expressions, [s.value for s in stores])

    def _emit_reduction(self, unit: Unit, axes: tuple[int, ...], expressions: Expressions) -> None:
        kept = tuple(dim for dim in range(len(unit.domain)) if dim not in axes)
        one = self.layout.pass_of(unit)
        stores, reduced = one.stores, one.reduced
        elements, results = [s.value for s in stores], [s.value for r in reduced for s in r.stored]
        outputs = elements + results
        reusable = in_place_operands(self.layout, expressions) if elements else ()
        for value in elements:
            self.output(value, reusable)
        for value in results:
            self.output(value)
        if math.prod(unit.domain) == 0:
            self._fill_empty(reduced, outputs, expressions)
            return
        reduction = Reduction(expressions, kept, axes, reduced, stores, self.context.loops > 0)
        drafts = write_reduction(reduction, self.buffer, self.partial)
        self.launch(drafts[0], expressions, outputs)
        for draft in drafts[1:]:
            self.append(draft)

    def _emit_chain(self, unit: Unit) -> None:
        """Emit units that run row by row, one after the other."""
        assert unit.axes is not None
        first = unit.members[0]
        kept = tuple(dim for dim in range(len(first.domain)) if dim not in unit.axes)
        passes = [self.layout.pass_of(member) for member in unit.members]
        for one, member in zip(passes, unit.members, strict=True):
            one.once = is_once(member, first)
        rows = math.prod([first.domain[dim] for dim in kept])
        passing: set[Value] = set()
        full = [one for one in passes if not one.once]
        overwritten = self._claim_elements(full, -(-rows // rows_at_once(passes, kept)), rows, passing)
        for one in full if passing else ():
            pass_within_rows(one, passing, self.layout.root, unit.axes)
        results = [s.value for one in passes for r in one.reduced for s in r.results]
        results += [s.value for one in passes if one.once for s in one.stores]
        unstored = {value for value in results if not self.is_used(value)}
        for value in results:
            if value not in unstored:
                self.output(value)
        draft = write_chain(passes, (kept, unit.axes), unstored, passing, self.buffer)
        elements = [store.value for one in passes if not one.once for store in one.stores]
        stored = [v for v in (*elements, *results) if v not in unstored and v not in overwritten and v not in passing]
        self.launch_members(unit, draft, [self.layout.expressions[member] for member in unit.members], stored)

    def launch_members(self, unit: Unit, draft: Draft, graphs: Sequence[Expressions], outputs: Sequence[Value]) -> None:
        """Append the launch of a kernel that runs several units, which compute these graphs."""
        made = {value for op in unit.ops for value in op.results}
        used: dict[Op, None] = {}
        for graph in graphs:
            for value in graph.loaded:
                used.update(dict.fromkeys(self._views_of(value, made)))
            used.update(graph.used)
        inputs = [(v, self.buffer(v)) for v in self.layout.loads[unit]]
        self._append(_launch(draft, list(used), inputs, [(v, self.buffer(v)) for v in outputs]))

    def _views_of(self, value: Value, made: set[Value]) -> list[Op]:
        """Return the views, if any, that make a value with a buffer out of what the current unit made in it."""
        found: list[Op] = []
        while self.layout.root(value) in made and value not in made:
            op = value.owner
            assert isinstance(op, Op)
            found.append(op)
            value = op.operands[0]
        return found[::-1]

    def _claim_elements(
        self, passes: Sequence[Pass], stored_rows: int, rows: int, passing: set[Value]
    ) -> dict[Value, Value]:
        """Give the elements that a chain stores their buffers; return which ones later ones overwrite.

        What nobody needs outside the chain has memory for ``stored_rows`` of all its rows, and is added to ``passing``.
        """
        overwritten: dict[Value, Value] = {}
        later: set[Value] = set()
        plans: list[tuple[Value, list[Value]]] = []
        made = {store.value for one in passes for store in one.stores}
        for one in reversed(passes):
            places = [self.layout.root(v) for v in in_place_operands(self.layout, one.expressions)]
            free = [v for v in places if v not in later]
            for store in one.stores:
                within = [
                    v
                    for v in free
                    if v in made and v not in overwritten and not self.is_used(v) and v.tensor == store.value.tensor
                ]
                for value in within[:1]:
                    overwritten[value] = store.value
                # what shares its buffer with an earlier value must not overwrite what is read after that one is made
                plans.append((store.value, [] if within else [v for v in free if v not in made]))
            later.update(self.layout.root(v) for v in one.expressions.loads)
        for value, reusable in plans:
            if value in overwritten:
                self.put_with(value, overwritten[value])
                if overwritten[value] in passing:
                    passing.add(value)
            elif not self.is_used(value):
                passing.add(value)
                size = stored_rows * (value.tensor.size // rows)
                self.buffer_of[value] = self.buffer_of[self.scratch(TensorType((size,), value.tensor.dtype))]
            else:
                self.output(value, reusable)
        return overwritten

    def partial(self, register: Register, count: int) -> Value:
        """Return a value that has memory for so many elements, once the unit's results have theirs."""
        type = TensorType(
            (count,), np.dtype(np.float32) if register.kind == "f" and register.narrow else register.dtype
        )
        lent = self.lend(type)
        return self.scratch(type) if lent is None else lent

    def _fill_empty(self, reduced: Sequence[Reduced], outputs: Sequence[Value], expressions: Expressions) -> None:
        """Write the initial values where there is nothing to reduce."""
        first = True
        for one in reduced:
            for init, result in zip(one.op.operands[len(one.results) :], one.results, strict=True):
                if result not in one.stored:
                    continue
                shape = result.value.tensor.shape
                fill = Expressions(shape, expressions.stored_after, expressions.stage)
                node = fill.visit(init, SCALAR if shape else IDENTITY)
                store = Store(node, result.value, whole_array(shape), result.register)
                draft = write_map(fill, [store], self.buffer)
                self.launch(draft, expressions, outputs) if first else self.append(draft)
                first = False

    def _emit_root(self, unit: Unit) -> None:
        (op,) = unit.ops
        self.scratch_values = []
        rule = KERNELS.find(op.definition)
        reason = f"{op.definition.name} has no kernel" if rule is None else rule.refuse(op)
        if rule is None or reason:
            self.evaluate(op, reason)
        else:
            rule(op, self)
        for value in self.scratch_values:
            self.memory.release(self.buffer_of[value])
        for value in op.results:
            self.drop_unused(value)

    # Steps

    def evaluate(self, op: Op, reason: str) -> None:
        """Append a step that runs an op by its definition."""
        inputs = [(v, self.buffer(v)) for v in self.layout.operations.inputs(op)]
        outputs = [(v, self.output(v)) for v in op.results]
        self.steps.append(Evaluate(op, inputs, outputs, reason))
        self.context.notes.append(f"{op.definition.name} runs on NumPy: {reason}")

    def strided(self, op: Op, number: int) -> tuple[Value, Access]:
        """Return the value that an operand is a view of, or itself, and where its elements lie in that buffer."""
        view = self.layout.operations.strided.get((op, number))
        if view is not None:
            return view.base, view.access
        operand = op.operands[number]
        return operand, whole_array(operand.tensor.shape)

    def permuted(
        self, value: Value, order: Sequence[int], copy: Value | None = None, shape: tuple[int, ...] | None = None
    ) -> Value:
        """Append a copy of a value, or of it in another shape, with its dimensions in another order.

        It is in ``copy``, or in memory of the unit.
        """
        seen = make_op(layout.RESHAPE, [value], results=[value.tensor.with_shape(shape or value.tensor.shape)])
        transpose = make_op(layout.TRANSPOSE, [seen.result], {"permutation": tuple(order)})
        type = transpose.result.tensor
        copy = self.scratch(type) if copy is None else copy
        expressions = self.layout.expressions_over(type.shape, self.stage)
        node = expressions.visit(value, expressions.push(seen, expressions.push(transpose, IDENTITY)))
        store = Store(node, copy, whole_array(type.shape), REGISTERS[type.dtype])
        if type.size:
            draft = write_map(expressions, [store], self.buffer)
            self.append(draft)
        return copy

    @property
    def stage(self) -> int:
        """Return the current unit's stage."""
        assert self.unit is not None
        return self.unit.stage

    def launch_root(self, op: Op, draft: Draft, read: Sequence[Value] = ()) -> None:
        """Append the launch that computes an op's results from buffers, perhaps through views.

        ``read`` is what its kernel reads instead of operands that are in memory, too.
        """
        ops: dict[Op, None] = {}
        loaded: dict[Value, None] = {}
        for number, operand in enumerate(op.operands):
            view = self.layout.operations.strided.get((op, number))
            if view is None:
                loaded[operand] = None
            else:  # what is seen may have a buffer, too, but only later
                ops.update(dict.fromkeys(steps_from(view.base, operand)))
                loaded[view.base] = None
        inputs = [(v, self.buffer(v)) for v in dict.fromkeys([*loaded, *read])]
        outputs = [(v, self.buffer(v)) for v in op.results]
        self._append(_launch(draft, [*ops, op], inputs, outputs))

    def expressions(self, shape: tuple[int, ...]) -> Expressions:
        """Return an empty expression graph for the current unit."""
        return self.layout.expressions_over(shape, self.stage)

    def operand_expressions(self, op: Op, number: int) -> Expressions:
        """Return the graph of an operand that an op's kernels compute themselves, in the operand's shape; once."""
        if is_scalar_constant(op.operands[number]):
            return self.expressions(op.operands[number].tensor.shape)
        return self.layout.fused(op, number)

    def reads_before_update(self, result: Value, operand: Value, loaded: Iterable[Value]) -> bool:
        """Return whether what a kernel reads is all that keeps a result from the memory of the operand it updates."""
        root = self.layout.root(operand)
        return any(self.layout.root(v) is root for v in loaded) and self.may_take_over(operand, result)

    def begin_update(
        self,
        result: Value,
        operand: Value,
        loaded: Iterable[Value],
        window: tuple[Sequence[int], Sequence[int]] | None = None,
    ) -> None:
        """Give a result its buffer, with the operand's elements in it: the operand's own buffer if it dies unread.

        Parameters
        ----------
        result, operand : Value
        loaded : iterable of Value
            What the kernel reads besides.
        window : pair of sequence of int, optional
            Where the elements begin that the kernel writes, and how many they are along each axis.
        """
        root = self.layout.root(operand)
        read = any(self.layout.root(v) is root for v in loaded)
        source = self.buffer(operand)
        if not read and self.take_over(operand, result) is not None:
            self.hand_over(result)
            return
        target = self.output(result, () if read else (operand,))
        if source != target and result.tensor.size:
            if window is not None and not self.state and _covers_most(result.tensor, window[1]):
                for draft in self._copies_around(result.tensor, window, source, target):
                    self.append(draft)
                return
            self.append(self._copy_draft(result.tensor, source, target))
            self.copies[result] = self._launches[-1]

    def copied_only(self, op: Op, expressions: Expressions, operands: Sequence[Value]) -> None:
        """List an op that changed nothing with the copies that were made for it."""
        if self._launches:
            first = self._launches[0]
            first.ops = [*expressions.used, op]
            first.inputs = [(v, self.buffer(v)) for v in dict.fromkeys([*expressions.loaded, *operands])]
            first.outputs = [(v, self.buffer(v)) for v in op.results]

    def launch_op(self, op: Op, draft: Draft, outputs: Sequence[Value]) -> None:
        """Append the launch of a kernel that does all of an op, regions included."""
        inputs = [(v, self.buffer(v)) for v in self.layout.operations.inputs(op)]
        self._append(_launch(draft, [op], inputs, [(v, self.buffer(v)) for v in outputs]))

    def launch_rounds(self, loop: Loop, draft: Draft) -> None:
        """Append the launch of a kernel that does all rounds of a loop, whose state is in its buffers."""
        op = loop.op
        body = op.regions[1]
        begun = zip(op.operands, loop.state, strict=True)  # one value may be the beginning of two parts
        inputs = dict.fromkeys([*begun, *loop.inputs])
        rows = zip(op.results, loop.state, body.arguments, body.returns, strict=True)
        outputs = [(result, number) for result, number, before, after in rows if before is not after]
        step = _launch(draft, [op], list(inputs), outputs)
        step.loop = loop
        self._append(step)

    def launch_parts(self, op: Op, parts: Sequence[tuple[Expressions, Sequence[Store]]]) -> None:
        """Append launches that each write a part of an op's result."""
        used: dict[Op, None] = {}
        loaded: dict[Value, None] = {}
        for expressions, _ in parts:
            used.update(expressions.used)
            loaded.update(expressions.loaded)
        inputs, outputs = [(v, self.buffer(v)) for v in loaded], [(v, self.buffer(v)) for v in op.results]
        ops = [*used, op]
        for expressions, stores in parts:
            if math.prod(expressions.shape) == 0:
                continue
            draft = write_map(expressions, stores, self.buffer)
            self._append(_launch(draft, ops, inputs, outputs))
            ops, inputs, outputs = [], [], []

    def launch(
        self, draft: Draft, expressions: Expressions, outputs: Sequence[Value], operands: Sequence[Value] = ()
    ) -> None:
        """Append the launch of a kernel that computes ``outputs``; ``operands`` are read besides what it loads."""
        loaded = dict.fromkeys([*expressions.loaded, *operands])
        inputs = [(v, self.buffer(v)) for v in loaded]
        results = [(v, self.buffer_of[v]) for v in outputs]
        self._append(_launch(draft, list(expressions.used), inputs, results))

    def append(self, draft: Draft) -> None:
        """Append a launch that belongs to the unit's others, which have the ops."""
        self._append(_launch(draft, [], [], []))

    def _append(self, step: Launch) -> None:
        step.follows = bool(self._launches)
        self.steps.append(step)
        self._launches.append(step)

    def _gather_ops(self) -> None:
        """List the ops of a unit that takes several launches with the first of these."""
        first, *rest = self._launches
        for step in rest:
            if step.ops and not first.ops:
                first.ops, first.inputs, first.outputs = step.ops, step.inputs, step.outputs
                step.ops, step.inputs, step.outputs = [], [], []

    def copy(self, value: Value, source: int, target: int) -> None:
        """Append a copy of a value from one buffer to another."""
        if value.tensor.size:
            draft = self._copy_draft(value.tensor, source, target)
            self.steps.append(_launch(draft, [], [(value, source)], [(value, target)]))

    def _copy_draft(self, type: TensorType, source: int, target: int) -> Draft:
        expressions = Expressions((type.size,), EVERYTHING)
        flat = TensorType((type.size,), type.dtype)
        here, there = Value(flat, self.region), Value(flat, self.region)
        numbers = {here: source, there: target}
        store = Store(expressions.visit(here), there, whole_array(flat.shape), REGISTERS[flat.dtype])
        return write_map(expressions, [store], numbers.__getitem__)

    def _copies_around(
        self, type: TensorType, window: tuple[Sequence[int], Sequence[int]], source: int, target: int
    ) -> Iterator[Draft]:
        """Give copies of all elements but those of a window."""
        here, there = Value(type, self.region), Value(type, self.region)
        numbers = {here: source, there: target}
        for shape, place in around(type.shape, *window):
            expressions = Expressions(shape, EVERYTHING)
            node = expressions.add(Load(here, place, REGISTERS[type.dtype]))
            yield write_map(expressions, [Store(node, there, place, REGISTERS[type.dtype])], numbers.__getitem__)

    def _return(self) -> None:
        """Copy what is not yet where the caller wants it."""
        self.unit = None
        for number, value in enumerate(self.region.returns):
            root = self.layout.root(value)
            if self.claimed.get(number) is root:
                self.results.append(self.buffer_of[root])
                continue
            source = self.buffer(value)
            if number in self.unchanged:
                self.results.append(source)
                continue
            if self.stays(source, self.results) or self.targets[number].takes(source):
                self.results.append(source)
                continue
            target = self.targets[number].claim(self.is_dead)
            if source != target:
                self.copy(value, source, target)
            self.results.append(target)
        for value in self.region.returns:
            self.use(self.layout.root(value))


def _covers_most(type: TensorType, window: Sequence[int]) -> bool:
    """Return whether a window is worth being left out of a copy."""
    return type.size >= LARGE and 2 * math.prod(window) >= type.size


def _launch(draft: Draft, ops: list[Op], inputs: list[tuple[Value, int]], outputs: list[tuple[Value, int]]) -> Launch:
    ops = with_constants(ops, {value for value, _ in inputs}) if ops else ops
    return Launch(
        draft.kernel,
        draft.buffers,
        draft.dims,
        draft.extent,
        draft.grain,
        ops,
        inputs,
        outputs,
        draft.flops,
        draft.bytes,
        scalar=draft.scalar,
    )
