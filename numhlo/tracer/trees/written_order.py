"""The order in which a program wrote the keys of its dicts, beside the sorted one in which structures walk them.

NumPy's programs see dicts in the order they were made in. Structures with equal keys are equal in any order.
"""

from __future__ import annotations

from typing import Any

from numhlo.tracer.trees.pytrees import PyTreeDef


class WrittenKeys(tuple[Any, ...]):
    """The sorted keys of a dict, which know their order in the dict.

    Attributes
    ----------
    places : tuple of int
        The places among the sorted keys of the first key that was written, the second, and so on.
    """

    places: tuple[int, ...]


def with_written_order(tree: PyTreeDef, value: Any) -> PyTreeDef:
    """Return the structure of a value, whose dicts have keys that know their order.

    Examples
    --------
    >>> from numhlo.tracer.trees.pytrees import tree_structure
    >>> value = {"b": 1, "a": 2}
    >>> with_written_order(tree_structure(value), value).metadata.places
    (1, 0)
    """
    kind = tree.node_type
    if kind is dict:
        children = [
            with_written_order(child, value[key]) for key, child in zip(tree.metadata, tree.children, strict=True)
        ]
        return PyTreeDef(dict, _keys_of(tree.metadata, value), tuple(children))
    if kind is tuple or kind is list:
        children = [with_written_order(child, item) for child, item in zip(tree.children, value, strict=True)]
        return PyTreeDef(kind, tree.metadata, tuple(children))
    return tree


def _keys_of(keys: tuple[Any, ...], value: dict[Any, Any]) -> tuple[Any, ...]:
    if tuple(value) == keys:
        return keys
    found = WrittenKeys(keys)
    place = {key: k for k, key in enumerate(keys)}
    found.places = tuple(place[key] for key in value)
    return found
