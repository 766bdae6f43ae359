"""Special functions that JAX has and numhlo's own modules have not: by series, continued fractions and recurrences.

Sources: Abramowitz and Stegun, Handbook of Mathematical Functions; Press et al., Numerical Recipes, 3rd ed., 6.8;
Weideman, "Computation of the complex error function", SIAM J. Numer. Anal. 31 (1994).
"""

from __future__ import annotations

import math
import operator
from fractions import Fraction
from typing import Any

import numpy as np

from numhlo.compat.jax import lax
from numhlo.compat.jax import numpy as jnp
from numhlo.compat.jax.scipy import special
from numhlo.compat.jax.transformations import jvp
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, DTypeError, UnsupportedError

STEPS = 64
"""Terms of series and continued fractions where they are used, for double precision."""

MOST_TERMS = 2000
"""Of hypergeometric series, which end when terms no longer count."""


def _floats(name: str, *arrays: Any) -> list[Any]:
    dtype = jnp.result_type(*arrays)
    if dtype.kind == "c":
        raise DTypeError(f"{name} of {dtype}", where=capture_location(), fix="give real numbers")
    wanted = dtype if dtype.kind in "fV" else jnp.result_type(dtype, 1.0)
    return list(jnp.broadcast_arrays(*[jnp.asarray(x).astype(wanted) for x in arrays]))


def bernoulli(n: int) -> Any:
    """Return the Bernoulli numbers up to the one of number ``n``, the second of which is -1/2.

    Parameters
    ----------
    n : int

    Examples
    --------
    >>> bernoulli(2).round(3)
    Array([ 1.   , -0.5  ,  0.167], dtype=float...)
    """
    count = operator.index(n)
    if count < 0:
        raise ArgumentError(f"bernoulli({n})", where=capture_location(), fix="give a non-negative integer")
    found: list[Fraction] = []
    for k in range(count + 1):
        total = sum((math.comb(k + 1, j) * b for j, b in enumerate(found)), Fraction(0))
        found.append(Fraction(1) if k == 0 else -total / (k + 1))
    return jnp.asarray(np.array([float(b) for b in found]), dtype=float)


def igamma_grad_a(a: Any, x: Any) -> Any:
    """Return the derivative of the regularized lower incomplete gamma function by its first argument.

    Parameters
    ----------
    a, x : array_like
        Floats of one shape and dtype.

    Returns
    -------
    Array

    Examples
    --------
    >>> igamma_grad_a(jnp.float32(2.0), jnp.float32(1.0)).round(3)
    Array(-0.276, dtype=float32)
    """
    first = jnp.asarray(a)
    return jvp(lambda v: lax.igamma(v, x), (first,), (jnp.ones_like(first),))[1]


