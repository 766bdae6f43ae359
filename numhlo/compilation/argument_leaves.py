"""The leaves of a call's arguments: what they are called, and which give their memory away.

This file knows how a path in a pytree is spelled as an argument. How a call is split is in `signature`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from numhlo.compilation.signature import POSITIONAL, Call, Parameters, Selection
from numhlo.tracer.trees.pytree_keys import keystr
from numhlo.tracer.trees.pytree_paths import tree_leaves_with_path
from numhlo.tracer.trees.pytrees import CONTAINERS, PyTreeDef


def leaf_names(call: Call, parameters: Parameters) -> list[str]:
    """Return what the argument leaves are called: ``params['w'][0]``.

    Examples
    --------
    >>> leaf_names(Call(([1, 2],), {"n": 3}, {}), None)
    ['argument 0[0]', 'argument 0[1]', 'n']
    """
    return [f"{parameter_name(place, parameters)}{keystr(rest)}" for place, rest in _places(call)]


def parameter_name(place: int | str, parameters: Parameters) -> str:
    """Return what an argument is called that is given by its number or name."""
    if isinstance(place, str):
        return place
    names = list(parameters or ())
    if place < len(names) and parameters is not None and parameters[names[place]].kind in POSITIONAL:
        return names[place]
    return f"argument {place}"


def donated_leaves(call: Call, donated: Selection) -> list[int]:
    """Return the numbers of the leaves of arguments whose memory may be reused.

    Examples
    --------
    >>> donated_leaves(Call((1, [2, 3]), {}, {}), Selection(frozenset({1})))
    [1, 2]
    """
    if not donated:
        return []
    return [number for number, (place, _) in enumerate(_places(call)) if place in donated.numbers | donated.names]


def _places(call: Call) -> Iterator[tuple[int | str, Sequence[Any]]]:
    """Yield for each leaf the number or name of its argument, and the path to it from there."""
    positional = [k for k in range(len(call.args) + len(call.statics)) if k not in call.statics]
    for path, _ in tree_leaves_with_path(call.arguments):
        side, place, *rest = path
        yield (positional[place.idx] if side.idx == 0 else place.key), rest


def container_types(tree: PyTreeDef) -> set[type]:
    """Return the classes of a structure's containers, but for Python's own.

    Examples
    --------
    >>> from numhlo.tracer.trees.pytrees import tree_flatten
    >>> container_types(tree_flatten([1, (2, 3)])[1])
    set()
    """
    found = {tree.node_type} if tree.node_type is not None else set()
    return found.union(*[container_types(c) for c in tree.children]).difference(_PLAIN)


_PLAIN = tuple(CONTAINERS)
"""Python's own, before anybody registers others."""
