"""Decompositions of the factorizations: custom calls of LAPACK as JAX's runtime on the CPU knows them, and plain ops.

LAPACK's matrices run along columns, which the calls say by their layouts; other runtimes then transpose as needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import Function, TensorType, Value
from numhlo.lowering.ir.records import record
from numhlo.lowering.ops import comparison, control_flow, creation, elementwise, layout, reduction
from numhlo.lowering.ops.builder import FunctionBuilder
from numhlo.lowering.ops.lazy_scipy import type_prefix
from numhlo.lowering.ops.linear_algebra import TRIANGULAR_SOLVE

INT32, BOOL = np.dtype(np.int32), np.dtype(np.bool_)


@record(frozen=True, slots=True)
class MemoryLayout:
    """An order of dimensions in memory, the fastest first; prints as the attribute that custom calls have."""

    order: tuple[int, ...]

    def __str__(self) -> str:
        elements = f"[{', '.join(map(str, self.order))}]" if len(self.order) > 1 else "".join(map(str, self.order))
        return f"dense<{elements}> : tensor<{len(self.order)}xindex>"

    @classmethod
    def of(cls, type: TensorType, is_matrix: bool) -> MemoryLayout:
        """Return the layout of a stack of column-major matrices, or of vectors or numbers."""
        rest = tuple(reversed(range(type.ndim)))
        return cls((type.ndim - 2, type.ndim - 1, *rest[2:]) if is_matrix else rest)


def lapack_attributes(
    routine: str, operands: Sequence[TensorType], results: Sequence[TensorType], rank: int, **options: str
) -> dict[str, Any]:
    """Return the attributes of a custom call of LAPACK on stacks of ``rank`` dimensions; options are its letters."""
    layouts = [tuple(MemoryLayout.of(t, t.ndim - rank == 2) for t in types) for types in (operands, results)]
    return {
        "call_target_name": f"lapack_{type_prefix(operands[0].dtype)}{routine}_ffi",
        "api_version": 4,
        "backend_config": {name: np.uint8(ord(letter)) for name, letter in sorted(options.items())},
        "operand_layouts": layouts[0],
        "result_layouts": layouts[1],
    }


class Writer(FunctionBuilder):
    """Writes a decomposition; ``batch`` are the leading dimensions of all operands."""

    def __init__(self, name: str, types: Sequence[TensorType]) -> None:
        super().__init__(name, types)
        self.types = types
        self.a = self.arguments[0]
        self.type = types[0]
        self.batch = self.type.shape[:-2]
        self.rows, self.columns = self.type.shape[-2:]
        self.kind = type_prefix(self.type.dtype)
        dtype = self.type.dtype
        self.real = np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype

    def tensor(self, *core: int, dtype: Any = None) -> TensorType:
        """Return the type of a stack of ``core``-shaped arrays."""
        return TensorType((*self.batch, *core), np.dtype(dtype or self.type.dtype))

    def lapack(
        self, routine: str, operands: Sequence[Value], results: Sequence[TensorType], **options: str
    ) -> list[Value]:
        """Append a call of LAPACK; options are its letters."""
        types = [v.tensor for v in operands]
        attributes = lapack_attributes(routine, types, results, len(self.batch), **options)
        return self.ops(control_flow.CUSTOM_CALL, *operands, results=results, **attributes)

    def splat(self, number: complex, type: TensorType) -> Value:
        """Return a tensor of one number."""
        scalar = self.constant(np.asarray(number).astype(type.dtype))
        return self.op(layout.BROADCAST_IN_DIM, scalar, result=type, broadcast_dimensions=())

    def checked(self, info: Value, *values: Value) -> list[Value]:
        """Return values with NaN where LAPACK reports a failure."""
        zero = self.splat(0, info.tensor)
        fine = self.op(comparison.COMPARE, info, zero, comparison_direction="EQ", compare_type="SIGNED")
        chosen = []
        for value in values:
            type = value.tensor
            dims = tuple(range(len(self.batch)))
            mask = self.op(layout.BROADCAST_IN_DIM, fine, result=type.with_dtype(BOOL), broadcast_dimensions=dims)
            chosen.append(self.op(comparison.SELECT, mask, value, self.splat(np.nan, type)))
        return chosen

    def triangle(self, x: Value, direction: str) -> Value:
        """Return a matrix with zeros where ``row direction column`` does not hold."""
        type = x.tensor
        row, column = (
            self.op(creation.IOTA, result=type.with_dtype(INT32), iota_dimension=type.ndim - k) for k in (2, 1)
        )
        mask = self.op(comparison.COMPARE, row, column, comparison_direction=direction, compare_type="SIGNED")
        return self.op(comparison.SELECT, mask, x, self.splat(0, type))

    def columns_of(self, x: Value, count: int) -> Value:
        """Return the first columns of matrices."""
        return self.part(x, x.tensor.shape[-2], count)

    def part(self, x: Value, rows: int, columns: int) -> Value:
        """Return the upper left part of matrices."""
        shape = x.tensor.shape
        limits = (*shape[:-2], rows, columns)
        return self.op(
            layout.SLICE, x, start_indices=(0,) * len(shape), limit_indices=limits, strides=(1,) * len(shape)
        )

    def diagonal(self, x: Value) -> Value:
        """Return the diagonals of square matrices: the row sums of what remains of them."""
        return self.reduce(self.triangle(x, "EQ"), elementwise.ADD, 0)

    def reduce(self, x: Value, combiner: Any, start: complex) -> Value:
        """Return a reduction of the last dimension."""
        type = x.tensor
        scalar = TensorType((), type.dtype)
        body = self.region([scalar, scalar], lambda p, q: [self.op(combiner, p, q)])
        init = self.constant(np.asarray(start).astype(type.dtype))
        (result,) = self.ops(reduction.REDUCE, x, init, regions=[body], dimensions=(type.ndim - 1,))
        return result


def _lu(w: Writer) -> list[Value]:
    packed, pivots, _ = w.lapack(
        "getrf", [w.a], [w.type, w.tensor(min(w.rows, w.columns), dtype=INT32), w.tensor(dtype=INT32)]
    )
    pivots = w.op(elementwise.SUBTRACT, pivots, w.splat(1, pivots.tensor))
    rows = w.op(creation.IOTA, result=w.tensor(w.rows, 1, dtype=INT32), iota_dimension=len(w.batch))
    permuted = w.op(layout.RESHAPE, _exchanged(w, rows, pivots), result=w.tensor(w.rows, dtype=INT32))
    return [packed, pivots, permuted]


def _qr(w: Writer, full: bool) -> list[Value]:
    smaller = min(w.rows, w.columns)
    width = w.rows if full else smaller
    packed, scales = w.lapack("geqrf", [w.a], [w.type, w.tensor(smaller)])
    basis = w.columns_of(packed, min(width, w.columns))
    if width > w.columns:
        rank = w.type.ndim
        basis = w.op(
            layout.PAD,
            basis,
            w.constant(np.zeros((), w.type.dtype)),
            edge_padding_low=(0,) * rank,
            edge_padding_high=(0,) * (rank - 1) + (width - w.columns,),
            interior_padding=(0,) * rank,
        )
    name = "orgqr" if w.kind in "sd" else "ungqr"
    (q,) = w.lapack(name, [basis, scales], [w.tensor(w.rows, width)])
    return [q, w.triangle(w.part(packed, width, w.columns), "LE")]


def _singular(w: Writer, mode: str) -> list[Value]:
    smaller = min(w.rows, w.columns)
    left, right = (smaller, smaller) if mode == "S" else (w.rows, w.columns)
    results = [w.type, w.tensor(smaller, dtype=w.real), w.tensor(w.rows, left), w.tensor(right, w.columns)]
    _, s, u, vh, info = w.lapack("gesdd", [w.a], [*results, w.tensor(dtype=INT32)], mode=mode)
    return w.checked(info, u, s, vh)


def _svd(w: Writer, full: bool) -> list[Value]:
    return _singular(w, "A" if full else "S")


def _svdvals(w: Writer) -> list[Value]:
    return [_singular(w, "N")[1]]


def _hermitian(w: Writer, lower: bool, mode: str) -> list[Value]:
    results = [w.type, w.tensor(w.rows, dtype=w.real), w.tensor(dtype=INT32)]
    name = "syevd" if w.kind in "sd" else "heevd"
    vectors, values, info = w.lapack(name, [w.a], results, mode=mode, uplo="L" if lower else "U")
    return w.checked(info, values, vectors)


def _eigh(w: Writer, lower: bool) -> list[Value]:
    return _hermitian(w, lower, "V")


def _eigvalsh(w: Writer, lower: bool) -> list[Value]:
    return [_hermitian(w, lower, "N")[0]]


def _general(w: Writer, right: str) -> list[Value]:
    wide = np.dtype(f"c{2 * w.real.itemsize}")
    matrix, vector = w.tensor(w.rows, w.rows, dtype=wide), w.tensor(w.rows)
    values = [vector] * (1 if w.kind in "cz" else 2)
    results = [*values, matrix, matrix, w.tensor(dtype=INT32)]
    *found, _, vectors, info = w.lapack("geev", [w.a], results, compute_left="N", compute_right=right)
    eigenvalues = found[0] if len(found) == 1 else w.op(elementwise.COMPLEX, *found)
    return w.checked(info, eigenvalues, vectors)


def _eig(w: Writer) -> list[Value]:
    return _general(w, "V")


def _eigvals(w: Writer) -> list[Value]:
    return [_general(w, "N")[0]]


def _schur(w: Writer) -> list[Value]:
    vector, count = w.tensor(w.rows), w.tensor(dtype=INT32)
    values = [vector] * (1 if w.kind in "cz" else 2)
    form, vectors, *_, info = w.lapack("gees", [w.a], [w.type, w.type, *values, count, count], mode="V", sort="N")
    return w.checked(info, form, vectors)


def _exchanges(w: Writer, pivots: Value) -> Value:
    """Return -1 for an odd number of exchanged rows, 1 for an even one."""
    place = w.op(creation.IOTA, result=pivots.tensor, iota_dimension=pivots.tensor.ndim - 1)
    moved = w.op(comparison.COMPARE, place, pivots, comparison_direction="NE", compare_type="SIGNED")
    signs = w.op(comparison.SELECT, moved, w.splat(-1, w.tensor(w.rows)), w.splat(1, w.tensor(w.rows)))
    return w.reduce(signs, elementwise.MULTIPLY, 1)


def _slogdet(w: Writer) -> list[Value]:
    packed, pivots, _ = _lu(w)
    diagonal = w.diagonal(packed)
    sizes = w.op(elementwise.ABS, diagonal)
    signs = w.reduce(w.op(elementwise.SIGN, diagonal), elementwise.MULTIPLY, 1)
    logs = w.reduce(w.op(elementwise.LOG, sizes), elementwise.ADD, 0)
    return [w.op(elementwise.MULTIPLY, signs, _exchanges(w, pivots)), logs]


def _det(w: Writer) -> list[Value]:
    packed, pivots, _ = _lu(w)
    product = w.reduce(w.diagonal(packed), elementwise.MULTIPLY, 1)
    return [w.op(elementwise.MULTIPLY, product, _exchanges(w, pivots))]


def _solve(w: Writer) -> list[Value]:
    """Factor, exchange rows of the right-hand sides one pivot after the other, substitute twice."""
    packed, pivots, _ = _lu(w)
    right = _exchanged(w, w.arguments[1], pivots)
    for lower, unit in ((True, True), (False, False)):
        right = w.op(
            TRIANGULAR_SOLVE,
            packed,
            right,
            left_side=True,
            lower=lower,
            unit_diagonal=unit,
            transpose_a="NO_TRANSPOSE",
        )
    return [right]


def _exchanged(w: Writer, right: Value, pivots: Value) -> Value:
    """Return rows exchanged by a loop: row k against row ``pivots[k]``, by masks, so that stacks may differ."""
    type, rank = right.tensor, right.tensor.ndim
    wide = type.with_dtype(INT32)
    row_numbers = w.op(creation.IOTA, result=wide, iota_dimension=rank - 2)
    one = w.constant(np.int32(1))
    scalar = TensorType((), INT32)

    def going(k: Value, *_: Value) -> list[Value]:
        limit = w.constant(np.int32(pivots.tensor.shape[-1]))
        return [w.op(comparison.COMPARE, k, limit, comparison_direction="LT", compare_type="SIGNED")]

    def masked_row(x: Value, numbers: Value) -> tuple[Value, Value]:
        mask = w.op(comparison.COMPARE, row_numbers, numbers, comparison_direction="EQ", compare_type="SIGNED")
        kept = w.op(comparison.SELECT, mask, x, w.splat(0, type))
        order = (*range(rank - 2), rank - 1, rank - 2)
        summed = w.reduce(w.op(layout.TRANSPOSE, kept, permutation=order), elementwise.ADD, 0)
        dims = (*range(rank - 2), rank - 1)
        return mask, w.op(layout.BROADCAST_IN_DIM, summed, result=type, broadcast_dimensions=dims)

    def step(k: Value, x: Value, picked: Value) -> list[Value]:
        here = w.op(layout.BROADCAST_IN_DIM, k, result=wide, broadcast_dimensions=())
        place = w.op(creation.IOTA, result=picked.tensor, iota_dimension=rank - 2)
        at = w.op(layout.BROADCAST_IN_DIM, k, result=picked.tensor, broadcast_dimensions=())
        mask = w.op(comparison.COMPARE, place, at, comparison_direction="EQ", compare_type="SIGNED")
        own = w.op(comparison.SELECT, mask, picked, w.splat(0, picked.tensor))
        pivot = w.reduce(own, elementwise.ADD, 0)
        there = w.op(layout.BROADCAST_IN_DIM, pivot, result=wide, broadcast_dimensions=tuple(range(rank - 2)))
        first, upper = masked_row(x, here)
        second, lower = masked_row(x, there)
        swapped = w.op(comparison.SELECT, second, upper, w.op(comparison.SELECT, first, lower, x))
        return [w.op(elementwise.ADD, k, one), swapped, picked]

    types = [scalar, type, pivots.tensor]
    regions = [w.region(types, going), w.region(types, step)]
    start = w.constant(np.int32(0))
    return w.ops(control_flow.WHILE, start, right, pivots, regions=regions)[1]


BUILDERS: dict[str, Callable[..., list[Value]]] = {
    "lu": _lu,
    "qr": _qr,
    "svd": _svd,
    "svdvals": _svdvals,
    "eigh": _eigh,
    "eigvalsh": _eigvalsh,
    "eig": _eig,
    "eigvals": _eigvals,
    "solve": _solve,
    "slogdet": _slogdet,
    "det": _det,
    "schur": _schur,
}


def build(name: str, types: Sequence[TensorType], parameters: dict[str, Any]) -> Function:
    """Return the decomposition of a factorization for operands of ``types``."""
    writer = Writer(name, types)
    return writer.finish(BUILDERS[name](writer, **parameters))
