"""Loops and branches on scalars and single elements become one kernel each, where `emit.control_flow` can do it."""

from __future__ import annotations

import numpy as np

from numhlo.backend.emit import control_flow  # noqa: F401 - importing it fills the table of writers
from numhlo.backend.emit.draft import Draft
from numhlo.backend.emit.indexed_values import indexed_values, updated_array
from numhlo.backend.emit.kernel_text import KernelText
from numhlo.backend.emit.literals import literal_constants
from numhlo.backend.emit.positions import counted_positions
from numhlo.backend.emit.reduction import emits_reduction
from numhlo.backend.emit.registers import REGISTERS
from numhlo.backend.emit.scalar_code import (
    MOST_ELEMENTS,
    Content,
    InMemory,
    NotScalarError,
    OverwrittenError,
    ScalarWriter,
    Update,
    whole,
)
from numhlo.backend.emit.support import emits_element
from numhlo.backend.emit.tables import VIEW
from numhlo.backend.planning.region import RegionPlanner
from numhlo.lowering.ir import Op, Region, TensorType, Value
from numhlo.lowering.ops import creation
from numhlo.lowering.ops.control_flow import CASE, IF, WHILE
from numhlo.lowering.ops.indexing import DYNAMIC_UPDATE_SLICE, SCATTER
from numhlo.lowering.ops.reduction import REDUCE

UPDATES = frozenset({DYNAMIC_UPDATE_SLICE, SCATTER, WHILE, IF, CASE})
"""Ops that may have large results: arrays of a loop's state, updated in place."""

MOST_COPIES = 4
"""Arrays that a kernel copies before it updates them, since they are read again as they were."""

MOST_NESTED = 12
"""Loops and branches inside each other that one kernel does; Python knows no more than 20 nested loops."""

FEW_ELEMENTS = 16
"""Elements of arrays that are computed in local variables, where the loop's ops could be loops over arrays as well."""

MOST_ROW_OPS = 80
"""Ops of a loop whose rounds are a few kernels over arrays."""

LOADED_AT_ONCE = 16
"""Elements of an array from outside that are loaded before the loop instead of where they are needed."""


def emit_scalar_kernel(op: Op, planner: RegionPlanner) -> str:
    """Append the launch of one kernel that does all of a while, if or case; or return why that can't be.

    Parameters
    ----------
    op : Op
    planner : RegionPlanner
    """
    indexed = indexed_values(op)
    reason = _obstacle(op, indexed)
    if reason:
        return reason
    kept: set[Update] = set()
    while True:
        attempt = _Attempt(op, planner, kept, indexed)
        try:
            attempt.write()
        except OverwrittenError as error:
            if error.update is None or error.update in kept or len(kept) == MOST_COPIES:
                return str(error)
            kept.add(error.update)
        except NotScalarError as error:
            return str(error)
        else:
            attempt.append()
            return ""


def _obstacle(op: Op, indexed: set[Value]) -> str:
    """Return why an op can't be one kernel, as far as a glance at it tells."""
    if op.definition is not WHILE and _updated_in_branches(op, indexed) is None:
        return "a branch gives a large array"
    if op.definition is WHILE and _computes_rows(op):
        return "its rounds compute arrays that are long for local variables"
    if _is_nested_deeper(op, MOST_NESTED):
        return "its loops and branches are nested too deep"
    for region in op.regions:
        reason = _large_result(region)
        if reason:
            return reason
    return ""


def _updated_in_branches(op: Op, indexed: set[Value]) -> list[tuple[Value, Value]] | None:
    """Return the results in memory of branches, each after the array that all of these update.

    None if a large one is no such; a small one that is none is kept in local variables.
    """
    found: list[tuple[Value, Value]] = []
    for number, result in enumerate(op.results):
        is_large = result.tensor.size > MOST_ELEMENTS
        if not is_large and (result not in indexed or result.tensor.size <= 1):
            continue
        arrays = {updated_array(region.returns[number], region) for region in op.regions}
        array = arrays.pop()
        if not (arrays or array is None or array.tensor != result.tensor or array in [other for other, _ in found]):
            found.append((array, result))
        elif is_large:
            return None
    return found


def _computes_rows(op: Op) -> bool:
    """Return whether rounds compute whole arrays of many elements, with ops that all become loops over these.

    Written out element by element they would be long straight code, slower to compile and to run.
    """
    inside = [inner for region in op.regions for inner in region.ops]
    if len(inside) > MOST_ROW_OPS or not all(map(_becomes_a_loop, inside)):
        return False
    return any(emits_element(inner) and inner.result.tensor.size > FEW_ELEMENTS for inner in inside)


def _becomes_a_loop(op: Op) -> bool:
    if op.definition is REDUCE:
        return emits_reduction(op)
    known = (creation.CONSTANT, creation.IOTA, DYNAMIC_UPDATE_SLICE)
    return op.definition in known or emits_element(op) or VIEW.find(op.definition) is not None


