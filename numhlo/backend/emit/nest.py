"""Writes the nodes of `expressions` inside loops: index arithmetic, hoisting, one statement a node.

Dimensions of the domain that lie one behind the other in every buffer become one loop (`collapse`), so one kernel
serves many shapes. A node is written in the outermost block where all it needs is known: what depends on rows only
stands in the row's block, before the inner loop. Extents and strides are run-time numbers, except tiny extents of
inner loops.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from numhlo.backend.emit.access import Access, Start
from numhlo.backend.emit.elementwise import UNROUNDED
from numhlo.backend.emit.expressions import PLACED, Apply, Graph, Literal, Load, Node, Position, operand_nodes
from numhlo.backend.emit.kernel_text import KernelText
from numhlo.backend.emit.literals import LIKE_EXTENTS
from numhlo.backend.emit.registers import Register, from_number, whole_literal
from numhlo.backend.emit.tables import ELEMENT
from numhlo.backend.primitives.narrow_floats import payload_bits
from numhlo.lowering.ops.comparison import CLAMP, SELECT
from numhlo.lowering.ops.conversion import BITCAST_CONVERT
from numhlo.lowering.ops.elementwise import DIVIDE, MAXIMUM, MINIMUM, REMAINDER

SMALL_STRIDE = 4
"""Strides up to this are literals: LLVM turns them into interleaved vector loads."""

DIVISIONS = frozenset({DIVIDE, REMAINDER})
CHOOSING = frozenset({SELECT, CLAMP, MAXIMUM, MINIMUM})
EXACT = UNROUNDED | CHOOSING | {BITCAST_CONVERT}
"""Ops whose results on narrow floats are values of the type: a rounding would only make signaling NaNs quiet ones."""


class Axis(NamedTuple):
    """One loop: dimensions of the domain that lie one behind the other in every buffer."""

    extent: int
    dims: tuple[int, ...]


def collapse(shape: Sequence[int], strides: Iterable[tuple[int, ...]], cuts: Sequence[int] = ()) -> list[Axis]:
    """Return the fewest loops over a domain.

    Parameters
    ----------
    shape : sequence of int
    strides : iterable of tuple of int
        Of every access over the domain.
    cuts : sequence of int
        Dimensions that must not be merged with the one before.

    Examples
    --------
    >>> [axis.extent for axis in collapse((2, 3, 4), [(12, 4, 1), (0, 4, 1)])]
    [2, 12]
    """
    patterns = list(dict.fromkeys(strides))
    axes: list[Axis] = []
    for dim, extent in enumerate(shape):
        if extent == 1:
            continue
        last = axes[-1] if axes else None
        if (
            last is not None
            and not any(last.dims[-1] < cut <= dim for cut in cuts)
            and all(p[last.dims[-1]] == p[dim] * extent for p in patterns)
        ):
            axes[-1] = Axis(last.extent * extent, (*last.dims, dim))
        else:
            axes.append(Axis(extent, (dim,)))
    return axes


class Nest:
    """Loops under construction over the axes of a domain.

    Parameters
    ----------
    text : KernelText
    expressions : Graph
    axes : list of Axis
    scope : int
        Tells the run-time numbers of several nests in one text apart.

    Attributes
    ----------
    extents : list of tuple of int
        What tells the axes' extents apart in the text: dimensions of the domain that its nests share.
    """

    def __init__(self, text: KernelText, expressions: Graph, axes: list[Axis], scope: int = 0) -> None:
        self.scope = scope
        self.text = text
        self.expressions = expressions
        self.axes = axes
        self.extents = [axis.dims for axis in axes]
        self.variables: dict[int, tuple[str, int]] = {}
        self.literal_axes: set[int] = set()
        self._names: list[dict[int, str]] = [{}]
        self._depths: dict[int, int] = {}
        self._moved: set[int] = set()

    # Loops

    @contextmanager
    def block(self, header: str) -> Iterator[None]:
        """Open a block; names of nodes written in it end with it."""
        with self.text.block(header), self.names_of_block():
            yield

    @contextmanager
    def names_of_block(self) -> Iterator[None]:
        """Let names of nodes that are written from now on end with the block that was opened just now."""
        self._names.append({})
        yield
        self._names.pop()
        depth = self.text.depth - 1
        self._depths = {k: d for k, d in self._depths.items() if d <= depth}
        self.variables = {a: v for a, v in self.variables.items() if v[1] <= depth}

    @contextmanager
    def loop(self, axis: int, bounds: str | None = None) -> Iterator[str]:
        """Open a loop over an axis; ``bounds`` are the range's arguments where it runs over a part of the extent."""
        variable = f"i{axis}"
        with self.block(f"for {variable} in range({bounds or self.extent(axis)}):"):
            self.variables[axis] = variable, self.text.depth
            yield variable

    @contextmanager
    def fixed(self, indices: dict[int, str]) -> Iterator[None]:
        """Write nodes at given indices of some axes, without loops over these."""
        depth = self.text.depth
        names, variables = self._names[depth], self.variables
        self._names[depth] = {}
        self.variables = {**variables, **{axis: (index, depth) for axis, index in indices.items()}}
        self._depths = {k: d for k, d in self._depths.items() if d < depth}
        yield
        self._names[depth], self.variables = names, variables
        self._depths = {k: d for k, d in self._depths.items() if d < depth}

    def set_variable(self, axis: int, expression: str) -> None:
        """Give an axis's index without a loop: decoded from another one."""
        self.text.line(f"i{axis} = {expression}")
        self.variables[axis] = f"i{axis}", self.text.depth

    def decode(self, flat: str, outer: Sequence[int]) -> None:
        """Give the indices of axes from an index into all of them, flattened row-major."""
        rest = f"to_i64({flat})"
        for axis in reversed(outer[1:]):
            extent = f"to_i64({self.extent(axis)})"
            self.set_variable(axis, f"remainder({rest}, {extent})")
            rest = self.text.let(f"divide({rest}, {extent})", "rest")
        self.set_variable(outer[0], rest)

    def extent(self, axis: int) -> str:
        """Return the text of an axis's extent."""
        extent = self.axes[axis].extent
        if axis in self.literal_axes:
            return str(extent)
        return self.text.number(("extent", self.extents[axis]), extent, "n")

    # Index arithmetic

    def strides(self, access: Access) -> list[int]:
        """Return an access's stride along each axis."""
        return [access.strides[axis.dims[-1]] for axis in self.axes]

    def depth_of(self, access: Access) -> int:
        """Return the depth of the innermost block that an access's place depends on."""
        depth = 0
        for axis, stride in enumerate(self.strides(access)):
            if stride and axis in self.variables:
                depth = max(depth, self.variables[axis][1])
        for start in access.starts:
            depth = max(depth, self.depth(start.node))
        return depth

    def index(self, access: Access) -> str:
        """Return the text of an element's index, sums that depend on outer loops only being computed there."""
        terms: dict[int, list[str]] = {}
        strides = self.strides(access)
        if access.offset:
            terms[0] = [self._offset(access, strides)]
        for axis, stride in enumerate(strides):
            if stride:
                variable, depth = self.variables[axis]
                if variable == "0":
                    continue
                terms.setdefault(depth, []).append(self._product(variable, access, axis, stride))
        for start in access.starts:
            terms.setdefault(self.depth(start.node), []).append(self._start(access, start))
        total = ""
        for depth in sorted(terms):
            parts = [total, *terms[depth]] if total else terms[depth]
            total = " + ".join(parts).replace("+ -", "- ")
            if depth < self.text.depth and (len(parts) > 1 or not parts[0].isidentifier()):
                total = self.text.let(total, "at", depth)
        return total or "0"

    def _offset(self, access: Access, strides: Sequence[int]) -> str:
        if any(access.offset < stride <= SMALL_STRIDE for stride in strides):
            return str(access.offset)  # one of a few neighbours, all of which SIMD code reads at once, if it knows
        return self.text.number((self.scope, "offset", access), access.offset, "offset")

    def _product(self, variable: str, access: Access, axis: int, stride: int) -> str:
        if stride == 1:
            return variable
        if stride == -1:
            return f"-{variable}"
        return f"{variable} * {self._stride(access, axis, stride)}"

    def _stride(self, access: Access, axis: int, stride: int) -> str:
        inner = range(axis + 1, len(self.axes))
        if stride == math.prod(self.axes[k].extent for k in inner):
            literals = [self.axes[k].extent for k in inner if k in self.literal_axes]
            names = [self.extent(k) for k in inner if k not in self.literal_axes]
            factors = [*names, *([str(math.prod(literals))] if literals else [])]
            return factors[0] if len(factors) == 1 else self.text.let(" * ".join(factors), "size", 0)
        if abs(stride) <= SMALL_STRIDE and axis == len(self.axes) - 1:
            return str(stride)
        return self.text.number((self.scope, "stride", access, axis), stride, "stride")

    def _start(self, access: Access, start: Start) -> str:
        node = self.expressions.nodes[start.node]
        limit = self.text.number((self.scope, "limit", start.node, start.limit), start.limit, "limit")
        value = self.name(start.node)
        if node.register.name == "u64":
            value = f"minimum({value}, to_u64({limit}))"
        depth = self.depth(start.node)
        clamped = self.text.let(f"min(max(to_i64({value}), 0), {limit})", "start", depth)
        if start.stride == 1:
            return clamped
        return f"{clamped} * {self.text.number((self.scope, 'step', start), start.stride, 'step')}"

    # Nodes

    def depth(self, node: int) -> int:
        """Return the depth of the innermost block that a node depends on."""
        known = self._depths.get(node)
        if known is None:
            known = self._depths[node] = self._depth(self.expressions.nodes[node])
        return known

    def _depth(self, node: Node) -> int:
        if isinstance(node, PLACED):
            return self.depth_of(node.access)
        if isinstance(node, Apply):
            return max([self.depth(k) for k in node.operands], default=0)
        return 0

    def starts_vary_along(self, access: Access, axis: int) -> bool:
        """Return whether what is found by indices begins elsewhere from place to place along an axis."""
        return self.expressions.starts_vary_along(access, self.axes[axis].dims[-1])

    def write(self, wanted: Iterable[int]) -> None:
        """Write nodes and all they need, operands first."""
        nodes = self.expressions.nodes
        needed: set[int] = set()
        stack = list(wanted)
        while stack:
            number = stack.pop()
            if number not in needed:
                needed.add(number)
                stack.extend(operand_nodes(nodes[number]))
        for number in sorted(needed):
            self.name(number)

    def name(self, number: int) -> str:
        """Return the name (or literal) of a node's value, writing its statement where it is missing."""
        depth = self._depths.get(number)
        if depth is None:
            depth = self.depth(number)
        known = self._names[depth].get(number)
        if known is None:
            known = self._names[depth][number] = self._write(number, depth)
        return known

    def move_bits(self, stored: Iterable[int]) -> None:
        """Let nodes that are loaded and only stored, of those to be stored, be words of their size."""
        nodes = self.expressions.nodes
        moved = {k for k in stored if isinstance(node := nodes[k], Load) and _is_narrow_float(node.register)}
        if moved:
            used = {operand for node in nodes for operand in operand_nodes(node)}
            self._moved |= {k for k in moved - used if k not in self._names[self.depth(k)]}

    def load_word(self, number: int) -> str:
        """Return the primitive that loads a node's value: as it is, or as a word where it is only moved."""
        register = self.expressions.nodes[number].register
        return f"load_{_word_of(register) if number in self._moved else register.storage}"

    def store_word(self, node: int, register: Register) -> str:
        """Return the primitive that stores a node's value: as it is, or rounded where it was computed."""
        if node in self._moved:
            return f"store_{_word_of(register)}"
        owner = self.expressions.nodes[node]
        computed = isinstance(owner, Apply) and owner.op.definition not in EXACT
        computed = computed and _is_narrow_float(register) and payload_bits(register.dtype) > 0
        return f"store_{'rounded_' if computed else ''}{register.storage}"

    def join(self, other: Nest) -> None:
        """Go on inside the blocks that another nest of the same text has open, with its loop variables."""
        self.variables = dict(other.variables)
        while len(self._names) <= self.text.depth:
            self._names.append({})

    def bind(self, number: int, name: str) -> None:
        """Say that a node's value is in a local variable of the current block."""
        self._depths[number] = self.text.depth
        self._names[self.text.depth][number] = name

    def _write(self, number: int, depth: int) -> str:
        node = self.expressions.nodes[number]
        if isinstance(node, Literal):
            return self._literal(number, node)
        if isinstance(node, Load):
            pointer = self.text.pointer(node.value)
            return self.text.let(f"{self.load_word(number)}({pointer}, {self.index(node.access)})", "x", depth)
        if isinstance(node, Position):
            return self.text.let(position_text(self.index(node.access), node.register), "position", depth)
        operands = [self.name(k) for k in node.operands]
        if node.op.definition in DIVISIONS:
            operands[1] = self._divisor(node, operands[1])
        expression = element_text(node, operands)
        return self.text.let(expression, hint_of(node), depth)

    def _divisor(self, node: Apply, name: str) -> str:
        """Return a constant integer divisor as text: dividing by a known number is a multiplication.

        Of a single element that is not worth a kernel for each extent that programs divide by, as where the place of
        a cell is taken apart into row and column.
        """
        divisor = self.expressions.nodes[node.operands[1]]
        if not isinstance(divisor, Literal) or divisor.text or divisor.register.kind not in "iu":
            return name
        if abs(divisor.number) in LIKE_EXTENTS and math.prod(self.expressions.shape) == 1:
            return name
        return whole_literal(divisor.number, divisor.register)

    def _literal(self, number: int, node: Literal) -> str:
        if node.text:
            return node.text
        carried = self.text.number((self.scope, "literal", number), node.number, "c")
        return self.text.let(from_number(carried, node.register), "constant", 0)


def _is_narrow_float(register: Register) -> bool:
    return register.kind == "f" and register.narrow


def _word_of(register: Register) -> str:
    """Return the storage of an unsigned integer of an element's size."""
    return f"u{8 * register.dtype.itemsize}"


def element_text(node: Apply, operands: Sequence[str]) -> str:
    """Return the expression of an op's result element, rounded to its element type."""
    text = ELEMENT[node.op.definition](node.op, operands)
    exact = CHOOSING if node.register.kind in "iu" else EXACT
    return text if node.op.definition in exact else node.register.wrap(text)


def position_text(index: str, register: Register) -> str:
    """Return the expression that turns an index into an iota's element."""
    if register.kind == "c":
        part = "f32" if register.name == "c64" else "f64"
        return f"make_{register.name}(to_{part}({index}), to_{part}(0.0))"
    return register.wrap(f"{register.convert}({index})")


def hint_of(node: Apply) -> str:
    """Return what a local variable for an op's result is called."""
    name = node.op.definition.name
    return f"{name}_" if name[-1].isdigit() else name
