"""Names for parts of a program: they stand behind the user's line wherever that is shown."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar

from numhlo.lowering.ir import capture_location, inside_scope
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.tracer.building import require_callable

P = ParamSpec("P")
R = TypeVar("R")


@contextmanager
def named_scope(name: Any) -> Iterator[None]:
    """Name what is traced in a block; the name appears in dumps, in `explain` and in errors. Also a decorator.

    Parameters
    ----------
    name : str
        Blocks in blocks give ``outer/inner``.

    Raises
    ------
    ArgumentError
        If the name is no string, or empty.

    Notes
    -----
    Source: `jax.named_scope`.

    Examples
    --------
    >>> import numpy as np
    >>> import numhlo
    >>> def f(x):
    ...     with named_scope("scaling"):
    ...         return float(x)
    >>> numhlo.jit(f, autograph=False)(2.0)
    Traceback (most recent call last):
    ...
    numhlo.errors.ConcretizationError: float() of a traced array float64[]
      at <doctest ...>:3 in f, scaling:  return float(x)
    ...
    """
    if not isinstance(name, str) or not name:
        raise ArgumentError(
            f"named_scope({name!r})",
            where=capture_location(),
            why="names are strings",
            fix='write named_scope("encoder")',
        )
    with inside_scope(name):
        yield


def named_call(fun: Callable[P, R], *, name: str | None = None) -> Callable[P, R]:
    """Return a function whose operations are named as those of a `named_scope`.

    Parameters
    ----------
    fun : callable
    name : str, optional
        The function's own name where it is left out.

    Returns
    -------
    callable
        Same arguments and results.

    Raises
    ------
    NotCallableError
        If ``fun`` is not callable.
    ArgumentError
        When it is called, if the name is no string.

    Notes
    -----
    Source: `jax.named_call`.

    Examples
    --------
    >>> import numpy as np
    >>> named_call(np.sin, name="wave")(0.0)
    np.float64(0.0)
    """
    require_callable(fun, "named_call: fun")
    scope = getattr(fun, "__name__", type(fun).__name__).strip("<>") if name is None else name

    @functools.wraps(fun)
    def named(*args: P.args, **kwargs: P.kwargs) -> R:
        with named_scope(scope):
            return fun(*args, **kwargs)

    return named
