"""Elementwise kernels: loops over a domain that store one or more expressions.

A unit of work is an element where the domain is one loop, else a row: the outer loops, flattened. The inner loop
runs over memory in order and becomes SIMD code.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import product

from numhlo.backend.emit.access import Access
from numhlo.backend.emit.cost import CHUNK_NANOSECONDS, grain_of, nanoseconds
from numhlo.backend.emit.draft import Draft, Unknowns, remembered
from numhlo.backend.emit.elementwise import COSTS
from numhlo.backend.emit.expressions import PLACED, Apply, Graph, Load, Node
from numhlo.backend.emit.kernel_text import BufferOf, KernelText
from numhlo.backend.emit.narrowing import Narrowing
from numhlo.backend.emit.nest import Axis, Nest, collapse
from numhlo.backend.emit.prefetching import (
    MEMORY_BYTES,
    has_parts_of_lines,
    is_far,
    open_pieces_of_rows,
    open_strips,
)
from numhlo.backend.emit.registers import Register
from numhlo.backend.emit.sizes import Sizes
from numhlo.backend.emit.streaming import Piece, itemsize, write_into
from numhlo.backend.emit.tiles import other_direction, write_tiles
from numhlo.lowering.ir import Value
from numhlo.lowering.ir.records import record
from numhlo.lowering.ops import comparison

CACHE_LINE = 64
"""Bytes that are fetched for an element, however small, where none of its neighbours is needed."""
FAR_BYTES = 4 << 20
"""What caches near the processor hold: elements of less than that are fetched together in the end."""

SHORT_ROW = 16
"""Inner loops shorter than this are joined with the next outer loop, so that a row is worth its index arithmetic."""

LITERAL_EXTENT = 8
"""Inner extents up to this are part of the kernel's text, and unrolled."""


UNROLLED_BYTES = 4
"""Bytes of the widest elements of results whose short inner loops are written out: wider ones fill vectors as it is."""

UNROLLED_OPS = 16
"""Operations of what is written out at most: more are worth a loop, and would take longer to compile."""


@record(slots=True)
class Store:
    """Where a kernel writes the value of a node."""

    node: int
    value: Value
    access: Access
    register: Register

    def key(self, sizes: Sizes) -> Hashable:
        """Return what the text depends on."""
        return self.node, self.access.key(sizes, self.value), self.register.storage

    def over(self, unknowns: Unknowns) -> Store:
        """Return the store as a writer sees it."""
        access = self.access.over(unknowns.sizes, self.value)
        return Store(self.node, unknowns.value(self.value), access, self.register)


def write_map(expressions: Graph, stores: Sequence[Store], buffer_of: BufferOf) -> Draft:
    """Return the kernel that stores expressions over their domain, which has at least one element."""
    values = [*[store.value for store in stores], *expressions.loads]
    (found,) = remembered(
        lambda sizes: ("map", expressions.key(sizes), tuple([store.key(sizes) for store in stores])),
        values,
        buffer_of,
        lambda unknowns: [_write_map(expressions.over(unknowns), [s.over(unknowns) for s in stores], unknowns.buffer)],
    )
    return found


def _write_map(expressions: Graph, stores: Sequence[Store], buffer_of: BufferOf) -> Draft:
    axes = collapse(expressions.shape, all_strides(expressions, stores))
    text = KernelText(buffer_of)
    nest = Nest(text, expressions, axes)
    inner = inner_axes(axes)
    nest.literal_axes = {k for k in inner if axes[k].extent <= LITERAL_EXTENT and len(axes) > 1}
    outer = list(range(len(axes) - len(inner)))
    for store in stores:
        text.pointer(store.value, "out")
    along = other_direction(nest, stores)
    if along is not None:
        nest.move_bits(store.node for store in stores)
        extent = write_tiles(nest, along, stores, lambda pieces: write_body(nest, stores, pieces))
        return draft(text, expressions, stores, extent, "tiles_" + kernel_name(expressions))
    _write_loops(nest, outer, inner, stores)
    extent = math.prod(axes[k].extent for k in outer) if outer else (axes[0].extent if axes else 1)
    return draft(text, expressions, stores, extent)


