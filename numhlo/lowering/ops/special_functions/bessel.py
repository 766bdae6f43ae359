"""Bessel functions as formulas in plain StableHLO."""

from __future__ import annotations

import numpy as np

from numhlo.lowering.ops.formula import Formula, absolute, maximum, minimum, polynomial, sqrt, where
from numhlo.lowering.ops.special_functions import coefficients as tables

SWITCH = 8.0
"""Where the polynomial in x ends and the one in 1 / x begins."""


def bessel_i0e(x: Formula) -> Formula:
    """Return ``exp(-abs(x)) * i0(x)``, with i0 the modified Bessel function of order zero."""
    single = x.type.dtype == np.float32
    size = absolute(x)
    near = polynomial(
        minimum(size, SWITCH) - SWITCH / 2, tables.BESSEL_I0E_NEAR_SINGLE if single else tables.BESSEL_I0E_NEAR_DOUBLE
    )
    inverse = 1.0 / maximum(size, SWITCH)
    far = polynomial(SWITCH * inverse - 0.5, tables.BESSEL_I0E_FAR_SINGLE if single else tables.BESSEL_I0E_FAR_DOUBLE)
    return where(size <= SWITCH, near, far * sqrt(inverse))


def bessel_i1e(x: Formula) -> Formula:
    """Return ``exp(-abs(x)) * i1(x)``, with i1 the modified Bessel function of order one."""
    single = x.type.dtype == np.float32
    size = absolute(x)
    near = polynomial(
        minimum(size, SWITCH) - SWITCH / 2, tables.BESSEL_I1E_NEAR_SINGLE if single else tables.BESSEL_I1E_NEAR_DOUBLE
    )
    inverse = 1.0 / maximum(size, SWITCH)
    far = polynomial(SWITCH * inverse - 0.5, tables.BESSEL_I1E_FAR_SINGLE if single else tables.BESSEL_I1E_FAR_DOUBLE)
    far = far * sqrt(inverse)
    return where(size <= SWITCH, x * near, where(x < 0.0, -far, far))
