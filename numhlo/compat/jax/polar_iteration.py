"""`lax.linalg.qdwh`: the polar decomposition by Halley's iteration with dynamic weights.

Source: Nakatsukasa, Bai and Gygi, Optimizing Halley's iteration for computing the matrix polar decomposition, SIAM J.
Matrix Anal. Appl. 31 (2010), for weights and steps by QR; Nakatsukasa and Higham, Stable and efficient spectral divide
and conquer algorithms, SIAM J. Sci. Comput. 35 (2013), for steps by Cholesky's decomposition.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.compat.jax import lax
from numhlo.compat.jax import numpy as jnp
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ShapeError

_BY_CHOLESKY = 100
"""Weights below which a step by Cholesky's decomposition is as accurate as one by QR."""


def _weights(least: float) -> tuple[float, float, float, float]:
    """Return the weights of a step, and what the least singular value is at least, after it."""
    square = least * least
    d = (4 * (1 / square - 1) / square) ** (1 / 3)
    root = (1 + d) ** 0.5
    a = root + (2 - d + 2 * (2 - square) / (square * root)) ** 0.5
    b = (a - 1) ** 2 / 4
    c = a + b - 1
    return a, b, c, least * (a + b * square) / (1 + c * square)


def _by_qr(u: Any, a: float, b: float, c: float) -> Any:
    rows, n = u.shape
    q, _ = jnp.linalg.qr(jnp.concatenate([np.asarray(c**0.5, u.dtype) * u, jnp.eye(n, dtype=u.dtype)]))
    weight = np.asarray((a - b / c) / c**0.5, u.dtype)
    return np.asarray(b / c, u.dtype) * u + weight * (q[:rows] @ q[rows:].T.conj())


def _by_cholesky(u: Any, a: float, b: float, c: float) -> Any:
    n = u.shape[1]
    factor = lax.linalg.cholesky(jnp.eye(n, dtype=u.dtype) + np.asarray(c, u.dtype) * (u.T.conj() @ u))
    half = lax.linalg.triangular_solve(factor, u.T, left_side=True, lower=True, conjugate_a=True)
    solved = lax.linalg.triangular_solve(factor, half, left_side=True, lower=True, transpose_a=True).T
    return np.asarray(b / c, u.dtype) * u + np.asarray(a - b / c, u.dtype) * solved


def qdwh(
    x: Any,
    *,
    is_hermitian: bool = False,
    max_iterations: int | None = None,
    eps: float | None = None,
    dynamic_shape: tuple[Any, Any] | None = None,
) -> tuple[Any, Any, Any, Any]:
    """Return the polar decomposition of a matrix of full rank: ``x = u @ h``, with ``h`` Hermitian.

    Parameters
    ----------
    x : (m, n) array_like
        At least as many rows as columns.
    is_hermitian : bool, optional
        Accepted.
    max_iterations : int, optional
        10 by default.
    eps : float, optional
        How accurate the result is to be; as much as its dtype allows by default.
    dynamic_shape : tuple of int, optional
        The part of the matrix that counts; the rest is taken for zero.

    Returns
    -------
    tuple of four Arrays
        ``u``, ``h``, the number of iterations, and whether they converged.

    Raises
    ------
    ShapeError
        If it has more columns than rows.

    Examples
    --------
    >>> u, h, steps, done = qdwh(jnp.array([[3.0, 0.0], [0.0, -2.0]]))
    >>> bool(abs(u - jnp.array([[1.0, 0.0], [0.0, -1.0]])).max() < 1e-5), bool(done)
    (True, True)
    """
    del is_hermitian
    array = jnp.asarray(x)
    if array.ndim != 2 or array.shape[0] < array.shape[1]:
        raise ShapeError(
            f"qdwh of shape {array.shape}", where=capture_location(), why="The input matrix must have M >= N."
        )
    if dynamic_shape is not None:
        rows, columns = (jnp.arange(n) < k for n, k in zip(array.shape, dynamic_shape, strict=True))
        array = jnp.where(rows[:, None] & columns[None, :], array, 0)
    most = 10 if max_iterations is None else int(max_iterations)
    least = float(jnp.finfo(array.dtype).eps) if eps is None else float(eps)
    done_at = 5 * least
    norms = jnp.linalg.norm(array, 1), jnp.linalg.norm(array, np.inf)
    scale = jnp.where(norms[0] == 0, 1, lax.rsqrt(norms[0]) * lax.rsqrt(norms[1]))
    u, steps, moves = array * scale.astype(array.dtype), 0, jnp.asarray(True)
    limit = np.cbrt(done_at)
    while least + done_at < 1 and steps < most:
        a, b, c, least = _weights(least)
        before, by_qr = u, c > _BY_CHOLESKY
        u = (_by_qr if by_qr else _by_cholesky)(u, a, b, c)
        moves = jnp.asarray(True) if by_qr else jnp.linalg.norm(u - before) > limit
        steps += 1

    def again(state: Any) -> Any:
        count, before, _ = state
        after = _by_cholesky(before, 3.0, 1.0, 3.0)
        return count + 1, after, jnp.linalg.norm(after - before) > limit

    state = (jnp.asarray(steps), u, moves)
    count, u, moves = lax.while_loop(lambda s: s[2] & (s[0] < most), again, state)
    u = np.asarray(1.5, u.dtype) * u - np.asarray(0.5, u.dtype) * (
        u @ (u.T.conj() @ u)
    )  # one step of Newton and Schulz
    h = u.T.conj() @ array
    return u, (h + h.T.conj()) / np.asarray(2, h.dtype), count, ~moves
