"""Derives the coefficients of `numhlo.backend.vector_math`: minimax polynomials and quotients, with mpmath.

Run it to see every constant with the largest weighted error of the fit, before and after rounding the coefficients:

    python docs/vector_math/derive_coefficients.py [MODULE.NAME ...]
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
from mpmath import mp, mpf

mp.prec = 300
Real = Any  # an mpmath number
RealFunction = Callable[[Real], Real]


def chebyshev_points(low: Real, high: Real, count: int) -> list[Real]:
    """Return the Chebyshev points of an interval, in order."""
    middle, half = (low + high) / 2, (high - low) / 2
    return [middle - half * mpmath.cos(mp.pi * (k + mpf(0.5)) / count) for k in range(count)]


def alternation(errors: list[Real], count: int) -> list[int]:
    """Return where the error is extreme, one place per run of equal sign, at most ``count`` places."""
    places: list[int] = []
    for k, error in enumerate(errors):
        if places and (errors[places[-1]] > 0) == (error > 0):
            if abs(error) > abs(errors[places[-1]]):
                places[-1] = k
        else:
            places.append(k)
    while len(places) > count:
        weakest = min(range(len(places)), key=lambda p: abs(errors[places[p]]))
        at_the_end = weakest in (0, len(places) - 1)
        if at_the_end or len(places) == count + 1:
            places.pop(0 if abs(errors[places[0]]) < abs(errors[places[-1]]) else -1)
        else:
            del places[weakest]
            del places[weakest - 1 if abs(errors[places[weakest - 1]]) < abs(errors[places[weakest]]) else weakest]
    return places


def minimax_polynomial(
    function: RealFunction, weight: RealFunction, low: Real, high: Real, count: int
) -> tuple[list[Real], Real]:
    """Return ``count`` coefficients that minimize the largest weighted error, and that error (Remez 1934)."""
    points = chebyshev_points(low, high, 400)
    values, weights = [function(x) for x in points], [weight(x) for x in points]
    nodes = [mpf(-1) * mpmath.cos(mp.pi * k / count) * (high - low) / 2 + (low + high) / 2 for k in range(count + 1)]
    places = [min(range(len(points)), key=lambda k, node=node: abs(points[k] - node)) for node in nodes]
    best: tuple[list[Real], Real] | None = None
    for _ in range(12):
        system, right = mpmath.matrix(count + 1, count + 1), mpmath.matrix(count + 1, 1)
        for row, k in enumerate(places):
            for power in range(count):
                system[row, power] = weights[k] * points[k] ** power
            system[row, count] = (-1) ** row
            right[row] = weights[k] * values[k]
        solution = mpmath.lu_solve(system, right)
        coefficients = [solution[power] for power in range(count)]
        errors = [w * (v - evaluate(coefficients, x)) for w, v, x in zip(weights, values, points, strict=True)]
        worst = max(abs(error) for error in errors)
        if best is None or worst < best[1]:
            best = coefficients, worst
        places = alternation(errors, count + 1)
        if worst < abs(solution[count]) * mpf(1.02) or len(places) < count + 1:
            break
    assert best is not None
    return best


def evaluate(coefficients: Iterable[Real], x: Real) -> Real:
    """Return the polynomial with these coefficients, lowest power first, at x."""
    result = mpf(0)
    for coefficient in reversed(list(coefficients)):
        result = result * x + coefficient
    return result


def near_minimax_quotient(
    function: RealFunction, weight: RealFunction, low: Real, high: Real, degrees: tuple[int, int]
) -> tuple[list[Real], list[Real]]:
    """Return numerator and denominator (constant term 1) of a quotient with a nearly least largest weighted error.

    Least squares on the linearized problem, reweighted by the last denominator (Sanathanan and Koerner 1963) and by the
    last errors (Lawson 1961).
    """
    top, bottom = degrees
    points = chebyshev_points(low, high, 4 * (top + bottom))
    values, weights = [function(x) for x in points], [weight(x) for x in points]
    scales, lawson = [mpf(1)] * len(points), [mpf(1)] * len(points)
    best: tuple[Real, list[Real], list[Real]] | None = None
    for step in range(14):
        p, q = _linearized(points, values, weights, scales, lawson, degrees)
        errors = [
            abs(w * (evaluate(p, x) / evaluate(q, x) - v)) for w, v, x in zip(weights, values, points, strict=True)
        ]
        worst = max(errors)
        if best is None or worst < best[0]:
            best = worst, p, q
        if step > 3:  # the denominator has settled
            lawson = [old * max(error / worst, mpf(1) / 1000) for old, error in zip(lawson, errors, strict=True)]
            lawson = [value / max(lawson) for value in lawson]
        scales = [abs(evaluate(q, x)) for x in points]
    assert best is not None
    return best[1], best[2]


def _linearized(
    points: list[Real],
    values: list[Real],
    weights: list[Real],
    scales: list[Real],
    lawson: list[Real],
    degrees: tuple[int, int],
) -> tuple[list[Real], list[Real]]:
    top, bottom = degrees
    size = top + 1 + bottom
    rows, rights = [], []
    for x, v, w, q, extra in zip(points, values, weights, scales, lawson, strict=True):
        scale = w / q * mpmath.sqrt(extra)
        powers = [x**k for k in range(max(top, bottom) + 1)]
        rows.append(
            [scale * powers[k] for k in range(top + 1)] + [-scale * v * powers[k] for k in range(1, bottom + 1)]
        )
        rights.append(scale * v)
    normal, right = mpmath.matrix(size, size), mpmath.matrix(size, 1)
    for i in range(size):
        for j in range(size):
            normal[i, j] = mpmath.fsum(row[i] * row[j] for row in rows)
        right[i] = mpmath.fsum(row[i] * value for row, value in zip(rows, rights, strict=True))
    solution = mpmath.lu_solve(normal, right)
    return [solution[k] for k in range(top + 1)], [mpf(1)] + [solution[top + 1 + k] for k in range(bottom)]


@dataclass(frozen=True)
class Fit:
    """What is approximated, where, in which sense, by how many coefficients."""

    function: RealFunction
    weight: RealFunction
    low: Real
    high: Real
    count: int | tuple[int, int]
    dtype: type = np.float64

    def rounded(self) -> tuple[tuple[float, ...], ...]:
        """Return the polynomial's coefficients, or those of numerator and denominator, rounded to the dtype."""
        if isinstance(self.count, tuple):
            parts = near_minimax_quotient(self.function, self.weight, self.low, self.high, self.count)
            return tuple(tuple(float(c) for c in part) for part in parts)
        coefficients, _ = minimax_polynomial(self.function, self.weight, self.low, self.high, self.count)
        return (tuple(float(self.dtype(float(c))) for c in coefficients),)

    def error(self, parts: tuple[tuple[float, ...], ...]) -> Real:
        """Return the largest weighted error of rounded coefficients on a fine grid."""
        grid = [self.low + (self.high - self.low) * (k + mpf(0.5)) / 300 for k in range(300)]
        exact = [[mpf(c) for c in part] for part in parts]
        worst = mpf(0)
        for x in grid:
            value = evaluate(exact[0], x) / (evaluate(exact[1], x) if len(exact) == 2 else 1)
            worst = max(worst, abs(self.weight(x) * (value - self.function(x))))
        return worst


