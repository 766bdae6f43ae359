"""Linear systems: LU and QR factors, solutions, determinants; on small matrices cholesky and triangular_solve too.

Matrices of a few rows are straight-line code (`matrices.small`), also within loops of scalar code; larger ones are
BLAS's and LAPACK's (`triangles` has the two that work where the result is).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numhlo.backend.emit.factorizations import obstacle
from numhlo.backend.emit.matrices.kernels import INT32, Integer, MatrixKernel, Pointer
from numhlo.backend.emit.matrices.small import Names, SmallMatrices, is_small
from numhlo.backend.emit.registers import REGISTERS, literal
from numhlo.backend.emit.scalar_code import ScalarWriter, writes
from numhlo.backend.emit.special import COMPOSITE_KERNELS, NAMESPACE
from numhlo.backend.emit.tables import RootRule
from numhlo.lowering.ir import Op
from numhlo.lowering.ops.control_flow import COMPOSITE
from numhlo.lowering.ops.linear_algebra import CHOLESKY, TRIANGULAR_SOLVE

SIDE_BY_SIDE = 32
"""Small matrices from which on a unit of work is worth the start of SIMD code."""

SMALL_TYPES = frozenset(map(np.dtype, (np.float32, np.float64)))
SmallRule = Callable[[SmallMatrices, Op, Sequence[Names]], Sequence[Names]]
"""``rule(writer, op, matrices) -> results``, for one matrix of a stack."""


class LinearSystem(MatrixKernel):
    """The kernel of one op that begins with factors."""

    def __init__(self, op: Op, planner: Any) -> None:
        rows, columns = op.operands[0].tensor.shape[-2:]
        super().__init__(op, planner, int(0.7 * rows * columns * min(rows, columns)))
        self.rows, self.columns = self.size("rows", rows), self.size("columns", columns)
        self.smaller = self.size("smaller", min(rows, columns))

    def size(self, hint: str, value: int) -> Integer:
        """Return a run-time number as an argument."""
        return Integer(self.number(value, hint), value)

    def result(self, number: int, core: int) -> str:
        """Return the place of a result of the current matrix."""
        return self.place(self.op.results[number], core, f"out{number}")

    def factor(self, matrix: str, pivots: str) -> None:
        """Write the factorization of the operand."""
        place = self.place(self.op.operands[0], 2, "a")
        self.across(place, matrix, self.rows.text, self.columns.text, self.rows.text)
        self.call("getrf", self.rows, self.columns, Pointer(matrix), self.rows, Pointer(pivots), self.info)


def write_lu(k: LinearSystem) -> None:
    """Write the packed factors, the exchanged rows, and the permutation that they make."""
    text = k.text
    with k.unit():
        matrix = k.work(k.rows.value * k.columns.value, "matrix")
        pivots = k.work(k.smaller.value, "pivots", INT32)
        with k.each_matrix():
            k.factor(matrix, pivots)
            packed, exchanged, order = k.result(0, 2), k.result(1, 1), k.result(2, 1)
            k.across(matrix, packed, k.rows.text, k.columns.text, k.rows.text, back=True)
            with text.block(f"for i in range({k.rows.text}):"):
                text.line(f"store_i32({order}, i, to_i32(i))")
            with text.block(f"for i in range({k.smaller.text}):"):
                text.line(f"other = to_i64(load_i32({pivots}, i)) - 1")
                text.line(f"store_i32({exchanged}, i, to_i32(other))")
                text.line(f"kept = load_i32({order}, i)")
                text.line(f"store_i32({order}, i, load_i32({order}, other))")
                text.line(f"store_i32({order}, other, kept)")


def write_solve(k: LinearSystem) -> None:
    """Write the solutions, a column for each right-hand side; NaN where a matrix is singular."""
    right_sides = k.op.operands[1].tensor.shape[-1]
    count = k.size("count", right_sides)
    with k.unit():
        matrix = k.work(k.rows.value * k.rows.value, "matrix")
        right = k.work(k.rows.value * count.value, "right")
        pivots = k.work(k.rows.value, "pivots", INT32)
        with k.each_matrix():
            a, b, x = k.place(k.op.operands[0], 2, "a"), k.place(k.op.operands[1], 2, "b"), k.result(0, 2)
            k.across(a, matrix, k.rows.text, k.rows.text, k.rows.text)
            k.across(b, right, k.rows.text, count.text, k.rows.text)
            k.call("gesv", k.rows, count, Pointer(matrix), k.rows, Pointer(pivots), Pointer(right), k.rows, k.info)
            with k.text.block(f"if {k.failed()}:"):
                k.fill(x, f"{k.rows.text} * {count.text}", np.nan, k.register)
            with k.text.block("else:"):
                k.across(right, x, k.rows.text, count.text, k.rows.text, back=True)


def write_determinant(k: LinearSystem) -> None:
    """Write the sign and the logarithm of the absolute value, or the product of one and the other's power."""
    text, real = k.text, REGISTERS[k.real].name
    zero, one = (f"to_{real}({x})" for x in ("0.0", "1.0"))
    with k.unit():
        matrix = k.work(k.rows.value * k.rows.value, "matrix")
        pivots = k.work(k.rows.value, "pivots", INT32)
        with k.each_matrix():
            k.factor(matrix, pivots)
            text.line(f"total = {zero}")
            text.line(f"sign = {_number(k, one, zero)}")
            with text.block(f"for i in range({k.rows.text}):"):
                text.line(f"pivot = load_{k.register.storage}({matrix}, i * {k.rows.text} + i)")
                text.line(f"size = {_size_of(k)}")
                text.line(f"total = total + log_{real}(size)")
                text.line(f"odd = to_i64(load_i32({pivots}, i)) != i + 1")
                text.line(f"sign = select(odd, {_negated(k)}, sign) * {_direction(k, one)}")
            with text.block(f"if {k.failed()}:"):
                text.line(f"sign = {_number(k, zero, zero)}")
            if len(k.op.results) == 2:
                text.line(f"store_{k.register.storage}({k.result(0, 0)}, 0, sign)")
                text.line(f"store_{real}({k.result(1, 0)}, 0, total)")
            else:
                power = _number(k, f"exp_{real}(total)", zero)
                text.line(f"store_{k.register.storage}({k.result(0, 0)}, 0, sign * {power})")


