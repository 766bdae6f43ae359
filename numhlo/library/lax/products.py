"""Products of arrays under JAX's names: dot_general, dot, batch_matmul."""

from __future__ import annotations

from typing import Any

from numhlo.library.lax.operands import of_one_width
from numhlo.lowering.ir import TensorType, capture_location
from numhlo.lowering.ir.errors import DTypeError, OperandError
from numhlo.lowering.ops import contraction
from numhlo.lowering.ops.dimension_numbers import DotDimensionNumbers
from numhlo.tracer.building import as_dtype, asarray, bind1, shape_of, spelling

__all__ = ["batch_matmul", "dot", "dot_general"]


def dot_general(
    lhs: Any,
    rhs: Any,
    dimension_numbers: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """Return products summed over contracting dimensions: batch dimensions first, then those of either side.

    Parameters
    ----------
    lhs, rhs : array
        Of one dtype.
    dimension_numbers : ((lhs_contract, rhs_contract), (lhs_batch, rhs_batch))
    precision : optional
        Accepted and ignored: products are computed in the operands' precision at least.
    preferred_element_type : dtype, optional
        Of the result.

    Returns
    -------
    Array
        Of dimensions batch, free ones of ``lhs``, free ones of ``rhs``.

    Raises
    ------
    DTypeError
        If the operands differ in dtype.
    VerificationError
        If the dimension numbers do not fit.

    Notes
    -----
    StableHLO specification, section ``dot_general``.

    Examples
    --------
    >>> import numpy as np
    >>> dot_general(np.ones((2, 3)), np.ones((3, 4)), (((1,), (0,)), ((), ()))).shape
    (2, 4)
    """
    x, y = map(asarray, of_one_width(lhs, rhs))
    if x.dtype != y.dtype:
        raise DTypeError(
            f"lax.dot_general: operands {spelling(x)} and {spelling(y)} differ in dtype", where=capture_location()
        )
    (left, right), (left_batch, right_batch) = dimension_numbers
    numbers = DotDimensionNumbers(
        lhs_batching_dimensions=tuple(left_batch),
        rhs_batching_dimensions=tuple(right_batch),
        lhs_contracting_dimensions=tuple(left),
        rhs_contracting_dimensions=tuple(right),
    )
    shape = [shape_of(x)[k] for k in left_batch]
    shape += [n for k, n in enumerate(shape_of(x)) if k not in (*left, *left_batch)]
    shape += [n for k, n in enumerate(shape_of(y)) if k not in (*right, *right_batch)]
    wanted = as_dtype(preferred_element_type, x.dtype)
    attributes = {"dot_dimension_numbers": numbers, "precision_config": ("DEFAULT", "DEFAULT")}
    return bind1(contraction.DOT_GENERAL, x, y, attributes=attributes, results=[TensorType(tuple(shape), wanted)])


def dot(
    lhs: Any, rhs: Any, *, dimension_numbers: Any = None, precision: Any = None, preferred_element_type: Any = None
) -> Any:
    """Return the product of vectors and matrices, or of what `dot_general` takes.

    Parameters
    ----------
    lhs, rhs : array_like
        Vectors or matrices, of one dtype.
    dimension_numbers : optional
        That of `dot_general`, for arrays of any number of dimensions.
    precision : optional
        Accepted and ignored, as by `dot_general`.
    preferred_element_type : dtype, optional
        Of the result.

    Returns
    -------
    Array
        Without the last dimension of ``lhs`` and the first of ``rhs``.

    Raises
    ------
    OperandError
        If an operand has no, or more than two dimensions.
    DTypeError
        If the operands differ in dtype.

    Examples
    --------
    >>> import numpy as np
    >>> dot(np.array([1, 2]), np.array([3, 4]))
    Array(11)
    """
    if dimension_numbers is not None:
        return dot_general(lhs, rhs, dimension_numbers, precision, preferred_element_type)
    x, y = asarray(lhs), asarray(rhs)
    if not 1 <= len(shape_of(x)) <= 2 or not 1 <= len(shape_of(y)) <= 2:
        raise OperandError(
            f"lax.dot: {spelling(x)} and {spelling(y)} are not vectors or matrices",
            where=capture_location(),
            fix="use lax.dot_general, or numhlo.numpy.matmul",
        )
    return dot_general(x, y, (((len(shape_of(x)) - 1,), (0,)), ((), ())), precision, preferred_element_type)


def batch_matmul(lhs: Any, rhs: Any, precision: Any = None) -> Any:
    """Return products of matrices; all leading dimensions are batches.

    Parameters
    ----------
    lhs, rhs : array_like
        Of shapes ``(..., n, k)`` and ``(..., k, m)``, and one dtype; leading dimensions are equal, not broadcast.
    precision : optional
        Accepted and ignored, as by `dot_general`.

    Returns
    -------
    Array
        Of shape ``(..., n, m)``.

    Raises
    ------
    VerificationError
        If the shapes do not fit.

    Examples
    --------
    >>> import numpy as np
    >>> batch_matmul(np.ones((5, 2, 3)), np.ones((5, 3, 4))).shape
    (5, 2, 4)
    """
    ndim = len(shape_of(asarray(lhs)))
    batch = tuple(range(ndim - 2))
    return dot_general(lhs, rhs, (((ndim - 1,), (ndim - 2,)), (batch, batch)), precision)
