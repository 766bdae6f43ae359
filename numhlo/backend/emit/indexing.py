"""dynamic_slice and gather as views with run-time offsets; the ops that write windows as kernels.

A start index is clamped where it is read. Updates go straight into the operand's memory if nobody else reads it any
more; otherwise into a copy of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from numhlo.backend.emit.access import Access, Start, contiguous, whole_array
from numhlo.backend.emit.count_tables import CountTables, count_tables
from numhlo.backend.emit.draft import Draft, Unknowns, remembered
from numhlo.backend.emit.expressions import IDENTITY, PLACED, SCALAR, Apply, Expressions, Graph, Load
from numhlo.backend.emit.extremes import EXTREMES
from numhlo.backend.emit.kernel_text import BufferOf, KernelText
from numhlo.backend.emit.maps import Store, cost_of, draft, write_map
from numhlo.backend.emit.nest import Nest, collapse
from numhlo.backend.emit.registers import REGISTERS
from numhlo.backend.emit.scalar_region import region_key, write_region
from numhlo.backend.emit.sizes import Sizes, reckoned
from numhlo.backend.emit.support import emits_region
from numhlo.backend.emit.tables import KERNELS, VIEW, RootRule
from numhlo.backend.primitives import STORAGES
from numhlo.lowering.ir import Op, Region, Value
from numhlo.lowering.ir.records import record
from numhlo.lowering.ops import indexing as ops
from numhlo.lowering.ops.creation import CONSTANT
from numhlo.lowering.ops.dimension_numbers import GatherDimensionNumbers, ScatterDimensionNumbers
from numhlo.lowering.ops.indexing import clamped_start

DEAR = 12
"""Operations above which places and updates of a scatter are computed as SIMD code, before what has to be scalar."""

BLOCK = 1024
"""Updates that are computed before they are put into place."""


@VIEW.register(ops.DYNAMIC_SLICE)
def view_dynamic_slice(op: Op, access: Access, expressions: Expressions, chain: int) -> Access:
    """Add the start indices to the offset."""
    starts, offset = list(access.starts), access.offset
    extents, sizes = op.operands[0].tensor.shape, op.attributes["slice_sizes"]
    for dim, index in enumerate(op.operands[1:]):
        limit, stride = extents[dim] - sizes[dim], access.strides[dim]
        start = expressions.visit(index, SCALAR)  # even without room to move: the NumPy engine takes all operands
        known = _known(index)
        if known is not None:
            offset += clamped_start(known, limit) * stride
        elif limit and stride:
            starts.append(Start(start, stride, limit))
    strides = [0 if n == 1 else s for n, s in zip(sizes, access.strides, strict=True)]
    return Access(offset, tuple(strides), tuple(starts))


@record(frozen=True)
class _IndexComponent:
    """A view step: component ``number`` of the index vectors, seen in the shape of the windowed array.

    Attributes
    ----------
    batch_dims : tuple of int
        The windowed array's dimensions that are not in a window, in order: those of the index tensor.
    rank : int
        Of the windowed array.
    vector_dim, number : int
    """

    batch_dims: tuple[int, ...]
    rank: int
    vector_dim: int
    number: int

    def __call__(self, access: Access, expressions: Expressions, chain: int) -> Access:
        strides = list(access.strides)
        offset = access.offset
        if self.vector_dim < len(strides):
            offset += self.number * strides.pop(self.vector_dim)
        spread = [0] * self.rank
        for dim, stride in zip(self.batch_dims, strides, strict=True):
            spread[dim] = stride
        return Access(offset, tuple(spread), access.starts)


@VIEW.register(ops.GATHER)
def view_gather(op: Op, access: Access, expressions: Expressions, chain: int) -> Access:
    """Add the start indices of each window to the offset; dimensions within a window keep their strides."""
    numbers: GatherDimensionNumbers = op.attributes["dimension_numbers"]
    operand, indices = op.operands
    extents, sizes = operand.tensor.shape, op.attributes["slice_sizes"]
    rank = op.result.tensor.ndim
    batch_dims = tuple(d for d in range(rank) if d not in numbers.offset_dims)
    strides = [0] * rank
    for dim, own in zip(numbers.offset_dims, numbers.window_axes(operand.tensor.ndim), strict=True):
        strides[dim] = 0 if sizes[own] == 1 else access.strides[own]
    for own, paired in zip(numbers.operand_batching_dims, numbers.start_indices_batching_dims, strict=True):
        strides[batch_dims[paired - (paired > numbers.index_vector_dim)]] += access.strides[own]
    starts = list(access.starts)
    for number, own in enumerate(numbers.start_index_map):
        limit, stride = extents[own] - sizes[own], access.strides[own]
        step = _IndexComponent(batch_dims, rank, numbers.index_vector_dim, number)
        start = expressions.visit(indices, expressions.push(step, chain))  # always: the NumPy engine takes all operands
        if limit > 0 and stride:
            starts.append(Start(start, stride, limit))
    return Access(access.offset, tuple(strides), tuple(starts))


def emit_dynamic_update_slice(op: Op, planner: Any) -> None:
    """Append the launch that writes the window; a start that is a constant is part of the place."""
    operand, update, *starts = op.operands
    strides, offset, moving, firsts = contiguous(operand.tensor.shape), 0, [], []
    for dim, index in enumerate(starts):
        limit = operand.tensor.shape[dim] - update.tensor.shape[dim]
        known = _known(index)
        if known is None:
            moving.append((index, strides[dim], limit))
        else:
            firsts.append(clamped_start(known, limit))
            offset += firsts[-1] * strides[dim]
    kept = [s if n > 1 else 0 for s, n in zip(strides, update.tensor.shape, strict=True)]
    emit_update(op, planner, Access(offset, tuple(kept)), moving, () if moving else firsts)


def _known(index: Value) -> np.ndarray | None:
    op = index.owner
    is_constant = isinstance(op, Op) and op.definition is CONSTANT
    value: np.ndarray | None = op.attributes["value"] if is_constant else None  # type: ignore[union-attr]
    return value


def emit_update(
    op: Op,
    planner: Any,
    place: Access,
    moving: Sequence[tuple[Value, int, int]] = (),
    firsts: Sequence[int] = (),
) -> None:
    """Append the launch that writes a part of an array, after a copy of the operand if that is still needed.

    A part that is computed from the operand's other elements is computed first and moved into its place then.

    Parameters
    ----------
    op : Op
        Its first operand is the array, its second the update.
    planner : RegionPlanner
    place : Access
        Where the update's elements go, as far as it is known.
    moving : sequence of (Value, int, int)
        The other start indices, with the strides and limits of their dimensions.
    firsts : sequence of int, optional
        Where the part begins along each axis, if it is a box at a known place: it need not be copied.
    """
    operand, update = op.operands[:2]
    whole = window = planner.operand_expressions(op, 1)
    register = REGISTERS[update.tensor.dtype]
    node = whole.visit(update)
    if (
        planner.reads_before_update(op.result, operand, _read_elsewhere(whole, operand, _moved(place, moving, whole)))
        and 1 < update.tensor.size <= operand.tensor.size // 2
    ):
        computed = _computed(planner, whole, update, node)
        window = planner.expressions(update.tensor.shape)
        node = window.visit(computed)
    starts = []
    for index in op.operands[2:]:
        if _known(index) is None:
            whole.visit(index, SCALAR)  # those that don't matter, too: the NumPy engine takes all operands
    for index, stride, limit in moving:
        start = window.visit(index, SCALAR)
        if limit and stride:
            starts.append(Start(start, stride, limit))
    place = place._replace(starts=tuple(starts))
    read = _read_elsewhere(window, operand, place) if update.tensor.size > 1 else ()
    planner.begin_update(op.result, operand, read, (firsts, update.tensor.shape) if firsts else None)
    store = Store(node, op.result, place, register)
    whole.used[op] = None
    if update.tensor.size:
        planner.launch(write_map(window, [store], planner.buffer), whole, [op.result], [operand])
    else:
        planner.copied_only(op, whole, [operand])


def _computed(planner: Any, expressions: Expressions, update: Value, node: int) -> Value:
    """Append the launch that computes an update into memory of its own."""
    type = update.tensor
    computed: Value = planner.scratch(type)
    store = Store(node, computed, whole_array(type.shape), REGISTERS[type.dtype])
    planner.append(write_map(expressions, [store], planner.buffer))
    return computed


def _moved(place: Access, moving: Sequence[tuple[Value, int, int]], expressions: Expressions) -> Access | None:
    """Return a place with its run-time starts, where an update reads them anyway; else None: it reads nothing there."""
    starts = []
    for index, stride, limit in moving:
        node = expressions.find(index, SCALAR)
        if limit and stride:
            if node is None:
                return None
            starts.append(Start(node, stride, limit))
    return place._replace(starts=tuple(starts))


def _read_elsewhere(expressions: Expressions, operand: Value, place: Access | None) -> list[Value]:
    """Return what an update reads, but for the array where it is read just before it is written, or elsewhere only."""
    nodes = [node for node in expressions.nodes if isinstance(node, Load)]
    shape = expressions.shape
    return [
        node.value
        for node in nodes
        if place is None
        or node.value is not operand
        or not (node.access == place or _are_apart(shape, node.access, place))
    ]


_common_step = reckoned(math.gcd)


def _are_apart(shape: Sequence[int], read: Access, written: Access) -> bool:
    """Return whether two accesses share no element: their ranges don't meet, or they step over each other."""
    if read.starts or written.starts:
        return False
    step = reduce(_common_step, (*read.strides, *written.strides), 0)
    if step and (read.offset - written.offset) % step:
        return True
    (first, last), (begin, end) = (_range(shape, access) for access in (read, written))
    return last < begin or end < first


