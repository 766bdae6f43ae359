"""The loops of a stable merge sort: short runs by counting, then merges from both ends; nothing branches on data."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from numhlo.backend.emit.kernel_text import KernelText
from numhlo.backend.primitives import STORAGES

RUN = 32
"""Elements that are sorted by counting, at most."""


def run_length(length: int) -> int:
    """Return how long runs are, so that all merges of a row of ``length`` elements are of runs about equally long.

    Examples
    --------
    >>> run_length(100), run_length(5), run_length(1024)
    (25, 5, 32)
    """
    pairs = max(0, math.ceil(math.log2(length / RUN)))
    return -(-length // (1 << pairs))


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
    """

    def __init__(
        self,
        text: KernelText,
        storages: Sequence[str],
        less: Callable[[Sequence[str], Sequence[str]], str],
        rows: Sequence[str],
        scratch: Sequence[str],
    ) -> None:
        self.text, self.storages, self.rows, self.scratch = text, storages, rows, scratch
        self.itemsize = STORAGES[storages[0]].dtype.itemsize
        self._less = less

    def sort(self, size: str, run: str) -> None:
        """Write the sorting of the row that begins at ``base``."""
        text = self.text
        self.runs(size, run)
        text.line(f"width = {run}")
        text.line("sorted = False")
        with text.block(f"while width < {size}:"):
            self.merge(size, self.scratch, self.rows)
            text.line("width = width * 2")
            text.line(f"sorted = width >= {size}")
            with text.block("if not sorted:"):
                self.merge(size, self.rows, self.scratch)
                text.line("width = width * 2")
        with text.block("if not sorted:"), text.block(f"for k in range({size}):"):
            for number, (row, other) in enumerate(zip(self.rows, self.scratch, strict=True)):
                text.line(self.store(number, row, "base + k", self.load(number, other, "base + k")))

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
