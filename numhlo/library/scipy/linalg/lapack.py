"""Routines of `scipy.linalg.lapack` of traced arrays, under the names that they have without the letter of their dtype.

Each takes and returns what SciPy's wrapper does; ``info`` is a traced int32: 0, or 1 more than the first element of the
factor's diagonal that is zero or, of Cholesky's, NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo.library.scipy.linalg import solving
from numhlo.library.scipy.linalg.blas import DTYPES, array_of
from numhlo.tracer.building import FUNCTIONS, as_traced, convert, scan


def _first(flags: Any) -> Any:
    """Return 1 more than the index of the first flag that is set, 0 where none is."""
    place = FUNCTIONS[np.argmax](flags) + 1
    return convert(FUNCTIONS[np.where](FUNCTIONS[np.any](flags), place, 0), np.int32)


def _diagonal(a: Any) -> Any:
    return FUNCTIONS[np.diagonal](a)


def potrf(dtype: Any, a: Any, lower: int = 0, clean: int = 1) -> tuple[Any, Any]:
    """Return Cholesky's factor and info; without ``clean``, the other triangle is the matrix's."""
    matrix = array_of(a, dtype)
    factor = as_traced(solving.cholesky(matrix, bool(lower)))
    info = _first(FUNCTIONS[np.isnan](_diagonal(factor)))
    if not clean:
        factor = factor + (FUNCTIONS[np.triu](matrix, 1) if lower else FUNCTIONS[np.tril](matrix, -1))
    return factor, info


def potrs(dtype: Any, c: Any, b: Any, lower: int = 0) -> tuple[Any, Any]:
    """Return the solution for a matrix whose factor is given, and info."""
    return solving.cho_solve((array_of(c, dtype), bool(lower)), array_of(b, dtype)), np.int32(0)


def getrf(dtype: Any, a: Any) -> tuple[Any, Any, Any]:
    """Return both triangular factors, the pivots, and info."""
    packed, pivots = solving.lu_factor(array_of(a, dtype))
    return packed, pivots, _first(_diagonal(packed) == 0)


def getrs(dtype: Any, lu: Any, piv: Any, b: Any, trans: int = 0) -> tuple[Any, Any]:
    """Return the solution for a matrix whose factors are given, and info."""
    return solving.lu_solve((array_of(lu, dtype), piv), array_of(b, dtype), trans), np.int32(0)


def gesv(dtype: Any, a: Any, b: Any) -> tuple[Any, Any, Any, Any]:
    """Return the factors, the pivots, the solution, and info."""
    packed, pivots, info = getrf(dtype, a)
    return packed, pivots, getrs(dtype, packed, pivots, b)[0], info


def trtrs(dtype: Any, a: Any, b: Any, lower: int = 0, trans: int = 0, unitdiag: int = 0) -> tuple[Any, Any]:
    """Return the solution for a triangular matrix, and info."""
    matrix = array_of(a, dtype)
    found = solving.solve_triangular(matrix, array_of(b, dtype), trans, bool(lower), bool(unitdiag))
    return found, np.int32(0) if unitdiag else _first(_diagonal(matrix) == 0)


def gtsv(dtype: Any, dl: Any, d: Any, du: Any, b: Any) -> tuple[Any, Any, Any, Any, Any]:
    """Return the three diagonals of U, the solution for a tridiagonal matrix, and info."""
    lower, main, upper, right = (array_of(x, dtype) for x in (dl, d, du, b))
    where, concatenate = FUNCTIONS[np.where], FUNCTIONS[np.concatenate]
    rows = right[:, None] if right.ndim == 1 else right
    zero = FUNCTIONS[np.zeros](1, dtype)

    def eliminate(row: Any, below: Any) -> Any:
        """Eliminate one row from the next, the one with the larger pivot of the two."""
        (d0, u0, b0), (l1, d1, u1, b1) = row, below
        keeps = abs(d0) >= abs(l1)
        factor = where(keeps, l1 / where(keeps, d0, 1), d0 / where(keeps, 1, l1))
        after = (
            where(keeps, d1 - factor * u0, u0 - factor * d1),
            where(keeps, u1, -factor * u1),
            where(keeps, b1 - factor * b0, b0 - factor * b1),
        )
        return after, (where(keeps, d0, l1), where(keeps, u0, d1), where(keeps, 0 * u1, u1), where(keeps, b0, b1))

    def substitute(known: Any, row: Any) -> Any:
        (x1, x2), (d0, u0, v0, b0) = known, row
        x0 = (b0 - u0 * x1 - v0 * x2) / d0
        return (x0, x1), x0

    wider = concatenate([upper, zero])
    first = (main[0], wider[0], rows[0])
    last, (d0, u0, v0, b0) = scan(eliminate, first, (lower, main[1:], wider[1:], rows[1:]))
    diagonal = concatenate([d0, last[0][None]])
    nothing = FUNCTIONS[np.zeros_like](rows[0])
    tops = (diagonal, concatenate([u0, zero]), concatenate([v0, zero]), concatenate([b0, last[2][None]]))
    _, solution = scan(substitute, (nothing, nothing), tops, reverse=True)
    return v0, diagonal, u0, solution[:, 0] if right.ndim == 1 else solution, _first(diagonal == 0)


_OF_ALL: dict[str, Callable[..., Any]] = {
    "potrf": potrf, "potrs": potrs, "getrf": getrf, "getrs": getrs, "gesv": gesv, "trtrs": trtrs, "gtsv": gtsv,
}  # fmt: skip
ROUTINES: dict[str, tuple[Callable[..., Any], Any]] = {
    f"{letter}{name}": (routine, dtype) for letter, dtype in DTYPES.items() for name, routine in _OF_ALL.items()
}
"""By SciPy's name of a routine: the function, and the dtype that it is given first."""