def _range(shape: Sequence[int], access: Access) -> tuple[int, int]:
    """Return the first and the last element that an access touches."""
    spans = [(n - 1) * stride for n, stride in zip(shape, access.strides, strict=True)]
    low, high = sum(min(span, 0) for span in spans), sum(max(span, 0) for span in spans)
    return access.offset + low, access.offset + high


KERNELS.register(ops.DYNAMIC_UPDATE_SLICE)(
    RootRule(emit_dynamic_update_slice, fusible=lambda op: range(1, len(op.operands)))
)


# Scatter


def _refuse_scatter(op: Op) -> str:
    (body,) = op.regions
    count = len(op.results)
    dtypes = [v.tensor.dtype for v in body.returns]
    if not emits_region(body):
        return "its body is not straight-line code"
    if dtypes != [v.tensor.dtype for v in op.operands[:count]]:
        return "its body changes the element type"
    return ""


def emit_scatter(op: Op, planner: Any) -> None:
    """Append the launch that applies the updates one after another, in row-major order of the index tensor."""
    count = len(op.results)
    inputs, indices, updates = op.operands[:count], op.operands[count], op.operands[count + 1 :]
    numbers: ScatterDimensionNumbers = op.attributes["scatter_dimension_numbers"]
    shape = updates[0].tensor.shape
    whole = expressions = planner.expressions(shape)
    values = [expressions.visit(update) for update in updates]
    places = _places(op, numbers, expressions, indices)
    if any(
        planner.reads_before_update(result, operand, expressions.loaded)
        and updates[0].tensor.size <= operand.tensor.size // 2
        for operand, result in zip(inputs, op.results, strict=True)
    ):
        computed = [_computed(planner, whole, *pair) for pair in zip(updates, values, strict=True)]
        expressions = planner.expressions(shape)
        values = [expressions.visit(update) for update in computed]
        places = _places(op, numbers, expressions, indices)
    for operand, result in zip(inputs, op.results, strict=True):
        planner.begin_update(result, operand, expressions.loaded)
    whole.used[op] = None
    (body,) = op.regions
    if math.prod(shape) == 0 or any(p.limit < 0 for p in places.starts):
        planner.copied_only(op, whole, inputs)
        return

    def write(unknowns: Unknowns) -> list[Draft]:
        results = [unknowns.value(v) for v in op.results]
        writer = _ScatterWriter(body, results, expressions.over(unknowns), places.over(unknowns.sizes), unknowns.buffer)
        return [writer.write(values)]

    (draft,) = remembered(
        lambda sizes: ("scatter", region_key(body), expressions.key(sizes), places.over(sizes), tuple(values)),
        [*op.results, *expressions.loads],
        planner.buffer,
        write,
    )
    planner.launch(draft, whole, op.results, inputs)


