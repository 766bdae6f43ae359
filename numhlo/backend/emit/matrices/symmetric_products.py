"""A matrix times its own transpose: BLAS computes a triangle of the tiles on the diagonal, the rest is mirrored.

That is half the work of a product. Tiles below the diagonal are products of two strips of the matrix; a unit of work
writes one and its mirror image.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from numhlo.backend.emit.cost import grain_of
from numhlo.backend.emit.draft import Draft
from numhlo.backend.emit.kernel_text import BufferOf, KernelText
from numhlo.backend.emit.matrices.blas_calls import Factor, Length, write_blas_call
from numhlo.backend.emit.matrices.kernels import Letter, Pointer
from numhlo.backend.emit.matrices.operands import Matrices, batch_offsets, scalar
from numhlo.backend.emit.registers import REGISTERS, Register
from numhlo.lowering.ir import Value

MOST_ROWS, ROUNDED = 384, 16
"""Rows of a tile, at most, and what their number is a multiple of."""

LEAST_ROWS = {"f": 80, "c": 24}
"""Below these, by kind of number, BLAS's whole product is faster than its half."""

LEAST_SUMMED = 16
"""Below this the mirroring costs more than it saves."""

STRIP = 8
"""Columns that are mirrored together."""


def is_symmetric(values: Sequence[Value], a: Matrices, b: Matrices) -> bool:
    """Return whether the second operand is the transpose of the first, and half of the work is worth saving."""
    same = values[0] is values[1] and (a.batch, a.offset, a.rows, a.columns) == (b.batch, b.offset, b.columns, b.rows)
    least = LEAST_ROWS[values[0].tensor.dtype.kind]
    return same and a.rows[0] >= least and a.columns[0] >= LEAST_SUMMED


def write_symmetric_product(values: Sequence[Value], a: Matrices, buffer_of: BufferOf) -> Draft:
    """Return the kernel that multiplies matrices by their transposes into a contiguous result, the last value."""
    source, _, result = values
    (n, _), (k, _) = a.rows, a.columns
    register = REGISTERS[result.tensor.dtype]
    size = register.dtype.itemsize
    text = KernelText(buffer_of)
    pointer, out = text.pointer(source), text.pointer(result, "out")
    rows, inner = text.number("n", n, "n"), text.number("k", k, "k")
    leading, step = text.number("leading", a.leading, "leading"), text.number("step", a.rows[1], "step")
    batch = math.prod(extent for extent, _ in a.batch)
    down = -(-n // MOST_ROWS)
    tiles = down * (down + 1) // 2
    height = text.number("tile", -(-n // (down * ROUNDED)) * ROUNDED, "tile")
    with text.block("for unit in range(lo, hi):"):
        matrix = _decode_unit(text, tiles, height, batch)
        text.line(f"height = min({height}, {rows} - row)")
        text.line(f"width = min({height}, {rows} - column)")
        offset, _, _ = batch_offsets(text, matrix, a, a, batch)
        whole = f"{matrix} * {rows} * {rows} + " if batch > 1 else ""
        strips = [
            text.let(f"advance({pointer}, ({' + '.join([*offset, f'{first} * {step}'])}) * {size})", "strip")
            for first in ("row", "column")
        ]
        tile = text.let(f"advance({out}, ({whole}row * {rows} + column) * {size})", "tile")
        mirror = text.let(f"advance({out}, ({whole}column * {rows} + row) * {size})", "mirror")
        with text.block("if row == column:"):
            # the upper triangle along columns is the lower one along rows
            matrices = (Pointer(strips[0]), Length(leading)), (Pointer(tile), Length(rows))
            turn = Letter("N" if a.is_transposed else "T")
            sizes = Length("height"), Length(inner)
            write_blas_call(
                text, "syrk", register, Letter("U"), turn, *sizes, Factor(1.0), *matrices[0], Factor(0.0), *matrices[1]
            )
        with text.block("if row != column:"):
            one, zero = (scalar(register.name, value) for value in (1.0, 0.0))
            text.line(
                f"gemm_{register.name}(ctx, {a.is_transposed}, {not a.is_transposed}, height, width, {inner}, {one}, "
                f"{strips[0]}, {leading}, {strips[1]}, {leading}, {zero}, {tile}, {rows})"
            )
        _mirror(text, register, tile, mirror, rows)
    extent, flops = batch * tiles, batch * n * n * k
    traffic = size * batch * (n * k + n * n)
    grain = grain_of(extent, flops // 8, traffic)
    kernel = text.finish(f"symmetric_product_{register.name}")
    return Draft(kernel, tuple(text.buffers), tuple(text.dims), extent, grain, flops, traffic)


def _decode_unit(text: KernelText, tiles: int, height: str, batch: int) -> str:
    """Write the first row and column of a unit's tile, counted row by row below the diagonal; return its matrix."""
    if tiles == 1:
        text.line("row = 0")
        text.line("column = 0")
        return "unit"
    matrix, tile = "0", "unit"
    if batch > 1:
        count = text.number("tiles", tiles, "tiles")
        matrix = text.let(f"divide(to_i64(unit), to_i64({count}))", "matrix")
        tile = f"unit - {matrix} * {count}"
    text.line("below = 0")
    text.line(f"across = {tile}")
    with text.block("while across > below:"):
        text.line("below = below + 1")
        text.line("across = across - below")
    text.line(f"row = below * {height}")
    text.line(f"column = across * {height}")
    return matrix


def _mirror(text: KernelText, register: Register, tile: str, mirror: str, rows: str) -> None:
    """Write the copy of what lies below the diagonal to above it."""
    load, store = (f"{verb}_{register.storage}" for verb in ("load", "store"))
    with (
        text.block(f"for first in range(0, width, {STRIP}):"),
        text.block("for i in range(select(row == column, first, 0), height):"),
        text.block(
            f"for j in range(first, select(row == column, min(first + {STRIP}, i), min(first + {STRIP}, width))):"
        ),
    ):
        text.line(f"{store}({mirror}, j * {rows} + i, {load}({tile}, i * {rows} + j))")
