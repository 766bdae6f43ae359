"""Convolution without copies: tiles of the result are summed in registers, from where the operands lie.

Where products and results begin are tables that the program keeps, so one kernel serves all shapes with equal tiles. A
tile at an edge begins earlier instead of being smaller: what two tiles share has the same bits in both.
"""

from __future__ import annotations

from typing import Any

from numhlo.backend.emit.convolutions.tiles import Nest, Tiling, origins_of, places_of
from numhlo.backend.emit.cost import grain_of
from numhlo.backend.emit.draft import Draft, Unknowns, remembered
from numhlo.backend.emit.kernel_text import BufferOf, KernelText
from numhlo.backend.emit.registers import REGISTERS, Register
from numhlo.backend.primitives.products import VECTOR_BYTES
from numhlo.lowering.ir import Op, Value

DEPTH = 1024
"""Products that are summed one after the other; sums of so many are added up."""

INPUT_BYTES = 1 << 22
"""What items read of the input, counted as often as it is read, before the next part of the kernel takes its turn."""

FEWEST_ITEMS = 16
"""That share a part of the kernel, where there are so many."""

FEWEST_UNITS = 16
"""Of a convolution that could be cut into so many: enough for some threads."""

FLOPS_PER_FLOP = 16
"""Of scalar code, in the time of one here."""


def emit_direct(op: Op, planner: Any, nest: Nest, tiling: Tiling, operands: tuple[Value, Value]) -> None:
    """Append the launch; the operands are the input and the kernel, as they are read."""
    planner.output(op.result)
    places, origins = planner.table(places_of(nest, from_input=tiling.from_input)), origins_of(nest, tiling)
    left, right = reversed(operands) if tiling.from_input else operands
    values = [left, right, op.result, places, planner.table(origins)]
    dtype = op.result.tensor.dtype
    flops = 2 * op.result.tensor.size * nest.depth
    traffic = dtype.itemsize * sum(value.tensor.size for value in values[:3])

    def write(unknowns: Unknowns) -> list[Draft]:
        writer = _Writer(tiling, REGISTERS[dtype], unknowns.buffer)
        return [writer.write([unknowns.value(v) for v in values], nest.depth, len(origins), flops, traffic)]

    (draft,) = remembered(
        lambda _: ("tiled convolution", dtype, tiling, nest.depth, len(origins), traffic), values, planner.buffer, write
    )
    planner.launch_root(op, draft, [value for value in operands if _is_of_program(value)])


def _is_of_program(value: Value) -> bool:
    """Return whether a value is one of the program's, and no copy that the planner made."""
    return isinstance(value.owner, Op) or value in value.owner.arguments


