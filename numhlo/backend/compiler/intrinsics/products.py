"""Machine code of `numhlo.backend.primitives.products`: a loop over the sum with the tile in registers.

Where registers are fewer or narrower than the tile wants them, parts of it follow each other.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types

from numhlo.backend.compiler.intrinsics.memory import alignment, register_type
from numhlo.backend.compiler.intrinsics.pointers import annotate, as_pointer, is_pointer
from numhlo.backend.compiler.intrinsics.registration import as_int64, implement
from numhlo.backend.compiler.intrinsics.vectors import WORD, register_bytes, splat
from numhlo.backend.primitives import products
from numhlo.backend.primitives.products import VECTOR_BYTES, ProductTile


@lru_cache
def _register_tile() -> tuple[int, int, int]:
    """Return the bytes of a vector register, and the rows and vectors of what fits in all of them."""
    width = register_bytes()
    if width == VECTOR_BYTES:
        return VECTOR_BYTES, products.MOST_VECTORS, products.MOST_VECTORS
    return (width, 4, 3) if width == 32 else (width, 4, 4)


def _implement(word: ProductTile) -> None:
    @implement(word)
    def typed(  # noqa: PLR0913 - what the word takes
        typing_context: Any,
        rows: types.Type,
        vectors: types.Type,
        tile: types.Type,
        left: types.Type,
        step: types.Type,
        right: types.Type,
        places: types.Type,
        count: types.Type,
        keep: types.Type,
    ) -> Any:
        if not all(isinstance(t, types.IntegerLiteral) for t in (rows, vectors)):
            return None
        if not all(is_pointer(t) for t in (tile, left, right, places)):
            return None

        def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
            element = context.get_data_type(register_type(word.storage))
            writer = _Writer(builder, word, element, signature.args)
            numbers = [as_int64(context, builder, values[k], signature.args[k]) for k in (4, 7)]
            writer.tile, writer.left, writer.right = (as_pointer(builder, values[k], element) for k in (2, 3, 5))
            writer.places = as_pointer(builder, values[6], WORD)
            writer.step, writer.count = numbers
            writer.keep = context.cast(builder, values[8], signature.args[8], types.boolean)
            writer.write(rows.literal_value, vectors.literal_value)
            return context.get_dummy_value()

        return types.void(rows, vectors, tile, left, step, right, places, count, keep), codegen


class _Writer:
    """Writes the loops of one tile."""

    tile: ir.Value
    left: ir.Value
    right: ir.Value
    places: ir.Value
    step: ir.Value
    count: ir.Value
    keep: ir.Value

    def __init__(self, builder: ir.IRBuilder, word: ProductTile, element: ir.Type, types: Any) -> None:
        self.builder, self.element, self.types = builder, element, types
        self.align = alignment(word.storage)
        self.itemsize = word.storage.dtype.itemsize

    def write(self, rows: int, vectors: int) -> None:
        """Write a loop for each part of the tile that fits in registers."""
        width, most_rows, most_vectors = _register_tile()
        lanes = width // self.itemsize
        count = vectors * VECTOR_BYTES // width
        self.line = count * lanes
        self.vector = ir.VectorType(self.element, lanes)
        for row in range(0, rows, most_rows):
            for first in range(0, count, most_vectors):
                places = range(row, min(row + most_rows, rows)), range(first, min(first + most_vectors, count))
                self._part(*places)

    def _part(self, rows: range, vectors: range) -> None:
        builder = self.builder
        sums = {}
        for i in rows:
            for j in vectors:
                with builder.goto_entry_block():
                    sums[i, j] = builder.alloca(self.vector)
                builder.store(splat(builder, ir.Constant(self.element, 0.0), self.vector.count), sums[i, j])
        with cgutils.for_range(builder, self.count, intp=WORD) as loop:
            at = builder.shl(loop.index, WORD(1))
            first, second = (self._place(builder.add(at, WORD(k))) for k in (0, 1))
            row = builder.gep(self.right, [second], inbounds=True)
            loaded = {j: self._vector(builder.gep(row, [WORD(j * self.vector.count)], inbounds=True)) for j in vectors}
            for i in rows:
                place = builder.gep(self.left, [builder.add(first, builder.mul(self.step, WORD(i)))], inbounds=True)
                number = builder.load(place, align=self.align)
                annotate(builder, number, self.types[3])
                factor = splat(builder, number, self.vector.count)
                for j in vectors:
                    product = builder.fmul(factor, loaded[j], flags=["contract"])
                    builder.store(builder.fadd(builder.load(sums[i, j]), product, flags=["contract"]), sums[i, j])
        with builder.if_then(self.keep):
            for place in sums.items():
                builder.store(
                    builder.fadd(builder.load(self._in_tile(*place[0]), align=self.align), builder.load(place[1])),
                    place[1],
                )
        for (i, j), place in sums.items():
            builder.store(builder.load(place), self._in_tile(i, j), align=self.align)

    def _in_tile(self, i: int, j: int) -> ir.Value:
        place = self.builder.gep(self.tile, [WORD(i * self.line + j * self.vector.count)], inbounds=True)
        return self.builder.bitcast(place, self.vector.as_pointer())

    def _place(self, index: ir.Value) -> ir.Value:
        loaded = self.builder.load(self.builder.gep(self.places, [index], inbounds=True), align=8)
        annotate(self.builder, loaded, self.types[6])
        return loaded

    def _vector(self, place: ir.Value) -> ir.Value:
        loaded = self.builder.load(self.builder.bitcast(place, self.vector.as_pointer()), align=self.align)
        annotate(self.builder, loaded, self.types[5])
        return loaded


for _word in vars(products).values():
    if isinstance(_word, ProductTile):
        _implement(_word)
