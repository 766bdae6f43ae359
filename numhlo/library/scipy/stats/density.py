"""`gaussian_kde`: a density estimated from a sample, a normal one around each of its points.

Source: Scott, "Multivariate density estimation" (2015), chapter 6. Attributes and methods are SciPy's and JAX's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numhlo.library.numpy import axis_order, diagonals, reductions, reshaping
from numhlo.library.numpy import covariance as statistics
from numhlo.library.numpy import elementwise as ufuncs
from numhlo.library.numpy.linalg.solving import inv
from numhlo.library.random.continuous import multivariate_normal
from numhlo.library.random.discrete import choice
from numhlo.library.random.keys import split
from numhlo.library.scipy.linalg.solving import cholesky, solve_triangular
from numhlo.library.scipy.special.normal import ndtr
from numhlo.library.scipy.special.widely_used import logsumexp
from numhlo.library.scipy.stats.closed import HALF_LOG_TAU
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, ShapeError, UnsupportedError
from numhlo.tracer.building import (
    as_traced,
    asarray,
    convert,
    full_of,
    register_pytree_node_class,
    reshape_to,
    runs_anywhere,
)

__all__ = ["gaussian_kde"]

traced: Callable[[Any], Any] = as_traced  # its results are indexed here

BANDWIDTHS: dict[str, Callable[[Any, int], Any]] = {
    "scott": lambda size, d: ufuncs.power(size, -1.0 / (d + 4)),
    "silverman": lambda size, d: ufuncs.power(ufuncs.multiply(size, (d + 2) / 4.0), -1.0 / (d + 4)),
}


@register_pytree_node_class
class gaussian_kde:  # noqa: N801 - SciPy's name
    """The mean of normal densities around the points of a sample.

    Parameters
    ----------
    dataset : (d, n) or (n,) array_like
        One column for each point.
    bw_method : {"scott", "silverman"}, float or callable, optional
        The width of the normal densities, as a share of the sample's own; a function gets the estimate itself.
    weights : (n,) array_like, optional
        Of the points; they need not add up to 1.

    Raises
    ------
    ArgumentError
        If there is no such method.
    ShapeError
        If there are fewer than two points, or other than one weight for each.

    Examples
    --------
    >>> gaussian_kde([0.0, 1.0, 3.0])([0.0, 2.0])
    Array([0.19165564, 0.18421533])
    """

    def __init__(self, dataset: Any, bw_method: Any = None, weights: Any = None) -> None:
        self.dataset, self.weights = _sample(dataset, weights)
        self.d, self.n = self.dataset.shape
        self.neff = _effective(self.weights)
        factor = self._factor("scott" if bw_method is None else bw_method)
        self.covariance, self.inv_cov = _spread(self.dataset, self.weights, factor)

    def __init_subclass__(cls) -> None:
        register_pytree_node_class(cls)

    def tree_flatten(self) -> tuple[tuple[Any, ...], None]:
        """Return the arrays of the estimate."""
        return (self.dataset, self.weights, self.covariance, self.inv_cov, self.neff), None

    @classmethod
    def tree_unflatten(cls, _: None, parts: Any) -> Any:
        """Return an estimate of such arrays."""
        made = object.__new__(cls)
        made.dataset, made.weights, made.covariance, made.inv_cov, made.neff = parts
        made.d, made.n = getattr(made.dataset, "shape", (None, None))
        return made

    def _factor(self, method: Any) -> Any:
        if callable(method):
            return method(self)
        if not isinstance(method, str):
            return method
        if method not in BANDWIDTHS:
            raise ArgumentError(
                f"gaussian_kde(bw_method={method!r})", where=capture_location(), fix="use scott, silverman or a number"
            )
        return _bandwidth(method, self.neff, self.d)

    def __call__(self, points: Any) -> Any:
        """Return the density at points; see `evaluate`."""
        return self.evaluate(points)

    @runs_anywhere
    def evaluate(self, points: Any) -> Any:
        """Return the density at ``(d, m)`` points, or ``(m,)`` of one dimension."""
        return ufuncs.exp(_log_density(self, points))

    @runs_anywhere
    def logpdf(self, x: Any) -> Any:
        """Return the logarithm of the density."""
        return _log_density(self, x)

    def pdf(self, x: Any) -> Any:
        """Return the density; see `evaluate`."""
        return self.evaluate(x)

    @runs_anywhere
    def integrate_gaussian(self, mean: Any, cov: Any) -> Any:
        """Return the integral of the product with a normal density."""
        center = traced(reshape_to(asarray(mean), (self.d, 1)))
        whole = ufuncs.add(self.covariance, reshape_to(asarray(cov), (self.d, self.d)))
        found = _log_kernel(ufuncs.subtract(self.dataset, center), whole)
        return reductions.sum(ufuncs.multiply(ufuncs.exp(found), self.weights))

    @runs_anywhere
    def integrate_box_1d(self, low: Any, high: Any) -> Any:
        """Return the integral between two bounds, in one dimension."""
        if self.d != 1:
            raise ShapeError("integrate_box_1d() only handles 1D pdfs", where=capture_location())
        width = ufuncs.sqrt(traced(self.covariance)[0, 0])
        ends = [ndtr(ufuncs.divide(ufuncs.subtract(x, traced(self.dataset)[0]), width)) for x in (high, low)]
        return reductions.sum(ufuncs.multiply(ufuncs.subtract(*ends), self.weights))

    @runs_anywhere
    def integrate_kde(self, other: Any) -> Any:
        """Return the integral of the product with another such density."""
        mine, theirs = traced(self.dataset), traced(other.dataset)
        differences = ufuncs.subtract(mine[:, :, None], theirs[:, None, :])
        flat = reshape_to(differences, (self.d, self.n * other.n))
        found = ufuncs.exp(_log_kernel(flat, ufuncs.add(self.covariance, other.covariance)))
        both = ufuncs.multiply(traced(self.weights)[:, None], traced(other.weights)[None, :])
        return reductions.sum(ufuncs.multiply(found, reshape_to(both, (self.n * other.n,))))

    @runs_anywhere
    def resample(self, key: Any, shape: Any = ()) -> Any:
        """Return points drawn from the estimate: an array of shape ``(d, *shape)``."""
        size = reshaping.shape_tuple(shape)
        keys = traced(split(key))
        chosen = traced(choice(keys[0], self.n, size, p=self.weights))
        noise = multivariate_normal(keys[1], full_of(0, (self.d,), self.covariance.dtype), self.covariance, size)
        return ufuncs.add(traced(self.dataset)[:, chosen], axis_order.moveaxis(noise, -1, 0))

    def integrate_box(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse: the normal integral over a box of several dimensions has no closed form."""
        raise UnsupportedError(
            "gaussian_kde.integrate_box", where=capture_location(), fix="use integrate_box_1d, or SciPy's outside"
        )


