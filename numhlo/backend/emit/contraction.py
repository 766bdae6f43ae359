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
from numhlo.backend.emit.matrices.cuts import Cut, cut_of
from numhlo.backend.emit.matrices.deep_products import write_deep_product
from numhlo.backend.emit.matrices.kernels import Letter, Pointer
from numhlo.backend.emit.matrices.operands import Matrices, batch_offsets, matrices_of, scalar
from numhlo.backend.emit.matrices.symmetric_products import is_symmetric, write_symmetric_product
from numhlo.backend.emit.registers import REGISTERS, Register
from numhlo.backend.emit.tables import KERNELS, RootRule
from numhlo.lowering.ir import Op, Value
from numhlo.lowering.ops.contraction import DOT_GENERAL, free_dimensions
from numhlo.lowering.ops.dimension_numbers import DotDimensionNumbers

BLAS_TYPES = frozenset({"f32", "f64", "c64", "c128"})
MOST_TURNED, TURNED_ROWS = 32, 512
"""Sides of a right operand that runs along columns and is put in order, at most, and rows of the result, at least.

BLAS is half as quick where a long thin left operand is in order and this one is not: 20 GFLOP/s for 40.
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
        batch = math.prod(extent for extent, _ in a.batch)
        kind, by_rows = op.result.tensor.dtype.kind, b.is_transposed and not a.is_transposed
        cut = cut_of(kind, a.rows[0], b.columns[0], a.columns[0], batch, by_rows=by_rows)
        if cut.step != a.columns[0] or cut.depth != a.columns[0]:
            return write_deep_product(operands, a, b, cut, unknowns)
        return [write_product(operands, a, b, cut, unknowns.buffer)]

    draft, *sums = remembered(
        lambda sizes: ("product", symmetric, op.result.tensor.dtype, *[matrices.over(sizes) for matrices in read]),
        values,
        planner.buffer,
        write,
        planner.partial,
    )
    planner.launch_root(op, draft)
    for each in sums:
        planner.append(each)


def write_product(values: Sequence[Value], a: Matrices, b: Matrices, cut: Cut, buffer_of: BufferOf) -> Draft:
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
    tiles = -(-m // cut.rows), -(-n // cut.columns)
    if register.kind == "f" and batch == 1 and _is_better_in_order(a, b):
        names[1] = _write_in_order(text, register, b, names[1], inner, columns)
        b = b._replace(offset=0, rows=(k, n), columns=(n, 1))
    with text.block("for unit in range(lo, hi):"):
        unit = "unit"
        if tiles != (1, 1):
            extents = text.number("high", cut.rows, "high"), text.number("wide", cut.columns, "wide")
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
            _write_tile_product(text, register, a, b, (inner, columns), places)
    extent = batch * tiles[0] * tiles[1]
    traffic = result.tensor.dtype.itemsize * batch * (m * k + k * n + m * n)
    kernel = text.finish(f"product_{register.name}")
    grain = grain_of(extent, flops // 8, traffic)
    return Draft(kernel, tuple(text.buffers), tuple(text.dims), extent, grain, flops, traffic)


def _write_tile_product(
    text: KernelText, register: Register, a: Matrices, b: Matrices, lengths: tuple[str, str], places: Sequence[str]
) -> None:
    """Write BLAS's product of strips into a tile."""
    left, right, out = places
    inner, columns = lengths
    one, zero = (scalar(register.name, value) for value in (1.0, 0.0))
    leading = [text.number((name, "leading"), x.leading, f"{name}_row") for name, x in (("lhs", a), ("rhs", b))]
    text.line(
        f"gemm_{register.name}(ctx, {a.is_transposed}, {b.is_transposed}, height, width, {inner}, {one}, {left}, "
        f"{leading[0]}, {right}, {leading[1]}, {zero}, {out}, {columns})"
    )


def _is_better_in_order(a: Matrices, b: Matrices) -> bool:
    """Return whether a long thin operand meets a small one that runs along columns, which BLAS is slow at."""
    sides = b.is_transposed and not a.is_transposed and a.rows[0] >= TURNED_ROWS
    return sides and b.rows[0] <= MOST_TURNED and b.columns[0] <= MOST_TURNED


def _write_in_order(text: KernelText, register: Register, b: Matrices, pointer: str, inner: str, columns: str) -> str:
    """Write a copy, along rows, of a small operand onto the stack; return the pointer to it."""
    ordered = text.stack_array("ordered", MOST_TURNED**2, register.dtype.itemsize)
    step = text.number(("rhs", "turned"), b.leading, "rhs_column")
    first = f"{text.number(('rhs', 'offset'), b.offset, 'rhs_offset')} + " if b.offset else ""
    with text.block(f"for i in range({inner}):"), text.block(f"for j in range({columns}):"):
        value = f"load_{register.storage}({pointer}, {first}j * {step} + i)"
        text.line(f"store_{register.storage}({ordered}, i * {columns} + j, {value})")
    return ordered


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
