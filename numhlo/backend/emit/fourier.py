"""fft: lines side by side are copied together, transformed by Stockham's algorithm, and copied to where they belong.

A dozen lines go through every step at once, in memory of the unit's own, so that all arithmetic is SIMD code whatever
the length. Long lines, and few, are cut in two steps over shorter ones. What is done together depends on shapes alone,
so results have the same bits on any number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo.backend.emit.cost import CHUNK_NANOSECONDS, nanoseconds
from numhlo.backend.emit.draft import Draft
from numhlo.backend.emit.fourier_lines import (
    FEW_LINES,
    LONGEST_REAL,
    Lines,
    Loop,
    cut,
    factors,
    is_smooth,
    merged,
    radices,
    roots,
)
from numhlo.backend.emit.kernel_text import KernelText
from numhlo.backend.emit.registers import REGISTERS
from numhlo.backend.emit.tables import KERNELS, RootRule
from numhlo.backend.primitives.fourier import PART_BYTES, RADICES
from numhlo.backend.processors import available_processors
from numhlo.lowering.ir import Op, TensorType, Value
from numhlo.lowering.ops.fourier import COMPLEX_OF, FFT, REAL_OF

BLOCK_BYTES = 2 * PART_BYTES

COMMON = (2, 3, 4, 5)
"""Radices that every kernel has, so that one serves most lengths."""


def _refuse(op: Op) -> str:
    lengths = op.attributes["fft_length"]
    if op.operands[0].tensor.size == 0 or op.result.tensor.size == 0:
        return "there are no elements"
    for length in lengths:
        if not is_smooth(length):
            return f"its length {length} has a prime factor beyond 13"
    if op.attributes["fft_type"] in ("RFFT", "IRFFT") and lengths[-1] > LONGEST_REAL:
        return f"its real lines are longer than {LONGEST_REAL}"
    return ""


def emit_fft(op: Op, planner: Any) -> None:
    """Append a launch or two for every dimension that is transformed."""
    kind, lengths = op.attributes["fft_type"], tuple(op.attributes["fft_length"])
    source, access = planner.strided(op, 0)
    result = op.result
    planner.output(result)
    rank = result.tensor.ndim
    axes = [rank - 1, *range(rank - len(lengths), rank - 1)]
    if kind == "IRFFT":
        axes.reverse()
    shape, strides, offset = op.operands[0].tensor.shape, access.strides, access.offset
    dtype = result.tensor.dtype if result.tensor.dtype.kind == "c" else COMPLEX_OF[result.tensor.dtype]
    drafts: list[Draft] = []
    for number, axis in enumerate(axes):
        here = kind if axis == rank - 1 else kind.replace("R", "")
        length = lengths[axis - rank]
        extent = length // 2 + 1 if here == "RFFT" else length
        new = (*shape[:axis], extent, *shape[axis + 1 :])
        target = result
        if number < len(axes) - 1:
            target = planner.scratch(TensorType(new, dtype))
        lines = _lines(here, length, axis, (shape, strides, offset), new)
        drafts += _drafts(lines, source, target, planner)
        source, shape, offset = target, new, 0
        strides = _dense(new)
    planner.launch_root(op, drafts[0])
    for draft in drafts[1:]:
        planner.append(draft)


def _dense(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple([math.prod(shape[k + 1 :]) for k in range(len(shape))])


def _lines(kind: str, length: int, axis: int, source: Any, target: tuple[int, ...]) -> Lines:
    """Return the lines along an axis; those side by side lie along the last of the other loops that is long enough."""
    shape, strides, offset = source
    leaps = _dense(target)
    loops = list(merged([(shape[d], strides[d], leaps[d]) for d in range(len(shape)) if d != axis]))
    lane: Loop = (1, 0, 0)
    if loops:
        long = [k for k, (n, *_) in enumerate(loops) if n > FEW_LINES]
        lane = loops.pop(long[-1] if long else max(range(len(loops)), key=lambda k: loops[k][0]))
    scale = length if kind[0] == "I" else 0
    return Lines(kind, length, (strides[axis], leaps[axis]), lane, tuple(loops), offset, 0, scale)


def _drafts(lines: Lines, source: Value, target: Value, planner: Any) -> list[Draft]:
    parts = cut(lines)
    if parts is None:
        return [_Writer(lines, source, target, planner).write()]
    between = planner.scratch(TensorType((lines.count * lines.length,), source.tensor.dtype))
    return [
        _Writer(parts[0], source, between, planner).write(),
        _Writer(parts[1], between, target, planner).write(),
    ]


class _Writer:
    """Writes the kernel; a unit is a share of the tiles of lines, with memory of its own."""

    def __init__(self, lines: Lines, source: Value, target: Value, planner: Any) -> None:
        self.lines, self.planner, self.text = lines, planner, KernelText(planner.buffer)
        self._tables: dict[str, str] = {}
        given, made = source.tensor.dtype, target.tensor.dtype
        self.complex: np.dtype = given if given.kind == "c" else COMPLEX_OF[given]
        self.real = REAL_OF[self.complex]
        self.name = REGISTERS[self.real].name
        self.width = PART_BYTES // self.real.itemsize
        tiles = -(-lines.lane[0] // self.width)
        self.tiles = tiles * math.prod([n for n, *_ in lines.outer])
        self.flops = int(5 * lines.count * lines.length * (1 + math.log2(lines.length)))
        self.traffic = lines.count * lines.length * (given.itemsize + made.itemsize)
        parts = max(1, int(nanoseconds(self.flops, self.traffic) / CHUNK_NANOSECONDS))
        self.slots = min(self.tiles, available_processors(), parts)
        scratch = planner.scratch(TensorType((self.slots * 2 * lines.core * BLOCK_BYTES,), np.dtype(np.uint8)))
        self.source, self.target = self.text.pointer(source, "in"), self.text.pointer(target, "out")
        self.scratch = self.text.pointer(scratch, "scratch")

    def number(self, hint: str, value: int) -> str:
        return self.text.number(hint, value, hint)

    def _table(self, hint: str, table: np.ndarray) -> str:
        found = self._tables.get(hint)
        if found is None:
            found = self._tables[hint] = self.text.pointer(self.planner.table(table), hint)
        return found

    def times(self, index: str, hint: str, step: int) -> str:
        """Return the text of a multiple of a step."""
        return index if step == 1 else f"{index} * {self.number(hint, step)}"

    def load(self, pointer: str, index: str) -> str:
        return f"load_{self.name}({pointer}, {index})"

    def store(self, pointer: str, index: str, value: str) -> None:
        self.text.line(f"store_{self.name}({pointer}, {index}, {value})")

    def write(self) -> Draft:
        """Return the kernel."""
        text, lines = self.text, self.lines
        tiles, slots = self.number("tiles", self.tiles), self.number("slots", self.slots)
        size = self.number("bytes", lines.core * BLOCK_BYTES)
        with text.block("for unit in range(lo, hi):"):
            text.line(f"near = integer_address({self.scratch}) + unit * 2 * {size}")
            text.line(f"far = near + {size}")
            text.line(f"first_tile = divide(to_i64(unit * {tiles}), to_i64({slots}))")
            text.line(f"last_tile = divide(to_i64((unit + 1) * {tiles}), to_i64({slots}))")
            with text.block("for tile in range(first_tile, last_tile):"):
                self._tile()
        name = f"{lines.kind.lower()}_{self.name}"
        kernel = text.finish(name)
        return Draft(kernel, tuple(text.buffers), tuple(text.dims), self.slots, 1, self.flops, self.traffic)

    def _tile(self) -> None:
        text, lines = self.text, self.lines
        across = self.number("across", -(-lines.lane[0] // self.width))
        text.line(f"rest = divide(to_i64(tile), to_i64({across}))")
        text.line(f"first = (tile - rest * {across}) * {self.width}")
        text.line(f"last = min({self.width}, {self.number('lines', lines.lane[0])} - first) - 1")
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
        getattr(self, f"_take_{lines.kind.lower()}")()
        self._transform()
        getattr(self, f"_put_{lines.kind.lower()}")()

    def _transform(self) -> None:
        """Write the steps, to and fro between the two halves of the memory."""
        text, core = self.text, self.lines.core
        table, steps = self._table("roots", roots(core, self.complex)), self._table("radices", radices(core))
        text.line("here = near")
        text.line("there = far")
        text.line(f"left = to_i64({self.number('core', core)})")
        text.line("stride = to_i64(1)")
        with text.block(f"for step in range({self.number('steps', len(factors(core)))}):"):
            text.line(f"radix = load_i64({steps}, step)")
            text.line("left = divide(left, radix)")
            with text.block("for p in range(left):"):
                text.line(f"source = here + p * stride * {BLOCK_BYTES}")
                text.line(f"target = there + p * stride * radix * {BLOCK_BYTES}")
                for radix in COMMON if set(factors(core)) <= set(COMMON) else RADICES:
                    with text.block(f"if radix == {radix}:"):
                        text.line(
                            f"butterfly{radix}_{self.name}(source, target, stride, left * stride, stride, "
                            f"integer_address({table}), p * stride)"
                        )
            text.line("stride = stride * radix")
            text.line("other = here")
            text.line("here = there")
            text.line("there = other")

    # Copies

    def _over(self, count: str, step: int, lane_step: int, body: Callable[[str], None], start: str = "0") -> None:
        """Write the loops over elements and lanes, those inside that lie nearer to each other."""
        elements = f"for k in range({start}, {count}):"
        if abs(lane_step) >= abs(step):
            with self.text.block("for v in range(last + 1):"), self.text.block(elements):
                body("v")
            return
        for case, lanes in ((f"if last == {self.width - 1}:", str(self.width)), ("else:", "last + 1")):
            with (
                self.text.block(case),
                self.text.block(elements),
                self.text.block(f"for v in range({lanes}):"),
            ):
                body("v")

    def _place(self, side: int, lane: str, element: str) -> str:
        """Return the index of an element in the source (0) or the target (1)."""
        base, hint = ("origin", "step") if side == 0 else ("aim", "leap")
        lines = self.lines
        across = self.times(f"(first + {lane})", f"lane_{hint}", lines.lane[1 + side])
        return f"{base} + {across} + {self.times(f'({element})', hint, lines.steps[side])}"

    def _into(self, element: str, lane: str, real: str, imag: str) -> None:
        """Write the stores of a number into a block."""
        at = self.text.let(f"({element}) * {2 * self.width} + {lane}", "at")
        self.store("near", at, real)
        self.store("near", f"{at} + {self.width}", imag)

    def _from(self, element: str, lane: str) -> tuple[str, str]:
        """Write the loads of a number from a block of the result."""
        at = self.text.let(f"({element}) * {2 * self.width} + {lane}", "at")
        real, imag = (self.text.let(self.load("here", place), "part") for place in (at, f"{at} + {self.width}"))
        return real, imag

    def _given(self, lane: str, element: str) -> tuple[str, str]:
        """Write the loads of a number of a complex source."""
        at = self.text.let(f"({self._place(0, lane, element)}) * 2", "at")
        real, imag = (self.text.let(self.load(self.source, place), "part") for place in (at, f"{at} + 1"))
        return real, imag

    def _out(self, lane: str, element: str, real: str, imag: str) -> None:
        """Write the stores of a number of a complex result."""
        at = self.text.let(f"({self._place(1, lane, element)}) * 2", "at")
        self.store(self.target, at, self._scaled(real))
        self.store(self.target, f"{at} + 1", self._scaled(imag))

    def _scaled(self, value: str) -> str:
        if not self.lines.scale:
            return value
        factor = f"to_{self.name}(to_f64(1.0) / to_f64({self.number('scale', self.lines.scale)}))"
        return f"({value}) * {self.text.first(factor, 'factor')}"

    def _half(self) -> str:
        return self.text.first(f"to_{self.name}(0.5)", "half")

    def _root(self, index: str, length: int, hint: str) -> tuple[str, str]:
        """Write the loads of a root."""
        table = self._table(hint, roots(length, self.complex))
        at = self.text.let(f"({index}) * 2", "at")
        real, imag = (self.text.let(self.load(table, place), "root") for place in (at, f"{at} + 1"))
        return real, imag

    def _product(self, a: tuple[str, str], b: tuple[str, str]) -> tuple[str, str]:
        return (
            self.text.let(f"{a[0]} * {b[0]} - {a[1]} * {b[1]}", "real"),
            self.text.let(f"{a[0]} * {b[1]} + {a[1]} * {b[0]}", "imag"),
        )

    def _take_fft(self, *, swapped: bool = False) -> None:
        def body(lane: str) -> None:
            parts = self._given(lane, "k")
            self._into("k", lane, *(reversed(parts) if swapped else parts))

        self._over(self.number("core", self.lines.core), self.lines.steps[0], self.lines.lane[1], body)

    def _take_ifft(self) -> None:
        """The inverse exchanges the parts before and after."""
        self._take_fft(swapped=True)

    def _put_fft(self, *, swapped: bool = False) -> None:
        lines = self.lines

        def body(lane: str) -> None:
            value = self._from("k", lane)
            if lines.turns:
                value = self._product(value, self._root(f"(first + {lane}) * k", lines.turns, "turns"))
            self._out(lane, "k", *(reversed(value) if swapped else value))

        self._over(self.number("core", lines.core), lines.steps[1], lines.lane[2], body)

    def _put_ifft(self) -> None:
        self._put_fft(swapped=True)

    def _take_rfft(self) -> None:
        """Take pairs of neighbours as complex numbers, or numbers without imaginary part."""
        lines = self.lines

        def body(lane: str) -> None:
            if lines.core == lines.length:
                self._into("k", lane, self.load(self.source, self._place(0, lane, "k")), f"to_{self.name}(0.0)")
                return
            pair = [self.load(self.source, self._place(0, lane, f"2 * k{more}")) for more in ("", " + 1")]
            self._into("k", lane, *pair)

        self._over(self.number("core", lines.core), lines.steps[0], lines.lane[1], body)

    def _put_rfft(self) -> None:
        """Take what pairs have given apart: of ``z(k)`` and the conjugate of ``z(-k)``, sum and turned difference."""
        lines, half = self.lines, self._half()
        core = self.number("core", lines.core)
        if lines.core == lines.length:
            count = self.number("outputs", lines.length // 2 + 1)
            self._over(count, lines.steps[1], lines.lane[2], lambda v: self._out(v, "k", *self._from("k", v)))
            return
        zero = f"to_{self.name}(0.0)"
        with self.text.block("for v in range(last + 1):"):
            real, imag = self._from("0", "v")
            self._out("v", "0", f"{real} + {imag}", zero)
            self._out("v", core, f"{real} - {imag}", zero)

        def body(lane: str) -> None:
            (a, b), (c, d) = self._from("k", lane), self._from(f"{core} - k", lane)
            even = self.text.let(f"({a} + {c}) * {half}", "even"), self.text.let(f"({b} - {d}) * {half}", "even")
            odd = self.text.let(f"({b} + {d}) * {half}", "odd"), self.text.let(f"({c} - {a}) * {half}", "odd")
            turned = self._product(odd, self._root("k", lines.length, "turns"))
            self._out(lane, "k", f"{even[0]} + {turned[0]}", f"{even[1]} + {turned[1]}")

        self._over(core, lines.steps[1], lines.lane[2], body, "1")

    def _take_irfft(self) -> None:
        """Put pairs together, the inverse of what `_put_rfft` does; the first and last number count as real."""
        lines = self.lines
        core = self.number("core", lines.core)
        if lines.core == lines.length:
            self._take_odd_irfft()
            return
        with self.text.block("for v in range(last + 1):"):
            first, end = self._given("v", "0")[0], self._given("v", core)[0]
            self._into("0", "v", f"{first} - {end}", f"{first} + {end}")

        def body(lane: str) -> None:
            (a, b), (c, d) = self._given(lane, "k"), self._given(lane, f"{core} - k")
            even = self.text.let(f"{a} + {c}", "even"), self.text.let(f"{b} - {d}", "even")
            odd = self.text.let(f"{a} - {c}", "odd"), self.text.let(f"{b} + {d}", "odd")
            real, imag = self._root("k", lines.length, "turns")
            turned = self._product(odd, (real, self.text.let(f"-{imag}", "root")))
            self._into("k", lane, f"{even[1]} + {turned[0]}", f"{even[0]} - {turned[1]}")

        self._over(core, lines.steps[0], lines.lane[1], body, "1")

    def _take_odd_irfft(self) -> None:
        """Complete each line: its second half has the conjugates of the first."""
        lines = self.lines
        with self.text.block("for v in range(last + 1):"):
            self._into("0", "v", f"to_{self.name}(0.0)", self._given("v", "0")[0])

        def body(lane: str) -> None:
            real, imag = self._given(lane, "k")
            self._into("k", lane, imag, real)
            self._into(f"{self.number('core', lines.core)} - k", lane, f"-{imag}", real)

        count = self.number("inputs", lines.length // 2 + 1)
        self._over(count, lines.steps[0], lines.lane[1], body, "1")

    def _put_irfft(self) -> None:
        lines = self.lines

        def body(lane: str) -> None:
            imag, real = self._from("k", lane)
            if lines.core == lines.length:
                self.store(self.target, self._place(1, lane, "k"), self._scaled(real))
                return
            self.store(self.target, self._place(1, lane, "2 * k"), self._scaled(real))
            self.store(self.target, self._place(1, lane, "2 * k + 1"), self._scaled(imag))

        self._over(self.number("core", lines.core), lines.steps[1], lines.lane[2], body)


KERNELS.register(FFT)(RootRule(emit_fft, refuse=_refuse, strided=lambda op, number, access: not access.starts))
