"""Several passes over rows in one kernel: reductions of a row, then what needs their results, before the next row.

A row stays in the cache between passes, and what is reduced to one number a row stays in a local variable. So softmax,
normalizations and their kin go through memory once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Sequence

from numhlo.backend.emit.access import contiguous
from numhlo.backend.emit.cost import grain_of
from numhlo.backend.emit.draft import Draft, Unknowns, remembered
from numhlo.backend.emit.expressions import Graph, Load
from numhlo.backend.emit.kernel_text import BufferOf, KernelText
from numhlo.backend.emit.maps import (
    Store,
    all_strides,
    cost_of,
    draft,
    kernel_name,
    open_rows,
    write_inner,
    write_store,
)
from numhlo.backend.emit.nest import Axis, Nest, collapse
from numhlo.backend.emit.reductions.kernels import prefers_rows
from numhlo.backend.emit.reductions.rows import RowWriter, short_axes
from numhlo.backend.emit.reductions.writer import Reduced, Reduction
from numhlo.backend.emit.sizes import Sizes, reckoned
from numhlo.lowering.ir import Value
from numhlo.lowering.ir.records import record

MOST_FULL = 10
"""Passes up to which what is left of a row becomes a full vector in each: that is a text of its own."""


@record(slots=True)
class Pass:
    """One pass over a row: stores of elements, and reductions; or what is computed once a row.

    Attributes
    ----------
    expressions : Graph
    stores : list of Store
    reduced : list of Reduced
    once : bool
        The domain has one element a row: the results' shape, perhaps with dimensions of extent 1.
    """

    expressions: Graph
    stores: list[Store]
    reduced: list[Reduced]
    once: bool = False

    def key(self, sizes: Sizes) -> Hashable:
        """Return what the text depends on."""
        parts = (*[reduced.key(sizes) for reduced in self.reduced], *[store.key(sizes) for store in self.stores])
        return self.expressions.key(sizes), parts, self.once

    def over(self, unknowns: Unknowns) -> Pass:
        """Return the pass as a writer sees it."""
        stores = [store.over(unknowns) for store in self.stores]
        reduced = [reduced.over(unknowns) for reduced in self.reduced]
        return Pass(self.expressions.over(unknowns), stores, reduced, self.once)

    @property
    def all_stores(self) -> list[Store]:
        """Return the stores of elements and of results."""
        return [*self.stores, *[store for reduced in self.reduced for store in reduced.results]]


def suits_rows(one: Pass, kept: Sequence[int], axes: Sequence[int]) -> bool:
    """Return whether a pass would go along rows if it were a kernel of its own."""
    if not one.reduced:
        return True
    return prefers_rows(Reduction(one.expressions, tuple(kept), tuple(axes), one.reduced, one.stores))


def rows_at_once(passes: Sequence[Pass], kept: Sequence[int]) -> int:
    """Return how many rows those that run at the same time are apart at least.

    Parameters
    ----------
    passes : sequence of Pass
    kept : sequence of int
        The domain's dimensions that results have.
    """
    first = passes[0]
    shape = first.expressions.shape
    flops, traffic = cost_of(first.expressions, first.stores)
    size, rows = math.prod(shape), math.prod([shape[dim] for dim in kept])
    apart: int = _share(grain_of(rows, size * flops, size * traffic), len(passes))
    return apart


def pass_within_rows(one: Pass, values: Collection[Value], root: Callable[[Value], Value], axes: Sequence[int]) -> None:
    """Let some of the elements that a pass stores and loads be those of one row, which the next row overwrites.

    Parameters
    ----------
    one : Pass
    values : collection of Value
        Of the shape of the domain.
    root : callable
        Returns the value whose buffer holds a value.
    axes : sequence of int
        The dimensions along which a row goes.
    """
    strides = [0] * len(one.expressions.shape)
    for dim, stride in zip(axes, contiguous([one.expressions.shape[dim] for dim in axes]), strict=True):
        strides[dim] = stride
    nodes = one.expressions.nodes
    for number, node in enumerate(nodes):
        if isinstance(node, Load) and root(node.value) in values:
            nodes[number] = Load(node.value, node.access.with_strides(strides), node.register)
    for store in one.stores:
        if store.value in values:
            store.access = store.access.with_strides(strides)


def write_chain(
    passes: Sequence[Pass],
    dims: tuple[tuple[int, ...], tuple[int, ...]],
    unstored: set[Value],
    passing: Collection[Value],
    buffer_of: BufferOf,
) -> Draft:
    """Return the kernel of several passes.

    Parameters
    ----------
    passes : sequence of Pass
        Over one domain, which has at least one element.
    dims : two tuples of int
        The domain's dimensions that results have, and those that are reduced.
    unstored : set of Value
        Results that nobody needs outside the kernel.
    passing : collection of Value
        Elements that nobody needs outside the kernel: see `pass_within_rows`. Their buffers hold one row for each
        `rows_at_once` of them.
    buffer_of : callable
    """
    values = [v for one in passes for v in (*[store.value for store in one.all_stores], *one.expressions.loads)]
    rows: dict[Value, int] = {}
    known = tuple([rows.setdefault(v, len(rows)) if v in unstored else -1 - (v in passing) for v in values])

    def write(unknowns: Unknowns) -> list[Draft]:
        seen = [one.over(unknowns) for one in passes]
        writer = _ChainWriter(seen, dims, {unknowns.value(v) for v in unstored}, unknowns.buffer)
        writer.passing = {unknowns.value(v) for v in passing}
        return [writer.write()]

    (found,) = remembered(
        lambda sizes: ("chain", dims, known, tuple([one.key(sizes) for one in passes])),
        [v for v in values if v not in unstored],
        buffer_of,
        write,
    )
    return found


class _ChainWriter:
    """Writes one chain."""

    def __init__(
        self,
        passes: Sequence[Pass],
        dims: tuple[tuple[int, ...], tuple[int, ...]],
        unstored: set[Value],
        buffer_of: BufferOf,
    ) -> None:
        self.passes, self.unstored, self.buffer_of = passes, unstored, buffer_of
        self.kept_dims, self.reduced_dims = dims
        self.passing: set[Value] = set()

    def write(self) -> Draft:
        """Return the kernel."""
        shape = self.passes[0].expressions.shape
        strides = [self._over_domain(s, one) for one in self.passes for s in _strides_of(one)]
        kept = _collapsed(shape, self.kept_dims, strides)
        text = KernelText(self.buffer_of)
        for one in self.passes:
            for store in one.all_stores:
                if store.value not in self.unstored:
                    text.pointer(store.value, "out")
        self._own_rows(text)
        nests = []
        for scope, one in enumerate(self.passes):
            axes = (
                self._once_axes(kept, one)
                if one.once
                else [*kept, *_collapsed(shape, self.reduced_dims, _strides_of(one))]
            )
            nests.append(Nest(text, one.expressions, axes, scope))
            if one.once:
                nests[-1].extents = [axis.dims for axis in kept]  # its own domain may lack dimensions of extent 1
            else:
                nests[-1].literal_axes = short_axes(axes, len(kept))
        named: dict[Value, str] = {}
        outer = list(range(len(kept)))
        with open_rows(nests[0], outer):
            for nest, one in zip(nests, self.passes, strict=True):
                if nest is not nests[0]:
                    nest.join(nests[0])
                self._pass(nest, one, len(kept), named)
        return self._draft(text, math.prod(axis.extent for axis in kept))

    def _own_rows(self, text: KernelText) -> None:
        """Let what passes within rows lie in a row of its own for all that run at the same time."""
        shape, done = self.passes[0].expressions.shape, set[int]()
        for one in self.passes:
            for store in one.stores:
                if store.value not in self.passing or (number := self.buffer_of(store.value)) in done:
                    continue
                done.add(number)
                apart = text.number("apart", rows_at_once(self.passes, self.kept_dims), "apart")
                place = text.first(f"divide(to_i64(lo), to_i64({apart}))", "place")
                nbytes = math.prod([shape[dim] for dim in self.reduced_dims]) * store.register.dtype.itemsize
                text.advance(store.value, f"{place} * {text.number(('row', store.register.storage), nbytes, 'bytes')}")

    def _pass(self, nest: Nest, one: Pass, kept: int, named: dict[Value, str]) -> None:
        for number, node in enumerate(one.expressions.nodes):
            if isinstance(node, Load) and node.value in named:
                nest.bind(number, named[node.value])
        if one.once:
            for store in one.stores:
                named[store.value] = nest.name(store.node)
                if store.value not in self.unstored:
                    write_store(nest, store, named[store.value])
            return
        if not one.reduced:
            write_inner(nest, list(range(kept, len(nest.axes))), one.stores)
            return
        reduction = Reduction(one.expressions, self.kept_dims, self.reduced_dims, one.reduced, one.stores)
        writer = RowWriter(reduction, nest.axes, kept, self.buffer_of, nest)
        writer.unstored = self.unstored
        writer.may_fill = len(self.passes) <= MOST_FULL
        writer.row()
        named.update(writer.named)

    def _long_kept(self) -> list[int]:
        shape = self.passes[0].expressions.shape
        return [dim for dim in self.kept_dims if shape[dim] != 1]

    def _over_domain(self, strides: tuple[int, ...], one: Pass) -> tuple[int, ...]:
        """Return strides over a pass's domain as strides over the rows' domain."""
        if not one.once:
            return strides
        spread = [0] * len(self.passes[0].expressions.shape)
        for dim, own in zip(self._long_kept(), _long_dims(one), strict=True):
            spread[dim] = strides[own]
        return tuple(spread)

    def _once_axes(self, kept: Sequence[Axis], one: Pass) -> list[Axis]:
        """Return the loops over rows as loops over the domain of a pass that has one element a row."""
        own = dict(zip(self._long_kept(), _long_dims(one), strict=True))
        return [Axis(axis.extent, tuple(own[dim] for dim in axis.dims)) for axis in kept]

    def _draft(self, text: KernelText, rows: int) -> Draft:
        first = self.passes[0]
        names = [kernel_name(one.expressions, "").strip("_") for one in self.passes]
        name = "rows_" + "_then_".join(n for n in names if n)[:60].strip("_")
        size = math.prod(first.expressions.shape)
        flops = size * sum(cost_of(one.expressions, one.stores)[0] for one in self.passes)
        whole = draft(text, first.expressions, first.stores, rows, name)
        return whole._replace(grain=rows_at_once(self.passes, self.kept_dims), flops=flops)


@reckoned
def _share(grain: int, passes: int) -> int:
    return max(1, grain // passes)


def _strides_of(one: Pass) -> list[tuple[int, ...]]:
    return all_strides(one.expressions, one.all_stores)


def _long_dims(one: Pass) -> list[int]:
    return [dim for dim, extent in enumerate(one.expressions.shape) if extent != 1]


def _collapsed(shape: Sequence[int], dims: Sequence[int], strides: Sequence[tuple[int, ...]]) -> list[Axis]:
    """Return the fewest loops over some dimensions of a domain."""
    axes = collapse([shape[d] for d in dims], [tuple(s[d] for d in dims) for s in strides])
    return [Axis(axis.extent, tuple(dims[d] for d in axis.dims)) for axis in axes]
