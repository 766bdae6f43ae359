"""NumPy's polynomial modules of traced coefficients: their functions are traced from NumPy's own Python source."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from numhlo.tracer.core.operands import contains_tracer
from numhlo.tracer.python import special_methods


def is_of_series(value: Any) -> bool:
    """Return whether a function, a class or an object is of NumPy's polynomial modules.

    Examples
    --------
    >>> import numpy as np
    >>> is_of_series(np.polynomial.chebyshev.chebval), is_of_series(np.polyval)
    (True, False)
    """
    own = getattr(value, "__module__", None)
    return (own if isinstance(own, str) else type(value).__module__).startswith(special_methods.SERIES)


def of_traced_series(exchanged: Callable[..., Any], function: Callable[..., Any]) -> Any:
    """Return a function whose calls of traced arrays are of another one's code; what is known is left to NumPy."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = [getattr(x, "coef", x) for x in (*args, *kwargs.values())]
        return (exchanged if contains_tracer(given) else function)(*args, **kwargs)

    return call
