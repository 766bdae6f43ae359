"""Reductions of a few elements for each result, written out in the loops of an elementwise kernel over results."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from itertools import product

from numhlo.backend.emit.draft import Draft
from numhlo.backend.emit.maps import inner_axes, open_rows
from numhlo.backend.emit.reductions.writer import ReductionWriter, itemsize
from numhlo.lowering.ops.reduction_order import LANES

TOGETHER_BYTES = 32
"""Bytes of one sum's elements up to which several sums' elements are loaded together."""


class UnrolledWriter(ReductionWriter):
    """Writes the elements of each result out."""

    def write(self) -> Draft:
        """Return the kernel."""
        axes = [self.axes[k] for k in self.kept]
        if self._loads_together:
            self.nest.literal_axes = set(self.inner)
        inner = inner_axes(axes)
        outer = [k for k in self.kept if k not in inner]
        if not self.kept:
            self._body()
        elif not outer:
            with self.nest.loop(0, "lo, hi"):
                self._body()
        else:
            with open_rows(self.nest, outer):
                self._loops(inner)
        extent = math.prod(self.axes[k].extent for k in outer) if outer else self.outputs
        return self.draft(extent, f"_{self.count}")

    @property
    def _loads_together(self) -> bool:
        """Return whether LLVM is to know how far results' elements lie apart, and loads those of several as vectors.

        It takes these apart at a price that grows with the number of elements: more than adding them one by one saves.
        """
        adding = [r.combiner for r in self.reduction.reduced if r.combiner.name in ("add", "multiply")]
        return all(itemsize(combiner.registers[0]) * self.count <= TOGETHER_BYTES for combiner in adding)

    def _loops(self, inner: Sequence[int]) -> None:
        if not inner:
            self._body()
            return
        with self.nest.loop(inner[0]):
            self._loops(inner[1:])

    def _body(self) -> None:
        elements: dict[int, list[list[str]]] = {}
        totals = [
            self._lane(number, 0, 1, elements)
            if reduced.combiner.in_lanes and number not in self.found
            else self._neighbours(number, elements)
            for number, reduced in enumerate(self.reduction.reduced)
        ]
        self.finish_all(totals)

    @cached_property
    def _indices(self) -> list[dict[int, str]]:
        """Return the indices of a result's elements, in order."""
        places = product(*[range(self.axes[k].extent) for k in self.inner])
        return [dict(zip(self.inner, map(str, place), strict=True)) for place in places]

    def _element(self, number: int, position: int, elements: dict[int, list[list[str]]]) -> list[str]:
        """Return what a reduction combines at a position among the elements of a result, written when first used."""
        if position not in elements:
            with self.nest.fixed(self._indices[position]):
                elements[position] = [self.taken(k, values) for k, values in enumerate(self.elements())]
        return elements[position][number]

    def _lane(self, number: int, lane: int, step: int, elements: dict[int, list[list[str]]]) -> list[str]:
        """Write the combination of every ``step``-th lane from one on; few values wait for their partner at a time."""
        other = lane + step
        if step == LANES:
            total = self._element(number, lane, elements)
            for position in range(other, self.count, step):
                total = self._combined(number, total, self._element(number, position, elements))
            return total
        total = self._lane(number, lane, 2 * step, elements)
        if other >= self.count:
            return total
        return self._combined(number, total, self._lane(number, other, 2 * step, elements))

    def _neighbours(self, number: int, elements: dict[int, list[list[str]]]) -> list[str]:
        values = [self._element(number, position, elements) for position in range(self.count)]
        while len(values) > 1:
            pairs = zip(values[::2], values[1::2], strict=False)
            rest = values[len(values) & ~1 :]
            values = [self._combined(number, even, odd) for even, odd in pairs] + rest
        return values[0]

    def _combined(self, number: int, lhs: Sequence[str], rhs: Sequence[str]) -> list[str]:
        return [self.text.let(value, "part") for value in self.combine(number, lhs, rhs)]