def _number(k: LinearSystem, real: str, imaginary: str) -> str:
    return f"make_{k.register.name}({real}, {imaginary})" if k.register.kind == "c" else real


def _negated(k: LinearSystem) -> str:
    return _number(k, "negate(sign.real)", "negate(sign.imag)") if k.register.kind == "c" else "negate(sign)"


def _size_of(k: LinearSystem) -> str:
    if k.register.kind != "c":
        return "absolute(pivot)"
    return f"abs_{k.register.name}(pivot)"


def _direction(k: LinearSystem, one: str) -> str:
    """Return the text of the pivot's sign; any where it is zero, as the determinant is then."""
    if k.register.kind != "c":
        return f"copy_sign({one}, pivot)"
    return _number(k, "divide(pivot.real, size)", "divide(pivot.imag, size)")


def write_qr(k: LinearSystem) -> None:
    """Write the basis, and the triangle above the reflectors that it is made of."""
    value = k.op.results[0].tensor.shape[-1]
    width, wide = k.size("width", value), max(k.columns.value, value)
    basis = "ungqr" if k.register.kind == "c" else "orgqr"
    unknown, asked, nothing = Integer("", -1), Pointer("", "work"), Pointer("0")
    lengths = (
        k.lengths("geqrf", k.rows, k.columns, nothing, k.rows, nothing, asked, unknown, k.info)[0],
        k.lengths(basis, k.rows, width, k.smaller, nothing, k.rows, nothing, asked, unknown, k.info)[0],
    )
    length = k.size("length", max(lengths))
    with k.unit():
        matrix, scales = k.work(k.rows.value * wide, "matrix"), k.work(k.smaller.value, "scales")
        work = Pointer(k.work(length.value, "work"))
        with k.each_matrix():
            a, q, r = k.place(k.op.operands[0], 2, "a"), k.result(0, 2), k.result(1, 2)
            k.across(a, matrix, k.rows.text, k.columns.text, k.rows.text)
            packed, factors = Pointer(matrix), Pointer(scales)
            k.call("geqrf", k.rows, k.columns, packed, k.rows, factors, work, length, k.info)
            with k.text.block(f"for i in range({width.text}):"), k.text.block(f"for j in range({k.columns.text}):"):
                upper = f"load_{k.register.storage}({matrix}, j * {k.rows.text} + i)"
                chosen = f"select(i <= j, {upper}, {literal(k.dtype.type(0), k.register)})"
                k.text.line(f"store_{k.register.storage}({r}, i * {k.columns.text} + j, {chosen})")
            k.call(basis, k.rows, width, k.smaller, packed, k.rows, factors, work, length, k.info)
            k.across(matrix, q, k.rows.text, width.text, k.rows.text, back=True)


def small_determinant(writer: SmallMatrices, op: Op, matrices: Sequence[Names]) -> Sequence[Names]:
    """Return the determinant, by way of its logarithm as larger ones."""
    sign, logarithm = writer.sign_and_logarithm(matrices[0])
    result = np.empty((), object)
    result[()] = writer.let(f"{sign[()]} * exp_{writer.register.name}({logarithm[()]})", "determinant")
    return [result]


def small_cholesky(writer: SmallMatrices, op: Op, matrices: Sequence[Names]) -> Sequence[Names]:
    """Return the factor in the triangle that is asked for."""
    (a,) = matrices
    return [writer.cholesky(a)] if op.attributes["lower"] else [writer.cholesky(a.T).T]