def sici(x: Any) -> tuple[Any, Any]:
    """Return the sine and cosine integrals of real numbers.

    Parameters
    ----------
    x : array_like

    Examples
    --------
    >>> [round(float(y), 4) for y in sici(1.5)]
    [1.3247, 0.4704]
    """
    (x,) = _floats("sici", x)
    t = jnp.abs(x)
    near = t < 4
    small, large = jnp.where(near, t, 1), jnp.where(near, 4, t)
    si, ci, term = jnp.zeros_like(t), jnp.zeros_like(t), jnp.ones_like(t)
    for k in range(1, 40):  # A&S 5.2.14, 5.2.16: t^k / k!, alternately
        term = term * small / k
        sign = -1.0 if (k // 2) % 2 else 1.0
        si, ci = (si + sign * term / k, ci) if k % 2 else (si, ci + sign * term / k)
    safe = jnp.where(small > 0, small, 1)
    ci = jnp.where(small > 0, np.euler_gamma + jnp.log(safe) + ci, -jnp.inf)
    z = 1j * large
    fraction = lax.fori_loop(0, STEPS, lambda k, f: z + (STEPS - k) / (1 + (STEPS - k) / f), z)  # A&S 5.1.22
    tail = jnp.exp(-z) / fraction
    finite = jnp.isfinite(large)
    si = jnp.where(near, si, jnp.where(finite, jnp.imag(tail), 0) + np.pi / 2)
    ci = jnp.where(near, ci, jnp.where(finite, -jnp.real(tail), 0))
    return jnp.copysign(si, x).astype(x.dtype), ci.astype(x.dtype)


def fresnel(x: Any) -> tuple[Any, Any]:
    """Return Fresnel's integrals S and C of real numbers.

    Parameters
    ----------
    x : array_like

    Examples
    --------
    >>> [round(float(y), 4) for y in fresnel(1.5)]
    [0.6975, 0.4453]
    """
    (x,) = _floats("fresnel", x)
    t = jnp.abs(x)
    near = t < 1.75
    small, large = jnp.where(near, t, 0), jnp.where(near | (t > 1e18), 2, t)
    square = (np.pi / 2) * small * small
    sine, cosine, term = jnp.zeros_like(t), jnp.zeros_like(t), small
    for k in range(30):  # A&S 7.3.11, 7.3.13
        sign = -1.0 if (k // 2) % 2 else 1.0
        part = sign * term / (2 * k + 1)
        sine, cosine = (sine + part, cosine) if k % 2 else (sine, cosine + part)
        term = term * square / (k + 1)
    z = (math.sqrt(math.pi) / 2) * (1 - 1j) * large
    scaled = wofz(1j * z)  # erfc(z) = exp(-z^2) w(iz)
    erf = 1 - jnp.exp(1j * (np.pi / 2) * large * large) * scaled
    both = (1 + 1j) / 2 * erf
    sine = jnp.where(near, sine, jnp.where(t > 1e18, 0.5, jnp.imag(both)))
    cosine = jnp.where(near, cosine, jnp.where(t > 1e18, 0.5, jnp.real(both)))
    return jnp.copysign(sine, x).astype(x.dtype), jnp.copysign(cosine, x).astype(x.dtype)


def _weideman(count: int) -> tuple[float, np.ndarray]:
    """Return the scale, and the coefficients of the polynomial, of a rational approximation."""
    length, twice = math.sqrt(count / math.sqrt(2)), 2 * count
    theta = np.arange(-twice + 1, twice) * np.pi / twice
    t = length * np.tan(theta / 2)
    values = np.concatenate([[0.0], np.exp(-t * t) * (length * length + t * t)])
    a = np.real(np.fft.fft(np.fft.fftshift(values))) / (2 * twice)
    return length, a[1 : count + 1][::-1]


LENGTH, POLYNOMIAL = _weideman(48)


def wofz(z: Any) -> Any:
    """Return Faddeeva's function ``exp(-z**2) erfc(-i z)``.

    Parameters
    ----------
    z : array_like
        Complex; real numbers are taken as such.

    Examples
    --------
    >>> wofz(1 + 1j).round(4)
    Array(0.3047+0.2082j, dtype=complex...)
    """
    array = jnp.asarray(z)
    array = array.astype(jnp.result_type(array, 1j))
    below = jnp.imag(array) < 0
    upper = jnp.where(below, -array, array)
    under = LENGTH - 1j * upper
    ratio = (LENGTH + 1j * upper) / under
    total = jnp.zeros_like(upper)
    for coefficient in POLYNOMIAL:
        total = total * ratio + coefficient
    found = 2 * total / (under * under) + (1 / math.sqrt(math.pi)) / under
    flipped = 2 * jnp.exp(-(jnp.where(below, array, 0) ** 2)) - found
    return jnp.where(below, flipped, found).astype(array.dtype)


NODES, WEIGHTS = np.polynomial.legendre.leggauss(48)


def owens_t(h: Any, a: Any) -> Any:
    """Return Owen's T: the probability of ``X > h`` and ``0 < Y < a X`` of independent normal numbers.

    Parameters
    ----------
    h, a : array_like

    Examples
    --------
    >>> round(float(owens_t(1.0, 0.5)), 5)
    0.04306
    """
    h, a = _floats("owens_t", h, a)
    size, slope = jnp.abs(h), jnp.abs(a)
    steep = slope > 1
    inverse = jnp.where(steep, jnp.where(steep, 1 / jnp.where(steep, slope, 1), 0), slope)
    scaled = jnp.where(steep, jnp.where(size == 0, 0, slope * size), size)
    total = jnp.zeros_like(size)
    for node, weight in zip(NODES, WEIGHTS, strict=True):
        x = inverse * ((node + 1) / 2)
        square = jnp.where(jnp.isfinite(scaled), scaled, 0) ** 2
        total = total + (weight / 2) * jnp.exp(-0.5 * square * (1 + x * x)) / (1 + x * x)
    part = jnp.where(jnp.isfinite(scaled), total * inverse / (2 * np.pi), 0)
    # A&S 26.3: by the complementary triangle, with the tails of the normal distribution
    first, second = special.ndtr(-size), special.ndtr(-scaled)
    whole = 0.5 * (first + second) - first * second - part
    return jnp.where(steep, whole, part) * jnp.sign(a)


def _series(ratio: Any, like: Any) -> Any:
    """Return a hypergeometric series whose term of number k + 1 is ``ratio(k)`` times the one before."""
    eps = jnp.finfo(like.dtype).eps

    def goes_on(state: Any) -> Any:
        k, total, term = state
        return (k < MOST_TERMS) & (jnp.abs(term) > eps * jnp.abs(total) * 0.25).any()

    def step(state: Any) -> Any:
        k, total, term = state
        term = term * ratio(k.astype(like.dtype))
        return k + 1, total + term, term

    one = jnp.ones_like(like)
    return lax.while_loop(goes_on, step, (jnp.zeros((), jnp.int32), one, one))[1]


def hyp1f1(a: Any, b: Any, x: Any) -> Any:
    """Return Kummer's confluent hypergeometric function.

    Parameters
    ----------
    a, b, x : array_like

    Examples
    --------
    >>> round(float(hyp1f1(1.0, 2.0, 0.5)), 5)
    1.29744
    """
    a, b, x = _floats("hyp1f1", a, b, x)
    flips = x < 0  # Kummer: M(a, b, x) = exp(x) M(b - a, b, -x)
    first, t = jnp.where(flips, b - a, a), jnp.abs(x)
    total = _series(lambda k: (first + k) / (b + k) * t / (k + 1), t)
    return jnp.where(flips, jnp.exp(x) * total, total)


def hyp2f1(a: Any, b: Any, c: Any, x: Any) -> Any:
    """Return Gauss' hypergeometric function, of x up to 1.

    Parameters
    ----------
    a, b, c, x : array_like

    Examples
    --------
    >>> round(float(hyp2f1(1.0, 2.0, 3.0, 0.5)), 5)
    1.54518
    """
    a, b, c, x = _floats("hyp2f1", a, b, c, x)
    flips = x < 0  # A&S 15.3.4
    second = jnp.where(flips, c - b, b)
    t = jnp.where(flips, x / (x - 1), x)
    inside = jnp.where(t < 1, t, 0)
    total = _series(lambda k: (a + k) * (second + k) / (c + k) * inside / (k + 1), inside)
    total = jnp.where(flips, (1 - jnp.where(flips, x, 0)) ** (-a) * total, total)
    gap = c - a - b  # A&S 15.1.20
    edge = special.gamma(c) * special.gamma(gap) / (special.gamma(c - a) * special.gamma(c - b))
    at_one = jnp.where(gap > 0, edge, jnp.inf)
    return jnp.where(x > 1, jnp.nan, jnp.where(x == 1, at_one, total))


def bessel_jn(z: Any, *, v: int, n_iter: int = 50) -> Any:
    """Return Bessel functions of the first kind, of the orders 0 to v, by a recurrence from order ``n_iter`` downwards.

    Parameters
    ----------
    z : array_like
    v : int
    n_iter : int, optional
        In 32 bits the recurrence overflows from 50 where z is small; begin lower.

    Returns
    -------
    (v + 1, ...) Array

    Examples
    --------
    >>> [round(float(y), 4) for y in bessel_jn(np.float32(1.5), v=1, n_iter=20)]
    [0.5118, 0.5579]
    """
    (z,) = _floats("bessel_jn", z)
    order = operator.index(v)

    def step(state: Any, k: Any) -> Any:
        f0, f1, total = state
        f = 2 * (k + 1) * f1 / z - f0
        total = jnp.where(k % 2 == 0, total + 2 * f, total)
        return (f1, f, total), f

    start = jnp.zeros_like(z), jnp.full_like(z, 1e-16), jnp.zeros_like(z)
    (_, _, total), values = lax.scan(step, start, jnp.arange(n_iter + 1, dtype=z.dtype), reverse=True)
    return values[: order + 1] / (total - values[0])


def sph_harm_y(n: Any, m: Any, theta: Any, phi: Any, diff_n: int | None = None, n_max: int | None = None) -> Any:
    """Return spherical harmonics of degree n and order m.

    Parameters
    ----------
    n, m : (k,) array_like of int
    theta, phi : (k,) array_like
        Colatitude and longitude.
    diff_n : None
        Derivatives have no name of their own; differentiate.
    n_max : int, optional
        The greatest degree; needed in traced functions.

    Returns
    -------
    (k,) Array

    Examples
    --------
    >>> n, m, angle = np.array([1]), np.array([0]), np.array([0.5], np.float32)
    >>> sph_harm_y(n, m, angle, angle).real.round(4)
    Array([0.4288], dtype=float32)
    """
    if diff_n is not None:
        raise UnsupportedError(
            f"sph_harm_y(diff_n={diff_n})", where=capture_location(), fix="differentiate it with jax.jvp"
        )
    degree, order = jnp.asarray(n), jnp.asarray(m)
    theta, phi = _floats("sph_harm_y", theta, phi)
    greatest = int(np.max(np.asarray(degree))) if n_max is None else operator.index(n_max)
    degree = jnp.minimum(degree, greatest)
    size = jnp.abs(order)
    cosine, sine = jnp.cos(theta), jnp.sin(theta)
    # normalized Legendre functions: those of degree |m|, then upwards in the degree
    first = jnp.full_like(theta, math.sqrt(0.25 / math.pi))
    for k in range(1, greatest + 1):
        first = jnp.where(k <= size, -math.sqrt((2 * k + 1) / (2 * k)) * sine * first, first)
    before, now = jnp.zeros_like(theta), jnp.where(size == 0, first, 0)
    found = jnp.where(degree == 0, now, 0)
    squares = size.astype(theta.dtype) ** 2
    for k in range(1, greatest + 1):
        under = jnp.where(k > size, k * k - squares, 1)
        factor = jnp.sqrt((4.0 * k * k - 1) / under)
        lower = jnp.sqrt(jnp.maximum((k - 1.0) ** 2 - squares, 0) / max(4.0 * (k - 1) ** 2 - 1, 1.0))
        before, now = now, jnp.where(k == size, first, factor * (cosine * now - lower * before))
        now = jnp.where(k < size, 0, now)
        found = jnp.where(degree == k, now, found)
    sign = jnp.where((order < 0) & (size % 2 == 1), -1.0, 1.0).astype(theta.dtype)
    return sign * found * jnp.exp(1j * order.astype(theta.dtype) * phi)
