"""`jax.numpy.apply_along_axis` and `vectorize`, whose user functions see and return immutable arrays."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import numhlo.numpy
from numhlo.compat.jax.arrays import immutably, thawed
from numhlo.compat.jax.transformations import traced_immutably
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, DTypeError
from numhlo.tracer.core.callable_arguments import require_callable


@immutably
def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """Apply a function to the vectors along an axis; NumPy's loop writes into arrays like its first result."""
    return numhlo.numpy.apply_along_axis(lambda *x, **y: thawed(func1d(*x, **y)), axis, arr, *args, **kwargs)


def _require_cores(signature: str, arrays: Sequence[Any]) -> None:
    """Raise where an array has fewer dimensions than the signature names.

    Raises
    ------
    ArgumentError
        If one has.
    """
    groups = re.findall(r"\(([^)]*)\)", signature.partition("->")[0])
    for names, x in zip(groups, arrays, strict=False):
        core = [name.strip() for name in names.split(",") if name.strip()]
        if np.ndim(x) < len(core):
            raise ArgumentError(
                f"vectorize: input with shape {np.shape(x)} does not have enough dimensions for all core dimensions "
                f"{tuple(core)}",
                where=capture_location(),
                fix=f"the signature is {signature!r}",
            )


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
    count = None if signature is None else len(re.findall(r"\(", signature.partition("->")[2]))

    @functools.wraps(pyfunc)
    def counted(*args: Any, **kwargs: Any) -> Any:
        found = traced(*args, **kwargs)
        own = len(found) if isinstance(found, tuple) else 1
        if count is not None and own != count:
            raise DTypeError(
                f"vectorize: wrong number of output arguments: expected {count}, got {own}",
                where=capture_location(),
                why=f"the signature is {signature!r}",
            )
        return found

    @functools.wraps(pyfunc)
    def public(*args: Any, **kwargs: Any) -> Any:
        absent = {k for k, x in enumerate(args) if x is None and k not in excluded}
        if absent and signature is not None:
            raise ArgumentError(
                f"vectorize: Cannot pass None at locations {absent} with signature={signature!r}",
                where=capture_location(),
                fix="exclude them",
            )
        if signature is not None:
            _require_cores(signature, [x for k, x in enumerate(args) if k not in excluded])
        made = numhlo.numpy.vectorize(counted, excluded=[*excluded, *absent], signature=signature)
        return immutably(made)(*args, **kwargs)

    return public
