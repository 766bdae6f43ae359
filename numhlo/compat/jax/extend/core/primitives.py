"""`jax.extend.core.primitives`: primitives of JAX's own operations, which equations of jaxprs have."""

from __future__ import annotations

from typing import Any

from numhlo.compat.jax.absent_names import raise_absent as _raise_absent
from numhlo.compat.jax.operation_primitives import BY_VARIABLE, primitive_named

__all__: list[str] = []


def __getattr__(name: str) -> Any:
    if name in BY_VARIABLE:
        return primitive_named(name)
    return _raise_absent(__name__, name, {})


def __dir__() -> list[str]:
    return sorted(BY_VARIABLE)
