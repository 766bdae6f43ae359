"""The expressions of one kernel: a graph of loads, constants and ops, each at a place of the kernel's iteration domain.

A *domain* is the shape that the kernel's loops run over. A value is needed *through a chain* of views: the chain
says which element of the value belongs to an element of the domain. So the same value may occur several times, once
a chain. Loads end up as `Access`es: strides over the domain's dimensions. Next: `nest` turns the graph into loops.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence

import numpy as np

from numhlo.backend.emit.access import Access, NonlinearViewError, whole_array
from numhlo.backend.emit.draft import Unknowns
from numhlo.backend.emit.registers import REGISTERS, Register, bits_as_number, is_plain, literal
from numhlo.backend.emit.sizes import Sizes, UnknownScalar
from numhlo.backend.emit.support import is_scalar_constant
from numhlo.backend.emit.tables import VIEW
from numhlo.lowering.ir import Op, Value
from numhlo.lowering.ir.records import record
from numhlo.lowering.ops import creation
from numhlo.lowering.ops.control_flow import COMPOSITE

IDENTITY = 0
"""The chain of a value that has the domain's own shape."""

SCALAR = -1
"""The chain of a value of rank 0 that every element of the domain needs."""


@record(slots=True)
class Literal:
    """A constant of one element: its text or, where it comes at run time, the number that carries it."""

    register: Register
    text: str
    number: int = 0

    def key(self, sizes: Sizes) -> Hashable:
        """Return what a kernel's text depends on."""
        return self.text or sizes[self.number], self.register.storage

    def over(self, unknowns: Unknowns) -> Literal:
        """Return the node as a writer sees it."""
        return self if self.text else Literal(self.register, "", unknowns.sizes[self.number])


def literal_of(op: Op, register: Register, *, written: bool = True) -> Literal:
    """Return the node of a constant whose elements are all the same; ``written``: its text may hold the number."""
    constant = op.attributes["value"]
    if isinstance(constant, UnknownScalar):
        return Literal(register, "", constant.number)
    value = constant.reshape(-1)[0]
    if is_plain(value, register) and (written or register.kind in "bc" or not np.isfinite(value)):
        return Literal(register, literal(value, register))
    return Literal(register, "", bits_as_number(value, register))


@record(slots=True)
class Load:
    """An element of a value that lies in a buffer."""

    value: Value
    access: Access
    register: Register

    def key(self, sizes: Sizes) -> Hashable:
        """Return what a kernel's text depends on, but for the buffer."""
        return self.access.key(sizes, self.value), self.register.storage

    def over(self, unknowns: Unknowns) -> Load:
        """Return the node as a writer sees it."""
        return Load(unknowns.value(self.value), self.access.over(unknowns.sizes, self.value), self.register)


@record(slots=True)
class Position:
    """An element of an iota: the "address" itself."""

    access: Access
    register: Register

    def key(self, sizes: Sizes) -> Hashable:
        """Return what a kernel's text depends on."""
        return "position", self.access.key(sizes), self.register.storage

    def over(self, unknowns: Unknowns) -> Position:
        """Return the node as a writer sees it."""
        return Position(self.access.over(unknowns.sizes), self.register)


@record(slots=True)
class Apply:
    """An op's result from other nodes."""

    op: Op
    operands: tuple[int, ...]
    register: Register

    def key(self, sizes: Sizes) -> Hashable:
        """Return what a kernel's text depends on."""
        return self.op.definition, self.operands, self.register.storage, spelled(self.op)

    def over(self, unknowns: Unknowns) -> Apply:
        """Return the node as a writer sees it."""
        return self


def spelled(op: Op) -> Hashable:
    """Return what the text of an element depends on besides the op and its types: attributes, a composite's name."""
    attributes = op.attributes
    if not attributes:
        return None
    return attributes["name"] if op.definition is COMPOSITE else tuple(attributes.values())


MADE_UP = frozenset({creation.CONSTANT, creation.IOTA})
"""Ops that read nothing."""

