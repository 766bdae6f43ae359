"""`jax.scipy.cluster.vq`: which centroid each observation is nearest to."""

from __future__ import annotations

from typing import Any

import numhlo.numpy as n
from numhlo.compat.jax.arrays import immutably as _immutably
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ShapeError

__all__ = ["vq"]


@_immutably
def vq(obs: Any, code_book: Any, check_finite: bool = True) -> tuple[Any, Any]:
    """Return the number of the nearest centroid of each observation, and how far it is.

    Parameters
    ----------
    obs : array_like, shape (m, d) or (m,)
        Observations in rows.
    code_book : array_like, shape (k, d) or (k,)
        Centroids in rows.
    check_finite : bool, optional
        Accepted: NaN gives NaN.

    Returns
    -------
    tuple of Array
        Numbers (m,) int64, the first of equal distances, and distances (m,) float.

    Raises
    ------
    ShapeError
        If the shapes do not fit.

    Notes
    -----
    Source: `scipy.cluster.vq.vq`, `jax.scipy.cluster.vq.vq`.

    Examples
    --------
    >>> vq([[0.0, 1.0], [4.0, 4.0]], [[0.0, 0.0], [4.0, 4.0]])
    (Array([0, 1], dtype=int...), Array([1., 0.], dtype=float...))
    """
    rows, centroids = n.asarray(obs), n.asarray(code_book)
    if rows.ndim != centroids.ndim or rows.ndim not in (1, 2) or rows.shape[1:] != centroids.shape[1:]:
        raise ShapeError(
            f"vq of observations {rows.shape} by a code book {centroids.shape}",
            where=capture_location(),
            why="both are rows of the same length, or numbers",
        )
    if rows.ndim == 1:
        rows, centroids = rows[:, None], centroids[:, None]
    distances = n.sqrt(n.sum((rows[:, None, :] - centroids[None, :, :]) ** 2, axis=-1))
    return n.argmin(distances, axis=1), n.min(distances, axis=1)
