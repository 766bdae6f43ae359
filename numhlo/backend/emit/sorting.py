"""sort: a stable merge sort of every row, with the comparator written into it.

Nothing branches on data, which is what makes sorting slow. Short runs are sorted by counting, for each element, those
that come before it: SIMD code. Then runs are merged pairwise, to and fro between the result and scratch memory,
from both ends at once, so that two chains of dependent steps run side by side. Long rows that are ordered by integers
of 32 bits, as float32 are too, become words of a key and a place, sorted by NumPy's own code.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.backend.emit.cost import grain_of
from numhlo.backend.emit.draft import Draft
from numhlo.backend.emit.kernel_text import BufferOf, KernelText
from numhlo.backend.emit.registers import REGISTERS
from numhlo.backend.emit.scalar_region import write_region
from numhlo.backend.emit.support import emits_region
from numhlo.backend.emit.tables import KERNELS, RootRule
from numhlo.backend.numpy_sort import word_sort
from numhlo.lowering.ir import Op, Region, Value
from numhlo.lowering.ops.comparison import COMPARE
from numhlo.lowering.ops.sorting import SORT

LONG_ROW = 64
"""Rows below this length are not worth a call of NumPy's sort."""

RUN = 32
"""Elements that are sorted by counting, at most."""


def _refuse(op: Op) -> str:
    return "" if emits_region(op.regions[0]) else "its comparator is not straight-line code"


def emit_sort(op: Op, planner: Any) -> None:
    """Append copies with the sorted dimension last, the launch that sorts them, and copies back where they are due."""
    rank = op.operands[0].tensor.ndim
    dimension = op.attributes["dimension"] % rank
    shape = op.operands[0].tensor.shape
    if math.prod(shape) == 0 or shape[dimension] == 1:
        for operand, result in zip(op.operands, op.results, strict=True):
            planner.begin_update(result, operand, [v for v in op.operands if v is not operand])
        planner.copied_only(op, planner.expressions(()), op.operands)
        return
    order = [d for d in range(rank) if d != dimension] + [dimension]
    if sorts_words(op):
        _emit_words(op, planner, order)
        return
    if dimension == rank - 1:
        for operand, result in zip(op.operands, op.results, strict=True):
            planner.begin_update(result, operand, [v for v in op.operands if v is not operand])
        rows = op.results
    else:
        rows = [planner.permuted(operand, order) for operand in op.operands]
        for result in op.results:
            planner.output(result)
    scratch = [planner.scratch(v.tensor) for v in rows]
    planner.launch_op(op, write_sort(op.regions[0], rows, scratch, planner.buffer), op.results)
    if dimension != rank - 1:
        back = [order.index(d) for d in range(rank)]
        for row, result in zip(rows, op.results, strict=True):
            planner.permuted(row, back, result)


def sorts_words(op: Op) -> bool:
    """Return whether rows are sorted as words of a key and a place: keys are integers of 32 bits at most, ascending.

    Words all differ, and equal keys keep their order, so any sort of words is the stable one of keys.
    """
    key = op.operands[0].tensor
    comparator = op.regions[0]
    (returned,) = comparator.returns
    compare = returned.owner
    if not isinstance(compare, Op) or compare.definition is not COMPARE or key.dtype.kind not in "iu":
        return False
    ascending = compare.attributes["comparison_direction"] == "LT"
    plain = key.dtype.itemsize <= 4 and not REGISTERS[key.dtype].narrow
    if not (ascending and plain and list(compare.operands) == list(comparator.arguments[:2])):
        return False
    return key.shape[op.attributes["dimension"] % key.ndim] >= LONG_ROW and word_sort() != 0


def _emit_words(op: Op, planner: Any, order: Sequence[int]) -> None:
    """Append the launch that sorts words and moves elements, between copies where rows don't lie dense."""
    is_last = order[-1] == len(order) - 1
    rows = op.operands if is_last else [planner.permuted(operand, order) for operand in op.operands]
    for result in op.results:
        planner.output(result)
    targets = op.results if is_last else [planner.scratch(v.tensor) for v in rows]
    words = planner.scratch(rows[0].tensor.with_dtype(np.dtype(np.uint64)))
    planner.launch_op(op, write_word_sort(rows, targets, words, planner.buffer), op.results)
    if not is_last:
        back = [order.index(d) for d in range(len(order))]
        for target, result in zip(targets, op.results, strict=True):
            planner.permuted(target, back, result)


