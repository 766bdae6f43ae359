"""What all reducing kernels have in common: the description of the reduction, its elements, its results.

Next: `reductions.rows`, `reductions.columns` and `reductions.unrolled` write the loops, `reductions.kernels` chooses
among them.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import cached_property

from numhlo.backend.emit.draft import Draft, Unknowns
from numhlo.backend.emit.expressions import Graph
from numhlo.backend.emit.kernel_text import BufferOf, KernelText
from numhlo.backend.emit.maps import Store, all_strides, draft, kernel_name, write_store
from numhlo.backend.emit.nest import Axis, Nest, collapse
from numhlo.backend.emit.reduction import Combiner
from numhlo.backend.emit.reductions.extreme import SEARCHED, FoundValue, better, extreme_of, no_worse, rises
from numhlo.backend.emit.reductions.tree import Tree, finish_tree, push, start_tree
from numhlo.backend.emit.registers import Register
from numhlo.backend.emit.sizes import Sizes
from numhlo.backend.primitives import STORAGES
from numhlo.lowering.ir import Op, Value
from numhlo.lowering.ir.records import record
from numhlo.lowering.ops.reduction_order import BLOCK


@record(slots=True)
class Reduced:
    """One reduction of a kernel.

    Attributes
    ----------
    op : Op
    combiner : Combiner
    inputs, inits : list of int
        Nodes of the elements and of the initial values.
    results : list of Store
        Where the results go; their ``node`` is not used.
    first_is_used : bool
        Whether anybody reads the first result.
    """

    op: Op
    combiner: Combiner
    inputs: list[int]
    inits: list[int]
    results: list[Store]
    first_is_used: bool = True

    @property
    def stored(self) -> list[Store]:
        """Return the results that are stored: a search leaves out the value that it finds, if nobody wants it."""
        return self.results if self.first_is_used or len(self.results) == 1 else self.results[1:]

    def key(self, sizes: Sizes) -> Hashable:
        """Return what a kernel's text depends on."""
        results = tuple([store.key(sizes) for store in self.results])
        return self.combiner.key, tuple(self.inputs), tuple(self.inits), results, self.first_is_used

    def over(self, unknowns: Unknowns) -> Reduced:
        """Return the reduction as a writer sees it."""
        return replace(self, results=[store.over(unknowns) for store in self.results])


@record(slots=True)
class Reduction:
    """All that one reducing kernel does.

    Attributes
    ----------
    expressions : Graph
    kept, axes : tuple of int
        Dimensions of the domain that results have, and that are reduced.
    reduced : list of Reduced
    stores : list of Store
        Elements that are stored on the way.
    is_repeated : bool
        It stands in a loop.
    """

    expressions: Graph
    kept: tuple[int, ...]
    axes: tuple[int, ...]
    reduced: list[Reduced]
    stores: list[Store]
    is_repeated: bool = False

    def key(self, sizes: Sizes) -> Hashable:
        """Return what a kernel's text depends on."""
        parts = (*[reduced.key(sizes) for reduced in self.reduced], *[store.key(sizes) for store in self.stores])
        return self.expressions.key(sizes), self.kept, self.axes, parts, self.is_repeated

    def over(self, unknowns: Unknowns) -> Reduction:
        """Return the reduction as a writer sees it."""
        return Reduction(
            self.expressions.over(unknowns),
            self.kept,
            self.axes,
            [reduced.over(unknowns) for reduced in self.reduced],
            [store.over(unknowns) for store in self.stores],
            self.is_repeated,
        )

    @property
    def values(self) -> list[Value]:
        """Return what the kernel points to, scratch memory apart."""
        stores = [*self.stores, *[store for reduced in self.reduced for store in reduced.stored]]
        return [*[store.value for store in stores], *self.expressions.loads]

    def collapsed(self) -> tuple[list[Axis], int]:
        """Return the loops, kept ones first, and the number of kept ones."""
        order = (*self.kept, *self.axes)
        stores = [*self.stores, *(s for r in self.reduced for s in r.results)]
        strides = all_strides(self.expressions, stores)
        permuted = [tuple(p[dim] for dim in order) for p in strides]
        shape = [self.expressions.shape[dim] for dim in order]
        axes = collapse(shape, permuted, cuts=(len(self.kept),))
        kept = sum(axis.dims[0] < len(self.kept) for axis in axes)
        return [Axis(axis.extent, tuple(order[d] for d in axis.dims)) for axis in axes], kept


