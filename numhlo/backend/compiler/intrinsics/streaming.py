"""Machine code of `numhlo.backend.primitives.streaming`: lines are stored with a hint that nobody reads them soon."""

from __future__ import annotations

from typing import Any

from llvmlite import binding, ir
from numba.core import cgutils, types

from numhlo.backend.compiler.intrinsics.pointers import annotate, as_pointer, is_pointer
from numhlo.backend.compiler.intrinsics.registration import as_int64, implement, llvm_intrinsic
from numhlo.backend.compiler.intrinsics.vectors import WORD
from numhlo.backend.primitives import streaming
from numhlo.backend.primitives.streaming import LINE, PastLine, Stream

INT64, INT32 = ir.IntType(64), ir.IntType(32)


def _implement_stream(word: Stream) -> None:
    @implement(word)
    def typed(typing_context: Any, target: types.Type, first: types.Type, source: types.Type, count: types.Type) -> Any:
        numbers = (first, count)
        if not is_pointer(target) or not is_pointer(source) or not all(isinstance(t, types.Integer) for t in numbers):
            return None

        def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
            element = ir.IntType(8 * word.storage.dtype.itemsize)
            at, length = (as_int64(context, builder, values[k], signature.args[k]) for k in (1, 3))
            begin = builder.gep(as_pointer(builder, values[0], element), [at], inbounds=True)
            _Writer(builder, element, begin, as_pointer(builder, values[2], element), target).write(length)
            return context.get_dummy_value()

        return types.void(target, first, source, count), codegen


class _Writer:
    """Writes the loops of one piece: to the first line, over whole lines, from the last one on."""

    def __init__(
        self, builder: ir.IRBuilder, element: ir.Type, target: ir.Value, source: ir.Value, type: types.Type
    ) -> None:
        self.builder, self.target, self.source, self.type = builder, target, source, type
        self.size = element.width // 8
        self.lanes = LINE // self.size
        self.vector = ir.VectorType(element, self.lanes)

    def write(self, count: ir.Value) -> None:
        """Write the three loops."""
        builder = self.builder
        past = _past_line(builder, self.target, self.size)
        head = builder.and_(builder.sub(WORD(self.lanes), past), WORD(self.lanes - 1))
        head = builder.select(builder.icmp_signed("<", head, count), head, count)
        last = builder.add(head, builder.and_(builder.sub(count, head), WORD(-self.lanes)))
        self._singles(WORD(0), head)
        with cgutils.for_range_slice(builder, head, last, WORD(self.lanes), intp=WORD) as (index, _):
            places = [builder.gep(base, [index], inbounds=True) for base in (self.source, self.target)]
            source, target = (builder.bitcast(place, self.vector.as_pointer()) for place in places)
            stored = builder.store(builder.load(source, align=self.size), target, align=LINE)
            stored.set_metadata("nontemporal", builder.module.add_metadata([INT32(1)]))
            annotate(builder, stored, self.type)
        self._singles(last, count)

    def _singles(self, first: ir.Value, end: ir.Value) -> None:
        builder = self.builder
        with cgutils.for_range_slice(builder, first, end, WORD(1), intp=WORD) as (index, _):
            source, target = (builder.gep(base, [index], inbounds=True) for base in (self.source, self.target))
            annotate(builder, builder.store(builder.load(source, align=self.size), target, align=self.size), self.type)


def _past_line(builder: ir.IRBuilder, place: ir.Value, size: int) -> ir.Value:
    """Return how many elements lie between the begin of a line and a place in it."""
    inside = builder.and_(builder.ptrtoint(place, INT64), WORD(LINE - 1))
    return builder.udiv(inside, WORD(size))


def _implement_past_line(word: PastLine) -> None:
    @implement(word)
    def typed(typing_context: Any, pointer: types.Type, index: types.Type) -> Any:
        if not is_pointer(pointer) or not isinstance(index, types.Integer):
            return None

        def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
            size = word.storage.dtype.itemsize
            at = as_int64(context, builder, values[1], signature.args[1])
            return _past_line(builder, builder.gep(as_pointer(builder, values[0], ir.IntType(8 * size)), [at]), size)

        return types.int64(pointer, index), codegen


@implement(streaming.finish_streams)
def _finish_streams(typing_context: Any) -> Any:
    def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
        if binding.get_process_triple().startswith("x86_64"):
            llvm_intrinsic(builder, "llvm.x86.sse.sfence", ir.VoidType(), [])  # streams pass its ordinary stores
        else:
            builder.fence("seq_cst")
        return context.get_dummy_value()

    return types.void(), codegen


for _word in vars(streaming).values():
    if isinstance(_word, Stream):
        _implement_stream(_word)
    elif isinstance(_word, PastLine):
        _implement_past_line(_word)
