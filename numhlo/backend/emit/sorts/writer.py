"""The loops of a stable merge sort: short runs, then merges from both ends; nothing branches on data.

Runs of integers that equal ones can't be told from are sorted by NumPy's own code (`numpy_sort`), others by counting.
Where that code is fast at any length, such a row is one run.

A comparator may be no order at all: floats with NaNs by ``<``, ``<=``, constants, random answers. Both fast algorithms
then lose elements, which shows in a number or two that they leave behind. Such a run is sorted by insertion, such a
pair of runs merged from one end, which permute elements whatever the comparator says.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from numhlo.backend.emit.draft import Draft
from numhlo.backend.emit.kernel_text import KernelText
from numhlo.backend.numpy_sort import run_sort
from numhlo.backend.primitives import STORAGES
from numhlo.backend.target import processor
from numhlo.lowering.ir import Op, Value

RUN = 32
"""Elements that are sorted by counting, at most."""

RUN_BYTES, NATIVE_RUN = 2048, 512
"""Memory that NumPy's code sorts in registers, and elements, at most."""


@cache
def sorts_long_rows(itemsize: int) -> bool:
    """Return whether NumPy's code for integers of a size is faster than merges on this processor, however long a row.

    Notes
    -----
    NumPy partitions long rows with the compressing stores of AVX-512, which take AMD's processors some hundred cycles.
    """
    name, features = processor()
    needed = "+avx512vbmi2" if itemsize == 2 else "+avx512dq"
    return needed in features.split(",") and not name.startswith("znver")