def one(_x: Real) -> Real:
    """Weigh everything alike."""
    return mpf(1)


def inverse(function: RealFunction) -> RealFunction:
    """Weigh so that the error is relative to a function."""
    return lambda x: 1 / function(x)


def odd(function: RealFunction) -> RealFunction:
    """Return z -> (f(x) / x - 1) / z with z = x**2."""
    return lambda z: (function(mpmath.sqrt(z)) / mpmath.sqrt(z) - 1) / z


def exp_rest(r: Real) -> Real:
    """Return (exp(r) - 1 - r) / r**2."""
    return (mpmath.expm1(r) - r) / r**2


def log_rest(z: Real) -> Real:
    """Return (2 atanh(s) / s - 2) / z with z = s**2."""
    return (2 * mpmath.atanh(mpmath.sqrt(z)) / mpmath.sqrt(z) - 2) / z


def pow_log_rest(z: Real) -> Real:
    """Return (3 atanh(s) / s - 3 - z) / z**2 with z = s**2."""
    return (3 * mpmath.atanh(mpmath.sqrt(z)) / mpmath.sqrt(z) - 3 - z) / z**2


def cos_rest(z: Real) -> Real:
    """Return (cos(r) - 1 + z / 2) / z**2 with z = r**2."""
    return (mpmath.cos(mpmath.sqrt(z)) - 1 + z / 2) / z**2


