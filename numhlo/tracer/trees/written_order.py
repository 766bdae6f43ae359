"""The order in which a program wrote the keys of its dicts, beside the sorted one in which structures walk them.

NumPy's programs see dicts in the order they were made in, JAX's see sorted ones. Structures with equal keys are equal
in any order; who must tell orders apart asks `numhlo.tracer.trees.pytrees.PyTreeDef.written_orders`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from numhlo.tracer.core.semantics import are_arrays_immutable


class WrittenKeys(tuple[Any, ...]):
    """The sorted keys of a dict, which know their order in the dict.

    Attributes
    ----------
    places : tuple of int
        The places among the sorted keys of the first key that was written, the second, and so on.
    """

    places: tuple[int, ...]


def sort_keys(keys: Iterable[Any]) -> tuple[Any, ...]:
    """Return dict keys in a fixed order: sorted, or by class and spelling where they can't be compared."""
    try:
        return tuple(sorted(keys))
    except TypeError:
        return tuple(sorted(keys, key=lambda key: (type(key).__qualname__, repr(key))))


def walked_keys(node: dict[Any, Any]) -> tuple[Any, ...]:
    """Return a dict's keys as they are walked; under NumPy's rules they know their order in the dict.

    Examples
    --------
    >>> keys = walked_keys({"b": 1, "a": 2})
    >>> keys, keys.places
    (('a', 'b'), (1, 0))
    """
    keys = sort_keys(node)
    if len(keys) < 2 or are_arrays_immutable():
        return keys
    found, place = WrittenKeys(keys), {key: k for k, key in enumerate(keys)}
    found.places = tuple([place[key] for key in node])
    return found


def as_written(keys: tuple[Any, ...], children: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    """Return the items of a dict in its order, from keys and children as they are walked.

    Examples
    --------
    >>> dict(as_written(walked_keys({"b": 1, "a": 2}), [20, 10]))
    {'b': 10, 'a': 20}
    """
    if isinstance(keys, WrittenKeys):
        return ((keys[k], children[k]) for k in keys.places)
    return zip(keys, children, strict=True)
