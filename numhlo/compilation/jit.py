"""`jit` and its options. `jitting` makes what it returns, and is loaded for the first function that is jitted."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypedDict, TypeVar, Unpack, overload

import numpy as np

from numhlo.compilation.garbage import load
from numhlo.compilation.signature import Names, Numbers

if TYPE_CHECKING:
    from numhlo.compilation.jitted_function import JittedFunction
    from numhlo.compilation.laid_out_function import InLayouts, OutLayouts

P = ParamSpec("P")
R = TypeVar("R")


class JitOptions(TypedDict, total=False):
    """The options of `jit`, for type checkers."""

    static_argnums: Numbers
    static_argnames: Names
    donate_argnums: Numbers
    donate_argnames: Names
    keep_unused: bool
    inline: bool
    tier0: bool | None
    check: str | Iterable[str] | None
    autograph: bool | None
    in_layouts: InLayouts
    out_layouts: OutLayouts


class Jit(Protocol):
    """`jit` with its options given: a decorator that keeps the function's signature, for type checkers."""

    def __call__(self, fun: Callable[P, R], /) -> JittedFunction[P, R]:
        """Jit a function."""
        ...


@overload
def jit(fun: np.ufunc, /, **options: Unpack[JitOptions]) -> JittedFunction[..., Any]: ...
@overload
def jit(fun: Callable[P, R], /, **options: Unpack[JitOptions]) -> JittedFunction[P, R]: ...
@overload
def jit(fun: None = None, /, **options: Unpack[JitOptions]) -> Jit: ...
def jit(  # noqa: PLR0913 - options by keyword
    fun: Callable[..., Any] | None = None,
    /,
    *,
    static_argnums: Numbers = None,
    static_argnames: Names = None,
    donate_argnums: Numbers = None,
    donate_argnames: Names = None,
    keep_unused: bool = False,
    inline: bool = False,
    tier0: bool | None = None,
    check: str | Iterable[str] | None = None,
    autograph: bool | None = None,
    in_layouts: InLayouts = None,
    out_layouts: OutLayouts = None,
) -> Any:
    """Make a function that is traced on its first call with new shapes and dtypes, compiled, and from then on run so.

    Parameters
    ----------
    fun : callable, optional
        Written against NumPy. Without it a decorator is returned.
    static_argnums, static_argnames : int, str, or a sequence of them, optional
        Arguments that are Python values while tracing; the function is traced again for each distinct one.
    donate_argnums, donate_argnames : int, str, or a sequence of them, optional
        Arguments whose memory may be reused for results; their contents are undefined after the call.
    keep_unused : bool, optional
        Accepted for compatibility: arguments that the function does not use are always kept.
    inline : bool, optional
        Inside another traced function, trace the body in place instead of making a function call.
    tier0 : bool, optional
        Whether NumPy answers the first calls while kernels compile, which is the default; False makes the first call of
        each signature wait for machine code.
    check : str or iterable of str, optional
        ``"nan"``, ``"inf"``, ``"bounds"``, ``"overflow"``, several of them (``"nan,inf"``), or ``"all"``: run op by op
        on NumPy and stop at the first op that makes a NaN of numbers, an infinity of finite ones, reads or writes
        outside an array, or leaves the range of a signed integer. The error names the op, the line, the round of a
        loop and the lane of a map; arguments are left as they were. Inside another jitted function its `check` holds.
    autograph : bool, optional
        Whether the function's `if`, `while` and ``for i in range(n)``, and those of your functions that it calls, are
        rewritten into control flow, so that they work on traced values. By default they are where the function needs
        it, which its source shows, or else its first trace; True rewrites from the start, False never.
    in_layouts : sequence of Layout, optional
        How positional arguments lie in memory, None for C's order: those that lie so are not copied.
    out_layouts : Layout, or sequence of Layout, optional
        How the result lies in memory, or the elements of a tuple of results. Kernels write results so where they can;
        ``explain`` names copies where not. `lower` shows layouts as attributes.

    Returns
    -------
    JittedFunction
        With methods ``trace lower eval_shape cache_info explain clear_cache wait``; works as a method, too: an object
        whose class is no registered pytree is then a static argument, told apart by identity, or by value where its
        class defines ``__hash__``.

    Raises
    ------
    StaticArgumentError
        When called, if a static argument can't be hashed.
    DTypeError
        When called, if an argument is no array, number, or pytree of them; the message names it.
    MutationError
        When called, if the function writes into an argument that is read-only or shares memory with another one.
    InvalidValueError, IntegerOverflowError, AxisOutOfBoundsError
        When called, if a check finds something.

    Examples
    --------
    >>> import numpy as np
    >>> @jit
    ... def double(x):
    ...     return x + x
    >>> double(np.arange(3))
    Array([0, 2, 4])
    """
    if fun is None or isinstance(fun, staticmethod):
        again = functools.partial(
            jit,
            static_argnums=static_argnums,
            static_argnames=static_argnames,
            donate_argnums=donate_argnums,
            donate_argnames=donate_argnames,
            keep_unused=keep_unused,
            inline=inline,
            tier0=tier0,
            check=check,
            autograph=autograph,
            in_layouts=in_layouts,
            out_layouts=out_layouts,
        )
        return again if fun is None else staticmethod(again(fun.__func__))
    return _making().jitted(
        fun,
        static_argnums=static_argnums,
        static_argnames=static_argnames,
        donate_argnums=donate_argnums,
        donate_argnames=donate_argnames,
        inline=inline,
        tier0=tier0,
        check=check,
        autograph=autograph,
        layouts=(in_layouts, out_layouts),
    )


@functools.cache
def _making() -> Any:
    """Load what makes jitted functions, once, and with it all that traces: names alone cost no time."""
    return load(lambda: import_module("numhlo.compilation.jitting"))