def cosh_rest(z: Real) -> Real:
    """Return (cosh(r) - 1) / z with z = r**2."""
    return (mpmath.cosh(mpmath.sqrt(z)) - 1) / z


def erfc_short(u: Real) -> Real:
    """Return exp(x**2) erfc(x) (x + 3) with u = 1 / (x + 3)."""
    x = 1 / u - 3
    return mpmath.exp(x * x) * mpmath.erfc(x) / u


def erfc_scaled(middle: int) -> RealFunction:
    """Return q -> exp(x**2) erfc(x) (1 + 2x) with q = (x - middle) / (x + middle)."""

    def function(q: Real) -> Real:
        x = middle * (1 + q) / (1 - q)
        return mpmath.exp(x * x) * mpmath.erfc(x) * (1 + 2 * x)

    return function


def erf_inv_far(r: Real) -> Real:
    """Return erf_inv(1 - exp(-r**2)), by Newton's and Halley's method."""
    tail, v = mpmath.exp(-r * r), r
    for _ in range(60):
        step = (mpmath.erfc(v) - tail) / (2 / mpmath.sqrt(mp.pi) * mpmath.exp(-v * v))
        better = v + step / (1 - step * v)
        if abs(better - v) < mpf(10) ** -60:
            return better
        v = better
    return v


def erf_inv_near(u: Real) -> Real:
    """Return erf_inv(x) / x with u = 9/16 - x**2."""
    x = mpmath.sqrt(mpf("0.5625") - u)
    return mpmath.erfinv(x) / x


def lgamma_core(v: Real) -> Real:
    """Return lgamma(x) / ((x - 1)(x - 2)) with v = x - 1/2."""
    return mpmath.loggamma(v + mpf(0.5)) / ((v - mpf(0.5)) * (v - mpf(1.5)))


def lgamma_series(z: Real) -> Real:
    """Return x (lgamma(x) - (x - 1/2)(log x - 1) - (log(2 pi) - 1) / 2) with z = 1 / x**2."""
    x = 1 / mpmath.sqrt(z)
    constant = mpmath.log(2 * mp.pi) / 2 - mpf(0.5)
    return (mpmath.loggamma(x) - (x - mpf(0.5)) * (mpmath.log(x) - 1) - constant) * x


DIGAMMA_ZERO = mpmath.findroot(mpmath.digamma, mpf("1.4616"))


def digamma_core(t: Real) -> Real:
    """Return digamma(x) / (x - its zero) with t = x - 1."""
    return mpmath.digamma(1 + t) / (1 + t - DIGAMMA_ZERO)


def digamma_series(z: Real) -> Real:
    """Return x**2 (digamma(x) - log x + 1 / (2x)) with z = 1 / x**2."""
    x = 1 / mpmath.sqrt(z)
    return (mpmath.digamma(x) - mpmath.log(x) + 1 / (2 * x)) / z


def sin_pi(z: Real) -> Real:
    """Return sin(pi t) / (pi t) with z = t**2."""
    return mpmath.sin(mp.pi * mpmath.sqrt(z)) / (mp.pi * mpmath.sqrt(z))


