"""A kernel as it was written: what its text is made of, for those who make it a part of another kernel.

Statements are still text; what stands for buffers, run-time numbers and memory is not.
"""

from __future__ import annotations

from collections.abc import Mapping

from numhlo.lowering.ir.records import record

INDENT = "    "


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


@record(frozen=True, slots=True)
class KernelDraft:
    """A written kernel.

    Attributes
    ----------
    pointers, numbers : mapping from str to int
        Which buffer of the launch, and which of its run-time numbers, a name stands for.
    arrays : mapping from str to (int, int)
        Scratch memory on the stack: elements, and bytes of one.
    counters : mapping from str to int
        Variables that are numbers at the start of the kernel.
    body : Block
        All other statements.
    """

    pointers: Mapping[str, int]
    numbers: Mapping[str, int]
    arrays: Mapping[str, tuple[int, int]]
    counters: Mapping[str, int]
    body: Block
