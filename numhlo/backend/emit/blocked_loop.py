"""Loops over arrays whose elements don't meet: one kernel runs all rounds on one block of elements after the other.

The state of a block stays in the first-level cache, and the loop over its elements is SIMD code; a step tree would send
whole arrays through memory in every round. Scalars of the state (the counter, above all) are computed by each block for
itself. Rows of stacked arrays, as scans have them, are read and written at the block's place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

import numpy as np

from numhlo.backend.emit.expressions import Apply
from numhlo.backend.emit.kernel_text import KernelText
from numhlo.backend.emit.loop_rounds import write_poll
from numhlo.backend.emit.nest import element_text, hint_of, position_text
from numhlo.backend.emit.registers import REGISTERS, literal
from numhlo.backend.emit.scalar_code import ScalarWriter
from numhlo.backend.emit.support import emits_element
from numhlo.backend.primitives import STORAGES
from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Op, Region, TensorType, Value
from numhlo.lowering.ir.records import record
from numhlo.lowering.ops import creation, layout
from numhlo.lowering.ops.control_flow import WHILE
from numhlo.lowering.ops.indexing import DYNAMIC_SLICE, DYNAMIC_UPDATE_SLICE

STATE_BYTES = 16384
MOST_BLOCK = 2048
"""A block's state fits into half of a first-level cache, and rows are read in pieces of a few kilobytes."""

BLOCK_ROUNDS = "16"
"""What a round over a whole block counts for, where loops look whether the user wants to stop."""


class NotBlockedError(Exception):
    """A loop that is not of this kind; the text says why."""


@record(slots=True)
class Part:
    """One part of a loop's state.

    Attributes
    ----------
    kind : str
        ``scalar``, ``block`` (an array of the loop's shape), ``stack`` (rows of that shape, written one a round), or
        ``same`` (never changed).
    operand, argument, returned, result : Value
    """

    kind: str
    operand: Value
    argument: Value
    returned: Value
    result: Value
    variables: list[str] = field(default_factory=list)
    scratch: str = ""


def parts_of(op: Op) -> tuple[tuple[int, ...], list[Part]]:
    """Return the shape of the elementwise part of a loop's state, and the parts.

    Raises
    ------
    NotBlockedError
        If there is no such shape.
    """
    body = op.regions[1]
    rows = list(zip(op.operands, body.arguments, body.returns, op.results, strict=True))
    if not all(isinstance(v.type, TensorType) for v in op.results):
        raise NotBlockedError("its state is not all tensors")
    stacks = {id(row[1]) for row in rows if _is_stack(row[1], row[2])}
    shapes = {
        row[1].tensor.shape
        for row in rows
        if row[1].tensor.size > 1 and row[1] is not row[2] and id(row[1]) not in stacks
    }
    if len(shapes) != 1:
        raise NotBlockedError("arrays of its state have different shapes" if shapes else "its state has no array")
    (shape,) = shapes
    parts = []
    for operand, argument, returned, result in rows:
        kind = "scalar" if argument.tensor.size == 1 else "block"
        if argument is returned:
            kind = "same"
        elif id(argument) in stacks:
            kind = "stack"
        parts.append(Part(kind, operand, argument, returned, result))
    return shape, parts


def _block_length(parts: Sequence[Part]) -> int:
    """Return the number of elements of a block, a power of two."""
    each = sum(part.argument.tensor.dtype.itemsize for part in parts if part.kind == "block")
    length = MOST_BLOCK
    while length > 64 and length * each > STATE_BYTES:
        length //= 2
    return length


def _is_stack(argument: Value, returned: Value) -> bool:
    op = returned.owner
    return isinstance(op, Op) and op.definition is DYNAMIC_UPDATE_SLICE and op.operands[0] is argument


