"""Long Fourier transforms: passes over memory before and after transforms of dense lines, which can be cut in two.

Real lines become complex ones, and lengths of other primes than there are radices become convolutions. A pass is
shared in chunks of elements, in lines and across them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from numhlo.backend.emit.cost import grain_of
from numhlo.backend.emit.draft import Draft
from numhlo.backend.emit.transforms.copies import LineCopies, Parts
from numhlo.backend.emit.transforms.lines import Lines, merged, spectrum

CHUNK = 4096
"""Elements of a line that are a unit of work."""


class LinePass(LineCopies):
    """Writes one pass: what lines are read into, or what is made of dense results, is a line after the other."""

    def write(self, verb: str) -> Draft:
        """Return the kernel that takes or puts lines, ``verb``, or multiplies by the filter's transform."""
        text, lines = self.text, self.lines
        longest = max(lines.size, lines.core + 1)
        chunks = -(-longest // CHUNK)
        number = self.number("chunks", chunks)
        with text.block("for unit in range(lo, hi):"):
            text.line(f"rest = divide(to_i64(unit), to_i64({number}))")
            text.line(f"begin = (unit - rest * {number}) * {CHUNK}")
            text.line("end = begin + to_i64(begin == 0)")  # what is done once a line
            text.line(f"dense = rest * {self.number('size', lines.size)}")
            if verb == "convolve":
                self._convolve()
            else:
                self.decode()
                getattr(self, f"{verb}_{lines.kind.lower()}")()
            if verb == "take" and lines.is_convolved:
                self._fill_up()
        name = f"{verb}_{self.name}" if verb == "convolve" else f"{verb}_{lines.kind.lower()}_{self.name}"
        units, flops = lines.count * chunks, 10 * lines.count * longest
        kernel = text.finish(name)
        grain = grain_of(units, flops, self.traffic)
        return Draft(kernel, tuple(text.buffers), tuple(text.dims), units, grain, flops, self.traffic)

    def _fill_up(self) -> None:
        zero = f"to_{self.name}(0.0)"
        start, stop = self.number("core", self.lines.core), self.number("size", self.lines.size)
        self.over(stop, 0, 0, lambda lane: self.store_number("k", lane, (zero, zero)), start)

    def _convolve(self) -> None:
        """Write the product with the filter's transform, parts exchanged: the next transform is the way back."""
        table = self.table("spectrum", spectrum(self.lines.core, self.complex))

        def body(lane: str) -> None:
            real, imag = self.product(self.pair(self.source, "dense + k"), self.pair(table, "k"))
            self.store_number("k", lane, (imag, real))

        self.over(self.number("size", self.lines.size), 0, 0, body)

    def lanes(self) -> Any:
        """Open the block for a line's first chunk."""
        return self.text.block("for v in range(begin, end):")

    def over(self, count: str, step: int, lane_step: int, body: Callable[[str], None], start: str = "0") -> None:
        """Write the loop over the elements of a chunk."""
        with self.text.block(f"for k in range(max({start}, begin), min({count}, begin + {CHUNK})):"):
            body("0")

    def place(self, side: int, lane: str, element: str) -> str:
        """Return the index of an element in the source (0) or the target (1)."""
        base, hint = ("origin", "step") if side == 0 else ("aim", "leap")
        return f"{base} + {self.times(f'({element})', hint, self.lines.steps[side])}"

    def store_number(self, element: str, lane: str, value: Parts) -> None:
        """Write the stores of a number into a dense line."""
        at = self.text.let(f"(dense + {element}) * 2", "at")
        self.store(self.target, at, value[0])
        self.store(self.target, f"{at} + 1", value[1])

    def load_number(self, element: str, lane: str) -> Parts:
        """Write the loads of a number of a dense line."""
        real, imag = self.pair(self.source, f"dense + {element}")
        return (imag, real) if self.lines.is_convolved else (real, imag)


def dense_lines(lines: Lines) -> Lines:
    """Return the transforms of dense lines that a pass makes."""
    n, size = lines.count, lines.size
    return Lines("FFT", size, (1, 1), (n, size, size), ())


def as_loops(lines: Lines) -> Lines:
    """Return the same lines, no two of them side by side."""
    return replace(lines, lane=(1, 0, 0), outer=merged([*lines.outer, lines.lane]))