def _is_nested_deeper(op: Op, levels: int) -> bool:
    inside = [inner for region in op.regions for inner in region.ops if inner.regions]
    return levels == 0 or any(_is_nested_deeper(inner, levels - 1) for inner in inside)


def _large_result(region: Region) -> str:
    for op in region.walk():
        for value in op.results:
            size = getattr(value.type, "size", 0)
            if size > MOST_ELEMENTS and op.definition not in UPDATES:
                if op.definition is creation.CONSTANT or len(op.operands) == 1:
                    continue
                return f"{op.definition.name} makes a large array"
    return ""


class _Attempt:
    """The kernel of one op, written before any buffer is claimed for its results."""

    def __init__(self, op: Op, planner: RegionPlanner, kept: set[Update], indexed: set[Value]) -> None:
        self.op, self.planner = op, planner
        self.numbers: dict[Value, int] = {}
        self.scratch: list[Value] = []
        self.text = KernelText(self._buffer_of)
        self.indexed = indexed
        self.writer = ScalarWriter(
            self.text, self._outer, self.indexed, intervals=planner.context.intervals, kept=kept, scratch=self._scratch
        )
        self.writer.counted, self.writer.predicts = counted_positions(op), True
        self.writer.literals = literal_constants(op, planner.context.extents)
        self.updated: list[tuple[Value, Value]] = []
        self.stored: list[Value] = []

    def _buffer_of(self, value: Value) -> int:
        if value.owner is self.op or value in self.scratch:
            return self.numbers.setdefault(value, -1 - len(self.numbers))
        return self.planner.buffer(value)

    def _scratch(self, type: TensorType) -> Value:
        self.scratch.append(Value(type, self.planner.region))
        return self.scratch[-1]

    def _outer(self, value: Value) -> Content:
        type, op = value.tensor, value.owner
        register = REGISTERS[type.dtype]
        in_memory = value in self.indexed and type.size > 1
        if isinstance(op, Op) and op.definition is creation.CONSTANT and type.size <= MOST_ELEMENTS and not in_memory:
            return self.writer.constant(op)
        pointer = self.text.pointer(value)
        if in_memory or type.size > LOADED_AT_ONCE:
            return whole(pointer, type, writable=False)
        names = np.empty(type.shape, object)
        for place, index in enumerate(np.ndindex(type.shape)):
            names[index] = self.text.first(f"load_{register.storage}({pointer}, {place})", "x")
        return names

    def write(self) -> None:
        """Write the kernel's statements."""
        if self.op.definition is WHILE:
            body = self.op.regions[1]
            for operand, result, before, after in zip(
                self.op.operands, self.op.results, body.arguments, body.returns, strict=True
            ):
                if before is not after:
                    self.writer.initial[result] = self._initial(operand, result)
        else:
            for array, result in _updated_in_branches(self.op, self.indexed) or ():
                self.writer.contents[array] = self._initial(array, result)
        self.writer.op(self.op)
        for result in self.op.results:
            content = self.writer.content(result)
            if not self.planner.is_used(result) or result in [updated for _, updated in self.updated]:
                continue
            if isinstance(content, InMemory):
                content = self.writer.load(content)
            self.stored.append(result)
            pointer = self.text.pointer(result, "out")
            store = f"store_{REGISTERS[result.tensor.dtype].storage}"
            for place, name in enumerate(content.reshape(-1)):
                self.text.line(f"{store}({pointer}, {place}, {name})")

    def _initial(self, operand: Value, result: Value) -> Content:
        """Return where a loop's state begins: in variables, or in the result's memory."""
        if result.tensor.size > MOST_ELEMENTS or (result in self.indexed and result.tensor.size > 1):
            self.updated.append((operand, result))
            return whole(self.text.pointer(result, "out"), result.tensor, writable=True)
        content = self.writer.content(operand)
        return self.writer.load(content) if isinstance(content, InMemory) else content

    def append(self) -> None:
        """Claim buffers for the results and append the launch."""
        planner = self.planner
        replaced = [] if self.op.definition is WHILE else [operand for operand, _ in self.updated]
        inputs = planner.layout.operations.inputs(self.op)
        read = [v for v in inputs if v in self.writer.contents and v not in replaced]
        taken: list[Value] = []
        for operand, result in self.updated:
            planner.begin_update(result, operand, [*read, *taken])
            taken.append(operand)
        for result in self.stored:
            planner.output(result)
        places = {value: planner.scratch(value.tensor) for value in self.scratch}
        actual = {number: planner.buffer(places.get(value, value)) for value, number in self.numbers.items()}
        buffers = tuple(actual.get(number, number) for number in self.text.buffers)
        name = f"{self.op.definition.name}_loop" if self.op.definition is WHILE else f"{self.op.definition.name}_branch"
        inside = [inner.definition for region in self.op.regions for inner in region.walk()]
        flops, loops = self.writer.statements, WHILE in (self.op.definition, *inside)
        draft = Draft(self.text.finish(name), buffers, tuple(self.text.dims), 1, 1, flops, 0, scalar=loops)
        outputs = [*(result for _, result in self.updated), *self.stored]
        planner.launch_op(self.op, draft, outputs)
