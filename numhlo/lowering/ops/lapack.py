"""LAPACK under the names by which JAX calls it in programs for the CPU: ``lapack_dgetrf_ffi`` and its kin.

Importing this registers the targets. Each takes stacks of matrices, runs SciPy's LAPACK on one after the other, and
gives back what LAPACK does: pivots count from 1, ``info`` is a result. Layouts of operands concern memory, not values,
and are of no interest to arrays that carry their strides. What LAPACK leaves undefined (a destroyed operand, vectors
that were not asked for) is zero.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from numhlo.lowering.ir import TensorType
from numhlo.lowering.ir.errors import ShapeError
from numhlo.lowering.ops.custom_calls import register_custom_call
from numhlo.lowering.ops.lazy_scipy import lapack_function
from numhlo.lowering.ops.linear_algebra import evaluate_triangular_solve
from numhlo.lowering.ops.primitive import RESULT_TYPES

Config = Mapping[str, Any]
Routine = Callable[[Config, str, Sequence[np.ndarray]], Sequence[Any]]
"""``routine(configuration, letter of the type, matrices) -> results``, for one matrix (or pair) at a time."""

LETTERS = "sdcz"
CONFIGURATIONS = ("mhlo.backend_config", "backend_config")


def flag(config: Config, name: str, letter: str) -> bool:
    """Return whether an option that LAPACK spells as a letter is ``letter``."""
    return chr(int(config[name])) == letter


def configuration(attributes: Mapping[str, Any]) -> Config:
    """Return the options of a call."""
    found = [attributes.get(name) for name in CONFIGURATIONS]
    return next((x for x in found if isinstance(x, Mapping)), {})


def getrf(config: Config, kind: str, arrays: Sequence[np.ndarray]) -> Sequence[Any]:
    """Return the packed factors, pivots, info."""
    lu, pivots, info = lapack_function(f"{kind}getrf")(arrays[0])
    return lu, pivots + 1, info


def potrf(config: Config, kind: str, arrays: Sequence[np.ndarray]) -> Sequence[Any]:
    """Return the factor in its triangle (the other one as it was), info."""
    lower = flag(config, "uplo", "L")
    factor, info = lapack_function(f"{kind}potrf")(arrays[0], lower=lower, clean=False)
    return factor, info


def geqrf(config: Config, kind: str, arrays: Sequence[np.ndarray]) -> Sequence[Any]:
    """Return R above the reflectors, and their scales."""
    packed, scales, _, _ = lapack_function(f"{kind}geqrf")(arrays[0])
    return packed, scales


def orgqr(config: Config, kind: str, arrays: Sequence[np.ndarray]) -> Sequence[Any]:
    """Return the product of reflectors."""
    name = f"{kind}{'orgqr' if kind in 'sd' else 'ungqr'}"
    product, _, _ = lapack_function(name)(*arrays)
    return (product,)


def ormqr(config: Config, kind: str, arrays: Sequence[np.ndarray]) -> Sequence[Any]:
    """Return a matrix times the product of reflectors."""
    packed, scales, matrix = arrays
    name = f"{kind}{'ormqr' if kind in 'sd' else 'unmqr'}"
    side = "L" if config["left"] else "R"
    trans = ("T" if kind in "sd" else "C") if config["transpose"] else "N"
    work = 64 * max(1, *matrix.shape)
    product, _, _ = lapack_function(name)(side, trans, packed[:, : len(scales)], scales, matrix, work)
    return (product,)


def geqp3(config: Config, kind: str, arrays: Sequence[np.ndarray]) -> Sequence[Any]:
    """Return R above the reflectors, the permutation of columns, and the reflectors' scales.

    Columns whose number in the second operand is not zero come first; only the others are ordered by what remains.
    """
    a, order, fixed = _fixed_first(*arrays)
    if not fixed:
        packed, permutation, scales, _, _ = lapack_function(f"{kind}geqp3")(a)
        return packed, permutation, scales
    rows = min(fixed, a.shape[0])
    packed, scales = geqrf(config, kind, [a[:, :fixed]])
    turn = {"left": True, "transpose": True}
    (rest,) = ormqr(turn, kind, [packed, scales, a[:, fixed:]]) if fixed < a.shape[1] else (a[:, fixed:],)
    packed = np.concatenate([packed, rest], axis=1)
    if rest[rows:].size:
        packed[rows:, fixed:], found, more = geqp3(config, kind, [rest[rows:], np.zeros_like(order[fixed:])])
        packed[:rows, fixed:] = rest[:rows, found - 1]
        order[fixed:] = order[fixed:][found - 1]
        scales = np.concatenate([scales, more])
    return packed, order, scales


def _fixed_first(a: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the matrix with its chosen columns exchanged to the front, the columns' numbers, and how many they are."""
    order, fixed = np.arange(len(chosen)), 0
    for column in np.flatnonzero(chosen).tolist():
        order[[fixed, column]] = order[[column, fixed]]
        fixed += 1
    return a[:, order], (order + 1).astype(chosen.dtype), fixed


