"""Chooses the kernels of a reduction: along rows in memory, along columns, or a few elements unrolled.

Where results are few and long, blocks are units of their own, and a second kernel combines their results in order. All
kernels give the bits of `numhlo.lowering.ops.reduction_order`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from numhlo.backend.emit.draft import Draft, Partial, remembered
from numhlo.backend.emit.expressions import Apply, Load
from numhlo.backend.emit.kernel_text import BufferOf
from numhlo.backend.emit.nest import Axis
from numhlo.backend.emit.reductions.columns import COLUMNS, ColumnWriter, windows_overlap
from numhlo.backend.emit.reductions.packed import PackedWriter, suits_packing
from numhlo.backend.emit.reductions.rows import SHORT_ROW, RowWriter
from numhlo.backend.emit.reductions.unrolled import UnrolledWriter
from numhlo.backend.emit.reductions.writer import Reduction
from numhlo.lowering.ops.reduction_order import BLOCK

UNROLLED = 8
"""Numbers of elements up to which a reduction is written out."""

UNROLLED_WINDOW = 32
"""Numbers of products up to which a sum of them is, where windows overlap along memory."""

LONG_LINE = 16
"""Results side by side from which on they are worth it."""

FEW_UNITS = 16
"""Numbers of units below which the blocks of long reductions become units."""


def write_reduction(reduction: Reduction, buffer_of: BufferOf, partial: Partial) -> list[Draft]:
    """Return the kernel, or the two kernels, that reduce over a domain with at least one element."""
    return remembered(
        lambda sizes: ("reduction", reduction.key(sizes)),
        reduction.values,
        buffer_of,
        lambda unknowns: _write_reduction(reduction.over(unknowns), unknowns.buffer, unknowns.partial),
        partial,
    )


def _write_reduction(reduction: Reduction, buffer_of: BufferOf, partial: Partial) -> list[Draft]:
    axes, kept = reduction.collapsed()
    count = math.prod(axis.extent for axis in axes[kept:])
    units = math.prod(axis.extent for axis in axes[:kept])
    columns = count > UNROLLED and _prefers_columns(reduction, axes, kept)
    blocks = -(-count // BLOCK)
    if columns:
        units = units // axes[kept - 1].extent * -(-axes[kept - 1].extent // COLUMNS)
    in_parts = blocks > 1 and units < FEW_UNITS and all(r.combiner.identity is not None for r in reduction.reduced)
    outputs = math.prod(axis.extent for axis in axes[:kept])
    short = count < SHORT_ROW and kept > 0 and not columns and _searches_what_is_computed(reduction)
    if count <= UNROLLED or short or (count <= UNROLLED_WINDOW and _is_window(reduction, axes, kept)):
        return [UnrolledWriter(reduction, axes, kept, buffer_of).write()]
    if columns and not in_parts and len(axes) == kept + 1 and suits_packing(reduction, axes[kept - 1].extent, count):
        return [PackedWriter(reduction, axes, kept, buffer_of).write()]
    writer = (ColumnWriter if columns else RowWriter)(reduction, axes, kept, buffer_of)
    is_narrowed = reduction.is_repeated and isinstance(writer, RowWriter) and writer.narrowing
    if not in_parts or is_narrowed:  # one unit of a loop looks at no block beyond the bounds
        return [writer.write()]
    return writer.write_in_parts([partial(r.combiner.registers[0], blocks * outputs) for r in reduction.reduced])


def prefers_rows(reduction: Reduction) -> bool:
    """Return whether a reduction is long and goes along rows, all of a row in one unit."""
    shape = reduction.expressions.shape
    count = math.prod([shape[dim] for dim in reduction.axes])
    if count <= UNROLLED:
        return False
    axes, kept = reduction.collapsed()
    units = math.prod([shape[dim] for dim in reduction.kept])
    if kept == 0 or _prefers_columns(reduction, axes, kept):
        return False
    return count <= BLOCK or units >= FEW_UNITS


def _searches_what_is_computed(reduction: Reduction) -> bool:
    """Return whether places of extremes are looked for among elements that memory does not hold.

    Those of a short row would be stored one by one, and loaded as a vector: that waits for all of the stores.
    """
    nodes = reduction.expressions.nodes
    return any(len(r.inputs) == 2 and isinstance(nodes[r.inputs[0]], Apply) for r in reduction.reduced)


def _is_window(reduction: Reduction, axes: Sequence[Axis], kept: int) -> bool:
    """Return whether results that lie side by side are sums over windows that overlap, whose elements do so too.

    Written out, they are SIMD code without memory in between: a small filter over a long line.
    """
    expressions = reduction.expressions
    if not kept or axes[kept - 1].extent < LONG_LINE or reduction.stores or len(reduction.reduced) > 1:
        return False
    if not reduction.reduced[0].combiner.in_lanes or sum(isinstance(n, Apply) for n in expressions.nodes) > 1:
        return False
    last = axes[kept - 1].dims[-1]
    loads = [node for node in expressions.nodes if isinstance(node, Load)]
    return all(node.access.strides[last] in (0, 1) for node in loads) and windows_overlap(reduction, axes, kept)


def _prefers_columns(reduction: Reduction, axes: Sequence[Axis], kept: int) -> bool:
    """Return whether memory runs along the last kept axis rather than the last reduced one.

    What is stored on the way counts as what is loaded does. Where indices say which rows are taken, memory
    runs across these.
    """
    if not kept or not all(r.combiner.is_choice for r in reduction.reduced):
        return False
    columns, rows = axes[kept - 1].dims[-1], axes[-1].dims[-1]
    balance, slides = 0, False
    expressions = reduction.expressions
    loads = [node.access for node in expressions.nodes if isinstance(node, Load)]
    for access in (*loads, *[store.access for store in reduction.stores]):
        across, along = access.strides[columns], access.strides[rows]
        if across and along:  # else its elements serve many results, or many steps, wherever they lie
            balance += (across == 1) - (along == 1)
            slides = slides or across == along == 1
        elif across == 1 and expressions.starts_vary_along(access, rows):
            balance += not expressions.starts_vary_along(access, columns)
    return balance > 0 or (balance == 0 and slides and axes[kept - 1].extent >= LONG_LINE)
