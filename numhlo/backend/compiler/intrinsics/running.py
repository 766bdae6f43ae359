"""Machine code of `numhlo.backend.primitives.running`: a vector is totalled with itself shifted 1, 2, 4 ... lanes."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types

from numhlo.backend.compiler.intrinsics.arithmetic import quick_extreme
from numhlo.backend.compiler.intrinsics.pointers import annotate, as_pointer, element_pointer, is_pointer
from numhlo.backend.compiler.intrinsics.registration import as_int64, implement, llvm_intrinsic, type_suffix
from numhlo.backend.compiler.intrinsics.vectors import INDEX, WORD, Combine, splat
from numhlo.backend.primitives import running
from numhlo.backend.primitives.running import Running

VECTOR_BYTES = 64
MOST_LANES = 16
"""More of them take more steps than they save."""


class _Totals:
    """Writes one word for elements of one type."""

    def __init__(self, builder: ir.IRBuilder, word: Running, total: types.Type, pointer: types.Type) -> None:
        self.builder, self.word, self.total, self.pointer = builder, word, total, pointer

    def write(self, base: ir.Value, count: ir.Value, first: ir.Value) -> ir.Value:
        """Write the totals of ``count`` elements from ``base`` on, and return the last."""
        builder, self.element = self.builder, first.type
        self.align = self.total.bitwidth // 8
        self.lanes = min(MOST_LANES, VECTOR_BYTES // self.align)
        self.vector = ir.VectorType(self.element, self.lanes)
        self.neutral = splat(builder, ir.Constant(self.element, self._identity()), self.lanes)
        with builder.goto_entry_block():
            carried, rest = builder.alloca(self.vector), builder.alloca(self.element)
        builder.store(splat(builder, first, self.lanes), carried)
        done = builder.and_(count, WORD(-self.lanes))
        with cgutils.for_range_slice(builder, WORD(0), done, WORD(self.lanes), intp=WORD) as (index, _):
            place = as_pointer(builder, builder.gep(base, [index], inbounds=True), self.vector)
            loaded = builder.load(place, align=self.align)
            annotate(builder, loaded, self.pointer)
            annotate(builder, builder.store(self._totals(carried, loaded), place, align=self.align), self.pointer)
        builder.store(builder.extract_element(builder.load(carried), INDEX(0)), rest)
        with cgutils.for_range_slice(builder, done, count, WORD(1), intp=WORD) as (index, _):
            place = builder.gep(base, [index], inbounds=True)
            loaded = builder.load(place)
            annotate(builder, loaded, self.pointer)
            builder.store(self._combine(builder.load(rest), loaded), rest)
            annotate(builder, builder.store(builder.load(rest), place), self.pointer)
        return builder.load(rest)

    def _totals(self, carried: ir.Value, vector: ir.Value) -> ir.Value:
        """Return the totals of a vector, and carry the last one; what NaN takes is not done where none is."""
        builder = self.builder
        if not isinstance(self.total, types.Float):
            return self._next(carried, vector, self._combine)
        missing = builder.fcmp_unordered("uno", vector, builder.load(carried))
        some = builder.icmp_unsigned("!=", builder.bitcast(missing, ir.IntType(self.lanes)), ir.IntType(self.lanes)(0))
        with builder.if_else(some, likely=False) as (rare, usual):
            with rare:
                careful, after_careful = self._next(carried, vector, self._combine), builder.block
            with usual:
                quick, after_quick = self._next(carried, vector, self._choose), builder.block
        totals = builder.phi(vector.type)
        totals.add_incoming(careful, after_careful)
        totals.add_incoming(quick, after_quick)
        return totals

    def _next(self, carried: ir.Value, vector: ir.Value, combine: Combine) -> ir.Value:
        builder, shift = self.builder, 1
        while shift < self.lanes:
            places = [self.lanes + k if k < shift else k - shift for k in range(self.lanes)]
            vector = combine(vector, builder.shuffle_vector(vector, self.neutral, self._mask(places)))
            shift *= 2
        before = builder.load(carried)
        totals = combine(before, vector)
        if self.word.name == "multiply":  # takes so long that the next vector doesn't wait for a shuffle as well
            builder.store(combine(before, self._last(vector)), carried)
        else:
            builder.store(self._last(totals), carried)
        return totals

    def _choose(self, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        """Return the smaller or larger ones of floats that are no NaN."""
        return quick_extreme(self.builder, self.word.name == "maximum", [lhs, rhs])

    def _last(self, vector: ir.Value) -> ir.Value:
        """Return a vector of a vector's last element."""
        return self.builder.shuffle_vector(vector, self.neutral, self._mask([self.lanes - 1] * self.lanes))

    def _mask(self, places: list[int]) -> ir.Constant:
        return ir.Constant(ir.VectorType(INDEX, self.lanes), [INDEX(place) for place in places])

    def _identity(self) -> int | float:
        if self.word.name in ("add", "multiply"):
            return int(self.word.name == "multiply")
        greatest = self.word.name == "minimum"
        if isinstance(self.total, types.Float):
            return float("inf" if greatest else "-inf")
        return int(self.total.maxval if greatest else self.total.minval)

    def _combine(self, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        builder, name = self.builder, self.word.name
        if name in ("add", "multiply"):
            return builder.add(lhs, rhs) if name == "add" else builder.mul(lhs, rhs)
        if isinstance(self.total, types.Integer):
            name = f"{'s' if self.total.signed else 'u'}{name[:3]}"
        vector = f"v{self.lanes}" if isinstance(lhs.type, ir.VectorType) else ""
        return llvm_intrinsic(builder, f"llvm.{name}.{vector}{type_suffix(self.element)}", lhs.type, [lhs, rhs])


def _fits(word: Running, total: types.Type) -> bool:
    return isinstance(total, types.Integer) or (isinstance(total, types.Float) and word.name in ("minimum", "maximum"))


def _implement(word: Running) -> None:
    @implement(word)
    def typed(typing_context: Any, pointer: types.Type, first: types.Type, count: types.Type, total: types.Type) -> Any:
        if not is_pointer(pointer) or not _fits(word, total):
            return None
        if not all(isinstance(t, types.Integer) for t in (first, count)):
            return None

        def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
            at, number = (as_int64(context, builder, values[k], signature.args[k]) for k in (1, 2))
            base = element_pointer(builder, values[0], at, values[3].type)
            return _Totals(builder, word, total, pointer).write(base, number, values[3])

        return total(pointer, first, count, total), codegen


for _word in vars(running).values():
    if isinstance(_word, Running):
        _implement(_word)
