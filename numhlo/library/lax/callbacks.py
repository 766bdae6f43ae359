"""`pure_callback`, `io_callback`, `debug_callback` and their kin: Python functions called from a running program."""

from __future__ import annotations

import code
import contextlib
import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.tracer.building import (
    CALLBACK_METHODS,
    Array,
    Tracer,
    call_function,
    require_callable,
    tree_flatten,
    tree_map,
    tree_unflatten,
)


def pure_callback(
    callback: Callable[..., Any],
    result_shape_dtypes: Any,
    *args: Any,
    vmap_method: str | None = None,
    **kwargs: Any,
) -> Any:
    """Call a Python function from a traced program; it must have no effects.

    The call may be left out where nobody uses its results, and happen more than once.

    Parameters
    ----------
    callback : callable
        Gets NumPy arrays; returns a pytree of arrays.
    result_shape_dtypes : pytree of ShapeDtypeStruct or arrays
        What it returns.
    *args, **kwargs : pytrees of arrays
    vmap_method : {None, "sequential", "sequential_unrolled", "expand_dims", "broadcast_all"}, optional
        Under `vmap`: call it example by example (the first three), or once, on arrays with the examples as a leading
        axis (of extent 1, with ``"expand_dims"``, where the examples share an array).

    Returns
    -------
    pytree of Array
        As described.

    Raises
    ------
    ShapeError, DTypeError, ArgumentError
        When it returns something else than was described. What it raises itself is raised.

    Examples
    --------
    >>> from numhlo.tracer.core.arguments import ShapeDtypeStruct
    >>> pure_callback(lambda x: x[::-1], ShapeDtypeStruct((2,), float), np.array([1.0, 2.0]))
    Array([2., 1.])
    """
    require_callable(callback, "pure_callback: callback")
    if vmap_method not in CALLBACK_METHODS:
        raise ArgumentError(
            f"pure_callback(vmap_method={vmap_method!r})",
            where=capture_location(),
            fix=f"use one of {CALLBACK_METHODS}",
        )
    return call_function(callback, result_shape_dtypes, args, kwargs, has_side_effect=False, vmap_method=vmap_method)


def io_callback(
    callback: Callable[..., Any], result_shape_dtypes: Any, *args: Any, ordered: bool = False, **kwargs: Any
) -> Any:
    """Call a Python function with effects from a traced program: exactly once, in program order.

    Parameters
    ----------
    callback : callable
        Gets NumPy arrays; returns a pytree of arrays.
    result_shape_dtypes : pytree of ShapeDtypeStruct or arrays
        What it returns; None for nothing.
    *args, **kwargs : pytrees of arrays
    ordered : bool, optional
        Taken for compatibility: calls are always in order. Under `vmap`, the order is that of the examples.

    Returns
    -------
    pytree of Array
        As described.

    Raises
    ------
    ShapeError, DTypeError, ArgumentError
        When it returns something else than was described. What it raises itself is raised.

    Examples
    --------
    >>> seen = []
    >>> io_callback(lambda x: seen.append(float(x)), None, 3.0)
    >>> seen
    [3.0]
    """
    require_callable(callback, "io_callback: callback")
    return call_function(callback, result_shape_dtypes, args, kwargs, has_side_effect=True)


def debug_callback(callback: Callable[..., Any], *args: Any, ordered: bool = False, **kwargs: Any) -> None:
    """Call a Python function for its effects, exactly once, in program order; what it returns is dropped.

    Parameters
    ----------
    callback : callable
        Gets NumPy arrays.
    *args, **kwargs : pytrees of arrays
    ordered : bool, optional
        Taken for compatibility: calls are always in order.

    Examples
    --------
    >>> debug_callback(lambda x: print("x is", x), 3.0)
    x is 3.0
    """
    require_callable(callback, "debug.callback: callback")

    @functools.wraps(callback, updated=())
    def dropping(*args: Any, **kwargs: Any) -> None:
        callback(*args, **kwargs)

    call_function(dropping, None, args, kwargs, has_side_effect=True)


def debug_print(fmt: str, *args: Any, ordered: bool = False, **kwargs: Any) -> None:
    """Print values when the program runs, by a format string, exactly once, in program order.

    Parameters
    ----------
    fmt : str
        As of `str.format`: ``"x = {}"``, ``"{loss:.3f}"``.
    *args, **kwargs : pytrees of arrays
        What is printed.
    ordered : bool, optional
        Taken for compatibility: prints are always in order.

    Examples
    --------
    >>> debug_print("loss {loss:.2f} after {} steps", 3, loss=0.5)
    loss 0.50 after 3 steps
    """

    def show(*args: Any, **kwargs: Any) -> None:
        text = fmt.format(*map(shown, args), **{key: shown(value) for key, value in kwargs.items()})
        print(text)  # noqa: T201 - that is what it is for

    debug_callback(show, *args, **kwargs)


def shown(value: Any) -> Any:
    """Return a value as it is formatted: numbers for arrays without dimensions."""
    return tree_map(lambda x: x[()] if isinstance(x, np.ndarray) and not x.ndim else x, value)


def debug_breakpoint(*, ordered: bool = False) -> None:
    """Stop when the program runs, at a Python prompt that has the caller's variables, arrays with their values.

    Ctrl-D, ``exit()`` or ``quit()`` goes on. Under `vmap` it stops for each example.

    Parameters
    ----------
    ordered : bool, optional
        Taken for compatibility: stops are always in order.

    Examples
    --------
    >>> import numhlo
    >>> @numhlo.jit
    ... def scaled(x):
    ...     y = x * 2
    ...     debug_breakpoint()
    ...     return y
    >>> scaled(1.0)  # doctest: +SKIP
    breakpoint at example.py:4 in scaled; Ctrl-D goes on
    >>> y  # doctest: +SKIP
    Array(2.)
    """
    frame = sys._getframe(1)
    place = f"breakpoint at {frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_name}; Ctrl-D goes on"
    leaves, tree = tree_flatten(dict(frame.f_locals))
    arrays = [k for k, x in enumerate(leaves) if isinstance(x, Tracer | np.ndarray)]
    outer = frame.f_globals

    def stop(*values: Any) -> None:
        filled = list(leaves)
        for k, value in zip(arrays, values, strict=True):
            filled[k] = np.asarray(value).view(Array)
        with contextlib.suppress(SystemExit):
            code.InteractiveConsole({**outer, **tree_unflatten(tree, filled)}).interact(place, exitmsg="")

    debug_callback(stop, *[leaves[k] for k in arrays])