PLACED = (Load, Position)
"""Nodes that have an access."""

Node = Literal | Load | Position | Apply
ViewStep = Callable[[Access, "Expressions", int], Access]


class Graph:
    """The nodes of one kernel, as its writer sees them.

    Attributes
    ----------
    shape : tuple of int
        The domain.
    nodes : list of Node
        Operands before users.
    """

    def __init__(self, shape: tuple[int, ...], nodes: list[Node]) -> None:
        self.shape, self.nodes = shape, nodes

    def key(self, sizes: Sizes) -> Hashable:
        """Return what a kernel's text depends on, but for the buffers of `loads`."""
        return tuple(map(sizes.__getitem__, self.shape)), tuple([node.key(sizes) for node in self.nodes])

    def over(self, unknowns: Unknowns) -> Graph:
        """Return the graph for a writer."""
        return Graph(tuple([unknowns.sizes[n] for n in self.shape]), [node.over(unknowns) for node in self.nodes])

    @property
    def loads(self) -> list[Value]:
        """Return the value of every load, in order."""
        return [node.value for node in self.nodes if isinstance(node, Load)]

    def starts_vary_along(self, access: Access, dim: int) -> bool:
        """Return whether what is found by indices begins elsewhere from place to place along a dimension."""
        stack = [start.node for start in access.starts]
        seen: set[int] = set()
        while stack:
            number = stack.pop()
            node = self.nodes[number]
            if isinstance(node, PLACED) and node.access.strides[dim]:
                return True
            if number not in seen:
                seen.add(number)
                stack.extend(operand_nodes(node))
        return False


ALWAYS, NEVER = -1, sys.maxsize
"""The stages after which arguments, and what has no buffer at all, are stored."""


class _Everything(dict[Value, int]):
    def __missing__(self, value: Value) -> int:
        return ALWAYS


EVERYTHING = _Everything()
"""``stored_after`` of kernels that find all values in buffers."""


