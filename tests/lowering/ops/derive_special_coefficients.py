"""How the tables of `numhlo.lowering.ops.special_functions.coefficients` were made: interpolation in 50 digits, by mpmath.

Run as a script, it writes that module to standard output. Coefficients are those of powers, lowest first, of the
variable, less the middle of the interval where a row is shifted.
"""

import sys

import mpmath
import numpy as np

mpmath.mp.dps = 50
mpf = mpmath.mpf

CENTER = 3  # of the variable (x - CENTER) / (x + CENTER) for the scaled complementary error function
ROOT = mpmath.findroot(mpmath.digamma, mpf("1.4616321449683623"))  # where digamma is zero


def erf_ratio(square):
    x = mpmath.sqrt(square)
    return mpmath.erf(x) / x if x else 2 / mpmath.sqrt(mpmath.pi)


def scaled_erfc(y):
    x = CENTER * (1 + y) / (1 - y)
    return (1 + 2 * x) * mpmath.exp(x * x) * mpmath.erfc(x)


def erf_inv_ratio(w):
    if w == 0:
        return mpmath.sqrt(mpmath.pi) / 2
    x = mpmath.sqrt(-mpmath.expm1(-w))
    # Newton's method on log(erfc), which is smooth in the tail
    y = mpmath.sqrt(w) * mpf("0.9") if w > 1 else x * mpf("0.9")
    target = mpmath.exp(-w) / (1 + x)  # 1 - x without cancellation
    for _ in range(60):
        tail = mpmath.erfc(y)
        step = (mpmath.log(tail) - mpmath.log(target)) * tail * mpmath.sqrt(mpmath.pi) / (-2 * mpmath.exp(-y * y))
        y -= step
        if abs(step) < mpf(10) ** -45:
            break
    return y / x


def lgamma_ratio(u):
    if abs(u) < mpf(10) ** -20:
        return mpmath.digamma(2) + u * mpmath.psi(1, 2) / 2
    return mpmath.loggamma(2 + u) / u


def stirling_rest(t):
    if t == 0:
        return mpf(1) / 12
    x = 1 / mpmath.sqrt(t)
    main = (x - mpf("0.5")) * (mpmath.log(x) - 1) + (mpmath.log(2 * mpmath.pi) - 1) / 2
    return (mpmath.loggamma(x) - main) * x


def digamma_ratio(u):
    x = mpf("1.5") + u
    if abs(x - ROOT) < mpf(10) ** -20:
        return mpmath.psi(1, ROOT)
    return mpmath.digamma(x) / (x - ROOT)


def digamma_rest(t):
    if t == 0:
        return mpf(1) / 12
    x = 1 / mpmath.sqrt(t)
    return (mpmath.log(x) - 1 / (2 * x) - mpmath.digamma(x)) * x * x


def bessel_near(x, order=1):
    if order == 0:
        return mpmath.exp(-x) * mpmath.besseli(0, x)
    return mpmath.exp(-x) * mpmath.besseli(1, x) / x if x else mpf(1) / 2


def bessel_far(t, order=1):
    x = 8 / t if t else mpmath.inf
    return mpmath.exp(-x) * mpmath.besseli(order, x) * mpmath.sqrt(x) if t else 1 / mpmath.sqrt(2 * mpmath.pi)


def scaled_variable(x):
    return mpf(x - CENTER) / (x + CENTER)


