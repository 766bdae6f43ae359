"""`associative_scan`: all prefixes combined by an associative function, in a logarithmic number of vector steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numhlo.library.numpy.axis_order import moveaxis
from numhlo.library.numpy.joining import concatenate, stack
from numhlo.library.numpy.reshaping import reshape
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ShapeError
from numhlo.tracer.building import asarray, normalize_axis, shape_of, slice_count, tree_flatten, tree_unflatten


def associative_scan(fn: Callable[[Any, Any], Any], elems: Any, reverse: bool = False, axis: int = 0) -> Any:
    """Combine all prefixes of arrays with an associative function, in a logarithmic number of vector steps.

    Parameters
    ----------
    fn : callable
        ``fn(a, b) -> c`` on pytrees like ``elems``, element by element along ``axis``; must be associative.
    elems : pytree
        Arrays of equal extent along ``axis``.
    reverse : bool, optional
        Combine suffixes instead of prefixes.
    axis : int, optional

    Returns
    -------
    pytree
        Of the shapes and dtypes of ``elems``.

    Notes
    -----
    Blelloch's recursion (Prefix sums and their applications, 1990): combine neighbours, scan the halves, and combine
    once more for the places between.

    Examples
    --------
    >>> import numpy as np
    >>> associative_scan(np.add, np.array([1, 2, 3, 4])).tolist()
    [1, 3, 6, 10]
    """
    leaves, tree = tree_flatten(elems)
    moved = [moveaxis(asarray(x), normalize_axis(axis, len(shape_of(x))), 0) for x in leaves]
    slice_count("associative_scan", tree_unflatten(tree, moved), None)
    if reverse:
        moved = [x[::-1] for x in moved]

    def combine(first: list[Any], second: list[Any]) -> list[Any]:
        found = [asarray(x) for x in tree_flatten(fn(tree_unflatten(tree, first), tree_unflatten(tree, second)))[0]]
        if [shape_of(x) for x in found] != [shape_of(x) for x in first]:
            raise ShapeError(
                f"associative_scan: fn gives shapes {[shape_of(x) for x in found]} for {[shape_of(x) for x in first]}",
                where=capture_location(),
                fix="return a pytree like the arguments, combined element by element along the first axis",
            )
        return found

    scanned = _prefixes(combine, moved)
    if reverse:
        scanned = [x[::-1] for x in scanned]
    back = [moveaxis(x, 0, normalize_axis(axis, len(shape_of(x)))) for x in scanned]
    return tree_unflatten(tree, back)


def _prefixes(combine: Callable[[list[Any], list[Any]], list[Any]], leaves: list[Any]) -> list[Any]:
    count = leaves[0].shape[0]
    if count < 2:
        return leaves
    pairs = combine([x[:-1:2] for x in leaves], [x[1::2] for x in leaves])
    odd = _prefixes(combine, pairs)
    between = combine([x[: (count - 1) // 2] for x in odd], [x[2::2] for x in leaves])
    even = [concatenate([x[:1], e]) for x, e in zip(leaves, between, strict=True)]
    return [_interleave(e, o) for e, o in zip(even, odd, strict=True)]


def _interleave(even: Any, odd: Any) -> Any:
    """Return an array whose rows are those of ``even`` and ``odd`` in turn."""
    rows = odd.shape[0]
    pairs = stack([even[:rows], odd], axis=1)
    woven = reshape(pairs, (2 * rows, *pairs.shape[2:]))
    return woven if even.shape[0] == rows else concatenate([woven, even[rows:]])
