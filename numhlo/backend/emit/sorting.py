"""sort: a stable merge sort of every row, with the comparator written into it.

Nothing branches on data, which is what makes sorting slow. Short runs are sorted by counting, for each element, those
that come before it: SIMD code. Then runs are merged pairwise, to and fro between the result and scratch memory,
from both ends at once, so that two chains of dependent steps run side by side. Rows that are moved by integers become
words of a key and a place (`sorts.of_words`); floats alone have a sort of their own (`sorts.of_floats`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from numhlo.backend.emit.cost import grain_of
from numhlo.backend.emit.draft import Draft
from numhlo.backend.emit.kernel_text import BufferOf, KernelText
from numhlo.backend.emit.registers import REGISTERS
from numhlo.backend.emit.scalar_region import write_region
from numhlo.backend.emit.sorts.by_counting import emit_count_sort, sorts_by_counting
from numhlo.backend.emit.sorts.of_floats import emit_float_sort, sorts_floats
from numhlo.backend.emit.sorts.of_words import compared_integers, emit_word_sort, sorts_words
from numhlo.backend.emit.sorts.writer import SortWriter
from numhlo.backend.emit.support import emits_region
from numhlo.backend.emit.tables import KERNELS, RootRule
from numhlo.lowering.ir import Op, Region, Value
from numhlo.lowering.ops.sorting import SORT

SPECIAL = ((sorts_by_counting, emit_count_sort), (sorts_floats, emit_float_sort), (sorts_words, emit_word_sort))
"""Which sorts have kernels of their own, and what appends them."""


def _refuse(op: Op) -> str:
    return "" if emits_region(op.regions[0]) else "its comparator is not straight-line code"


def emit_sort(op: Op, planner: Any) -> None:
    """Append copies with the sorted dimension last, the launch that sorts them, and copies back where they are due."""
    rank = op.operands[0].tensor.ndim
    dimension = op.attributes["dimension"] % rank
    shape = op.operands[0].tensor.shape
    if math.prod(shape) == 0 or shape[dimension] == 1:
        for operand, result in zip(op.operands, op.results, strict=True):
            planner.begin_update(result, operand, [v for v in op.operands if v is not operand])
        planner.copied_only(op, planner.expressions(()), op.operands)
        return
    order = [d for d in range(rank) if d != dimension] + [dimension]
    for sorts, emit in SPECIAL:
        if sorts(op):
            emit(op, planner, order)
            return
    if dimension == rank - 1:
        for operand, result in zip(op.operands, op.results, strict=True):
            planner.begin_update(result, operand, [v for v in op.operands if v is not operand])
        rows = op.results
    else:
        rows = [planner.permuted(operand, order) for operand in op.operands]
        for result in op.results:
            planner.output(result)
    scratch = [planner.scratch(v.tensor) for v in rows]
    planner.launch_op(op, write_sort(op.regions[0], rows, scratch, planner.buffer), op.results)
    if dimension != rank - 1:
        back = [order.index(d) for d in range(rank)]
        for row, result in zip(rows, op.results, strict=True):
            planner.permuted(row, back, result)


def write_sort(comparator: Region, rows: Sequence[Value], scratch: Sequence[Value], buffer_of: BufferOf) -> Draft:
    """Return the kernel that sorts each row of some arrays in place, all arrays together."""
    text = KernelText(buffer_of)

    def less(lhs: Sequence[str], rhs: Sequence[str]) -> str:
        return write_region(text, comparator, [name for pair in zip(lhs, rhs, strict=True) for name in pair])[0]

    storages = [REGISTERS[v.tensor.dtype].storage for v in rows]
    numbers = rows[0].tensor.dtype if len(rows) == 1 and compared_integers(comparator) == "LT" else None
    pointers = [text.pointer(v, "out") for v in rows], [text.pointer(v, "scratch") for v in scratch]
    writer = SortWriter(text, storages, less, *pointers, numbers)
    length = rows[0].tensor.shape[-1]
    size = text.number("length", length, "length")
    with text.block("for row in range(lo, hi):"):
        text.line(f"base = row * {size}")
        writer.sort(length)
    extent = math.prod(rows[0].tensor.shape[:-1])
    passes = max(1, math.ceil(math.log2(length)))
    flops = 10 * extent * length * passes
    traffic = sum(v.tensor.nbytes for v in rows) * 2
    grain = grain_of(extent, flops, traffic)
    return Draft(text.finish("sort_rows"), tuple(text.buffers), tuple(text.dims), extent, grain, flops, traffic)


KERNELS.register(SORT)(RootRule(emit_sort, refuse=_refuse))
