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
from numhlo.backend.kernels.draft import INDENT, Block, KernelDraft
from numhlo.backend.program import Kernel
from numhlo.lowering.ir import Value

_CALLED = re.compile(r"\b([a-z]\w*)\(")
_PRIMITIVES = frozenset(primitives.__all__)
_PYTHON = frozenset({"range", "min", "max"})

BufferOf = Callable[[Value], int]


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
        self._arrays: dict[str, tuple[int, int]] = {}
        self._counters: dict[str, int] = {}
        self._first_lines: list[str] = []
        self.top = Block("")
        self.open = [self.top]
        self._pointers: dict[int, str] = {}
        self._places: dict[str, int] = {}
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
            self._places[name] = len(self.buffers)
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
        if name not in self._counters:
            self._counters[name] = first
            self._first_lines.append(f"{name} = {first}")

    def begin(self, line: str) -> None:
        """Append a statement to those at the start of the kernel, behind what is defined there by now."""
        self._first_lines.append(line)

    def stack_array(self, hint: str, count: int, itemsize: int) -> str:
        """Return the name of a pointer to scratch memory on the stack."""
        name = self.fresh(hint)
        self._arrays[name] = count, itemsize
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
        numbers = {name: place for place, name in enumerate(self._numbers.values())}
        given = [f"{name} = address(bufs, {place})" for name, place in self._places.items()]
        given += [f"{name} = number(dims, {place})" for name, place in numbers.items()]
        given += [f"{name} = stack_array({count}, {size})" for name, (count, size) in self._arrays.items()]
        function = Block(f"def {name}(ctx, bufs, dims, lo, hi):")
        function.items = [*given, *self._first_lines, *self.top.items]
        lines: list[str] = []
        function.render("", lines)
        source, callees = _finished(name, "\n".join(lines))
        counted = {f"{name} = {first}" for name, first in self._counters.items()}
        body = Block("")
        body.items = [*(line for line in self._first_lines if line not in counted), *self.top.items]
        draft = KernelDraft(self._places, numbers, self._arrays, self._counters, body)
        return Kernel(sys.intern(name), source, callees, len(lines), draft)


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
def _finished(name: str, body: str) -> tuple[str, frozenset[str]]:
    """Return a kernel's source, the same object for the same text, which many shapes have; and what it calls."""
    words = set(_CALLED.findall(body)) - _PYTHON - {name}
    return sys.intern(f"{_imports(words)}\n\n\n{body}\n"), frozenset(words)


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
