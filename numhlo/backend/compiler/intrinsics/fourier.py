"""Machine code of `numhlo.backend.primitives.fourier`: every block is two vectors of 64 bytes."""

from __future__ import annotations

import math
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types

from numhlo.backend.compiler.intrinsics.memory import register_type
from numhlo.backend.compiler.intrinsics.pointers import as_pointer, is_pointer
from numhlo.backend.compiler.intrinsics.registration import as_int64, implement
from numhlo.backend.compiler.intrinsics.vectors import WORD, splat
from numhlo.backend.primitives import fourier
from numhlo.backend.primitives.fourier import PART_BYTES, Butterfly

Complex = tuple[ir.Value, ir.Value]


def _implement(word: Butterfly) -> None:
    @implement(word)
    def typed(
        typing_context: Any,
        source: types.Type,
        target: types.Type,
        count: types.Type,
        step: types.Type,
        leap: types.Type,
        roots: types.Type,
        place: types.Type,
    ) -> Any:
        if not all(is_pointer(t) for t in (source, target, roots)):
            return None
        if not all(isinstance(t, types.Integer) for t in (count, step, leap, place)):
            return None

        def codegen(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> ir.Value:
            numbers = [as_int64(context, builder, values[k], signature.args[k]) for k in (2, 3, 4, 6)]
            element = context.get_data_type(register_type(word.storage))
            pointers = [as_pointer(builder, values[k], element) for k in (0, 1, 5)]
            _Writer(builder, word, element, pointers, numbers).write()
            return context.get_dummy_value()

        return types.void(source, target, count, step, leap, roots, place), codegen


class _Writer:
    """Writes the loop of one butterfly."""

    def __init__(
        self,
        builder: ir.IRBuilder,
        word: Butterfly,
        element: ir.Type,
        pointers: list[ir.Value],
        numbers: list[ir.Value],
    ) -> None:
        self.builder, self.radix, self.element = builder, word.radix, element
        self.source, self.target, self.roots = pointers
        self.count, self.step, self.leap, self.place = numbers
        self.lanes = PART_BYTES // word.storage.dtype.itemsize
        self.vector = ir.VectorType(element, self.lanes)

    def write(self) -> None:
        """Write two loops: the roots at place 0 are ones."""
        with self.builder.if_else(self.builder.icmp_unsigned("==", self.place, WORD(0))) as (first, others):
            with first:
                self._loop([])
            with others:
                self._loop([self._root(k) for k in range(1, self.radix)])

    def _root(self, k: int) -> Complex:
        builder = self.builder
        at = builder.mul(self.place, WORD(2 * k))
        parts = [builder.load(builder.gep(self.roots, [builder.add(at, WORD(part))])) for part in (0, 1)]
        return splat(builder, parts[0], self.lanes), splat(builder, parts[1], self.lanes)

    def _loop(self, turns: list[Complex]) -> None:
        builder = self.builder
        with cgutils.for_range(builder, self.count, intp=WORD) as loop:
            values = [self._load(self._block(self.source, loop.index, k, self.step)) for k in range(self.radix)]
            results = self._transformed(values)
            for k, turn in enumerate(turns, 1):
                results[k] = self._product(results[k], turn)
            for k, result in enumerate(results):
                self._store(self._block(self.target, loop.index, k, self.leap), result)

    def _block(self, base: ir.Value, index: ir.Value, k: int, step: ir.Value) -> tuple[ir.Value, ir.Value]:
        """Return the pointers to the two parts of a block."""
        builder = self.builder
        number = builder.add(index, builder.mul(step, WORD(k)))
        at = builder.mul(number, WORD(2 * self.lanes))
        places = [builder.gep(base, [builder.add(at, WORD(part * self.lanes))]) for part in (0, 1)]
        first, second = (builder.bitcast(place, self.vector.as_pointer()) for place in places)
        return first, second

    def _load(self, places: tuple[ir.Value, ir.Value]) -> Complex:
        first, second = (self.builder.load(place, align=PART_BYTES) for place in places)
        return first, second

    def _store(self, places: tuple[ir.Value, ir.Value], value: Complex) -> None:
        for place, part in zip(places, value, strict=True):
            self.builder.store(part, place, align=PART_BYTES)

    # Arithmetic

    def _plus(self, a: Complex, b: Complex) -> Complex:
        return self.builder.fadd(a[0], b[0]), self.builder.fadd(a[1], b[1])

    def _minus(self, a: Complex, b: Complex) -> Complex:
        return self.builder.fsub(a[0], b[0]), self.builder.fsub(a[1], b[1])

    def _product(self, a: Complex, b: Complex) -> Complex:
        mul = self.builder.fmul
        real = self.builder.fsub(mul(a[0], b[0]), mul(a[1], b[1]))
        return real, self.builder.fadd(mul(a[0], b[1]), mul(a[1], b[0]))

    def _times(self, a: Complex, factor: float) -> Complex:
        number = splat(self.builder, ir.Constant(self.element, factor), self.lanes)
        return self.builder.fmul(a[0], number), self.builder.fmul(a[1], number)

    def _plus_turned(self, a: Complex, b: Complex) -> Complex:
        """Return ``a + i b``."""
        return self.builder.fsub(a[0], b[1]), self.builder.fadd(a[1], b[0])

    def _minus_turned(self, a: Complex, b: Complex) -> Complex:
        """Return ``a - i b``."""
        return self.builder.fadd(a[0], b[1]), self.builder.fsub(a[1], b[0])

    def _transformed(self, a: list[Complex]) -> list[Complex]:
        """Return the discrete Fourier transform of some values."""
        if self.radix == 2:
            return [self._plus(*a), self._minus(*a)]
        if self.radix == 4:
            even, odd = (a[0], a[2]), (a[1], a[3])
            sums, others = (self._plus(*even), self._plus(*odd)), (self._minus(*even), self._minus(*odd))
            return [
                self._plus(*sums),
                self._minus_turned(*others),
                self._minus(*sums),
                self._plus_turned(*others),
            ]
        return self._odd(a)

    def _odd(self, a: list[Complex]) -> list[Complex]:
        """Return the transform of an odd number of values: ``k`` and ``-k`` have the same cosines and sines."""
        half = self.radix // 2 + 1
        sums = [self._plus(a[j], a[-j]) for j in range(1, half)]
        others = [self._minus(a[j], a[-j]) for j in range(1, half)]
        results = [a[0]] * self.radix
        for value in sums:
            results[0] = self._plus(results[0], value)
        for k in range(1, half):
            angles = [2 * math.pi * (j * k % self.radix) / self.radix for j in range(1, half)]
            real, turned = a[0], self._times(others[0], math.sin(angles[0]))
            for value, angle in zip(sums, angles, strict=True):
                real = self._plus(real, self._times(value, math.cos(angle)))
            for value, angle in zip(others[1:], angles[1:], strict=True):
                turned = self._plus(turned, self._times(value, math.sin(angle)))
            results[k], results[-k] = self._minus_turned(real, turned), self._plus_turned(real, turned)
        return results


for _word in vars(fourier).values():
    if isinstance(_word, Butterfly):
        _implement(_word)
