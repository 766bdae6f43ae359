"""Functions of distributions that only JAX has, or has otherwise than SciPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import numhlo.compat.jax.numpy as jnp
from numhlo.compat.jax.scipy.special import gammaln

_MOST = 220
"""Terms of a sum over a distribution of mean 100 at most."""


def _floats(*arrays: Any) -> list[Any]:
    dtype = jnp.result_type(*arrays)
    wanted = dtype if dtype.kind in "fV" else jnp.result_type(dtype, 1.0)
    return list(jnp.broadcast_arrays(*[jnp.asarray(x).astype(wanted) for x in arrays]))


def bernoulli_ppf(q: Any, p: Any) -> Any:
    """Return the least number whose distribution function reaches ``q``; NaN where there is none.

    Parameters
    ----------
    q, p : array_like

    Examples
    --------
    >>> bernoulli_ppf(np.array([0.2, 0.9], np.float32), np.float32(0.5))
    Array([0., 1.], dtype=float32)
    """
    level, chance = _floats(q, p)
    valid = (chance >= 0) & (chance <= 1) & (level >= 0) & (level <= 1)
    return jnp.where(valid, jnp.where(level <= 1 - chance, 0, 1).astype(level.dtype), np.nan)


def poisson_entropy(mu: Any, loc: Any = 0) -> Any:
    """Return the entropy in natural units: a sum up to a mean of 100, and Stirling's series beyond.

    Parameters
    ----------
    mu : array_like
        NaN comes of negative ones.
    loc : array_like, optional
        Moves the distribution, which changes nothing but the shape.

    Examples
    --------
    >>> poisson_entropy(np.float32(5.0)).round(3)
    Array(2.204, dtype=float32)
    """
    mean, _ = _floats(mu, loc)
    small = jnp.where((mean > 0) & (mean < 100), mean, 1)[..., None]
    k = jnp.arange(_MOST).astype(mean.dtype)
    logs = k * jnp.log(small) - small - gammaln(k + 1)
    direct = -(jnp.exp(logs) * logs).sum(-1)
    large = jnp.where(mean >= 100, mean, 100)
    series = 0.5 * jnp.log(2 * math.pi * math.e * large) - 1 / (12 * large)
    found = jnp.where(mean < 100, direct, series)
    return jnp.where(mean > 0, found, jnp.where(mean == 0, 0, np.nan).astype(found.dtype))


FURTHER: dict[tuple[str, str], Callable[..., Any]] = {
    ("bernoulli", "ppf"): bernoulli_ppf,
    ("poisson", "entropy"): poisson_entropy,
}
"""By distribution and name."""
