"""The linear algebra that StableHLO has ops for: cholesky and triangular_solve, on stacks of matrices.

Everything else (LU, QR, eigenvalues, singular values) is a custom call of LAPACK's name, see `lapack`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import Type
from numhlo.lowering.ir.types import NARROW_FLOATS
from numhlo.lowering.ops.extents import same_extent, same_shape
from numhlo.lowering.ops.lazy_scipy import blas_function
from numhlo.lowering.ops.primitive import Arrays, Attribute, Primitive, RegionFunction, Signature
from numhlo.lowering.ops.type_rules import INEXACT, refine, require_dtype

KINDS = "floats or complex numbers"


class LinearAlgebra(Primitive):
    """An op on matrices in the last two dimensions."""

    __slots__ = ()


def infer_cholesky(signature: Signature) -> tuple[Type, ...]:
    """(C1)-(C3)."""
    a = require_dtype(signature, 0, INEXACT, KINDS)
    signature.require(a.ndim >= 2, f"(C2) the rank of a must be at least 2, not {a.ndim}")
    signature.require(same_extent(*a.shape[-2:]), f"(C3) the last two dimensions must be equal, not {a.shape[-2:]}")
    return refine(signature, a, "(C1) a and the result must have the same type")


def evaluate_cholesky(arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]) -> Arrays:
    """Factor each matrix, reading one triangle; NaN in that triangle where a matrix is not positive definite.

    The other triangle of the result is zero.
    """
    (a,) = arrays
    wide = a.astype(np.float32) if a.dtype in NARROW_FLOATS else a
    return [_cholesky(wide, bool(attributes["lower"])).astype(a.dtype, copy=False)]


def _cholesky(a: np.ndarray, lower: bool) -> np.ndarray:
    try:
        return np.linalg.cholesky(a, upper=not lower)
    except np.linalg.LinAlgError:
        if a.ndim > 2:
            return np.stack([_cholesky(matrix, lower) for matrix in a])
        return (np.tril if lower else np.triu)(np.full_like(a, np.nan))


def infer_triangular_solve(signature: Signature) -> tuple[Type, ...]:
    """(C1)-(C4)."""
    require = signature.require
    a, b = require_dtype(signature, 0, INEXACT, KINDS), require_dtype(signature, 1, INEXACT, KINDS)
    require(a.dtype == b.dtype, "(C1) a and b must have the same element type")
    require(2 <= a.ndim == b.ndim, f"(C2) a and b must have the same rank of at least 2, not {a.ndim} and {b.ndim}")
    require(same_shape(a.shape[:-2], b.shape[:-2]), "(C3) a and b must have the same batch dimensions")
    require(same_extent(*a.shape[-2:]), f"(C3) the last two dimensions of a must be equal, not {a.shape[-2:]}")
    side = -2 if signature.attributes["left_side"] else -1
    require(
        same_extent(a.shape[-1], b.shape[side]),
        f"(C3) dimension {side} of b must be {a.shape[-1]}, the extent of a, not {b.shape[side]}",
    )
    transposition = signature.attributes["transpose_a"]
    require(transposition in TRANSPOSITIONS, f"(I6) transpose_a must be one of {', '.join(TRANSPOSITIONS)}")
    return refine(signature, b, "(C4) b and the result must have the same type")


TRANSPOSITIONS = {"NO_TRANSPOSE": 0, "TRANSPOSE": 1, "ADJOINT": 2}
"""BLAS's number of each transposition."""


def evaluate_triangular_solve(
    arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]
) -> Arrays:
    """Substitute, matrix by matrix; a zero on the diagonal gives infinities and NaNs."""
    a, b = (x.astype(np.float32) if x.dtype in NARROW_FLOATS else x for x in arrays)
    result = np.empty_like(b)
    if math.prod(b.shape[:-2]) > STACK * a.shape[-1] and b.size:
        result = _substitute_stack(a, b, attributes)
    elif b.size:
        solve = blas_function("trsm", b.dtype)
        options = {
            "side": 0 if attributes["left_side"] else 1,
            "lower": int(attributes["lower"]),
            "trans_a": TRANSPOSITIONS[attributes["transpose_a"]],
            "diag": int(attributes["unit_diagonal"]),
        }
        for place in np.ndindex(b.shape[:-2]):
            result[place] = solve(1, a[place], b[place], **options)
    return [result.astype(arrays[1].dtype, copy=False)]


STACK = 2
"""A stack of more matrices than this many times their rows is solved row by row, for all matrices at once."""


def _substitute_stack(a: np.ndarray, b: np.ndarray, attributes: Mapping[str, Any]) -> np.ndarray:
    """Substitute in all matrices together, one row after the other."""
    turned, left = attributes["transpose_a"] != "NO_TRANSPOSE", bool(attributes["left_side"])
    lower = bool(attributes["lower"]) != turned
    a = a.conj() if attributes["transpose_a"] == "ADJOINT" else a
    a = a.swapaxes(-1, -2) if turned else a
    if not left:
        a, b, lower = a.swapaxes(-1, -2), b.swapaxes(-1, -2), not lower
    x = np.array(b)
    rows = range(a.shape[-1])
    for row in rows if lower else reversed(rows):
        known = slice(0, row) if lower else slice(row + 1, None)
        x[..., row, :] -= np.einsum("...k,...kj->...j", a[..., row, known], x[..., known, :])
        if not attributes["unit_diagonal"]:
            x[..., row, :] /= a[..., row, row, None]
    return x if left else x.swapaxes(-1, -2)


CHOLESKY = LinearAlgebra("cholesky", infer_cholesky, evaluate_cholesky, ("a",), (Attribute("lower", "bool", False),))
TRIANGULAR_SOLVE = LinearAlgebra(
    "triangular_solve",
    infer_triangular_solve,
    evaluate_triangular_solve,
    ("a", "b"),
    (
        Attribute("left_side", "bool"),
        Attribute("lower", "bool"),
        Attribute("unit_diagonal", "bool"),
        Attribute("transpose_a", "enum:transpose"),
    ),
)
