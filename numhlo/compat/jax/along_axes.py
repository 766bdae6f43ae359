"""`jax.numpy.apply_along_axis`, whose user function returns immutable arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numhlo.numpy
from numhlo.compat.jax.arrays import immutably, thawed


@immutably
def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """Apply a function to the vectors along an axis; NumPy's loop writes into arrays like its first result."""
    return numhlo.numpy.apply_along_axis(lambda *x, **y: thawed(func1d(*x, **y)), axis, arr, *args, **kwargs)
