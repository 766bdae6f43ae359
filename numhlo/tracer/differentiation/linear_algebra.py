"""Differentiation of cholesky and triangular_solve.

Source: Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation" (2008);
Murray, "Differentiation of the Cholesky decomposition" (2016). Tangents of Hermitian matrices are taken to be
Hermitian: half of each triangle counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numhlo.lowering.ir import Op
from numhlo.lowering.ops import linear_algebra
from numhlo.tracer.core import matrices as m
from numhlo.tracer.core import operations as b
from numhlo.tracer.core.bind import bind1
from numhlo.tracer.differentiation.table import JVP, TRANSPOSE, add_tangents, linear_operand


@JVP.register(linear_algebra.CHOLESKY)
def _jvp_cholesky(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    """``dL = L phi(L^-1 dA L^-H)``, phi being the lower triangle with half the diagonal."""
    return [tangent_of_cholesky(op.attributes["lower"], tangents[0], outputs[0])]


def tangent_of_cholesky(lower: bool, da: Any, output: Any) -> Any:
    """Return the tangent of the factor in its triangle, from the matrix's."""
    factor = m.triangle(output, "GE" if lower else "LE")
    factor = factor if lower else m.adjoint(factor)
    inner = m.substitute(factor, m.hermitian_part(da), left_side=True)
    inner = m.substitute(factor, inner, left_side=False, transpose_a="ADJOINT")
    tangent = m.product(factor, m.lower_half(inner))
    return tangent if lower else m.adjoint(tangent)


@JVP.register(linear_algebra.TRIANGULAR_SOLVE)
def _jvp_triangular_solve(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    """``dx = op(a)^-1 (db - op(da) x)``, with ``da`` of a's triangle alone."""
    return [tangent_of_solution(op.attributes, primals[0], tangents, outputs[0])]


def tangent_of_solution(options: Mapping[str, Any], a: Any, tangents: list[Any], x: Any) -> Any:
    """Return the tangent of the solution of a triangular system; ``options`` are `triangular_solve`'s."""
    da, db = tangents
    moved = None
    if da is not None:
        direction = {(True, False): "GE", (True, True): "GT", (False, False): "LE", (False, True): "LT"}
        da = m.triangle(da, direction[bool(options["lower"]), bool(options["unit_diagonal"])])
        turn = {"NO_TRANSPOSE": lambda y: y, "TRANSPOSE": m.transpose, "ADJOINT": m.adjoint}[options["transpose_a"]]
        moved = b.negate(m.product(turn(da), x) if options["left_side"] else m.product(x, turn(da)))
    return bind1(linear_algebra.TRIANGULAR_SOLVE, a, add_tangents(db, moved), attributes=options)


@TRANSPOSE.register(linear_algebra.TRIANGULAR_SOLVE)
def _transpose_triangular_solve(op: Op, operands: list[Any], cotangents: list[Any]) -> Sequence[Any]:
    """Linear in b: the solution with the transposed matrix."""
    if linear_operand(op, operands) != 1:
        raise AssertionError("its derivative by the matrix is a product, not a solution")
    a = operands[0]
    turned = op.attributes["transpose_a"]
    a = m.conjugate(a) if turned == "ADJOINT" else a
    options = {**op.attributes, "transpose_a": "TRANSPOSE" if turned == "NO_TRANSPOSE" else "NO_TRANSPOSE"}
    return [None, bind1(op.definition, a, cotangents[0], attributes=options)]