def gesdd(config: Config, kind: str, arrays: Sequence[np.ndarray], name: str = "gesdd") -> Sequence[Any]:
    """Return (the destroyed operand,) singular values, left vectors, right vectors, info."""
    (a,) = arrays
    vectors = not flag(config, "mode", "N")
    left, values, right, info = lapack_function(kind + name)(
        a, compute_uv=vectors, full_matrices=flag(config, "mode", "A")
    )
    return np.zeros_like(a), values, left if vectors else 0, right if vectors else 0, info


def syevd(config: Config, kind: str, arrays: Sequence[np.ndarray]) -> Sequence[Any]:
    """Return eigenvectors, eigenvalues, info."""
    name = f"{kind}{'syevd' if kind in 'sd' else 'heevd'}"
    vectors = flag(config, "mode", "V")
    values, v, info = lapack_function(name)(arrays[0], compute_v=vectors, lower=flag(config, "uplo", "L"))
    return v if vectors else np.zeros_like(arrays[0]), values, info


def geev(config: Config, kind: str, arrays: Sequence[np.ndarray]) -> Sequence[Any]:
    """Return eigenvalues (of real matrices as real and imaginary parts), left vectors, right vectors, info."""
    sides = [flag(config, f"compute_{side}", "V") for side in ("left", "right")]
    *values, left, right, info = lapack_function(f"{kind}geev")(arrays[0], *sides)
    if kind in "sd":
        left, right = (_complex_vectors(v, values[1]) for v in (left, right))
    return *values, left if sides[0] else 0, right if sides[1] else 0, info


def _complex_vectors(packed: np.ndarray, imaginary: np.ndarray) -> np.ndarray:
    """Return eigenvectors from LAPACK's real form: of a conjugate pair, real part and imaginary part side by side."""
    vectors = packed.astype(np.result_type(packed, np.complex64))
    if packed.shape != (len(imaginary),) * 2:
        return vectors
    for k in np.flatnonzero(imaginary > 0):
        vectors[:, k] = packed[:, k] + 1j * packed[:, k + 1]
        vectors[:, k + 1] = vectors[:, k].conj()
    return vectors


def gees(config: Config, kind: str, arrays: Sequence[np.ndarray]) -> Sequence[Any]:
    """Return the Schur form, vectors, eigenvalues (real matrices: two parts), how many were selected, info."""
    vectors = flag(config, "mode", "V")
    form, selected, *values, v, _, info = lapack_function(f"{kind}gees")(
        lambda *_: None, arrays[0], compute_v=vectors, sort_t=0
    )
    return form, v if vectors else 0, *values, selected, info


def gehrd(config: Config, kind: str, arrays: Sequence[np.ndarray]) -> Sequence[Any]:
    """Return the Hessenberg form above the reflectors, their scales, info."""
    low, high = (int(config[name]) - 1 for name in ("low", "high"))
    return list(lapack_function(f"{kind}gehrd")(arrays[0], lo=low, hi=high))


def sytrd(config: Config, kind: str, arrays: Sequence[np.ndarray]) -> Sequence[Any]:
    """Return reflectors, diagonal, off-diagonal, the reflectors' scales, info."""
    name = f"{kind}{'sytrd' if kind in 'sd' else 'hetrd'}"
    return list(lapack_function(name)(arrays[0], lower=flag(config, "uplo", "L")))


def gtsv(config: Config, kind: str, arrays: Sequence[np.ndarray]) -> Sequence[Any]:
    """Return (three destroyed diagonals,) the solution, info."""
    below, diagonal, above, right = arrays
    if len(diagonal) > 1:  # SciPy wants one element even of a single row's neighbours
        below, above = below[1:], above[:-1]
    *_, solution, info = lapack_function(f"{kind}gtsv")(below, diagonal, above, right)
    return 0, 0, 0, solution, info


