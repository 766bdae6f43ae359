"""Running totals side by side, across memory, and what is made of them at their own places, in one kernel.

What is made of a row's totals is made while the row is in registers; totals that nobody else needs stay on the stack
until the next row.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from numhlo.backend.emit.cumulative import MOST_COLUMNS, RunningWriter
from numhlo.backend.emit.draft import Draft, Unknowns, remembered
from numhlo.backend.emit.expressions import Load
from numhlo.backend.emit.kernel_text import BufferOf
from numhlo.backend.emit.maps import all_strides, cost_of, kernel_name, write_body
from numhlo.backend.emit.nest import Nest
from numhlo.backend.emit.row_chain import Pass
from numhlo.backend.emit.running_chain import Totals
from numhlo.lowering.ir import Value


def write_running_columns(
    totals: Totals, behind: Sequence[Pass], axis: int, reverse: bool, unstored: Collection[Value], buffer_of: BufferOf
) -> Draft:
    """Return the kernel of running totals across memory and of what is made of them.

    Parameters
    ----------
    totals : Totals
    behind : sequence of Pass
        Over the same domain, without reductions.
    axis : int
    reverse : bool
    unstored : collection of Value
        The totals, if nobody needs them outside the kernel.
    buffer_of : callable
    """
    passes: list[Totals | Pass] = [totals, *behind]
    values = [v for one in passes for v in (*[store.value for store in one.all_stores], *one.expressions.loads)]
    known = tuple([v in unstored for v in values])

    def write(unknowns: Unknowns) -> list[Draft]:
        graph, store = totals.expressions.over(unknowns), totals.store.over(unknowns)
        writer = _Writer(totals.kind, axis, graph, store, unknowns.buffer)
        writer.behind = [one.over(unknowns) for one in behind]
        writer.is_stored = totals.store.value not in unstored
        return [writer.write(reverse)]

    (found,) = remembered(
        lambda sizes: ("running columns", axis, reverse, known, tuple([one.key(sizes) for one in passes])),
        [v for v in values if v not in unstored],
        buffer_of,
        write,
    )
    return found


class _Writer(RunningWriter):
    """Writes the kernel.

    Attributes
    ----------
    behind : list of Pass
    """

    behind: list[Pass]

    def _strides(self) -> list[tuple[int, ...]]:
        return [*super()._strides(), *[s for one in self.behind for s in all_strides(one.expressions, one.stores)]]

    def _declare(self) -> None:
        super()._declare()
        for one in self.behind:
            for store in one.stores:
                self.text.pointer(store.value, "out")

    def _cost(self) -> tuple[int, int]:
        costs = [super()._cost(), *[cost_of(one.expressions, one.stores) for one in self.behind]]
        own = self.store.register.dtype.itemsize
        read = own * sum(one.expressions.loads.count(self.store.value) for one in self.behind)  # from registers
        return sum(flops for flops, _ in costs), sum(traffic for _, traffic in costs) - read

    def _name(self) -> str:
        names = [super()._name(), *[kernel_name(one.expressions, "").strip("_") for one in self.behind]]
        return "_then_".join(n for n in names if n)[:60].strip("_")

    def _scratch(self, few: bool) -> int:
        return super()._scratch(few) if self.is_stored or few else MOST_COLUMNS

    def _go_on(self, total: str) -> None:
        for scope, one in enumerate(self.behind, 1):
            nest = Nest(self.text, one.expressions, self.nest.axes, scope)
            nest.join(self.nest)
            for number, node in enumerate(one.expressions.nodes):
                if isinstance(node, Load) and node.value is self.store.value:
                    nest.bind(number, total)
            write_body(nest, one.stores, {})
