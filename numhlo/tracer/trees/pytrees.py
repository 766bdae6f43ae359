"""Pytrees: nested containers of leaves, taken apart and put together again.

This file knows which classes are containers and how to walk them; it refuses to know what a leaf is (anything that is
not a registered container). Paths to leaves, for messages and `tree_map_with_path`, live in `pytree_paths`.

Dicts are walked in sorted key order, so two dicts with equal keys have one structure; under NumPy's rules a structure
knows in which order its dicts were written all the same (`written_order`). None is a container without leaves. A named
tuple is a container; other subclasses of tuple, list and dict are leaves until registered.
"""

from __future__ import annotations

import functools
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, EndlessRecursionError
from numhlo.lowering.ir.records import record
from numhlo.tracer.trees.pytree_keys import DictKey
from numhlo.tracer.trees.written_order import WrittenKeys, as_written, sort_keys, walked_keys

IsLeaf = Callable[[Any], bool] | None


@record(frozen=True, slots=True)
class Container:
    """How one class is taken apart and put together.

    Parameters
    ----------
    flatten : callable
        ``flatten(node) -> (children, metadata)``; the metadata must be hashable.
    unflatten : callable
        ``unflatten(metadata, children) -> node``.
    keys : callable, optional
        ``keys(node) -> path keys``, one for each child.
    """

    flatten: Callable[[Any], tuple[Iterable[Any], Any]]
    unflatten: Callable[[Any, Sequence[Any]], Any]
    keys: Callable[[Any], Iterable[Any]] | None = None


class Children(tuple["PyTreeDef", ...]):
    """The structures in a structure: a tuple, which gives a list when it is called, as JAX's method ``children()``."""

    __slots__ = ()

    def __call__(self) -> list[PyTreeDef]:
        """Return them as a list."""
        return list(self)


class PyTreeDef:
    """The structure of a pytree without its leaves: hashable, comparable, cheap to test for identity.

    Parameters
    ----------
    node_type : type or None
        The container's class; None for a leaf.
    metadata : hashable
        What the class's instances are told apart by, beside their children.
    children : tuple of PyTreeDef

    Attributes
    ----------
    node_type : type or None
        The container's class; None for a leaf.
    metadata : hashable
    children : tuple of PyTreeDef
        What ``children()`` returns as a list.
    num_leaves : int

    Examples
    --------
    >>> structure = tree_structure({"a": 1, "b": (2, 3)})
    >>> structure.num_leaves, structure.unflatten("xyz")
    (3, {'a': 'x', 'b': ('y', 'z')})
    """

    __slots__ = ("_hash", "children", "metadata", "node_type", "num_leaves")

    def __init__(self, node_type: type | None, metadata: Any, children: Sequence[PyTreeDef]) -> None:
        self.node_type = node_type
        self.metadata = metadata
        self.children = Children(children)
        self.num_leaves: int = 1 if node_type is None else sum(c.num_leaves for c in children)
        self._hash: int | None = None

    @property
    def num_nodes(self) -> int:
        """Return the number of containers and leaves."""
        return 1 + sum(c.num_nodes for c in self.children)

    def node_data(self) -> tuple[type, Any] | None:
        """Return the container's class and its metadata, None for a leaf."""
        return None if self.node_type is None else (self.node_type, self.metadata)

    @property
    def written_orders(self) -> tuple[tuple[int, ...], ...]:
        """Return the order of each dict's keys; nothing under JAX's rules, where all are sorted."""
        keys = self.metadata[1] if self.node_type is defaultdict else self.metadata
        own = (keys.places,) if isinstance(keys, WrittenKeys) else ()
        return own + tuple([order for child in self.children for order in child.written_orders])

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """Return the tree with ``leaves`` in its places."""
        return tree_unflatten(self, leaves)

    def flatten_up_to(self, tree: Any) -> list[Any]:
        """Return the subtrees of ``tree`` that stand where this structure has leaves.

        Raises
        ------
        ArgumentError
            If ``tree`` does not begin with this structure.
        """
        found: list[Any] = []
        _flatten_up_to(self, tree, found)
        return found

    def compose(self, inner: PyTreeDef) -> PyTreeDef:
        """Return this structure with another one in the place of every leaf."""
        if self.node_type is None:
            return inner
        return PyTreeDef(self.node_type, self.metadata, [child.compose(inner) for child in self.children])

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, PyTreeDef)
            and self.node_type is other.node_type
            and self.num_leaves == other.num_leaves
            and bool(self.metadata == other.metadata)
            and self.children == other.children
        )

    def __hash__(self) -> int:
        if self._hash is None:
            try:
                self._hash = hash((self.node_type, self.metadata, self.children))
            except TypeError:  # what a class keeps beside its leaves is compared, and need not have a hash
                self._hash = hash((self.node_type, self.children))
        return self._hash

    def __repr__(self) -> str:
        return f"PyTreeDef({self._describe()})"

    def _describe(self) -> str:
        parts = [c._describe() for c in self.children]
        if self.node_type is None:
            return "*"
        if self.node_type is type(None):
            return "None"
        if self.node_type is tuple:
            return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
        if self.node_type is list:
            return f"[{', '.join(parts)}]"
        if self.node_type is dict:
            return "{" + ", ".join(f"{k!r}: {p}" for k, p in zip(self.metadata, parts, strict=True)) + "}"
        return f"{self.node_type.__name__}({', '.join(parts)})"


