"""What vector math is written in beyond the kernel words: a mark for functions, polynomials, tables, rescue.

Importable without Numba: a marked function is plain Python, to be stepped through with the JIT off. In a compiler
process `numhlo.backend.compiler.intrinsics.vector_math` teaches Numba the same names.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from numhlo.lowering.ir.records import record

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])

SPLIT = 7  # coefficients from which on a polynomial is split into even and odd powers
TABLES: list[Table] = []
JITABLE: dict[Callable[..., Any], Callable[..., Any]] = {}


def jitable(function: FunctionT) -> FunctionT:
    """Mark a function as callable from kernels, inlined into each; in plain Python it warns of no overflow.

    Parameters
    ----------
    function : callable
        Straight-line code on float32, float64 and int64 scalars; calls kernel words and other marked functions only.

    Returns
    -------
    callable
        The function to use, in kernels and in plain Python.
    """

    @functools.wraps(function)
    def quiet(*arguments: Any) -> Any:
        with np.errstate(all="ignore"):
            result = function(*arguments)
        return np.float64(result) if isinstance(result, float) else result  # a literal may have been selected

    JITABLE[quiet] = function
    return quiet  # type: ignore[return-value]


def polynomial(x: Any, coefficients: tuple[Any, ...]) -> Any:
    """Return the polynomial at x: if it is short by Horner's rule, else as odd(x**2) x + even(x**2), each likewise.

    Parameters
    ----------
    x : float32 or float64
    coefficients : tuple of the same type
        Lowest power first; a constant of the module.

    Returns
    -------
    float32 or float64

    Notes
    -----
    Splitting costs one operation more and halves the chain of operations that wait for each other. Where the two halves
    cancel, it costs accuracy too; use `horner` there.
    """
    if len(coefficients) >= SPLIT:
        square = x * x
        return polynomial(square, coefficients[1::2]) * x + polynomial(square, coefficients[::2])
    return horner(x, coefficients)


def horner(x: Any, coefficients: tuple[Any, ...]) -> Any:
    """Return the polynomial at x by Horner's rule; parameters as of `polynomial`."""
    result = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        result = result * x + coefficient
    return result


def constants_f32(*values: float) -> tuple[Any, ...]:
    """Return the values rounded to float32: a module's constants, since a bare literal is float64 in compiled code."""
    return tuple(np.float32(value) for value in values)


@record(frozen=True)
class Table:
    """A constant table of integers; ``table(i)`` gives one as int64. For slow paths: reading it keeps a loop scalar."""

    entries: tuple[int, ...]

    def __post_init__(self) -> None:
        TABLES.append(self)

    def __call__(self, index: Any) -> Any:
        """Return one entry."""
        return np.int64(self.entries[int(index)])


def rescue(fast: Any, x: Any, limit: Any, slow: Callable[[Any], Any]) -> Any:
    """Return ``fast`` where ``abs(x) <= limit`` or x is NaN, else ``slow(x)``.

    A rare branch in a loop that stays SIMD code.

    Parameters
    ----------
    fast : float64
        What the vectorized code computed for x.
    x : float64
    limit : float
        A literal.
    slow : function marked ``jitable``
        From float64 to float64; may branch and loop. Called once per element that needs it.

    Returns
    -------
    float64
    """
    return slow(x) if abs(x) > limit else fast


def rescue_pair(fast: Any, x: Any, limit: Any, slow: Callable[[Any, Any], Any], lhs: Any, rhs: Any) -> Any:
    """Return ``fast`` where ``abs(x) <= limit`` or x is NaN, else ``slow(lhs, rhs)``: `rescue` of two arguments."""
    return slow(lhs, rhs) if abs(x) > limit else fast
