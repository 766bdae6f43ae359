"""Questions about pytrees, one level at a time; structures made of structures; prefixes spread over a whole tree."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.tracer.trees.pytree_paths import child_keys
from numhlo.tracer.trees.pytrees import (
    Container,
    IsLeaf,
    PyTreeDef,
    find_container,
    tree_flatten,
    tree_leaves,
    tree_structure,
    tree_unflatten,
)


def all_leaves(iterable: Iterable[Any], is_leaf: IsLeaf = None) -> bool:
    """Return whether every element is a leaf, none of them a container.

    Parameters
    ----------
    iterable : iterable
    is_leaf : callable, optional
        As that of `flatten`.

    Returns
    -------
    bool

    Examples
    --------
    >>> all_leaves([1, 2]), all_leaves([1, (2,)])
    (True, False)
    """
    return all(tree_structure(x, is_leaf).node_type is None for x in iterable)


def is_tree_node(typ: type) -> bool:
    """Return whether instances of a class are containers.

    Parameters
    ----------
    typ : type

    Returns
    -------
    bool

    Examples
    --------
    >>> is_tree_node(dict), is_tree_node(float)
    (True, False)
    """
    return find_container(typ) is not None


def _container_of(tree: Any, name: str) -> Container:
    found = find_container(type(tree))
    if found is None:
        raise ArgumentError(
            f"{name}: an instance of {type(tree).__qualname__} is a leaf",
            where=capture_location(),
            fix="register its class with register_pytree_node if it holds subtrees",
        )
    return found


def flatten_one_level(tree: Any) -> tuple[list[Any], Hashable]:
    """Return a container's children, and its metadata.

    Parameters
    ----------
    tree : container

    Returns
    -------
    tuple of list and hashable

    Raises
    ------
    ArgumentError
        If ``tree`` is a leaf.

    Examples
    --------
    >>> flatten_one_level({"a": [1, 2], "b": 3})
    ([[1, 2], 3], ('a', 'b'))
    """
    children, metadata = _container_of(tree, "flatten_one_level").flatten(tree)
    return list(children), metadata


def flatten_one_level_with_keys(tree: Any) -> tuple[list[tuple[Any, Any]], Hashable]:
    """Return pairs of path key and child of a container, and its metadata.

    Parameters
    ----------
    tree : container

    Returns
    -------
    tuple of list of (key, child) and hashable

    Raises
    ------
    ArgumentError
        If ``tree`` is a leaf.

    Examples
    --------
    >>> flatten_one_level_with_keys(["x"])
    ([(SequenceKey(idx=0), 'x')], None)
    """
    found, metadata = _container_of(tree, "flatten_one_level_with_keys").flatten(tree)
    children = list(found)
    return list(zip(child_keys(tree, len(children)), children, strict=True)), metadata


def treedef_children(treedef: PyTreeDef) -> list[PyTreeDef]:
    """Return the structures of a structure's children.

    Parameters
    ----------
    treedef : PyTreeDef

    Returns
    -------
    list of PyTreeDef
        None for a leaf.

    Examples
    --------
    >>> treedef_children(tree_structure([1, (2, 3)]))
    [PyTreeDef(*), PyTreeDef((*, *))]
    """
    return list(treedef.children)


def treedef_is_leaf(treedef: PyTreeDef) -> bool:
    """Return whether a structure is that of a leaf.

    Parameters
    ----------
    treedef : PyTreeDef

    Returns
    -------
    bool

    Examples
    --------
    >>> treedef_is_leaf(tree_structure(1)), treedef_is_leaf(tree_structure(None))
    (True, False)
    """
    return treedef.node_type is None


def treedef_tuple(treedefs: Iterable[PyTreeDef]) -> PyTreeDef:
    """Return the structure of a tuple whose elements have the given structures.

    Parameters
    ----------
    treedefs : iterable of PyTreeDef

    Returns
    -------
    PyTreeDef

    Examples
    --------
    >>> treedef_tuple([tree_structure(1), tree_structure({"a": 2})])
    PyTreeDef((*, {'a': *}))
    """
    return PyTreeDef(tuple, None, tuple(treedefs))


def tree_broadcast(prefix_tree: Any, full_tree: Any, is_leaf: IsLeaf = None) -> Any:
    """Return a tree of ``full_tree``'s structure, each leaf of ``prefix_tree`` repeated over what stands in its place.

    Parameters
    ----------
    prefix_tree, full_tree : pytree
    is_leaf : callable, optional
        As that of `flatten`.

    Returns
    -------
    pytree

    Raises
    ------
    ArgumentError
        If ``full_tree`` does not begin with the structure of ``prefix_tree``.

    Examples
    --------
    >>> tree_broadcast((1, 2), (0, {"a": 0, "b": [0, 0]}))
    (1, {'a': 2, 'b': [2, 2]})
    """
    values, prefix = tree_flatten(prefix_tree, is_leaf)
    subtrees = prefix.flatten_up_to(full_tree)
    counts = [tree_structure(subtree, is_leaf).num_leaves for subtree in subtrees]
    spread = [value for value, count in zip(values, counts, strict=True) for _ in range(count)]
    return tree_unflatten(tree_structure(full_tree, is_leaf), spread)


_NO_IDENTITY: Any = object()


def tree_reduce_associative(
    operation: Callable[[Any, Any], Any], tree: Any, *, identity: Any = _NO_IDENTITY, is_leaf: IsLeaf = None
) -> Any:
    """Combine a tree's leaves by an associative operation, in pairs: as many steps deep as the logarithm of them.

    Parameters
    ----------
    operation : callable
    tree : pytree
    identity : optional
        The result for a tree without leaves.
    is_leaf : callable, optional

    Returns
    -------
    object
        What the operation returns.

    Raises
    ------
    ArgumentError
        If there is neither a leaf nor an identity.

    Examples
    --------
    >>> tree_reduce_associative(lambda x, y: f"({x}{y})", list("abcde"))
    '(((ab)(cd))e)'
    """
    values = tree_leaves(tree, is_leaf)
    if not values:
        if identity is _NO_IDENTITY:
            raise ArgumentError(
                "tree_reduce_associative of a tree without leaves", where=capture_location(), fix="pass identity="
            )
        return identity
    while len(values) > 1:
        pairs = [operation(x, y) for x, y in zip(values[::2], values[1::2], strict=False)]
        values = [*pairs, *values[2 * len(pairs) :]]
    return values[0]
