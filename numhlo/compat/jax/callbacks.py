"""Callbacks under JAX's rules: results are immutable arrays, and what a callback raises is the cause of one error."""

from __future__ import annotations

import functools
import traceback
from collections.abc import Callable
from typing import Any

from numhlo.compat.jax.arrays import immutably
from numhlo.compat.jax.errors import JaxRuntimeError
from numhlo.library.lax import callbacks
from numhlo.lowering.ir.errors import NumhloError

__all__ = ["debug_callback", "io_callback", "pure_callback"]

FIRST_LINE = "INTERNAL: CpuCallback error calling callback: "
"""How XLA's message for a callback's error begins; Python's traceback follows."""


def _raising_jax_errors(callback: Any) -> Any:
    """Return a callback whose errors are JAX's."""
    if not callable(callback):
        return callback  # what is called next refuses it

    @functools.wraps(callback, updated=())
    def called(*args: Any, **kwargs: Any) -> Any:
        try:
            return callback(*args, **kwargs)
        except NumhloError:
            raise
        except Exception as error:
            raise JaxRuntimeError(FIRST_LINE + traceback.format_exc()) from error

    return called


def _under_jax_rules(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def public(callback: Any, *args: Any, **kwargs: Any) -> Any:
        return function(_raising_jax_errors(callback), *args, **kwargs)

    return immutably(public)


pure_callback = _under_jax_rules(callbacks.pure_callback)
io_callback = _under_jax_rules(callbacks.io_callback)
debug_callback = _under_jax_rules(callbacks.debug_callback)
