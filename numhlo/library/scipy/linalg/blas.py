"""Routines of `scipy.linalg.blas` of traced arrays, under the names that they have without the letter of their dtype.

Each takes what SciPy's wrapper takes, but for strides and offsets, and returns new arrays whatever ``overwrite_`` says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo.library.scipy.linalg.solving import solve_triangular
from numhlo.tracer.building import FUNCTIONS, Tracer, as_traced, asarray, convert, is_contiguous

DTYPES = {"s": np.float32, "d": np.float64, "c": np.complex64, "z": np.complex128}
"""By the letter with which a routine's name begins."""


def array_of(x: Any, dtype: Any) -> Any:
    """Return an argument as a traced array of a routine's dtype."""
    return as_traced(convert(asarray(x), dtype))


def turned(a: Any, trans: int) -> Any:
    """Return a matrix (0), its transpose (1), or its conjugate transpose (2)."""
    return a if not trans else a.T if trans == 1 else a.conj().T


def gemm(
    dtype: Any, alpha: Any, a: Any, b: Any, beta: Any = 0, c: Any = None, trans_a: int = 0, trans_b: int = 0
) -> Any:
    """Return ``alpha op(a) op(b) + beta c``."""
    found = alpha * (turned(array_of(a, dtype), trans_a) @ turned(array_of(b, dtype), trans_b))
    return convert(found if c is None else found + beta * array_of(c, dtype), dtype)


def gemv(dtype: Any, alpha: Any, a: Any, x: Any, beta: Any = 0, y: Any = None, trans: int = 0) -> Any:
    """Return ``alpha op(a) x + beta y``."""
    found = alpha * (turned(array_of(a, dtype), trans) @ array_of(x, dtype))
    return convert(found if y is None else found + beta * array_of(y, dtype), dtype)


def dot(dtype: Any, x: Any, y: Any) -> Any:
    """Return the sum of products of elements."""
    return FUNCTIONS[np.dot](array_of(x, dtype), array_of(y, dtype))


def dotc(dtype: Any, x: Any, y: Any) -> Any:
    """Return the sum of products of the first's conjugates with the second's elements."""
    return FUNCTIONS[np.vdot](array_of(x, dtype), array_of(y, dtype))


def axpy(dtype: Any, x: Any, y: Any, a: Any = 1) -> Any:
    """Return ``a x + y``."""
    return convert(a * array_of(x, dtype) + array_of(y, dtype), dtype)


def nrm2(dtype: Any, x: Any) -> Any:
    """Return the Euclidean norm."""
    return FUNCTIONS[np.linalg.norm](array_of(x, dtype))


def scal(dtype: Any, a: Any, x: Any) -> Any:
    """Return ``a x``."""
    return convert(a * array_of(x, dtype), dtype)


def scal_in_place(dtype: Any, a: Any, x: Any) -> Any:
    """Return ``a x``, and write it into an array that lies in memory as the routine takes it, as SciPy's does."""
    found = scal(dtype, a, x)
    if isinstance(x, Tracer) and x.dtype == dtype and is_contiguous(x):
        target: Any = x
        target[...] = found
    return found


def ger(dtype: Any, alpha: Any, x: Any, y: Any, a: Any = None) -> Any:
    """Return ``alpha x y^T + a``."""
    found = alpha * (array_of(x, dtype)[:, None] * array_of(y, dtype)[None, :])
    return convert(found if a is None else found + array_of(a, dtype), dtype)


def gerc(dtype: Any, alpha: Any, x: Any, y: Any, a: Any = None) -> Any:
    """Return ``alpha x y^H + a``."""
    return ger(dtype, alpha, x, array_of(y, dtype).conj(), a)


def syrk(
    dtype: Any, alpha: Any, a: Any, beta: Any = 0, c: Any = None, trans: int = 0, lower: int = 0, turn: int = 1
) -> Any:
    """Return one triangle of ``alpha a a^T + beta c``; the other one is that of ``c``."""
    matrix = turned(array_of(a, dtype), turn if trans else 0)
    found = alpha * (matrix @ turned(matrix, turn))
    before = None if c is None else array_of(c, dtype)
    found = found if before is None else found + beta * before
    triangle = FUNCTIONS[np.tril if lower else np.triu](found)
    if before is not None:
        triangle = triangle + (FUNCTIONS[np.triu](before, 1) if lower else FUNCTIONS[np.tril](before, -1))
    return convert(triangle, dtype)


def herk(dtype: Any, alpha: Any, a: Any, beta: Any = 0, c: Any = None, trans: int = 0, lower: int = 0) -> Any:
    """Return one triangle of ``alpha a a^H + beta c``."""
    return syrk(dtype, alpha, a, beta, c, trans, lower, turn=2)


def trsm(dtype: Any, alpha: Any, a: Any, b: Any, side: int = 0, lower: int = 0, trans_a: int = 0, diag: int = 0) -> Any:
    """Return x with ``op(a) x = alpha b``, or ``x op(a) = alpha b`` where ``side`` is 1."""
    matrix, right = array_of(a, dtype), alpha * array_of(b, dtype)
    options = {"unit_diagonal": bool(diag)}
    if not side:
        return convert(solve_triangular(matrix, right, trans_a, bool(lower), **options), dtype)
    flipped = solve_triangular(turned(matrix, trans_a).T, right.T, 0, bool(lower) == bool(trans_a), **options)
    return convert(flipped.T, dtype)


_OF_ALL: dict[str, Callable[..., Any]] = {
    "gemm": gemm,
    "gemv": gemv,
    "axpy": axpy,
    "scal": scal_in_place,
    "syrk": syrk,
    "trsm": trsm,
}
ROUTINES: dict[str, tuple[Callable[..., Any], Any]] = {
    **{f"{letter}{name}": (routine, dtype) for letter, dtype in DTYPES.items() for name, routine in _OF_ALL.items()},
    **{f"{letter}dot": (dot, DTYPES[letter]) for letter in "sd"},
    **{f"{letter}ger": (ger, DTYPES[letter]) for letter in "sd"},
    **{f"{letter}dotu": (dot, DTYPES[letter]) for letter in "cz"},
    **{f"{letter}dotc": (dotc, DTYPES[letter]) for letter in "cz"},
    **{f"{letter}geru": (ger, DTYPES[letter]) for letter in "cz"},
    **{f"{letter}gerc": (gerc, DTYPES[letter]) for letter in "cz"},
    **{f"{letter}herk": (herk, DTYPES[letter]) for letter in "cz"},
    "snrm2": (nrm2, np.float32), "dnrm2": (nrm2, np.float64), "scnrm2": (nrm2, np.complex64),
    "dznrm2": (nrm2, np.complex128), "csscal": (scal, np.complex64), "zdscal": (scal, np.complex128),
}  # fmt: skip
"""By SciPy's name of a routine: the function, and the dtype that it is given first."""