class _Places(NamedTuple):
    """Where windows go: start indices, strides within a window, and which dimensions of the updates are a window's."""

    starts: tuple[Start, ...]
    strides: tuple[int, ...]
    batch_dims: tuple[int, ...]
    window_dims: tuple[int, ...]

    def over(self, sizes: Sizes) -> _Places:
        """Return the same places with ``sizes[n]`` for every number."""
        _, strides, starts = Access(0, self.strides, self.starts).over(sizes)
        return self._replace(starts=starts, strides=strides)


def _places(op: Op, numbers: ScatterDimensionNumbers, expressions: Expressions, indices: Value) -> _Places:
    operand = op.operands[0].tensor
    shape, rank = expressions.shape, len(expressions.shape)
    own_strides = contiguous(operand.shape)
    batch_dims = tuple(d for d in range(rank) if d not in numbers.update_window_dims)
    windows, sizes = numbers.window_axes(operand.ndim), numbers.window(operand.ndim, shape)
    strides = [0] * rank
    for dim, own in zip(numbers.update_window_dims, windows, strict=True):
        strides[dim] = own_strides[own]
    for own, paired in zip(numbers.input_batching_dims, numbers.scatter_indices_batching_dims, strict=True):
        strides[batch_dims[paired - (paired > numbers.index_vector_dim)]] += own_strides[own]
    starts = []
    for number, own in enumerate(numbers.scatter_dims_to_operand_dims):
        step = _IndexComponent(batch_dims, rank, numbers.index_vector_dim, number)
        node = expressions.visit(indices, expressions.push(step, IDENTITY))
        starts.append(Start(node, own_strides[own], operand.shape[own] - sizes[own]))
    return _Places(tuple(starts), tuple(strides), batch_dims, numbers.update_window_dims)