def cos_pi(z: Real) -> Real:
    """Return (cos(pi t) - 1) / z with z = t**2."""
    return (mpmath.cos(mp.pi * mpmath.sqrt(z)) - 1) / z


HALF_LN2 = mpmath.log(2) / 2 * mpf("1.002")
HYPERBOLIC = HALF_LN2**2
LOG_S = ((mpmath.sqrt(2) - 1) ** 2 * mpf("1.0001")) ** 2
QUARTER_PI = (mp.pi / 4 * mpf("1.0001")) ** 2
SMALL = mpf("0.001")
F32 = np.float32


def exp_fit(count: int, dtype: type = np.float64) -> Fit:
    """Fit exp on half of ln 2."""
    return Fit(exp_rest, lambda r: max(r**2, mpf(1) / 200), -HALF_LN2, HALF_LN2, count, dtype)


def log_fit(count: int, dtype: type = np.float64) -> Fit:
    """Fit log from sqrt(1/2) to sqrt(2)."""
    return Fit(log_rest, lambda z: z / 2, LOG_S * SMALL, LOG_S, count, dtype)


def tail_fit(count: int, high: int, dtype: type = np.float64) -> Fit:
    """Fit -log(erfc(x)) / x so that erf is right."""
    return Fit(lambda x: -mpmath.log(mpmath.erfc(x)) / x, lambda x: mpmath.erfc(x) * x, mpf(1), mpf(high), count, dtype)


def less(function: RealFunction, constant: Real) -> RealFunction:
    """Return the function less a constant that the code adds again."""
    return lambda x: function(x) - constant


