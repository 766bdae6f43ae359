"""``numhlo.map`` as one kernel whose units are lanes, where a lane is scalar code, loops and branches included.

What can't be written so is planned as the decomposition says: a loop over lanes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from numhlo.backend.emit import control_flow  # noqa: F401 - importing it fills the table of writers
from numhlo.backend.emit.access import whole_array
from numhlo.backend.emit.cost import grain_of
from numhlo.backend.emit.draft import Draft
from numhlo.backend.emit.elementwise import COSTS
from numhlo.backend.emit.expressions import EVERYTHING, Expressions
from numhlo.backend.emit.indexed_values import indexed_values
from numhlo.backend.emit.kernel_text import BufferOf, KernelText
from numhlo.backend.emit.lanes.blocks import BLOCK, LaneBlockWriter
from numhlo.backend.emit.lanes.queues import LaneQueueWriter
from numhlo.backend.emit.lanes.values import check_vectorizable, cost
from numhlo.backend.emit.loop_rounds import rounds_text, write_poll
from numhlo.backend.emit.nest import Axis, Nest
from numhlo.backend.emit.registers import REGISTERS
from numhlo.backend.emit.scalar_code import MOST_ELEMENTS, Content, InMemory, NotScalarError, ScalarWriter, whole
from numhlo.backend.emit.special import COMPOSITE_KERNELS
from numhlo.backend.emit.support import emits_element
from numhlo.backend.emit.tables import RootRule
from numhlo.backend.planning.expansion import expand
from numhlo.backend.planning.region import RegionPlanner
from numhlo.backend.planning.views import is_view
from numhlo.lowering.ir import Op, Region, Value
from numhlo.lowering.ops.control_flow import WHILE
from numhlo.lowering.ops.loops import loop_body

Way = type[LaneBlockWriter]
WAYS: tuple[Way, ...] = (LaneQueueWriter, LaneBlockWriter)
"""How blocks of lanes are written, the best way first."""

MANY = 64
"""Lanes that are worth blocks; NumPy, which answers first, does so many at once, too."""

CHEAP_CHAIN = 4
"""Operations that single lanes do rather than read their result."""

LOOP_COST = 100
"""Operations that a statement stands for where a lane has loops: nobody knows how often they go round."""


@lru_cache(maxsize=16)
def _tried(op: Op) -> tuple[str, Way | None]:
    """Return why a map has no kernel, if so, and which way blocks of lanes are written; None for single lanes."""
    numbers: dict[Value, int] = {}

    def buffer_of(value: Value) -> int:
        return numbers.setdefault(value, len(numbers))

    for way in WAYS if op.attributes["composite_attributes"]["lanes"] >= MANY else ():
        try:
            _MapWriter(op, buffer_of, op.results, {}).write_blocks(way)
        except NotScalarError:
            continue  # one lane after the other serves everything that is scalar code
        return "", way
    try:
        _MapWriter(op, buffer_of, op.results, {}).write()
    except NotScalarError as error:
        return str(error), None
    return "", None


def _fusible(op: Op) -> Sequence[int]:
    """Return which operands the kernel computes itself: blocks of lanes all of them, single lanes what is cheap.

    Single lanes compute without SIMD instructions, and read larger operands from memory.
    """
    first = op.attributes["composite_attributes"]["num_consts"]
    stacked = range(first, len(op.operands))
    if _tried(op)[1] is not None:
        return stacked
    return [k for k in stacked if op.operands[k].tensor.ndim == 1 and _chain_cost(op.operands[k]) <= CHEAP_CHAIN]


def _chain_cost(value: Value) -> int:
    """Return the operations for an element of a value, as far as its makers are elementwise or views; at most a few."""
    op = value.owner
    if not isinstance(op, Op) or not (emits_element(op) or is_view(op)):
        return 0
    total = COSTS.get(op.definition, 1) if emits_element(op) else 0
    for operand in op.operands:
        if total <= CHEAP_CHAIN:
            total += _chain_cost(operand)
    return total


def emit_map(op: Op, planner: RegionPlanner) -> None:
    """Append the launch of a kernel over lanes, which writes the results that are used."""
    used = [result for result in op.results if planner.is_used(result)]
    for result in used:
        planner.output(result)
    fusible = _fusible(op)
    computed = {op.operands[k]: planner.operand_expressions(op, k) for k in fusible}
    if not op.attributes["composite_attributes"]["lanes"] or not any(v.tensor.size for v in used):
        return
    way = _tried(op)[1]
    writer = _MapWriter(op, planner.buffer, used, computed)
    draft = writer.write() if way is None else writer.write_blocks(way)
    whole = planner.expressions(())
    for operand, expressions in computed.items():
        expressions.visit(operand)
        whole.used.update(expressions.used)
        whole.loaded.update(expressions.loaded)
    whole.used[op] = None
    planner.launch(draft, whole, used, [v for k, v in enumerate(op.operands) if k not in fusible])


class _MapWriter:
    """Writes the kernel of one map."""

    def __init__(
        self, op: Op, buffer_of: BufferOf, used: Sequence[Value], computed: Mapping[Value, Expressions]
    ) -> None:
        self.used, self.computed = used, computed
        parameters = op.attributes["composite_attributes"]
        self.op, self.lanes, self.consts = op, parameters["lanes"], parameters["num_consts"]
        self.body: Region = expand(loop_body(op).body)
        self.indexed = indexed_values(self.body)
        self.text = KernelText(buffer_of)
        self.writer = ScalarWriter(self.text, self._outer, self.indexed)

    def _outer(self, value: Value) -> Content:
        raise NotScalarError("a lane uses a large constant")

    def write(self) -> Draft:
        """Return the kernel.

        Raises
        ------
        NotScalarError
            If a lane is no scalar code.
        """
        text, arguments = self.text, self.body.arguments
        for argument, operand in zip(arguments[: self.consts], self.op.operands, strict=False):
            self.writer.contents[argument] = self._constant(argument, operand)
        with text.block("for lane in range(lo, hi):"):
            pairs = zip(arguments[self.consts :], self.op.operands[self.consts :], strict=True)
            for argument, operand in pairs:
                fused = operand in self.computed
                self.writer.contents[argument] = self._element(operand) if fused else self._slice(argument, operand)
            contents = self.writer.region(self.body)
            for result, content in zip(self.op.results, contents, strict=True):
                if result in self.used:
                    self._store(result, content)
            loops = any(op.definition is WHILE for op in self.body.walk())
            if loops:
                write_poll(text, rounds_text(text, self.body, self.writer.intervals))
        return self._draft("map_lanes", self.lanes)

    def write_blocks(self, way: Way) -> Draft:
        """Return the kernel whose units are blocks of lanes; the last one goes back to lanes that have been done.

        Raises
        ------
        NotScalarError
            If a lane's code is no SIMD code, all lanes go the same way, or they don't do it in this way.
        """
        check_vectorizable(self.body)
        blocks = way(self.text, self.writer, self.body, self.body.arguments[self.consts :])
        for argument, operand in zip(self.body.arguments[: self.consts], self.op.operands, strict=False):
            self.writer.contents[argument] = self._constant(argument, operand)
        for result in self.used:
            self.text.pointer(result, "out")
        lanes = self.text.number("lanes", self.lanes, "lanes")
        blocks.write(lanes, lambda writer: self._begin(blocks, writer), lambda: self._end(blocks))
        return self._draft("map_lane_blocks", -(-self.lanes // BLOCK), blocks.least_blocks)

    def _begin(self, blocks: LaneBlockWriter, writer: ScalarWriter) -> None:
        """Write the loads of what a lane gets; it is lane ``k`` of the block."""
        for argument, operand in zip(self.body.arguments, self.op.operands, strict=True):
            if argument in blocks.differing:
                blocks.give(writer, argument, self._element(operand))

    def _element(self, operand: Value) -> np.ndarray:
        """Write what computes, or loads, a lane's part of an operand, and return the names of its elements."""
        expressions = self.computed.get(operand)
        if expressions is None:  # nothing is planned yet
            expressions = Expressions(operand.tensor.shape, EVERYTHING)
        node = expressions.visit(operand)
        axes = [Axis(extent, (dim,)) for dim, extent in enumerate(operand.tensor.shape)]
        nest = Nest(self.text, expressions, axes, scope=self.op.operands.index(operand) + 1)
        nest.literal_axes = set(range(1, len(axes)))
        nest.join(nest)
        names = np.empty(operand.tensor.shape[1:], object)
        for index in np.ndindex(names.shape):
            with nest.fixed({0: "lane", **{axis: str(k) for axis, k in enumerate(index, 1)}}):
                names[index] = nest.name(node)
        return names

    def _end(self, blocks: LaneBlockWriter) -> None:
        """Write the stores of what a lane gives; it is lane ``k`` of the block."""
        for result, returned in zip(self.op.results, self.body.returns, strict=True):
            if result in self.used:
                self._store(result, blocks.load(returned))

    def _draft(self, name: str, extent: int, least: int = 1) -> Draft:
        """Return the finished kernel, of which a thread does so many units at least."""
        loops = any(op.definition is WHILE for op in self.body.walk())
        flops = int(self.lanes * max(self.writer.statements, cost(self.body.ops)) * (LOOP_COST if loops else 1))
        traffic = sum(v.tensor.nbytes for v in (*self.op.operands, *self.used))
        grain = max(grain_of(extent, flops, traffic), least)
        text, scalar = self.text, loops and extent == self.lanes
        kernel = text.finish(name)
        return Draft(kernel, tuple(text.buffers), tuple(text.dims), extent, grain, flops, traffic, scalar=scalar)

    def _constant(self, argument: Value, operand: Value) -> Content:
        pointer, type = self.text.pointer(operand), argument.tensor
        if type.size > MOST_ELEMENTS or (argument in self.indexed and type.size > 1):
            return whole(pointer, type, writable=False)
        names = np.empty(type.shape, object)
        for place, index in enumerate(np.ndindex(type.shape)):
            names[index] = self.text.first(f"load_{REGISTERS[type.dtype].storage}({pointer}, {place})", "x")
        return names

    def _slice(self, argument: Value, operand: Value) -> Content:
        stacked = whole(self.text.pointer(operand), operand.tensor, writable=False)
        stride = operand.tensor.size // max(1, self.lanes)
        offset = "lane"
        if stride != 1:
            offset = self.text.let(f"lane * {self.writer.number(stride, 'stride', stacked.memory)}", "at")
        shape = argument.tensor.shape
        array = InMemory(stacked.memory, shape, whole_array(shape), offset, 0)
        kept = argument.tensor.size > MOST_ELEMENTS or (argument in self.indexed and argument.tensor.size > 1)
        return array if kept else self.writer.load(array)

    def _store(self, result: Value, content: Content) -> None:
        if isinstance(content, InMemory):
            content = self.writer.load(content)
        pointer, storage = self.text.pointer(result, "out"), REGISTERS[result.tensor.dtype].storage
        base = "lane" if content.size == 1 else self.text.let(f"lane * {content.size}", "at")
        for place, name in enumerate(content.reshape(-1)):
            self.text.line(f"store_{storage}({pointer}, {f'{base} + {place}' if place else base}, {name})")


COMPOSITE_KERNELS["numhlo.map"] = RootRule(emit_map, refuse=lambda op: _tried(op)[0], fusible=_fusible)
