"""Factorizations and what follows from them as composites: ``numhlo.lu``, ``qr``, ``svd``, ``eigh``, ``solve``, ...

Each takes stacks of matrices. Here they are NumPy's or SciPy's LAPACK, whole stacks at a time. The decompositions are
custom calls under the names that JAX's runtime on the CPU knows, so exported programs run there too. A matrix for which
an algorithm fails (singular, not converging) gives NaN and leaves the others alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from numhlo.lowering.ir import Function, TensorType
from numhlo.lowering.ir.errors import DTypeError, ShapeError
from numhlo.lowering.ops import factorization_decompositions as decompositions
from numhlo.lowering.ops.composites import CompositeDefinition, register
from numhlo.lowering.ops.lazy_scipy import PREFIXES, lapack_function, type_prefix
from numhlo.lowering.ops.primitive import Arrays, EvaluateRule, RegionFunction

Parameters = Mapping[str, Any]
Meaning = Callable[..., Sequence[np.ndarray]]
"""``meaning(*arrays, **parameters) -> arrays``: on whole stacks, raising LinAlgError where one matrix fails."""

INDEX = np.dtype(np.int32)


def _lu(a: np.ndarray) -> Sequence[np.ndarray]:
    packed, pivots = np.empty_like(a), np.zeros((*a.shape[:-2], min(a.shape[-2:])), INDEX)
    factor = lapack_function(f"{type_prefix(a.dtype)}getrf")
    for place in np.ndindex(a.shape[:-2]) if a.size else ():
        packed[place], pivots[place], _ = factor(a[place])
    return packed, pivots, permutation_of(pivots, a.shape[-2])


def permutation_of(pivots: np.ndarray, size: int) -> np.ndarray:
    """Return where each row comes from, after row k has been exchanged with row ``pivots[..., k]`` for each k.

    Examples
    --------
    >>> permutation_of(np.array([2, 2], np.int32), 3)
    array([2, 0, 1], dtype=int32)
    """
    rows = np.broadcast_to(np.arange(size, dtype=INDEX), (*pivots.shape[:-1], size)).copy()
    for k in range(pivots.shape[-1]):
        other = pivots[..., k, None]
        there, here = np.take_along_axis(rows, other, -1), rows[..., k, None].copy()
        np.put_along_axis(rows, other, here, -1)
        rows[..., k] = there[..., 0]
    return rows


def _qr(a: np.ndarray, full: bool) -> Sequence[np.ndarray]:
    return np.linalg.qr(a, "complete" if full else "reduced")


def _svd(a: np.ndarray, full: bool) -> Sequence[np.ndarray]:
    return np.linalg.svd(a, full)


def _svdvals(a: np.ndarray) -> Sequence[np.ndarray]:
    return (np.linalg.svd(a, compute_uv=False),)


def _eigh(a: np.ndarray, lower: bool) -> Sequence[np.ndarray]:
    return np.linalg.eigh(a, "L" if lower else "U")


def _eigvalsh(a: np.ndarray, lower: bool) -> Sequence[np.ndarray]:
    return (np.linalg.eigvalsh(a, "L" if lower else "U"),)


def _eig(a: np.ndarray) -> Sequence[np.ndarray]:
    return np.linalg.eig(a)


def _eigvals(a: np.ndarray) -> Sequence[np.ndarray]:
    return (np.linalg.eigvals(a),)


def _solve(a: np.ndarray, b: np.ndarray) -> Sequence[np.ndarray]:
    return (np.linalg.solve(a, b),)


def _slogdet(a: np.ndarray) -> Sequence[np.ndarray]:
    return np.linalg.slogdet(a)


def _det(a: np.ndarray) -> Sequence[np.ndarray]:
    return (np.linalg.det(a),)


def _schur(a: np.ndarray) -> Sequence[np.ndarray]:
    form, vectors = np.zeros_like(a), np.zeros_like(a)
    factor = lapack_function(f"{type_prefix(a.dtype)}gees")
    for place in np.ndindex(a.shape[:-2]) if a.size else ():
        form[place], *_, vectors[place], _, info = factor(lambda *_: None, a[place])
        if info:
            raise np.linalg.LinAlgError("the QR algorithm did not converge")
    return form, vectors


MEANINGS: dict[str, tuple[Meaning, int, str]] = {
    "lu": (_lu, 3, "The LU factors of matrices, packed; the rows that were exchanged; the permutation that makes."),
    "qr": (_qr, 2, "An orthonormal basis of the columns, and the triangular factor."),
    "svd": (_svd, 3, "Left singular vectors, singular values in descending order, right singular vectors."),
    "svdvals": (_svdvals, 1, "Singular values in descending order."),
    "eigh": (_eigh, 2, "Eigenvalues in ascending order and eigenvectors of Hermitian matrices; reads one triangle."),
    "eigvalsh": (_eigvalsh, 1, "Eigenvalues of Hermitian matrices in ascending order; reads one triangle."),
    "eig": (_eig, 2, "Complex eigenvalues and right eigenvectors."),
    "eigvals": (_eigvals, 1, "Complex eigenvalues."),
    "solve": (_solve, 1, "The solutions of linear equations, a column for each right-hand side."),
    "slogdet": (_slogdet, 2, "The determinant's sign and the logarithm of its absolute value."),
    "det": (_det, 1, "The determinant."),
    "schur": (_schur, 2, "The Schur form, real for real matrices, and the unitary basis."),
}
"""What each composite means, how many results it has, and what they are."""

SQUARE = frozenset({"eigh", "eigvalsh", "eig", "eigvals", "solve", "slogdet", "det", "schur"})
"""Those that need square matrices."""


def make(name: str, types: Sequence[TensorType], **parameters: Any) -> dict[str, Any]:
    """Return the attributes of the composite op that factors matrices.

    Parameters
    ----------
    name : str
        Without namespace: ``"qr"``.
    types : sequence of TensorType
        Of the operands: stacks of matrices of float32, float64 or their complex types.
    **parameters
        ``full`` of qr and svd, ``lower`` of eigh and eigvalsh.

    Raises
    ------
    DTypeError, ShapeError
        If LAPACK has no such type, or a matrix must be square.

    Examples
    --------
    >>> make("qr", [TensorType((3, 2), np.dtype("float32"))], full=False)["decomposition"]
    <function @qr(tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<2x2xf32>)>
    """
    for type in types:
        if type.dtype.itemsize not in PREFIXES.get(type.dtype.kind, ()):
            raise DTypeError(f"{name} of {type.short()}", fix="convert to float32, float64 or a complex dtype first")
        if type.ndim < 2 or (name in SQUARE and types[0].shape[-1] != types[0].shape[-2]):
            raise ShapeError(f"{name}: {type.short()} is no {'square ' if name in SQUARE else ''}matrix")
    return {
        "name": f"numhlo.{name}",
        "composite_attributes": parameters,
        "decomposition": _decompose(name, tuple(types), tuple(parameters.items())),
        "version": 0,
    }


@lru_cache(maxsize=256)
def _decompose(name: str, types: tuple[TensorType, ...], parameters: tuple[tuple[str, Any], ...]) -> Function:
    return decompositions.build(name, types, dict(parameters))


def _evaluate_with(meaning: Meaning) -> EvaluateRule:
    def evaluate(arrays: Arrays, attributes: Mapping[str, Any], regions: Sequence[RegionFunction]) -> Arrays:
        parameters = attributes["composite_attributes"]
        try:
            results = meaning(*arrays, **parameters)
        except np.linalg.LinAlgError:
            results = _one_by_one(meaning, arrays, parameters)
        types = attributes["decomposition"].function.result_types
        return [np.asarray(x).astype(t.dtype, copy=False) for x, t in zip(results, types, strict=True)]

    return evaluate


def _one_by_one(meaning: Meaning, arrays: Arrays, parameters: Parameters) -> Sequence[np.ndarray]:
    """Return the results of a stack some matrices of which fail: NaN for those."""
    batch = arrays[0].shape[:-2]
    if not batch:
        identities = [np.broadcast_to(np.eye(*x.shape[-2:], dtype=x.dtype), x.shape) for x in arrays]
        return [np.full_like(x, np.nan) for x in meaning(*identities, **parameters)]
    rows = []
    for k in range(batch[0]):
        row = [x[k] for x in arrays]
        try:
            rows.append(meaning(*row, **parameters))
        except np.linalg.LinAlgError:
            rows.append(_one_by_one(meaning, row, parameters))
    return [np.stack(parts) for parts in zip(*rows, strict=True)]


DEFINITIONS = {
    name: register(CompositeDefinition(f"numhlo.{name}", _evaluate_with(meaning), -1, count, text, is_library=True))
    for name, (meaning, count, text) in MEANINGS.items()
}
