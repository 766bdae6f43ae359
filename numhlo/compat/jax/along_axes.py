"""`jax.numpy.apply_along_axis` and `vectorize`, whose user functions see and return immutable arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numhlo.numpy
from numhlo.compat.jax.arrays import immutably, thawed
from numhlo.compat.jax.transformations import traced_immutably


@immutably
def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """Apply a function to the vectors along an axis; NumPy's loop writes into arrays like its first result."""
    return numhlo.numpy.apply_along_axis(lambda *x, **y: thawed(func1d(*x, **y)), axis, arr, *args, **kwargs)


def vectorize(pyfunc: Callable[..., Any], *, excluded: Any = frozenset(), signature: str | None = None) -> Any:
    """Return a function of arrays that applies one of elements, or of the parts that a signature names."""
    return immutably(numhlo.numpy.vectorize(traced_immutably(pyfunc), excluded=excluded, signature=signature))