def triangular_options(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a call of trsm is as attributes of ``triangular_solve``."""
    config = configuration(attributes)
    turns = {"N": "NO_TRANSPOSE", "T": "TRANSPOSE", "C": "ADJOINT"}
    return {
        "left_side": flag(config, "side", "L"),
        "lower": flag(config, "uplo", "L"),
        "unit_diagonal": flag(config, "diag", "U"),
        "transpose_a": turns[chr(int(config["trans_x"]))],
    }


def trsm(arrays: Sequence[np.ndarray], attributes: Mapping[str, Any]) -> Sequence[np.ndarray]:
    """Return the solutions, of whole stacks."""
    return evaluate_triangular_solve(arrays, triangular_options(attributes), [])


ROUTINES: dict[str, tuple[Routine, Sequence[int]]] = {
    "getrf": (getrf, (2,)),
    "potrf": (potrf, (2,)),
    "geqrf": (geqrf, (2,)),
    "orgqr": (orgqr, (2, 1)),
    "ungqr": (orgqr, (2, 1)),
    "ormqr": (ormqr, (2, 1, 2)),
    "unmqr": (ormqr, (2, 1, 2)),
    "geqp3": (geqp3, (2, 1)),
    "gesdd": (gesdd, (2,)),
    "gesvd": (partial(gesdd, name="gesvd"), (2,)),
    "syevd": (syevd, (2,)),
    "heevd": (syevd, (2,)),
    "geev": (geev, (2,)),
    "gees": (gees, (2,)),
    "gehrd": (gehrd, (2,)),
    "sytrd": (sytrd, (2,)),
    "hetrd": (sytrd, (2,)),
    "gtsv": (gtsv, (1, 1, 1, 2)),
}
"""Each routine, and the ranks of its operands without batch dimensions."""


def _copy_what_stays(routine: Routine, arrays: Sequence[np.ndarray], results: Sequence[np.ndarray]) -> None:
    """Fill results of calls without elements or reflectors: products of none are the identity or the matrix."""
    if routine is ormqr:
        results[0][...] = arrays[2]
    elif routine is orgqr:
        results[0][...] = np.eye(*results[0].shape[-2:])
    elif routine is geqp3:
        results[1][...] = arrays[1]


def _run(
    routine: Routine, ranks: Sequence[int], kind: str, arrays: Sequence[np.ndarray], attributes: Mapping[str, Any]
) -> Sequence[np.ndarray]:
    """Run a routine on every matrix of a stack."""
    config = configuration(attributes)
    batch = arrays[0].shape[: arrays[0].ndim - ranks[0]] if arrays else ()
    if [a.ndim - len(batch) for a in arrays] != list(ranks) or any(a.shape[: len(batch)] != batch for a in arrays):
        raise ShapeError(
            f"a call of LAPACK takes arrays of shapes {[a.shape for a in arrays]}",
            why=f"the routine takes arrays of {list(ranks)} dimensions, behind those of the stack",
        )
    types: Sequence[TensorType] = attributes[RESULT_TYPES]
    results = [np.zeros(type.shape, type.dtype) for type in types]
    if not all(array.size for array in arrays):
        _copy_what_stays(routine, arrays, results)
    else:
        for place in np.ndindex(batch):
            values = [np.asarray(value) for value in routine(config, kind, [array[place] for array in arrays])]
            _require_declared(types, batch, values)
            for result, value in zip(results, values, strict=True):
                result[place] = value
    return results


def _require_declared(types: Sequence[TensorType], batch: tuple[int, ...], values: Sequence[np.ndarray]) -> None:
    """Raise unless results are what a call declares; a scalar fills what was not asked for."""
    declared = [type.shape for type in types]
    made = [(*batch, *value.shape) for value in values]
    if len(declared) != len(made) or any(d != m and v.ndim for d, m, v in zip(declared, made, values, strict=True)):
        raise ShapeError(f"a call of LAPACK declares results of shapes {declared}", why=f"the routine makes {made}")


def _target(routine: Routine, ranks: Sequence[int], kind: str) -> Callable[..., Sequence[np.ndarray]]:
    return lambda arrays, attributes: _run(routine, ranks, kind, arrays, attributes)


for _name, (_routine, _ranks) in ROUTINES.items():
    for _letter in LETTERS:
        register_custom_call(f"lapack_{_letter}{_name}_ffi", _target(_routine, _ranks, _letter))
for _letter in LETTERS:
    register_custom_call(f"lapack_{_letter}trsm_ffi", trsm)
for _annotation in ("Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "annotate_device_placement"):
    register_custom_call(_annotation, lambda arrays, attributes: [arrays[0]])
