"""Whose rules hold for writing while tracing: NumPy's, or JAX's, where arrays never change.

Under JAX's rules ``y += 1`` binds the name again, assignment to elements is refused, and nothing is written back to the
caller. `numhlo.compat.jax` asks for them; everything else has NumPy's.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import NoReturn

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ImmutableArrayError
from numhlo.lowering.ir.scoped_values import ScopedValue

_immutable = ScopedValue(False)

strict_integer_powers: ScopedValue[bool] = ScopedValue(False)
"""Whether a Python int to the power of one that is not known raises: it may be a float."""

windows_are_checked: ScopedValue[bool] = ScopedValue(False)
"""Whether somebody looks, after tracing, that slices of known width lie inside their arrays in all rounds."""


def immutable_arrays(flag: bool = True) -> AbstractContextManager[bool]:
    """Let arrays that are traced inside the block be immutable, as JAX's are; with ``False``, as NumPy's."""
    return _immutable.bound(flag)


are_arrays_immutable: Callable[[], bool] = _immutable.get
"""Returns whether JAX's rules hold now."""


def refuse_write(what: str, fix: str = "x = x.at[index].set(value)") -> NoReturn:
    """Raise the error for writing into an array that JAX's rules make immutable."""
    raise ImmutableArrayError(
        f"{what}: arrays are immutable under JAX's rules",
        where=capture_location(),
        why="numhlo.compat.jax has JAX's semantics; numhlo itself has NumPy's, where this works",
        fix=f"use {fix}",
    )
