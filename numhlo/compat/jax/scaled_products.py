"""Products of groups of rows, each with a matrix of its own, and of blocks, each with a factor of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numhlo.compat.jax.numpy as jnp
from numhlo.compat.jax import lax
from numhlo.compat.jax.lax_types import RaggedDotDimensionNumbers
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import OperandError, UnsupportedError


def ragged_dot_general(
    lhs: Any,
    rhs: Any,
    group_sizes: Any,
    ragged_dot_dimension_numbers: RaggedDotDimensionNumbers,
    precision: Any = None,
    preferred_element_type: Any = None,
    group_offset: Any = None,
    out_sharding: Any = None,
) -> Any:
    """Return a product in which a dimension of the first operand falls into groups.

    Parameters
    ----------
    lhs, rhs : array_like
    group_sizes : (..., g) array_like of int
        What lies behind all groups counts as zero; groups of batches change nothing.
    ragged_dot_dimension_numbers : RaggedDotDimensionNumbers
        Where the ragged dimension stays, the second operand has a dimension of groups; where it is summed over, the
        result has one, which comes first.
    precision, out_sharding : optional
        Accepted.
    preferred_element_type : dtype_like, optional
    group_offset : optional
        Must be left out.

    Returns
    -------
    Array

    Raises
    ------
    UnsupportedError
        If groups are counted from another one.
    OperandError
        If there is not one ragged dimension.

    Examples
    --------
    >>> numbers = RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), [0], [0])
    >>> ragged_dot_general(jnp.ones((3, 2)), jnp.arange(4.0).reshape(2, 2, 1), jnp.array([1, 2]), numbers)
    Array([[1.],
           [5.],
           [5.]], dtype=float...)
    """
    del precision, out_sharding
    if group_offset is not None:
        raise UnsupportedError("ragged_dot_general with group_offset", where=capture_location(), fix="leave it out")
    left, right, sizes = jnp.asarray(lhs), jnp.asarray(rhs), jnp.asarray(group_sizes)
    numbers = ragged_dot_dimension_numbers
    (lhs_sum, rhs_sum), (lhs_batch, rhs_batch) = numbers.dot_dimension_numbers
    if len(numbers.lhs_ragged_dimensions) != 1 or len(numbers.rhs_group_dimensions) > 1:
        raise OperandError(
            "ragged_dot_general expects exactly one lhs ragged dimension, and one rhs group dimension at most",
            where=capture_location(),
        )
    ragged = numbers.lhs_ragged_dimensions[0]
    free = [k for k in range(left.ndim) if k not in (*lhs_sum, *lhs_batch)]
    kind = next(axes for axes in (lhs_batch, lhs_sum, free) if ragged in axes)
    before = list(kind[: kind.index(ragged)])
    outer = [*lhs_batch, *before]
    options = {"preferred_element_type": preferred_element_type}
    if kind is lhs_batch:
        return lax.dot_general(left, right, numbers.dot_dimension_numbers, **options)
    chosen = _chosen(sizes, left, outer, ragged)
    groups = jnp.where(chosen, left, 0)
    own = tuple(k + 1 for k in lhs_sum), tuple(k + 1 for k in lhs_batch)
    if kind is lhs_sum:
        found = lax.dot_general(groups, right, ((own[0], rhs_sum), (own[1], rhs_batch)), **options)
        return jnp.moveaxis(found, len(lhs_batch), 0)
    batches = ((0, *own[1]), (*numbers.rhs_group_dimensions, *rhs_batch))
    found = lax.dot_general(groups, right, ((own[0], rhs_sum), batches), **options)
    return found.sum(0, dtype=found.dtype)


def _chosen(sizes: Any, left: Any, outer: Sequence[int], ragged: int) -> Any:
    """Return, for each group, which elements are in it, with the axes of the operand."""
    wide = jnp.broadcast_to(sizes, (*[left.shape[k] for k in outer], sizes.shape[-1]))
    ends = jnp.cumsum(wide, -1)[..., None]
    number = jnp.arange(left.shape[ragged])
    inside = (number >= ends - wide[..., None]) & (number < ends)  # (*outer, group, ragged)
    inside = jnp.moveaxis(inside, len(outer), 0)
    axes = [*outer, ragged]
    order = sorted(range(len(axes)), key=axes.__getitem__)
    inside = jnp.transpose(inside, (0, *[k + 1 for k in order]))
    return inside.reshape((inside.shape[0], *[n if k in axes else 1 for k, n in enumerate(left.shape)]))


def scaled_dot(
    lhs: Any,
    rhs: Any,
    *,
    lhs_scale: Any = None,
    rhs_scale: Any = None,
    dimension_numbers: Any = None,
    preferred_element_type: Any = None,
) -> Any:
    """Return the product of arrays of which blocks have factors.

    Parameters
    ----------
    lhs, rhs : array_like
    lhs_scale, rhs_scale : array_like, optional
        Of the operands' shapes, but for dimensions that are summed over: there each stands for a block.
    dimension_numbers : tuple, optional
        As those of `lax.dot_general`; those of `jnp.matmul` by default.
    preferred_element_type : dtype_like, optional
        The result's; bfloat16 by default.

    Returns
    -------
    Array

    Raises
    ------
    OperandError
        If the factors' shapes do not fit.

    Examples
    --------
    >>> scaled_dot(jnp.ones((1, 4)), jnp.ones((4, 1)), lhs_scale=jnp.array([[1.0, 2.0]]))
    Array([[6]], dtype=bfloat16)
    """
    left, right = jnp.asarray(lhs), jnp.asarray(rhs)
    if dimension_numbers is None:
        if left.ndim < 2:
            raise OperandError("scaled_dot does not support 0-rank and 1-rank operands.", where=capture_location())
        n, batch = left.ndim, tuple(range(left.ndim - 2))
        dimension_numbers = (((n - 1,), (n - 2,)), (batch, batch))
    sums = dimension_numbers[0]
    operands = [
        scaled(x, s, axes, jnp.bfloat16) for x, s, axes in ((left, lhs_scale, sums[0]), (right, rhs_scale, sums[1]))
    ]
    wanted = jnp.bfloat16 if preferred_element_type is None else preferred_element_type
    return lax.dot_general(operands[0], operands[1], dimension_numbers, preferred_element_type=wanted)


def scaled(x: Any, scale: Any, axes: Sequence[int], dtype: Any) -> Any:
    """Return an array in another dtype, times the factors of its blocks.

    Parameters
    ----------
    x : Array
    scale : Array or None
    axes : sequence of int
        Along which blocks lie.
    dtype : dtype_like

    Raises
    ------
    OperandError
        If shapes do not fit.
    """
    array = jnp.asarray(x).astype(dtype)
    if scale is None:
        return array
    factors = jnp.asarray(scale).astype(dtype)
    fits = factors.ndim == array.ndim and all(
        (n % s == 0 if k in axes else n == s) if s else n == 0
        for k, (n, s) in enumerate(zip(array.shape, factors.shape, strict=False))
    )
    if not fits:
        raise OperandError(f"factors {factors.shape} of blocks of an array {array.shape}", where=capture_location())
    for k in axes:
        factors = jnp.repeat(factors, array.shape[k] // max(factors.shape[k], 1), axis=k)
    return array * factors


def scaled_matmul(lhs: Any, rhs: Any, lhs_scales: Any, rhs_scales: Any, preferred_element_type: Any = "float32") -> Any:
    """Return the product of ``(b, m, k)`` and ``(b, n, k)``, blocks along ``k`` times their factors.

    Parameters
    ----------
    lhs : (b, m, k) array_like
    rhs : (b, n, k) array_like
    lhs_scales : (b, m, blocks) array_like
    rhs_scales : (b, n, blocks) array_like
    preferred_element_type : dtype_like, optional

    Returns
    -------
    (b, m, n) Array

    Raises
    ------
    OperandError
        If shapes do not fit.

    Examples
    --------
    >>> scaled_matmul(jnp.ones((1, 1, 4)), jnp.ones((1, 2, 4)), jnp.ones((1, 1, 2)), 2 * jnp.ones((1, 2, 2)))
    Array([[[8., 8.]]], dtype=float32)
    """
    parts = [jnp.asarray(x) for x in (lhs, rhs, lhs_scales, rhs_scales)]
    left, right, left_scales, right_scales = parts
    if any(x.ndim != 3 for x in parts):
        raise OperandError("scaled_matmul requires all inputs to be 3-dimensional arrays", where=capture_location())
    if (left.shape[0], left.shape[2]) != (right.shape[0], right.shape[2]) or left_scales.shape[2] != right_scales.shape[
        2
    ]:
        raise OperandError(
            "scaled_matmul requires inputs a and b to have matching batch (B) and contract (K) dimensions, "
            f"but got shapes {[x.shape for x in parts]}",
            where=capture_location(),
        )
    wide = "float64" if jnp.dtype(preferred_element_type) == "float64" else "float32"
    operands = [scaled(x, s, (2,), wide) for x, s in ((left, left_scales), (right, right_scales))]
    found = lax.dot_general(operands[0], operands[1], (((2,), (2,)), ((0,), (0,))))
    return found.astype(preferred_element_type)
