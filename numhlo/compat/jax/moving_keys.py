"""Functions that move elements, of arrays of keys: each key goes where a number in its place would go."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import DTypeError
from numhlo.tracer.trees.pytrees import tree_flatten, tree_map, tree_unflatten

KEYS: list[type] = []
"""The class of arrays of keys, once it is there."""

JOIN: list[Callable[..., Any]] = []
"""What joins arrays: `jax.numpy.concatenate`, once it is there."""

MOVING = frozenset({
    "append", "array", "array_split", "asarray", "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays",
    "broadcast_to", "column_stack", "compress", "concat", "concatenate", "copy", "delete", "diagonal", "dsplit",
    "dstack", "expand_dims", "extract", "flip", "fliplr", "flipud", "hsplit", "hstack", "insert",
    "matrix_transpose", "moveaxis", "permute_dims", "ravel", "repeat", "reshape", "resize", "roll", "rollaxis",
    "rot90", "select", "split", "squeeze", "stack", "swapaxes", "take", "take_along_axis", "tile", "transpose",
    "unstack", "vsplit", "vstack", "where", "broadcast", "broadcast_in_dim", "collapse", "dynamic_index_in_dim",
    "dynamic_slice", "dynamic_slice_in_dim", "dynamic_update_index_in_dim", "dynamic_update_slice",
    "dynamic_update_slice_in_dim", "gather", "index_in_dim", "index_take", "rev", "select_n", "slice",
    "slice_in_dim",
})  # fmt: skip
"""Functions of `jax.numpy` and `jax.lax` whose results consist of elements of their operands."""


COMPARING = frozenset({"array_equal", "array_equiv"})
"""Functions that say of keys what they say of their words."""

TAKING = MOVING | COMPARING


def are_keys(x: Any) -> bool:
    """Return whether a value is an array of keys."""
    return bool(KEYS) and type(x) is KEYS[0]


def have_keys(values: Any) -> bool:
    """Return whether arrays of keys are among arguments, or in lists and tuples of them."""
    return any(are_keys(x) or (type(x) in (list, tuple) and any(map(are_keys, x))) for x in values)


def moved(name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the result of a function that moves elements, of arguments with arrays of keys among them.

    Parameters
    ----------
    name : str
    function : callable
        It is called with numbers in the place of keys.
    args : tuple
    kwargs : dict

    Raises
    ------
    DTypeError
        If keys are not of one kind.
    """
    leaves, tree = tree_flatten((args, kwargs), is_leaf=are_keys)
    keys = [x for x in leaves if are_keys(x)]
    if name in COMPARING and len(keys) == len(args):
        return function(*[x.words for x in keys], **kwargs)
    if any(x.dtype != keys[0].dtype for x in keys):
        raise DTypeError(
            f"{name} does not accept dtype {', '.join(sorted({x.dtype.name for x in keys}))}",
            where=capture_location(),
            why="keys of one array are of one kind",
            fix="make them with one impl=",
        )
    words = keys[0].dtype.words
    starts = np.cumsum([0, *[x.size for x in keys]])
    numbers = iter(
        [np.arange(x.size, dtype=np.int32).reshape(x.shape) + np.int32(s) for x, s in zip(keys, starts, strict=False)]
    )
    given, named = tree_unflatten(tree, [next(numbers) if are_keys(x) else x for x in leaves])
    places = function(*given, **named)
    rows = [x.words.reshape(math.prod(x.shape), words) for x in keys]
    table = rows[0] if len(rows) == 1 else JOIN[0](rows)
    return tree_map(lambda place: keys[0].like(table[place]), places)
