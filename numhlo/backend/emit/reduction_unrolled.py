"""Reductions of a few elements for each result, written out in the loops of an elementwise kernel over results."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

from numhlo.backend.emit.draft import Draft
from numhlo.backend.emit.maps import inner_axes, open_rows
from numhlo.backend.emit.reduction_writer import ReductionWriter
from numhlo.lowering.ops.reduction_order import LANES


class UnrolledWriter(ReductionWriter):
    """Writes the elements of each result out."""

    def write(self) -> Draft:
        """Return the kernel."""
        axes = [self.axes[k] for k in self.kept]
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

    def _loops(self, inner: Sequence[int]) -> None:
        if not inner:
            self._body()
            return
        with self.nest.loop(inner[0]):
            self._loops(inner[1:])

    def _body(self) -> None:
        gathered: list[list[list[str]]] = [[] for _ in self.reduction.reduced]
        for indices in product(*[range(self.axes[k].extent) for k in self.inner]):
            with self.nest.fixed(dict(zip(self.inner, map(str, indices), strict=True))):
                for values, element in zip(gathered, self.elements(), strict=True):
                    values.append(element)
        for number, values in enumerate(gathered):
            reduced = self.reduction.reduced[number]
            fold = self._in_lanes if reduced.combiner.in_lanes else self._neighbours
            self.finish(reduced, fold(number, values))

    def _in_lanes(self, number: int, values: list[list[str]]) -> list[str]:
        half = LANES // 2
        while half:
            for k in range(half, len(values)):
                values[k - half] = self._combined(number, values[k - half], values[k])
            values, half = values[:half], half // 2
        return values[0]

    def _neighbours(self, number: int, values: list[list[str]]) -> list[str]:
        while len(values) > 1:
            pairs = zip(values[::2], values[1::2], strict=False)
            rest = values[len(values) & ~1 :]
            values = [self._combined(number, even, odd) for even, odd in pairs] + rest
        return values[0]

    def _combined(self, number: int, lhs: Sequence[str], rhs: Sequence[str]) -> list[str]:
        return [self.text.let(value, "part") for value in self.combine(number, lhs, rhs)]
