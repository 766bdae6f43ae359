"""Linear equations solved by products with the matrix alone: conjugate gradients and their kin, under JAX's names.

Sources: Hestenes and Stiefel, "Methods of conjugate gradients for solving linear systems", Journal of Research of the
National Bureau of Standards 49 (1952); van der Vorst, "Bi-CGSTAB", SIAM Journal on Scientific and Statistical Computing
13 (1992); Saad and Schultz, "GMRES", SIAM Journal on Scientific and Statistical Computing 7 (1986). Derivatives are
solves with the same matrix, and with its transpose (`implicit_solves`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from numhlo.library.lax.implicit_solves import custom_linear_solve
from numhlo.library.lax.raveling import ravel_pytree
from numhlo.library.scipy.operands import MEANINGS
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ShapeError
from numhlo.tracer.building import Tracer, asarray, while_loop

__all__ = ["bicgstab", "cg", "gmres"]

NEEDED = MEANINGS
"""NumPy's functions have a meaning on traced arrays."""

Product = Callable[[Any], Any]


class _Limits(NamedTuple):
    """When to stop: the residual's squared length, and the number of rounds."""

    square: Any
    rounds: Any


def _product_with(function: str, matrix: Any) -> Product:
    if callable(matrix):
        product: Product = matrix
        return product
    array = matrix if _multiplies_itself(matrix) else asarray(matrix)
    if len(array.shape) != 2 or array.shape[0] != array.shape[1]:
        raise ShapeError(
            f"{function} with A of shape {array.shape}",
            where=capture_location(),
            fix="give a square matrix, or a function that multiplies by one",
        )
    return lambda x: array @ x


def _multiplies_itself(matrix: Any) -> bool:
    """Return whether a matrix is sparse, or an operator of somebody's: it has a product, and no elements to give."""
    is_operator = hasattr(matrix, "__matmul__") and not hasattr(matrix, "__array__")
    return hasattr(matrix, "todense") or (is_operator and not isinstance(matrix, Tracer))


def _square(x: Any) -> Any:
    return np.vdot(x, x).real


def _solved(
    function: str,
    iterate: Callable[..., Any],
    equation: tuple[Any, Any, Any],
    limits: tuple[float, float, int | None],
    M: Any,
    *,
    is_symmetric: bool,
) -> tuple[Any, None]:
    matrix, b, x0 = equation
    tol, atol, maxiter = limits
    product = _product_with(function, matrix)
    condition = (lambda x: x) if M is None else _product_with(function, M)
    target, unravel = ravel_pytree(b)
    target = target if target.dtype.kind in "fc" else target.astype(np.float64)
    start = np.zeros_like(target) if x0 is None else ravel_pytree(x0)[0].astype(target.dtype)
    if start.shape != target.shape:
        raise ShapeError(
            f"{function}: x0 of {start.shape[0]} elements for b of {target.shape[0]}",
            where=capture_location(),
            fix="give x0 the structure and shapes of b",
        )

    def flat(apply: Product) -> Product:
        return lambda x: ravel_pytree(apply(unravel(x)))[0].astype(target.dtype)

    rounds = 10 * target.shape[0] if maxiter is None else maxiter

    def solve(apply: Product, right: Any) -> Any:
        near = np.maximum(tol**2 * _square(right), atol**2)
        return iterate(apply, flat(condition), right, start, _Limits(near, rounds))

    symmetric = is_symmetric and target.dtype.kind == "f"
    found = custom_linear_solve(flat(product), target, solve, solve, symmetric=symmetric)
    return unravel(found), None


def cg(
    A: Any, b: Any, x0: Any = None, *, tol: float = 1e-5, atol: float = 0.0, maxiter: int | None = None, M: Any = None
) -> tuple[Any, None]:
    """Return the solution of ``A x = b`` for a positive definite ``A``, by conjugate gradients.

    Parameters
    ----------
    A : (n, n) array_like or callable
        The matrix, or a linear function of pytrees like ``b``.
    b : pytree of array_like
    x0 : pytree of array_like, optional
        A first guess, zeros by default.
    tol, atol : float, optional
        The residual's length at the end, relative to that of ``b`` and absolute.
    maxiter : int, optional
        The most rounds, ten for each element by default.
    M : (n, n) array_like or callable, optional
        An approximation of the inverse of ``A``.

    Returns
    -------
    x : pytree of Array
    info : None
        As in JAX.

    Raises
    ------
    ShapeError
        If a matrix is not square, or ``x0`` is not like ``b``.

    Examples
    --------
    >>> cg(np.array([[4.0, 1.0], [1.0, 3.0]]), np.array([1.0, 2.0]))[0].round(6)
    Array([0.090909, 0.636364])
    """
    return _solved("cg", _conjugate, (A, b, x0), (tol, atol, maxiter), M, is_symmetric=True)


def _conjugate(apply: Product, condition: Product, right: Any, start: Any, limits: _Limits) -> Any:
    rest = right - apply(start)
    direction = condition(rest)
    size = np.vdot(rest, direction).real

    def goes_on(state: Any) -> Any:
        return (_square(state[1]) > limits.square) & (state[4] < limits.rounds)

    def improve(state: Any) -> Any:
        x, rest, direction, size, k = state
        image = apply(direction)
        step = size / np.vdot(direction, image).real
        rest = rest - step * image
        turned = condition(rest)
        new = np.vdot(rest, turned).real
        return x + step * direction, rest, turned + new / size * direction, new, k + 1

    found: Any = while_loop(goes_on, improve, (start, rest, direction, size, np.zeros((), np.int64)))
    return found[0]


