"""`numhlo.progress`: loops that say how far they are.

Each stands for the loop of the same name in `numhlo.lax`, cut into parts: a part runs in machine code as ever, and says
between parts how far the whole is. A loop that does not ask for this has none of it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, TextIO

import numpy as np

import numhlo.numpy as nnp
from numhlo import debug, lax
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.tracer.control_flow.bodies import is_known, known_value
from numhlo.tracer.trees.pytrees import tree_leaves, tree_map

__all__ = ["Bar", "fori_loop", "scan", "while_loop"]


def __dir__() -> list[str]:
    return __all__


UPDATES = 100
"""How often a loop of known length says how far it is."""

WIDTH = 30

Show = Callable[[int, "int | None"], None]


class Bar:
    """A bar that grows on standard error, in a terminal as in a notebook.

    Parameters
    ----------
    label : str, optional
    stream : text stream, optional
        Standard error where left out.

    Examples
    --------
    >>> bar = Bar("waiting", sys.stdout)
    >>> bar(5, 10)  # doctest: +SKIP
    waiting [###############               ]  50 %, 0.0 s
    """

    def __init__(self, label: str = "", stream: TextIO | None = None) -> None:
        self.label, self._stream = label, stream
        self._start = time.monotonic()
        self._last = 0

    def __call__(self, done: int, total: int | None) -> None:
        """Show that so many rounds of a total (None where nobody knows) are done."""
        stream = sys.stderr if self._stream is None else self._stream
        if done < self._last:
            self._start = time.monotonic()  # the loop runs again
        self._last = done
        if total is None:
            shown, ended = f"{done} rounds", False
        else:
            part = done / total if total else 1.0
            shown, ended = f"[{'#' * int(part * WIDTH):{WIDTH}}] {part:4.0%}", done >= total
        text = f"{self.label} {shown}, {time.monotonic() - self._start:.1f} s".strip()
        stream.write(f"\r{text}{chr(10) if ended else ''}")
        stream.flush()


def _tell(show: Show, done: Any, total: Any) -> None:
    """Let a running program say how far it is."""
    if total is None:
        debug.callback(lambda done: show(int(done), None), done)
    else:
        debug.callback(lambda done, total: show(int(done), int(total)), done, total)


def _checked(what: str, name: str, number: int) -> int:
    if number < 1:
        raise ArgumentError(f"progress.{what}: {name}={number}", where=capture_location(), fix="use a positive number")
    return number


def fori_loop(
    lower: Any,
    upper: Any,
    body_fun: Callable[[Any, Any], Any],
    init_val: Any,
    *,
    show: Show | None = None,
    updates: int = UPDATES,
) -> Any:
    """Return what `lax.fori_loop` does, and show how far it is.

    Parameters
    ----------
    lower, upper : integer scalar
    body_fun : callable
        ``body_fun(i, val) -> val``.
    init_val : pytree
    show : callable, optional
        ``show(done, total)``, about ``updates`` times, in program order; a `Bar` where left out.
    updates : int, optional

    Returns
    -------
    pytree
        The last ``val``.

    Raises
    ------
    ArgumentError
        If ``updates`` is not positive.

    Notes
    -----
    Under `vmap` it speaks once for all examples where the bounds are the same for all, else for each of them. Under
    `grad` it speaks as the loop runs forward; the bounds must then be concrete, as for `lax.fori_loop`.

    Examples
    --------
    >>> import numhlo
    >>> f = numhlo.jit(lambda x: fori_loop(0, 8, lambda i, y: y * 2, x, show=print, updates=2))
    >>> print(f(1.0))
    4 8
    8 8
    256.0
    """
    _checked("fori_loop", "updates", updates)
    speak = Bar() if show is None else show
    if is_known(lower) and is_known(upper):
        return _counted(int(known_value(lower)), int(known_value(upper)), body_fun, init_val, speak, updates)
    total = nnp.maximum(upper - lower, 0)
    part = nnp.maximum((total + updates - 1) // updates, 1)

    def run(k: Any, value: Any) -> Any:
        start = lower + k * part
        stop = nnp.minimum(start + part, upper)
        value = lax.fori_loop(start, stop, body_fun, value)
        _tell(speak, stop - lower, total)
        return value

    return lax.fori_loop(0, (total + part - 1) // part, run, init_val)


def _counted(lower: int, upper: int, body_fun: Callable[..., Any], init_val: Any, show: Show, updates: int) -> Any:
    """Run a loop between known bounds: equal parts, then what is left, so that all of them can be differentiated."""
    total = max(upper - lower, 0)
    part = max(1, -(-total // updates))

    def run(k: Any, value: Any) -> Any:
        start = lower + k * part
        value = lax.fori_loop(0, part, lambda i, v: body_fun(start + i, v), value)
        _tell(show, (k + 1) * part, total)
        return value

    value = lax.fori_loop(0, total // part, run, init_val)
    rest = total // part * part
    if rest < total:
        value = lax.fori_loop(lower + rest, upper, body_fun, value)
        _tell(show, np.int64(total), total)
    return value


def while_loop(
    cond_fun: Callable[[Any], Any],
    body_fun: Callable[[Any], Any],
    init_val: Any,
    *,
    every: int = 100_000,
    show: Show | None = None,
) -> Any:
    """Return what `lax.while_loop` does, and show how many rounds it has gone.

    Parameters
    ----------
    cond_fun, body_fun : callable
    init_val : pytree
    every : int, optional
        Rounds between two words.
    show : callable, optional
        ``show(done, None)``; a `Bar` where left out.

    Returns
    -------
    pytree
        The last ``val``.

    Raises
    ------
    ArgumentError
        If ``every`` is not positive.

    Examples
    --------
    >>> import numhlo
    >>> f = numhlo.jit(lambda n: while_loop(lambda k: k < n, lambda k: k + 1, 0, every=4, show=print))
    >>> print(f(9))
    4 None
    8 None
    9 None
    9
    """
    _checked("while_loop", "every", every)
    speak = Bar() if show is None else show

    def run(state: tuple[Any, Any]) -> tuple[Any, Any]:
        done, value = state
        gone, value = lax.while_loop(
            lambda s: (s[0] < every) & cond_fun(s[1]), lambda s: (s[0] + 1, body_fun(s[1])), (0, value)
        )
        _tell(speak, done + gone, None)
        return done + gone, value

    return lax.while_loop(lambda s: cond_fun(s[1]), run, (0, init_val))[1]


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    *,
    show: Show | None = None,
    updates: int = UPDATES,
) -> tuple[Any, Any]:
    """Return what `lax.scan` does, and show how far it is.

    Parameters
    ----------
    f, init, xs, length, reverse
        As for `lax.scan`.
    show : callable, optional
        ``show(done, total)``, about ``updates`` times; a `Bar` where left out.
    updates : int, optional

    Returns
    -------
    tuple
        The last carry, and what ``f`` returned beside it, stacked.

    Raises
    ------
    ArgumentError
        If ``updates`` is not positive.

    Examples
    --------
    >>> import numhlo
    >>> f = numhlo.jit(lambda x: scan(lambda c, a: (c + a, c), 0.0, x, show=print, updates=2))
    >>> print(f(np.ones(5)))
    3 5
    5 5
    (Array(5.), Array([0., 1., 2., 3., 4.]))
    """
    _checked("scan", "updates", updates)
    speak = Bar() if show is None else show
    leaves = tree_leaves(xs)
    total = np.shape(leaves[0])[0] if leaves else length
    if total is None or total == 0 or any(np.shape(x)[:1] != (total,) for x in leaves):
        return lax.scan(f, init, xs, length, reverse)  # which says what is wrong
    part = max(1, -(-total // updates))
    whole = total // part * part
    rest = (0, total - whole) if reverse else (whole, total)
    main = (total - whole, total) if reverse else (0, whole)

    def run(carry: Any, step: tuple[Any, Any]) -> tuple[Any, Any]:
        k, slices = step
        carry, ys = lax.scan(f, carry, slices, part, reverse)
        _tell(speak, k, total)
        return carry, ys

    parts = tree_map(lambda x: nnp.reshape(x[main[0] : main[1]], (whole // part, part, *np.shape(x)[1:])), xs)
    numbers = np.arange(1, whole // part + 1) * part
    carry, ys = lax.scan(run, init, (numbers[::-1] if reverse else numbers, parts), None, reverse)
    ys = tree_map(lambda y: nnp.reshape(y, (whole, *np.shape(y)[2:])), ys)
    if whole < total:
        carry, more = lax.scan(f, carry, tree_map(lambda x: x[rest[0] : rest[1]], xs), total - whole, reverse)
        _tell(speak, np.int64(total), total)
        pair = (more, ys) if reverse else (ys, more)
        ys = tree_map(lambda *y: nnp.concatenate(y), *pair)
    return carry, ys
