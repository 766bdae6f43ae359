"""What Fourier transforms read and write: lines of complex numbers, of real ones, and halves of symmetric lines.

A number of a line goes `into` the transform and comes `out` of it; where it is meanwhile is what `transforms.tiles` and
`transforms.passes` know. Even real lines are taken as half as many complex numbers. The inverse exchanges the parts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo.backend.emit.kernel_text import KernelText
from numhlo.backend.emit.registers import REGISTERS
from numhlo.backend.emit.transforms.lines import Lines, chirp, roots
from numhlo.lowering.ir import Value
from numhlo.lowering.ops.fourier import COMPLEX_OF, REAL_OF

Parts = tuple[str, str]
"""The names of a number's real and imaginary part."""


class LineCopies(ABC):
    """Writes how lines are read and written, while their kernel is written."""

    def __init__(self, lines: Lines, source: Value, target: Value, planner: Any) -> None:
        self.lines, self.planner, self.text = lines, planner, KernelText(planner.buffer)
        self._tables: dict[str, str] = {}
        given, made = source.tensor.dtype, target.tensor.dtype
        self.complex: np.dtype = given if given.kind == "c" else COMPLEX_OF[given]
        self.real = REAL_OF[self.complex]
        self.name = REGISTERS[self.real].name
        self.traffic = lines.count * lines.length * (given.itemsize + made.itemsize)
        self.source, self.target = self.text.pointer(source, "in"), self.text.pointer(target, "out")

    @abstractmethod
    def over(self, count: str, step: int, lane_step: int, body: Callable[[str], None], start: str = "0") -> None:
        """Write the loops over elements ``k`` and lanes, whose name the body gets."""

    @abstractmethod
    def lanes(self) -> Any:
        """Open the loop over lanes ``v`` alone, for what is done once a line."""

    @abstractmethod
    def place(self, side: int, lane: str, element: str) -> str:
        """Return the index of an element in the source (0) or the target (1)."""

    @abstractmethod
    def store_number(self, element: str, lane: str, value: Parts) -> None:
        """Write the stores of a number that is transformed."""

    @abstractmethod
    def load_number(self, element: str, lane: str) -> Parts:
        """Write the loads of a number of the result."""

    # Words

    def number(self, hint: str, value: int) -> str:
        """Return the name of a run-time number."""
        return self.text.number(hint, value, hint)

    def table(self, hint: str, table: np.ndarray) -> str:
        """Return the pointer to a table."""
        found = self._tables.get(hint)
        if found is None:
            found = self._tables[hint] = self.text.pointer(self.planner.table(table), hint)
        return found

    def times(self, index: str, hint: str, step: int) -> str:
        """Return the text of a multiple of a step."""
        return index if step == 1 else f"{index} * {self.number(hint, step)}"

    def load(self, pointer: str, index: str) -> str:
        """Return the text of a real number in memory."""
        return f"load_{self.name}({pointer}, {index})"

    def store(self, pointer: str, index: str, value: str) -> None:
        """Write the store of a real number."""
        self.text.line(f"store_{self.name}({pointer}, {index}, {value})")

    def decode(self) -> None:
        """Write the index of a line's first element in the source and the target; ``rest`` is the line's number."""
        text, lines = self.text, self.lines
        terms = [self.number("offset", lines.offset)], ["0"]
        for k, (extent, step, leap) in reversed(list(enumerate(lines.outer))):
            index = "rest"
            if k:
                n = self.number(f"extent{k}", extent)
                index = text.let(f"remainder(rest, to_i64({n}))", "index")
                text.line(f"rest = divide(rest, to_i64({n}))")
            terms[0].append(self.times(index, f"outer_step{k}", step))
            terms[1].append(self.times(index, f"outer_leap{k}", leap))
            if not k:
                break
        text.line(f"origin = {' + '.join(terms[0])}")
        text.line(f"aim = {' + '.join(terms[1])}")

    # Numbers

    def into(self, element: str, lane: str, real: str, imag: str) -> None:
        """Write what becomes of a number that is taken."""
        value = real, imag
        if self.lines.is_convolved:
            value = self.text.let(real, "part"), self.text.let(imag, "part")
            value = self.product(value, self.pair(self.table("chirp", chirp(self.lines.core, self.complex)), element))
        self.store_number(element, lane, value)

    def out_of(self, element: str, lane: str) -> Parts:
        """Return a number of the result."""
        value = self.load_number(element, lane)
        if not self.lines.is_convolved:
            return value
        return self.product(value, self.pair(self.table("chirp", chirp(self.lines.core, self.complex)), element))

    def pair(self, pointer: str, index: str) -> Parts:
        """Write the loads of a complex number."""
        at = self.text.let(f"({index}) * 2", "at")
        real, imag = (self.text.let(self.load(pointer, place), "part") for place in (at, f"{at} + 1"))
        return real, imag

    def _given(self, lane: str, element: str) -> Parts:
        return self.pair(self.source, self.place(0, lane, element))

    def _out(self, lane: str, element: str, real: str, imag: str) -> None:
        """Write the stores of a number of a complex result."""
        at = self.text.let(f"({self.place(1, lane, element)}) * 2", "at")
        self.store(self.target, at, self._scaled(real))
        self.store(self.target, f"{at} + 1", self._scaled(imag))

    def _scaled(self, value: str) -> str:
        if not self.lines.scale:
            return value
        factor = f"to_{self.name}(to_f64(1.0) / to_f64({self.number('scale', self.lines.scale)}))"
        return f"({value}) * {self.text.first(factor, 'factor')}"

    def _half(self) -> str:
        return self.text.first(f"to_{self.name}(0.5)", "half")

    def _root(self, index: str, length: int, hint: str) -> Parts:
        return self.pair(self.table(hint, roots(length, self.complex)), index)

    def product(self, a: Parts, b: Parts) -> Parts:
        """Write the product of two numbers."""
        return (
            self.text.let(f"{a[0]} * {b[0]} - {a[1]} * {b[1]}", "real"),
            self.text.let(f"{a[0]} * {b[1]} + {a[1]} * {b[0]}", "imag"),
        )

    def take_fft(self, *, swapped: bool = False) -> None:
        """Take numbers as they are."""

        def body(lane: str) -> None:
            parts = self._given(lane, "k")
            self.into("k", lane, *(reversed(parts) if swapped else parts))

        self.over(self.number("core", self.lines.core), self.lines.steps[0], self.lines.lane[1], body)

    def take_ifft(self) -> None:
        """The inverse exchanges the parts before and after."""
        self.take_fft(swapped=True)

    def put_fft(self, *, swapped: bool = False) -> None:
        """Put numbers as they are, or turned for the second step of a transform that is cut."""
        lines = self.lines

        def body(lane: str) -> None:
            value = self.out_of("k", lane)
            if lines.turns:
                value = self.product(value, self._root(f"(first + {lane}) * k", lines.turns, "turns"))
            self._out(lane, "k", *(reversed(value) if swapped else value))

        self.over(self.number("core", lines.core), lines.steps[1], lines.lane[2], body)

    def put_ifft(self) -> None:
        """Exchange the parts back."""
        self.put_fft(swapped=True)

    def take_rfft(self) -> None:
        """Take pairs of neighbours as complex numbers, or numbers without imaginary part."""
        lines = self.lines

        def body(lane: str) -> None:
            if lines.core == lines.length:
                self.into("k", lane, self.load(self.source, self.place(0, lane, "k")), f"to_{self.name}(0.0)")
                return
            pair = [self.load(self.source, self.place(0, lane, f"2 * k{more}")) for more in ("", " + 1")]
            self.into("k", lane, *pair)

        self.over(self.number("core", lines.core), lines.steps[0], lines.lane[1], body)

    def put_rfft(self) -> None:
        """Take what pairs have given apart: of ``z(k)`` and the conjugate of ``z(-k)``, sum and turned difference."""
        lines, half = self.lines, self._half()
        core = self.number("core", lines.core)
        if lines.core == lines.length:
            count = self.number("outputs", lines.length // 2 + 1)
            self.over(count, lines.steps[1], lines.lane[2], lambda v: self._out(v, "k", *self.out_of("k", v)))
            return
        zero = f"to_{self.name}(0.0)"
        with self.lanes():
            real, imag = self.out_of("0", "v")
            self._out("v", "0", f"{real} + {imag}", zero)
            self._out("v", core, f"{real} - {imag}", zero)

        def body(lane: str) -> None:
            (a, b), (c, d) = self.out_of("k", lane), self.out_of(f"{core} - k", lane)
            even = self.text.let(f"({a} + {c}) * {half}", "even"), self.text.let(f"({b} - {d}) * {half}", "even")
            odd = self.text.let(f"({b} + {d}) * {half}", "odd"), self.text.let(f"({c} - {a}) * {half}", "odd")
            turned = self.product(odd, self._root("k", lines.length, "turns"))
            self._out(lane, "k", f"{even[0]} + {turned[0]}", f"{even[1]} + {turned[1]}")

        self.over(core, lines.steps[1], lines.lane[2], body, "1")

    def take_irfft(self) -> None:
        """Put pairs together, the inverse of what `put_rfft` does; the first and last number count as real."""
        lines = self.lines
        core = self.number("core", lines.core)
        if lines.core == lines.length:
            self.take_odd_irfft()
            return
        with self.lanes():
            first, end = self._given("v", "0")[0], self._given("v", core)[0]
            self.into("0", "v", f"{first} - {end}", f"{first} + {end}")

        def body(lane: str) -> None:
            (a, b), (c, d) = self._given(lane, "k"), self._given(lane, f"{core} - k")
            even = self.text.let(f"{a} + {c}", "even"), self.text.let(f"{b} - {d}", "even")
            odd = self.text.let(f"{a} - {c}", "odd"), self.text.let(f"{b} + {d}", "odd")
            real, imag = self._root("k", lines.length, "turns")
            turned = self.product(odd, (real, self.text.let(f"-{imag}", "root")))
            self.into("k", lane, f"{even[1]} + {turned[0]}", f"{even[0]} - {turned[1]}")

        self.over(core, lines.steps[0], lines.lane[1], body, "1")

    def take_odd_irfft(self) -> None:
        """Complete each line: its second half has the conjugates of the first."""
        lines = self.lines
        with self.lanes():
            self.into("0", "v", f"to_{self.name}(0.0)", self._given("v", "0")[0])

        def body(lane: str) -> None:
            real, imag = self._given(lane, "k")
            self.into("k", lane, imag, real)
            self.into(f"{self.number('core', lines.core)} - k", lane, f"-{imag}", real)

        count = self.number("inputs", lines.length // 2 + 1)
        self.over(count, lines.steps[0], lines.lane[1], body, "1")

    def put_irfft(self) -> None:
        """Put the parts as neighbours, or real parts alone."""
        lines = self.lines

        def body(lane: str) -> None:
            imag, real = self.out_of("k", lane)
            if lines.core == lines.length:
                self.store(self.target, self.place(1, lane, "k"), self._scaled(real))
                return
            self.store(self.target, self.place(1, lane, "2 * k"), self._scaled(real))
            self.store(self.target, self.place(1, lane, "2 * k + 1"), self._scaled(imag))

        self.over(self.number("core", lines.core), lines.steps[1], lines.lane[2], body)
