"""Special functions as named composites: ``numhlo.erf``, ``numhlo.sinh``, ... on floating-point tensors.

A composite's decomposition is plain StableHLO that anyone can run, written in `special_functions`; its meaning
here is SciPy's or NumPy's function, computed in double precision and rounded once for narrower types; where SciPy is
not accurate to a few units in the last place of a double, it is the decomposition. `make` returns the attributes of
the composite op.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from numhlo.lowering.ir import Function, TensorType, tensor_type_of
from numhlo.lowering.ir.errors import DTypeError
from numhlo.lowering.ir.late_modules import late
from numhlo.lowering.ir.types import COMPLEX, FLOATS
from numhlo.lowering.ops.composites import COMPOSITES, CompositeDefinition, register
from numhlo.lowering.ops.lazy_scipy import scipy_function
from numhlo.lowering.ops.primitive import Arrays, EvaluateRule, RegionFunction
from numhlo.lowering.ops.special_functions.arity import ARITY

__all__ = ["COMPOSITES", "FUNCTIONS", "CompositeDefinition", "decompose", "make", "tensor_type_of"]

decompositions = late("numhlo.lowering.ops.special_functions.decompositions")
zeta = late("numhlo.lowering.ops.special_functions.zeta")


def _erf_inv(x: np.ndarray) -> np.ndarray:
    return np.where(x == 0, x, scipy_function("erfinv")(x))  # SciPy loses the sign of zero


def _lgamma(x: np.ndarray) -> np.ndarray:
    return np.where(np.isinf(x), np.inf, scipy_function("gammaln")(x))  # SciPy has -inf at -inf, C and Python have inf


def _expn(n: np.ndarray, x: np.ndarray) -> np.ndarray:
    found = scipy_function("expn")(np.clip(np.nan_to_num(n), -1, 1e9).astype(np.int64), x)
    huge = np.where(x < 0, np.nan, np.exp(-x) / (x + n))  # the asymptotic value, to double precision
    return np.where(n == np.floor(n), np.where(n > 1e9, huge, found), np.nan)


def _spence(x: np.ndarray) -> np.ndarray:
    return np.where(np.isposinf(x), -np.inf, scipy_function("spence")(x))


def _zeta(s: np.ndarray, q: np.ndarray) -> np.ndarray:
    far = (q < -zeta.LOWEST) & (q != np.floor(q))
    return np.where(far, np.nan, scipy_function("zeta")(s, np.where(far, 1, q)))


def _polygamma(n: np.ndarray, x: np.ndarray) -> np.ndarray:
    legal = (n == np.floor(n)) & (n >= 0) & ((n == 0) | (x >= -zeta.LOWEST) | (x == np.floor(x)))
    return np.where(legal, scipy_function("polygamma")(np.where(legal, n, 0), x), np.nan)


FUNCTIONS: dict[str, tuple[Callable[..., Any] | None, str]] = {
    "erf": (scipy_function("erf"), "The error function."),
    "erfc": (scipy_function("erfc"), "The complementary error function, 1 - erf(x), accurate where that is small."),
    "erf_inv": (_erf_inv, "The inverse of the error function; NaN outside [-1, 1]."),
    "lgamma": (_lgamma, "The logarithm of the absolute value of the gamma function."),
    "digamma": (scipy_function("psi"), "The logarithmic derivative of the gamma function; NaN at negative integers."),
    "sinh": (np.sinh, "The hyperbolic sine."),
    "cosh": (np.cosh, "The hyperbolic cosine."),
    "asin": (np.arcsin, "The inverse sine, in [-pi/2, pi/2]."),
    "acos": (np.arccos, "The inverse cosine, in [0, pi]."),
    "atan": (np.arctan, "The inverse tangent, in [-pi/2, pi/2]."),
    "asinh": (np.arcsinh, "The inverse hyperbolic sine."),
    "acosh": (np.arccosh, "The inverse hyperbolic cosine; NaN below 1."),
    "atanh": (np.arctanh, "The inverse hyperbolic tangent; NaN outside [-1, 1]."),
    "gamma": (scipy_function("gamma"), "The gamma function; NaN at negative integers."),
    "beta": (None, "The beta function, gamma(a) gamma(b) / gamma(a + b); NaN at negative integers."),
    "betaln": (None, "The logarithm of the absolute value of the beta function."),
    "betainc": (scipy_function("betainc"), "The regularized incomplete beta function."),
    "igamma": (scipy_function("gammainc"), "The regularized lower incomplete gamma function."),
    "igammac": (scipy_function("gammaincc"), "The regularized upper incomplete gamma function."),
    "igamma_slope": (None, "The derivative of igamma by its first operand."),
    "bessel_i0e": (scipy_function("i0e"), "The modified Bessel function of order 0, times exp(-abs(x))."),
    "bessel_i1e": (scipy_function("i1e"), "The modified Bessel function of order 1, times exp(-abs(x))."),
    "erfcx": (scipy_function("erfcx"), "The complementary error function times exp(x^2)."),
    "expn": (_expn, "The generalized exponential integral of a natural order."),
    "ndtri": (scipy_function("ndtri"), "The inverse of the normal distribution function."),
    "spence": (_spence, "Spence's function: the dilogarithm of 1 - x."),
    "zeta": (_zeta, "Hurwitz's zeta function; NaN for an order below 1."),
    "polygamma": (_polygamma, "The derivatives of digamma."),
    "exp2": (np.exp2, "Two to the power of the operand."),
    "log2": (np.log2, "The logarithm to base 2."),
    "log10": (np.log10, "The logarithm to base 10."),
}
"""The meaning of each elementwise special function (None: its decomposition), and what it is."""

INACCURATE = frozenset({"digamma", "erfc", "erfcx", "lgamma"})
"""SciPy's function is off by hundreds of units (tails of erfc, erfcx) or more (lgamma near 2, digamma near poles)."""


