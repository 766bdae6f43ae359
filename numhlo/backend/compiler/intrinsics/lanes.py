"""Machine code of `numhlo.backend.primitives.lanes`: a loop over vectors of sixteen, a tail, lanes in halves."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types

from numhlo.backend.compiler.intrinsics.memory import alignment, register_type
from numhlo.backend.compiler.intrinsics.pointers import annotate, as_pointer, element_pointer, is_pointer
from numhlo.backend.compiler.intrinsics.registration import as_int64, implement, llvm_intrinsic, type_suffix
from numhlo.backend.compiler.intrinsics.vectors import WORD, combine_halves, first_lanes, masked_load, splat
from numhlo.backend.primitives import lanes
from numhlo.backend.primitives.lanes import LANES, Lanes, ProductLanes

FREE_CHAINS = 4
"""Vectors side by side where the order has no effect on bits: enough to hide how long one step takes."""


def _combine(builder: ir.IRBuilder, name: str, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
    if name in ("add", "multiply"):
        return builder.fadd(lhs, rhs) if name == "add" else builder.fmul(lhs, rhs)
    type = lhs.type
    suffix = f"v{type.count}{type_suffix(type.element)}" if isinstance(type, ir.VectorType) else type_suffix(type)
    return llvm_intrinsic(builder, f"llvm.{name}.{suffix}", type, [lhs, rhs])


def _implement(word: Lanes) -> None:
    @implement(word)
    def typed(typing_context: Any, pointer: types.Type, first: types.Type, count: types.Type) -> Any:
        if not is_pointer(pointer) or not isinstance(first, types.Integer) or not isinstance(count, types.Integer):
            return None

        def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
            base = _base(context, builder, word, values[:2], signature.args[:2])
            number = as_int64(context, builder, values[2], signature.args[2])
            return _reduce(builder, word, [(pointer, base)], number)

        return register_type(word.storage)(pointer, first, count), codegen


def _implement_product(word: ProductLanes) -> None:
    @implement(word)
    def typed(
        typing_context: Any,
        left: types.Type,
        first: types.Type,
        right: types.Type,
        second: types.Type,
        count: types.Type,
    ) -> Any:
        if not (is_pointer(left) and is_pointer(right)):
            return None
        if not all(isinstance(t, types.Integer) for t in (first, second, count)):
            return None

        def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
            one = _base(context, builder, word, values[:2], signature.args[:2])
            two = _base(context, builder, word, values[2:4], signature.args[2:4])
            number = as_int64(context, builder, values[4], signature.args[4])
            return _reduce(builder, word, [(left, one), (right, two)], number)

        return register_type(word.storage)(left, first, right, second, count), codegen


def _base(context: Any, builder: ir.IRBuilder, word: Lanes | ProductLanes, values: Any, args: Any) -> ir.Value:
    element = context.get_data_type(register_type(word.storage))
    return element_pointer(builder, values[0], as_int64(context, builder, values[1], args[1]), element)


Sources = list[tuple[types.Type, ir.Value]]


def _load(builder: ir.IRBuilder, word: Lanes | ProductLanes, sources: Sources, index: ir.Value) -> ir.Value:
    """Load a vector from each source, and return their product."""
    product = None
    for pointer, base in sources:
        vector = ir.VectorType(base.type.pointee, LANES)
        place = as_pointer(builder, builder.gep(base, [index], inbounds=True), vector)
        loaded = builder.load(place, align=alignment(word.storage))
        annotate(builder, loaded, pointer)
        product = loaded if product is None else builder.fmul(product, loaded)
    return product


def _load_rest(
    builder: ir.IRBuilder, word: Lanes | ProductLanes, sources: Sources, index: ir.Value, count: ir.Value
) -> ir.Value:
    """Load the last ``count`` elements, fewer than a vector, likewise; the other lanes have the identity."""
    mask = first_lanes(builder, count, LANES)
    filled = splat(builder, ir.Constant(sources[0][1].type.pointee, word.identity), LANES)
    product = None
    for pointer, base in sources:
        place = builder.gep(base, [index], inbounds=True)
        loaded = masked_load(builder, place, mask, filled, alignment(word.storage))
        annotate(builder, loaded, pointer)
        product = loaded if product is None else builder.fmul(product, loaded)
    return product if len(sources) == 1 else builder.select(mask, product, filled)


def _reduce(builder: ir.IRBuilder, word: Lanes | ProductLanes, sources: Sources, count: ir.Value) -> ir.Value:
    element = sources[0][1].type.pointee
    vector = ir.VectorType(element, LANES)
    chains = 1 if word.name in ("add", "multiply") else FREE_CHAINS
    with builder.goto_entry_block():
        lanes = [builder.alloca(vector) for _ in range(chains)]
        for place in lanes:
            place.align = 64
    for place in lanes:
        builder.store(splat(builder, ir.Constant(element, word.identity), LANES), place)

    def take(chain: int, loaded: ir.Value) -> None:
        builder.store(_combine(builder, word.name, builder.load(lanes[chain]), loaded), lanes[chain])

    done: ir.Value = WORD(0)
    for width in dict.fromkeys((chains, 1)):
        whole = builder.sub(count, builder.urem(builder.sub(count, done), WORD(LANES * width)))
        with cgutils.for_range_slice(builder, done, whole, WORD(LANES * width), intp=WORD) as (index, _):
            for chain in range(width):
                take(chain, _load(builder, word, sources, builder.add(index, WORD(LANES * chain))))
        done = whole
    if chains > 1:
        with builder.if_then(builder.icmp_unsigned(">=", count, WORD(LANES * chains))):
            for place in lanes[1:]:
                take(0, builder.load(place))
    with builder.if_then(builder.icmp_unsigned("<", done, count)):
        take(0, _load_rest(builder, word, sources, done, builder.sub(count, done)))
    return combine_halves(builder, builder.load(lanes[0]), lambda lhs, rhs: _combine(builder, word.name, lhs, rhs))


for _word in vars(lanes).values():
    if isinstance(_word, Lanes):
        _implement(_word)
    elif isinstance(_word, ProductLanes):
        _implement_product(_word)
