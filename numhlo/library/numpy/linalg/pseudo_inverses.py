"""Moore-Penrose inverses: what they are, and their derivative, which exists where singular values coincide.

The inverse is made of singular vectors, whose own derivatives do not exist there. So it is a composite that brings a
rule along (see `custom_rules`), which is made of the inverse alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numhlo.library.numpy import elementwise, reductions
from numhlo.library.numpy.searching import where
from numhlo.lowering.ir import Op
from numhlo.tracer.building import (
    CustomRule,
    Walker,
    as_traced,
    asarray,
    bind_with_rule,
    convert,
    replay_op,
    shape_of,
    trace_function,
)
from numhlo.tracer.building import matrices as m
from numhlo.tracer.building import operations as b


def pseudo_inverse(array: Any, part: Any) -> Any:
    """Return the inverse of matrices that have elements, from singular values above a part of the greatest one."""
    factor = asarray(part)
    types = [m.type_of(x) for x in (array, factor)]
    function, _ = trace_function("pinv", _of_singular_values, types)
    return bind_with_rule("numhlo.pinv", function, [array, factor], _OfInverse())[0]


def _of_singular_values(array: Any, factor: Any) -> list[Any]:
    u, s, vh = (as_traced(x) for x in m.factor("svd", array, full=False))
    kept = above(s, m.column_of(factor) if shape_of(factor) else factor)
    weights = convert(where(kept, elementwise.divide(1, where(kept, s, 1)), 0), array.dtype)
    return [m.product(m.adjoint(vh), elementwise.multiply(m.column_of(weights), m.adjoint(u)))]


def above(s: Any, factor: Any) -> Any:
    """Return where singular values are above a part of the greatest one."""
    greatest = reductions.max(s, -1, keepdims=True, initial=0) if s.shape[-1] == 0 else s[..., :1]
    return elementwise.greater(s, elementwise.multiply(greatest, factor))


class _OfInverse(CustomRule[Walker]):
    """``dP = -P dA P + P P' dA' (1 - A P) + (1 - P A) dA' P' P``, for matrices whose rank stays.

    Golub, Pereyra: The Differentiation of Pseudo-Inverses and Nonlinear Least Squares Problems Whose Variables Separate
    (1973), equation 4.12.
    """

    def differentiate(
        self, walker: Walker, op: Op, primals: list[Any], tangents: list[Any]
    ) -> tuple[Sequence[Any], Sequence[Any]]:
        """Run the function, and return the tangent by the array; that by the part is zero."""
        with walker.in_primal():
            (p,) = replay_op(op, primals, {})
        a, da = primals[0], tangents[0]
        if da is None:
            return [p], [None]
        turned, adjoint = m.adjoint(da), m.adjoint(p)
        rows = m.product(m.product(p, adjoint), turned)
        columns = m.product(turned, m.product(adjoint, p))
        outside = b.subtract(rows, m.product(m.product(rows, a), p))
        beyond = b.subtract(columns, m.product(p, m.product(a, columns)))
        return [p], [b.subtract(b.add(outside, beyond), m.product(m.product(p, da), p))]

    def batched(self, size: int) -> CustomRule:
        """Return the rule on lanes: the same."""
        return self
