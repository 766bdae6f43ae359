"""Reduction of huge arguments of sin, cos and tan: x = n pi/2 + r from the bits of 2/pi that matter.

After Payne and Hanek (1983); scalar and slow, in integers. With x = m 2**e, only those bits of m (2/pi) 2**e count
that weigh 2 or less, so a window of 240 bits of 2/pi is enough: 142 bits of the fraction are right, and no float64
leaves more than 62 of them zero at the front.
"""

from __future__ import annotations

from typing import Any

from numhlo.backend.primitives import absolute, bits_of_f64, f64_from_bits, select, to_f64
from numhlo.backend.vector_math.jitable import Table, jitable

# fmt: off
TWO_OVER_PI_LIMBS = Table((  # 24 bits each, after three zeros
    0, 0, 0,
    0xA2F983, 0x6E4E44, 0x1529FC, 0x2757D1, 0xF534DD, 0xC0DB62, 0x95993C, 0x439041, 0xFE5163, 0xABDEBB,
    0xC561B7, 0x246E3A, 0x424DD2, 0xE00649, 0x2EEA09, 0xD1921C, 0xFE1DEB, 0x1CB129, 0xA73EE8, 0x8235F5,
    0x2EBB44, 0x84E99C, 0x7026B4, 0x5F7E41, 0x3991D6, 0x398353, 0x39F49C, 0x845F8B, 0xBDF928, 0x3B1FF8,
    0x97FFDE, 0x05980F, 0xEF2F11, 0x8B5A0A, 0x6D1F6D, 0x367ECF, 0x27CB09, 0xB74F46, 0x3F669E, 0x5FEA2D,
    0x7527BA, 0xC7EBE5, 0xF17B3D, 0x0739F7, 0x8A5292, 0xEA6BFB, 0x5FB11F, 0x8D5D08, 0x560330, 0x46FC7B,
    0x6BABF0, 0xCFBC20, 0x9AF436, 0x1DA9E3,
))
# fmt: on
LIMB_MASK = 0xFFFFFF
WORD_MASK = 0xFFFFFFFFFFFF
PI_HALF_HIGH = 1.5707963267948966
PI_HALF_LOW = 6.123233995736766e-17
INFINITY = float("inf")
NAN = float("nan")
SPLITTER = 134217729.0  # 2**27 + 1 splits a float64 into halves of 26 bits


@jitable
def column(at: Any, m0: Any, m1: Any, m2: Any, m3: Any) -> Any:
    """Return one column of the long product of the limbs m with the table, before carrying."""
    low = TWO_OVER_PI_LIMBS(at) * m0 + TWO_OVER_PI_LIMBS(at + 1) * m1
    return low + TWO_OVER_PI_LIMBS(at + 2) * m2 + TWO_OVER_PI_LIMBS(at + 3) * m3


@jitable
def fraction_of_quadrants(x: Any) -> Any:
    """Return ``(whole, high, middle, low)``: x 2/pi modulo 4, its fraction as three words of 48 bits; x >= 2**26."""
    bits = bits_of_f64(x)
    shift = (bits >> 52) - (1075 - 48)
    at = (shift * 2731) >> 16  # shift // 24
    shift = shift - 24 * at
    m = (bits & 0xFFFFFFFFFFFFF) | 0x10000000000000
    m0 = (m & LIMB_MASK) << shift
    m1 = (((m >> 24) & LIMB_MASK) << shift) + (m0 >> 24)
    m2 = ((m >> 48) << shift) + (m1 >> 24)
    m0, m1, m2, m3 = m0 & LIMB_MASK, m1 & LIMB_MASK, m2 & LIMB_MASK, m2 >> 24
    c7 = column(at + 7, m0, m1, m2, m3)
    c6 = column(at + 6, m0, m1, m2, m3) + (c7 >> 24)
    c5 = column(at + 5, m0, m1, m2, m3) + (c6 >> 24)
    c4 = column(at + 4, m0, m1, m2, m3) + (c5 >> 24)
    c3 = column(at + 3, m0, m1, m2, m3) + (c4 >> 24)
    c2 = column(at + 2, m0, m1, m2, m3) + (c3 >> 24)
    c1 = column(at + 1, m0, m1, m2, m3) + (c2 >> 24)
    c0 = column(at, m0, m1, m2, m3) + (c1 >> 24)
    high = ((c1 & LIMB_MASK) << 24) | (c2 & LIMB_MASK)
    middle = ((c3 & LIMB_MASK) << 24) | (c4 & LIMB_MASK)
    return c0, high, middle, ((c5 & LIMB_MASK) << 24) | (c6 & LIMB_MASK)


@jitable
def reduced_huge(x: Any) -> Any:
    """Return ``(n, r, low)`` with ``x = n pi/2 + r + low``, modulo 2 pi; |x| >= 2**26, NaN for infinity."""
    whole, high, middle, low = fraction_of_quadrants(absolute(x))
    above = high >> 47  # 1 where the fraction is a half or more: then take one quadrant more and 1 - fraction
    flip = -above & WORD_MASK
    first = to_f64(high ^ flip) * 3.552713678800501e-15
    second = to_f64(middle ^ flip) * 1.262177448353619e-29
    h = first + second
    rest = ((first - h) + second) + to_f64(low ^ flip) * 4.4841550858394146e-44
    big = h * SPLITTER
    h1 = big - (big - h)
    h2 = h - h1
    big = PI_HALF_HIGH * SPLITTER
    p1 = big - (big - PI_HALF_HIGH)
    p2 = PI_HALF_HIGH - p1
    product = h * PI_HALF_HIGH
    tail = (((h1 * p1 - product) + h1 * p2 + h2 * p1) + h2 * p2) + (h * PI_HALF_LOW + rest * PI_HALF_HIGH)
    r = product + tail
    negative = (bits_of_f64(x) >> 63) & 1
    sign = (negative ^ above) << 63
    n = (whole + above) * (1 - 2 * negative)
    r_low = f64_from_bits(bits_of_f64((product - r) + tail) ^ sign)
    return n, select(absolute(x) < INFINITY, f64_from_bits(bits_of_f64(r) ^ sign), NAN), r_low
