"""cholesky and triangular_solve: LAPACK and BLAS work where the result is, without a copy to another order.

A matrix that runs along rows is its transpose run along columns: a lower triangle is an upper one there, and a system
solved from the left is one solved from the right.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.backend.emit.access import Access
from numhlo.backend.emit.factorizations import obstacle
from numhlo.backend.emit.linear_systems import emit_small, small_rule
from numhlo.backend.emit.matrices.kernels import Integer, Letter, MatrixKernel, Pointer
from numhlo.backend.emit.matrices.operands import Matrices, matrices_of
from numhlo.backend.emit.registers import literal
from numhlo.backend.emit.tables import KERNELS, RootRule
from numhlo.lowering.ir import Op
from numhlo.lowering.ops.linear_algebra import CHOLESKY, TRIANGULAR_SOLVE

TILE = 64
"""Right-hand sides of one system that are solved together: each such tile is a unit of work."""

LETTERS = {"NO_TRANSPOSE": "N", "TRANSPOSE": "T", "ADJOINT": "C"}


def emit_cholesky(op: Op, planner: Any) -> None:
    """Append the launch that copies a triangle and factors it."""
    small = small_rule(op)
    if small is not None:
        emit_small(op, planner, small)
        return
    planner.output(op.result, op.operands)
    rows = op.operands[0].tensor.shape[-1]
    k = MatrixKernel(op, planner, int(0.35 * rows**3))
    size = Integer(k.number(rows, "rows"), rows)
    inside = "j <= i" if op.attributes["lower"] else "i <= j"
    load, store = (f"{verb}_{k.register.storage}" for verb in ("load", "store"))
    zero, nan = (literal(k.dtype.type(x), k.register) for x in (0.0, np.nan))
    with k.unit(), k.each_matrix():
        source, target = k.place(op.operands[0], 2, "a"), k.place(op.result, 2, "out")
        at = f"i * {size.text} + j"
        with k.text.block(f"for i in range({size.text}):"), k.text.block(f"for j in range({size.text}):"):
            k.text.line(f"{store}({target}, {at}, select({inside}, {load}({source}, {at}), {zero}))")
        k.call("potrf", Letter("U" if op.attributes["lower"] else "L"), size, Pointer(target), size, k.info)
        with (
            k.text.block(f"if {k.failed()}:"),
            k.text.block(f"for i in range({size.text}):"),
            k.text.block(f"for j in range({size.text}):"),
        ):
            k.text.line(f"{store}({target}, {at}, select({inside}, {nan}, {zero}))")
    k.launch("cholesky")


def emit_triangular_solve(op: Op, planner: Any) -> None:
    """Append the launch that solves in the memory of the result, which begins as the right-hand sides."""
    small = small_rule(op)
    if small is not None:
        emit_small(op, planner, small)
        return
    planner.begin_update(op.result, op.operands[1], op.operands[:1])
    kernel = _TriangularSolve(op, planner)
    kernel.write()
    kernel.finish()


class _TriangularSolve(MatrixKernel):
    """The kernel of one triangular_solve: a system a unit, or one system's right-hand sides tile by tile."""

    def __init__(self, op: Op, planner: Any) -> None:
        a, b = (v.tensor for v in op.operands)
        self.is_left = bool(op.attributes["left_side"])
        sides = b.shape[-1 if self.is_left else -2]
        super().__init__(op, planner, a.shape[-1] ** 2 * sides)
        self.value, access = planner.strided(op, 0)
        found = _matrices(op, access)
        assert found is not None
        self.triangle: Matrices = found
        self.rows, self.sides = self._size("rows", a.shape[-1]), self._size("sides", sides)
        self.tiled = self.stack == 1 and sides > TILE
        if self.tiled:
            self.units = -(-sides // TILE)

    def _size(self, hint: str, value: int) -> Integer:
        return Integer(self.number(value, hint), value)

    def write(self) -> None:
        """Write the loop and the call."""
        text, itemsize = self.text, self.dtype.itemsize
        one = text.stack_array("one", 1, itemsize)
        text.line(f"store_{self.register.storage}({one}, 0, {literal(self.dtype.type(1), self.register)})")
        with self.unit():
            if not self.tiled:
                with self.each_matrix():
                    target = self.place(self.op.result, 2, "out")
                    self._solve(one, target, self.sides)
                return
            text.line(f"first = unit * {TILE}")
            width = Integer(text.let(f"min({TILE}, {self.sides.text} - first)", "width"), 0)
            distance = "first" if self.is_left else f"first * {self.rows.text}"
            target = text.let(f"advance({text.pointer(self.op.result, 'out')}, {distance} * {itemsize})", "tile")
            self._solve(one, target, width)

    def _solve(self, one: str, target: str, width: Integer) -> None:
        options = self.op.attributes
        turn = LETTERS[options["transpose_a"]]
        lower = bool(options["lower"]) == self.triangle.is_transposed
        if self.triangle.is_transposed:
            turn = "T" if turn == "N" else "N"
        self.call(
            "trsm",
            Letter("R" if self.is_left else "L"),
            Letter("L" if lower else "U"),
            Letter(turn),
            Letter("U" if options["unit_diagonal"] else "N"),
            *((width, self.rows) if self.is_left else (self.rows, width)),
            Pointer(one),
            Pointer(self._source()),
            self._size("leading", self.triangle.leading),
            Pointer(target),
            self.sides if self.is_left else self.rows,
        )

    def _source(self) -> str:
        if not self.tiled and self.value is self.op.operands[0]:
            return self.place(self.value, 2, "a")
        pointer, offset = self.text.pointer(self.value), self.triangle.offset * self.dtype.itemsize
        return f"advance({pointer}, {self.number(offset, 'offset')})" if offset else pointer

    def finish(self) -> None:
        """Append the launch."""
        self.planner.launch_root(self.op, self.draft("triangular_solve"))


def _matrices(op: Op, access: Access) -> Matrices | None:
    """Return the triangle as BLAS reads it, or None where it can't."""
    shape = op.operands[0].tensor.shape
    found = matrices_of(shape[-2:], Access(access.offset, access.strides[-2:], access.starts), ((), (0,), (1,)))
    conjugates = op.attributes["transpose_a"] == "ADJOINT" and op.operands[0].tensor.dtype.kind == "c"
    return None if found is None or (found.is_transposed and conjugates) else found


def _reads_strided(op: Op, number: int, access: Access) -> bool:
    is_one = op.operands[0].tensor.ndim == 2
    return number == 0 and is_one and small_rule(op) is None and _matrices(op, access) is not None


KERNELS.register(CHOLESKY)(RootRule(emit_cholesky, refuse=lambda op: obstacle(op, "potrf")))
KERNELS.register(TRIANGULAR_SOLVE)(
    RootRule(emit_triangular_solve, refuse=lambda op: obstacle(op, "trsm"), strided=_reads_strided)
)