def _write_loops(nest: Nest, outer: Sequence[int], inner: Sequence[int], stores: Sequence[Store]) -> None:
    """Write the loops over units and their elements."""
    pieces: dict[int, Piece] = {}
    if not inner:
        write_body(nest, stores, pieces)
    elif any(bounds := _bounds(nest, outer, inner, stores)):
        _write_narrowed(nest, outer, inner, bounds, stores)
    elif not outer:
        with open_strips(nest, 0, ("lo", "hi"), stores) as pieces:
            write_body(nest, stores, pieces)
    elif has_parts_of_lines(nest, stores):
        with open_pieces_of_rows(nest, stores[0]) as small:
            write_body(nest, stores, small)
    else:
        unrolled = unrolled_axes(nest, inner, stores)
        with open_rows(nest, outer), ExitStack() as loops:
            for axis in inner[: len(inner) - max(len(unrolled), 1)]:
                loops.enter_context(nest.loop(axis))
            if unrolled:
                write_unrolled(nest, unrolled, stores)
            else:
                pieces = loops.enter_context(open_strips(nest, inner[-1], None, stores))
                write_body(nest, stores, pieces)
    if pieces:
        nest.text.line("finish_streams()")


def _bounds(nest: Nest, outer: Sequence[int], inner: Sequence[int], stores: Sequence[Store]) -> list[Narrowing | None]:
    """Return where units change anything, and where elements of their innermost loop do."""
    rows = _narrowed(nest, outer[0], stores) if len(outer) == 1 else None
    return [rows, _narrowed(nest, inner[-1], stores)]


def _write_narrowed(
    nest: Nest,
    outer: Sequence[int],
    inner: Sequence[int],
    bounds: Sequence[Narrowing | None],
    stores: Sequence[Store],
) -> None:
    """Write the loops over what is between bounds."""
    rows, elements = bounds
    with ExitStack() as loops:
        if rows is not None:
            start, stop = rows.write(nest.extent(outer[0]))
            loops.enter_context(nest.loop(outer[0], f"max({start}, lo), min({stop}, hi)"))
        elif outer:
            loops.enter_context(open_rows(nest, outer))
        for axis in inner[:-1]:
            loops.enter_context(nest.loop(axis))
        part = None if outer else "lo, hi"
        if elements is not None:
            start, stop = elements.write(nest.extent(inner[-1]))
            part = f"{start}, {stop}" if outer else f"max({start}, lo), min({stop}, hi)"
        loops.enter_context(nest.loop(inner[-1], part))
        write_body(nest, stores, {})


def _narrowed(nest: Nest, axis: int, stores: Sequence[Store]) -> Narrowing | None:
    """Return where along an axis an elementwise kernel's stores change anything, if bounds say that not all do."""
    nodes, masks = nest.expressions.nodes, []
    for store in stores:
        node = nodes[store.node]
        if not isinstance(node, Apply) or node.op.definition is not comparison.SELECT:
            return None
        mask, _, other = node.operands
        old = nodes[other]
        if not isinstance(old, Load) or old.access != store.access or not nest.text.share(old.value, store.value):
            return None
        masks.append(mask)
    return Narrowing(nest, axis, masks) or None


def draft(text: KernelText, expressions: Graph, stores: Sequence[Store], extent: int, name: str = "") -> Draft:
    """Return the finished kernel."""
    size = math.prod(expressions.shape)
    flops, traffic = cost_of(expressions, stores)
    kernel = text.finish(name or kernel_name(expressions))
    grain = grain_of(extent, size * flops, size * traffic)
    traffic += CACHE_LINE * sum(_is_scattered(node) for node in expressions.nodes)  # where these are far apart
    return Draft(kernel, tuple(text.buffers), tuple(text.dims), extent, grain, size * flops, size * traffic)


def _is_scattered(node: Node) -> bool:
    """Return whether neighbours in the domain are read far apart, at places that only the program's run tells."""
    if not isinstance(node, Load) or not node.access.starts or any(node.access.strides[-1:]):
        return False
    reach = sum(start.limit * start.stride for start in node.access.starts)
    return node.register.dtype.itemsize * reach > FAR_BYTES


def all_strides(expressions: Graph, stores: Sequence[Store]) -> list[tuple[int, ...]]:
    """Return the strides of everything that a kernel reads and writes."""
    found = [node.access.strides for node in expressions.nodes if isinstance(node, PLACED)]
    return found + [store.access.strides for store in stores]


def inner_axes(axes: Sequence[Axis]) -> list[int]:
    """Return the axes of the loops inside a row: the last one, and those around it while rows would be short."""
    if len(axes) < 2:
        return list(range(len(axes)))
    first, size = len(axes) - 1, axes[-1].extent
    while first > 1 and size < SHORT_ROW:
        first -= 1
        size *= axes[first].extent
    return list(range(first, len(axes)))


