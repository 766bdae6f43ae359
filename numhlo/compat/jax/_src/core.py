"""`jax._src.core`: traced arrays, their types, jaxprs and primitives."""

from __future__ import annotations

from typing import Any

from numhlo.compat.jax.avals import abstract_token as abstract_token
from numhlo.compat.jax.extend.core import Effect as Effect
from numhlo.compat.jax.extend.core import get_opaque_trace_state as get_opaque_trace_state
from numhlo.compat.jax.extend.core import no_effects as no_effects
from numhlo.compat.jax.late_modules import same_names as _same_names

__all__ = ["Effect", "abstract_token", "get_opaque_trace_state", "no_effects", "physical_aval"]


def physical_aval(aval: Any) -> Any:
    """Return an abstract value as it is: keys are arrays of integers."""
    return aval


__getattr__, __dir__ = _same_names("numhlo.compat.jax.core")
