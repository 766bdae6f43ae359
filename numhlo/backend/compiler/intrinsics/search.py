"""Machine code of `numhlo.backend.primitives.search`: the best element in vectors, then a search that stops early."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types

from numhlo.backend.compiler.intrinsics.memory import alignment, register_type
from numhlo.backend.compiler.intrinsics.pointers import annotate, as_pointer, element_pointer, is_pointer
from numhlo.backend.compiler.intrinsics.registration import as_int64, implement, llvm_intrinsic
from numhlo.backend.compiler.intrinsics.vectors import FLAG, WORD, combine_halves, first_lanes, masked_load, splat
from numhlo.backend.primitives import search
from numhlo.backend.primitives.search import FirstExtreme

VECTOR_BYTES = 64
FEWEST_LANES = 16
FEW = 56
"""Elements that are looked at one by one, if the search is to be quick."""

CHAINS = 4
"""Vectors side by side while the best element is looked for: enough to hide how long one step takes."""


class _Search:
    """Writes one search; vectors are as long as memory is read best."""

    def __init__(self, builder: ir.IRBuilder, word: FirstExtreme, pointer: types.Type, base: ir.Value) -> None:
        self.builder, self.word, self.pointer, self.base = builder, word, pointer, base
        self.element = base.type.pointee
        self.lanes = max(FEWEST_LANES, VECTOR_BYTES // word.storage.dtype.itemsize)
        self.vector = ir.VectorType(self.element, self.lanes)
        self.flags = ir.VectorType(FLAG, self.lanes)
        self.bits = ir.IntType(self.lanes)
        self.is_float = word.storage.dtype.kind == "f"

    def place(self, count: ir.Value) -> ir.Value:
        """Write the search among ``count`` elements."""
        place = self._place_among_few(count) if self.word.quick else self._place_in_vectors(count)
        known = self.builder.icmp_signed(">=", place, WORD(0))  # so that nobody need count it from the end
        llvm_intrinsic(self.builder, "llvm.assume", ir.VoidType(), [known])
        return place

    def _place_in_vectors(self, count: ir.Value) -> ir.Value:
        return self._place_of(self._best(count), count)

    def _place_among_few(self, count: ir.Value) -> ir.Value:
        """Write a search in vectors, and one that looks at one element after the other; ``count`` says which it is."""
        builder = self.builder
        with builder.if_else(builder.icmp_signed("<=", count, WORD(FEW))) as (few, many):
            with few:
                one = self._place_one_by_one(count), builder.block
            with many:
                other = self._place_in_vectors(count), builder.block
        place = builder.phi(WORD)
        place.add_incoming(*one)
        place.add_incoming(*other)
        return place

    def _place_one_by_one(self, count: ir.Value) -> ir.Value:
        """Write a search that branches on each element, and stops at a NaN."""
        builder = self.builder
        names = ("head", "look", "take", "next", "done")
        head, look, take, following, done = (builder.append_basic_block(f"one_by_one.{name}") for name in names)
        start, first = builder.block, self._element(WORD(0))
        builder.cbranch(self._is_nan(first), done, head) if self.is_float else builder.branch(head)
        builder.position_at_end(head)
        index, best, place = builder.phi(WORD), builder.phi(self.element), builder.phi(WORD)
        builder.cbranch(builder.icmp_signed("<", index, count), look, done)
        builder.position_at_end(look)
        value = self._element(index)
        builder.cbranch(self._is_ahead(best, value), take, following).set_weights([1, 1000])  # not to become a select
        builder.position_at_end(take)
        builder.cbranch(self._is_nan(value), done, following) if self.is_float else builder.branch(following)
        builder.position_at_end(following)
        better, there = builder.phi(self.element), builder.phi(WORD)
        more = builder.add(index, WORD(1))
        builder.branch(head)
        builder.position_at_end(done)
        found = builder.phi(WORD)
        if self.is_float:
            found.add_incoming(WORD(0), start)
            found.add_incoming(index, take)
        found.add_incoming(place, head)
        for phi, before, after in ((index, WORD(1), more), (best, first, better), (place, WORD(0), there)):
            phi.add_incoming(before, start)
            phi.add_incoming(after, following)
        for phi, kept, taken in ((better, best, value), (there, place, index)):
            phi.add_incoming(kept, look)
            phi.add_incoming(taken, take)
        return found

    def _element(self, index: ir.Value) -> ir.Value:
        place = self.builder.gep(self.base, [index], inbounds=True)
        loaded = self.builder.load(place, align=alignment(self.word.storage))
        annotate(self.builder, loaded, self.pointer)
        return loaded

    def _is_ahead(self, best: ir.Value, value: ir.Value) -> ir.Value:
        """Return whether an element is better than the best one so far, or a NaN."""
        order = ">" if self.word.name == "maximum" else "<"
        if self.is_float:
            return self.builder.fcmp_unordered(order, value, best)
        return self.builder.icmp_signed(order, value, best)

    def _worst(self) -> ir.Constant:
        """Return a value that no other one is worse than."""
        if self.is_float:
            return ir.Constant(self.element, float("-inf" if self.word.name == "maximum" else "inf"))
        bits, signed = self.element.width, self.word.storage.dtype.kind == "i"
        least = -(1 << (bits - 1)) if signed else 0
        most = (1 << (bits - signed)) - 1
        return ir.Constant(self.element, least if self.word.name == "maximum" else most)

    def _load(self, index: ir.Value) -> ir.Value:
        place = as_pointer(self.builder, self.builder.gep(self.base, [index], inbounds=True), self.vector)
        loaded = self.builder.load(place, align=alignment(self.word.storage))
        annotate(self.builder, loaded, self.pointer)
        return loaded

    def _load_rest(self, done: ir.Value, count: ir.Value) -> tuple[ir.Value, ir.Value]:
        """Load the elements after the first ``done`` ones, fewer than a vector; return the mask too."""
        builder = self.builder
        mask = first_lanes(builder, builder.sub(count, done), self.lanes)
        place = builder.gep(self.base, [done], inbounds=True)
        filled = splat(builder, self._worst(), self.lanes)
        loaded = masked_load(builder, place, mask, filled, alignment(self.word.storage))
        annotate(builder, loaded, self.pointer)
        return loaded, mask

    def _better(self, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        """Return the better elements of two vectors, those of ``lhs`` where ``rhs`` has a NaN."""
        builder = self.builder
        order = ">" if self.word.name == "maximum" else "<"
        if self.is_float:
            ahead = builder.fcmp_ordered(order, rhs, lhs)
        elif self.word.storage.dtype.kind == "i":
            ahead = builder.icmp_signed(order, rhs, lhs)
        else:
            ahead = builder.icmp_unsigned(order, rhs, lhs)
        return builder.select(ahead, rhs, lhs)

    def _is_nan(self, vector: ir.Value) -> ir.Value:
        return self.builder.fcmp_unordered("uno", vector, vector)

    def _best(self, count: ir.Value) -> ir.Value:
        """Write the search for the best element's value: NaN where there is one."""
        builder = self.builder
        with builder.goto_entry_block():
            bests = [builder.alloca(self.vector) for _ in range(CHAINS)]
            broken = [builder.alloca(self.flags) for _ in range(CHAINS)] if self.is_float else []
        for place in bests:
            builder.store(splat(builder, self._worst(), self.lanes), place)
        for place in broken:
            builder.store(ir.Constant(self.flags, None), place)

        def take(chain: int, loaded: ir.Value) -> None:
            builder.store(self._better(builder.load(bests[chain]), loaded), bests[chain])
            if broken:
                builder.store(builder.or_(builder.load(broken[chain]), self._is_nan(loaded)), broken[chain])

        done: ir.Value = WORD(0)
        for width in (CHAINS, 1):
            step = WORD(self.lanes * width)
            whole = builder.sub(count, builder.urem(builder.sub(count, done), step))
            with cgutils.for_range_slice(builder, done, whole, step, intp=WORD) as (index, _):
                for chain in range(width):
                    take(chain, self._load(builder.add(index, WORD(self.lanes * chain))))
            done = whole
        rest, _ = self._load_rest(done, count)
        take(0, rest)
        return self._combined(bests, broken)

    def _combined(self, bests: list[ir.Value], broken: list[ir.Value]) -> ir.Value:
        builder = self.builder
        vectors = [builder.load(place) for place in bests]
        while len(vectors) > 1:
            vectors = [self._better(lhs, rhs) for lhs, rhs in zip(vectors[::2], vectors[1::2], strict=True)]
        best = combine_halves(builder, vectors[0], self._better)
        if not broken:
            return best
        flags = builder.load(broken[0])
        for place in broken[1:]:
            flags = builder.or_(flags, builder.load(place))
        any_broken = builder.icmp_unsigned("!=", builder.bitcast(flags, self.bits), self.bits(0))
        return builder.select(any_broken, ir.Constant(self.element, float("nan")), best)

    def _hits(self, loaded: ir.Value, target: ir.Value) -> ir.Value:
        """Return where elements are the best one; there are NaNs only where it is one."""
        builder = self.builder
        if self.is_float:
            return builder.or_(builder.fcmp_ordered("==", loaded, target), self._is_nan(loaded))
        return builder.icmp_unsigned("==", loaded, target)

    def _place_of(self, best: ir.Value, count: ir.Value) -> ir.Value:
        """Write the search for the first element that is the best one."""
        builder = self.builder
        target = splat(builder, best, self.lanes)
        whole = builder.sub(count, builder.urem(count, WORD(self.lanes)))
        head, look, more, rest, done = (
            builder.append_basic_block(f"search.{name}") for name in ("head", "look", "more", "rest", "done")
        )
        start = builder.block
        builder.branch(head)
        builder.position_at_end(head)
        index = builder.phi(WORD)
        index.add_incoming(WORD(0), start)
        builder.cbranch(builder.icmp_unsigned("<", index, whole), look, rest)
        builder.position_at_end(look)
        bits = builder.bitcast(self._hits(self._load(index), target), self.bits)
        builder.cbranch(builder.icmp_unsigned("==", bits, self.bits(0)), more, done)
        builder.position_at_end(more)
        index.add_incoming(builder.add(index, WORD(self.lanes)), more)
        builder.branch(head)
        builder.position_at_end(rest)
        loaded, mask = self._load_rest(whole, count)
        last = builder.bitcast(builder.and_(self._hits(loaded, target), mask), self.bits)
        builder.branch(done)
        builder.position_at_end(done)
        found = builder.phi(self.bits)
        found.add_incoming(bits, look)
        found.add_incoming(last, rest)
        zeros = llvm_intrinsic(builder, f"llvm.cttz.i{self.lanes}", self.bits, [found, FLAG(0)])
        return builder.add(index, builder.zext(zeros, WORD) if self.lanes < WORD.width else zeros)


def _implement(word: FirstExtreme) -> None:
    @implement(word)
    def typed(typing_context: Any, pointer: types.Type, first: types.Type, count: types.Type) -> Any:
        if not is_pointer(pointer) or not isinstance(first, types.Integer) or not isinstance(count, types.Integer):
            return None

        def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
            element = context.get_data_type(register_type(word.storage))
            at = as_int64(context, builder, values[1], signature.args[1])
            base = element_pointer(builder, values[0], at, element)
            number = as_int64(context, builder, values[2], signature.args[2])
            return _Search(builder, word, pointer, base).place(number)

        return types.int64(pointer, first, count), codegen


for _word in vars(search).values():
    if isinstance(_word, FirstExtreme):
        _implement(_word)