def small_triangular_solve(writer: SmallMatrices, op: Op, matrices: Sequence[Names]) -> Sequence[Names]:
    """Return the solution, of whichever triangle and side."""
    (a, b), options = matrices, op.attributes
    turned, lower, left = options["transpose_a"] != "NO_TRANSPOSE", bool(options["lower"]), bool(options["left_side"])
    if turned == left:  # x a = b is a^T x^T = b^T
        a, lower = a.T, not lower
    x = writer.substituted(a, b if left else b.T, lower=lower, unit=bool(options["unit_diagonal"]))
    return [x if left else x.T]


SMALL: dict[str, SmallRule] = {
    "numhlo.lu": lambda writer, op, matrices: writer.factored(*matrices),
    "numhlo.solve": lambda writer, op, matrices: [writer.solved(*matrices)],
    "numhlo.slogdet": lambda writer, op, matrices: writer.sign_and_logarithm(*matrices),
    "numhlo.det": small_determinant,
    "cholesky": small_cholesky,
    "triangular_solve": small_triangular_solve,
}


def small_rule(op: Op) -> SmallRule | None:
    """Return how an op on small matrices is written, None where they are not small or the op is another."""
    rule = SMALL.get(op.attributes["name"] if op.definition is COMPOSITE else op.definition.name)
    if rule is None or op.operands[0].tensor.dtype not in SMALL_TYPES:
        return None
    return rule if is_small(*[v.tensor.shape for v in op.operands]) else None


def emit_small(op: Op, planner: Any, rule: SmallRule) -> None:
    """Append the launch of a kernel with the straight-line code for each matrix."""
    for result in op.results:
        planner.output(result)
    rows = op.operands[0].tensor.shape[-1]
    k = MatrixKernel(op, planner, 10 * rows**3, least=SIDE_BY_SIDE)
    with k.unit(), k.each_matrix():
        matrices = [_loaded(k, number) for number in range(len(op.operands))]
        found = rule(SmallMatrices(k.text.let, k.register), op, matrices)
        for names, value in zip(found, op.results, strict=True):
            pointer = k.text.pointer(value, "out")
            for element, name in enumerate(names.reshape(-1)):
                place = _element(names, element)
                k.text.line(f"store_{REGISTERS[value.tensor.dtype].storage}({pointer}, {place}, {name})")
    k.launch(f"small_{op.attributes['name'].split('.')[-1] if op.definition is COMPOSITE else op.definition.name}")


def _loaded(k: MatrixKernel, number: int) -> Names:
    operand = k.op.operands[number]
    pointer = k.text.pointer(operand)
    names = np.empty(operand.tensor.shape[-2:], object)
    for element, index in enumerate(np.ndindex(names.shape)):
        names[index] = k.text.let(f"load_{k.register.storage}({pointer}, {_element(names, element)})", "x")
    return names


def _element(matrix: Names, element: int) -> str:
    """Return the index of an element of the current matrix, so that LLVM knows how far the next one's lies."""
    return f"matrix * {matrix.size} + {element}"


@writes(CHOLESKY, TRIANGULAR_SOLVE, *(name for name in SMALL if name.startswith(NAMESPACE)))
def write_scalar(writer: ScalarWriter, op: Op) -> None:
    """Write an op on small matrices within scalar code, which has no way for larger ones."""
    rule = small_rule(op)
    if rule is None:
        writer.plain(op)
        return
    operands = [writer.names(v) for v in op.operands]
    results = [np.empty(v.tensor.shape, object) for v in op.results]
    small = SmallMatrices(writer.let, REGISTERS[op.operands[0].tensor.dtype])
    for place in np.ndindex(operands[0].shape[:-2]):
        found = rule(small, op, [x[place] for x in operands])
        for result, names in zip(results, found, strict=True):
            result[place] = names
    writer.contents.update(zip(op.results, results, strict=True))


def _composite_rule(write: Callable[[LinearSystem], None], routine: str) -> RootRule:
    def emit(op: Op, planner: Any) -> None:
        small = small_rule(op)
        if small is not None:
            emit_small(op, planner, small)
            return
        for result in op.results:
            planner.output(result)
        k = LinearSystem(op, planner)
        write(k)
        k.launch(op.attributes["name"].split(".")[-1])

    return RootRule(emit, refuse=lambda op: obstacle(op, routine))


COMPOSITE_KERNELS["numhlo.lu"] = _composite_rule(write_lu, "getrf")
COMPOSITE_KERNELS["numhlo.solve"] = _composite_rule(write_solve, "gesv")
COMPOSITE_KERNELS["numhlo.qr"] = _composite_rule(write_qr, "geqrf")
COMPOSITE_KERNELS["numhlo.det"] = _composite_rule(write_determinant, "getrf")
COMPOSITE_KERNELS["numhlo.slogdet"] = _composite_rule(write_determinant, "getrf")
