"""Operands of a matrix product as batches of matrices that BLAS reads where they lie, through their strides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from numhlo.backend.emit.access import Access
from numhlo.backend.emit.kernel_text import KernelText
from numhlo.backend.emit.sizes import Sizes

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


def batch_offsets(text: KernelText, unit: str, a: Matrices, b: Matrices, batch: int) -> list[list[str]]:
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


def scalar(name: str, value: float) -> str:
    """Return the text of a number of a register type, real or complex."""
    if name[0] == "f":
        return f"to_{name}({value})"
    part = "f32" if name == "c64" else "f64"
    return f"make_{name}(to_{part}({value}), to_{part}(0.0))"
