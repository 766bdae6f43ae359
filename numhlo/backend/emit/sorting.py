"""sort: a stable merge sort of every row, with the comparator written into it.

Nothing branches on data, which is what makes sorting slow. Short runs are sorted by counting, for each element, those
that come before it: SIMD code. Then runs are merged pairwise, to and fro between the result and scratch memory,
from both ends at once, so that two chains of dependent steps run side by side. Long rows that are ordered by integers
of 32 bits become words of a key and a place, sorted by NumPy's own code; floats alone have a sort of their own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.backend.emit.cost import grain_of
from numhlo.backend.emit.draft import Draft
from numhlo.backend.emit.float_sorting import emit_float_sort, sorts_floats
from numhlo.backend.emit.kernel_text import BufferOf, KernelText
from numhlo.backend.emit.registers import REGISTERS
from numhlo.backend.emit.scalar_region import write_region
from numhlo.backend.emit.sort_writer import SortWriter, run_length
from numhlo.backend.emit.support import emits_region
from numhlo.backend.emit.tables import KERNELS, RootRule
from numhlo.backend.numpy_sort import word_sort
from numhlo.lowering.ir import Op, Region, Value
from numhlo.lowering.ops.comparison import COMPARE
from numhlo.lowering.ops.sorting import SORT

LONG_ROW = 64
"""Rows below this length are not worth a call of NumPy's sort."""


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
    if sorts_floats(op):
        emit_float_sort(op, planner, order)
        return
    if sorts_words(op):
        _emit_words(op, planner, order)
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


def sorts_words(op: Op) -> bool:
    """Return whether rows are sorted as words of a key and a place: keys are integers of 32 bits at most, ascending.

    Words all differ, and equal keys keep their order, so any sort of words is the stable one of keys.
    """
    key = op.operands[0].tensor
    comparator = op.regions[0]
    (returned,) = comparator.returns
    compare = returned.owner
    if not isinstance(compare, Op) or compare.definition is not COMPARE or key.dtype.kind not in "iu":
        return False
    ascending = compare.attributes["comparison_direction"] == "LT"
    plain = key.dtype.itemsize <= 4 and not REGISTERS[key.dtype].narrow
    if not (ascending and plain and list(compare.operands) == list(comparator.arguments[:2])):
        return False
    return key.shape[op.attributes["dimension"] % key.ndim] >= LONG_ROW and word_sort() != 0


def _emit_words(op: Op, planner: Any, order: Sequence[int]) -> None:
    """Append the launch that sorts words and moves elements, between copies where rows don't lie dense."""
    is_last = order[-1] == len(order) - 1
    rows = op.operands if is_last else [planner.permuted(operand, order) for operand in op.operands]
    for result in op.results:
        planner.output(result)
    targets = op.results if is_last else [planner.scratch(v.tensor) for v in rows]
    words = planner.scratch(rows[0].tensor.with_dtype(np.dtype(np.uint64)))
    planner.launch_op(op, write_word_sort(rows, targets, words, planner.buffer), op.results)
    if not is_last:
        back = [order.index(d) for d in range(len(order))]
        for target, result in zip(targets, op.results, strict=True):
            planner.permuted(target, back, result)


def write_word_sort(rows: Sequence[Value], targets: Sequence[Value], words: Value, buffer_of: BufferOf) -> Draft:
    """Return the kernel that sorts each row of some arrays by the first of them, all arrays together."""
    text = KernelText(buffer_of)
    key = REGISTERS[rows[0].tensor.dtype]
    length, extent = rows[0].tensor.shape[-1], math.prod(rows[0].tensor.shape[:-1])
    sources, outs = [text.pointer(v, "in") for v in rows], [text.pointer(v, "out") for v in targets]
    scratch = text.pointer(words, "words")
    size, sort = text.number("length", length, "length"), text.number("sort", word_sort(), "sort_at")
    bias = f" + {1 << (key.bits - 1)}" if key.kind == "i" else ""
    with text.block("for row in range(lo, hi):"):
        text.line(f"base = row * {size}")
        text.line(f"word = advance({scratch}, base * 8)")
        with text.block(f"for k in range({size}):"):
            text.line(f"key = to_i64(load_{key.storage}({sources[0]}, base + k)){bias}")
            text.line("store_i64(word, k, (key << 32) | k)")
        text.line(f"call_fortran({sort}, word, {size}, 0)")
        for value, source, out in zip(rows, sources, outs, strict=True):
            storage = REGISTERS[value.tensor.dtype].storage
            with text.block(f"for k in range({size}):"):
                text.line(f"place = load_i64(word, k) & {(1 << 32) - 1}")
                text.line(f"store_{storage}({out}, base + k, load_{storage}({source}, base + place))")
    flops = 4 * extent * length * max(1, math.ceil(math.log2(length)))
    traffic = sum(v.tensor.nbytes for v in (*rows, *targets)) + 16 * extent * length
    grain = grain_of(extent, flops, traffic)
    return Draft(text.finish("sort_words"), tuple(text.buffers), tuple(text.dims), extent, grain, flops, traffic)


def write_sort(comparator: Region, rows: Sequence[Value], scratch: Sequence[Value], buffer_of: BufferOf) -> Draft:
    """Return the kernel that sorts each row of some arrays in place, all arrays together."""
    text = KernelText(buffer_of)

    def less(lhs: Sequence[str], rhs: Sequence[str]) -> str:
        return write_region(text, comparator, [name for pair in zip(lhs, rhs, strict=True) for name in pair])[0]

    storages = [REGISTERS[v.tensor.dtype].storage for v in rows]
    writer = SortWriter(
        text, storages, less, [text.pointer(v, "out") for v in rows], [text.pointer(v, "scratch") for v in scratch]
    )
    length = rows[0].tensor.shape[-1]
    size = text.number("length", length, "length")
    with text.block("for row in range(lo, hi):"):
        text.line(f"base = row * {size}")
        writer.sort(size, text.number("run", run_length(length), "run"))
    extent = math.prod(rows[0].tensor.shape[:-1])
    passes = max(1, math.ceil(math.log2(length)))
    flops = 10 * extent * length * passes
    traffic = sum(v.tensor.nbytes for v in rows) * 2
    grain = grain_of(extent, flops, traffic)
    return Draft(text.finish("sort_rows"), tuple(text.buffers), tuple(text.dims), extent, grain, flops, traffic)


KERNELS.register(SORT)(RootRule(emit_sort, refuse=_refuse))
