"""Running totals and what needs them at their own places, in one kernel: a block of a line after the other.

A block's totals stay in the first-level cache until all that is made of them is made; those that nobody else needs are
nowhere else. So a line goes through memory once: `x / np.maximum.accumulate(x) - 1`, and the minimum of that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager

from numhlo.backend.emit.access import Access
from numhlo.backend.emit.cost import grain_of
from numhlo.backend.emit.cumulative import DEAR, RUNNING, first_total, is_free, next_total
from numhlo.backend.emit.draft import Draft, Unknowns, remembered
from numhlo.backend.emit.expressions import Graph, Load
from numhlo.backend.emit.kernel_text import BufferOf, KernelText
from numhlo.backend.emit.loop_rounds import write_poll
from numhlo.backend.emit.maps import Store, all_strides, cost_of, kernel_name, open_rows, write_body, write_store
from numhlo.backend.emit.nest import Axis, Nest, collapse
from numhlo.backend.emit.reductions.rows import RowWriter
from numhlo.backend.emit.reductions.writer import Reduction, itemsize
from numhlo.backend.emit.registers import Register
from numhlo.backend.emit.row_chain import Pass
from numhlo.backend.emit.sizes import Sizes
from numhlo.lowering.ir import Value
from numhlo.lowering.ir.records import record
from numhlo.lowering.ops.reduction_order import BLOCK

SHORT_BLOCK = 512
"""Elements of a block, unless sums need those that `reduction_order` has: what a block reads and writes stays near."""

LONG_LINE = 1 << 16
"""Elements of a line within which somebody looks whether the user wants to stop."""

MEANWHILE = 12
"""Operations of elements that are made of totals while these wait for each other: then they take no time."""


@record(slots=True)
class Totals:
    """Running totals of ``store.node`` along the axis; a pass that goes along lines.

    Attributes
    ----------
    kind : str
    expressions : Graph
    store : Store
    """

    kind: str
    expressions: Graph
    store: Store

    def key(self, sizes: Sizes) -> Hashable:
        """Return what the text depends on."""
        return self.kind, self.expressions.key(sizes), self.store.key(sizes)

    def over(self, unknowns: Unknowns) -> Totals:
        """Return the pass as a writer sees it."""
        return Totals(self.kind, self.expressions.over(unknowns), self.store.over(unknowns))

    @property
    def all_stores(self) -> list[Store]:
        """Return the store of the totals."""
        return [self.store]


def write_running_chain(
    passes: Sequence[Totals | Pass], axis: int, unstored: Collection[Value], buffer_of: BufferOf
) -> Draft:
    """Return the kernel of several passes.

    Parameters
    ----------
    passes : sequence of Totals or Pass
        Over one domain, which has at least one element. Memory runs along the axis.
    axis : int
    unstored : collection of Value
        Totals and results of reductions that nobody needs outside the kernel.
    buffer_of : callable
    """
    values = [v for one in passes for v in (*[store.value for store in one.all_stores], *one.expressions.loads)]
    within: dict[Value, int] = {}
    known = tuple([within.setdefault(v, len(within)) if v in unstored else -1 for v in values])

    def write(unknowns: Unknowns) -> list[Draft]:
        seen = [one.over(unknowns) for one in passes]
        return [_Writer(seen, axis, {unknowns.value(v) for v in unstored}, unknowns.buffer).write()]

    (found,) = remembered(
        lambda sizes: ("running", axis, known, tuple([one.key(sizes) for one in passes])),
        [v for v in values if v not in unstored],
        buffer_of,
        write,
    )
    return found


class _BlockReduction(RowWriter):
    """Reductions whose elements come a block at a time; some of what they read lies in scratch memory."""

    within: Callable[[], None]
    scratch: dict[Value, str]

    def elements(self) -> list[list[str]]:
        """Write the elements at the current place, which may need totals in scratch memory."""
        self.within()
        return super().elements()

    def _place(self, value: Value, access: Access, start: str) -> str:
        scratch = self.scratch.get(value)
        return super()._place(value, access, start) if scratch is None else f"{scratch}, 0"

    def take_block(self, totals: list[list[str]]) -> None:
        """Write how the elements from ``start`` to ``stop`` are taken."""
        self._block("start", "stop", totals)


class _Writer:
    """Writes one chain."""

    def __init__(
        self, passes: Sequence[Totals | Pass], axis: int, unstored: Collection[Value], buffer_of: BufferOf
    ) -> None:
        self.passes, self.axis, self.unstored, self.buffer_of = passes, axis, unstored, buffer_of
        self.text = KernelText(buffer_of)
        self.scratch: dict[Value, str] = {}
        ordered = [r.combiner.is_ordered for one in passes if isinstance(one, Pass) for r in one.reduced]
        self.block = BLOCK if any(ordered) else SHORT_BLOCK

    def write(self) -> Draft:
        """Return the kernel."""
        shape = self.passes[0].expressions.shape
        dims = [dim for dim in range(len(shape)) if dim != self.axis]
        strides = [s for one in self.passes for s in all_strides(one.expressions, one.all_stores)]
        kept = collapse([shape[d] for d in dims], [tuple(s[d] for d in dims) for s in strides])
        axes = [*[Axis(a.extent, tuple(dims[d] for d in a.dims)) for a in kept], Axis(shape[self.axis], (self.axis,))]
        self.kept, self.along = list(range(len(kept))), len(kept)
        for one in self.passes:
            for store in one.all_stores:
                if store.value not in self.unstored:
                    self.text.pointer(store.value, "out")
        self.nests = [Nest(self.text, one.expressions, axes, scope) for scope, one in enumerate(self.passes)]
        with open_rows(self.nests[0], self.kept) if self.kept else ExitStack():
            for nest in self.nests[1:]:
                nest.join(self.nests[0])
            self._line()
        return self._draft(math.prod(axis.extent for axis in kept))

    def _line(self) -> None:
        carried = [self._begin(one, nest) for one, nest in zip(self.passes, self.nests, strict=True)]
        count = self.nests[0].extent(self.along)
        with self._opened(f"for start in range(0, {count}, {self.block}):"):
            self.text.line(f"stop = min(start + {self.block}, {count})")
            for first, last in self._loops():
                if last == first:
                    self._take(self.passes[first], self.nests[first], carried[first])
                else:
                    self._take_together(first, last, carried[first])
            if self.nests[0].axes[self.along].extent >= LONG_LINE:
                write_poll(self.text, str(self.block))
        for state in carried:
            if isinstance(state, tuple):
                writer, totals = state
                for reduced, names in zip(writer.reduction.reduced, totals, strict=True):
                    writer.finish(reduced, names)

    def _loops(self) -> Iterator[tuple[int, int]]:
        """Give the first and last of passes that are one loop: what takes little while a total waits for the next."""
        first = 0
        while first < len(self.passes):
            last = first
            if self._waits(self.passes[first]):
                flops = 0
                for one in self.passes[first + 1 :]:
                    flops += cost_of(one.expressions, [])[0]
                    if isinstance(one, Totals) or one.reduced or flops > MEANWHILE:
                        break
                    last += 1
            yield first, last
            first = last + 1

    def _waits(self, one: Totals | Pass) -> bool:
        """Return whether a pass is a loop in which one total waits for the other."""
        if not isinstance(one, Totals) or is_free(one.kind, one.store.register):
            return False
        return cost_of(one.expressions, [])[0] <= DEAR

    @contextmanager
    def _opened(self, header: str) -> Iterator[None]:
        """Open a block that all passes share."""
        with self.text.block(header), ExitStack() as scopes:
            for nest in self.nests:
                scopes.enter_context(nest.names_of_block())
            yield

    def _begin(self, one: Totals | Pass, nest: Nest) -> str | tuple[_BlockReduction, list[list[str]]]:
        """Write what a pass carries from block to block."""
        if isinstance(one, Totals):
            register = one.store.register
            if one.store.value in self.unstored:
                size = itemsize(register)
                self.scratch[one.store.value] = self.text.stack_array("totals", self.block, size)
            total, first = self.text.fresh("total"), first_total(one.kind, register)
            self.text.line(f"{total} = {_as_running(one.kind, register, first)}")
            return total
        if not one.reduced:
            return ""
        kept = tuple(dim for dim in range(len(one.expressions.shape)) if dim != self.axis)
        reduction = Reduction(one.expressions, kept, (self.axis,), one.reduced, one.stores)
        writer = _BlockReduction(reduction, nest.axes, self.along, self.buffer_of, nest)
        writer.blocks, writer.unstored = 2, set(self.unstored)
        writer.within, writer.scratch = lambda: self._bind(nest, one), self.scratch
        return writer, [writer.start(reduced) for reduced in one.reduced]

    def _bind(self, nest: Nest, one: Totals | Pass, known: Mapping[Value, str] | None = None) -> None:
        """Let a pass find the totals that are in scratch memory, at the current place, or in local variables."""
        for number, node in enumerate(one.expressions.nodes):
            if not isinstance(node, Load):
                continue
            if known and node.value in known:
                nest.bind(number, known[node.value])
            elif node.value in self.scratch:
                place = f"{nest.variables[self.along][0]} - start"
                load = f"load_{node.register.name}({self.scratch[node.value]}, {place})"
                nest.bind(number, self.text.let(load, "x"))

    def _take(self, one: Totals | Pass, nest: Nest, state: str | tuple[_BlockReduction, list[list[str]]]) -> None:
        """Write how a pass goes over a block."""
        if isinstance(one, Totals):
            assert isinstance(state, str)
            self._total(one, nest, state)
        elif isinstance(state, tuple):
            writer, totals = state
            writer.take_block(totals)
        else:
            with nest.loop(self.along, "start, stop"):
                self._bind(nest, one)
                write_body(nest, one.stores, {})

    def _take_together(self, first: int, last: int, total: object) -> None:
        """Write totals, and the elements that are made of them meanwhile, as one loop."""
        one, nest, name = self.passes[first], self.nests[first], str(total)
        assert isinstance(one, Totals)
        store = one.store
        with self._opened("for i in range(start, stop):"):
            for each in self.nests:
                each.variables = {**each.variables, self.along: ("i", self.text.depth)}
            self._bind(nest, one)
            nest.write([store.node])
            self.text.assign(name, next_total(one.kind, store.register, name, nest.name(store.node)))
            if store.value not in self.unstored:
                write_store(nest, store, name)
            elif any(store.value in other.expressions.loads for other in self.passes[last + 1 :]):
                self.text.line(f"store_{store.register.name}({self.scratch[store.value]}, i - start, {name})")
            for number in range(first + 1, last + 1):
                behind = self.passes[number]
                assert isinstance(behind, Pass)
                self._bind(self.nests[number], behind, {store.value: name})
                write_body(self.nests[number], behind.stores, {})

    def _total(self, one: Totals, nest: Nest, total: str) -> None:
        """Write a block's elements, then their totals in place; or both at once, where totals wait for each other."""
        text, register, store = self.text, one.store.register, one.store
        scratch = self.scratch.get(store.value)
        kind = register.storage if scratch is None else register.name
        pointer = text.pointer(store.value) if scratch is None else scratch

        def place(index: str) -> str:
            if scratch is not None:
                return "0" if index == "start" else f"{index} - start"
            with nest.fixed({self.along: index}):
                return nest.index(store.access)

        free = is_free(one.kind, register)
        apart = not self._waits(one)
        with nest.loop(self.along, "start, stop") as variable:
            self._bind(nest, one)
            nest.write([store.node])
            value = nest.name(store.node)
            if not apart:
                text.assign(total, next_total(one.kind, register, total, value))
                value = total
            text.line(f"store_{kind}({pointer}, {place(variable)}, {value})")
        if free:
            word = _word(one.kind, register)
            text.assign(total, f"running_{word}({pointer}, {place('start')}, stop - start, {total})")
        elif apart:
            with nest.loop(self.along, "start, stop") as variable:
                value = text.let(f"load_{kind}({pointer}, {place(variable)})", "x")
                text.assign(total, next_total(one.kind, register, total, value))
                text.line(f"store_{kind}({pointer}, {place(variable)}, {total})")

    def _draft(self, rows: int) -> Draft:
        names = [kernel_name(one.expressions, getattr(one, "kind", "")).strip("_") for one in self.passes]
        kernel = self.text.finish("_then_".join(n for n in names if n)[:60].strip("_"))
        size = math.prod(self.passes[0].expressions.shape)
        costs = [cost_of(one.expressions, one.stores if isinstance(one, Pass) else []) for one in self.passes]
        flops = size * (sum(flops for flops, _ in costs) + 4)
        traffic = size * sum(traffic for _, traffic in costs)
        grain = grain_of(rows, flops, traffic)
        return Draft(kernel, tuple(self.text.buffers), tuple(self.text.dims), rows, grain, flops, traffic)


def _word(kind: str, register: Register) -> str:
    """Return the last part of the name of the primitive that totals in any order."""
    word = RUNNING[kind]
    if register.kind == "b":  # a byte that is 0 or 1
        return "maximum" if word in ("add", "maximum") else "minimum"
    return word


def _as_running(kind: str, register: Register, first: str) -> str:
    """Return what a total begins with as the primitives take it."""
    return f"to_u8({first})" if register.kind == "b" and is_free(kind, register) else first
