"""Decompositions of the special functions into plain StableHLO, for one operand type each.

Which function has which formula: hyperbolic and inverse functions are in `hyperbolic` and, of complex
numbers, in `complex_numbers`; powers and logarithms of base 2 and 10 in `exponents`; the error function and
its kin in `error_function`, gamma's in `gamma`; the rest in files named after them. float32 is computed in
float32, narrower floats in float32 with one rounding at the end; the functions of `DOUBLE` are computed in float64.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from numhlo.lowering.ir import Function, TensorType
from numhlo.lowering.ir.types import COMPLEX, NARROW_FLOATS
from numhlo.lowering.ops.builder import FunctionBuilder
from numhlo.lowering.ops.formula import Formula
from numhlo.lowering.ops.special_functions import complex_numbers as of_complex
from numhlo.lowering.ops.special_functions import exponents
from numhlo.lowering.ops.special_functions import hyperbolic as of_real
from numhlo.lowering.ops.special_functions.arity import ARITY
from numhlo.lowering.ops.special_functions.bessel import bessel_i0e, bessel_i1e
from numhlo.lowering.ops.special_functions.beta import beta, betainc, betainc_to_differentiate, betaln
from numhlo.lowering.ops.special_functions.error_function import erf, erf_inv, erfc, erfcx, ndtri
from numhlo.lowering.ops.special_functions.gamma import digamma, gamma, lgamma
from numhlo.lowering.ops.special_functions.incomplete_gamma import igamma, igamma_slope, igammac
from numhlo.lowering.ops.special_functions.integrals import expn, spence
from numhlo.lowering.ops.special_functions.zeta import derivative_of_digamma, hurwitz_zeta

FLOAT32 = np.dtype(np.float32)
FLOAT64 = np.dtype(np.float64)

DOUBLE: dict[str, Callable[..., Formula]] = {
    "bessel_i0e": bessel_i0e,
    "bessel_i1e": bessel_i1e,
    "beta": beta,
    "betainc": betainc,
    "betaln": betaln,
    "erfcx": erfcx,
    "expn": expn,
    "gamma": gamma,
    "igamma": igamma,
    "igamma_slope": igamma_slope,
    "igammac": igammac,
    "ndtri": ndtri,
    "polygamma": derivative_of_digamma,
    "spence": spence,
    "zeta": hurwitz_zeta,
}
"""Formulas for float64, in which narrower floats are computed too."""

TO_DIFFERENTIATE: dict[str, Callable[..., Formula]] = {"betainc": betainc_to_differentiate}
"""Formulas of `DOUBLE` whose derivatives converge later than they do."""

FORMULAS: dict[str, Callable[[Formula], Formula]] = {
    "erf": erf,
    "erfc": erfc,
    "erf_inv": erf_inv,
    "lgamma": lgamma,
    "digamma": digamma,
    "sinh": of_real.sinh,
    "cosh": of_real.cosh,
    "asin": of_real.asin,
    "acos": of_real.acos,
    "atan": of_real.atan,
    "asinh": of_real.asinh,
    "acosh": of_real.acosh,
    "atanh": of_real.atanh,
    "exp2": exponents.exp2,
    "log2": exponents.log2,
    "log10": exponents.log10,
}
"""Formulas for float32 and float64."""

COMPLEX_FORMULAS: dict[str, Callable[[Formula], Formula]] = {
    "sinh": of_complex.sinh,
    "cosh": of_complex.cosh,
    "asin": of_complex.asin,
    "acos": of_complex.acos,
    "atan": of_complex.atan,
    "asinh": of_complex.asinh,
    "acosh": of_complex.acosh,
    "atanh": of_complex.atanh,
    "exp2": exponents.complex_exp2,
    "log2": exponents.complex_log2,
    "log10": exponents.complex_log10,
}
"""Formulas for complex64 and complex128."""


def build(name: str, type: TensorType) -> Function:
    """Return the decomposition of a special function, without namespace, for operands of ``type``."""
    if type.dtype in COMPLEX:
        return _finished(name, COMPLEX_FORMULAS[name], type, type.dtype)
    wide = FLOAT32 if type.dtype in NARROW_FLOATS else type.dtype
    wide, formula = (FLOAT64, DOUBLE[name]) if name in DOUBLE else (wide, FORMULAS[name])
    return _finished(name, formula, type, wide)


@lru_cache(maxsize=256)
def build_to_differentiate(name: str, type: TensorType) -> Function | None:
    """Return the decomposition of which derivatives are those of a function; None where that is the usual one."""
    return _finished(name, TO_DIFFERENTIATE[name], type, FLOAT64) if name in TO_DIFFERENTIATE else None


def _finished(name: str, formula: Callable[..., Formula], type: TensorType, wide: np.dtype) -> Function:
    builder = FunctionBuilder(name, [type] * ARITY.get(name, 1))
    operands = [Formula(builder, v).astype(wide) for v in builder.arguments]
    return builder.finish([formula(*operands).astype(type.dtype).value])
