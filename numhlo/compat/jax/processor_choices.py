"""Functions of `jax.lax` that are about kinds of processors: here is one, and the exact answer is the fast one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numhlo.numpy as jnp
from numhlo import lax
from numhlo.compat.jax.arrays import immutably
from numhlo.compat.jax.transformations import traced_immutably
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, ShapeError


def platform_dependent(*args: Any, default: Callable[..., Any] | None = None, **per_platform: Any) -> Any:
    """Call the function that is meant for this machine's processor, ``cpu=``, or the default.

    Examples
    --------
    >>> from numhlo.compat.jax import lax
    >>> lax.platform_dependent(2.0, tpu=lambda x: -x, default=lambda x: x + 1)
    3.0
    """
    chosen = per_platform.get("cpu", default)
    if chosen is None:
        raise ArgumentError(
            f"platform_dependent for {', '.join(per_platform)}",
            where=capture_location(),
            why="this is a CPU",
            fix="give cpu= or default=",
        )
    return immutably(traced_immutably(chosen))(*args)


@immutably
def approx_max_k(
    operand: Any,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
) -> tuple[Any, Any]:
    """Return the ``k`` largest values along an axis and their places; on a CPU they are exact.

    Examples
    --------
    >>> from numhlo.compat.jax import lax, numpy as jnp
    >>> lax.approx_max_k(jnp.array([1.0, 5.0, 3.0]), 2)
    (Array([5., 3.], dtype=float...), Array([1, 2], dtype=int32))
    """
    del recall_target, reduction_input_size_override, aggregate_to_topk
    values, places = lax.top_k(jnp.moveaxis(jnp.asarray(operand), reduction_dimension, -1), k)
    return jnp.moveaxis(values, -1, reduction_dimension), jnp.moveaxis(places, -1, reduction_dimension)


@immutably
def approx_min_k(operand: Any, k: int, reduction_dimension: int = -1, **options: Any) -> tuple[Any, Any]:
    """Return the ``k`` least values along an axis and their places; on a CPU they are exact.

    Examples
    --------
    >>> from numhlo.compat.jax import lax, numpy as jnp
    >>> lax.approx_min_k(jnp.array([1.0, 5.0, 3.0]), 2)
    (Array([1., 3.], dtype=float...), Array([0, 2], dtype=int32))
    """
    values, places = approx_max_k(-jnp.asarray(operand), k, reduction_dimension, **options)
    return -values, places


@immutably
def ragged_dot(
    lhs: Any, rhs: Any, group_sizes: Any, precision: Any = None, preferred_element_type: Any = None, **options: Any
) -> Any:
    """Return products of groups of rows, one after the other, each with its own matrix.

    Parameters
    ----------
    lhs : (m, k) array_like
    rhs : (g, k, n) array_like
    group_sizes : (g,) array_like of int
        Rows behind all groups give zeros.
    precision, **options : optional
        Accepted, and mean nothing here.
    preferred_element_type : dtype, optional

    Returns
    -------
    (m, n) Array

    Raises
    ------
    ShapeError
        If shapes do not fit.

    Examples
    --------
    >>> from numhlo.compat.jax import lax, numpy as jnp
    >>> lax.ragged_dot(jnp.ones((3, 2)), jnp.arange(4.0).reshape(2, 2, 1), jnp.array([1, 2]))
    Array([[1.],
           [5.],
           [5.]], dtype=float...)
    """
    del precision, options
    rows, matrices, sizes = jnp.asarray(lhs), jnp.asarray(rhs), jnp.asarray(group_sizes)
    fits = (rows.ndim, matrices.ndim, sizes.ndim) == (2, 3, 1)
    if not fits or matrices.shape[:2] != (*sizes.shape, rows.shape[1]):
        raise ShapeError(
            f"ragged_dot of shapes {rows.shape}, {matrices.shape} and {sizes.shape}",
            where=capture_location(),
            fix="give (m, k), (g, k, n) and (g,)",
        )
    if preferred_element_type is not None:
        rows, matrices = (x.astype(preferred_element_type) for x in (rows, matrices))
    ends = jnp.cumsum(sizes)[:, None]
    number = jnp.arange(rows.shape[0])
    chosen = (number >= ends - sizes[:, None]) & (number < ends)
    return (jnp.where(chosen[:, :, None], rows, 0) @ matrices).sum(0).astype((rows[:1] @ matrices[0]).dtype)
