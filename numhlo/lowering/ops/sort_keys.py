"""Guesses at what a comparator sorts by, as integer keys that NumPy can sort; `sorting` checks every guess.

A comparator is any region of any length: a plain ``compare``, JAX's twenty-op total order on floats, a lexicographic
order over several operands. Rather than prove what a region means, `candidate_keys` offers likely orders, cheapest
first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from numhlo.lowering.ir import Region, Value
from numhlo.lowering.ir.types import BOOL, COMPLEX, EXTENSIONS, FLOATS, INTEGERS
from numhlo.lowering.ops.bit_patterns import order_keys


def compared_operands(region: Region) -> list[int]:
    """Return which operands' elements the comparator's result depends on, in ascending order."""
    used: set[Value] = set()
    stack = list(region.returns)
    while stack:
        value = stack.pop()
        if value in used:
            continue
        used.add(value)
        if value.owner is not region and not isinstance(value.owner, Region):
            stack.extend(value.owner.operands)
    return sorted({k // 2 for k, value in enumerate(region.arguments) if value in used})


def candidate_keys(region: Region, arrays: Sequence[np.ndarray]) -> Iterator[list[np.ndarray]]:
    """Yield lists of integer keys, the most significant first, that the comparator may sort by, ascending.

    Parameters
    ----------
    region : Region
        The comparator.
    arrays : sequence of numpy.ndarray
        The operands.
    """
    operands = [arrays[k] for k in compared_operands(region)]
    for total in (False, True):
        keys = [key for array in operands for key in ordered_keys(array, total=total)]
        yield keys
        yield [~key for key in keys]


def ordered_keys(array: np.ndarray, *, total: bool) -> list[np.ndarray]:
    """Return integers that order as the elements do.

    Parameters
    ----------
    array : numpy.ndarray
        Any element type; complex numbers give two keys.
    total : bool
        Floats: IEEE 754 total order (by sign, then magnitude, NaNs outermost) instead of the order in which zeros are
        equal and NaNs are equal and last.

    Examples
    --------
    >>> ordered_keys(np.array([1.5, -1.5, np.nan, -0.0, 0.0], np.float16), total=False)[0].argsort(kind="stable")
    array([1, 3, 4, 0, 2])
    """
    if array.dtype in COMPLEX:
        return [*ordered_keys(array.real, total=total), *ordered_keys(array.imag, total=total)]
    if array.dtype in FLOATS:
        return [_float_key(array, total)]
    if array.dtype == BOOL:
        return [array.view(np.uint8)]
    if array.dtype in INTEGERS & EXTENSIONS:
        return [array.astype(np.int8)]
    return [array]


def _float_key(array: np.ndarray, total: bool) -> np.ndarray:
    if total:
        return order_keys(array)
    wide = array.astype(np.float32) if array.dtype in EXTENSIONS else array
    return order_keys(np.where(np.isnan(wide), np.array(np.nan, wide.dtype), wide + np.array(0, wide.dtype)))
