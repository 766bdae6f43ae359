"""Machine code of `numhlo.backend.primitives.memory`: addresses, loads, stores, rounding to narrow floats."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.np import numpy_support

from numhlo.backend.compiler.intrinsics.narrow import narrow_bits, round_float, rounded_bits, widen_bits
from numhlo.backend.compiler.intrinsics.pointers import (
    BYTE_POINTER,
    FIRST_CACHE,
    SECOND_CACHE,
    BufferPointer,
    annotate,
    as_pointer,
    ask_for,
    element_pointer,
    is_pointer,
)
from numhlo.backend.compiler.intrinsics.registration import as_int64, implement
from numhlo.backend.primitives import memory
from numhlo.backend.primitives.memory import Load, Round, Store, StoreRounded
from numhlo.backend.primitives.storage import Storage

INT64 = ir.IntType(64)
INT32 = ir.IntType(32)
INT8 = ir.IntType(8)
SPLITTABLE_BYTES = 1024
"""LLVM tries to split stack arrays into registers, in time quadratic in their size; larger ones hide their size."""
FLOAT = ir.FloatType()


def register_type(storage: Storage) -> types.Type:
    """Return the Numba type of an element in a register."""
    return numpy_support.from_dtype(storage.register)


def memory_type(context: Any, storage: Storage) -> ir.Type:
    """Return the LLVM type of an element in memory: bits for narrow floats, a byte for booleans."""
    if storage.name == "bool" or storage.dtype != storage.register:
        return ir.IntType(8 * storage.dtype.itemsize)
    return context.get_data_type(register_type(storage))


def from_memory(context: Any, builder: ir.IRBuilder, storage: Storage, raw: ir.Value) -> ir.Value:
    """Turn what was loaded into the register's value."""
    if storage.name == "bool":
        return builder.icmp_unsigned("!=", raw, raw.type(0))
    if storage.name in ("i2", "i4", "u2", "u4"):
        unused = INT8(8 - int(storage.name[1:]))
        shift = builder.ashr if storage.name[0] == "i" else builder.lshr
        return shift(builder.shl(raw, unused), unused)
    if storage.dtype != storage.register:
        return widen_bits(context, builder, storage, raw)
    return context.data_model_manager[register_type(storage)].from_data(builder, raw)


def to_memory(context: Any, builder: ir.IRBuilder, storage: Storage, value: ir.Value) -> ir.Value:
    """Turn a register's value into what is stored."""
    if storage.name == "bool":
        return builder.zext(value, INT8)
    if storage.name in ("i2", "i4", "u2", "u4"):
        return builder.and_(value, INT8((1 << int(storage.name[1:])) - 1))
    if storage.dtype != storage.register:
        return narrow_bits(context, builder, storage, value)
    return context.data_model_manager[register_type(storage)].as_data(builder, value)


def alignment(storage: Storage) -> int:
    """Return the alignment of an element in bytes."""
    return storage.dtype.alignment


def _implement_load(load: Load) -> None:
    storage = load.storage

    @implement(load)
    def typed(typing_context: Any, pointer: types.Type, index: types.Type) -> Any:
        if not is_pointer(pointer) or not isinstance(index, types.Integer):
            return None

        def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
            element = memory_type(context, storage)
            at = as_int64(context, builder, values[1], signature.args[1])
            place = element_pointer(builder, values[0], at, element)
            raw = builder.load(place, align=alignment(storage))
            annotate(builder, raw, pointer)
            return from_memory(context, builder, storage, raw)

        return register_type(storage)(pointer, index), codegen


def _implement_store(store: Store | StoreRounded) -> None:
    storage = store.storage

    @implement(store)
    def typed(typing_context: Any, pointer: types.Type, index: types.Type, value: types.Type) -> Any:
        expected = register_type(storage)
        if not is_pointer(pointer) or not isinstance(index, types.Integer) or types.unliteral(value) != expected:
            return None

        def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
            element = memory_type(context, storage)
            at = as_int64(context, builder, values[1], signature.args[1])
            place = element_pointer(builder, values[0], at, element)
            word = context.cast(builder, values[2], signature.args[2], expected)
            if isinstance(store, StoreRounded):
                raw = rounded_bits(context, builder, storage, word)
            else:
                raw = to_memory(context, builder, storage, word)
            annotate(builder, builder.store(raw, place, align=alignment(storage)), pointer)
            return context.get_dummy_value()

        return types.void(pointer, index, value), codegen


