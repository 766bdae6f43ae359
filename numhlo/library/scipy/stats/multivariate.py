"""Distributions of several variables: the normal one, Dirichlet's, the multinomial one.

Sources: Bishop, "Pattern recognition and machine learning" (2006), sections 2.2 and 2.3.
"""

from __future__ import annotations

from typing import Any

from numhlo.library.numpy import diagonals, reductions, reshaping
from numhlo.library.numpy import elementwise as ufuncs
from numhlo.library.numpy.searching import where
from numhlo.library.scipy.linalg.solving import cholesky, solve_triangular
from numhlo.library.scipy.special.widely_used import gammaln, xlogy
from numhlo.library.scipy.stats.closed import HALF_LOG_TAU
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ShapeError
from numhlo.tracer.building import (
    as_traced,
    asarray,
    broadcast_shapes,
    broadcast_to_shape,
    concatenate_arrays,
    convert,
    reshape_to,
    result_dtype,
    runs_anywhere,
)
from numhlo.tracer.building import operations as b

__all__ = ["dirichlet", "multinomial", "multivariate_normal"]


def _floats(*operands: Any) -> list[Any]:
    dtype = result_dtype(*operands)
    return [as_traced(convert(asarray(x), dtype if dtype.kind == "f" else "f8")) for x in operands]


class MultivariateNormal:
    """The normal distribution of several variables, of mean ``mean`` and covariance ``cov``.

    Examples
    --------
    >>> multivariate_normal.logpdf([1.0, 0.0], [0.0, 0.0], [[2.0, 0.0], [0.0, 1.0]])
    Array(-2.43445066)
    """

    @runs_anywhere
    def logpdf(self, x: Any, mean: Any = 0.0, cov: Any = 1.0, allow_singular: Any = None) -> Any:
        """Return the logarithm of the density.

        Parameters
        ----------
        x : (..., n) array_like
            A number, or numbers in a vector, count as one variable unless ``mean`` or ``cov`` has more.
        mean : (..., n) array_like, optional
        cov : (..., n, n) array_like, optional
            Positive definite; a number or a vector is its diagonal.
        allow_singular : None or False, optional
            Singular matrices are not allowed.

        Returns
        -------
        Array
            Without the last dimension; NaN where ``cov`` is not positive definite.

        Raises
        ------
        ValueError
            If ``allow_singular`` is true.
        """
        if allow_singular:
            raise ValueError("allow_singular is not supported: add a small multiple of the identity to cov")
        value, middle, spread = _floats(x, mean, cov)
        if middle.ndim == 0 and spread.ndim == 0:
            z = b.divide(*_broadcast(ufuncs.subtract(value, middle), ufuncs.sqrt(spread)))
            size = ufuncs.log(spread)
            return ufuncs.subtract(ufuncs.multiply(ufuncs.add(ufuncs.square(z), size), -0.5), HALF_LOG_TAU)
        n = (spread if spread.ndim else middle).shape[-1]
        if spread.ndim < 2:
            spread = ufuncs.multiply(diagonals.eye(n, dtype=spread.dtype), broadcast_to_shape(spread, (n,)))
        if spread.shape[-2:] != (n, n) or middle.shape[-1:] not in ((), (1,), (n,)):
            raise ShapeError(
                f"multivariate_normal.logpdf: mean of shape {middle.shape} with cov of shape {spread.shape}",
                where=capture_location(),
                why="a mean of n elements has a covariance of n rows and n columns",
            )
        factor = cholesky(spread, lower=True)
        apart = ufuncs.subtract(value, middle)
        batch = broadcast_shapes(apart.shape[:-1], factor.shape[:-2])
        column = reshape_to(broadcast_to_shape(apart, (*batch, n)), (*batch, n, 1))
        z = reshape_to(solve_triangular(broadcast_to_shape(factor, (*batch, n, n)), column, lower=True), (*batch, n))
        half_log_determinant = reductions.sum(ufuncs.log(reshaping.diagonal(factor, 0, -2, -1)), axis=-1)
        square = reductions.sum(ufuncs.square(z), axis=-1)
        return ufuncs.subtract(ufuncs.multiply(square, -0.5), ufuncs.add(half_log_determinant, n * HALF_LOG_TAU))

    @runs_anywhere
    def pdf(self, x: Any, mean: Any = 0.0, cov: Any = 1.0) -> Any:
        """Return the density; arguments are those of `logpdf`."""
        return ufuncs.exp(self.logpdf(x, mean, cov))