def bicgstab(
    A: Any, b: Any, x0: Any = None, *, tol: float = 1e-5, atol: float = 0.0, maxiter: int | None = None, M: Any = None
) -> tuple[Any, None]:
    """Return the solution of ``A x = b``, by stabilized biconjugate gradients.

    Parameters
    ----------
    A, b, x0, tol, atol, maxiter, M : optional
        As those of `cg`; ``A`` need not be symmetric.

    Returns
    -------
    x : pytree of Array
    info : None

    Raises
    ------
    ShapeError
        If a matrix is not square, or ``x0`` is not like ``b``.

    Examples
    --------
    >>> bicgstab(np.array([[4.0, 1.0], [2.0, 3.0]]), np.array([1.0, 2.0]))[0].round(6)
    Array([0.1, 0.6])
    """
    return _solved("bicgstab", _stabilized, (A, b, x0), (tol, atol, maxiter), M, is_symmetric=False)


def _quotient(over: Any, under: Any) -> Any:
    """Return a quotient; 0 where the method has broken down."""
    return np.where(under == 0, 0, over / np.where(under == 0, 1, under))


def _stabilized(apply: Product, condition: Product, right: Any, start: Any, limits: _Limits) -> Any:
    shadow = right - apply(start)
    one, still = np.ones((), right.dtype), np.zeros_like(right)

    def goes_on(state: Any) -> Any:
        _, rest, _, _, _, _, rho, k = state
        return (_square(rest) > limits.square) & (k < limits.rounds) & (rho != 0)

    def improve(state: Any) -> Any:
        x, rest, direction, image, alpha, omega, rho, k = state
        new = np.vdot(shadow, rest)
        direction = rest + _quotient(new * alpha, rho * omega) * (direction - omega * image)
        turned = condition(direction)
        image = apply(turned)
        alpha = _quotient(new, np.vdot(shadow, image))
        half = rest - alpha * image
        smoothed = condition(half)
        change = apply(smoothed)
        omega = _quotient(np.vdot(change, half), np.vdot(change, change))
        moved = x + alpha * turned + omega * smoothed
        return moved, half - omega * change, direction, image, alpha, omega, new, k + 1

    begin = (start, shadow, still, still, one, one, one, np.zeros((), np.int64))
    found: Any = while_loop(goes_on, improve, begin)
    return found[0]


def gmres(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    tol: float = 1e-5,
    atol: float = 0.0,
    restart: int = 20,
    maxiter: int | None = None,
    M: Any = None,
    solve_method: str = "batched",
) -> tuple[Any, None]:
    """Return the solution of ``A x = b``, by the least residual in spaces of images of it, built anew again and again.

    Parameters
    ----------
    A, b, x0, tol, atol, M : optional
        As those of `cg`; ``A`` need not be symmetric.
    restart : int, optional
        How many images a space has.
    maxiter : int, optional
        How many spaces at most, ten for each element by default.
    solve_method : {"batched", "incremental"}, optional
        Means nothing here: the space is always built as a whole.

    Returns
    -------
    x : pytree of Array
    info : None

    Raises
    ------
    ShapeError
        If a matrix is not square, or ``x0`` is not like ``b``.

    Examples
    --------
    >>> gmres(np.array([[4.0, 1.0], [2.0, 3.0]]), np.array([1.0, 2.0]))[0].round(6)
    Array([0.1, 0.6])
    """
    del solve_method

    def iterate(apply: Product, condition: Product, right: Any, start: Any, limits: _Limits) -> Any:
        return _restarted(lambda x: apply(condition(x)), condition, right, start, (apply, limits, restart))

    return _solved("gmres", iterate, (A, b, x0), (tol, atol, maxiter), M, is_symmetric=False)


def _restarted(
    image: Product, condition: Product, right: Any, start: Any, options: tuple[Product, _Limits, int]
) -> Any:
    apply, limits, restart = options
    extent = min(restart, right.shape[0])

    def goes_on(state: Any) -> Any:
        return (_square(state[1]) > limits.square) & (state[2] < limits.rounds)

    def improve(state: Any) -> Any:
        x, rest, k = state
        x = x + condition(_least_residual(image, rest, extent))
        return x, right - apply(x), k + 1

    found: Any = while_loop(goes_on, improve, (start, right - apply(start), np.zeros((), np.int64)))
    return found[0]


def _least_residual(image: Product, rest: Any, extent: int) -> Any:
    """Return the combination of a residual and its images whose image is nearest to it, by Arnoldi's basis."""
    length = np.sqrt(_square(rest))
    basis, columns = [rest / length], []
    for k in range(extent):
        new = image(basis[-1])
        known = np.stack(basis)
        shares = np.zeros_like(rest, shape=(k + 1,))
        for _ in range(2):  # once more: what the first leaves is not orthogonal to the last place
            part = known.conj() @ new
            shares, new = shares + part, new - part @ known
        size = np.sqrt(_square(new))
        is_new = size > np.finfo(rest.dtype).eps * np.sqrt(_square(shares))
        basis.append(np.where(is_new, new / np.where(is_new, size, 1), 0))
        below = np.where(is_new, size, 0)[None].astype(rest.dtype)
        columns.append(np.concatenate([shares, below, np.zeros_like(rest, shape=(extent - k - 1,))]))
    goal = np.concatenate([length[None].astype(rest.dtype), np.zeros_like(rest, shape=(extent,))])
    weights = np.linalg.lstsq(np.stack(columns, 1), goal)[0]
    return weights @ np.stack(basis[:-1])