class _Writer:
    """Writes the kernel.

    A unit is a part of the kernel with some items: what of the input and of the result is worth staying in a cache.
    """

    def __init__(self, tiling: Tiling, register: Register, buffer_of: BufferOf) -> None:
        self.tiling, self.register = tiling, register
        self.text = KernelText(buffer_of)
        self.size = register.dtype.itemsize

    def number(self, key: str, value: int) -> str:
        return self.text.number(key, value, key)

    def stride(self, key: str, value: int) -> str:
        return "1" if value == 1 else self.number(key, value)

    def write(self, values: list[Value], depth: int, outer: int, flops: int, traffic: int) -> Draft:
        """Return the kernel; the values are both factors, the result, and the tables of places and origins."""
        text, tiling = self.text, self.tiling
        left, right, out, places, origins = map(text.pointer, values, ("rows", "vectors", "out", "places", "origins"))
        parts, per = tiling.blocks, tiling.tiles
        if not tiling.from_input:
            parts, per = per, parts
        items = outer * per
        chunk = min(self._items_together(depth), max(1, items * parts // FEWEST_UNITS))
        tile = text.stack_array("tile", tiling.rows * tiling.width, self.size)
        step = self.number("row_step", tiling.row.kernel if tiling.from_input else tiling.row.input)
        row_out = self.stride("row_out", tiling.row.out)
        with text.block("for unit in range(lo, hi):"):
            text.line(f"chunk = divide(to_i64(unit), to_i64({self.number('parts', parts)}))")
            text.line(f"part = unit - chunk * {self.number('parts', parts)}")
            each = self.number("each", chunk)
            bounds = f"chunk * {each}, min(chunk * {each} + {each}, {self.number('items', items)})"
            with text.block(f"for item in range({bounds}):"):
                text.line(f"origin = divide(to_i64(item), to_i64({self.number('per', per)}))")
                text.line(f"index = item - origin * {self.number('per', per)}")
                block, number = ("part", "index") if tiling.from_input else ("index", "part")
                height, length = self.number("height", tiling.row.extent), self.number("length", tiling.length)
                text.line(f"row = min({block} * {tiling.rows}, {height} - {tiling.rows})")
                text.line(f"start = min({number} * {tiling.width}, {length} - {tiling.width})")
                for name, base, place, more in (
                    ("factors", left, 0, f"row * {step}"),
                    ("lines", right, 1, "start"),
                    ("target", out, 2, f"row * {row_out}"),
                ):
                    text.line(
                        f"{name} = advance({base}, (load_i64({origins}, 3 * origin + {place}) + {more}) * {self.size})"
                    )
                self._sum(tile, step, places, self.number("depth", depth))
                self._store(tile, row_out)
        units = -(-items // chunk) * parts
        grain = grain_of(units, flops // FLOPS_PER_FLOP, traffic)
        kernel = text.finish(f"convolution_{self.register.name}")
        return Draft(kernel, tuple(text.buffers), tuple(text.dims), units, grain, flops, traffic)

    def _items_together(self, depth: int) -> int:
        """Return how many items' elements of the input stay in a cache."""
        side = self.tiling.width if self.tiling.from_input else self.tiling.rows
        return max(FEWEST_ITEMS, INPUT_BYTES // (depth * side * self.size))

    def _sum(self, tile: str, step: str, places: str, depth: str) -> None:
        text, tiling = self.text, self.tiling
        vectors = tiling.width * self.size // VECTOR_BYTES
        with text.block(f"for first in range(0, {depth}, {DEPTH}):"):
            text.line(
                f"product_tile_{self.register.name}({tiling.rows}, {vectors}, {tile}, factors, {step}, lines, "
                f"advance({places}, first * 16), min({DEPTH}, {depth} - first), first > 0)"
            )

    def _store(self, tile: str, row_out: str) -> None:
        """Write the copy of a tile into the result."""
        text, tiling = self.text, self.tiling
        if tiling.outer.extent == 1:
            self._copy(tile, row_out, "start", str(tiling.width), "0")
            return
        pitch, extent = self.number("pitch", tiling.pitch), self.number("extent", tiling.inner.extent)
        text.line(f"y = divide(to_i64(start), to_i64({pitch}))")
        text.line(f"x = start - y * {pitch}")
        text.line(f"target = advance(target, y * {self.stride('outer_out', tiling.outer.out)} * {self.size})")
        text.line("done = to_i64(0)")
        with text.block(f"while done < {tiling.width}:"):
            text.line(f"run = min({pitch} - x, {tiling.width} - done)")
            text.line(f"shown = min(run, {extent} - x)")
            self._copy(tile, row_out, "x", "shown", "done")
            text.line(f"target = advance(target, {self.stride('outer_out', tiling.outer.out)} * {self.size})")
            text.line("done = done + run")
            text.line("x = to_i64(0)")

    def _copy(self, tile: str, row_out: str, first: str, count: str, done: str) -> None:
        """Write the copy of some columns of a tile; what lies side by side in the result is the inner loop."""
        text, storage = self.text, self.register.storage
        across = self.stride("inner_out", self.tiling.inner.out)
        loops = [f"for i in range({self.tiling.rows}):", f"for j in range({count}):"]
        if row_out == "1":
            loops.reverse()
        with text.block(loops[0]), text.block(loops[1]):
            value = f"load_{storage}({tile}, i * {self.tiling.width} + {done} + j)"
            text.line(f"store_{storage}(target, i * {row_out} + ({first} + j) * {across}, {value})")