FITS: dict[str, Fit] = {
    "exponential.EXP_F64": exp_fit(10),
    "exponential.EXP_F32": exp_fit(6, F32),
    "exponential.EXP_SHORT": exp_fit(5),
    "logarithm.LOG_F64": log_fit(7),
    "logarithm.LOG_F32": log_fit(4, F32),
    "logarithm.LOG_SHORT": log_fit(4),
    "trigonometric.SIN_F64": Fit(odd(mpmath.sin), lambda z: z, QUARTER_PI * SMALL, QUARTER_PI, 6),
    "trigonometric.COS_F64": Fit(cos_rest, lambda z: z * z, QUARTER_PI / 10, QUARTER_PI, 6),
    "trigonometric.SIN_F32": Fit(odd(mpmath.sin), lambda z: z, QUARTER_PI * SMALL, QUARTER_PI, 3),
    "trigonometric.COS_F32": Fit(cos_rest, lambda z: z * z, QUARTER_PI / 10, QUARTER_PI, 3),
    "hyperbolic.SINH_F64": Fit(odd(mpmath.sinh), lambda z: z, HYPERBOLIC * SMALL, HYPERBOLIC, 5),
    "hyperbolic.COSH_F64": Fit(cosh_rest, lambda z: z, HYPERBOLIC * SMALL, HYPERBOLIC, 5),
    "hyperbolic.SINH_SHORT": Fit(odd(mpmath.sinh), lambda z: z, HYPERBOLIC * SMALL, HYPERBOLIC, 3),
    "hyperbolic.COSH_SHORT": Fit(cosh_rest, lambda z: z, HYPERBOLIC * SMALL, HYPERBOLIC, 3),
    "error_function.ERF_F64": Fit(
        lambda z: mpmath.erf(mpmath.sqrt(z)) / mpmath.sqrt(z) - 1, one, mpf("1e-4"), mpf(1), 12
    ),
    "error_function.ERF_F32": Fit(
        lambda z: mpmath.erf(mpmath.sqrt(z)) / mpmath.sqrt(z) - 1, one, mpf("1e-4"), mpf(1), 7, F32
    ),
    "error_function.TAIL_F64": tail_fit(19, 6),
    "error_function.TAIL_F32": tail_fit(7, 4, F32),
    "error_function.ERFC_F64": Fit(erfc_scaled(4), one, mpf(-1), mpf("23.5") / mpf("31.5"), 24),
    "error_function.ERFC_SHORT": Fit(erfc_short, inverse(erfc_short), 1 / mpf("13.1"), 1 / mpf(3), 10),
    "error_function.EXP2_SHORT": Fit(lambda f: 2**f, lambda f: 2**-f, mpf(-0.5), mpf(0.5), 7),
    "inverse_error_function.NEAR": Fit(
        less(erf_inv_near, 1), inverse(erf_inv_near), mpf(0), mpf("0.5625") - mpf("1e-5"), (6, 7)
    ),
    "inverse_error_function.NEAR_SHORT": Fit(
        erf_inv_near, inverse(erf_inv_near), mpf(0), mpf("0.5625") - mpf("1e-5"), (3, 3)
    ),
    "inverse_error_function.FAR": Fit(
        lambda t: erf_inv_far(t + mpf("1.125")) / (t + mpf("1.125")) - mpf("0.875"),
        lambda t: (t + mpf("1.125")) / erf_inv_far(t + mpf("1.125")),
        mpf("1.175") - mpf("1.125"),
        mpf("6.06") - mpf("1.125"),
        (8, 9),
    ),
    "inverse_error_function.FAR_SHORT": Fit(
        lambda t: erf_inv_far(t + mpf("1.125")),
        lambda t: 1 / erf_inv_far(t + mpf("1.125")),
        mpf("1.175") - mpf("1.125"),
        mpf("4.2") - mpf("1.125"),
        (4, 3),
    ),
    "power.POW_LOG": Fit(pow_log_rest, lambda z: z * z / 3, LOG_S / 100, LOG_S, 7),
    "power.CBRT": Fit(lambda r: r ** (mpf(-1) / 3), one, mpf("0.9037626857"), mpf("1.0950543195"), 5),
    "inverse_trigonometric.ATAN_F64": Fit(odd(mpmath.atan), lambda z: z, SMALL, mpf(1), 20),
    "inverse_trigonometric.ATAN_F32": Fit(odd(mpmath.atan), lambda z: z, SMALL, mpf(1), 9, F32),
    "inverse_trigonometric.ASIN_F64": Fit(odd(mpmath.asin), lambda z: z, SMALL, mpf("0.25"), 13),
    "inverse_trigonometric.ASIN_F32": Fit(odd(mpmath.asin), lambda z: z, SMALL, mpf("0.25"), 5, F32),
    "inverse_hyperbolic.ASINH": Fit(odd(mpmath.asinh), lambda z: z, SMALL, mpf("0.25"), 12),
    "gamma.LGAMMA": Fit(less(lgamma_core, mpf(0.5)), inverse(lgamma_core), mpf(0), mpf(2), (8, 8)),
    "gamma.STIRLING_SERIES": Fit(lgamma_series, lambda z: mpmath.sqrt(z) / 6, mpf("1e-6"), mpf(1) / 64, 6),
    "gamma.DIGAMMA": Fit(less(digamma_core, mpf(0.5)), inverse(digamma_core), mpf("-0.01"), mpf(5), (7, 8)),
    "gamma.DIGAMMA_SERIES": Fit(digamma_series, lambda z: z / 2, mpf("1e-6"), mpf(1) / 36, 8),
    "gamma.COS_PI": Fit(cos_pi, lambda z: z, mpf("1e-5"), mpf("0.25"), 9),
    "gamma.SIN_PI": Fit(sin_pi, inverse(sin_pi), mpf("1e-5"), mpf("0.25"), 9),
}


def main(names: list[str]) -> None:
    """Print the fits of these names, or all."""
    for name in names or FITS:
        parts = FITS[name].rounded()
        error = mpmath.log(FITS[name].error(parts), 2)
        print(f"{name}: error 2**{float(error):.1f}")  # noqa: T201 - what the script is for
        for part in parts:
            print(f"    {part}")  # noqa: T201 - what the script is for


if __name__ == "__main__":
    main(sys.argv[1:])