class BlockedLoopWriter:
    """Writes the kernel of one loop.

    Parameters
    ----------
    op : Op
        A while.
    text : KernelText
    scalars : ScalarWriter
        Writes what is the same for all elements.

    Attributes
    ----------
    shape : tuple of int
    parts : list of Part
    block : int
        Elements of a block.
    stored : list of Value
        The results that the kernel writes.
    """

    def __init__(self, op: Op, text: KernelText, scalars: ScalarWriter) -> None:
        if op.definition is not WHILE:
            raise NotBlockedError("it is no while")
        self.op, self.text, self.scalars = op, text, scalars
        self.shape, self.parts = parts_of(op)
        self.size = int(np.prod(self.shape))
        self.block = _block_length(self.parts)
        self.names: dict[Value, str] = {}
        self._part_of = {part.argument: part for part in self.parts}
        self._same: dict[Value, Value] = {}
        self._stores: list[tuple[Value, str, Value]] = []

    def write(self, used: Sequence[Value]) -> list[Value]:
        """Write the kernel's statements; return which of the ``used`` results it stores.

        Raises
        ------
        NotBlockedError, NotScalarError
            If some op is neither the same for all elements nor elementwise.
        """
        text = self.text
        total = text.number("size", self.size, "size")
        self._scratch()
        with text.block("for unit in range(lo, hi):"):
            text.line(f"first = unit * {self.block}")
            text.line(f"width = min({self.block}, {total} - first)")
            self._begin()
            with text.block("while True:"):
                self._round()
            self._end(used)
        return [part.result for part in self.parts if part.result in used or part.kind == "stack"]

    def _scratch(self) -> None:
        for part in self.parts:
            if part.kind == "block":
                register = REGISTERS[part.argument.tensor.dtype]
                size = STORAGES[register.name].dtype.itemsize
                part.scratch = self.text.stack_array("state", self.block, size)
            elif part.kind == "stack":
                self.text.pointer(part.result, "out")

    def _begin(self) -> None:
        """Write the loads of the initial state."""
        blocks = [part for part in self.parts if part.kind == "block"]
        with self.text.block("for k in range(width):"):
            for part in blocks:
                register = REGISTERS[part.argument.tensor.dtype]
                value = self._outer_element(part.operand)
                self.text.line(f"store_{register.name}({part.scratch}, k, {value})")
        for part in self.parts:
            if part.kind == "scalar":
                (name,) = self.scalars.names(part.operand).reshape(-1)
                variable = self.scalars.fresh(str(name), "state")
                part.variables = [variable]
                self._define(part.argument, variable)
                self._define(self.op.regions[0].arguments[self.parts.index(part)], variable)
            elif part.kind == "same":
                self._alias(part)

    def _define(self, value: Value, name: str) -> None:
        names = np.empty(value.tensor.shape, object)
        names[...] = name
        self.scalars.contents[value] = names

    def _alias(self, part: Part) -> None:
        """Make an unchanged part of the state what it was before the loop."""
        position = self.parts.index(part)
        for region in self.op.regions:
            argument = region.arguments[position]
            self.scalars.contents[argument] = self.scalars.content(part.operand)
            if part.operand.tensor.size > 1:
                self._same[argument] = part.operand

    def _round(self) -> None:
        condition, body = self.op.regions
        for op in condition.ops:
            self.scalars.op(op)
        (test,) = self.scalars.names(condition.returns[0]).reshape(-1)
        with self.text.block(f"if not {test}:"):
            self.text.line("break")
        varying = self._uniform(body)
        with self.text.block("for k in range(width):"):
            for part in self.parts:
                if part.kind == "block":
                    load = f"load_{REGISTERS[part.argument.tensor.dtype].name}({part.scratch}, k)"
                    self.names[part.argument] = self.text.let(load, "x")
            for op in varying:
                self._element(op)
            for part in self.parts:
                self._keep(part)
        self._assign()
        write_poll(self.text, BLOCK_ROUNDS)

    def _uniform(self, body: Region) -> list[Op]:
        """Write the ops that are the same for all elements, and return the others."""
        different = {part.argument for part in self.parts if part.kind in ("block", "stack")}
        varying = []
        for op in body.ops:
            if any(v in different for v in (*op.operands, *free_values(op))) or any(
                v.tensor.size > 1 for v in op.results
            ):
                different.update(op.results)
                varying.append(op)
            else:
                self.scalars.op(op)
        return varying

    def _element(self, op: Op) -> None:
        """Write an op for the block's element ``k``."""
        if len(op.results) != 1:
            raise NotBlockedError(f"{op.definition.name} is not elementwise")
        type = op.result.tensor
        if type.size == 1:
            raise NotBlockedError(f"{op.definition.name} makes one element of many")
        if op.definition is creation.CONSTANT:
            self.names[op.result] = self._outer_element(op.result)
        elif op.definition is creation.IOTA and type.shape == self.shape and type.ndim == 1:
            position = position_text("first + k", REGISTERS[type.dtype])
            self.names[op.result] = self.text.let(position, "position")
        elif op.definition is DYNAMIC_SLICE:
            self.names[op.result] = self._read_row(op)
        elif op.definition is DYNAMIC_UPDATE_SLICE:
            self._check_row(op.operands[1], op.operands[0], op.operands[2:])
        elif (op.definition is layout.BROADCAST_IN_DIM and op.operands[0].tensor.size == 1) or (
            op.definition in (layout.RESHAPE, layout.BROADCAST_IN_DIM) and self._only_ones(op)
        ):
            self.names[op.result] = self._name(op.operands[0])
        elif type.shape == self.shape and emits_element(op):
            node = Apply(op, (), REGISTERS[type.dtype])
            self.scalars.count()
            text = element_text(node, [self._name(v) for v in op.operands])
            self.names[op.result] = self.text.let(text, hint_of(node))
        else:
            raise NotBlockedError(f"{op.definition.name} is not elementwise")

    def _only_ones(self, op: Op) -> bool:
        """Return whether an op only adds and drops dimensions of extent 1."""
        shapes = (op.operands[0].tensor.shape, op.result.tensor.shape, self.shape)
        return len({_long_dims(shape) for shape in shapes}) == 1

    def _name(self, value: Value) -> str:
        """Return the text of a value's element."""
        found = self.names.get(value)
        if found is not None:
            return found
        if value.tensor.size == 1:
            (name,) = self.scalars.names(value).reshape(-1)
            return str(name)
        found = self.names[value] = self._outer_element(value)
        return found

    def _outer_element(self, value: Value) -> str:
        """Return the text of an element of an array from outside the loop, or of a constant."""
        value = self._same.get(value, value)
        op = value.owner
        register = REGISTERS[value.tensor.dtype]
        if isinstance(op, Op) and op.definition is creation.CONSTANT and _is_uniform(op):
            return literal(op.attributes["value"].reshape(-1)[0], register)
        if value in self._part_of or _long_dims(value.tensor.shape) != _long_dims(self.shape):
            raise NotBlockedError("an array from outside has another shape")
        return self.text.let(f"load_{register.storage}({self.text.pointer(value)}, first + k)", "x")

    def _row(self, stack: Value, indices: Sequence[Value]) -> str:
        """Return the text of where a row of a stack begins, for this block."""
        first, *rest = indices
        for index, extent, own in zip(rest, stack.tensor.shape[1:], self.shape, strict=True):
            if extent != own:
                raise NotBlockedError("a window is not a row")
            del index  # a row takes whole dimensions, so its start is clamped to 0
        (name,) = self.scalars.names(first).reshape(-1)
        limit = self.text.number(("rows", stack), stack.tensor.shape[0] - 1, "limit")
        if first.tensor.dtype == np.uint64:
            name = f"minimum({name}, to_u64({limit}))"
        size = self.text.number("size", self.size, "size")
        start = f"min(max(to_i64({name}), 0), {limit}) * {size} + first"
        return self.text.let(start, "row", self.text.depth - 1)

    def _read_row(self, op: Op) -> str:
        operand, *indices = op.operands
        part = self._part_of.get(operand)
        if op.result.tensor.shape != (1, *self.shape) or (part is not None and part.kind not in ("same", "stack")):
            raise NotBlockedError("a window is not a row of a stack")
        if part is None and operand.owner in self.op.regions[1].ops:
            raise NotBlockedError("a row is read of an array that the same round makes")
        memory = self._same.get(operand, operand) if part is None or part.kind == "same" else part.result
        register = REGISTERS[operand.tensor.dtype]
        row = self._row(operand, indices)
        return self.text.let(f"load_{register.storage}({self.text.pointer(memory)}, {row} + k)", "x")

    def _check_row(self, update: Value, stack: Value, indices: Sequence[Value]) -> None:
        part = self._part_of.get(stack)
        if part is None or part.kind != "stack" or update.tensor.shape != (1, *self.shape):
            raise NotBlockedError("an update is not of a row of the state")
        self._stores.append((part.result, self._row(stack, indices), update))

    def _keep(self, part: Part) -> None:
        """Write the store of a new element of the state."""
        register = REGISTERS[part.argument.tensor.dtype]
        if part.kind == "block":
            value = self._name(part.returned)
            self.text.line(f"store_{register.name}({part.scratch}, k, {value})")
        elif part.kind == "stack":
            stores = [store for store in self._stores if store[0] is part.result]
            if len(stores) != 1:
                raise NotBlockedError("a stack is written several times a round")
            _, row, update = stores[0]
            pointer = self.text.pointer(part.result, "out")
            self.text.line(f"store_{register.storage}({pointer}, {row} + k, {self._name(update)})")

    def _assign(self) -> None:
        pairs = []
        for part in self.parts:
            if part.kind == "scalar":
                (name,) = self.scalars.names(part.returned).reshape(-1)
                pairs.append((part.variables[0], str(name)))
        targets = {target for target, source in pairs if source != target}
        saved = {source: self.scalars.fresh(source, "old") for _, source in pairs if source in targets}
        for target, source in pairs:
            if target != source:
                self.text.assign(target, saved.get(source, source))

    def _end(self, used: Sequence[Value]) -> None:
        """Write the stores of the final state."""
        with self.text.block("for k in range(width):"):
            for part in self.parts:
                if part.kind == "block" and part.result in used:
                    register = REGISTERS[part.argument.tensor.dtype]
                    pointer = self.text.pointer(part.result, "out")
                    value = f"load_{register.name}({part.scratch}, k)"
                    self.text.line(f"store_{register.storage}({pointer}, first + k, {value})")
        scalars = [part for part in self.parts if part.kind == "scalar" and part.result in used]
        if scalars:
            with self.text.block("if unit == 0:"):
                for part in scalars:
                    register = REGISTERS[part.argument.tensor.dtype]
                    pointer = self.text.pointer(part.result, "out")
                    self.text.line(f"store_{register.storage}({pointer}, 0, {part.variables[0]})")
        if any(part.kind == "same" and part.result in used for part in self.parts):
            raise NotBlockedError("an unchanged part of the state is a result")


def _long_dims(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return a shape without dimensions of extent 1."""
    return tuple([n for n in shape if n != 1])


def _is_uniform(op: Op) -> bool:
    value: np.ndarray = op.attributes["value"]
    return value.size > 0 and bool((value.reshape(-1)[0] == value).all())
