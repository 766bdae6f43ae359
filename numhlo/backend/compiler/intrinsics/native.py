"""Machine code of `numhlo.backend.primitives.native`: calls by address, status and interrupt words."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.np import numpy_support

from numhlo.backend.compiler.intrinsics.pointers import (
    BYTE_POINTER,
    as_pointer,
    element_pointer,
    is_pointer,
)
from numhlo.backend.compiler.intrinsics.registration import as_int64, implement
from numhlo.backend.primitives import native
from numhlo.backend.primitives.layout import ATTEND, INTERRUPT, LIBRARY, STATUS
from numhlo.backend.primitives.native import MatrixProduct

INT64, INT32, INT8 = ir.IntType(64), ir.IntType(32), ir.IntType(8)
VOID = ir.VoidType()


def _all_integers(*found: types.Type) -> bool:
    return all(isinstance(t, types.Integer) for t in found)


def _word(builder: ir.IRBuilder, base: ir.Value, index: int) -> ir.Value:
    return builder.load(element_pointer(builder, base, INT64(index), INT64), align=8)


def _call(builder: ir.IRBuilder, function: ir.Value, result: ir.Type, arguments: list[ir.Value]) -> ir.Value:
    type = ir.FunctionType(result, [a.type for a in arguments])
    return builder.call(builder.inttoptr(function, type.as_pointer()), arguments)


@implement(native.call_kernel)
def _call_kernel(
    typing_context: Any,
    function: types.Type,
    ctx: types.Type,
    bufs: types.Type,
    dims: types.Type,
    lo: types.Type,
    hi: types.Type,
) -> Any:
    if not _all_integers(function, ctx, bufs, dims, lo, hi):
        return None

    def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
        words = [as_int64(context, builder, v, t) for v, t in zip(values, signature.args, strict=True)]
        _call(builder, words[0], VOID, words[1:])
        return context.get_dummy_value()

    return types.void(function, ctx, bufs, dims, lo, hi), codegen


@implement(native.call_function)
def _call_function(typing_context: Any, function: types.Type, *arguments: types.Type) -> Any:
    if len(arguments) == 1 and isinstance(arguments[0], types.BaseTuple):
        arguments = tuple(arguments[0].types)
    plain = [types.unliteral(t) for t in arguments]
    if not _all_integers(function) or not all(is_pointer(t) or t == types.float64 for t in plain):
        return None

    def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
        packed = values[1]
        words = []
        for k, type in enumerate(arguments):
            value = builder.extract_value(packed, k)
            words.append(as_int64(context, builder, value, type) if isinstance(type, types.Integer) else value)
        return _call(builder, values[0], INT64, words)

    return types.int64(function, types.StarArgTuple(arguments)), codegen


@implement(native.call_fortran)
def _call_fortran(typing_context: Any, function: types.Type, *arguments: types.Type) -> Any:
    if len(arguments) == 1 and isinstance(arguments[0], types.BaseTuple):
        arguments = tuple(arguments[0].types)
    if not _all_integers(function) or not all(is_pointer(types.unliteral(t)) for t in arguments):
        return None

    def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
        words = []
        for k, type in enumerate(arguments):
            value = builder.extract_value(values[1], k)
            words.append(as_int64(context, builder, value, type) if isinstance(type, types.Integer) else value)
        _call(builder, values[0], VOID, words)
        return context.get_dummy_value()

    return types.void(function, types.StarArgTuple(arguments)), codegen


@implement(native.library_function)
def _library_function(typing_context: Any, ctx: types.Type, index: types.Type) -> Any:
    if not _all_integers(ctx, index):
        return None

    def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
        at = as_int64(context, builder, values[1], signature.args[1])
        table = _word(builder, values[0], LIBRARY)
        return builder.load(element_pointer(builder, table, at, INT64), align=8)

    return types.int64(ctx, index), codegen


@implement(native.interrupted)
def _interrupted(typing_context: Any, ctx: types.Type) -> Any:
    if not _all_integers(ctx):
        return None

    def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
        ctx = values[0]
        flag = as_pointer(builder, _word(builder, ctx, INTERRUPT), INT64)
        raised = builder.icmp_signed("!=", builder.load_atomic(flag, "monotonic", 8), INT64(0))
        place = cgutils.alloca_once_value(builder, ir.IntType(1)(0))
        with builder.if_then(raised, likely=False):
            attend = _word(builder, _word(builder, ctx, LIBRARY), ATTEND)
            zero = INT64(0)
            builder.store(
                builder.icmp_signed("!=", _call(builder, attend, INT64, [ctx, zero, zero, zero, zero]), zero), place
            )
        return builder.load(place)

    return types.boolean(ctx), codegen


@implement(native.fail)
def _fail(typing_context: Any, ctx: types.Type, code: types.Type) -> Any:
    if not _all_integers(ctx, code):
        return None

    def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
        number = as_int64(context, builder, values[1], signature.args[1])
        place = element_pointer(builder, values[0], INT64(STATUS), INT64)
        builder.cmpxchg(place, INT64(0), number, "monotonic", "monotonic")
        return context.get_dummy_value()

    return types.void(ctx, code), codegen


def _implement_matrix_product(word: MatrixProduct) -> None:
    scalar = numpy_support.from_dtype(word.storage.register)

    @implement(word)
    def typed(  # noqa: PLR0913 - BLAS has that many
        typing_context: Any,
        ctx: types.Type,
        transpose_a: types.Type,
        transpose_b: types.Type,
        m: types.Type,
        n: types.Type,
        k: types.Type,
        alpha: types.Type,
        a: types.Type,
        lda: types.Type,
        b: types.Type,
        ldb: types.Type,
        beta: types.Type,
        c: types.Type,
        ldc: types.Type,
    ) -> Any:
        if not _all_integers(ctx, m, n, k, lda, ldb, ldc) or not all(map(is_pointer, (a, b, c))):
            return None
        if {types.unliteral(alpha), types.unliteral(beta)} != {scalar}:
            return None

        def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
            _emit_product(context, builder, word.index, signature.args, values)
            return context.get_dummy_value()

        found = (ctx, transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
        return types.void(*found), codegen


def _emit_product(context: Any, builder: ir.IRBuilder, index: int, found: Any, values: Any) -> None:
    """Call BLAS's column-major product for the transposes: ``C.T = op(B).T @ op(A).T``."""

    def integer(k: int) -> ir.Value:
        return _spill(builder, builder.trunc(as_int64(context, builder, values[k], found[k]), INT32))

    def letter(k: int) -> ir.Value:
        flag = context.cast(builder, values[k], found[k], types.boolean)
        return _spill(builder, builder.select(flag, INT8(ord("T")), INT8(ord("N"))))

    def scalar(k: int) -> ir.Value:
        return _spill(builder, context.data_model_manager[types.unliteral(found[k])].as_data(builder, values[k]))

    function = _word(builder, _word(builder, values[0], LIBRARY), index)
    a, b, c = (as_pointer(builder, values[k]) for k in (7, 9, 12))
    sizes = [integer(4), integer(3), integer(5)]
    operands = [b, integer(10), a, integer(8)]
    arguments = [letter(2), letter(1), *sizes, scalar(6), *operands, scalar(11), c, integer(13)]
    _call(builder, function, VOID, arguments)


def _spill(builder: ir.IRBuilder, value: ir.Value) -> ir.Value:
    slot = cgutils.alloca_once(builder, value.type)
    builder.store(value, slot)
    return builder.bitcast(slot, BYTE_POINTER)


for _word_of_source in list(vars(native).values()):
    if isinstance(_word_of_source, MatrixProduct):
        _implement_matrix_product(_word_of_source)
