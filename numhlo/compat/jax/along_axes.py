"""`jax.numpy.apply_along_axis` and `vectorize`, whose user functions see and return immutable arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numhlo.numpy
from numhlo.compat.jax.arrays import immutably, thawed
from numhlo.compat.jax.transformations import traced_immutably
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.tracer.core.callable_arguments import require_callable


@immutably
def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """Apply a function to the vectors along an axis; NumPy's loop writes into arrays like its first result."""
    return numhlo.numpy.apply_along_axis(lambda *x, **y: thawed(func1d(*x, **y)), axis, arr, *args, **kwargs)


def vectorize(pyfunc: Callable[..., Any], *, excluded: Any = frozenset(), signature: str | None = None) -> Any:
    """Return a function of arrays that applies one of elements, or of the parts that a signature names.

    What is None is given on as it is.
    """
    require_callable(pyfunc, "Expected a callable value: vectorize's pyfunc")
    if any(isinstance(k, int) and k < 0 for k in excluded):
        raise ArgumentError(
            f"vectorize: excluded={excluded!r} contains negative numbers", where=capture_location(), fix="count from 0"
        )
    traced = traced_immutably(pyfunc)

    @functools.wraps(pyfunc)
    def public(*args: Any, **kwargs: Any) -> Any:
        absent = {k for k, x in enumerate(args) if x is None and k not in excluded}
        if absent and signature is not None:
            raise ArgumentError(
                f"vectorize: Cannot pass None at locations {absent} with signature={signature!r}",
                where=capture_location(),
                fix="exclude them",
            )
        made = numhlo.numpy.vectorize(traced, excluded=[*excluded, *absent], signature=signature)
        return immutably(made)(*args, **kwargs)

    return public
