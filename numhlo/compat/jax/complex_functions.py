"""Functions of `jax.numpy` that take complex numbers where NumPy's of their names have no loop for them."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from numhlo.compat.jax.arrays import immutably
from numhlo.library.numpy.ufunc_rules import complex_numbers
from numhlo.library.scipy.special.widely_used import inexact
from numhlo.lowering.ops import elementwise as ops
from numhlo.tracer.building.eager import runs_anywhere
from numhlo.tracer.core import operations as b
from numhlo.tracer.core.bind import bind1

DEGREE = math.pi / 180


def _arctan2(x: Any, y: Any) -> Any:
    return bind1(ops.ATAN2, x, y)


def _to_radians(z: Any) -> Any:
    return b.multiply(z, DEGREE)


def _to_degrees(z: Any) -> Any:
    return b.multiply(z, 1 / DEGREE)


FORMULAS: dict[str, Callable[..., Any]] = {
    "arctan2": _arctan2,
    "atan2": _arctan2,
    "deg2rad": _to_radians,
    "degrees": _to_degrees,
    "logaddexp": complex_numbers.logaddexp,
    "logaddexp2": complex_numbers.logaddexp2,
    "rad2deg": _to_degrees,
    "radians": _to_radians,
}
"""By name, what is computed of complex operands of one dtype and shape."""


def with_complex_numbers(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of real numbers that takes complex ones, too, as JAX's of its name does."""
    formula = FORMULAS[name]

    @immutably
    @runs_anywhere
    def of_complex(*operands: Any) -> Any:
        return formula(*inexact(*operands))

    @functools.wraps(function)
    def public(*args: Any, **kwargs: Any) -> Any:
        is_complex = not kwargs and any(isinstance(x, complex) or _kind(x) == "c" for x in args)
        return of_complex(*args) if is_complex else function(*args, **kwargs)

    return public


def _kind(x: Any) -> str | None:
    return getattr(getattr(x, "dtype", None), "kind", None)
