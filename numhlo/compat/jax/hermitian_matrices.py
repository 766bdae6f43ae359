"""`cholesky`, `eigh` and `eigvalsh` as JAX has them: of the Hermitian part, where NumPy's read one triangle.

For Hermitian matrices both are the same, but not the derivatives by their elements: JAX's are Hermitian.
"""

from __future__ import annotations

from typing import Any

import numhlo.numpy
import numhlo.scipy.linalg
from numhlo.compat.jax.arrays import immutably
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.tracer.core.array import Array


def _hermitian_part(a: Any, wanted: bool = True) -> Any:
    array = numhlo.numpy.asarray(a)
    if not wanted or array.ndim < 2 or array.shape[-1] != array.shape[-2]:
        return array
    if array.dtype.kind in "biu":  # sums of these are truth values, or run over
        array = array.astype(float)
    return (array + array.mT.conj()) / 2


@immutably
def cholesky(a: Any, *, upper: bool = False, symmetrize_input: bool = True) -> Array:
    """Return the triangular L with ``a = L L^H``, or U with ``a = U^H U``."""
    factor: Array = numhlo.numpy.linalg.cholesky(_hermitian_part(a, symmetrize_input), upper=upper)
    return factor


@immutably
def eigh(a: Any, UPLO: str | None = None, symmetrize_input: bool = True) -> Any:
    """Return ``(w, v)``: eigenvalues in ascending order, eigenvectors in columns."""
    return numhlo.numpy.linalg.eigh(_hermitian_part(a, symmetrize_input), "L" if UPLO is None else UPLO)


@immutably
def eigvalsh(a: Any, UPLO: str | None = "L", *, symmetrize_input: bool = True) -> Any:
    """Return eigenvalues in ascending order."""
    return numhlo.numpy.linalg.eigvalsh(_hermitian_part(a, symmetrize_input), "L" if UPLO is None else UPLO)


@immutably
def scipy_eigh(  # noqa: PLR0913 - JAX's signature
    a: Any,
    b: Any = None,
    lower: bool = True,
    eigvals_only: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    turbo: bool = True,
    eigvals: None = None,
    type: int = 1,
    check_finite: bool = True,
    **options: Any,
) -> Any:
    """Return eigenvalues in ascending order and eigenvectors, or eigenvalues alone."""
    del overwrite_a, overwrite_b, turbo, check_finite
    if eigvals is not None:
        raise UnsupportedError("scipy.linalg.eigh(eigvals=)", where=capture_location(), fix="slice the results")
    if type != 1:
        options["type"] = type  # refused below
    return numhlo.scipy.linalg.eigh(_hermitian_part(a), b, lower=lower, eigvals_only=eigvals_only, **options)
