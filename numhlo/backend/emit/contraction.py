"""dot_general by BLAS: operands are read through their strides, and cut into tiles that depend on shapes alone.

One unit is one tile of one matrix of the batch, computed by one single-threaded call, so results have the same bits
on any number of threads. Small products, and types that BLAS does not know, are sums of products
(`planning.expansion`). A matrix times its own transpose is half the work (`matrices.symmetric_products`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from numhlo.backend.emit.access import Access, whole_array
from numhlo.backend.emit.cost import grain_of
from numhlo.backend.emit.draft import Draft, Unknowns, remembered
from numhlo.backend.emit.kernel_text import BufferOf, KernelText
from numhlo.backend.emit.matrices.blas_calls import Factor, Length, write_blas_call
from numhlo.backend.emit.matrices.kernels import Letter, Pointer
from numhlo.backend.emit.matrices.operands import Matrices, batch_offsets, matrices_of, scalar
from numhlo.backend.emit.matrices.symmetric_products import is_symmetric, write_symmetric_product
from numhlo.backend.emit.registers import REGISTERS, Register
from numhlo.backend.emit.tables import KERNELS, RootRule
from numhlo.lowering.ir import Op, Value
from numhlo.lowering.ops.contraction import DOT_GENERAL, free_dimensions
from numhlo.lowering.ops.dimension_numbers import DotDimensionNumbers

BLAS_TYPES = frozenset({"f32", "f64", "c64", "c128"})
TILE_ROWS, TILE_COLUMNS = 256, 512
"""Extents of a tile of the result; a call on one is long enough to hide that BLAS packs its operands again."""

PIECES, PIECE_FLOPS, PIECE_ROWS = 4, 2_000_000, 32
"""A result of one tile is cut for several threads: into how many, at most, and how much one must be at least.

256 x 256 x 256 of float64 take one thread 640 us, two 340; in four pieces one thread takes 4 to 10 % longer.
Pieces of fewer rows than this cost more than a second thread gains.
"""


def operand_groups(op: Op, number: int) -> tuple[Sequence[int], Sequence[int], Sequence[int]]:
    """Return an operand's batching dimensions, those of rows, and those of columns."""
    numbers: DotDimensionNumbers = op.attributes["dot_dimension_numbers"]
    rank = op.operands[number].tensor.ndim
    if number == 0:
        batch, summed = numbers.lhs_batching_dimensions, numbers.lhs_contracting_dimensions
        return batch, free_dimensions(rank, batch, summed), summed
    batch, summed = numbers.rhs_batching_dimensions, numbers.rhs_contracting_dimensions
    return batch, summed, free_dimensions(rank, batch, summed)


def _reads_strided(op: Op, number: int, access: Access) -> bool:
    return matrices_of(op.operands[number].tensor.shape, access, operand_groups(op, number)) is not None


def _refuse(op: Op) -> str:
    register = REGISTERS[op.result.tensor.dtype]
    if register.storage not in BLAS_TYPES or any(v.tensor.dtype != register.dtype for v in op.operands):
        return f"no matrix product of {op.operands[0].tensor.short()} and {op.operands[1].tensor.short()}"
    return ""


def emit_dot_general(op: Op, planner: Any) -> None:
    """Append the launch that multiplies, after copies of operands that BLAS can't read."""
    values: list[Value] = []
    read: list[Matrices] = []
    for number in (0, 1):
        groups = operand_groups(op, number)
        value, access = planner.strided(op, number)
        shape = op.operands[number].tensor.shape
        matrices = matrices_of(shape, access, groups)
        if matrices is None:
            order = [d for group in groups for d in group]
            value = planner.permuted(op.operands[number], order)
            shape, places = tuple([shape[d] for d in order]), iter(range(len(order)))
            packed = [[next(places) for _ in group] for group in groups]
            matrices = matrices_of(shape, whole_array(shape), packed)
            assert matrices is not None
        values.append(value)
        read.append(matrices)
    planner.output(op.result)
    values.append(op.result)
    symmetric = is_symmetric(values, *read)

    def write(unknowns: Unknowns) -> list[Draft]:
        a, b = (matrices.over(unknowns.sizes) for matrices in read)
        operands = [unknowns.value(v) for v in values]
        if symmetric:
            return [write_symmetric_product(operands, a, unknowns.buffer)]
        return [write_product(operands, a, b, unknowns.buffer)]

    (draft,) = remembered(
        lambda sizes: ("product", symmetric, op.result.tensor.dtype, *[matrices.over(sizes) for matrices in read]),
        values,
        planner.buffer,
        write,
    )
    planner.launch_root(op, draft)