@runs_anywhere
def _sample(dataset: Any, weights: Any) -> tuple[Any, Any]:
    points = traced(asarray(dataset))
    points = traced(convert(points, points.dtype if points.dtype.kind == "f" else "f8"))
    points = points[None] if points.ndim == 1 else points
    if points.ndim != 2 or points.shape[1] < 2:
        raise ShapeError("`dataset` input should have multiple elements.", where=capture_location())
    if weights is None:
        return points, full_of(1.0 / points.shape[1], (points.shape[1],), points.dtype)
    shares = traced(convert(asarray(weights), points.dtype))
    if shares.shape != (points.shape[1],):
        raise ShapeError(
            f"{shares.shape} weights for {points.shape[1]} points", where=capture_location(), fix="give one for each"
        )
    return points, ufuncs.divide(shares, reductions.sum(shares))


@runs_anywhere
def _effective(weights: Any) -> Any:
    return ufuncs.divide(1.0, reductions.sum(ufuncs.square(weights)))


@runs_anywhere
def _bandwidth(method: str, size: Any, d: int) -> Any:
    return BANDWIDTHS[method](size, d)


@runs_anywhere
def _spread(dataset: Any, weights: Any, factor: Any) -> tuple[Any, Any]:
    own = reshape_to(statistics.cov(dataset, bias=False, aweights=weights), (dataset.shape[0],) * 2)
    whole = ufuncs.multiply(own, ufuncs.square(factor))
    return whole, inv(whole)


def _log_kernel(differences: Any, covariance: Any) -> Any:
    """Return the logarithm of a normal density of mean 0 at ``(d, m)`` points."""
    root = traced(cholesky(covariance, lower=True))
    white = solve_triangular(root, differences, lower=True)
    volume = reductions.sum(ufuncs.log(diagonals.diag(root)))
    energy = ufuncs.multiply(reductions.sum(ufuncs.square(white), 0), 0.5)
    return ufuncs.negative(ufuncs.add(energy, ufuncs.add(volume, root.shape[0] * HALF_LOG_TAU)))


def _log_density(estimate: gaussian_kde, points: Any) -> Any:
    where = traced(asarray(points))
    where = traced(reshape_to(where, (1, where.size)) if where.ndim < 2 and estimate.d == 1 else where)
    if where.ndim == 1:
        where = where[:, None]
    if where.ndim != 2 or where.shape[0] != estimate.d:
        raise ShapeError(
            f"points have dimension {where.shape[0]}, dataset has dimension {estimate.d}", where=capture_location()
        )
    differences = ufuncs.subtract(where[:, :, None], traced(estimate.dataset)[:, None, :])
    count = where.shape[1]
    found = _log_kernel(reshape_to(differences, (estimate.d, count * estimate.n)), estimate.covariance)
    return logsumexp(traced(reshape_to(found, (count, estimate.n))), axis=1, b=estimate.weights)
