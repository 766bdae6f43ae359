"""`jax.experimental.checkify`: checks in traced programs, whose failure is a value that the caller looks at.

A check that fails stops the program where it stands, as an exception does; a checkified function catches it, and lets
the program run once more without checks for its results. So such a function is called outside others: ``jit`` of one
is one again, and what is mapped or differentiated stands inside it, ``checkify(vmap(f))``. Automatic checks run the
program op by op, as ``numhlo.jit(check=...)`` does.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numhlo.compat.jax.numpy as jnp
from numhlo.compat.jax.lax import cond
from numhlo.compat.jax.transformations import CHECKED, jit
from numhlo.library.lax.callbacks import debug_callback
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import (
    AxisOutOfBoundsError,
    ControlFlowTypeError,
    InvalidIndexError,
    InvalidValueError,
    NumhloError,
    UnsupportedError,
)
from numhlo.lowering.ir.scoped_values import ScopedValue
from numhlo.switches import using
from numhlo.tracer.core.trace import current_trace

__all__ = [
    "Error", "ErrorCategory", "JaxRuntimeError", "all_checks", "automatic_checks", "check", "check_error", "checkify",
    "debug_check", "div_checks", "float_checks", "index_checks", "init_error", "nan_checks", "user_checks",
]  # fmt: skip

ErrorCategory = str
"""What a check looks for."""

Checks = frozenset[ErrorCategory]

user_checks: Checks = frozenset({"user"})
nan_checks: Checks = frozenset({"nan"})
index_checks: Checks = frozenset({"bounds"})
div_checks: Checks = frozenset({"division"})
float_checks: Checks = nan_checks | div_checks
automatic_checks: Checks = float_checks | index_checks
all_checks: Checks = automatic_checks | user_checks


class JaxRuntimeError(ValueError):
    """A check failed."""


class FailedCheckError(JaxRuntimeError):
    """On its way from a check to the checkified function around it."""


class Error:
    """What a checkified function found: nothing, or the first check that failed.

    Parameters
    ----------
    message : str, optional
    """

    def __init__(self, message: str | None = None) -> None:
        self._message = message

    def get(self) -> str | None:
        """Return what failed, or None."""
        return self._message

    def throw(self) -> None:
        """Raise `JaxRuntimeError` if a check failed."""
        if self._message is not None:
            raise JaxRuntimeError(self._message)

    def __repr__(self) -> str:
        return f"Error({self._message or ''})"


init_error = Error()
_silent = ScopedValue(False)
_functional = ScopedValue(False)


def check(pred: Any, msg: str, *fmt_args: Any, **fmt_kwargs: Any) -> None:
    """Check that a condition holds when the program runs.

    Parameters
    ----------
    pred : bool scalar
        Traced or not.
    msg : str
        What to say if it is False, with places as `str.format` has them.
    *fmt_args, **fmt_kwargs : array
        What stands in the places.

    Raises
    ------
    ControlFlowTypeError
        If the condition is no bool scalar.
    JaxRuntimeError
        If it is False, and no checkified function is around; `checkify` makes it a value.

    Examples
    --------
    >>> import numhlo.compat.jax as jax
    >>> def root(x):
    ...     check(x >= 0, "no root of {}", x)
    ...     return jax.numpy.sqrt(x)
    >>> error, value = jax.jit(checkify(root))(-1.0)
    >>> error.get()
    'no root of -1.0 (`check` failed)'
    """
    holds = jnp.asarray(pred)
    if holds.shape != () or holds.dtype != bool:
        raise ControlFlowTypeError(
            f"check takes a bool scalar, got {holds.dtype}{[*holds.shape]}",
            where=capture_location(),
            fix="use jnp.all(pred)",
        )

    def fail(*args: Any, **kwargs: Any) -> None:
        if not _silent.get():
            raise FailedCheckError(f"{msg.format(*args, **kwargs)} (`check` failed)")

    if current_trace() is None:
        if not holds:
            fail(*fmt_args, **fmt_kwargs)
        return
    cond(holds, lambda: None, lambda: debug_callback(fail, *fmt_args, **fmt_kwargs))


def debug_check(pred: Any, msg: str, *fmt_args: Any, **fmt_kwargs: Any) -> None:
    """Check a condition as `check` does, inside checkified functions alone."""
    if _functional.get():
        check(pred, msg, *fmt_args, **fmt_kwargs)


def check_error(error: Error) -> None:
    """Check that a checkified function found nothing.

    Parameters
    ----------
    error : Error

    Raises
    ------
    JaxRuntimeError
        If it did.
    """
    if error.get() is not None:
        raise FailedCheckError(error.get())


def checkify(f: Callable[..., Any], errors: Checks = user_checks) -> Callable[..., tuple[Error, Any]]:
    """Make a function that returns what its checks found, and what the function returns.

    Parameters
    ----------
    f : callable
    errors : frozenset, optional
        What to check: ``user_checks``, ``nan_checks``, ``div_checks``, ``index_checks``, any union of these.

    Returns
    -------
    callable
        Returns an `Error` and the function's result. It is compiled already: `jit` of it is the same.

    Raises
    ------
    UnsupportedError
        When called inside another traced function.

    Notes
    -----
    Source: `jax.experimental.checkify.checkify`. ``div_checks`` finds no division by zero behind another operation that
    makes an infinity of finite numbers. Of many examples, the first that fails is told.

    Examples
    --------
    >>> import numhlo.compat.jax as jax
    >>> error, _ = checkify(jax.numpy.log, errors=nan_checks)(-1.0)
    >>> print(error.get())
    nan generated by primitive: log. at ...
    """
    return _made(f, errors, {})


def _made(f: Callable[..., Any], errors: Checks, options: dict[str, Any]) -> Callable[..., tuple[Error, Any]]:
    compiled = jit(f, **options)
    wanted = errors & {"nan", "bounds"}  # as `numhlo.jit` calls them
    looked_for = wanted | {"nan", "inf"} if "division" in errors else wanted

    def run(checks: Checks, args: Any, kwargs: Any) -> tuple[Error, Any] | None:
        """Return what is found, and the result if that is nothing; None if it is something that nobody asked for."""
        try:
            with using(check=checks) if checks else nullcontext():
                return Error(), compiled(*args, **kwargs)
        except FailedCheckError as failed:
            return Error(str(failed)), None
        except (InvalidValueError, AxisOutOfBoundsError, InvalidIndexError) as error:
            told = _told(error, errors)
            return None if told is None else (Error(told), None)

    @functools.wraps(f)
    def checked(*args: Any, **kwargs: Any) -> tuple[Error, Any]:
        if current_trace() is not None:
            raise UnsupportedError(
                f"a checkified function, {getattr(f, '__name__', 'f')}, called inside a traced one",
                where=capture_location(),
                why="what is found is told when a call has ended",
                fix="call it outside: jit(checkify(f)), checkify(vmap(f)), checkify(grad(f))",
            )
        with _functional.bound(True), _silent.bound("user" not in errors):
            found, result = run(looked_for, args, kwargs) or run(wanted, args, kwargs) or (Error(), None)
        if found.get() is None:
            return found, result
        with _functional.bound(True), _silent.bound(True):
            return found, compiled(*args, **kwargs)

    CHECKED[checked] = lambda more: _made(f, errors, {**options, **more})
    return checked


def _told(error: NumhloError, errors: Checks) -> str | None:
    """Return what JAX says of an error, and the user's line; None if it is not what is looked for."""
    where = "" if error.where is None else f" at {error.where.describe()}"
    found = re.match(r"(.*?): (nan|inf) ", error.what)
    if found is None:
        return f"out-of-bounds indexing: {error.what}{where}"
    if "division" in errors and found[1] in ("divide", "remainder") and re.search(r", -?0\.0$", error.what):
        return f"division by zero{where}"
    if "nan" in errors and found[2] == "nan":
        return f"nan generated by primitive: {found[1]}.{where}"
    return None