def decompose(name: str, type: TensorType) -> Function:
    """Return the decomposition of a special function for one operand type; the same object every time.

    Parameters
    ----------
    name : str
        With its namespace: ``"numhlo.erf"``.
    type : TensorType

    Raises
    ------
    DTypeError
        If the function is not defined for the element type.
    """
    return _decompose(name, type)


@lru_cache(maxsize=1024)
def _decompose(name: str, type: TensorType) -> Function:
    short = name.removeprefix("numhlo.")
    if type.dtype not in FLOATS and not (type.dtype in COMPLEX and short in decompositions.COMPLEX_FORMULAS):
        raise DTypeError(f"{name} is not defined for {type.short()}", fix="convert to a float dtype first")
    built: Function = decompositions.build(short, type)
    return built


def make(name: str, types: Sequence[TensorType]) -> dict[str, Any]:
    """Return the attributes of the ``composite`` op that applies a special function.

    Parameters
    ----------
    name : str
        With its namespace: ``"numhlo.erf"``.
    types : sequence of TensorType
        Of the operands, which must have one type.

    Examples
    --------
    >>> make("numhlo.sinh", [TensorType((2,), np.dtype("float32"))])["decomposition"]
    <function @sinh(tensor<2xf32>) -> (tensor<2xf32>)>
    """
    type = types[0]
    return {"name": name, "composite_attributes": {}, "decomposition": decompose(name, type), "version": 0}


def _evaluate_with(function: Callable[..., Any] | None, accurate: bool) -> EvaluateRule:
    def evaluate(arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]) -> Arrays:
        dtype = arrays[0].dtype
        if function is None or (dtype == np.float64 and not accurate):
            results: Arrays = attributes["decomposition"](*arrays)
            return results
        wide = np.dtype(np.complex128) if dtype in COMPLEX else np.dtype(np.float64)
        return (np.asarray(function(*[x.astype(wide, copy=False) for x in arrays])).astype(dtype, copy=False),)

    return evaluate


for _name, (_function, _documentation) in FUNCTIONS.items():
    _rule = _evaluate_with(_function, _name not in INACCURATE)
    _arity = ARITY.get(_name, 1)
    register(CompositeDefinition(f"numhlo.{_name}", _rule, _arity, 1, _documentation))