def write_word_sort(rows: Sequence[Value], targets: Sequence[Value], words: Value, buffer_of: BufferOf) -> Draft:
    """Return the kernel that sorts each row of some arrays by the first of them, all arrays together."""
    text = KernelText(buffer_of)
    key = REGISTERS[rows[0].tensor.dtype]
    length, extent = rows[0].tensor.shape[-1], math.prod(rows[0].tensor.shape[:-1])
    sources, outs = [text.pointer(v, "in") for v in rows], [text.pointer(v, "out") for v in targets]
    scratch = text.pointer(words, "words")
    size, sort = text.number("length", length, "length"), text.number("sort", word_sort(), "sort_at")
    bias = f" + {1 << (key.bits - 1)}" if key.kind == "i" else ""
    with text.block("for row in range(lo, hi):"):
        text.line(f"base = row * {size}")
        text.line(f"word = advance({scratch}, base * 8)")
        with text.block(f"for k in range({size}):"):
            text.line(f"key = to_i64(load_{key.storage}({sources[0]}, base + k)){bias}")
            text.line("store_i64(word, k, (key << 32) | k)")
        text.line(f"call_fortran({sort}, word, {size}, 0)")
        for value, source, out in zip(rows, sources, outs, strict=True):
            storage = REGISTERS[value.tensor.dtype].storage
            with text.block(f"for k in range({size}):"):
                text.line(f"place = load_i64(word, k) & {(1 << 32) - 1}")
                text.line(f"store_{storage}({out}, base + k, load_{storage}({source}, base + place))")
    flops = 4 * extent * length * max(1, math.ceil(math.log2(length)))
    traffic = sum(v.tensor.nbytes for v in (*rows, *targets)) + 16 * extent * length
    grain = grain_of(extent, flops, traffic)
    return Draft(text.finish("sort_words"), tuple(text.buffers), tuple(text.dims), extent, grain, flops, traffic)


def write_sort(comparator: Region, rows: Sequence[Value], scratch: Sequence[Value], buffer_of: BufferOf) -> Draft:
    """Return the kernel that sorts each row of some arrays in place, all arrays together."""
    text = KernelText(buffer_of)
    writer = _SortWriter(text, comparator, rows, scratch)
    length = rows[0].tensor.shape[-1]
    size = text.number("length", length, "length")
    with text.block("for row in range(lo, hi):"):
        text.line(f"base = row * {size}")
        run = text.number("run", run_length(length), "run")
        writer.runs(size, run)
        text.line(f"width = {run}")
        text.line("sorted = False")
        with text.block(f"while width < {size}:"):
            writer.merge(size, writer.scratch, writer.rows)
            text.line("width = width * 2")
            text.line(f"sorted = width >= {size}")
            with text.block("if not sorted:"):
                writer.merge(size, writer.rows, writer.scratch)
                text.line("width = width * 2")
        with text.block("if not sorted:"), text.block(f"for k in range({size}):"):
            for number, (row, other) in enumerate(zip(writer.rows, writer.scratch, strict=True)):
                text.line(writer.store(number, row, "base + k", writer.load(number, other, "base + k")))
    extent = math.prod(rows[0].tensor.shape[:-1])
    passes = max(1, math.ceil(math.log2(length)))
    flops = 10 * extent * length * passes
    traffic = sum(v.tensor.nbytes for v in rows) * 2
    grain = grain_of(extent, flops, traffic)
    return Draft(text.finish("sort_rows"), tuple(text.buffers), tuple(text.dims), extent, grain, flops, traffic)