ROWS = {
    # name: (function, interval and count for float32, interval and count for float64, shifted, what it is)
    "ERF": (erf_ratio, (0, 1, 7), (0, 1, 13), False, "erf(x) / x, a polynomial in x^2"),
    "ERFC": (
        scaled_erfc,
        (scaled_variable(mpf("0.5")), scaled_variable(mpf("10.1")), 10),
        (scaled_variable(mpf("0.5")), scaled_variable(mpf("27.3")), 23),
        False,
        "(1 + 2 x) exp(x^2) erfc(x), a polynomial in (x - 3) / (x + 3)",
    ),
    "ERF_INV_CENTER": (
        erf_inv_ratio,
        (0, 5, 10),
        (0, mpf("6.25"), 26),
        True,
        "erf_inv(x) / x, a polynomial in w - 2.5 (float32) or w - 3.125 (float64) with w = -log(1 - x^2)",
    ),
    "ERF_INV_TAIL": (
        lambda s: erf_inv_ratio(s * s),
        (mpmath.sqrt(5), mpf("4.1"), 11),
        (mpf("2.5"), mpf("6.1"), 33),
        True,
        "erf_inv(x) / x, a polynomial in sqrt(w) less the middle of the interval",
    ),
    "LGAMMA_NEAR_2": (
        lgamma_ratio,
        (mpf("-0.75"), mpf("0.5"), 11),
        (mpf("-0.75"), mpf("0.5"), 23),
        False,
        "lgamma(2 + u) / u, a polynomial in u",
    ),
    "STIRLING": (
        stirling_rest,
        (0, mpf(1) / 64, 2),
        (0, mpf(1) / 64, 7),
        False,
        "x times what Stirling's formula leaves of lgamma(x), a polynomial in 1 / x^2",
    ),
    "DIGAMMA": (
        digamma_ratio,
        (mpf("-0.5"), mpf("0.5"), 10),
        (mpf("-0.5"), mpf("0.5"), 23),
        False,
        "digamma(1.5 + u) / (1.5 + u - root), a polynomial in u",
    ),
    "DIGAMMA_REST": (
        digamma_rest,
        (0, mpf(1) / 64, 3),
        (0, mpf(1) / 64, 8),
        False,
        "x^2 (log(x) - 1 / (2 x) - digamma(x)), a polynomial in 1 / x^2",
    ),
    "BESSEL_I0E_NEAR": (
        lambda x: bessel_near(x, 0),
        (0, 8, 17),
        (0, 8, 29),
        True,
        "exp(-x) i0(x), a polynomial in x - 4",
    ),
    "BESSEL_I0E_FAR": (
        lambda t: bessel_far(t, 0),
        (0, 1, 6),
        (0, 1, 25),
        True,
        "exp(-x) i0(x) sqrt(x), a polynomial in 8 / x - 1 / 2",
    ),
    "BESSEL_I1E_NEAR": (bessel_near, (0, 8, 16), (0, 8, 28), True, "exp(-x) i1(x) / x, a polynomial in x - 4"),
    "BESSEL_I1E_FAR": (
        bessel_far,
        (0, 1, 6),
        (0, 1, 25),
        True,
        "exp(-x) i1(x) sqrt(x), a polynomial in 8 / x - 1 / 2",
    ),
}

HEAD = '''"""Polynomial coefficients of the special functions, lowest power first, for float32 and float64.

Each table interpolates the function named above it at Chebyshev nodes, computed in 50 digits and rounded once;
``tests/lowering/ops/derive_special_coefficients.py`` writes this file and says for which interval. Errors of the
interpolation are below 1e-17 for float64 and 5e-8 for float32.
"""
'''


def fit(function, interval, shifted):
    """Return the coefficients that interpolate at Chebyshev nodes, lowest power first, and the largest error seen."""
    low, high, count = mpf(interval[0]), mpf(interval[1]), interval[2]
    middle, half = (low + high) / 2, (high - low) / 2
    origin = middle if shifted else mpf(0)
    nodes = [middle - origin + half * mpmath.cos(mpmath.pi * (2 * k + 1) / (2 * count)) for k in range(count)]
    powers = mpmath.matrix([[node**k for k in range(count)] for node in nodes])
    coefficients = list(mpmath.lu_solve(powers, mpmath.matrix([function(node + origin) for node in nodes])))
    points = [low - origin + 2 * half * k / 200 for k in range(201)]
    error = max(abs(sum(c * t**k for k, c in enumerate(coefficients)) - function(t + origin)) for t in points)
    return coefficients, error


def derive(name):
    """Return the float32 and the float64 coefficients of a row, and the largest errors."""
    function, single, double, shifted, _ = ROWS[name]
    narrow, narrow_error = fit(function, single, shifted)
    wide, wide_error = fit(function, double, shifted)
    return [float(np.float32(float(c))) for c in narrow], [float(c) for c in wide], (narrow_error, wide_error)


def module_text():
    """Return the module's source."""
    lines = [HEAD]
    for name, row in ROWS.items():
        single, double, _ = derive(name)
        lines.append(f"# {row[-1]}.\n")
        for kind, table in (("SINGLE", single), ("DOUBLE", double)):
            lines += [f"{name}_{kind} = (", *[f"    {c!r}," for c in table], ")"]
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(module_text())
