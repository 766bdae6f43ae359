"""LLVM vectors: constants, loads of the first few lanes, lanes combined in halves."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from llvmlite import ir

from numhlo.backend.compiler.intrinsics.registration import llvm_intrinsic, type_suffix
from numhlo.backend.target import has_feature

WORD, INDEX, FLAG = ir.IntType(64), ir.IntType(32), ir.IntType(1)

Combine = Callable[[ir.Value, ir.Value], ir.Value]


@lru_cache
def register_bytes() -> int:
    """Return the bytes of the processor's vector registers."""
    if has_feature("avx512f"):
        return 64
    return 32 if has_feature("avx") else 16


def splat(builder: ir.IRBuilder, value: ir.Value, lanes: int) -> ir.Value:
    """Return a vector whose lanes are all ``value``."""
    type = ir.VectorType(value.type, lanes)
    if isinstance(value, ir.Constant):
        return ir.Constant(type, [value] * lanes)
    single = builder.insert_element(ir.Constant(type, ir.Undefined), value, INDEX(0))
    zeros = ir.Constant(ir.VectorType(INDEX, lanes), [INDEX(0)] * lanes)
    return builder.shuffle_vector(single, ir.Constant(type, ir.Undefined), zeros)


def first_lanes(builder: ir.IRBuilder, count: ir.Value, lanes: int) -> ir.Value:
    """Return the mask of the first ``count`` lanes."""
    numbers = ir.Constant(ir.VectorType(WORD, lanes), [WORD(k) for k in range(lanes)])
    return builder.icmp_unsigned("<", numbers, splat(builder, count, lanes))


def masked_load(builder: ir.IRBuilder, place: ir.Value, mask: ir.Value, filled: ir.Value, align: int) -> ir.Value:
    """Load the lanes of a mask from ``place`` on, a pointer to the first; the others are those of ``filled``."""
    type = filled.type
    pointer = builder.bitcast(place, type.as_pointer())
    name = f"llvm.masked.load.v{type.count}{type_suffix(type.element)}.p0"
    return llvm_intrinsic(builder, name, type, [pointer, INDEX(align), mask, filled])


def half(builder: ir.IRBuilder, vector: ir.Value, first: int, count: int) -> ir.Value:
    """Return ``count`` lanes of a vector."""
    chosen = ir.Constant(ir.VectorType(INDEX, count), [ir.Constant(INDEX, first + k) for k in range(count)])
    return builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), chosen)


def combine_halves(builder: ir.IRBuilder, vector: ir.Value, combine: Combine) -> ir.Value:
    """Return the lanes of a vector combined: lane ``l`` with ``l + n/2``, then with ``l + n/4``, ..."""
    count = vector.type.count // 2
    while count:
        vector = combine(half(builder, vector, 0, count), half(builder, vector, count, count))
        count //= 2
    return builder.extract_element(vector, INDEX(0))