def _implement_round(word: Round) -> None:
    storage = word.storage

    @implement(word)
    def typed(typing_context: Any, value: types.Type) -> Any:
        if types.unliteral(value) != types.float32:
            return None

        def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
            return round_float(context, builder, storage, values[0])

        return types.float32(value), codegen


def implement_all(module: Any) -> None:
    """Implement every load, store and rounding among a module's names."""
    for word in vars(module).values():
        if isinstance(word, Load):
            _implement_load(word)
        elif isinstance(word, Store | StoreRounded):
            _implement_store(word)
        elif isinstance(word, Round):
            _implement_round(word)


implement_all(memory)


def _load_invariant(builder: ir.IRBuilder, base: ir.Value, index: ir.Value, type: ir.Type) -> ir.Value:
    value = builder.load(element_pointer(builder, base, index, type), align=8)
    value.set_metadata("invariant.load", builder.module.add_metadata([]))
    return value


@implement(memory.address)
def _address(typing_context: Any, bufs: types.Type, number: types.Type) -> Any:
    if not isinstance(bufs, types.Integer) or not isinstance(number, types.Integer):
        return None
    scope = number.literal_value if isinstance(number, types.IntegerLiteral) else None

    def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
        index = as_int64(context, builder, values[1], signature.args[1])
        return _load_invariant(builder, values[0], index, BYTE_POINTER)

    return BufferPointer(scope)(bufs, number), codegen


@implement(memory.number)
def _number(typing_context: Any, dims: types.Type, index: types.Type) -> Any:
    if not isinstance(dims, types.Integer) or not isinstance(index, types.Integer):
        return None

    def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
        at = as_int64(context, builder, values[1], signature.args[1])
        return _load_invariant(builder, values[0], at, INT64)

    return types.int64(dims, index), codegen


@implement(memory.advance)
def _advance(typing_context: Any, pointer: types.Type, nbytes: types.Type) -> Any:
    if not is_pointer(pointer) or not isinstance(nbytes, types.Integer):
        return None
    result = pointer if isinstance(pointer, BufferPointer) else types.int64

    def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
        distance = as_int64(context, builder, values[1], signature.args[1])
        if result == types.int64:
            return builder.add(as_int64(context, builder, values[0], signature.args[0]), distance)
        return element_pointer(builder, values[0], distance, INT8)

    return result(pointer, nbytes), codegen


def _implement_prefetch(word: Any, locality: int) -> None:
    @implement(word)
    def typed(typing_context: Any, pointer: types.Type, nbytes: types.Type) -> Any:
        if not is_pointer(pointer) or not isinstance(nbytes, types.Integer):
            return None

        def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
            distance = as_int64(context, builder, values[1], signature.args[1])
            ask_for(builder, builder.add(builder.ptrtoint(as_pointer(builder, values[0]), INT64), distance), locality)
            return context.get_dummy_value()

        return types.void(pointer, nbytes), codegen


_implement_prefetch(memory.prefetch, SECOND_CACHE)
_implement_prefetch(memory.prefetch_near, FIRST_CACHE)


@implement(memory.integer_address)
def _integer_address(typing_context: Any, pointer: types.Type) -> Any:
    if not is_pointer(pointer):
        return None

    def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
        return builder.ptrtoint(as_pointer(builder, values[0]), INT64)

    return types.int64(pointer), codegen


@implement(memory.stack_array)
def _stack_array(typing_context: Any, count: types.Type, itemsize: types.Type) -> Any:
    if not isinstance(count, types.IntegerLiteral) or not isinstance(itemsize, types.IntegerLiteral):
        return None
    nbytes = count.literal_value * itemsize.literal_value

    def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
        if nbytes <= SPLITTABLE_BYTES:
            memory_block = cgutils.alloca_once(builder, ir.ArrayType(INT8, nbytes))
            memory_block.align = 64
            return builder.bitcast(memory_block, BYTE_POINTER)
        with builder.goto_entry_block():
            hidden = builder.alloca(INT64)
            builder.store_atomic(ir.Constant(INT64, nbytes), hidden, "monotonic", 8)
            size = builder.load_atomic(hidden, "monotonic", 8)
            memory_block = builder.alloca(INT8, size=size)
            memory_block.align = 64
        return memory_block

    return BufferPointer(None)(count, itemsize), codegen
