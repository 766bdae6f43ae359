"""Functions of complex numbers in terms of their parts: conjugate, sign, order, logaddexp, and questions about them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo.library.numpy.ufunc_rules.division import mod
from numhlo.lowering.ops import elementwise as ops
from numhlo.tracer.building import bind1
from numhlo.tracer.building import operations as b

LN_2 = math.log(2.0)


def by_parts(rule: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the rule that applies a real one to both parts."""
    return lambda z: b.as_complex(rule(b.real(z)), rule(b.imag(z)))


def sign(z: Any) -> Any:
    """Return ``z / |z|``; an infinite part counts as 1 beside a finite one."""
    infinite = by_parts(lambda part: b.select(b.equal(b.absolute(part), np.inf), b.copysign(_one(part), part), 0.0))(z)
    parts = [b.equal(b.absolute(part), np.inf) for part in (b.real(z), b.imag(z))]
    broken = b.either(b.is_nan(b.real(z)), b.is_nan(b.imag(z)))
    nan = b.constant(complex(np.nan, np.nan), z)
    ordinary = b.select(b.either(b.both(*parts), broken), nan, bind1(ops.SIGN, z))
    return b.select(b.differ(*parts), infinite, ordinary)


def _one(x: Any) -> Any:
    return b.constant(1, x)


def reciprocal(z: Any) -> Any:
    """Return ``1 / z`` as NumPy does, which divides by the larger part first (Smith's algorithm); of 0 it is NaN."""
    x, y = b.real(z), b.imag(z)
    wide = b.compare("GE", b.absolute(x), b.absolute(y))
    large, small = b.select(wide, x, y), b.select(wide, y, x)
    ratio = b.divide(small, large)
    total = b.add(large, b.multiply(small, ratio))
    one = _one(x)
    re, im = b.divide(b.select(wide, one, ratio), total), b.divide(b.negate(b.select(wide, ratio, one)), total)
    return b.as_complex(re, im)


def ordered(direction: str, z: Any, w: Any) -> Any:
    """Return a comparison by real part, then by imaginary part; never true where it would look at a NaN."""
    x, y, u, v = b.real(z), b.imag(z), b.real(w), b.imag(w)
    known = b.both(b.equal(y, y), b.equal(v, v))
    ahead = b.both(b.compare(direction[0] + "T", x, u), known)
    return b.either(ahead, b.both(b.equal(x, u), b.compare(direction, y, v)))


def logaddexp(z: Any, w: Any) -> Any:
    """Return ``log(exp(z) + exp(w))`` without overflow, its imaginary part between -pi and pi."""
    large, below = _apart(z, w)
    return _in_one_turn(b.add(large, b.log1p(b.exp(below))), math.pi)


def logaddexp2(z: Any, w: Any) -> Any:
    """Return ``log2(2**z + 2**w)`` without overflow, its imaginary part between -pi / log(2) and that."""
    large, below = _apart(z, w)
    total = b.multiply(b.log1p(b.exp(b.multiply(below, LN_2))), 1 / LN_2)
    return _in_one_turn(b.add(large, total), math.pi / LN_2)


def _apart(z: Any, w: Any) -> tuple[Any, Any]:
    """Return the number of the larger real part, and the other one minus it."""
    first = b.at_least(b.real(z), b.real(w))
    large = b.select(first, z, w)
    return large, b.subtract(b.select(first, w, z), large)


def _in_one_turn(z: Any, half: float) -> Any:
    angle = b.imag(z)
    turned = mod(b.add(angle, half), b.constant(2 * half, angle))
    return b.as_complex(b.real(z), b.subtract(turned, half))


def is_finite(z: Any) -> Any:
    """Return where both parts are finite."""
    return b.both(b.is_finite(b.real(z)), b.is_finite(b.imag(z)))


def is_infinite(z: Any) -> Any:
    """Return where a part is infinite."""
    return b.either(*[b.equal(b.absolute(part), np.inf) for part in (b.real(z), b.imag(z))])
