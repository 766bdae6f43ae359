"""The expressions of one kernel: a graph of loads, constants and ops, each at a place of the kernel's iteration domain.

A *domain* is the shape that the kernel's loops run over. A value is needed *through a chain* of views: the chain
says which element of the value belongs to an element of the domain. So the same value may occur several times, once
a chain. Loads end up as `Access`es: strides over the domain's dimensions. Next: `nest` turns the graph into loops.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from numhlo.backend.emit.access import Access, NonlinearViewError, contiguous
from numhlo.backend.emit.registers import REGISTERS, Register
from numhlo.backend.emit.tables import VIEW
from numhlo.lowering.ir import Op, Value
from numhlo.lowering.ops import creation
from numhlo.lowering.ops.comparison import COMPARE
from numhlo.lowering.ops.control_flow import COMPOSITE
from numhlo.lowering.ops.primitive import Primitive

IDENTITY = 0
"""The chain of a value that has the domain's own shape."""

SCALAR = -1
"""The chain of a value of rank 0 that every element of the domain needs."""


@dataclass(slots=True)
class Literal:
    """A constant of one element."""

    value: np.generic
    register: Register

    @property
    def key(self) -> Hashable:
        """Return what a kernel's text depends on."""
        return self.value.tobytes(), self.register.storage


@dataclass(slots=True)
class Load:
    """An element of a value that lies in a buffer."""

    value: Value
    access: Access
    register: Register

    @property
    def key(self) -> Hashable:
        """Return what a kernel's text depends on, but for the buffer."""
        return self.access, self.register.storage


@dataclass(slots=True)
class Position:
    """An element of an iota: the "address" itself."""

    access: Access
    register: Register

    @property
    def key(self) -> Hashable:
        """Return what a kernel's text depends on."""
        return "position", self.access, self.register.storage


@dataclass(slots=True)
class Apply:
    """An op's result from other nodes."""

    op: Op
    operands: tuple[int, ...]
    register: Register

    @property
    def key(self) -> Hashable:
        """Return what a kernel's text depends on."""
        attributes = self.op.attributes
        spelled = [attributes[name] for name in SPELLED.get(self.op.definition, ())]
        return self.op.definition, self.operands, self.register.storage, *spelled


SPELLED: dict[Primitive, tuple[str, ...]] = {COMPARE: ("comparison_direction", "compare_type"), COMPOSITE: ("name",)}
"""Attributes that the text of an element depends on."""

Node = Literal | Load | Position | Apply
ViewStep = Callable[[Access, "Expressions", int], Access]


