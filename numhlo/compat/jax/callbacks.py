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
from numhlo.tracer.core.callable_arguments import require_callable
from numhlo.tracer.python.callbacks import call_function

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


_calling = _under_jax_rules(call_function)
_pure_callback = _under_jax_rules(callbacks.pure_callback)


def pure_callback(
    callback: Any,
    result_shape_dtypes: Any,
    *args: Any,
    sharding: Any = None,
    vmap_method: str | None = None,
    **kwargs: Any,
) -> Any:
    """Call a Python function without effects; see `numhlo.pure_callback`. Without a method, `vmap` refuses it."""
    del sharding
    if vmap_method is not None:
        return _pure_callback(callback, result_shape_dtypes, *args, vmap_method=vmap_method, **kwargs)
    require_callable(callback, "pure_callback: callback")
    return _calling(callback, result_shape_dtypes, args, kwargs, has_side_effect=False, vmap_method="none")


def io_callback(
    callback: Any, result_shape_dtypes: Any, *args: Any, sharding: Any = None, ordered: bool = False, **kwargs: Any
) -> Any:
    """Call a Python function with effects; see `numhlo.io_callback`. Those in order are not for `vmap`."""
    del sharding
    require_callable(callback, "io_callback: callback")
    method = "ordered" if ordered else None
    return _calling(callback, result_shape_dtypes, args, kwargs, has_side_effect=True, vmap_method=method)


debug_callback = _under_jax_rules(callbacks.debug_callback)