class ReductionWriter:
    """What the kernels have in common: units, elements, results.

    Attributes
    ----------
    named : dict from Value to str
        Results in local variables, once `finish` has written them.
    unstored : set of Value
        Results that only such variables hold.
    """

    def __init__(
        self, reduction: Reduction, axes: list[Axis], kept: int, buffer_of: BufferOf, nest: Nest | None = None
    ) -> None:
        self.reduction, self.axes, self.buffer_of = reduction, axes, buffer_of
        self.named: dict[Value, str] = {}
        self.unstored: set[Value] = set()
        self.kept = list(range(kept))
        self.inner = list(range(kept, len(axes)))
        self.count = math.prod(axes[k].extent for k in self.inner)
        self.outputs = math.prod(axes[k].extent for k in self.kept)
        self.blocks = -(-self.count // BLOCK)
        self.trees: dict[Op, Tree] = {}
        if nest is None:
            self._restart()
        else:
            self.nest, self.text = nest, nest.text

    def _restart(self) -> None:
        self.text = KernelText(self.buffer_of)
        self.nest = Nest(self.text, self.reduction.expressions, self.axes)
        self.trees.clear()

    def draft(self, extent: int, suffix: str = "") -> Draft:
        """Return the finished kernel."""
        names = [r.combiner.name or "values" for r in self.reduction.reduced]
        name = kernel_name(self.reduction.expressions, "reduce_" + "_".join(names)) + suffix
        results = [s for r in self.reduction.reduced for s in r.results]
        return draft(self.text, self.reduction.expressions, [*self.reduction.stores, *results][:1], extent, name)

    def count_text(self) -> str:
        """Return the text of the number of elements of one result."""
        if len(self.inner) == 1:
            return self.nest.extent(self.inner[0])
        return self.text.number("count", self.count, "count")

    def elements(self) -> list[list[str]]:
        """Write the element expressions at the current place, and the stores on the way; return the names."""
        wanted = [node for r in self.reduction.reduced for node in r.inputs]
        self.nest.write([*wanted, *(s.node for s in self.reduction.stores)])
        names = [[self.nest.name(node) for node in r.inputs] for r in self.reduction.reduced]
        for store in self.reduction.stores:
            write_store(self.nest, store, self.nest.name(store.node))
        return names

    def finish(self, reduced: Reduced, totals: Sequence[str]) -> None:
        """Write the combination with the initial values and the stores of results."""
        tree = self.trees.get(reduced.op)
        if tree is not None:
            totals = finish_tree(self.text, tree)
        inits = [self.nest.name(node) for node in reduced.inits]
        finished = reduced.combiner.write(self.text, inits, totals)
        for store, value in zip(reduced.results, finished, strict=True):
            result = self.named[store.value] = self.text.let(reduced.combiner.round(value), "result")
            if store.value not in self.unstored and store in reduced.stored:
                write_store(self.nest, store, result)

    def start(self, reduced: Reduced) -> list[str]:
        """Write the first values of accumulators and return their names."""
        if not reduced.combiner.is_choice:
            self.trees[reduced.op] = start_tree(self.text, reduced.combiner)
            return []
        identity = reduced.combiner.identity
        names = []
        for node in reduced.inits:
            name = self.text.fresh("total")
            self.text.line(f"{name} = {self.nest.name(node) if identity is None else identity}")
            names.append(name)
        return names

    @property
    def choice(self) -> str:
        """Return the word by which a search that heeds no NaN chooses."""
        return "select"

    @cached_property
    def extremes(self) -> dict[int, str]:
        """Return which reductions look for the first ``maximum`` or ``minimum``, by number."""
        found = {}
        for number, reduced in enumerate(self.reduction.reduced):
            if len(reduced.inputs) != 2 or reduced.combiner.registers[0].name not in SEARCHED:
                continue
            if rises(self.reduction.expressions, reduced.inputs[1], [self.axes[k] for k in self.inner]):
                name = extreme_of(reduced.combiner.region, value_matters=reduced.first_is_used)
                if name:
                    found[number] = name
        return found

    @cached_property
    def found(self) -> dict[int, FoundValue]:
        """Return which reductions are maxima and minima of what a search goes through anyway, by number."""
        searches = {(name, self.reduction.reduced[number].inputs[0]): number for number, name in self.extremes.items()}
        found = {}
        for number, reduced in enumerate(self.reduction.reduced):
            search = searches.get((reduced.combiner.name, reduced.inputs[0]))
            if search is not None:
                found[number] = FoundValue(reduced.combiner.name, search, reduced.combiner.registers[0])
        return found

    def carried(self, number: int) -> list[Register]:
        """Return the types of what reduction ``number`` carries from element to element."""
        found = self.found.get(number)
        return list(self.reduction.reduced[number].combiner.registers) if found is None else found.carried

    def taken(self, number: int, values: Sequence[str]) -> list[str]:
        """Return what reduction ``number`` carries of one element."""
        found = self.found.get(number)
        return list(values) if found is None else found.signs(values[0])

    def combine(self, number: int, state: Sequence[str], values: Sequence[str], *, heeds_nan: bool = True) -> list[str]:
        """Write what combines the state of reduction ``number`` with later elements, and return the new state.

        A search that does not heed NaN may go wrong where there is one.
        """
        if number in self.found:
            return self.found[number].join(state, values)
        combiner = self.reduction.reduced[number].combiner
        name = self.extremes.get(number)
        if name is None:
            return combiner.write(self.text, state, values)
        if not heeds_nan:
            grows = self.text.let(better(name, combiner.registers[0], state[0], values[0]), "grows")
            return [f"{self.choice}({grows}, {new}, {old})" for old, new in zip(state, values, strict=True)]
        stays = self.text.let(no_worse(name, combiner.registers[0], state[0], values[0]), "stays")
        return [f"select({stays}, {old}, {new})" for old, new in zip(state, values, strict=True)]

    def finish_all(self, totals: Sequence[Sequence[str]]) -> None:
        """Write the results of all reductions, given what each has carried over all elements."""
        for number, (reduced, names) in enumerate(zip(self.reduction.reduced, totals, strict=True)):
            found = self.found.get(number)
            self.finish(reduced, names if found is None else [found.value(totals[found.search][0], names)])

    def take(self, reduced: Reduced, totals: Sequence[str], values: Sequence[str]) -> None:
        """Write the statements that take one element into a reduction."""
        tree = self.trees.get(reduced.op)
        if tree is None:
            self.accumulate(reduced.combiner, totals, values)
        else:
            push(self.text, tree, values)

    def accumulate(self, combiner: Combiner, totals: Sequence[str], values: Sequence[str]) -> None:
        """Write the statements that combine accumulators with one element each."""
        combined = combiner.write(self.text, totals, values)
        if set(combined) & set(totals):
            combined = [self.text.let(value, "next") for value in combined]
        for total, value in zip(totals, combined, strict=True):
            self.text.assign(total, value)

    def combine_parts(self, parts: Sequence[Value]) -> Draft:
        """Return the kernel that combines the results of blocks, in order."""
        self._restart()
        outputs = self.text.number("outputs", self.outputs, "outputs")
        blocks = self.text.number("blocks", self.blocks, "blocks")
        pointers = [self.text.pointer(part, "part") for part in parts]
        with self.text.block("for i in range(lo, hi):"):
            for reduced, pointer in zip(self.reduction.reduced, pointers, strict=True):
                name = reduced.combiner.registers[0].name
                total = self.text.fresh("total")
                self.text.line(f"{total} = load_{name}({pointer}, i)")
                with self.text.block(f"for block in range(1, {blocks}):"):
                    value = f"load_{name}({pointer}, block * {outputs} + i)"
                    self.accumulate(reduced.combiner, [total], [value])
                inits = [self.nest.name(node) for node in reduced.inits]
                (finished,) = reduced.combiner.write(self.text, inits, [total])
                (store,) = reduced.results
                out = self.text.pointer(store.value, "out")
                self.text.line(f"store_{store.register.storage}({out}, i, {reduced.combiner.round(finished)})")
        return self.draft(self.outputs, "_parts")


def itemsize(register: Register) -> int:
    """Return the bytes of an element in scratch memory, which holds register values."""
    return STORAGES[register.name].dtype.itemsize
