"""NumPy's polynomial modules (`numpy.polynomial.chebyshev` and its kin) under tracing: the two steps that ask values.

The rest is Python code over arrays that it makes, and runs with its calls exchanged as a user's does (`plain_numpy`).
Fits ask whether the rank is full, to warn; sums and products of coefficients ask how many zeros they end with.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.polynomial import polyutils

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.tracer.namespace.core import FUNCTIONS, contains_tracer
from numhlo.tracer.plain_python import special_methods
from numhlo.tracer.plain_python.stand_ins import stands_for
from numhlo.tracer.trace import Tracer

MODULES = "numpy.polynomial"
"""Where they are."""


def is_of_series(value: Any) -> bool:
    """Return whether a function, a class or an object is of NumPy's polynomial modules.

    Examples
    --------
    >>> is_of_series(np.polynomial.chebyshev.chebval), is_of_series(np.polyval)
    (True, False)
    """
    own = getattr(value, "__module__", None)
    return (own if isinstance(own, str) else type(value).__module__).startswith(MODULES)


def of_traced_series(exchanged: Callable[..., Any], function: Callable[..., Any]) -> Any:
    """Return a function whose calls of traced arrays are of another one's code; what is known is left to NumPy."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = [getattr(x, "coef", x) for x in (*args, *kwargs.values())]
        return (exchanged if contains_tracer(given) else function)(*args, **kwargs)

    return call


@stands_for(polyutils.trimseq)
@functools.wraps(polyutils.trimseq)
def trimseq(seq: Any) -> Any:
    """Return coefficients without the zeros that they end with."""
    if isinstance(seq, Tracer) and seq.ndim and seq.known() is None:
        raise UnsupportedError(
            "the degree of a polynomial of traced coefficients",
            where=capture_location(),
            why="zeros at the end are cut off, and which are zero is not known while tracing",
            fix="use functions that need no degree: val, der, int, fit; or numpy.polymul and its kin",
        )
    return polyutils.trimseq(seq)


def _fit(
    vander_f: Callable[..., Any], x: Any, y: Any, deg: Any, rcond: Any = None, full: bool = False, w: Any = None
) -> Any:
    """Return the coefficients of a least-squares fit, as `numpy.polynomial.polyutils` computes them."""
    if not contains_tracer([x, y, w]):
        return _fit_of_known(vander_f, x, y, deg, rcond, full, w)
    x, y = (FUNCTIONS[np.asarray](v) + 0.0 for v in (x, y))
    _fit_of_known(vander_f, np.ones(x.shape), np.ones(y.shape), deg, full=True)  # raises what NumPy raises
    powers = np.sort(np.atleast_1d(deg)) if np.ndim(deg) else np.arange(int(deg) + 1)
    matrix = special_methods.exchange(vander_f)(x, int(powers[-1]))[:, powers]
    weights = None if w is None else (FUNCTIONS[np.asarray](w) + 0.0)[:, None]
    if weights is not None:
        matrix, y = matrix * weights, (y[:, None] * weights)[:, 0] if y.ndim == 1 else y * weights
    cutoff = len(x) * np.finfo(x.dtype).eps if rcond is None else rcond
    scale = np.sqrt((matrix.real**2 + matrix.imag**2).sum(0))
    scale = np.where(scale == 0, 1, scale)
    found, *rest = np.linalg.lstsq(matrix / scale, y, cutoff)
    found = (found.T / scale).T
    if np.ndim(deg):
        sparse, found = found, np.zeros_like(found, shape=(int(powers[-1]) + 1, *found.shape[1:]))
        found[powers] = sparse
    return (found, [*rest, cutoff]) if full else found


_fit_of_known: Callable[..., Any] = getattr(polyutils, "_fit")  # noqa: B009 - a name of NumPy's own
stands_for(_fit_of_known)(_fit)
