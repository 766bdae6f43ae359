"""Derivatives of special functions of one or several operands, by each operand.

Where there is no closed form, a function's decomposition is differentiated: it is a function like others.

Sources: DLMF 5.7 and 5.12 (gamma, beta), 7.10 (erfc), 8.8 and 8.17 (incomplete gamma and beta), 8.19.13 (expn),
10.29 (Bessel functions), 25.11.17 (zeta).
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from numhlo.lowering.ir import Function, Op, capture_location
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.lowering.ops import elementwise as ops
from numhlo.lowering.ops.special_functions.decompositions import build_to_differentiate
from numhlo.tracer.core import operations as b
from numhlo.tracer.core.bind import bind1, trace_closed
from numhlo.tracer.core.custom_rules import CustomRule, bind_with_rule
from numhlo.tracer.core.named_functions import composite
from numhlo.tracer.core.operands import full_of
from numhlo.tracer.core.replay import replay_op
from numhlo.tracer.differentiation.table import Dual, Walker, add_tangents, instantiate

Partial = Callable[..., Any]


def _gamma(x: Any, y: Any) -> Any:
    return b.multiply(y, composite("digamma", x))


def _erfcx(x: Any, y: Any) -> Any:
    return b.subtract(b.multiply(b.multiply(x, y), 2.0), 2 / math.sqrt(math.pi))


def _bessel_i0e(x: Any, y: Any) -> Any:
    return b.subtract(composite("bessel_i1e", x), b.multiply(bind1(ops.SIGN, x), y))


def _bessel_i1e(x: Any, y: Any) -> Any:
    near = b.less(b.absolute(x), 1)
    inner, outer = b.select(near, x, 0), b.select(near, 1, x)
    # i1(x) / x, DLMF 10.25.2: its derivatives have no differences of what becomes infinite at 0
    series = b.series(
        b.multiply(inner, inner), [2.0 / (4.0**k * math.factorial(k - 1) * math.factorial(k)) for k in range(1, 12)]
    )
    ratio = b.select(near, b.multiply(series, b.exp(b.negate(b.absolute(x)))), b.divide(y, outer))
    return b.subtract(b.subtract(composite("bessel_i0e", x), ratio), b.multiply(bind1(ops.SIGN, x), y))


def _ndtri(x: Any, y: Any) -> Any:
    return b.multiply(b.exp(b.multiply(b.multiply(y, y), 0.5)), math.sqrt(2 * math.pi))


def _spence(x: Any, y: Any) -> Any:
    t = b.subtract(1.0, x)
    near = b.less(b.absolute(t), 1 / 16)
    series = b.series(b.select(near, t, 0), [-1 / k for k in range(1, 16)])
    return b.select(near, series, b.divide(b.log(x), b.select(near, 1, t)))


def _expn(n: Any, x: Any, y: Any) -> Any:
    lowest = b.equal(n, 0)
    below = b.negate(composite("expn", b.subtract(b.select(lowest, 1, n), 1.0), x))
    return b.select(lowest, b.negate(b.multiply(y, b.add(b.divide(1.0, x), 1.0))), below)


def _zeta(s: Any, q: Any, y: Any) -> Any:
    return b.negate(b.multiply(s, composite("zeta", b.add(s, 1.0), q)))


def _polygamma(n: Any, x: Any, y: Any) -> Any:
    return composite("polygamma", b.add(n, 1.0), x)


def _betaln(x: Any, other: Any) -> Any:
    return b.subtract(composite("digamma", x), composite("digamma", b.add(x, other)))


def _times_log(factor: Any, x: Any) -> Any:
    """Return ``factor log(x)``, 0 where both are."""
    return b.multiply(factor, b.log(b.select(_annulled(factor, x, 0.0), 1.0, x)))


def _times_log1p(factor: Any, x: Any) -> Any:
    """Return ``factor log(1 + x)``, 0 where the factor and the sum are."""
    return b.multiply(factor, b.log1p(b.select(_annulled(factor, x, -1.0), 0.0, x)))


def _annulled(factor: Any, x: Any, pole: float) -> Any:
    return b.both(b.equal(factor, 0), b.equal(x, pole))


def _betainc(p: Any, q: Any, x: Any, y: Any) -> Any:
    """Return ``x^(p - 1) (1 - x)^(q - 1) / beta(p, q)``."""
    powers = b.add(_times_log(b.subtract(p, 1.0), x), _times_log1p(b.subtract(q, 1.0), b.negate(x)))
    return b.exp(b.subtract(powers, composite("betaln", p, q)))


def _igamma(a: Any, x: Any, y: Any) -> Any:
    """Return ``x^(a - 1) exp(-x) / gamma(a)``."""
    return b.exp(b.subtract(b.subtract(_times_log(b.subtract(a, 1.0), x), x), composite("lgamma", a)))


def _igamma_slope(a: Any, x: Any, y: Any) -> Any:
    """Return the derivative of the density ``x^(a - 1) exp(-x) / gamma(a)`` by ``a``; the two orders agree."""
    return b.multiply(_igamma(a, x, y), b.subtract(b.log(x), composite("digamma", a)))


def _counts(*_: Any) -> Any:
    raise UnsupportedError(
        "a derivative by the order of polygamma or expn",
        where=capture_location(),
        why="orders are whole numbers here, between which the function has no values",
        fix="hold the order constant with lax.stop_gradient",
    )


PARTIALS: dict[str, tuple[Partial | None, ...]] = {
    "bessel_i0e": (_bessel_i0e,),
    "bessel_i1e": (_bessel_i1e,),
    "beta": (lambda p, q, y: b.multiply(y, _betaln(p, q)), lambda p, q, y: b.multiply(y, _betaln(q, p))),
    "betainc": (None, None, _betainc),
    "betaln": (lambda p, q, y: _betaln(p, q), lambda p, q, y: _betaln(q, p)),
    "erfcx": (_erfcx,),
    "expn": (_counts, _expn),
    "gamma": (_gamma,),
    "igamma": (lambda a, x, y: composite("igamma_slope", a, x), _igamma),
    "igammac": (
        lambda a, x, y: b.negate(composite("igamma_slope", a, x)),
        lambda a, x, y: b.negate(_igamma(a, x, y)),
    ),
    "igamma_slope": (None, _igamma_slope),
    "ndtri": (_ndtri,),
    "polygamma": (_counts, _polygamma),
    "spence": (_spence,),
    "zeta": (None, _zeta),
}
"""The derivative of each function by each operand, from operands and result; None: that of its decomposition."""


def jvp_special(op: Op, primals: list[Any], tangents: list[Any], outputs: list[Any]) -> Sequence[Any]:
    """Sum the products of tangents and derivatives.

    Raises
    ------
    UnsupportedError
        If a tangent reaches an operand by which there is no derivative.
    """
    partials = PARTIALS[op.attributes["name"].removeprefix("numhlo.")]
    total = None
    for place, (tangent, partial) in enumerate(zip(tangents, partials, strict=True)):
        if tangent is not None:
            slope = _slope_by(op, place, primals) if partial is None else partial(*primals, outputs[0])
            total = add_tangents(total, b.multiply(tangent, slope))
    return [total]


_SLOPES: weakref.WeakKeyDictionary[Function, dict[int, Function]] = weakref.WeakKeyDictionary()
"""The derivatives of decompositions by their arguments, as functions that have such derivatives in turn."""


def _slope_by(op: Op, place: int, primals: list[Any]) -> Any:
    """Return the derivative of an elementwise function by one argument: its decomposition in forward mode.

    So a series becomes the series of its terms' derivatives, with as many terms.
    """
    short = op.attributes["name"].removeprefix("numhlo.")
    function: Function = build_to_differentiate(short, op.operands[0].tensor) or op.attributes["decomposition"]
    made = _SLOPES.setdefault(function, {})
    if place not in made:
        made[place] = _differentiated(function, place)
    return bind_with_rule(f"numhlo.{short}_by_{place}", made[place], primals, _Smooth())[0]


def _differentiated(function: Function, place: int) -> Function:
    values = function.body.arguments
    types = [v.tensor for v in values]

    def run(*arrays: Any) -> list[Any]:
        moving = full_of(1, types[place].shape, types[place].dtype)
        duals = [Dual(x, moving if k == place else None) for k, x in enumerate(arrays)]
        (found,) = Walker().function(function, duals)
        return [instantiate(found.tangent, function.body.returns[0])]

    return trace_closed(f"{function.name}_by_{place}", run, types)


class _Smooth(CustomRule[Walker]):
    """An elementwise function that is differentiated by its decomposition in forward mode, as often as one likes."""

    def differentiate(
        self, walker: Walker, op: Op, primals: list[Any], tangents: list[Any]
    ) -> tuple[Sequence[Any], Sequence[Any]]:
        """Run the function, and sum the products of tangents and derivatives."""
        with walker.in_primal():
            outputs = replay_op(op, primals, {})
        total = None
        for place, tangent in enumerate(tangents):
            if tangent is not None:
                total = add_tangents(total, b.multiply(tangent, _slope_by(op, place, primals)))
        return outputs, [total]

    def batched(self, size: int) -> CustomRule:
        """Return the rule on lanes: the same."""
        return self
