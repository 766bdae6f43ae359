"""Walks of a pytree that know where they are: for messages that name a leaf, and for maps that see paths."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numhlo.tracer.trees.pytree_keys import FlattenedIndexKey, GetAttrKey, Path, SequenceKey, keystr
from numhlo.tracer.trees.pytrees import LEAF, NAMED_TUPLE, NONE, PyTreeDef, find_container, tree_unflatten


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


def tree_leaves_with_path(
    tree: Any, is_leaf: Callable[..., bool] | None = None, is_leaf_takes_path: bool = False
) -> list[tuple[Path, Any]]:
    """Return pairs of path and leaf, in order.

    Parameters
    ----------
    tree : pytree
    is_leaf : callable, optional
        As that of `flatten`.
    is_leaf_takes_path : bool, optional
        Call ``is_leaf(path, node)``.

    Returns
    -------
    list of (tuple, leaf)

    Examples
    --------
    >>> [(keystr(path), leaf) for path, leaf in tree_leaves_with_path({"a": [1, 2]})]
    [("['a'][0]", 1), ("['a'][1]", 2)]
    """
    return _walk_with_path(tree, is_leaf, is_leaf_takes_path)[0]


def _walk_with_path(
    tree: Any, is_leaf: Callable[..., bool] | None, takes_path: bool
) -> tuple[list[tuple[Path, Any]], PyTreeDef]:
    found: list[tuple[Path, Any]] = []
    if is_leaf is None or takes_path:
        return found, _walk(tree, (), found, is_leaf)
    asked = is_leaf
    return found, _walk(tree, (), found, lambda _, node: asked(node))


def _walk(
    node: Any, path: Path, found: list[tuple[Path, Any]], is_leaf: Callable[[Path, Any], bool] | None
) -> PyTreeDef:
    if is_leaf is not None and is_leaf(path, node):
        found.append((path, node))
        return LEAF
    if node is None:
        return NONE
    container = find_container(type(node))
    if container is None:
        found.append((path, node))
        return LEAF
    flat, metadata = container.flatten(node)
    children = list(flat)
    parts = zip(child_keys(node, len(children)), children, strict=True)
    return PyTreeDef(type(node), metadata, [_walk(child, (*path, key), found, is_leaf) for key, child in parts])


def tree_flatten_with_path(
    tree: Any, is_leaf: Callable[..., bool] | None = None, is_leaf_takes_path: bool = False
) -> tuple[list[tuple[Path, Any]], PyTreeDef]:
    """Return pairs of path and leaf, and the structure.

    Parameters
    ----------
    tree : pytree
    is_leaf : callable, optional
        As that of `flatten`.
    is_leaf_takes_path : bool, optional
        Call ``is_leaf(path, node)``.

    Returns
    -------
    tuple of list of (tuple, leaf) and PyTreeDef

    Examples
    --------
    >>> pairs, treedef = tree_flatten_with_path((1, {"a": 2}))
    >>> [(keystr(path), leaf) for path, leaf in pairs]
    [('[0]', 1), ("[1]['a']", 2)]
    """
    return _walk_with_path(tree, is_leaf, is_leaf_takes_path)


def tree_map_with_path(
    f: Callable[..., Any],
    tree: Any,
    *rest: Any,
    is_leaf: Callable[..., bool] | None = None,
    is_leaf_takes_path: bool = False,
) -> Any:
    """Apply ``f(path, leaf, *others)`` to the leaves of a tree.

    Parameters
    ----------
    f : callable
    tree : pytree
    *rest : pytree
        They begin with the structure of ``tree``.
    is_leaf : callable, optional
        As that of `flatten`.
    is_leaf_takes_path : bool, optional
        Call ``is_leaf(path, node)``.

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
    pairs, treedef = tree_flatten_with_path(tree, is_leaf, is_leaf_takes_path)
    columns = [treedef.flatten_up_to(r) for r in rest]
    rows = zip(pairs, *columns, strict=True)
    return tree_unflatten(treedef, [f(path, leaf, *others) for (path, leaf), *others in rows])


def leaf_paths(tree: Any) -> list[str]:
    """Return the spelling of every leaf's path, in order."""
    return [keystr(path) for path, _ in tree_leaves_with_path(tree)]


def structure_paths(treedef: PyTreeDef) -> list[str]:
    """Return the spelling of every leaf's path of a structure, in order."""
    return leaf_paths(tree_unflatten(treedef, [_PLACE] * treedef.num_leaves))


class _Place:
    """Stands where a leaf would."""


_PLACE = _Place()