def run_length(length: int, longest: int = RUN) -> int:
    """Return how long runs are, so that all merges of a row of ``length`` elements are of runs about equally long.

    Examples
    --------
    >>> run_length(100), run_length(5), run_length(1024)
    (25, 5, 32)
    """
    pairs = max(0, math.ceil(math.log2(length / longest)))
    return -(-length // (1 << pairs))


def emit_dense_rows(op: Op, planner: Any, order: Sequence[int], write: Callable[[Value, Value], Draft]) -> None:
    """Append the launch that sorts one array's rows, between copies where rows don't lie dense.

    Parameters
    ----------
    op : Op
    planner : RegionPlanner
    order : sequence of int
        The dimensions, the sorted one last.
    write : callable
        ``write(rows, target)`` returns the kernel.
    """
    (operand,), (result,) = op.operands, op.results
    is_last = order[-1] == len(order) - 1
    rows = operand if is_last else planner.permuted(operand, order)
    planner.output(result)
    target = result if is_last else planner.scratch(rows.tensor)
    planner.launch_op(op, write(rows, target), op.results)
    if not is_last:
        planner.permuted(target, [order.index(d) for d in range(len(order))], result)


class SortWriter:
    """Writes the loops that sort a row of several arrays together, in place.

    Parameters
    ----------
    text : KernelText
    storages : sequence of str
        How elements of each array lie in memory.
    less : callable
        From the names of an element of each array, and of another one, to the text of whether the first comes before.
    rows, scratch : sequence of str
        Pointers to the arrays, and to as much memory of their own.
    dtype : np.dtype, optional
        Of integers, if there is nothing else to be sorted and they ascend.
    """

    def __init__(
        self,
        text: KernelText,
        storages: Sequence[str],
        less: Callable[[Sequence[str], Sequence[str]], str],
        rows: Sequence[str],
        scratch: Sequence[str],
        dtype: np.dtype | None = None,
    ) -> None:
        self.text, self.storages, self.rows, self.scratch = text, storages, rows, scratch
        self.itemsize = STORAGES[storages[0]].dtype.itemsize
        self._less = less
        self._function = 0 if dtype is None else run_sort(dtype)

    def sort(self, length: int) -> None:
        """Write the sorting of the row that begins at ``base``."""
        text = self.text
        size = text.number("length", length, "length")
        run = text.number("run", run_length(length, self._longest(length)), "run")
        self._pass_ordered(size, run)
        with text.block(f"if ordered < {size}:"):
            self._sort_all(size, run)

    def _pass_ordered(self, size: str, run: str) -> None:
        """Write the search for the first element out of order, where a row is longer than a run."""
        text = self.text
        text.line(f"ordered = select({run} < {size}, 1, 0)")
        with text.block(f"while (0 < ordered) & (ordered < {size}):"):
            later = self._load_all(self.rows, "base + ordered", "later")
            earlier = self._load_all(self.rows, "base + ordered - 1", "earlier")
            less = self._less(later, earlier)
            with text.block(f"if {less}:"):
                text.line("break")
            text.line("ordered = ordered + 1")

    def _sort_all(self, size: str, run: str) -> None:
        """Write the sorting of runs, and the merging of these."""
        text, rows, scratch = self.text, self.rows, self.scratch
        if self._function:
            self.native_runs(size, run)
        else:
            self.runs(size, run)
        first, second = (rows, scratch) if self._function else (scratch, rows)
        text.line(f"width = {run}")
        text.line("moved = False")
        with text.block(f"while width < {size}:"):
            self.merge(size, first, second)
            text.line("width = width * 2")
            text.line(f"moved = width >= {size}")
            with text.block("if not moved:"):
                self.merge(size, second, first)
                text.line("width = width * 2")
        condition = "moved" if self._function else "not moved"
        with text.block(f"if {condition}:"), text.block(f"for k in range({size}):"):
            for number, (row, other) in enumerate(zip(rows, scratch, strict=True)):
                text.line(self.store(number, row, "base + k", self.load(number, other, "base + k")))

    def _longest(self, length: int) -> int:
        if not self._function:
            return RUN
        return length if sorts_long_rows(self.itemsize) else min(RUN_BYTES // self.itemsize, NATIVE_RUN)

    def native_runs(self, size: str, run: str) -> None:
        """Write the sorting of short runs where they are."""
        text = self.text
        sort = text.number("sort", self._function, "sort_at")
        with text.block(f"for start in range(0, {size}, {run}):"):
            text.line(f"place = advance({self.rows[0]}, (base + start) * {self.itemsize})")
            text.line(f"call_function({sort}, place, min({run}, {size} - start), 0)")

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
            self._check_ranks(ranks, word)
            with text.block("if taken == shift_left(to_i64(1), count) - 1:"), text.block("for i in range(count):"):
                text.line(f"place = first + to_i64(load_{word}({ranks}, i))")
                for number, (row, other) in enumerate(zip(self.rows, self.scratch, strict=True)):
                    text.line(self.store(number, other, "place", self.load(number, row, "first + i")))
            with text.block("else:"):
                self._insert("first", "count")

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

    def _check_ranks(self, ranks: str, word: str) -> None:
        """Write the collecting of all ranks as bits, after an element that came before itself is no longer counted."""
        text = self.text
        text.line("taken = to_i64(0)")
        with text.block("for i in range(count):"):
            own = self._load_all(self.rows, "first + i", "own")
            less = self._less(own, own)
            text.line(f"rank = subtract(load_{word}({ranks}, i), to_{word}({less}))")
            text.line(f"store_{word}({ranks}, i, rank)")
            text.line("taken = taken | shift_left(to_i64(1), to_i64(rank) & 63)")

    def _insert(self, first: str, count: str) -> None:
        """Write the sorting of a run into the scratch memory, each element before those that it is less than."""
        text = self.text
        with text.block(f"for i in range({count}):"):
            own = self._load_all(self.rows, f"{first} + i", "own")
            text.line(f"place = {first} + i")
            with text.block(f"while place > {first}:"):
                earlier = self._load_all(self.scratch, "place - 1", "earlier")
                less = self._less(own, earlier)
                with text.block(f"if {less} ^ True:"):
                    text.line("break")
                for number, other in enumerate(self.scratch):
                    text.line(self.store(number, other, "place", earlier[number]))
                text.line("place = place - 1")
            for number, other in enumerate(self.scratch):
                text.line(self.store(number, other, "place", own[number]))

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
        """Write the merging of what is left, ``i`` to ``p`` and ``j`` to ``q``; of all if both ends took the same."""
        text = self.text
        text.line("overlap = (i > p + 1) | (j > q + 1)")
        self._from_one_end("start + shorter", "stop - shorter", sources, targets)
        with text.block("if overlap:"):
            for name, place in (("i", "start"), ("j", "middle"), ("p", "middle - 1"), ("q", "stop - 1")):
                text.line(f"{name} = {place}")
            self._from_one_end("start", "stop", sources, targets)

    def _from_one_end(self, first: str, end: str, sources: Sequence[str], targets: Sequence[str]) -> None:
        """Write the merging of ``i`` to ``p`` and ``j`` to ``q``; no index leaves its run, whatever is left of them."""
        text = self.text
        with text.block(f"for k in range({first}, {end}):"):
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
