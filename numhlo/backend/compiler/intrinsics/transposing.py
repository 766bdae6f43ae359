"""Machine code of `numhlo.backend.primitives.transposing`: squares in registers, then what is left."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types

from numhlo.backend.compiler.intrinsics.pointers import FIRST_CACHE, annotate, as_pointer, ask_for, is_pointer
from numhlo.backend.compiler.intrinsics.registration import as_int64, implement
from numhlo.backend.compiler.intrinsics.vectors import INDEX, WORD, register_bytes
from numhlo.backend.primitives import transposing
from numhlo.backend.primitives.streaming import LINE
from numhlo.backend.primitives.transposing import TransposeTile

SIDES = {1: 16, 2: 8, 4: 4, 8: 4, 16: 1}
"""Of a square, by the bytes of an element.

Its vectors fit into registers on all machines, and few rows and columns are left over.
"""

LARGE_SIDES = {4: 8}
"""Of squares of such elements where registers are wide enough, in tiles that are large enough to ask for rows ahead."""

MOST_ALIGNED = 4
"""Bytes: wider elements may be pairs."""


def _implement(word: TransposeTile) -> None:
    @implement(word)
    def typed(
        typing_context: Any,
        tile: types.Type,
        pitch: types.Type,
        source: types.Type,
        first: types.Type,
        stride: types.Type,
        rows: types.Type,
        columns: types.Type,
        ahead: types.Type,
    ) -> Any:
        numbers = (pitch, first, stride, rows, columns)
        if not is_pointer(tile) or not is_pointer(source) or not all(isinstance(t, types.Integer) for t in numbers):
            return None
        if not isinstance(ahead, types.IntegerLiteral):
            return None

        def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
            size = word.storage.dtype.itemsize
            element = ir.VectorType(WORD, 2) if size == 16 else ir.IntType(8 * size)
            places = [as_pointer(builder, value, element) for value in (values[0], values[2])]
            words = [as_int64(context, builder, values[k], signature.args[k]) for k in (1, 3, 4, 5, 6)]
            _Writer(builder, element, size, places, words, source, ahead.literal_value).write()
            return context.get_dummy_value()

        return types.void(tile, pitch, source, first, stride, rows, columns, ahead), codegen


class _Writer:
    """Writes the loops of one tile."""

    def __init__(
        self,
        builder: ir.IRBuilder,
        element: ir.Type,
        size: int,
        places: list[ir.Value],
        words: list[ir.Value],
        type: types.Type,
        ahead: int,
    ) -> None:
        self.builder, self.element, self.type = builder, element, type
        self.size, self.side, self.align, self.ahead = size, SIDES[size], min(size, MOST_ALIGNED), ahead
        if ahead and LARGE_SIDES.get(size, self.side) * size <= register_bytes():
            self.side = LARGE_SIDES.get(size, self.side)
        self.tile, source = places
        self.pitch, first, self.stride, self.rows, self.columns = words
        self.source = builder.gep(source, [first], inbounds=True)
        self.vector = ir.VectorType(element, self.side) if self.side > 1 else element

    def write(self) -> None:
        """Write the loop over squares, and two over the rows and columns that are left."""
        builder, side = self.builder, self.side
        rows, columns = (builder.and_(n, WORD(-side)) for n in (self.rows, self.columns))
        with self._loop(WORD(0), rows, side) as i:
            first = self._asking(i, columns) if self.ahead else WORD(0)
            with self._loop(first, columns, side) as j:
                self._square(i, j)
        with self._loop(rows, self.rows, 1) as i, self._loop(WORD(0), self.columns, 1) as j:
            self._single(i, j)
        with self._loop(columns, self.columns, 1) as j, self._loop(WORD(0), rows, 1) as i:
            self._single(i, j)

    def _loop(self, first: ir.Value, end: ir.Value, step: int) -> Any:
        return _Index(cgutils.for_range_slice(self.builder, first, end, WORD(step), intp=WORD))

    def _from(self, i: ir.Value, j: ir.Value) -> ir.Value:
        at = self.builder.add(self.builder.mul(i, self.stride), j)
        return self.builder.gep(self.source, [at], inbounds=True)

    def _to(self, i: ir.Value, j: ir.Value) -> ir.Value:
        at = self.builder.add(self.builder.mul(j, self.pitch), i)
        return self.builder.gep(self.tile, [at], inbounds=True)

    def _single(self, i: ir.Value, j: ir.Value) -> None:
        loaded = self.builder.load(self._from(i, j), align=self.align)
        annotate(self.builder, loaded, self.type)
        self.builder.store(loaded, self._to(i, j), align=self.align)

    def _asking(self, i: ir.Value, columns: ir.Value) -> ir.Value:
        """Write squares side by side, as many as have whole lines, and ask for lines ahead; return where they end.

        The line after them is asked for, too: rows may begin inside lines.
        """
        builder, across = self.builder, max(LINE // self.size, self.side)
        end = builder.and_(columns, WORD(-across))
        source, size = builder.ptrtoint(self.source, WORD), WORD(self.size)
        rows = [builder.add(i, WORD(self.ahead + k)) for k in range(self.side)]
        asked = [builder.add(source, builder.mul(builder.mul(row, self.stride), size)) for row in rows]
        with self._loop(WORD(0), end, across) as first:
            for place in asked:
                ask_for(builder, builder.add(place, builder.mul(first, size)), FIRST_CACHE)
            with self._loop(first, builder.add(first, WORD(across)), self.side) as j:
                self._square(i, j)
        for place in asked:
            ask_for(builder, builder.add(place, builder.mul(end, size)), FIRST_CACHE)
        return end

    def _square(self, i: ir.Value, j: ir.Value) -> None:
        """Interleave the rows of both halves, again and again: then they are columns."""
        builder = self.builder
        rows = []
        for k in range(self.side):
            place = builder.bitcast(self._from(builder.add(i, WORD(k)), j), self.vector.as_pointer())
            rows.append(builder.load(place, align=self.align))
            annotate(builder, rows[-1], self.type)
        half = self.side // 2
        for _ in range(self.side.bit_length() - 1):
            pairs = [(rows[k], rows[k + half]) for k in range(half)]
            rows = [self._interleaved(*pair, first) for pair in pairs for first in (0, half)]
        for k, column in enumerate(rows):
            place = builder.bitcast(self._to(i, builder.add(j, WORD(k))), self.vector.as_pointer())
            builder.store(column, place, align=self.align)

    def _interleaved(self, lhs: ir.Value, rhs: ir.Value, first: int) -> ir.Value:
        """Return elements of two vectors in turns, from lane ``first`` on."""
        lanes = [INDEX(first + k // 2 + self.side * (k % 2)) for k in range(self.side)]
        return self.builder.shuffle_vector(lhs, rhs, ir.Constant(ir.VectorType(INDEX, self.side), lanes))


class _Index:
    """A loop of which only the index is wanted."""

    def __init__(self, loop: Any) -> None:
        self._loop = loop

    def __enter__(self) -> ir.Value:
        index, _ = self._loop.__enter__()
        return index

    def __exit__(self, *caught: object) -> None:
        self._loop.__exit__(*caught)


for _word in vars(transposing).values():
    if isinstance(_word, TransposeTile):
        _implement(_word)
