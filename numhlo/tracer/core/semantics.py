"""Whose rules hold for writing while tracing: NumPy's, or JAX's, where arrays never change.

Under JAX's rules ``y += 1`` binds the name again, assignment to elements is refused, and nothing is written back to the
caller. `numhlo.compat.jax` asks for them; everything else has NumPy's. What they say of types is in `type_rules`.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import NoReturn

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ImmutableArrayError
from numhlo.lowering.ir.scoped_values import ScopedValue
from numhlo.tracer.core.jax_types import jax_rules
from numhlo.tracer.core.type_rules import NUMPY, TypeRules, binding_rules, type_rules

strict_integer_powers: ScopedValue[bool] = ScopedValue(False)
"""Whether a Python int to the power of one that is not known raises: it may be a float."""

windows_are_checked: ScopedValue[bool] = ScopedValue(False)
"""Whether somebody looks, after tracing, that slices of known width lie inside their arrays in all rounds."""


def immutable_arrays(flag: bool = True) -> AbstractContextManager[TypeRules]:
    """Let JAX's rules hold in the block, for writing and for types; with ``False``, NumPy's."""
    return binding_rules(jax_rules() if flag else NUMPY)


def are_arrays_immutable() -> bool:
    """Return whether JAX's rules hold now."""
    return type_rules().arrays_are_immutable


def refuse_write(what: str, fix: str = "x = x.at[index].set(value)") -> NoReturn:
    """Raise the error for writing into an array that JAX's rules make immutable."""
    raise ImmutableArrayError(
        f"{what}: arrays are immutable under JAX's rules",
        where=capture_location(),
        why="numhlo.compat.jax has JAX's semantics; numhlo itself has NumPy's, where this works",
        fix=f"use {fix}",
    )