class Expressions(Graph):
    """The graph of one kernel under construction.

    Parameters
    ----------
    shape : tuple of int
        The domain.
    stored_after : mapping of Value to int
        After which stage a value lies in a buffer; up to then it is to be computed here.
    stage : int, optional
        When the kernel runs.
    carried : collection of Op, optional
        Constants that come at run time, however short they are.

    Attributes
    ----------
    loaded : dict of Value
        What is read from buffers.
    used : dict of Op
        The ops that the kernel computes, views and constants included, operands before users.
    """

    def __init__(
        self, shape: tuple[int, ...], stored_after: Mapping[Value, int], stage: int = 0, carried: Collection[Op] = ()
    ) -> None:
        super().__init__(shape, [])
        self.stored_after, self.stage, self.carried = stored_after, stage, carried
        self.loaded: dict[Value, None] = {}
        self.used: dict[Op, None] = {}
        self._known: dict[tuple[Value, int], int] = {}
        self._chains: list[tuple[Op | ViewStep, int]] = [(_no_step, IDENTITY)]
        self._chain_numbers: dict[tuple[Op | ViewStep, int], int] = {}
        self._whole = whole_array(shape)
        self._merged: dict[tuple[tuple[int, ...], int], int] = {}
        self._places: dict[tuple[tuple[int, ...], Access], int] = {}

    def push(self, step: Op | ViewStep, chain: int) -> int:
        """Return the chain of an operand whose view ``step`` is needed through ``chain``."""
        key = (step, chain)
        number = self._chain_numbers.get(key)
        if number is None:
            number = self._chain_numbers[key] = len(self._chains)
            self._chains.append(key)
        return number

    def visit(self, value: Value, chain: int = IDENTITY) -> int:
        """Return the node of a value seen through a chain."""
        key = (value, chain)
        number = self._known.get(key)
        if number is None:
            number = self._known[key] = self._make(value, chain)
        return number

    def find(self, value: Value, chain: int) -> int | None:
        """Return the node of a value seen through a chain, if there is one already."""
        return self._known.get((value, chain))

    def define(self, value: Value, node: int) -> None:
        """Say that a value, in the domain's shape, is ``node``."""
        self._known[value, IDENTITY] = node

    def add(self, node: Node) -> int:
        """Append a node."""
        self.nodes.append(node)
        return len(self.nodes) - 1

    def _make(self, value: Value, chain: int) -> int:
        op, type = value.owner, value.tensor
        made_up = isinstance(op, Op) and op.definition in MADE_UP
        if self.stored_after[value] < self.stage and not (made_up and is_scalar_constant(value)):
            self.loaded[value] = None
            return self.add(Load(value, self.access(type.shape, chain), REGISTERS[type.dtype]))
        assert isinstance(op, Op)
        if made_up:
            return self._make_up(op, chain)
        if VIEW.find(op.definition) is not None:
            return self._see(op, chain)
        shape = type.shape
        if chain > 0 and (merged := self._merge(shape, chain)) != chain:
            return self.visit(value, merged)
        operands = tuple([self.visit(v, chain if v.tensor.shape == shape else SCALAR) for v in op.operands])
        self.used[op] = None
        return self.add(Apply(op, operands, REGISTERS[type.dtype]))

    def _make_up(self, op: Op, chain: int) -> int:
        """Return the node of an iota, or of a constant of which one element stands for all."""
        self.used[op] = None
        type = op.results[0].tensor
        if op.definition is creation.CONSTANT:
            return self.add(literal_of(op, REGISTERS[type.dtype], written=op not in self.carried))
        line = [0] * type.ndim
        line[op.attributes["iota_dimension"]] = 1
        return self.add(Position(self.follow(Access(0, tuple(line)), chain), REGISTERS[type.dtype]))

    def _see(self, op: Op, chain: int) -> int:
        """Return the node of a view: that of what it looks at, seen through one more step.

        Views of views are gone through here, not by recursion: nothing bounds how many there are.
        """
        views = [(op, chain)]
        while True:
            op, chain = views[-1]
            value = op.operands[0]
            through = self.push(op, chain) if value.tensor.shape else SCALAR
            inner = None if (value, through) in self._known else self._view_of(value)
            if inner is None:
                break
            views.append((inner, through))
        node = self.visit(value, through)
        for op, chain in reversed(views):
            if len(op.operands) > 1:  # literals follow no view, but the NumPy engine takes all operands
                VIEW[op.definition](op, whole_array(op.operands[0].tensor.shape), self, chain)
            self.used[op] = None
            self._known[op.results[0], chain] = node
        return node

    def _view_of(self, value: Value) -> Op | None:
        """Return the view that a value is to be computed by here; None where it is loaded, or made by another op."""
        op = value.owner
        if not isinstance(op, Op) or self.stored_after[value] < self.stage or op.definition in MADE_UP:
            return None
        return None if VIEW.find(op.definition) is None else op

    def _merge(self, shape: tuple[int, ...], chain: int) -> int:
        """Return the first chain that shows the same elements of arrays of a shape.

        Without it, an op that is needed through two such chains would be there twice, and what it needs four times.
        """
        if 0 in shape:
            return chain
        merged = self._merged.get((shape, chain))
        if merged is None:
            try:
                access = self.follow(whole_array(shape), chain)
            except NonlinearViewError:
                access = None
            if not self._places:
                self._places[self.shape, self._whole] = IDENTITY
            merged = chain if access is None else self._places.setdefault((shape, access), chain)
            self._merged[shape, chain] = merged
        return merged

    def access(self, shape: tuple[int, ...], chain: int) -> Access:
        """Return where the elements of a C-contiguous buffer lie, seen through a chain."""
        if chain == IDENTITY:
            return self._whole
        return self.follow(whole_array(shape), chain)

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
    if isinstance(node, PLACED):
        return [start.node for start in node.access.starts]
    return ()
