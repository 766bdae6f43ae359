"""Walks of a pytree that know where they are: for messages that name a leaf, and for maps that see paths."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numhlo.tracer.trees.pytree_keys import FlattenedIndexKey, GetAttrKey, Path, SequenceKey, keystr
from numhlo.tracer.trees.pytrees import NAMED_TUPLE, IsLeaf, PyTreeDef, find_container, tree_flatten, tree_unflatten


def child_keys(node: Any, count: int) -> list[Any]:
    """Return a container's path keys, one for each of its ``count`` children."""
    node_type = type(node)
    container = find_container(node_type)
    if container is NAMED_TUPLE:
        return [GetAttrKey(name) for name in node_type._fields]
    if container is not None and container.keys is not None:
        return list(container.keys(node))
    key = SequenceKey if node_type in (list, tuple) else FlattenedIndexKey
    return [key(k) for k in range(count)]


def tree_leaves_with_path(tree: Any, is_leaf: IsLeaf = None) -> list[tuple[Path, Any]]:
    """Return pairs of path and leaf, in order.

    Parameters
    ----------
    tree : pytree
    is_leaf : callable, optional
        As that of `flatten`.

    Returns
    -------
    list of (tuple, leaf)

    Examples
    --------
    >>> [(keystr(path), leaf) for path, leaf in tree_leaves_with_path({"a": [1, 2]})]
    [("['a'][0]", 1), ("['a'][1]", 2)]
    """
    found: list[tuple[Path, Any]] = []
    _walk(tree, (), found, is_leaf)
    return found


def _walk(node: Any, path: Path, found: list[tuple[Path, Any]], is_leaf: IsLeaf) -> None:
    container = find_container(type(node))
    if container is None or (is_leaf is not None and is_leaf(node)):
        found.append((path, node))
        return
    children = list(container.flatten(node)[0])
    for key, child in zip(child_keys(node, len(children)), children, strict=True):
        _walk(child, (*path, key), found, is_leaf)


def tree_flatten_with_path(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[tuple[Path, Any]], PyTreeDef]:
    """Return pairs of path and leaf, and the structure.

    Parameters
    ----------
    tree : pytree
    is_leaf : callable, optional
        As that of `flatten`.

    Returns
    -------
    tuple of list of (tuple, leaf) and PyTreeDef

    Examples
    --------
    >>> pairs, treedef = tree_flatten_with_path((1, {"a": 2}))
    >>> [(keystr(path), leaf) for path, leaf in pairs]
    [('[0]', 1), ("[1]['a']", 2)]
    """
    return tree_leaves_with_path(tree, is_leaf), tree_flatten(tree, is_leaf)[1]


def tree_map_with_path(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: IsLeaf = None) -> Any:
    """Apply ``f(path, leaf, *others)`` to the leaves of a tree.

    Parameters
    ----------
    f : callable
    tree : pytree
    *rest : pytree
        They begin with the structure of ``tree``.
    is_leaf : callable, optional
        As that of `flatten`.

    Returns
    -------
    pytree
        Of the structure of ``tree``.

    Raises
    ------
    ArgumentError
        If another tree begins otherwise.

    Examples
    --------
    >>> tree_map_with_path(lambda path, x: f"{keystr(path)}={x}", {"a": [1]})
    {'a': ["['a'][0]=1"]}
    """
    pairs, treedef = tree_flatten_with_path(tree, is_leaf)
    columns = [treedef.flatten_up_to(r) for r in rest]
    rows = zip(pairs, *columns, strict=True)
    return tree_unflatten(treedef, [f(path, leaf, *others) for (path, leaf), *others in rows])


def leaf_paths(tree: Any, is_leaf: IsLeaf = None) -> list[str]:
    """Return the spelling of every leaf's path, in order."""
    return [keystr(path) for path, _ in tree_leaves_with_path(tree, is_leaf)]


def structure_paths(treedef: PyTreeDef) -> list[str]:
    """Return the spelling of every leaf's path of a structure, in order."""
    return leaf_paths(tree_unflatten(treedef, [_PLACE] * treedef.num_leaves))


class _Place:
    """Stands where a leaf would."""


_PLACE = _Place()
