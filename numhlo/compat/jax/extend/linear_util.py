"""`jax.extend.linear_util`: functions wrapped in functions that change their arguments and results.

A *transformation* is a generator: it yields the arguments, is sent the result, and yields the new one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from numhlo.compat.jax.absent_names import refusing as _refusing

__all__ = [
    "StoreException", "WrappedFun", "cache", "transformation", "transformation2", "transformation_with_aux",
    "transformation_with_aux2", "wrap_init",
]  # fmt: skip


class StoreException(Exception):  # noqa: N818 - JAX's name
    """What a call leaves behind was asked for before the call."""


class Store:
    """What the last call of a transformed function left behind."""

    def __init__(self) -> None:
        self._kept: list[Any] = []

    def store(self, value: Any) -> None:
        """Keep a value."""
        self._kept[:] = [value]

    def __call__(self) -> Any:
        """Return the value.

        Raises
        ------
        StoreException
            If there has been no call.
        """
        if not self._kept:
            raise StoreException("the function has not been called")
        return self._kept[0]


class WrappedFun:
    """A function with transformations around it.

    Parameters
    ----------
    f : callable
    call : callable, optional
        What calls it through the transformations; ``f`` where left out.
    params : dict, optional
        Arguments by keyword.
    debug_info : object, optional
        What `jax.api_util.debug_info` gave.
    """

    __slots__ = ("_call", "debug_info", "f", "params")

    def __init__(
        self,
        f: Callable[..., Any],
        call: Callable[..., Any] | None = None,
        params: dict[str, Any] | None = None,
        debug_info: Any = None,
    ) -> None:
        self.f, self.params, self.debug_info = f, params or {}, debug_info
        self._call = functools.partial(f, **self.params) if call is None else call

    @property
    def __name__(self) -> str:
        return getattr(self.f, "__name__", "<unnamed function>")

    def call_wrapped(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function through its transformations."""
        return self._call(*args, **kwargs)

    def wrap(self, call: Callable[..., Any]) -> WrappedFun:
        """Return the function with one more transformation around it."""
        return WrappedFun(self.f, call, self.params, self.debug_info)

    def with_unknown_names(self) -> WrappedFun:
        """Return the function: arguments are named where they are looked at."""
        return self

    def __repr__(self) -> str:
        return f"<wrapped {self.f!r}>"


def wrap_init(f: Callable[..., Any], params: dict[str, Any] | None = None, *, debug_info: Any = None) -> WrappedFun:
    """Wrap a function.

    Examples
    --------
    >>> wrap_init(abs).call_wrapped(-1)
    1
    """
    return WrappedFun(f, None, params, debug_info)


def transformation2(function: Callable[..., Any]) -> Callable[..., WrappedFun]:
    """Make a transformation of ``function(f, *static, *args, **kwargs) -> result``.

    Examples
    --------
    >>> @transformation2
    ... def negated(f, x):
    ...     return -f(x)
    >>> negated(wrap_init(abs)).call_wrapped(-1)
    -1
    """

    def around(fun: WrappedFun, *static: Any) -> WrappedFun:
        return fun.wrap(functools.partial(function, fun.call_wrapped, *static))

    return around


def transformation(generator: Callable[..., Any]) -> Callable[..., WrappedFun]:
    """Make a transformation of ``generator(*static, *args, **kwargs)``.

    Examples
    --------
    >>> @transformation
    ... def negated(x):
    ...     result = yield (x,), {}
    ...     yield -result
    >>> negated(wrap_init(abs)).call_wrapped(-1)
    -1
    """
    return transformation2(_driven(generator))


def _driven(generator: Callable[..., Any]) -> Callable[..., Any]:
    def run(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        steps = generator(*args, **kwargs)
        given, named = next(steps)
        result = steps.send(f(*given, **named))
        steps.close()
        return result

    return run


def transformation_with_aux2(function: Callable[..., Any]) -> Callable[..., tuple[WrappedFun, Store]]:
    """Make a transformation of ``function(f, store, *static, *args, **kwargs)``, which keeps something."""

    def around(fun: WrappedFun, *static: Any) -> tuple[WrappedFun, Store]:
        store = Store()
        return fun.wrap(functools.partial(function, fun.call_wrapped, store, *static)), store

    return around


def transformation_with_aux(generator: Callable[..., Any]) -> Callable[..., tuple[WrappedFun, Store]]:
    """Make a transformation of a generator that yields the new result and what the call leaves behind."""
    run = _driven(generator)

    def function(f: Callable[..., Any], store: Store, *args: Any, **kwargs: Any) -> Any:
        result, left = run(f, *args, **kwargs)
        store.store(left)
        return result

    return transformation_with_aux2(function)


def cache(call: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """Return a function of wrapped functions as it is: equal ones are not told from each other."""
    return call


__getattr__ = _refusing(__name__)
