"""The text of one kernel while it is being written: pointers, run-time numbers, nested blocks of statements.

This file knows how kernel source looks (imports, signature, indentation, names that are given once); it refuses to know
what the statements compute. Statements go to the innermost block that defines all they need, so what does not depend on
an inner loop stands before it. Next: `nest` writes loops, `expressions` has what is computed in them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache

from numhlo.backend import primitives, vector_math
from numhlo.backend.program import Kernel
from numhlo.lowering.ir import Value

_CALLED = re.compile(r"\b([a-z]\w*)\(")
_PRIMITIVES = frozenset(primitives.__all__)
_PYTHON = frozenset({"range", "min", "max"})
INDENT = "    "

BufferOf = Callable[[Value], int]


class Block:
    """A block of statements: its header line (a loop, an if), and statements or blocks in order."""

    __slots__ = ("header", "items", "known")

    def __init__(self, header: str) -> None:
        self.header = header
        self.items: list[str | Block] = []
        self.known: dict[str, str] = {}

    def render(self, indent: str, lines: list[str]) -> None:
        """Append the block's lines."""
        lines.append(indent + self.header)
        inner = indent + INDENT
        if not self.items:
            lines.append(inner + "pass")
        for item in self.items:
            if isinstance(item, str):
                lines.append(inner + item)
            else:
                item.render(inner, lines)


class KernelText:
    """The source of one kernel under construction.

    Parameters
    ----------
    buffer_of : callable
        ``buffer_of(value)`` gives the number of the buffer that holds a value.

    Attributes
    ----------
    buffers : list of int
        The program's buffer numbers in the kernel's order: `Launch.buffers`.
    dims : list of int
        Run-time numbers: `Launch.dims`.
    """

    def __init__(self, buffer_of: BufferOf) -> None:
        self._buffer_of = buffer_of
        self.buffers: list[int] = []
        self.dims: list[int] = []
        self._pointer_lines: list[str] = []
        self._number_lines: list[str] = []
        self._array_lines: list[str] = []
        self._first_lines: list[str] = []
        self.top = Block("")
        self.open = [self.top]
        self._pointers: dict[int, str] = {}
        self._numbers: dict[object, str] = {}
        self._taken: dict[str, int] = {}

    @property
    def depth(self) -> int:
        """Return the number of open blocks around the current statement, the function's body being 0."""
        return len(self.open) - 1

    def pointer(self, value: Value, role: str = "in") -> str:
        """Return the name of the pointer to the buffer that holds a value; values may share one."""
        buffer = self._buffer_of(value)
        name = self._pointers.get(buffer)
        if name is None:
            name = self._pointers[buffer] = self.fresh(role)
            self._pointer_lines.append(f"{name} = address(bufs, {len(self.buffers)})")
            self.buffers.append(buffer)
        return name

    def advance(self, value: Value, nbytes: str) -> None:
        """Let the pointer to the buffer that holds a value begin so many bytes further on, which is known at once."""
        buffer = self._buffer_of(value)
        self._pointers[buffer] = self.first(f"advance({self.pointer(value)}, {nbytes})", "own")

    def share(self, one: Value, other: Value) -> bool:
        """Return whether two values lie in one buffer."""
        return self._buffer_of(one) == self._buffer_of(other)

    def number(self, key: object, value: int, hint: str) -> str:
        """Return the name of a run-time number; ``key`` says which one it is, whatever its value."""
        name = self._numbers.get(key)
        if name is None:
            name = self._numbers[key] = self.fresh(hint)
            self._number_lines.append(f"{name} = number(dims, {len(self.dims)})")
            self.dims.append(value)
        return name

    def assign(self, name: str, value: str) -> None:
        """Write a new value of a variable; what was computed from the old one is computed again where it is needed."""
        block = self.open[-1]
        block.items.append(f"{name} = {value}")
        block.known = {text: known for text, known in block.known.items() if name not in text and known != name}

    def first(self, expression: str, hint: str) -> str:
        """Return a local variable that holds ``expression``, defined at the start of the kernel."""
        name = self.top.known.get(expression)
        if name is None:
            name = self.top.known[expression] = self.fresh(hint)
            self._first_lines.append(f"{name} = {expression}")
        return name

    def counter(self, name: str, first: int) -> None:
        """Let a variable be a number at the start of the kernel."""
        line = f"{name} = {first}"
        if line not in self._first_lines:
            self._first_lines.append(line)

    def begin(self, line: str) -> None:
        """Append a statement to those at the start of the kernel, behind what is defined there by now."""
        self._first_lines.append(line)

    def stack_array(self, hint: str, count: int, itemsize: int) -> str:
        """Return the name of a pointer to scratch memory on the stack."""
        name = self.fresh(hint)
        self._array_lines.append(f"{name} = stack_array({count}, {itemsize})")
        return name

    def fresh(self, hint: str) -> str:
        """Return a new local name: ``hint`` with a number."""
        count = self._taken.get(hint, 0)
        self._taken[hint] = count + 1
        return f"{hint}{count}"

    def line(self, text: str) -> None:
        """Append a statement to the innermost block."""
        self.open[-1].items.append(text)

    def let(self, expression: str, hint: str, depth: int | None = None) -> str:
        """Return the name of a local variable that holds ``expression``, defining it in the block at ``depth``."""
        expression = without_brackets(expression)
        block = self.open[-1 if depth is None else depth]
        name = block.known.get(expression)
        if name is None:
            name = block.known[expression] = self.fresh(hint)
            block.items.append(f"{name} = {expression}")
        return name

    def block(self, header: str) -> _Opened:
        """Open a block, for ``with``; it is placed into the one around it when it is closed."""
        return _Opened(self.open, Block(header))

    def finish(self, name: str) -> Kernel:
        """Return the kernel."""
        lines: list[str] = []
        self.top.header = f"def {name}(ctx, bufs, dims, lo, hi):"
        self.top.items[:0] = [*self._pointer_lines, *self._number_lines, *self._array_lines, *self._first_lines]
        self.top.render("", lines)
        return _finished(sys.intern(name), "\n".join(lines), len(lines))


