"""Sorts of several arrays by one of integers: rows become words of a key and a place, and words alone are sorted.

Words all differ, and equal keys keep their order, so any sort of words is the stable one of keys. A key is counted from
the row's least, so that it leaves room for the place; what doesn't fit of it orders those that agree in the rest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.backend.emit.cost import grain_of
from numhlo.backend.emit.draft import Draft
from numhlo.backend.emit.kernel_text import BufferOf, KernelText
from numhlo.backend.emit.registers import REGISTERS, Register
from numhlo.backend.emit.sorts.writer import SortWriter
from numhlo.backend.numpy_sort import run_sort
from numhlo.lowering.ir import Op, Region, Value
from numhlo.lowering.ops.comparison import COMPARE

LONG_ROW = 16
"""Rows below this length are sorted as they are."""

WORD = np.dtype(np.int64)
KEY_BITS = 63
"""Of a word, the key's and the place's together: words are not negative."""


def compared_integers(comparator: Region) -> str:
    """Return the direction in which a comparator orders rows by the integers of the first, or nothing."""
    compare = comparator.returns[0].owner
    if not isinstance(compare, Op) or compare.definition is not COMPARE:
        return ""
    x, y = comparator.arguments[:2]
    register = REGISTERS[x.tensor.dtype]
    plain = register.kind in "iu" and not register.narrow
    return compare.attributes["comparison_direction"] if plain and list(compare.operands) == [x, y] else ""


def sorts_words(op: Op) -> bool:
    """Return whether rows of several arrays are sorted as words."""
    key = op.operands[0].tensor
    length = key.shape[op.attributes["dimension"] % key.ndim]
    ordered = len(op.operands) > 1 and compared_integers(op.regions[0]) in ("LT", "GT")
    return ordered and LONG_ROW <= length < 1 << 31 and run_sort(WORD) != 0


def emit_word_sort(op: Op, planner: Any, order: Sequence[int]) -> None:
    """Append the launch that sorts words and moves elements, between copies where rows don't lie dense."""
    is_last = order[-1] == len(order) - 1
    rows = list(op.operands) if is_last else [planner.permuted(operand, order) for operand in op.operands]
    for result in op.results:
        planner.output(result)
    used = [place for place, result in enumerate(op.results) if planner.is_used(result)]
    targets = list(op.results) if is_last else [planner.scratch(v.tensor) for v in rows]
    words, others = (planner.scratch(rows[0].tensor.with_dtype(WORD)) for _ in range(2))
    moved = [(rows[place], targets[place]) for place in used]
    ascending = compared_integers(op.regions[0]) == "LT"
    draft = write_word_sort(rows[0], ascending, moved, (words, others), planner.buffer)
    planner.launch_op(op, draft, [op.results[place] for place in used])
    if not is_last:
        back = [order.index(d) for d in range(len(order))]
        for place in used:
            planner.permuted(targets[place], back, op.results[place])


def write_word_sort(
    keys: Value,
    ascending: bool,
    moved: Sequence[tuple[Value, Value]],
    scratch: tuple[Value, Value],
    buffer_of: BufferOf,
) -> Draft:
    """Return the kernel that puts each row of some arrays, given with where they go, into the order of keys."""
    text = KernelText(buffer_of)
    length, extent = keys.tensor.shape[-1], math.prod(keys.tensor.shape[:-1])
    pairs = [(v, text.pointer(v), text.pointer(target, "out")) for v, target in moved]
    key = _Key(text.pointer(keys), REGISTERS[keys.tensor.dtype], ascending)
    words, others = (text.pointer(v, "words") for v in scratch)
    size = text.number("length", length, "length")
    places = text.number("places", (length - 1).bit_length(), "places")
    writer = SortWriter(text, ["i64"], lambda lhs, rhs: f"({lhs[0]} < {rhs[0]})", [words], [others], WORD)
    with text.block("for row in range(lo, hi):"):
        text.line(f"base = row * {size}")
        _write_words(text, key, words, size, places)
        writer.sort(length)
        _write_ties(text, key, words, size, places)
        text.line(f"mask = shift_left(to_i64(1), {places}) - 1")
        for value, source, out in pairs:
            storage = REGISTERS[value.tensor.dtype].storage
            with text.block(f"for k in range({size}):"):
                text.line(f"place = load_i64({words}, base + k) & mask")
                text.line(f"store_{storage}({out}, base + k, load_{storage}({source}, base + place))")
    flops = 4 * extent * length * max(1, math.ceil(math.log2(length)))
    traffic = 2 * sum(v.tensor.nbytes for v, _ in moved) + keys.tensor.nbytes + 16 * extent * length
    grain = grain_of(extent, flops, traffic)
    return Draft(text.finish("sort_words"), tuple(text.buffers), tuple(text.dims), extent, grain, flops, traffic)


class _Key:
    """The key of an element as int64: of which nothing is lost, and the least comes first."""

    def __init__(self, pointer: str, register: Register, ascending: bool) -> None:
        self.pointer, self.register, self.ascending = pointer, register, ascending

    def load(self, index: str) -> str:
        """Return the text of the key of an element."""
        loaded = f"to_i64(load_{self.register.storage}({self.pointer}, {index}))"
        if self.register.storage == "u64":
            loaded = f"({loaded} ^ to_i64({-(1 << 63)}))"
        return loaded if self.ascending else f"({loaded} ^ to_i64(-1))"


def _write_words(text: KernelText, key: _Key, words: str, size: str, places: str) -> None:
    """Write the words of a row, and ``least`` and ``lost``: what keys are counted from, and bits that are left out."""
    for name in ("least", "most"):
        text.line(f"{name} = {key.load('base')}")
    with text.block(f"for k in range({size}):"):
        text.line(f"key = {key.load('base + k')}")
        text.line("least = min(least, key)")
        text.line("most = max(most, key)")
    text.line(f"room = {KEY_BITS} - {places}")
    text.line("spread = 64 - count_leading_zeros(subtract(most, least))")
    text.line("lost = max(spread - room, 0)")
    with text.block(f"for k in range({size}):"):
        text.line(f"key = shift_right_logical(subtract({key.load('base + k')}, least), lost)")
        text.line(f"store_i64({words}, base + k, shift_left(key, {places}) | k)")


def _write_ties(text: KernelText, key: _Key, words: str, size: str, places: str) -> None:
    """Write the sorting, by the bits that were left out, of neighbours that agree in the others."""
    sort = text.number("sort", run_sort(WORD), "sort_at")
    with text.block("if lost > 0:"):
        text.line("first = 0")
        text.line("low = shift_left(to_i64(1), lost) - 1")
        text.line(f"mask = shift_left(to_i64(1), {places}) - 1")
        with text.block(f"for k in range(1, {size} + 1):"):
            text.line(f"bits = shift_right_logical(load_i64({words}, base + first), {places})")
            text.line(f"last = min(k, {size} - 1)")
            text.line(f"other = shift_right_logical(load_i64({words}, base + last), {places})")
            with text.block(f"if (k == {size}) | (bits != other):"):
                with text.block("if k - first > 1:"):
                    with text.block("for j in range(first, k):"):
                        text.line(f"place = load_i64({words}, base + j) & mask")
                        text.line(f"key = subtract({key.load('base + place')}, least) & low")
                        text.line(f"store_i64({words}, base + j, shift_left(key, {places}) | place)")
                    text.line(f"call_function({sort}, advance({words}, (base + first) * 8), k - first, 0)")
                text.line("first = k")
