"""Differentiation of Householder reflectors, by which LAPACK gives and takes the Q of a QR factorization.

With Q = H_1 ... H_k, H_j = I - tau_j v_j v_j^H, the vectors as the columns of V (unit lower trapezoidal), D the
diagonal of the tau_j and S the part of V^H V above its diagonal, Q = I - V D W with (I + S D) W = V^H. So V and
U = -D W are the factors of Q - I by elimination without pivoting, where Q has as many columns as there are reflectors.
Source: Schreiber and Van Loan, "A storage-efficient WY representation for products of Householder transformations"
(1989).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numhlo.lowering.ir import Op
from numhlo.tracer.core import matrices as m
from numhlo.tracer.core import operations as b
from numhlo.tracer.core.operands import shape_of
from numhlo.tracer.differentiation.factorizations import tangents_of_qr

EVERY = slice(None)


def jvp_geqrf(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    """R above V, and the taus: by the tangents of Q and R, then of the factors of Q - I."""
    packed, taus = outputs
    count = shape_of(taus)[-1]
    first = slice(count)
    q, r = m.factor("qr", primals[0], full=False)
    dq, dr = tangents_of_qr(tangents[0], q, r)
    v = _vectors(packed, count)
    _, w = _middle(v, taus, count)
    u = b.negate(_scaled_rows(taus, w))
    inside = b.both(b.equal(u, 0), m.mask(shape_of(u), "EQ"))
    safe = b.select(inside, b.constant(1, u), u)  # a reflector that does nothing: the last one of a square matrix
    moved = m.substitute(m.part(v, first, EVERY), m.part(dq, first, EVERY), unit_diagonal=True)
    low = m.triangle(m.substitute(safe, moved, left_side=False, lower=False), "GT")
    du = m.triangle(b.subtract(moved, m.product(low, u)), "LE")
    rest = b.subtract(dq, m.product(v, du))
    dv = m.triangle(m.substitute(safe, rest, left_side=False, lower=False), "GT")
    size = shape_of(packed)[-2:]
    return [b.add(m.padded(dv, *size), m.padded(m.triangle(dr, "LE"), *size)), b.negate(m.diagonal(du))]


def jvp_orgqr(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    """``dQ = -(dV D W + V dD W + V D dW)``."""
    packed, taus = primals
    count, columns = shape_of(taus)[-1], shape_of(outputs[0])[-1]
    dpacked, dtaus = (b.constant(0, x) if t is None else t for t, x in zip(tangents, primals, strict=True))
    v = _vectors(packed, count)
    dv = m.triangle(m.part(dpacked, EVERY, slice(count)), "GT")
    above, w = _middle(v, taus, columns)
    both = m.product(m.adjoint(dv), v)
    d_above = m.triangle(b.add(both, m.adjoint(both)), "LT")
    change = b.add(_scaled_columns(d_above, taus), _scaled_columns(above, dtaus))
    right = b.subtract(m.adjoint(m.part(dv, slice(columns), EVERY)), m.product(change, w))
    dw = _solved(above, taus, right)
    inner = b.add(_scaled_rows(dtaus, w), _scaled_rows(taus, dw))
    return [b.negate(b.add(m.product(dv, _scaled_rows(taus, w)), m.product(v, inner)))]


def _vectors(packed: Any, count: int) -> Any:
    """Return V: what stands below the diagonal, and ones on it."""
    below = m.triangle(m.part(packed, EVERY, slice(count)), "GT")
    return b.select(m.mask(shape_of(below), "EQ"), b.constant(1, below), below)


def _middle(v: Any, taus: Any, columns: int) -> tuple[Any, Any]:
    """Return S, and some columns of W."""
    above = m.triangle(m.product(m.adjoint(v), v), "LT")
    return above, _solved(above, taus, m.adjoint(m.part(v, slice(columns), EVERY)))


def _solved(above: Any, taus: Any, right: Any) -> Any:
    """Return x with ``(I + S D) x = right``."""
    return m.substitute(_scaled_columns(above, taus), right, lower=False, unit_diagonal=True)


def _scaled_columns(x: Any, scales: Any) -> Any:
    return b.multiply(x, m.widened(m.row_of(scales), x))


def _scaled_rows(scales: Any, x: Any) -> Any:
    return b.multiply(m.widened(m.column_of(scales), x), x)