def run_length(length: int) -> int:
    """Return how long runs are, so that all merges of a row of ``length`` elements are of runs about equally long.

    Examples
    --------
    >>> run_length(100), run_length(5), run_length(1024)
    (25, 5, 32)
    """
    pairs = max(0, math.ceil(math.log2(length / RUN)))
    return -(-length // (1 << pairs))


class _SortWriter:
    """Writes the loops of a sort."""

    def __init__(self, text: KernelText, comparator: Region, rows: Sequence[Value], scratch: Sequence[Value]) -> None:
        self.text, self.comparator = text, comparator
        self.storages = [REGISTERS[v.tensor.dtype].storage for v in rows]
        self.itemsize = rows[0].tensor.dtype.itemsize
        self.rows = [text.pointer(v, "out") for v in rows]
        self.scratch = [text.pointer(v, "scratch") for v in scratch]

    def load(self, number: int, pointer: str, index: str) -> str:
        """Return the text that loads an element of array ``number``."""
        return f"load_{self.storages[number]}({pointer}, {index})"

    def store(self, number: int, pointer: str, index: str, value: str) -> str:
        """Return the statement that stores one."""
        return f"store_{self.storages[number]}({pointer}, {index}, {value})"

    def _load_all(self, pointers: Sequence[str], index: str, hint: str) -> list[str]:
        names = []
        for number, pointer in enumerate(pointers):
            name = self.text.fresh(hint)
            self.text.line(f"{name} = {self.load(number, pointer, index)}")
            names.append(name)
        return names

    def _less(self, lhs: Sequence[str], rhs: Sequence[str]) -> str:
        pairs = [name for pair in zip(lhs, rhs, strict=True) for name in pair]
        return write_region(self.text, self.comparator, pairs)[0]

    def runs(self, size: str, run: str) -> None:
        """Write the sorting of short runs into the scratch memory."""
        text = self.text
        word = "i32" if self.itemsize <= 4 else "i64"
        ranks = text.stack_array("ranks", RUN, int(word[1:]) // 8)
        with text.block(f"for start in range(0, {size}, {run}):"):
            text.line("first = base + start")
            text.line(f"count = min({run}, {size} - start)")
            with text.block(f"for i in range({RUN}):"):
                text.line(f"store_{word}({ranks}, i, to_{word}(0))")
            self._count("count", ranks, word)
            with text.block("for i in range(count):"):
                text.line(f"place = first + to_i64(load_{word}({ranks}, i))")
                for number, (row, other) in enumerate(zip(self.rows, self.scratch, strict=True)):
                    text.line(self.store(number, other, "place", self.load(number, row, "first + i")))

    def _count(self, count: str, ranks: str, word: str) -> None:
        """Write the counting of the elements that come before each element of a run: of equal ones, the earlier."""
        text = self.text
        with text.block(f"for j in range({count}):"):
            other = self._load_all(self.rows, "first + j", "other")
            with text.block(f"for i in range({count}):"):
                own = self._load_all(self.rows, "first + i", "own")
                less, greater = self._less(other, own), self._less(own, other)
                text.line(f"before = select(i <= j, {less}, {greater} ^ True)")
                text.line(f"store_{word}({ranks}, i, add(load_{word}({ranks}, i), to_{word}(before)))")

    def merge(self, size: str, sources: Sequence[str], targets: Sequence[str]) -> None:
        """Write the merging of pairs of runs of ``width`` elements."""
        text = self.text
        with text.block(f"for start in range(0, {size}, 2 * width):"):
            text.line(f"middle = min(start + width, {size})")
            text.line(f"stop = min(middle + width, {size})")
            for name, place in (("i", "start"), ("j", "middle"), ("p", "middle - 1"), ("q", "stop - 1")):
                text.line(f"{name} = {place}")
            text.line("shorter = min(middle - start, stop - middle)")
            self._from_both_ends(sources, targets)
            self._between(sources, targets)

    def _from_both_ends(self, sources: Sequence[str], targets: Sequence[str]) -> None:
        """Write as many steps as the shorter run allows; no index leaves its run, whatever the comparator says."""
        text = self.text
        with text.block("for k in range(shorter):"):
            left = self._load_all(sources, "base + i", "left")
            right = self._load_all(sources, "base + j", "right")
            low = self._less(right, left)
            text.line(f"from_right = {low}")
            last_left = self._load_all(sources, "base + p", "left")
            last_right = self._load_all(sources, "base + q", "right")
            high = self._less(last_right, last_left)
            text.line(f"from_left = {high}")
            for number, target in enumerate(targets):
                first = f"select(from_right, {right[number]}, {left[number]})"
                text.line(self.store(number, target, "base + start + k", first))
                last = f"select(from_left, {last_left[number]}, {last_right[number]})"
                text.line(self.store(number, target, "base + stop - 1 - k", last))
            text.line("step = to_i64(from_right)")
            text.line("j = j + step")
            text.line("i = i + 1 - step")
            text.line("back = to_i64(from_left)")
            text.line("p = p - back")
            text.line("q = q - 1 + back")

    def _between(self, sources: Sequence[str], targets: Sequence[str]) -> None:
        """Write the merging of what is left, ``i`` to ``p`` and ``j`` to ``q``."""
        text = self.text
        with text.block("for k in range(start + shorter, stop - shorter):"):
            left = self._load_all(sources, "base + min(i, middle - 1)", "left")
            right = self._load_all(sources, "base + min(j, stop - 1)", "right")
            less = self._less(right, left)
            text.line(f"from_right = (i > p) | ((j <= q) & {less})")
            for number, target in enumerate(targets):
                chosen = f"select(from_right, {right[number]}, {left[number]})"
                text.line(self.store(number, target, "base + k", chosen))
            text.line("step = to_i64(from_right)")
            text.line("j = j + step")
            text.line("i = i + 1 - step")


KERNELS.register(SORT)(RootRule(emit_sort, refuse=_refuse))