def _broadcast(*arrays: Any) -> list[Any]:
    shape = broadcast_shapes(*[x.shape for x in arrays])
    return [broadcast_to_shape(x, shape) for x in arrays]


class Dirichlet:
    """Dirichlet's distribution of shares that add up to 1.

    Examples
    --------
    >>> dirichlet.pdf([0.2, 0.8], [2.0, 1.0])
    Array(0.4)
    """

    @runs_anywhere
    def logpdf(self, x: Any, alpha: Any) -> Any:
        """Return the logarithm of the density.

        Parameters
        ----------
        x : (n, ...) or (n - 1, ...) array_like
            Shares along the first axis, as SciPy has them; the last may be left out.
        alpha : (n,) array_like
            Positive.

        Returns
        -------
        Array
            Without the first dimension; minus infinity outside the simplex, NaN where ``alpha`` is not positive.
        """
        value, shape = _floats(x, alpha)
        if value.shape[0] + 1 == shape.shape[0]:
            rest = ufuncs.subtract(1.0, reductions.sum(value, axis=0))
            value = as_traced(concatenate_arrays([value, reshape_to(rest, (1, *rest.shape))], 0))
        aligned = reshape_to(shape, (*shape.shape, *(1,) * (value.ndim - 1)))
        inside = reductions.all(ufuncs.greater_equal(value, 0), axis=0)
        total = ufuncs.absolute(ufuncs.subtract(reductions.sum(value, axis=0), 1.0))
        close = ufuncs.less(total, 100 * b.finfo(value.dtype).eps)
        safe = where(inside, value, ufuncs.divide(1.0, float(shape.shape[0])))
        weighted = reductions.sum(xlogy(ufuncs.subtract(aligned, 1.0), safe), axis=0)
        size = ufuncs.subtract(reductions.sum(gammaln(shape)), gammaln(reductions.sum(shape)))
        found = where(ufuncs.logical_and(inside, close), ufuncs.subtract(weighted, size), -float("inf"))
        return where(reductions.all(ufuncs.greater(shape, 0)), found, float("nan"))

    @runs_anywhere
    def pdf(self, x: Any, alpha: Any) -> Any:
        """Return the density; arguments are those of `logpdf`."""
        return ufuncs.exp(self.logpdf(x, alpha))


class Multinomial:
    """How often each of several results appears among ``n`` trials.

    Examples
    --------
    >>> multinomial.pmf([1, 1], 2, [0.5, 0.5])
    Array(0.5)
    """

    @runs_anywhere
    def logpmf(self, x: Any, n: Any, p: Any) -> Any:
        """Return the logarithm of the probability.

        Parameters
        ----------
        x : (..., k) array_like
            Whole numbers.
        n : (...) array_like
            Their sum.
        p : (..., k) array_like
            Probabilities of the results, of sum 1.

        Returns
        -------
        Array
            Without the last dimension; minus infinity where the numbers don't add up to ``n``.
        """
        value, trials, chance = _floats(x, n, p)
        total = reductions.sum(value, axis=-1)
        legal = ufuncs.logical_and(ufuncs.equal(total, trials), reductions.all(ufuncs.greater_equal(value, 0), axis=-1))
        terms = ufuncs.subtract(xlogy(value, chance), gammaln(ufuncs.add(value, 1.0)))
        found = ufuncs.add(gammaln(ufuncs.add(trials, 1.0)), reductions.sum(terms, axis=-1))
        return where(legal, found, -float("inf"))

    @runs_anywhere
    def pmf(self, x: Any, n: Any, p: Any) -> Any:
        """Return the probability; arguments are those of `logpmf`."""
        return ufuncs.exp(self.logpmf(x, n, p))


multivariate_normal, dirichlet, multinomial = MultivariateNormal(), Dirichlet(), Multinomial()
