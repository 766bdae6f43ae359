"""Reducing neighbours first, one element at a time: what a body of any kind needs to give `evaluate`'s bits.

Results of 1, 2, 4, ... elements wait on levels of a small array until their neighbour is there, as digits of a binary
counter wait for a carry. At the end the levels that are left are combined, the latest elements first.
"""

from __future__ import annotations

from collections.abc import Sequence

from numhlo.backend.emit.kernel_text import KernelText
from numhlo.backend.emit.reduction import Combiner
from numhlo.backend.primitives import STORAGES
from numhlo.lowering.ir.records import record

LEVELS = 64
"""More than the bits of any number of elements."""


@record(frozen=True, slots=True)
class Tree:
    """The levels of one reduction, and the variable that counts elements."""

    combiner: Combiner
    levels: tuple[str, ...]
    seen: str


def start_tree(text: KernelText, combiner: Combiner) -> Tree:
    """Write the start of a reduction."""
    levels = tuple(
        text.stack_array("levels", LEVELS, STORAGES[register.name].dtype.itemsize) for register in combiner.registers
    )
    seen = text.fresh("seen")
    text.line(f"{seen} = 0")
    return Tree(combiner, levels, seen)


def push(text: KernelText, tree: Tree, values: Sequence[str]) -> None:
    """Write the statements that take in one element."""
    carries = [text.fresh("carry") for _ in values]
    for carry, value in zip(carries, values, strict=True):
        text.line(f"{carry} = {value}")
    level, bits = text.fresh("level"), text.fresh("bits")
    text.line(f"{level} = 0")
    text.line(f"{bits} = {tree.seen}")
    with text.block(f"while {bits} & 1 == 1:"):
        _combine(text, tree, level, carries)
        text.line(f"{level} = {level} + 1")
        text.line(f"{bits} = {bits} >> 1")
    for register, array, carry in zip(tree.combiner.registers, tree.levels, carries, strict=True):
        text.line(f"store_{register.name}({array}, {level}, {carry})")
    text.line(f"{tree.seen} = {tree.seen} + 1")


def finish_tree(text: KernelText, tree: Tree) -> list[str]:
    """Write the combination of what is left, after at least one element, and return the names of the result."""
    level, bits = text.fresh("level"), text.fresh("bits")
    text.line(f"{level} = 0")
    text.line(f"{bits} = {tree.seen}")
    with text.block(f"while {bits} & 1 == 0:"):
        text.line(f"{level} = {level} + 1")
        text.line(f"{bits} = {bits} >> 1")
    carries = []
    for register, array in zip(tree.combiner.registers, tree.levels, strict=True):
        carries.append(text.fresh("carry"))
        text.line(f"{carries[-1]} = load_{register.name}({array}, {level})")
    with text.block(f"while {bits} > 1:"):
        text.line(f"{level} = {level} + 1")
        text.line(f"{bits} = {bits} >> 1")
        with text.block(f"if {bits} & 1 == 1:"):
            _combine(text, tree, level, carries)
    return carries


def _combine(text: KernelText, tree: Tree, level: str, carries: Sequence[str]) -> None:
    earlier = []
    for register, array in zip(tree.combiner.registers, tree.levels, strict=True):
        earlier.append(text.fresh("earlier"))
        text.line(f"{earlier[-1]} = load_{register.name}({array}, {level})")
    combined = [text.let(value, "next") for value in tree.combiner.write(text, earlier, carries)]
    for carry, value in zip(carries, combined, strict=True):
        text.assign(carry, value)