LEAF = PyTreeDef(None, None, ())
NONE = PyTreeDef(type(None), None, ())


def _flatten_dict(node: dict[Any, Any]) -> tuple[list[Any], tuple[Any, ...]]:
    keys = walked_keys(node)
    return [node[k] for k in keys], keys


def _flatten_default_dict(node: defaultdict[Any, Any]) -> tuple[list[Any], Any]:
    keys = walked_keys(node)
    return [node[k] for k in keys], (node.default_factory, keys)


def _sorted_dict_keys(node: dict[Any, Any]) -> list[DictKey]:
    return [DictKey(k) for k in sort_keys(node)]


CONTAINERS: dict[type, Container] = {
    tuple: Container(lambda node: (node, None), lambda _, children: tuple(children)),
    list: Container(lambda node: (node, None), lambda _, children: list(children)),
    dict: Container(_flatten_dict, lambda keys, children: dict(as_written(keys, children)), _sorted_dict_keys),
    type(None): Container(lambda _: ((), None), lambda _, __: None),
    OrderedDict: Container(
        lambda node: (list(node.values()), tuple(node)),
        lambda keys, children: OrderedDict(zip(keys, children, strict=True)),
        lambda node: [DictKey(k) for k in node],
    ),
    defaultdict: Container(
        _flatten_default_dict,
        lambda data, children: defaultdict(data[0], as_written(data[1], children)),
        _sorted_dict_keys,
    ),
}
"""Every registered container class."""

NAMED_TUPLE = Container(lambda node: (node, None), lambda _, children: tuple(children))


MOST_LEVELS, MOST_LOOKED_AT = 200, 1000
"""Of containers in containers: what is called deep, and how much of a level is looked at."""


def find_container(node_type: type) -> Container | None:
    """Return how a class is taken apart, or None where its instances are leaves."""
    found = CONTAINERS.get(node_type)
    if found is None and issubclass(node_type, tuple) and hasattr(node_type, "_fields"):
        return NAMED_TUPLE
    return found


def tree_flatten(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[Any], PyTreeDef]:
    """Return a tree's leaves in order, and its structure.

    Parameters
    ----------
    tree : pytree
    is_leaf : callable, optional
        ``is_leaf(node) -> bool``: true stops the walk there.

    Returns
    -------
    tuple of list and PyTreeDef

    Examples
    --------
    >>> tree_flatten({"b": 1, "a": (2, None)})
    ([2, 1], PyTreeDef({'a': (*, None), 'b': *}))
    """
    leaves: list[Any] = []
    try:
        return leaves, _flatten(tree, leaves, is_leaf)
    except RecursionError:
        _refuse_depth(tree)
        raise


def _refuse_depth(tree: Any) -> None:
    """Raise where it is a tree's own depth that is too much."""
    level, depth = [tree], 0
    while level and depth < MOST_LEVELS:
        kinds = [(node, find_container(type(node))) for node in level]
        level = [child for node, kind in kinds if kind is not None for child in kind.flatten(node)[0]][:MOST_LOOKED_AT]
        depth += 1
    if level:
        raise EndlessRecursionError(
            "containers are nested too deeply, or one contains itself",
            where=capture_location(),
            why="each level takes some of Python's stack",
            fix="put the arrays into one list, or stack them",
        )


def _flatten(node: Any, leaves: list[Any], is_leaf: IsLeaf) -> PyTreeDef:
    if is_leaf is not None and is_leaf(node):
        leaves.append(node)
        return LEAF
    if node is None:
        return NONE
    node_type = type(node)
    container = find_container(node_type)
    if container is None:
        leaves.append(node)
        return LEAF
    children, metadata = container.flatten(node)
    return PyTreeDef(node_type, metadata, [_flatten(c, leaves, is_leaf) for c in children])


def tree_unflatten(treedef: PyTreeDef, leaves: Iterable[Any]) -> Any:
    """Return the tree of structure ``treedef`` with ``leaves`` in its places.

    Parameters
    ----------
    treedef : PyTreeDef
    leaves : iterable

    Returns
    -------
    pytree

    Raises
    ------
    ArgumentError
        If the number of leaves is wrong.

    Examples
    --------
    >>> tree_unflatten(tree_structure([0, (0,)]), "ab")
    ['a', ('b',)]
    """
    given = list(leaves)
    if len(given) != treedef.num_leaves:
        raise ArgumentError(
            f"tree_unflatten: {treedef} takes {treedef.num_leaves} leaves, got {len(given)}", where=capture_location()
        )
    return _unflatten(treedef, iter(given))