class Expressions:
    """The graph of one kernel.

    Parameters
    ----------
    shape : tuple of int
        The domain.
    is_stored : callable
        ``is_stored(value)``: whether the value lies in a buffer when the kernel runs, or is to be computed here.

    Attributes
    ----------
    nodes : list of Node
        Operands before users.
    loaded : dict of Value
        What is read from buffers.
    used : dict of Op
        The ops that the kernel computes, views and constants included, operands before users.
    """

    def __init__(self, shape: tuple[int, ...], is_stored: Callable[[Value], bool]) -> None:
        self.shape = shape
        self.nodes: list[Node] = []
        self.loaded: dict[Value, None] = {}
        self.used: dict[Op, None] = {}
        self.is_stored = is_stored
        self._known: dict[tuple[Value, int], int] = {}
        self._chains: list[tuple[Op | ViewStep, int]] = [(_no_step, IDENTITY)]
        self._chain_numbers: dict[tuple[Op | ViewStep, int], int] = {}
        self._identity = contiguous(shape)
        self._merged: dict[tuple[tuple[int, ...], int], int] = {}
        self._places: dict[tuple[tuple[int, ...], Access], int] = {(shape, Access(0, self._identity)): IDENTITY}

    def push(self, step: Op | ViewStep, chain: int) -> int:
        """Return the chain of an operand whose view ``step`` is needed through ``chain``."""
        key = (step, chain)
        number = self._chain_numbers.get(key)
        if number is None:
            number = self._chain_numbers[key] = len(self._chains)
            self._chains.append(key)
        return number

    @property
    def key(self) -> Hashable:
        """Return what a kernel's text depends on, but for the buffers of `loads`."""
        return self.shape, tuple([node.key for node in self.nodes])

    @property
    def loads(self) -> list[Value]:
        """Return the value of every load, in order."""
        return [node.value for node in self.nodes if isinstance(node, Load)]

    def visit(self, value: Value, chain: int = IDENTITY) -> int:
        """Return the node of a value seen through a chain."""
        key = (value, chain)
        number = self._known.get(key)
        if number is None:
            number = self._known[key] = self._make(value, chain)
        return number

    def define(self, value: Value, node: int) -> None:
        """Say that a value, in the domain's shape, is ``node``."""
        self._known[value, IDENTITY] = node

    def add(self, node: Node) -> int:
        """Append a node."""
        self.nodes.append(node)
        return len(self.nodes) - 1

    def _make(self, value: Value, chain: int) -> int:
        type = value.tensor
        register = REGISTERS[type.dtype]
        op = value.owner
        if isinstance(op, Op) and op.definition is creation.CONSTANT and type.size == 1:
            self.used[op] = None
            return self.add(Literal(op.attributes["value"].reshape(-1)[0], register))
        if self.is_stored(value):
            self.loaded[value] = None
            return self.add(Load(value, self.access(type.shape, chain), register))
        assert isinstance(op, Op)
        return self._make_of_op(op, chain, register)

    def _make_of_op(self, op: Op, chain: int, register: Register) -> int:
        if op.definition is creation.IOTA:
            self.used[op] = None
            line = [0] * op.result.tensor.ndim
            line[op.attributes["iota_dimension"]] = 1
            return self.add(Position(self.follow(Access(0, tuple(line)), chain), register))
        if op.definition is creation.CONSTANT:  # a splat: one element stands for all
            self.used[op] = None
            return self.add(Literal(op.attributes["value"].reshape(-1)[0], register))
        if VIEW.find(op.definition) is not None:
            through = SCALAR if op.operands[0].tensor.ndim == 0 else self.push(op, chain)
            node = self.visit(op.operands[0], through)
            self.used[op] = None
            return node
        shape = op.result.tensor.shape
        merged = self._merge(shape, chain)
        if merged != chain:
            return self.visit(op.result, merged)
        operands = tuple([self.visit(v, chain if v.tensor.shape == shape else SCALAR) for v in op.operands])
        self.used[op] = None
        return self.add(Apply(op, operands, register))

    def _merge(self, shape: tuple[int, ...], chain: int) -> int:
        """Return the first chain that shows the same elements of arrays of a shape.

        Without it, an op that is needed through two such chains would be there twice, and what it needs four times.
        """
        if chain <= 0 or 0 in shape:
            return chain
        merged = self._merged.get((shape, chain))
        if merged is None:
            try:
                access = self.follow(Access(0, contiguous(shape)), chain)
            except NonlinearViewError:
                access = None
            merged = chain if access is None else self._places.setdefault((shape, access), chain)
            self._merged[shape, chain] = merged
        return merged

    def access(self, shape: tuple[int, ...], chain: int) -> Access:
        """Return where the elements of a C-contiguous buffer lie, seen through a chain."""
        if chain == IDENTITY:
            return Access(0, self._identity)
        return self.follow(Access(0, contiguous(shape)), chain)

    def follow(self, access: Access, chain: int) -> Access:
        """Return an access to a value as one over the domain."""
        while chain > 0:
            step, chain = self._chains[chain]
            if isinstance(step, Op):
                access = VIEW[step.definition](step, access, self, chain)
            else:
                access = step(access, self, chain)
        if chain == SCALAR:
            return access.with_strides((0,) * len(self.shape))
        return access


def _no_step(access: Access, expressions: Expressions, chain: int) -> Access:
    return access


def is_splat(op: Op) -> bool:
    """Return whether an op is a constant whose elements are all the same."""
    if op.definition is not creation.CONSTANT:
        return False
    value: np.ndarray = op.attributes["value"]
    return value.size == 1 or (value.size > 0 and bool(_same_bits(value)))


def _same_bits(value: np.ndarray) -> np.bool_:
    flat = np.ascontiguousarray(value).reshape(-1)
    if flat.strides[0] == 0:
        return np.bool_(True)
    pattern = flat.view(np.uint8).reshape(flat.size, -1)
    return np.all(pattern == pattern[0])


def operand_nodes(node: Node) -> Sequence[int]:
    """Return the nodes that a node needs."""
    if isinstance(node, Apply):
        return node.operands
    if isinstance(node, Load | Position):
        return [start.node for start in node.access.starts]
    return ()