class _Opened:
    """A block that is open: the innermost of ``blocks`` inside ``with``."""

    __slots__ = ("block", "blocks")

    def __init__(self, blocks: list[Block], block: Block) -> None:
        self.blocks, self.block = blocks, block

    def __enter__(self) -> Block:
        self.blocks.append(self.block)
        return self.block

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.blocks.pop()
        if kind is None:
            self.blocks[-1].items.append(self.block)


@lru_cache(maxsize=512)
def _finished(name: str, body: str, lines: int) -> Kernel:
    """Return a kernel, with imports: the same object for the same text, which many shapes have."""
    words = set(_CALLED.findall(body)) - _PYTHON - {name}
    return Kernel(name, sys.intern(f"{_imports(words)}\n\n\n{body}\n"), frozenset(words), lines)


def without_brackets(expression: str) -> str:
    """Return an expression without brackets around all of it.

    Examples
    --------
    >>> without_brackets("(a < b(c))"), without_brackets("(a) + (b)")
    ('a < b(c)', '(a) + (b)')
    """
    if expression[0] != "(" or expression[-1] != ")":
        return expression
    depth = 0
    for place, letter in enumerate(expression):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return expression[1:-1] if place == len(expression) - 1 else expression
    return expression


def _imports(words: set[str]) -> str:
    """Return the import statements for the words that a kernel calls."""
    basic = sorted(words & _PRIMITIVES)
    mathematics = sorted(words - _PRIMITIVES)
    lines = []
    if basic:
        lines.append(_import_line(primitives.__name__, basic))
    if mathematics:
        lines.append(_import_line(vector_math.__name__, mathematics))
    return "\n".join(lines)


def _import_line(module: str, names: Sequence[str]) -> str:
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= 120:
        return line
    return f"from {module} import (\n" + "".join(f"{INDENT}{n},\n" for n in names) + ")"
