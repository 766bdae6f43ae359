"""Matrix products that sum over much for a result of one tile: units are pieces of the sum, added up in order.

A piece is several calls, of which the later ones add to what the earlier ones have written. See `cuts`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from numhlo.backend.emit.cost import grain_of
from numhlo.backend.emit.draft import Draft, Unknowns
from numhlo.backend.emit.kernel_text import KernelText
from numhlo.backend.emit.matrices.cuts import Cut
from numhlo.backend.emit.matrices.operands import Matrices, batch_offsets, scalar
from numhlo.backend.emit.registers import REGISTERS, Register
from numhlo.lowering.ir import Value


def write_deep_product(values: Sequence[Value], a: Matrices, b: Matrices, cut: Cut, unknowns: Unknowns) -> list[Draft]:
    """Return the kernel that multiplies into a contiguous result, the last value, and what adds up its pieces."""
    left, right, result = values
    (m, _), (k, inner_step), (n, _) = a.rows, a.columns, b.columns
    register = REGISTERS[result.tensor.dtype]
    batch = math.prod(extent for extent, _ in a.batch)
    pieces = -(-k // cut.depth) if cut.depth != k else 1
    target = unknowns.partial(register, pieces * m * n) if pieces != 1 else result
    text = KernelText(unknowns.buffer)
    names = [text.pointer(left, "lhs"), text.pointer(right, "rhs")]
    out = text.pointer(target, "out")
    rows, inner, columns = (text.number(key, value, key) for key, value in (("m", m), ("k", k), ("n", n)))
    step = text.number("step", cut.step, "step")
    size = register.dtype.itemsize
    one, zero = (scalar(register.name, value) for value in (1.0, 0.0))
    with text.block("for unit in range(lo, hi):"):
        if pieces != 1:
            depth = text.number("depth", cut.depth, "depth")
            text.line(f"start = unit * {depth}")
            text.line(f"stop = min(start + {depth}, {inner})")
        else:
            text.line("start = 0")
            text.line(f"stop = {inner}")
        offsets = batch_offsets(text, "unit", a, b, batch)
        tile = text.let(f"advance({out}, unit * {rows} * {columns} * {size})", "tile")
        with text.block(f"for first in range(start, stop, {step}):"):
            places = []
            for name, hint, terms, stride in zip(names, "ab", offsets, (inner_step, b.rows[1]), strict=False):
                along = "first" if stride == 1 else f"first * {text.number((hint, 'along'), stride, f'{hint}_step')}"
                places.append(text.let(f"advance({name}, ({' + '.join([*terms, along])}) * {size})", hint))
            leading = [text.number((name, "leading"), x.leading, f"{name}_row") for name, x in (("lhs", a), ("rhs", b))]
            text.line(
                f"gemm_{register.name}(ctx, {a.is_transposed}, {b.is_transposed}, {rows}, {columns}, "
                f"min({step}, stop - first), {one}, {places[0]}, {leading[0]}, {places[1]}, {leading[1]}, "
                f"select(first == start, {zero}, {one}), {tile}, {columns})"
            )
    flops, traffic = 2 * batch * m * n * k, size * batch * (m * k + k * n + m * n)
    units = batch * pieces
    kernel = text.finish(f"deep_product_{register.name}")
    draft = Draft(
        kernel, tuple(text.buffers), tuple(text.dims), units, grain_of(units, flops // 8, traffic), flops, traffic
    )
    return [draft] if pieces == 1 else [draft, _write_sum(target, result, register, pieces, m * n, unknowns)]


def _write_sum(partial: Value, result: Value, register: Register, pieces: int, count: int, unknowns: Unknowns) -> Draft:
    """Return the kernel that adds up the pieces, the first one first."""
    text = KernelText(unknowns.buffer)
    source, out = text.pointer(partial, "part"), text.pointer(result, "out")
    extent, many = text.number("count", count, "count"), text.number("pieces", pieces, "pieces")
    load, store = (f"{verb}_{register.storage}" for verb in ("load", "store"))
    with text.block("for i in range(lo, hi):"):
        text.line(f"total = {load}({source}, i)")
        with text.block(f"for piece in range(1, {many}):"):
            text.line(f"total = total + {load}({source}, piece * {extent} + i)")
        text.line(f"{store}({out}, i, total)")
    flops, traffic = count * pieces, register.dtype.itemsize * count * (pieces + 1)
    kernel = text.finish(f"sum_of_pieces_{register.name}")
    grain = grain_of(count, flops, traffic)
    return Draft(kernel, tuple(text.buffers), tuple(text.dims), count, grain, flops, traffic)
