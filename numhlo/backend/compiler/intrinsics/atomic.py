"""Machine code of `numhlo.backend.primitives.atomic`."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types

from numhlo.backend.compiler.intrinsics.pointers import element_pointer, is_pointer
from numhlo.backend.compiler.intrinsics.registration import (
    Definition,
    as_int64,
    implement,
    llvm_intrinsic,
)
from numhlo.backend.primitives import atomic

INT64 = ir.IntType(64)


def _implement_cell(word: object, count: int, emit: Any, result: types.Type = types.int64) -> None:
    """Implement ``word(pointer, index, *values)`` with ``count`` int64 values."""

    def typed(typing_context: Any, pointer: types.Type, index: types.Type, *values: types.Type) -> Any:
        if not is_pointer(pointer) or not all(isinstance(t, types.Integer) for t in (index, *values)):
            return None

        def codegen(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> ir.Value:
            pairs = zip(arguments[1:], signature.args[1:], strict=True)
            at, *numbers = [as_int64(context, builder, v, t) for v, t in pairs]
            place = element_pointer(builder, arguments[0], at, INT64)
            outcome = emit(builder, place, *numbers)
            return context.get_dummy_value() if result == types.void else outcome

        return result(pointer, index, *values), codegen

    def typed_0(typing_context: Any, pointer: types.Type, index: types.Type) -> Any:
        return typed(typing_context, pointer, index)

    def typed_1(typing_context: Any, pointer: types.Type, index: types.Type, value: types.Type) -> Any:
        return typed(typing_context, pointer, index, value)

    def typed_2(typing_context: Any, pointer: types.Type, index: types.Type, a: types.Type, b: types.Type) -> Any:
        return typed(typing_context, pointer, index, a, b)

    definitions: tuple[Definition, ...] = (typed_0, typed_1, typed_2)  # Numba counts the parameters
    implement(word)(definitions[count])


def _compare_exchange(builder: ir.IRBuilder, place: ir.Value, expected: ir.Value, value: ir.Value) -> ir.Value:
    pair = builder.cmpxchg(place, expected, value, "seq_cst", "seq_cst")
    return builder.extract_value(pair, 0)


_implement_cell(atomic.atomic_add, 1, lambda b, p, v: b.atomic_rmw("add", p, v, "seq_cst"))
_implement_cell(atomic.atomic_exchange, 1, lambda b, p, v: b.atomic_rmw("xchg", p, v, "seq_cst"))
_implement_cell(atomic.atomic_compare_exchange, 2, _compare_exchange)
_implement_cell(atomic.load_acquire, 0, lambda b, p: b.load_atomic(p, "acquire", 8))
_implement_cell(atomic.store_release, 1, lambda b, p, v: b.store_atomic(v, p, "release", 8), types.void)


@implement(atomic.pause)
def _pause(typing_context: Any) -> Any:
    def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
        triple = context.codegen()._llvm_module.triple
        if triple.startswith("x86_64"):
            llvm_intrinsic(builder, "llvm.x86.sse2.pause", ir.VoidType(), [])
        elif triple.startswith(("aarch64", "arm64")):
            llvm_intrinsic(builder, "llvm.aarch64.hint", ir.VoidType(), [ir.IntType(32)(1)])
        return context.get_dummy_value()

    return types.void(), codegen
