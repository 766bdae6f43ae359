"""Reductions to a few results side by side, such as coordinates: all of them in one unit, each in a scratch block.

Columns so narrow would be scalar code. Here the loop runs along the reduced axis, where it is SIMD code, and what the
results have in common is computed once.
"""

from __future__ import annotations

from contextlib import nullcontext

from numhlo.backend.emit.draft import Draft
from numhlo.backend.emit.maps import open_rows
from numhlo.backend.emit.reductions.writer import Reduction, ReductionWriter, itemsize
from numhlo.lowering.ops.reduction_order import BLOCK

PACKED = 4
"""Results side by side up to which they are one unit."""


def suits_packing(reduction: Reduction, columns: int, count: int) -> bool:
    """Return whether a reduction to ``columns`` results side by side, of ``count`` elements each, is written so."""
    plain = not reduction.stores and all(r.combiner.in_lanes for r in reduction.reduced)
    return plain and columns <= PACKED and count <= BLOCK


class PackedWriter(ReductionWriter):
    """All results along the last kept axis in one unit."""

    def write(self) -> Draft:
        """Return the kernel."""
        *outer, last = self.kept
        columns = self.axes[last].extent
        with open_rows(self.nest, outer) if outer else nullcontext():
            blocks = [
                [
                    self.text.stack_array("block", BLOCK, itemsize(r.combiner.registers[0]))
                    for r in self.reduction.reduced
                ]
                for _ in range(columns)
            ]
            (axis,) = self.inner
            with self.nest.loop(axis) as place:
                for column in range(columns):
                    with self.nest.fixed({last: str(column)}):
                        for reduced, block, values in zip(
                            self.reduction.reduced, blocks[column], self.elements(), strict=True
                        ):
                            name = reduced.combiner.registers[0].name
                            self.text.line(f"store_{name}({block}, {place}, {values[0]})")
            for column in range(columns):
                with self.nest.fixed({last: str(column)}):
                    self._finish_column(blocks[column])
        return self.draft(self.outputs // columns, "_packed")

    def _finish_column(self, blocks: list[str]) -> None:
        for reduced, block in zip(self.reduction.reduced, blocks, strict=True):
            combiner = reduced.combiner
            totals = self.start(reduced)
            name = combiner.registers[0].name
            self.accumulate(combiner, totals, [f"{combiner.name}_lanes_{name}({block}, 0, {self.count_text()})"])
            self.finish(reduced, totals)
