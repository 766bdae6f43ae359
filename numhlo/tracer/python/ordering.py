"""`max`, `min` and `sorted` of traced numbers: what Python finds by comparing is found by choosing.

Keys may be numbers or tuples of them, which are compared from the first to the last. What is chosen must be something
that a graph can choose: numbers, arrays of one shape, and containers of them.
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.tracer.core.numpy_functions import FUNCTIONS
from numhlo.tracer.core.operands import Unsized, is_weak
from numhlo.tracer.core.trace import Tracer
from numhlo.tracer.python.stand_ins import MOST_ITEMS, as_number, is_long, is_unknown, stands_for
from numhlo.tracer.trees.pytrees import tree_flatten, tree_unflatten

NUMBERS = (Tracer, np.ndarray, np.generic, bool, int, float, complex)


def _are_comparable(keys: Sequence[Any]) -> bool:
    """Return whether keys are numbers, or tuples of as many of them, and one is traced."""
    shapes = {len(k) if type(k) is tuple else -1 for k in keys}
    numbers = [x for k in keys for x in (k if type(k) is tuple else (k,))]
    is_plain = all(isinstance(x, NUMBERS) and np.shape(x) == () for x in numbers)
    return len(shapes) == 1 and is_plain and any(map(is_unknown, numbers))


def _is_less(x: Any, y: Any) -> Any:
    """Return whether a key comes before another."""
    if type(x) is not tuple:
        return x < y
    less: Any = False
    for a, b in zip(reversed(x), reversed(y), strict=True):
        less = FUNCTIONS[np.where](a == b, less, a < b)
    return less


def _columns(what: str, items: Sequence[Any]) -> tuple[list[list[Any]], Any]:
    """Return lists of the items' leaves, the first of all items, the second, ..., and the items' structure."""
    flat = [tree_flatten(x) for x in items]
    columns = [list(column) for column in zip(*[leaves for leaves, _ in flat], strict=False)]
    one_shape = all(all(isinstance(x, NUMBERS) for x in c) and len({np.shape(x) for x in c}) == 1 for c in columns)
    if not one_shape or any(tree != flat[0][1] for _, tree in flat):
        raise UnsupportedError(
            f"{what} by traced keys, of items that are no numbers or arrays of one shape",
            where=capture_location(),
            why="which of them comes first is not known while tracing",
            fix="put what is chosen from into an array, and index it by argmax, argmin or argsort of the keys",
        )
    return columns, flat[0][1]


def _at(columns: list[list[Any]], tree: Any, place: Any) -> Any:
    """Return the item at a traced place."""
    return tree_unflatten(tree, [_stacked(c)[place] for c in columns])


def _stacked(column: list[Any]) -> Any:
    array = FUNCTIONS[np.stack](column) if np.ndim(column[0]) else FUNCTIONS[np.array](column)
    array.weak = all(map(is_weak, column)) if not array.shape else False
    return array


@stands_for(builtins.sorted)
@functools.wraps(builtins.sorted)
def sort_items(items: Any, /, *, key: Any = None, reverse: Any = False) -> list[Any]:
    """Return items in order; those that traced keys put there are traced."""
    if key is None and isinstance(items, Tracer) and items.ndim == 1 and items.known() is None:
        found = list(FUNCTIONS[np.sort](items))
        return found[::-1] if reverse else found
    items = list(items)
    keys = items if key is None else [key(x) for x in items]
    if not _are_comparable(keys):
        return builtins.sorted(items, key=key, reverse=reverse)
    columns, tree = _columns("sorted()", items)
    order = _order(keys[::-1] if reverse else keys)
    order = (len(items) - 1 - order)[::-1] if reverse else order
    arrays = [_stacked(c)[order] for c in columns]
    return [tree_unflatten(tree, [array[k] for array in arrays]) for k in range(len(items))]


def _order(keys: Sequence[Any]) -> Any:
    """Return the places of keys in order, those of equal ones as they stand."""
    parts = list(zip(*keys, strict=True)) if type(keys[0]) is tuple else [keys]
    arrays = [FUNCTIONS[np.array](list(part)) for part in parts]
    return FUNCTIONS[np.lexsort](arrays[::-1])


def sort_in_place(items: list[Any], **options: Any) -> None:
    """Do what ``items.sort()`` does."""
    items[:] = sort_items(items, **options)


def _place(name: str, items: Any) -> Any:
    """Return which element of a line Python's ``max`` or ``min`` takes: the first of equals, NaN if it comes first."""
    find: Any = getattr(np, f"arg{name}")
    if items.dtype.kind != "f":
        return FUNCTIONS[find](items)
    worst = -np.inf if name == "max" else np.inf
    missing = np.isnan(items)
    return FUNCTIONS[np.where](
        missing[0], 0, FUNCTIONS[find](FUNCTIONS[np.where](missing, items.dtype.type(worst), items))
    )


def _extreme(function: Callable[..., Any], goes_first: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    name = function.__name__

    @functools.wraps(function)
    def pick(*args: Any, **options: Any) -> Any:
        if len(args) == 1 and not options and isinstance(args[0], Unsized) and args[0].ndim == 1:
            return args[0].call(name, args, options)
        if len(args) == 1 and not options and is_long(args[0]) and args[0].ndim == 1 and args[0].dtype.kind in "biuf":
            return args[0][_place(name, args[0])].copy()
        if len(args) == 1 and not isinstance(args[0], Iterable):
            return function(*args, **options)
        items = list(args[0]) if len(args) == 1 else list(args)
        key = options.get("key")
        keys = items if key is None else [key(x) for x in items]
        if not _are_comparable(keys):
            return function(items, **options)
        if key is None and type(items[0]) is not tuple:
            return functools.reduce(lambda best, x: _chosen(goes_first(x, best), x, best), items)
        return _picked(name, goes_first, items, keys)

    return pick


def _picked(name: str, goes_first: Callable[[Any, Any], Any], items: list[Any], keys: list[Any]) -> Any:
    """Return the item whose key goes first."""
    columns, tree = _columns(f"{name}()", items)
    if type(keys[0]) is not tuple and len(keys) > MOST_ITEMS:
        return _at(columns, tree, _place(name, FUNCTIONS[np.array](keys)))
    best, *found = keys[0], *[c[0] for c in columns]
    for key, *leaves in list(zip(keys, *columns, strict=True))[1:]:
        better = goes_first(key, best)
        found = [_chosen(better, x, y) for x, y in zip(leaves, found, strict=True)]
        parts = zip(*[k if type(k) is tuple else (k,) for k in (key, best)], strict=True)
        chosen = [_chosen(better, x, y) for x, y in parts]
        best = tuple(chosen) if type(key) is tuple else chosen[0]
    return tree_unflatten(tree, found)


def _chosen(condition: Any, x: Any, y: Any) -> Any:
    if not is_unknown(condition):
        return x if condition else y
    result = FUNCTIONS[np.where](condition, x, y)
    return as_number(result) if is_weak(x) and is_weak(y) else result


stands_for(builtins.max)(_extreme(builtins.max, lambda x, best: _is_less(best, x)))
stands_for(builtins.min)(_extreme(builtins.min, _is_less))
