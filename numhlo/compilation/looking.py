"""Blocks in which numhlo checks or says more, under JAX's names; and forgetting what was compiled."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from numhlo.compilation.cache import clear_all
from numhlo.switches import using, value_of


@contextmanager
def _checking(what: str, enabled: bool) -> Iterator[None]:
    others: frozenset[str] = value_of("check") - {what}
    with using(check=others | {what} if enabled else others):
        yield


@contextmanager
def debug_nans(enabled: bool = True) -> Iterator[None]:
    """Stop jitted functions, in a block, at the first op that makes a NaN of numbers; they run op by op on NumPy.

    Parameters
    ----------
    enabled : bool, optional
        False turns it off again inside an outer block.

    Raises
    ------
    InvalidValueError
        When a jitted function is called in the block; the message names the op and the line.

    Notes
    -----
    Source: `jax.debug_nans`. ``debugging(check="nan")`` sets all checks at once; this one adds to those around it.

    Examples
    --------
    >>> import numhlo
    >>> import numhlo.numpy as n
    >>> with debug_nans():
    ...     numhlo.jit(lambda x: n.log(x) + 1)(-1.0)
    Traceback (most recent call last):
    ...
    numhlo.errors.InvalidValueError: log: nan in a float64[], of -1.0
    ...
    """
    with _checking("nan", enabled):
        yield


@contextmanager
def debug_infs(enabled: bool = True) -> Iterator[None]:
    """Stop jitted functions, in a block, at the first op that makes an infinity of finite numbers.

    Parameters
    ----------
    enabled : bool, optional
        False turns it off again inside an outer block.

    Raises
    ------
    InvalidValueError
        When a jitted function is called in the block; the message names the op and the line.

    Notes
    -----
    Source: `jax.debug_infs`.

    Examples
    --------
    >>> import numhlo
    >>> with debug_infs():
    ...     numhlo.jit(lambda x: 1 / x)(0.0)
    Traceback (most recent call last):
    ...
    numhlo.errors.InvalidValueError: divide: inf in a float64[], of 1.0, 0.0
    ...
    """
    with _checking("inf", enabled):
        yield


@contextmanager
def log_compiles(enabled: bool = True) -> Iterator[None]:
    """Say on standard error, in a block, which functions are traced and compiled, for which arguments, and why.

    Parameters
    ----------
    enabled : bool, optional
        False turns it off again inside an outer block.

    Notes
    -----
    Source: `jax.log_compiles`. `debugging` has more to look at.

    Examples
    --------
    >>> import numhlo
    >>> with log_compiles():
    ...     numhlo.jit(lambda x: x + 1)(1)  # numhlo: lambda(x: Python int) is traced; first: ...
    Array(2)
    """
    with using(explain_cache=enabled):
        yield


def clear_caches() -> None:
    """Forget everything that was traced and compiled in this process; kernels on disk stay.

    Notes
    -----
    Source: `jax.clear_caches`. One function's cache is emptied by its `clear_cache`.

    Examples
    --------
    >>> import numhlo
    >>> f = numhlo.jit(lambda x: x + 1)
    >>> f(1), f.cache_info().currsize
    (Array(2), 1)
    >>> clear_caches()
    >>> f.cache_info().currsize
    0
    """
    clear_all()
    backend = sys.modules.get("numhlo.backend.kernel_cache")
    if backend is not None:  # else there are no kernels
        backend.kernel_cache().clear()