def write_product(values: Sequence[Value], a: Matrices, b: Matrices, buffer_of: BufferOf) -> Draft:
    """Return the kernel that multiplies batches of matrices into a contiguous result, the last of the values."""
    left, right, result = values
    (m, _), (k, _), (n, _) = a.rows, a.columns, b.columns
    register = REGISTERS[result.tensor.dtype]
    text = KernelText(buffer_of)
    names = [text.pointer(left, "lhs"), text.pointer(right, "rhs")]
    out = text.pointer(result, "out")
    rows, inner, columns = (text.number(key, value, key) for key, value in (("m", m), ("k", k), ("n", n)))
    batch = math.prod(extent for extent, _ in a.batch)
    flops = 2 * batch * m * n * k
    tile_rows, tile_columns = _tile(m, n, flops) if batch == 1 else (TILE_ROWS, TILE_COLUMNS)
    tiles = -(-m // tile_rows), -(-n // tile_columns)
    with text.block("for unit in range(lo, hi):"):
        unit = "unit"
        if tiles != (1, 1):
            extents = text.number("high", tile_rows, "high"), text.number("wide", tile_columns, "wide")
            unit = _decode_tiles(text, tiles, extents, (rows, columns), batch)
        else:
            text.line(f"height = {rows}")
            text.line(f"width = {columns}")
        offsets = batch_offsets(text, unit, a, b, batch)
        whole = tiles == (1, 1)
        offsets[0] += _step(text, a, whole, "row", "lhs")
        offsets[1] += _step(text, b, whole, "column", "rhs")
        offsets[2] = [f"{unit} * {rows} * {columns}"] if batch > 1 else []
        offsets[2] += [] if whole else [f"row * {columns} + column"]
        size = result.tensor.dtype.itemsize
        places = [
            text.let(f"advance({name}, ({' + '.join(terms)}) * {size})", hint) if terms else name
            for name, hint, terms in zip([*names, out], ("a", "b", "c"), offsets, strict=True)
        ]
        if register.kind == "c" and k > 0 and (m == 1 or n == 1):
            _write_vector_product(text, register, a, b, inner, places)
        else:
            one, zero = (scalar(register.name, value) for value in (1.0, 0.0))
            leading = [text.number((name, "leading"), x.leading, f"{name}_row") for name, x in (("lhs", a), ("rhs", b))]
            flags = f"{a.is_transposed}, {b.is_transposed}"
            text.line(
                f"gemm_{register.name}(ctx, {flags}, height, width, {inner}, {one}, {places[0]}, {leading[0]}, "
                f"{places[1]}, {leading[1]}, {zero}, {places[2]}, {columns})"
            )
    extent = batch * tiles[0] * tiles[1]
    traffic = result.tensor.dtype.itemsize * batch * (m * k + k * n + m * n)
    kernel = text.finish(f"product_{register.name}")
    grain = grain_of(extent, flops // 8, traffic)
    return Draft(kernel, tuple(text.buffers), tuple(text.dims), extent, grain, flops, traffic)


def _write_vector_product(
    text: KernelText, register: Register, a: Matrices, b: Matrices, inner: str, places: Sequence[str]
) -> None:
    """Write BLAS's product of a matrix and a vector, which along columns is one of the matrix's transpose."""
    left, right, out = places
    if b.columns[0] == 1:
        matrix, vector, outputs, turned = left, right, "height", not a.is_transposed
        distance, step = text.number(("lhs", "leading"), a.leading, "lhs_row"), b.rows[1]
    else:
        matrix, vector, outputs, turned = right, left, "width", b.is_transposed
        distance, step = text.number(("rhs", "leading"), b.leading, "rhs_row"), a.columns[1]
    sizes = (inner, outputs) if turned else (outputs, inner)
    between = text.number("between", step, "between")
    write_blas_call(
        text,
        "gemv",
        register,
        Letter("T" if turned else "N"),
        *[Length(size) for size in sizes],
        Factor(1.0),
        Pointer(matrix),
        Length(distance),
        Pointer(vector),
        Length(between),
        Factor(0.0),
        Pointer(out),
        Length("1"),
    )


def _tile(rows: int, columns: int, flops: int) -> tuple[int, int]:
    """Return the extents of a tile of one product."""
    longest = max(rows, columns)
    if rows > TILE_ROWS or columns > TILE_COLUMNS or longest < 2 * PIECE_ROWS or flops < 2 * PIECE_FLOPS:
        return TILE_ROWS, TILE_COLUMNS
    piece = -(-longest // min(PIECES, flops // PIECE_FLOPS, longest // PIECE_ROWS))
    return (piece, TILE_COLUMNS) if rows >= columns else (TILE_ROWS, piece)


def _decode_tiles(
    text: KernelText, tiles: tuple[int, int], tile: tuple[str, str], shape: tuple[str, str], batch: int
) -> str:
    """Write a unit's matrix, first row and column, height and width; return the matrix's name."""
    (high, wide), (rows, columns) = tile, shape
    across = text.number("across", tiles[1], "across")
    rest = text.let(f"divide(to_i64(unit), to_i64({across}))", "rest")
    text.line(f"column = (unit - {rest} * {across}) * {wide}")
    matrix = "0"
    if batch > 1:
        down = text.number("down", tiles[0], "down")
        matrix = text.let(f"divide({rest}, to_i64({down}))", "matrix")
        rest = f"({rest} - {matrix} * {down})"
    text.line(f"row = {rest} * {high}")
    text.line(f"height = min({high}, {rows} - row)")
    text.line(f"width = min({wide}, {columns} - column)")
    return matrix


def _step(text: KernelText, x: Matrices, whole: bool, variable: str, name: str) -> list[str]:
    """Return the term of an operand's offset that a tile's first row or column gives."""
    if whole:
        return []
    stride = (x.rows if variable == "row" else x.columns)[1]
    return [variable if stride == 1 else f"{variable} * {text.number((name, 'step'), stride, f'{name}_step')}"]


KERNELS.register(DOT_GENERAL)(RootRule(emit_dot_general, refuse=_refuse, strided=_reads_strided))
