"""Differentiation of calls of LAPACK in programs that JAX exports: those of its factorizations and solutions."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from numhlo.lowering.ir import Op
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.lowering.ops.lapack import configuration, flag, triangular_options
from numhlo.tracer.core import matrices as m
from numhlo.tracer.core import operations as b
from numhlo.tracer.differentiation.factorizations import (
    jvp_eig,
    jvp_eigh,
    jvp_eigvals,
    jvp_lu,
    jvp_svdvals,
    refuse_complete_bases,
    tangents_of_svd,
)
from numhlo.tracer.differentiation.linear_algebra import tangent_of_cholesky, tangent_of_solution
from numhlo.tracer.differentiation.reflectors import jvp_geqrf, jvp_orgqr
from numhlo.tracer.differentiation.table import add_tangents

Rule = Callable[[Op, list[Any], list[Any], list[Any]], Sequence[Any]]
TARGET = re.compile(r"lapack_[sdcz](\w+)_ffi")


def _jvp_getrf(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    factors = m.factor("lu", primals[0])
    return [*jvp_lu(op, primals, tangents, factors)[:1], None, None]


def _jvp_potrf(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    """The other triangle is the matrix's."""
    lower = flag(configuration(op.attributes), "uplo", "L")
    tangent = tangent_of_cholesky(lower, tangents[0], outputs[0])
    return [add_tangents(tangent, m.triangle(tangents[0], "LT" if lower else "GT")), None]


def _jvp_trsm(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    options = triangular_options(op.attributes)
    return [tangent_of_solution(options, primals[0], tangents, outputs[0])]


def _jvp_syevd(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    vectors, values, _ = outputs
    dw, dv = jvp_eigh(op, primals, tangents, [values, vectors])
    return [dv, dw, None]


def _jvp_gesdd(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    config = configuration(op.attributes)
    if flag(config, "mode", "N"):
        return [None, *jvp_svdvals(op, primals, tangents, outputs), None, None, None]
    refuse_complete_bases(op, flag(config, "mode", "A"))
    du, ds, dvh = tangents_of_svd(tangents[0], outputs[2], outputs[1], outputs[3])
    return [None, ds, du, dvh, None]


def _jvp_geev(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    """Eigenvalues of real matrices come as real and imaginary parts."""
    config = configuration(op.attributes)
    if flag(config, "compute_left", "V"):
        raise UnsupportedError(
            "the derivative of left eigenvectors",
            where=op.location,
            fix="use the right ones of the transposed matrix",
        )
    *parts, _, right, _ = outputs
    values = b.as_complex(*parts) if len(parts) == 2 else parts[0]
    if flag(config, "compute_right", "V"):
        dw, dv = jvp_eig(op, primals, tangents, [values, right])
    else:
        (dw,), dv = jvp_eigvals(op, primals, tangents, [values]), None
    return [*((b.real(dw), b.imag(dw)) if len(parts) == 2 else (dw,)), None, dv, None]


RULES: dict[str, Rule] = {
    "getrf": _jvp_getrf,
    "potrf": _jvp_potrf,
    "trsm": _jvp_trsm,
    "syevd": _jvp_syevd,
    "heevd": _jvp_syevd,
    "gesdd": _jvp_gesdd,
    "gesvd": _jvp_gesdd,
    "geev": _jvp_geev,
    "geqrf": jvp_geqrf,
    "orgqr": jvp_orgqr,
    "ungqr": jvp_orgqr,
}
"""By routine, without the letter of its type."""


def lapack_rule(op: Op) -> Rule | None:
    """Return the rule for a custom call, or None."""
    found = TARGET.fullmatch(op.attributes["call_target_name"])
    return RULES.get(found[1]) if found else None
