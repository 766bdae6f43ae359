"""The functions of `math` on traced numbers: NumPy's, of float64, whose results stand for numbers of Python's.

What raises in Python, ``math.sqrt(-1)``, gives NaN. Integers are of 64 bits: functions whose results outgrow them are
refused.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from numhlo.library.scipy.special import widely_used as special_functions
from numhlo.library.scipy.special.gamma import gamma
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.tracer.building import (
    FUNCTIONS,
    WEAK,
    Tracer,
    add_items,
    as_number,
    contains_tracer,
    convert,
    is_unknown,
    stands_for,
)


def _of_floats(name: str, function: Callable[..., Any], kind: type = float) -> None:
    python_function = getattr(math, name, None)
    if python_function is None:
        return

    @stands_for(python_function)
    @functools.wraps(python_function)
    def compute(*args: Any, **kwargs: Any) -> Any:
        if not any(map(is_unknown, args)) or any(np.ndim(x) for x in args):
            return python_function(*args, **kwargs)
        result = function(*map(_float, args), **kwargs)
        pair = isinstance(result, tuple)
        parts = [as_number(convert(part, WEAK[kind])) for part in (result if pair else [result])]
        return tuple(parts) if pair else parts[0]


def _float(x: Any) -> Any:
    return convert(x, np.dtype(np.float64)) if isinstance(x, Tracer) else float(x)


def _is_close(x: Any, y: Any, *, rel_tol: float = 1e-09, abs_tol: float = 0.0) -> Any:
    margin = np.maximum(rel_tol * np.maximum(np.abs(x), np.abs(y)), abs_tol)
    return (x == y) | (np.isfinite(x) & np.isfinite(y) & (np.abs(x - y) <= margin))


for _name in (
    "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp",
    "expm1", "exp2", "log2", "log10", "log1p", "sqrt", "cbrt", "pow", "fabs", "copysign", "fmod", "degrees",
    "radians", "modf", "nextafter",
):  # fmt: skip
    _of_floats(_name, getattr(np, _name))
for _name in ("isnan", "isinf", "isfinite"):
    _of_floats(_name, getattr(np, _name), bool)
for _name in ("floor", "ceil", "trunc"):
    _of_floats(_name, getattr(np, _name), int)
_of_floats("log", lambda x, base=None: np.log(x) if base is None else np.log(x) / np.log(base))
_of_floats("erf", special_functions.erf)
_of_floats("erfc", special_functions.erfc)
_of_floats("gamma", gamma)
_of_floats("lgamma", special_functions.gammaln)
_of_floats("hypot", lambda *parts: functools.reduce(np.hypot, parts, 0.0))
_of_floats("isclose", _is_close, bool)
_of_floats("ulp", lambda x: np.abs(np.spacing(x)))


@stands_for(math.frexp)
@functools.wraps(math.frexp)
def mantissa_and_exponent(x: Any, /) -> Any:
    """Return a number as a fraction from a half to one, and the power of two that it is of."""
    if not is_unknown(x) or x.ndim:
        return math.frexp(x)
    fraction, power = np.frexp(_float(x))
    return as_number(fraction), as_number(convert(power, WEAK[int]))


@stands_for(math.ldexp)
@functools.wraps(math.ldexp)
def of_power(x: Any, i: Any, /) -> Any:
    """Return ``x * 2**i``."""
    if not (is_unknown(x) or is_unknown(i)) or np.ndim(x) or np.ndim(i) or _kind(i) not in "iub":
        return math.ldexp(x, i)
    return as_number(np.ldexp(_float(x), i))


@stands_for(math.fsum)
@functools.wraps(math.fsum)
def add_floats(seq: Iterable[Any], /) -> Any:
    """Return the sum; of traced numbers with the rounding of a sum from first to last."""
    items = seq if isinstance(seq, Tracer) else list(seq)
    return add_items(items, 0.0) if contains_tracer(items) else math.fsum(items)


@stands_for(math.dist)
@functools.wraps(math.dist)
def distance(p: Any, q: Any, /) -> Any:
    """Return the Euclidean distance of two points."""
    if not contains_tracer([p, q]):
        return math.dist(p, q)
    p, q = (convert(FUNCTIONS[np.asarray](x), np.dtype(np.float64)) for x in (p, q))
    return as_number(FUNCTIONS[np.sqrt](FUNCTIONS[np.sum]((p - q) ** 2)))


LARGEST_ROOT = 3037000499
"""The square root of the largest integer of 64 bits."""


def _of_integers(name: str, function: Callable[..., Any]) -> None:
    python_function = getattr(math, name)

    @stands_for(python_function)
    @functools.wraps(python_function)
    def compute(*args: Any) -> Any:
        if not any(map(is_unknown, args)) or any(np.ndim(x) or _kind(x) not in "iub" for x in args):
            return python_function(*args)
        wanted = np.dtype(np.int64)
        return as_number(convert(function(*[convert(x, wanted) if isinstance(x, Tracer) else x for x in args]), wanted))


def _kind(x: Any) -> str:
    return x.dtype.kind if isinstance(x, Tracer) else np.asarray(x).dtype.kind


def _integer_root(x: Any) -> Any:
    """Return the root in floats, corrected by one where that is off: products of more bits than 64 are avoided."""
    root = np.minimum(convert(np.sqrt(_float(np.maximum(x, 0))), x.dtype), LARGEST_ROOT)
    root = root - (root * root > x)
    return root + (root + 1 <= x // (root + 1))


_of_integers("gcd", lambda *items: functools.reduce(np.gcd, items, 0))
_of_integers("lcm", lambda *items: functools.reduce(np.lcm, items, 1))
_of_integers("isqrt", _integer_root)


def _refused(name: str, fix: str) -> None:
    python_function = getattr(math, name)

    @stands_for(python_function)
    @functools.wraps(python_function)
    def refuse(*args: Any) -> Any:
        if any(map(is_unknown, args)):
            raise UnsupportedError(
                f"math.{name} of a traced value",
                where=capture_location(),
                why="its result is an integer of any length, and traced ones have 64 bits",
                fix=f"write {fix}, of floats; or look it up in an array of the values it can have",
            )
        return python_function(*args)


_refused("comb", "scipy.special.comb(n, k)")
_refused("perm", "scipy.special.poch(n - k + 1, k)")
_refused("factorial", "scipy.special.factorial(n)")
