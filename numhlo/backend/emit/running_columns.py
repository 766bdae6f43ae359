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
from numhlo.backend.emit.maps import all_strides, cost_of, kernel_name, write_body, write_store
from numhlo.backend.emit.nest import Nest
from numhlo.backend.emit.reductions.writer import Reduced, itemsize
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
        Over the same domain. What they reduce along the axis `reduces_in_any_order`.
    axis : int
    reverse : bool
    unstored : collection of Value
        Totals and results of reductions that nobody needs outside the kernel.
    buffer_of : callable
    """
    passes: list[Totals | Pass] = [totals, *behind]
    values = [v for one in passes for v in (*[store.value for store in one.all_stores], *one.expressions.loads)]
    known = tuple([v in unstored for v in values])

    def write(unknowns: Unknowns) -> list[Draft]:
        graph, store = totals.expressions.over(unknowns), totals.store.over(unknowns)
        writer = _Writer(totals.kind, axis, graph, store, unknowns.buffer)
        writer.behind = [one.over(unknowns) for one in behind]
        writer.unstored = {unknowns.value(v) for v in unstored}
        writer.is_stored = totals.store.value not in unstored
        return [writer.write(reverse)]

    (found,) = remembered(
        lambda sizes: ("running columns", axis, reverse, known, tuple([one.key(sizes) for one in passes])),
        [v for v in values if v not in unstored],
        buffer_of,
        write,
    )
    return found


def reduces_in_any_order(reduced: Reduced) -> bool:
    """Return whether a reduction may take one element after the other, as they come."""
    combiner = reduced.combiner
    plain = len(reduced.inputs) == 1 and combiner.op is not None and combiner.identity is not None
    return plain and not combiner.is_ordered and not combiner.registers[0].narrow


class _Writer(RunningWriter):
    """Writes the kernel.

    Attributes
    ----------
    behind : list of Pass
    unstored : set of Value
    best : dict from int to str
        The results so far of a piece's columns, by the ``id`` of the reduction.
    """

    behind: list[Pass]
    unstored: set[Value]
    best: dict[int, str]

    def _strides(self) -> list[tuple[int, ...]]:
        return [*super()._strides(), *[s for one in self.behind for s in all_strides(one.expressions, one.all_stores)]]

    def _declare(self) -> None:
        super()._declare()
        for one in self.behind:
            for store in one.all_stores:
                if store.value not in self.unstored:
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

    def _columns(self) -> int:
        self.best = {
            id(reduced): self.text.stack_array("best", MOST_COLUMNS, itemsize(reduced.combiner.registers[0]))
            for one in self.behind
            for reduced in one.reduced
        }
        return super()._columns()

    def _nest_of(self, number: int) -> Nest:
        """Return a nest at the current place for one of those behind."""
        nest = Nest(self.text, self.behind[number].expressions, self.nest.axes, 1 + number)
        nest.join(self.nest)
        return nest

    def _go_on(self, total: str) -> None:
        for place, one in enumerate(self.behind):
            nest = self._nest_of(place)
            for number, node in enumerate(one.expressions.nodes):
                if isinstance(node, Load) and node.value is self.store.value:
                    nest.bind(number, total)
            nest.write([*[store.node for store in one.stores], *[r.inputs[0] for r in one.reduced]])
            write_body(nest, one.stores, {})
            for reduced in one.reduced:
                self._take(reduced, nest.name(reduced.inputs[0]))

    def _take(self, reduced: Reduced, value: str) -> None:
        """Write how an element is taken into its column's reduction."""
        best, name = self.best[id(reduced)], reduced.combiner.registers[0].name
        if not self.is_first:
            state = self.text.let(f"load_{name}({best}, k)", "state")
            (value,) = reduced.combiner.write(self.text, [state], [value])
        self.text.line(f"store_{name}({best}, k, {value})")

    def _end(self, width: str, first: str) -> None:
        reducing = [place for place, one in enumerate(self.behind) if one.reduced]
        if not reducing:
            return
        with self._line(width, first):
            for place in reducing:
                nest = self._nest_of(place)
                for reduced in self.behind[place].reduced:
                    (store,) = reduced.results
                    if store.value in self.unstored:
                        continue
                    best, name = self.best[id(reduced)], reduced.combiner.registers[0].name
                    state = self.text.let(f"load_{name}({best}, k)", "state")
                    (result,) = reduced.combiner.write(self.text, [nest.name(reduced.inits[0])], [state])
                    write_store(nest, store, self.text.let(reduced.combiner.round(result), "result"))
