"""dot_general by BLAS: operands are read through their strides, and cut into tiles that depend on shapes alone.

One unit is one tile of one matrix of the batch, computed by one single-threaded call, so results have the same bits
on any number of threads. Small products, and types that BLAS does not know, are sums of products
(`planning.expansion`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from numhlo.backend.emit.access import Access, contiguous
from numhlo.backend.emit.cost import grain_of
from numhlo.backend.emit.draft import Draft, Sizes, Unknowns, remembered
from numhlo.backend.emit.kernel_text import BufferOf, KernelText
from numhlo.backend.emit.registers import REGISTERS
from numhlo.backend.emit.tables import KERNELS, RootRule
from numhlo.lowering.ir import Op, Value
from numhlo.lowering.ops.contraction import DOT_GENERAL, free_dimensions
from numhlo.lowering.ops.dimension_numbers import DotDimensionNumbers

BLAS_TYPES = frozenset({"f32", "f64", "c64", "c128"})
TILE_ROWS, TILE_COLUMNS = 256, 512
"""Extents of a tile of the result; a call on one is long enough to hide that BLAS packs its operands again."""

Loop = tuple[int, int]
"""Extent and stride."""


class Matrices(NamedTuple):
    """An operand as a batch of matrices.

    Attributes
    ----------
    batch : tuple of Loop
    rows, columns : Loop
        One of them has stride 1.
    offset : int
    """

    batch: tuple[Loop, ...]
    rows: Loop
    columns: Loop
    offset: int

    def over(self, sizes: Sizes) -> Matrices:
        """Return the same with ``sizes[n]`` for every number."""
        batch = tuple([(sizes[n], sizes[stride]) for n, stride in self.batch])
        (rows, row_stride), (columns, column_stride) = self.rows, self.columns
        return Matrices(
            batch, (sizes[rows], sizes[row_stride]), (sizes[columns], sizes[column_stride]), sizes[self.offset]
        )

    @property
    def is_transposed(self) -> bool:
        """Return whether memory runs along columns."""
        return self.columns[1] != 1 and self.columns[0] != 1

    @property
    def leading(self) -> int:
        """Return the distance between the rows in memory, of the matrix or of its transpose."""
        (rows, row_stride), (columns, column_stride) = self.rows, self.columns
        if self.is_transposed:
            return column_stride if columns > 1 else rows
        return row_stride if rows > 1 else columns


def matrices_of(shape: Sequence[int], access: Access, groups: Sequence[Sequence[int]]) -> Matrices | None:
    """Return an operand as matrices, or None where BLAS can't read it.

    Parameters
    ----------
    shape : sequence of int
    access : Access
    groups : three sequences of int
        Batching dimensions, and those that make up rows and columns.
    """
    batch, row_dims, column_dims = groups
    rows, columns = _merged(shape, access, row_dims), _merged(shape, access, column_dims)
    if access.starts or len(rows) > 1 or len(columns) > 1:
        return None
    of_batch = tuple([(shape[d], access.strides[d]) for d in batch])
    matrices = Matrices(of_batch, rows[0] if rows else (1, 1), columns[0] if columns else (1, 1), access.offset)
    inner, outer = (matrices.rows, matrices.columns) if matrices.is_transposed else (matrices.columns, matrices.rows)
    fits = inner[0] == 1 or inner[1] == 1
    return matrices if fits and (outer[0] == 1 or outer[1] >= inner[0]) else None


def _merged(shape: Sequence[int], access: Access, dims: Sequence[int]) -> list[Loop]:
    """Return the fewest loops over some dimensions, in order."""
    loops: list[Loop] = []
    for dim in dims:
        extent, stride = shape[dim], access.strides[dim]
        if extent == 1:
            continue
        if loops and loops[-1][1] == stride * extent:
            loops[-1] = (loops[-1][0] * extent, stride)
        else:
            loops.append((extent, stride))
    return loops


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
            matrices = matrices_of(shape, Access(0, contiguous(shape)), packed)
            assert matrices is not None
        values.append(value)
        read.append(matrices)
    planner.output(op.result)
    values.append(op.result)

    def write(unknowns: Unknowns) -> list[Draft]:
        a, b = (matrices.over(unknowns.sizes) for matrices in read)
        return [write_product([unknowns.value(v) for v in values], a, b, unknowns.buffer)]

    (draft,) = remembered(
        lambda sizes: ("product", op.result.tensor.dtype, *[matrices.over(sizes) for matrices in read]),
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
    tiles = -(-m // TILE_ROWS), -(-n // TILE_COLUMNS)
    flops = 2 * batch * m * n * k
    with text.block("for unit in range(lo, hi):"):
        unit = "unit"
        if tiles != (1, 1):
            unit = _decode_tiles(text, tiles, rows, columns, batch)
        else:
            text.line(f"height = {rows}")
            text.line(f"width = {columns}")
        offsets = _batch_offsets(text, unit, a, b, batch)
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
        one, zero = (_scalar(register.name, value) for value in (1.0, 0.0))
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


def _scalar(name: str, value: float) -> str:
    if name[0] == "f":
        return f"to_{name}({value})"
    part = "f32" if name == "c64" else "f64"
    return f"make_{name}(to_{part}({value}), to_{part}(0.0))"


def _decode_tiles(text: KernelText, tiles: tuple[int, int], rows: str, columns: str, batch: int) -> str:
    """Write a unit's matrix, first row and column, height and width; return the matrix's name."""
    across = text.number("across", tiles[1], "across")
    rest = text.let(f"divide(to_i64(unit), to_i64({across}))", "rest")
    text.line(f"column = (unit - {rest} * {across}) * {TILE_COLUMNS}")
    matrix = "0"
    if batch > 1:
        down = text.number("down", tiles[0], "down")
        matrix = text.let(f"divide({rest}, to_i64({down}))", "matrix")
        rest = f"({rest} - {matrix} * {down})"
    text.line(f"row = {rest} * {TILE_ROWS}")
    text.line(f"height = min({TILE_ROWS}, {rows} - row)")
    text.line(f"width = min({TILE_COLUMNS}, {columns} - column)")
    return matrix


def _batch_offsets(text: KernelText, unit: str, a: Matrices, b: Matrices, batch: int) -> list[list[str]]:
    """Write the batch indices; return the terms of the offsets of both operands, and none for the result."""
    offsets: list[list[str]] = [
        [text.number((name, "offset"), x.offset, f"{name}_offset")] if x.offset else []
        for name, x in (("lhs", a), ("rhs", b))
    ]
    if batch > 1:
        loops = _merged_batch(a.batch, b.batch)
        rest = unit
        for number, (extent, *strides) in reversed(list(enumerate(loops))):
            index = rest
            if number:
                size = text.number(("batch", number), extent, "batch")
                above = text.let(f"divide(to_i64({rest}), to_i64({size}))", "rest")
                index, rest = text.let(f"{rest} - {above} * {size}", "index"), above
            for name, terms, stride in zip(("lhs", "rhs"), offsets, strides, strict=True):
                if stride:
                    terms.append(f"{index} * {text.number((name, number), stride, f'{name}_matrix')}")
    return [*offsets, []]


def _merged_batch(left: Sequence[Loop], right: Sequence[Loop]) -> list[tuple[int, int, int]]:
    """Return the fewest loops over a batch: extent, stride in either operand."""
    loops: list[tuple[int, int, int]] = []
    for (extent, a), (_, b) in zip(left, right, strict=True):
        if extent == 1:
            continue
        if loops and loops[-1][1:] == (a * extent, b * extent):
            loops[-1] = (loops[-1][0] * extent, a, b)
        else:
            loops.append((extent, a, b))
    return loops


def _step(text: KernelText, x: Matrices, whole: bool, variable: str, name: str) -> list[str]:
    """Return the term of an operand's offset that a tile's first row or column gives."""
    if whole:
        return []
    stride = (x.rows if variable == "row" else x.columns)[1]
    return [variable if stride == 1 else f"{variable} * {text.number((name, 'step'), stride, f'{name}_step')}"]


KERNELS.register(DOT_GENERAL)(RootRule(emit_dot_general, refuse=_refuse, strided=_reads_strided))
