"""The kernel of one Fourier transform: lines side by side are copied together, transformed, and copied to their places.

A dozen lines go through every step of Stockham's algorithm at once, in memory of the unit's own, so that all arithmetic
is SIMD code whatever the length. Lengths of other primes than there are radices are convolutions (Bluestein 1970).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo.backend.emit.cost import CHUNK_NANOSECONDS, nanoseconds
from numhlo.backend.emit.draft import Draft
from numhlo.backend.emit.transforms.copies import LineCopies, Parts
from numhlo.backend.emit.transforms.lines import factors, radices, roots, spectrum
from numhlo.backend.primitives.fourier import PART_BYTES, RADICES
from numhlo.backend.processors import available_processors
from numhlo.lowering.ir import TensorType

BLOCK_BYTES = 2 * PART_BYTES

TURN = 16
"""Elements of a line that are copied before it is the next line's turn: of so many, blocks fit into the first cache."""

COMMON = (2, 3, 4, 5)
"""Radices that every kernel has, so that one serves most lengths."""


class TileWriter(LineCopies):
    """Writes the kernel; a unit is a share of the tiles of lines, with memory of its own."""

    @property
    def width(self) -> int:
        """Return the number of lines side by side."""
        return PART_BYTES // self.real.itemsize

    def write(self) -> Draft:
        """Return the kernel."""
        text, lines = self.text, self.lines
        count = -(-lines.lane[0] // self.width) * math.prod([n for n, *_ in lines.outer])
        parts = max(1, int(nanoseconds(lines.flops, self.traffic) / CHUNK_NANOSECONDS))
        units = min(count, available_processors(), parts)
        memory = self.planner.scratch(TensorType((units * 2 * lines.size * BLOCK_BYTES,), np.dtype(np.uint8)))
        scratch = text.pointer(memory, "scratch")
        tiles, slots = self.number("tiles", count), self.number("slots", units)
        size = self.number("bytes", lines.size * BLOCK_BYTES)
        with text.block("for unit in range(lo, hi):"):
            text.line(f"near = integer_address({scratch}) + unit * 2 * {size}")
            text.line(f"far = near + {size}")
            text.line(f"first_tile = divide(to_i64(unit * {tiles}), to_i64({slots}))")
            text.line(f"last_tile = divide(to_i64((unit + 1) * {tiles}), to_i64({slots}))")
            with text.block("for tile in range(first_tile, last_tile):"):
                self._tile()
        kernel = text.finish(f"{lines.kind.lower()}_{self.name}")
        return Draft(kernel, tuple(text.buffers), tuple(text.dims), units, 1, lines.flops, self.traffic)

    def _tile(self) -> None:
        text, lines = self.text, self.lines
        across = self.number("across", -(-lines.lane[0] // self.width))
        text.line(f"rest = divide(to_i64(tile), to_i64({across}))")
        text.line(f"first = (tile - rest * {across}) * {self.width}")
        text.line(f"last = min({self.width}, {self.number('lines', lines.lane[0])} - first) - 1")
        self.decode()
        getattr(self, f"take_{lines.kind.lower()}")()
        if lines.is_convolved:
            self._fill_up()
        text.line("here = near")
        text.line("there = far")
        self._transform()
        if lines.is_convolved:
            self._convolve()
            self._transform()
        getattr(self, f"put_{lines.kind.lower()}")()

    def _transform(self) -> None:
        """Write the steps, to and fro between the two halves of the memory."""
        text, size = self.text, self.lines.size
        table, steps = self.table("roots", roots(size, self.complex)), self.table("radices", radices(size))
        text.line(f"left = to_i64({self.number('size', size)})")
        text.line("stride = to_i64(1)")
        with text.block(f"for step in range({self.number('steps', len(factors(size)))}):"):
            text.line(f"radix = load_i64({steps}, step)")
            text.line("left = divide(left, radix)")
            with text.block("for p in range(left):"):
                text.line(f"source = here + p * stride * {BLOCK_BYTES}")
                text.line(f"target = there + p * stride * radix * {BLOCK_BYTES}")
                for radix in COMMON if set(factors(size)) <= set(COMMON) else RADICES:
                    with text.block(f"if radix == {radix}:"):
                        text.line(
                            f"butterfly{radix}_{self.name}(source, target, stride, left * stride, stride, "
                            f"integer_address({table}), p * stride)"
                        )
            text.line("stride = stride * radix")
            text.line("other = here")
            text.line("here = there")
            text.line("there = other")

    def _fill_up(self) -> None:
        """Write the zeros behind the line."""
        start, stop = self.number("core", self.lines.core), self.number("size", self.lines.size)
        with self.text.block(f"for k in range({start} * {2 * self.width}, {stop} * {2 * self.width}):"):
            self.store("near", "k", f"to_{self.name}(0.0)")

    def _convolve(self) -> None:
        """Write the product with the filter's transform, parts exchanged: the next transform is the way back."""
        table = self.table("spectrum", spectrum(self.lines.core, self.complex))
        with self.text.block(f"for k in range({self.number('size', self.lines.size)}):"):
            factor = self.pair(table, "k")
            with self.text.block(f"for v in range({self.width}):"):
                real, imag = self.product(self._parts("here", "k", "v"), factor)
                self._store_parts("here", "k", "v", (imag, real))

    # Copies

    def lanes(self) -> Any:
        """Open the loop over the lines that there are."""
        return self.text.block("for v in range(last + 1):")

    def over(self, count: str, step: int, lane_step: int, body: Callable[[str], None], start: str = "0") -> None:
        """Write the loops over elements and lanes, those inside that lie nearer to each other.

        Where these are elements, the lines take turns: blocks that all of them have filled, or emptied, leave the first
        cache once and not once for each line.
        """
        elements = f"for k in range({start}, {count}):"
        if abs(lane_step) >= abs(step):
            with (
                self.text.block(f"for turn in range({start}, {count}, {TURN}):"),
                self.text.block("for v in range(last + 1):"),
                self.text.block(f"for k in range(turn, min(turn + {TURN}, {count})):"),
            ):
                body("v")
            return
        for case, lanes in ((f"if last == {self.width - 1}:", str(self.width)), ("else:", "last + 1")):
            with (
                self.text.block(case),
                self.text.block(elements),
                self.text.block(f"for v in range({lanes}):"),
            ):
                body("v")

    def place(self, side: int, lane: str, element: str) -> str:
        """Return the index of an element in the source (0) or the target (1)."""
        base, hint = ("origin", "step") if side == 0 else ("aim", "leap")
        lines = self.lines
        across = self.times(f"(first + {lane})", f"lane_{hint}", lines.lane[1 + side])
        return f"{base} + {across} + {self.times(f'({element})', hint, lines.steps[side])}"

    def store_number(self, element: str, lane: str, value: Parts) -> None:
        """Write the stores of a number into a block."""
        self._store_parts("near", element, lane, value)

    def load_number(self, element: str, lane: str) -> Parts:
        """Write the loads of a number from a block of the result."""
        real, imag = self._parts("here", element, lane)
        return (imag, real) if self.lines.is_convolved else (real, imag)

    def _store_parts(self, blocks: str, element: str, lane: str, value: Parts) -> None:
        at = self.text.let(f"({element}) * {2 * self.width} + {lane}", "at")
        self.store(blocks, at, value[0])
        self.store(blocks, f"{at} + {self.width}", value[1])

    def _parts(self, blocks: str, element: str, lane: str) -> Parts:
        at = self.text.let(f"({element}) * {2 * self.width} + {lane}", "at")
        real, imag = (self.text.let(self.load(blocks, place), "part") for place in (at, f"{at} + {self.width}"))
        return real, imag