class _ScatterWriter:
    """Writes the kernel of one scatter."""

    def __init__(
        self, body: Region, results: Sequence[Value], expressions: Graph, places: _Places, buffer_of: BufferOf
    ) -> None:
        self.body, self.results, self.expressions, self.places = body, results, expressions, places
        self.text = KernelText(buffer_of)
        order = (*places.batch_dims, *places.window_dims)
        found = [n.access.strides for n in expressions.nodes if isinstance(n, PLACED)] + [places.strides]
        permuted = [tuple(p[dim] for dim in order) for p in found]
        axes = collapse([expressions.shape[d] for d in order], permuted, cuts=(len(places.batch_dims),))
        self.outer = [k for k, axis in enumerate(axes) if axis.dims[0] < len(places.batch_dims)]
        self.inner = [k for k in range(len(axes)) if k not in self.outer]
        self.nest = Nest(self.text, expressions, [a._replace(dims=tuple(order[d] for d in a.dims)) for a in axes])
        self.registers = [REGISTERS[v.tensor.dtype] for v in results]
        self.tables: CountTables | None = None

    def write(self, values: Sequence[int]) -> Draft:
        """Return the kernel; ``values`` are the nodes of the updates."""
        outs = [self.text.pointer(result, "out") for result in self.results]
        self.tables = self._tables()
        if self.tables is not None:
            self.tables.clear(self.text)
        if self.tables is not None or self._is_dear:
            self._blocks(values)
        else:
            self._loops(self.outer, lambda: self._window(values))
        if self.tables is not None:
            self.tables.add_to(self.text, outs[0])
        stores = [
            Store(node, result, Access(0, self.places.strides), register)
            for node, result, register in zip(values, self.results, self.registers, strict=True)
        ]
        return draft(
            self.text,
            self.expressions,
            stores,
            1,
            f"scatter_{self.body.ops[-1].definition.name}" if self.body.ops else "scatter",
        )

    @property
    def _is_dear(self) -> bool:
        """Return whether places and updates are worth a loop of their own, which may be SIMD code, and can have it."""
        if len(self.outer) != 1 or self.inner or cost_of(self.expressions, [])[0] <= DEAR:
            return False
        return not self._reads_results()

    def _reads_results(self) -> bool:
        written = {self.text.pointer(result, "out") for result in self.results}
        return any(self.text.pointer(n.value) in written for n in self.expressions.nodes if isinstance(n, Load))

    def _tables(self) -> CountTables | None:
        """Return tables to count in, where updates are added to elements of a row one by one."""
        is_row = len(self.places.starts) == len(self.outer) == len(self.results) == 1 and not self.inner
        if not is_row or self._reads_results():
            return None
        (start,) = self.places.starts
        return (
            None
            if start.stride != 1
            else count_tables(self.text, self.body, self.registers, self.expressions, start.limit + 1)
        )

    def _blocks(self, values: Sequence[int]) -> None:
        """Write the loop over blocks of updates: where they go and what they are, then what puts them there."""
        text, nest, (axis,) = self.text, self.nest, self.outer
        nodes = self.expressions.nodes
        starts = [start.node for start in self.places.starts if self.tables is None]
        kept = [node for node in dict.fromkeys([*starts, *values]) if isinstance(nodes[node], Apply)]
        names = [nodes[node].register.name for node in kept]
        arrays = [text.stack_array("block", BLOCK, STORAGES[name].dtype.itemsize) for name in names]
        slots = "" if self.tables is None else text.stack_array("slots", BLOCK, 8)
        count = nest.extent(axis)
        with nest.block(f"for first in range(0, {count}, {BLOCK}):"):
            last = text.let(f"min(first + {BLOCK}, {count})", "last")
            with nest.loop(axis, f"first, {last}") as place:
                nest.write(kept)
                for node, name, array in zip(kept, names, arrays, strict=True):
                    text.line(f"store_{name}({array}, {place} - first, {nest.name(node)})")
                if self.tables is not None:
                    (start,), (test,) = self._starts()
                    text.line(f"store_i64({slots}, {place} - first, {self.tables.place(start, test, place)})")
            with nest.loop(axis, f"first, {last}") as place:
                for node, name, array in zip(kept, names, arrays, strict=True):
                    nest.bind(node, text.let(f"load_{name}({array}, {place} - first)", "x"))
                if self.tables is None:
                    self._window(values, kept)
                else:
                    self._element(values, f"load_i64({slots}, {place} - first)", kept)

    def _loops(self, axes: Sequence[int], body: Any) -> None:
        if not axes:
            body()
            return
        with self.nest.loop(axes[0]):
            self._loops(axes[1:], body)

    def _starts(self) -> tuple[list[str], list[str]]:
        """Write start indices; return their names, and the texts of what tells that windows are inside."""
        names, tests = [], []
        for start in self.places.starts:
            limit = self.text.number(("limit", start), start.limit, "limit")
            name = self.text.let(f"to_i64({self.nest.name(start.node)})", "start")
            names.append(name)
            tests.append(f"(0 <= {name}) & ({name} <= {limit})")
        return names, tests

    def _window(self, values: Sequence[int], known: Sequence[int] = ()) -> None:
        starts, tests = self._starts()
        if not tests:
            self._loops(self.inner, lambda: self._element(values, "", known))
            return
        names = [
            self.text.let(f"{name} * {self.text.number(('step', start), start.stride, 'step')}", "at")
            for name, start in zip(starts, self.places.starts, strict=True)
        ]
        with self.nest.block(f"if {' & '.join(tests)}:"):
            at = self.text.let(" + ".join(names), "window") if len(names) > 1 else names[0]
            self._loops(self.inner, lambda: self._element(values, at, known))

    def _element(self, values: Sequence[int], at: str, known: Sequence[int]) -> None:
        self.nest.write([node for node in values if node not in known])
        updates = [self.nest.name(node) for node in values]
        within = self.nest.index(Access(0, self.places.strides))
        index = " + ".join(part for part in (at, within if within != "0" else "") if part) or "0"
        place = self.text.let(index, "place")
        pointers = [self.text.pointer(result, "out") for result in self.results]
        if self.tables is not None:
            pointers = [self.tables.name]
        old = [
            self.text.let(f"load_{register.storage}({pointer}, {place})", "old")
            for register, pointer in zip(self.registers, pointers, strict=True)
        ]
        new = self._combined(old, updates)
        for register, pointer, value in zip(self.registers, pointers, new, strict=True):
            self.text.line(f"store_{register.storage}({pointer}, {place}, {value})")

    def _combined(self, old: Sequence[str], updates: Sequence[str]) -> Sequence[str]:
        """Write what becomes of old elements; one at a time, there is no SIMD code for a branch to be in the way of."""
        ops, register = self.body.ops, self.registers[0]
        quick = not self.inner and register.kind == "f" and not register.narrow
        if quick and len(ops) == 1 and ops[0].definition in EXTREMES and {*ops[0].operands} == {*self.body.arguments}:
            name = ops[0].definition.name
            return [self.text.let(f"quick_{name}({old[0]}, {updates[0]})", name)]
        return write_region(self.text, self.body, [*old, *updates])


KERNELS.register(ops.SCATTER)(
    RootRule(emit_scatter, refuse=_refuse_scatter, fusible=lambda op: range(len(op.results), len(op.operands)))
)