def _unflatten(treedef: PyTreeDef, leaves: Any) -> Any:
    node_type = treedef.node_type
    if node_type is None:
        return next(leaves)
    children = [_unflatten(c, leaves) for c in treedef.children]
    container = find_container(node_type)
    assert container is not None
    if container is NAMED_TUPLE:
        return node_type(*children)
    return container.unflatten(treedef.metadata, children)


def _flatten_up_to(treedef: PyTreeDef, tree: Any, found: list[Any]) -> None:
    if treedef.node_type is None:
        found.append(tree)
        return
    container = find_container(type(tree))
    children, metadata = ((), None) if container is None else container.flatten(tree)
    children = list(children)
    same = type(tree) is treedef.node_type and metadata == treedef.metadata and len(children) == len(treedef.children)
    if not same:
        raise ArgumentError(
            f"pytree structures differ: {treedef} against {tree_structure(tree)}",
            where=capture_location(),
            why="the second tree must begin with the first one's structure",
        )
    for child_def, child in zip(treedef.children, children, strict=True):
        _flatten_up_to(child_def, child, found)


def tree_leaves(tree: Any, is_leaf: IsLeaf = None) -> list[Any]:
    """Return a tree's leaves in order.

    Parameters
    ----------
    tree : pytree
    is_leaf : callable, optional
        As that of `flatten`.

    Returns
    -------
    list

    Examples
    --------
    >>> tree_leaves({"b": 1, "a": [2, 3]})
    [2, 3, 1]
    """
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree: Any, is_leaf: IsLeaf = None) -> PyTreeDef:
    """Return a tree's structure.

    Parameters
    ----------
    tree : pytree
    is_leaf : callable, optional
        As that of `flatten`.

    Returns
    -------
    PyTreeDef

    Examples
    --------
    >>> tree_structure([1, (2,)])
    PyTreeDef([*, (*,)])
    """
    return tree_flatten(tree, is_leaf)[1]


def tree_map(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: IsLeaf = None) -> Any:
    """Apply ``f`` to the leaves of ``tree``, and to what stands in their places in ``rest``.

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
    >>> tree_map(lambda x, y: x + y, {"a": 1, "b": [2]}, {"a": 10, "b": [20]})
    {'a': 11, 'b': [22]}
    """
    leaves, treedef = tree_flatten(tree, is_leaf)
    columns = [leaves, *[treedef.flatten_up_to(r) for r in rest]]
    return tree_unflatten(treedef, [f(*row) for row in zip(*columns, strict=True)])


_NO_INITIALIZER: Any = object()


def tree_reduce(
    function: Callable[[Any, Any], Any], tree: Any, initializer: Any = _NO_INITIALIZER, is_leaf: IsLeaf = None
) -> Any:
    """Combine a tree's leaves from left to right.

    Parameters
    ----------
    function : callable
        Of what was combined so far, and a leaf.
    tree : pytree
    initializer : object, optional
        What to begin with, instead of the first leaf.
    is_leaf : callable, optional
        As that of `flatten`.

    Returns
    -------
    object
        What the function returns.

    Raises
    ------
    TypeError
        If there is neither a leaf nor an initializer.

    Examples
    --------
    >>> tree_reduce(lambda a, b: a + b, {"a": 1, "b": [2, 3]})
    6
    """
    leaves = tree_leaves(tree, is_leaf)
    if initializer is _NO_INITIALIZER:
        return functools.reduce(function, leaves)
    return functools.reduce(function, leaves, initializer)


def tree_all(tree: Any, *, is_leaf: IsLeaf = None) -> bool:
    """Return whether all leaves are true.

    Parameters
    ----------
    tree : pytree
    is_leaf : callable, optional
        As that of `flatten`.

    Returns
    -------
    bool
        True for a tree without leaves.

    Examples
    --------
    >>> tree_all({"a": True, "b": [1, 0]})
    False
    """
    return all(tree_leaves(tree, is_leaf))


def tree_transpose(outer_treedef: PyTreeDef, inner_treedef: PyTreeDef | None, pytree_to_transpose: Any) -> Any:
    """Turn an outer tree of inner trees into an inner tree of outer trees.

    Parameters
    ----------
    outer_treedef : PyTreeDef
    inner_treedef : PyTreeDef or None
        None for that of the first inner tree.
    pytree_to_transpose : pytree

    Returns
    -------
    pytree

    Raises
    ------
    ArgumentError
        If a tree begins otherwise.

    Examples
    --------
    >>> tree_transpose(tree_structure([0, 0]), None, [{"a": 1}, {"a": 2}])
    {'a': [1, 2]}
    """
    rows = outer_treedef.flatten_up_to(pytree_to_transpose)
    if inner_treedef is None:
        inner_treedef = tree_structure(rows[0])
    columns = zip(*[inner_treedef.flatten_up_to(r) for r in rows], strict=True)
    return tree_unflatten(inner_treedef, [tree_unflatten(outer_treedef, c) for c in columns])
