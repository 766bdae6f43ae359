"""Modules of numhlo seen under JAX's rules: functions return immutable arrays, everything else is the same object."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from numhlo.compat.jax.arrays import immutably
from numhlo.tracer.namespace.elementwise import Ufunc

METHODS = ("reduce", "accumulate", "outer")


def seen_as_jax(module: ModuleType, name: str) -> Any:
    """Return an attribute of a module, a function wrapped.

    Raises
    ------
    AttributeError
        If the module has no such name.
    """
    if name.startswith("__"):
        raise AttributeError(name)
    value = getattr(module, name)
    if isinstance(value, type | ModuleType) or not callable(value):
        return value
    wrapped: Any = immutably(value)
    if isinstance(value, Ufunc):
        for method in METHODS:
            setattr(wrapped, method, immutably(getattr(value, method)))
    return wrapped