@contextmanager
def open_rows(nest: Nest, outer: Sequence[int]) -> Iterator[None]:
    """Open the loops over units, which are the outer axes flattened.

    The last of these axes has a loop of its own, of as much of it as is asked for: to decode its index takes divisions,
    which are longer than many a row.
    """
    *others, last = outer
    if not others:
        with nest.loop(last, "lo, hi"):
            yield
        return
    extent = nest.extent(last)
    first, stop = f"divide(to_i64(lo), to_i64({extent}))", f"divide(to_i64(hi + {extent} - 1), to_i64({extent}))"
    flat = f"i{others[0]}" if len(others) == 1 else "rows"
    with ExitStack() as loops:
        if len(others) == 1:
            loops.enter_context(nest.loop(others[0], f"{first}, {stop}"))
        else:
            loops.enter_context(nest.block(f"for rows in range({first}, {stop}):"))
            nest.decode("rows", others)
        done = nest.text.let(f"{flat} * {extent}", "done")
        loops.enter_context(nest.loop(last, f"max(lo - {done}, 0), min(hi - {done}, {extent})"))
        yield


def write_inner(nest: Nest, inner: Sequence[int], stores: Sequence[Store]) -> None:
    """Write the loops inside a unit."""
    if not inner:
        write_body(nest, stores, {})
        return
    with nest.loop(inner[0]):
        write_inner(nest, inner[1:], stores)


def unrolled_axes(nest: Nest, inner: Sequence[int], stores: Sequence[Store]) -> list[int]:
    """Return the innermost axes, of few elements all in all, over which there are no loops: all is written out.

    LLVM unrolls such loops itself, but too late for vectors where their elements share what was loaded outside. Results
    larger than caches are asked for in loops, unless they are bytes, of which a line has many elements.
    """
    widest = max(itemsize(store) for store in stores)
    if widest > UNROLLED_BYTES or (widest > 1 and is_far(nest, stores, MEMORY_BYTES)):
        return []
    ops = 1 + sum(COSTS.get(node.op.definition, 1) for node in nest.expressions.nodes if isinstance(node, Apply))
    found: list[int] = []
    count = 1
    for axis in reversed(inner):
        count *= nest.axes[axis].extent
        if axis not in nest.literal_axes or count > LITERAL_EXTENT or count * ops > UNROLLED_OPS:
            break
        found.insert(0, axis)
    return found if any(_shares(nest, axis) for axis in found) else []


def _shares(nest: Nest, axis: int) -> bool:
    """Return whether elements along an axis share what is loaded for other ones elsewhere."""
    loads = [node.access for node in nest.expressions.nodes if isinstance(node, Load)]
    return any(nest.strides(access)[axis] == 0 and any(nest.strides(access)) for access in loads)


def write_unrolled(nest: Nest, axes: Sequence[int], stores: Sequence[Store]) -> None:
    """Write the body for each element along some axes."""
    for indices in product(*[range(nest.axes[axis].extent) for axis in axes]):
        with nest.fixed(dict(zip(axes, map(str, indices), strict=True))):
            write_body(nest, stores, {})


def write_body(nest: Nest, stores: Sequence[Store], pieces: Mapping[int, Piece]) -> None:
    """Write all expressions, then all stores: a store may overwrite what an expression reads.

    Results of which there are pieces, by the numbers of their stores, are put together there.
    """
    nest.move_bits(store.node for store in stores)
    nest.write([store.node for store in stores])
    for number, store in enumerate(stores):
        if number in pieces:
            write_into(nest, store, len(nest.axes) - 1, pieces[number], nest.name(store.node))
        else:
            write_store(nest, store, nest.name(store.node))


def write_store(nest: Nest, store: Store, value: str) -> None:
    """Write the statement that stores a value at the current place."""
    pointer = nest.text.pointer(store.value, "out")
    word = nest.store_word(store.node, store.register)
    nest.text.line(f"{word}({pointer}, {nest.index(store.access)}, {value})")


def cost_of(expressions: Graph, stores: Sequence[Store]) -> tuple[int, int]:
    """Return operations and bytes of one element of the domain, what is computed outside inner loops left out."""
    flops, traffic = 1, sum(store.register.dtype.itemsize for store in stores)
    for node in expressions.nodes:
        if isinstance(node, Apply):
            flops += COSTS.get(node.op.definition, 1)
        elif isinstance(node, Load) and node.access.strides and node.access.strides[-1]:
            traffic += node.register.dtype.itemsize
    return flops, traffic


def is_short(expressions: Graph, stores: Sequence[Store]) -> bool:
    """Return whether a kernel is not worth a second thread's attention."""
    size = math.prod(expressions.shape)
    flops, traffic = cost_of(expressions, stores)
    short: bool = nanoseconds(size * flops, size * traffic) < CHUNK_NANOSECONDS
    return short


def kernel_name(expressions: Graph, prefix: str = "map") -> str:
    """Return a name from the ops that a kernel computes."""
    names = [node.op.definition.name for node in expressions.nodes if isinstance(node, Apply)]
    parts = names if len(names) <= 4 else [*names[:2], f"{len(names) - 3}_more", names[-1]]
    return "_".join([prefix, *parts]) if parts or prefix != "map" else "copy"
