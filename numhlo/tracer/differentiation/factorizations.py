"""Derivatives of the factorizations, by name of the composite.

Sources: Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation" (2008);
Townsend, "Differentiating the singular value decomposition" (2016); Seeger et al., "Auto-differentiating linear
algebra" (2017). A Hermitian matrix's tangent is taken to be Hermitian. Where eigenvalues or singular values coincide,
the derivatives of vectors do not exist and come out infinite or NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numhlo.lowering.ir import Op
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.lowering.ops import elementwise as ops
from numhlo.lowering.ops.cumulative import initial_value
from numhlo.tracer.core import matrices as m
from numhlo.tracer.core import operations as b
from numhlo.tracer.core.arrangement import concatenate_arrays, reduce_with, sum_over
from numhlo.tracer.core.operands import convert, shape_of
from numhlo.tracer.differentiation.table import add_tangents, linear_operand


def jvp_lu(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    """``dL = L low(L^-1 P dA U^-1)``, ``dU = up(...) U``, with L and U made square by ones."""
    packed, _, permutation = outputs
    rows, columns = shape_of(packed)[-2:]
    smaller = min(rows, columns)
    moved = m.permuted_rows(tangents[0], permutation)
    every, few = slice(None), slice(smaller)
    lower = m.triangle(m.part(packed, every, few), "GT")
    lower = b.add(m.padded(lower, rows, rows), _missing_diagonal(lower, rows))
    upper = m.padded(m.triangle(m.part(packed, few, every), "LE"), columns, columns)
    inner = m.substitute(lower, moved, unit_diagonal=True)
    inner = m.substitute(upper, inner, left_side=False, lower=False)
    tangent = b.add(m.product(lower, m.triangle(inner, "GT")), m.product(m.triangle(inner, "LE"), upper))
    return [tangent, None, None]


def _missing_diagonal(lower: Any, rows: int) -> Any:
    """Return the ones on the diagonal of L that padding has not put there."""
    extent = shape_of(lower)[-1]
    identity = m.identity_like(lower, rows)
    inside = b.less(b.iota_along(shape_of(identity), len(shape_of(identity)) - 1), extent)
    return b.select(inside, identity, b.constant(0, identity))


def _jvp_qr(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    rows, columns = shape_of(primals[0])[-2:]
    if op.attributes["composite_attributes"]["full"] and rows > columns:
        raise UnsupportedError(
            f"the derivative of qr of {op.operands[0].tensor.short()}",
            where=op.location,
            why="a complete basis does not depend smoothly on the matrix",
            fix='use mode="reduced"',
        )
    return tangents_of_qr(tangents[0], *outputs)


def tangents_of_qr(da: Any, q: Any, r: Any) -> tuple[Any, Any]:
    """Return the tangents of Q and R; of a wide matrix, the square on the left makes Q, and the rest of R follows."""
    extent, columns = shape_of(r)[-2:]
    if extent == columns:
        return _tangents_of_tall_qr(da, q, r)
    every, left, right = slice(None), slice(extent), slice(extent, None)
    dq, square = _tangents_of_tall_qr(m.part(da, every, left), q, m.part(r, every, left))
    moved = b.subtract(m.part(da, every, right), m.product(dq, m.part(r, every, right)))
    return dq, concatenate_arrays([square, m.product(m.adjoint(q), moved)], len(shape_of(square)) - 1)


def _tangents_of_tall_qr(da: Any, q: Any, r: Any) -> tuple[Any, Any]:
    scaled = m.substitute(r, da, left_side=False, lower=False)
    inner = m.product(m.adjoint(q), scaled)
    low = m.triangle(inner, "GT")
    turning = b.subtract(low, m.adjoint(low))
    if inner.dtype.kind == "c":
        phases = b.subtract(inner, convert(b.real(inner), inner.dtype))
        turning = b.add(turning, m.triangle(phases, "EQ"))
    dq = b.add(m.product(q, b.subtract(turning, inner)), scaled)
    return dq, m.product(b.subtract(inner, turning), r)


def _inverse_gaps(gaps: Any) -> Any:
    """Return ``1 / gaps``, zero on the diagonal."""
    identity = m.identity_like(gaps)
    return b.subtract(b.divide(b.constant(1, gaps), b.add(gaps, identity)), identity)


def jvp_eigh(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    """``dw = diag(v^H da v)``; ``dv = v (F * (v^H da v))`` with ``F`` the inverse gaps between eigenvalues."""
    w, v = outputs
    inner = m.product(m.adjoint(v), m.hermitian_part(tangents[0]), v)
    across, down = (m.widened(make(w), v) for make in (m.row_of, m.column_of))
    weights = convert(_inverse_gaps(b.subtract(across, down)), v.dtype)
    return [m.real(m.diagonal(inner)), m.product(v, b.multiply(weights, inner))]


def _jvp_eigvalsh(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    _, v = m.factor("eigh", primals[0], **op.attributes["composite_attributes"])
    inner = m.product(m.adjoint(v), m.hermitian_part(tangents[0]), v)
    return [m.real(m.diagonal(inner))]


def _jvp_svd(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    refuse_complete_bases(op, op.attributes["composite_attributes"]["full"])
    return tangents_of_svd(tangents[0], *outputs)


def refuse_complete_bases(op: Op, full: bool) -> None:
    """Raise where singular vectors beyond those of singular values are wanted."""
    rows, columns = op.operands[0].tensor.shape[-2:]
    if full and rows != columns:
        raise UnsupportedError(
            f"the derivative of svd(full_matrices=True) of {op.operands[0].tensor.short()}",
            where=op.location,
            why="a complete basis does not depend smoothly on the matrix",
            fix="use full_matrices=False",
        )


def tangents_of_svd(da: Any, u: Any, s: Any, vh: Any) -> Sequence[Any]:
    """Return the tangents of left vectors, values and right vectors."""
    rows, columns = shape_of(da)[-2:]
    uh, v = m.adjoint(u), m.adjoint(vh)
    inner = m.product(uh, da, v)
    across, down = (m.widened(make(s), inner) for make in (m.row_of, m.column_of))
    gaps = b.multiply(b.add(across, down), b.subtract(across, down))
    weights = convert(_inverse_gaps(gaps), inner.dtype)
    across, down = convert(across, inner.dtype), convert(down, inner.dtype)
    right, left = b.multiply(across, inner), b.multiply(down, inner)
    du = b.multiply(weights, b.add(right, m.adjoint(right)))
    dv = b.multiply(weights, b.add(left, m.adjoint(left)))
    if inner.dtype.kind == "c":
        du = b.add(du, _phases(inner, across))
    du, dv = m.product(u, du), m.product(v, dv)
    if rows > columns:
        du = b.add(du, _outside(m.product(da, v), u, uh, s))
    if columns > rows:
        dv = b.add(dv, _outside(m.product(m.adjoint(da), u), v, vh, s))
    return [du, m.real(m.diagonal(inner)), m.adjoint(dv)]


def _phases(inner: Any, values: Any) -> Any:
    """Return the turning of complex vectors by themselves: the imaginary diagonal over the singular values."""
    zero = b.equal(m.real(values), 0)
    safe = b.select(zero, b.constant(1, values), values)
    turned = b.multiply(b.subtract(inner, m.adjoint(inner)), 0.5)
    return m.triangle(b.select(zero, b.constant(0, inner), b.divide(turned, safe)), "EQ")


def _outside(moved: Any, basis: Any, adjoint: Any, s: Any) -> Any:
    """Return the part of a tangent outside the span of the basis, over the singular values."""
    rest = b.subtract(moved, m.product(basis, adjoint, moved))
    return b.divide(rest, convert(m.widened(m.row_of(s), rest), rest.dtype))


def jvp_svdvals(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    """``ds = diag(u^H da v)``."""
    u, _, vh = m.factor("svd", primals[0], full=False)
    return [m.real(m.diagonal(m.product(m.adjoint(u), tangents[0], m.adjoint(vh))))]


def jvp_eigvals(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    """``dw = diag(v^-1 da v)``."""
    _, v = m.factor("eig", primals[0])
    moved = m.product(convert(tangents[0], v.dtype), v)
    return [m.diagonal(m.factor("solve", v, moved)[0])]


def jvp_eig(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    """As for eigh; then the part along each vector goes that keeps it as LAPACK scales it.

    That is: of norm 1, with a real component where it is largest.
    """
    w, v = outputs
    inner = m.factor("solve", v, m.product(convert(tangents[0], v.dtype), v))[0]
    across, down = (m.widened(make(w), v) for make in (m.row_of, m.column_of))
    dv = m.product(v, b.multiply(_inverse_gaps(b.subtract(across, down)), inner))
    growth = b.real(_column_sums(b.multiply(m.conjugate(v), dv)))
    sizes = b.absolute(v)
    there = convert(_first_largest_of_columns(sizes), sizes.dtype)
    turning = b.divide(*(_column_sums(b.multiply(part(x), there)) for part, x in ((b.imag, dv), (b.real, v))))
    along = m.widened(m.row_of(b.as_complex(growth, turning)), v)
    return [m.diagonal(inner), b.subtract(dv, b.multiply(v, along))]


def _first_largest_of_columns(x: Any) -> Any:
    """Return where the largest element of each column of real matrices stands, the first of equal ones."""
    rows = len(shape_of(x)) - 2
    number = b.iota_along(shape_of(x), rows)
    top = reduce_with(ops.MAXIMUM, x, initial_value("cummax", x.dtype), (rows,))
    numbers = b.select(b.equal(x, m.widened(m.row_of(top), x)), number, shape_of(x)[rows])
    first = reduce_with(ops.MINIMUM, numbers, initial_value("cummin", numbers.dtype), (rows,))
    return b.equal(number, m.widened(m.row_of(first), x))


def _column_sums(x: Any) -> Any:
    return sum_over(x, (len(shape_of(x)) - 2,))


def _refuse_vectors(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    name = op.attributes["name"].removeprefix("numhlo.")
    raise UnsupportedError(
        f"the derivative of {name}",
        where=op.location,
        why="its vectors are determined up to a factor only",
        fix="use eigh, or another factorization",
    )


def _jvp_solve(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    """``dx = a^-1 (db - da x)``."""
    (a, _), (da, db), (x,) = primals, tangents, outputs
    moved = None if da is None else b.negate(m.product(da, x))
    return m.factor("solve", a, add_tangents(db, moved))


def transpose_solve(op: Op, operands: list[Any], cotangents: list[Any]) -> Sequence[Any]:
    """Transpose ``solve`` in its right-hand sides: solve with the transposed matrix."""
    if linear_operand(op, operands) != 1:
        raise AssertionError("its derivative by the matrix is a product, not a solution")
    return [None, *m.factor("solve", m.transpose(operands[0]), cotangents[0])]


def _relative_change(primals: list[Any], tangents: list[Any]) -> Any:
    """Return the trace of ``a^-1 da``: the derivative of the determinant's logarithm."""
    change = m.diagonal(m.factor("solve", primals[0], tangents[0])[0])
    return sum_over(change, (len(shape_of(change)) - 1,))


def _jvp_slogdet(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    change = _relative_change(primals, tangents)
    if change.dtype.kind != "c":
        return [None, change]
    turning = b.as_complex(b.constant(0, b.imag(change)), b.imag(change))
    return [b.multiply(outputs[0], turning), b.real(change)]


def _jvp_det(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    return [b.multiply(outputs[0], _relative_change(primals, tangents))]


FACTOR_DERIVATIVES: dict[str, Callable[[Op, list[Any], list[Any], list[Any]], Sequence[Any]]] = {
    "lu": jvp_lu,
    "qr": _jvp_qr,
    "svd": _jvp_svd,
    "svdvals": jvp_svdvals,
    "eigh": jvp_eigh,
    "eigvalsh": _jvp_eigvalsh,
    "eig": jvp_eig,
    "eigvals": jvp_eigvals,
    "solve": _jvp_solve,
    "slogdet": _jvp_slogdet,
    "det": _jvp_det,
    "schur": _refuse_vectors,
}
"""How each is differentiated: ``rule(op, primals, tangents, outputs) -> tangents``."""
