"""Results put into the structure that a function returns them in, by functions made once for a structure.

Walking a structure takes a microsecond a node, more than all else about a small result. Here the walk is done before:
what is left are slices of the results, and calls of containers. `numhlo.tracer.trees.pytrees` says what containers are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from numhlo.tracer.core.array import as_written
from numhlo.tracer.trees.pytrees import LEAF, NAMED_TUPLE, NONE, PyTreeDef, find_container
from numhlo.tracer.trees.written_order import WrittenKeys

Results = tuple[Any, ...]

THE_ONLY = itemgetter(0)
"""What makes the structure of one leaf."""


def nothing(results: Sequence[Any]) -> None:
    """Make the structure of None."""


def kind_of(unflatten: Callable[[Sequence[Any]], Any]) -> str:
    """Return what a function that `unflattener` has made gives: "result", the only one, "none", "tuple", "other"."""
    if unflatten is tuple:
        return "tuple"
    return "result" if unflatten is THE_ONLY else "none" if unflatten is nothing else "other"


def unflattener(tree: PyTreeDef) -> Callable[[Sequence[Any]], Any]:
    """Return the function that puts results, as many as a structure has leaves, into the structure.

    Examples
    --------
    >>> from numhlo.tracer.trees.pytrees import tree_structure
    >>> unflattener(tree_structure({"a": (0, 0), "b": [0]}))([1, 2, 3])
    {'a': (1, 2), 'b': [3]}
    """
    if tree == LEAF:
        return THE_ONLY
    if tree == NONE:
        return nothing
    if tree.node_type in (tuple, list) and all(child == LEAF for child in tree.children):
        return tree.node_type
    part = _part(tree, 0)
    return lambda results: part(tuple(results))


def with_arrays(unflatten: Callable[[Sequence[Any]], Any], numbers: Sequence[int]) -> Callable[[Sequence[Any]], Any]:
    """Return what puts results into a structure, where those of some numbers were made as arrays without dimensions."""

    def unflatten_with_arrays(results: Sequence[Any]) -> Any:
        made = list(results)
        for number in numbers:
            made[number] = as_written(made[number])
        return unflatten(made)

    return unflatten_with_arrays


def with_class(
    unflatten: Callable[[Sequence[Any]], Any], numbers: Sequence[int], kind: type[np.ndarray]
) -> Callable[[Sequence[Any]], Any]:
    """Return what puts results into a structure, where those of some numbers are of another class of arrays."""

    def unflatten_with_class(results: Sequence[Any]) -> Any:
        made = list(results)
        for number in numbers:
            made[number] = made[number].view(kind)
        return unflatten(made)

    return unflatten_with_class


def with_cuts(
    unflatten: Callable[[Sequence[Any]], Any], cuts: Sequence[tuple[int, int, int]], count: int
) -> Callable[[Sequence[Any]], Any]:
    """Return what puts so many results into a structure, some of them cut to the lengths that others say.

    Parameters
    ----------
    unflatten : callable
    cuts : sequence of (int, int, int)
        Numbers of a result and of its length among the results, and the axis that is cut.
    count : int
        Of the results that have places in the structure.
    """

    def unflatten_with_cuts(results: Sequence[Any]) -> Any:
        made = list(results[:count])
        for leaf, length, axis in cuts:
            made[leaf] = made[leaf][(*(slice(None),) * axis, slice(int(results[length])))].copy()  # frees the rest
        return unflatten(made)

    return unflatten_with_cuts


def _part(tree: PyTreeDef, start: int) -> Callable[[Results], Any]:
    """Return the function that makes a part of a structure, whose leaves begin at a place among the results."""
    if tree == LEAF:
        return itemgetter(start)
    if tree == NONE:
        return lambda _: None
    make = _maker(tree)
    if all(child == LEAF for child in tree.children):
        span = slice(start, start + len(tree.children))
        return itemgetter(span) if tree.node_type is tuple else lambda results: make(results[span])
    parts = []
    for child in tree.children:
        parts.append(_part(child, start))
        start += child.num_leaves
    return lambda results: make([part(results) for part in parts])


def _maker(tree: PyTreeDef) -> Callable[[Sequence[Any]], Any]:
    """Return the function that makes a container of its children."""
    node_type, metadata = tree.node_type, tree.metadata
    assert node_type is not None
    if node_type in (tuple, list):
        return node_type
    if node_type is dict and isinstance(metadata, WrittenKeys) and [*metadata.places] != sorted(metadata.places):
        order = [(metadata[place], place) for place in metadata.places]
        return lambda children: {key: children[place] for key, place in order}
    if node_type is dict:
        return lambda children: dict(zip(metadata, children))  # noqa: B905 - to ask takes as long as to make the dict
    container = find_container(node_type)
    assert container is not None
    if container is NAMED_TUPLE:
        return lambda children: node_type(*children)
    return lambda children: container.unflatten(metadata, list(children))
