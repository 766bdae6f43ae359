"""Machine code of `numhlo.backend.primitives.lanes.ProductColumns`: sixteen vectors of columns that stay in registers.

LLVM finds no such code in loops: it makes vectors of innermost ones, and sums of outer ones would be in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types

from numhlo.backend.compiler.intrinsics.memory import alignment, register_type
from numhlo.backend.compiler.intrinsics.pointers import annotate, as_pointer, element_pointer, is_pointer
from numhlo.backend.compiler.intrinsics.registration import as_int64, implement, llvm_intrinsic, type_suffix
from numhlo.backend.compiler.intrinsics.vectors import (
    INDEX,
    WORD,
    first_lanes,
    masked_load,
    register_bytes,
    splat,
)
from numhlo.backend.primitives import lanes
from numhlo.backend.primitives.lanes import LANES, ProductColumns
from numhlo.lowering.ir.records import record

POINTERS = (0, 1, 4)
"""Which arguments are pointers; all others are integers."""


@record
class _Columns:
    """Writes the sums of a vector of columns.

    Attributes
    ----------
    values : list of ir.Value
        The word's arguments.
    pointers : list of types.Type
        Their types.
    mask : ir.Value or None
        Which columns of the vector there are; None where all are.
    """

    builder: ir.IRBuilder
    word: ProductColumns
    vector: ir.VectorType
    values: list[ir.Value]
    pointers: list[types.Type]
    mask: ir.Value | None = None

    def sum(self, column: ir.Value) -> None:
        """Write the sums of the columns from one on."""
        builder = self.builder
        out, count = self.values[0], self.values[7]
        none = splat(builder, ir.Constant(self.vector.element, -0.0), self.vector.count)
        with builder.goto_entry_block():
            sums = [builder.alloca(self.vector) for _ in range(LANES)]
        for place in sums:
            builder.store(none, place)
        whole = builder.and_(count, WORD(-LANES))
        with cgutils.for_range_slice(builder, WORD(0), whole, WORD(LANES), intp=WORD) as (row, _):
            self._take_rows(row, column, sums, None)
        self._take_rows(whole, column, sums[:-1], builder.sub(count, whole))
        totals = [builder.load(place) for place in sums]
        while len(totals) > 1:
            half = len(totals) // 2
            totals = [builder.fadd(lhs, rhs) for lhs, rhs in zip(totals[:half], totals[half:], strict=True)]
        self._store(totals[0], element_pointer(builder, out, column, self.vector.element))

    def _take_rows(self, row: ir.Value, column: ir.Value, sums: list[ir.Value], count: ir.Value | None) -> None:
        """Write the sums with a row for each lane from one on, or with ``count`` of them if that is given."""
        builder = self.builder
        _, left, first, step, right, second, stride, *_ = self.values
        number = builder.add(first, builder.mul(row, step))
        place = builder.add(builder.add(second, column), builder.mul(row, stride))
        for lane, total in enumerate(sums):
            if lane:
                number, place = builder.add(number, step), builder.add(place, stride)

            def take(total: ir.Value = total, number: ir.Value = number, place: ir.Value = place) -> None:
                element = self.vector.element
                factor = self._factor(element_pointer(builder, left, number, element))
                product = builder.fmul(factor, self._row(element_pointer(builder, right, place, element)))
                builder.store(builder.fadd(builder.load(total), product), total)

            if count is None:
                take()
                continue
            with builder.if_then(builder.icmp_signed("<", WORD(lane), count)):
                take()

    def _factor(self, place: ir.Value) -> ir.Value:
        """Load a row's number."""
        loaded = self.builder.load(place, align=alignment(self.word.storage))
        annotate(self.builder, loaded, self.pointers[1])
        return splat(self.builder, loaded, self.vector.count)

    def _row(self, place: ir.Value) -> ir.Value:
        """Load a row's columns."""
        size = alignment(self.word.storage)
        if self.mask is None:
            loaded = self.builder.load(as_pointer(self.builder, place, self.vector), align=size)
        else:
            loaded = masked_load(self.builder, place, self.mask, ir.Constant(self.vector, ir.Undefined), size)
        annotate(self.builder, loaded, self.pointers[4])
        return loaded

    def _store(self, sums: ir.Value, place: ir.Value) -> None:
        size, pointer = alignment(self.word.storage), as_pointer(self.builder, place, self.vector)
        if self.mask is None:
            stored = self.builder.store(sums, pointer, align=size)
        else:
            name = f"llvm.masked.store.v{self.vector.count}{type_suffix(self.vector.element)}.p0"
            stored = llvm_intrinsic(self.builder, name, ir.VoidType(), [sums, pointer, INDEX(size), self.mask])
        annotate(self.builder, stored, self.pointers[0])


def _implement(word: ProductColumns) -> None:
    @implement(word)
    def typed(  # noqa: PLR0913 - what the word takes
        typing_context: Any,
        out: types.Type,
        left: types.Type,
        first: types.Type,
        step: types.Type,
        right: types.Type,
        second: types.Type,
        stride: types.Type,
        count: types.Type,
        width: types.Type,
    ) -> Any:
        arguments = out, left, first, step, right, second, stride, count, width
        if not all(is_pointer(arguments[k]) for k in POINTERS):
            return None
        if not all(isinstance(t, types.Integer) for k, t in enumerate(arguments) if k not in POINTERS):
            return None
        return types.void(*arguments), _code_of(word)


def _code_of(word: ProductColumns) -> Callable[..., ir.Value]:
    def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
        element = context.get_data_type(register_type(word.storage))
        vector = ir.VectorType(element, register_bytes() // word.storage.dtype.itemsize)
        numbers = [
            value if k in POINTERS else as_int64(context, builder, value, signature.args[k])
            for k, value in enumerate(values)
        ]
        columns = _Columns(builder, word, vector, numbers, list(signature.args))
        width = numbers[-1]
        whole = builder.and_(width, WORD(-vector.count))
        with cgutils.for_range_slice(builder, WORD(0), whole, WORD(vector.count), intp=WORD) as (column, _):
            columns.sum(column)
        with builder.if_then(builder.icmp_signed("<", whole, width)):
            columns.mask = first_lanes(builder, builder.sub(width, whole), vector.count)
            columns.sum(whole)
        return context.get_dummy_value()

    return codegen


for _word in vars(lanes).values():
    if isinstance(_word, ProductColumns):
        _implement(_word)
