"""Pooling: the largest, smallest or mean element of every window. Names and signatures are those of flax.linen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.library.lax.windows import reduce_window
from numhlo.library.numpy.elementwise import divide
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, ShapeError
from numhlo.lowering.ops import elementwise as ops
from numhlo.lowering.ops.cumulative import initial_value
from numhlo.tracer.building import asarray, bind1, full_of, runs_anywhere, shape_of, spelling

__all__ = ["avg_pool", "max_pool", "min_pool"]


def _pool(inputs: Any, kind: str, window_shape: Sequence[int], strides: Any, padding: Any) -> Any:
    array = asarray(inputs)
    sizes = tuple(map(int, window_shape))
    batch = len(shape_of(array)) - len(sizes) - 1
    if batch < 0:
        raise ShapeError(
            f"pooling of {spelling(array)} by windows {list(sizes)}",
            where=capture_location(),
            why="the last axis holds features; windows go over those before it",
        )
    steps = (1,) * len(sizes) if strides is None else tuple(map(int, strides))
    if len(steps) != len(sizes):
        raise ArgumentError(f"pooling: strides={strides!r} for windows {list(sizes)}", where=capture_location())
    pads = padding
    if not isinstance(padding, str):
        pads = (*((0, 0),) * batch, *[tuple(pair) for pair in padding], (0, 0))
    op = {"cumsum": ops.ADD, "cummax": ops.MAXIMUM, "cummin": ops.MINIMUM}[kind]
    initial = np.zeros((), array.dtype) if kind == "cumsum" else initial_value(kind, array.dtype)
    ones = (1,) * batch
    return reduce_window(array, initial, lambda x, y: bind1(op, x, y), (*ones, *sizes, 1), (*ones, *steps, 1), pads)


@runs_anywhere
def max_pool(inputs: Any, window_shape: Sequence[int], strides: Any = None, padding: Any = "VALID") -> Any:
    """Return the largest element of every window.

    Parameters
    ----------
    inputs : array
        ``(batch, spatial dimensions, features)``; any number of batch dimensions.
    window_shape : sequence of int
        One for each spatial dimension.
    strides : sequence of int, optional
        1 where left out.
    padding : str or sequence of (int, int), optional
        ``"VALID"``, ``"SAME"``, or widths before and after each spatial dimension.

    Returns
    -------
    Array
        Of the dtype of ``inputs``; borders do not count.

    Raises
    ------
    ShapeError
        If there are fewer axes than the windows need.
    ArgumentError
        If windows and strides differ in number.

    Examples
    --------
    >>> max_pool(np.array([3, 1, 4, 1, 5, 9]).reshape(1, 6, 1), (2,), (2,)).ravel()
    Array([3, 4, 9])
    """
    return _pool(inputs, "cummax", window_shape, strides, padding)


@runs_anywhere
def min_pool(inputs: Any, window_shape: Sequence[int], strides: Any = None, padding: Any = "VALID") -> Any:
    """Return the smallest element of every window; parameters are those of `max_pool`.

    Parameters
    ----------
    inputs, window_shape, strides, padding : optional
        As those of `max_pool`.

    Returns
    -------
    Array
        Of the dtype of ``inputs``; borders do not count.

    Examples
    --------
    >>> min_pool(np.array([3, 1, 4, 1, 5, 9]).reshape(1, 6, 1), (2,), (2,)).ravel()
    Array([1, 1, 5])
    """
    return _pool(inputs, "cummin", window_shape, strides, padding)


@runs_anywhere
def avg_pool(
    inputs: Any,
    window_shape: Sequence[int],
    strides: Any = None,
    padding: Any = "VALID",
    count_include_pad: bool = True,
) -> Any:
    """Return the mean of every window; parameters are those of `max_pool`.

    Parameters
    ----------
    inputs : array
    window_shape, strides, padding
        As for `max_pool`.
    count_include_pad : bool, optional
        Divide by the window's size; else by the number of its elements that lie in the array.

    Returns
    -------
    Array
        Of the dtype of ``inputs`` where that is a float; borders are zeros.

    Examples
    --------
    >>> avg_pool(np.array([3, 1, 4, 1, 5, 9]).reshape(1, 6, 1), (2,), (2,)).ravel()
    Array([2. , 2.5, 7. ])
    """
    array = asarray(inputs)
    total = _pool(array, "cumsum", window_shape, strides, padding)
    if count_include_pad:
        return divide(total, math.prod(map(int, window_shape)))
    counts = _pool(full_of(1, shape_of(array), array.dtype), "cumsum", window_shape, strides, padding)
    return divide(total, counts)
