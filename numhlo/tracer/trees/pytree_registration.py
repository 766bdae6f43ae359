"""Registration of container classes: how a class's instances are taken apart and put together, in various spellings."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.tracer.trees.pytree_keys import GetAttrKey
from numhlo.tracer.trees.pytrees import CONTAINERS, Container

ClassT = TypeVar("ClassT", bound=type)


def register_pytree_node(
    nodetype: type,
    flatten_func: Callable[[Any], tuple[Iterable[Any], Hashable]],
    unflatten_func: Callable[[Any, Sequence[Any]], Any],
    flatten_with_keys_func: Callable[[Any], tuple[Iterable[tuple[Any, Any]], Hashable]] | None = None,
) -> None:
    """Make instances of a class containers.

    Parameters
    ----------
    nodetype : type
    flatten_func : callable
        ``flatten_func(node) -> (children, metadata)``; the metadata must be hashable.
    unflatten_func : callable
        ``unflatten_func(metadata, children) -> node``.
    flatten_with_keys_func : callable, optional
        ``(node) -> (pairs of key and child, metadata)``; names the children in paths.

    Raises
    ------
    ArgumentError
        If the class is registered already.

    Examples
    --------
    >>> from numhlo.tree_util import tree_map
    >>> class Box:
    ...     def __init__(self, inside):
    ...         self.inside = inside
    >>> register_pytree_node(Box, lambda box: ((box.inside,), None), lambda metadata, children: Box(*children))
    >>> tree_map(lambda x: x + 1, Box(1)).inside
    2
    """
    if nodetype in CONTAINERS:
        raise ArgumentError(
            f"register_pytree_node: {nodetype.__qualname__} is registered already", where=capture_location()
        )
    keys = None
    if flatten_with_keys_func is not None:
        with_keys = flatten_with_keys_func

        def keys(node: Any) -> list[Any]:
            return [key for key, _ in with_keys(node)[0]]

    CONTAINERS[nodetype] = Container(flatten_func, unflatten_func, keys)


def register_pytree_node_class(cls: ClassT) -> ClassT:
    """Make a class with methods ``tree_flatten`` and ``tree_unflatten`` (a class method) a container; a decorator.

    Parameters
    ----------
    cls : type

    Returns
    -------
    type
        The same.

    Raises
    ------
    ArgumentError
        If the class is registered already.

    Examples
    --------
    >>> from numhlo.tree_util import tree_leaves
    >>> @register_pytree_node_class
    ... class Pair:
    ...     def __init__(self, *items):
    ...         self.items = items
    ...     def tree_flatten(self):
    ...         return self.items, None
    ...     @classmethod
    ...     def tree_unflatten(cls, metadata, children):
    ...         return cls(*children)
    >>> tree_leaves(Pair(1, [2]))
    [1, 2]
    """
    register_pytree_node(cls, lambda node: node.tree_flatten(), cls.tree_unflatten)  # type: ignore[attr-defined]
    return cls


def register_pytree_with_keys(
    nodetype: type,
    flatten_with_keys: Callable[[Any], tuple[Iterable[tuple[Any, Any]], Hashable]],
    unflatten_func: Callable[[Any, Sequence[Any]], Any],
    flatten_func: Callable[[Any], tuple[Iterable[Any], Hashable]] | None = None,
) -> None:
    """Make instances of a class containers whose children have names in paths.

    Parameters
    ----------
    nodetype : type
    flatten_with_keys : callable
        ``flatten_with_keys(node) -> (pairs of path key and child, metadata)``; the metadata must be hashable.
    unflatten_func : callable
        ``unflatten_func(metadata, children) -> node``.
    flatten_func : callable, optional
        ``flatten_func(node) -> (children, metadata)``, where that is faster without keys.

    Raises
    ------
    ArgumentError
        If the class is registered already.

    Examples
    --------
    >>> from numhlo.tree_util import GetAttrKey, keystr, tree_leaves_with_path
    >>> class Box:
    ...     def __init__(self, inside):
    ...         self.inside = inside
    >>> register_pytree_with_keys(
    ...     Box, lambda box: ([(GetAttrKey("inside"), box.inside)], None), lambda metadata, children: Box(*children)
    ... )
    >>> [(keystr(path), leaf) for path, leaf in tree_leaves_with_path([Box(7)])]
    [('[0].inside', 7)]
    """

    def without_keys(node: Any) -> tuple[list[Any], Hashable]:
        pairs, metadata = flatten_with_keys(node)
        return [child for _, child in pairs], metadata

    register_pytree_node(nodetype, flatten_func or without_keys, unflatten_func, flatten_with_keys)


def register_pytree_with_keys_class(cls: ClassT) -> ClassT:
    """Make a class with methods ``tree_flatten_with_keys`` and ``tree_unflatten`` (a class method) a container.

    A decorator; a method ``tree_flatten``, where there is one, is used when nobody asks for keys.

    Parameters
    ----------
    cls : type

    Returns
    -------
    type
        The same.

    Raises
    ------
    ArgumentError
        If the class is registered already.

    Examples
    --------
    >>> from numhlo.tree_util import GetAttrKey, keystr, tree_leaves_with_path
    >>> @register_pytree_with_keys_class
    ... class Box:
    ...     def __init__(self, inside):
    ...         self.inside = inside
    ...     def tree_flatten_with_keys(self):
    ...         return [(GetAttrKey("inside"), self.inside)], None
    ...     @classmethod
    ...     def tree_unflatten(cls, metadata, children):
    ...         return cls(*children)
    >>> [keystr(path) for path, _ in tree_leaves_with_path(Box([1, 2]))]
    ['.inside[0]', '.inside[1]']
    """
    methods: Any = cls
    plain = getattr(cls, "tree_flatten", None)
    register_pytree_with_keys(cls, methods.tree_flatten_with_keys, methods.tree_unflatten, plain)
    return cls


def static(**kwargs: Any) -> Any:
    """Return a dataclass's field that `register_dataclass` takes for a part of the structure.

    Parameters
    ----------
    **kwargs
        Those of `dataclasses.field`.

    Returns
    -------
    dataclasses.Field

    Examples
    --------
    >>> from numhlo.tree_util import tree_leaves
    >>> @register_dataclass
    ... @dataclasses.dataclass
    ... class Step:
    ...     size: float
    ...     kind: str = static(default="fixed")
    >>> tree_leaves(Step(0.5))
    [0.5]
    """
    metadata = {**(kwargs.pop("metadata", None) or {}), "static": True}
    return dataclasses.field(metadata=metadata, **kwargs)


def register_static(cls: ClassT) -> ClassT:
    """Make a hashable class a container without leaves: all of it is structure; a decorator.

    Parameters
    ----------
    cls : type

    Returns
    -------
    type
        The same.

    Raises
    ------
    ArgumentError
        If the class is registered already.

    Examples
    --------
    >>> from numhlo.tree_util import tree_leaves
    >>> @register_static
    ... class Mode(str):
    ...     pass
    >>> tree_leaves([Mode("fast"), 1])
    [1]
    """
    register_pytree_node(cls, lambda node: ((), node), lambda node, _: node)
    return cls


def register_dataclass(
    nodetype: ClassT,
    data_fields: Sequence[str] | None = None,
    meta_fields: Sequence[str] | None = None,
    drop_fields: Sequence[str] = (),
) -> ClassT:
    """Make a dataclass a container; a decorator.

    Parameters
    ----------
    nodetype : type
    data_fields, meta_fields : sequence of str, optional
        Fields that hold subtrees, and fields that are part of the structure. Without both, fields made with
        ``field(metadata={"static": True})`` are metadata and all others data.
    drop_fields : sequence of str, optional
        Fields that neither is kept of.

    Returns
    -------
    type
        The same.

    Raises
    ------
    ArgumentError
        If the fields are not those of the class, or it is registered already.

    Examples
    --------
    >>> from numhlo.tree_util import tree_map
    >>> @register_dataclass
    ... @dataclasses.dataclass
    ... class Layer:
    ...     weights: float
    ...     name: str = dataclasses.field(default="", metadata={"static": True})
    >>> tree_map(lambda x: 2 * x, Layer(1.5, "first"))
    Layer(weights=3.0, name='first')
    """
    data, meta = _dataclass_fields(nodetype, data_fields, meta_fields, drop_fields)

    def flatten(node: Any) -> tuple[list[Any], tuple[Any, ...]]:
        return [getattr(node, f) for f in data], tuple([getattr(node, f) for f in meta])

    def unflatten(metadata: tuple[Any, ...], children: Sequence[Any]) -> Any:
        return nodetype(**dict(zip(data, children, strict=True)), **dict(zip(meta, metadata, strict=True)))

    register_pytree_node(nodetype, flatten, unflatten)
    CONTAINERS[nodetype] = dataclasses.replace(CONTAINERS[nodetype], keys=lambda _: [GetAttrKey(f) for f in data])
    return nodetype


def _dataclass_fields(
    nodetype: type, data: Sequence[str] | None, meta: Sequence[str] | None, drop: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if (data is None) != (meta is None):
        raise ArgumentError(
            "register_dataclass: give both data_fields and meta_fields, or neither", where=capture_location()
        )
    if not dataclasses.is_dataclass(nodetype):
        if data is None or meta is None:
            raise ArgumentError(
                f"register_dataclass: {nodetype.__qualname__} is no dataclass",
                where=capture_location(),
                fix="name its data_fields and meta_fields",
            )
        return tuple(data), tuple(meta)
    fields = [f for f in dataclasses.fields(nodetype) if f.init]
    if data is None or meta is None:
        meta = [f.name for f in fields if f.metadata.get("static", False)]
        data = [f.name for f in fields if f.name not in meta and f.name not in drop]
    named, expected = {*data, *meta}, {f.name for f in fields} - set(drop)
    if named != expected:
        raise ArgumentError(
            f"register_dataclass: {nodetype.__qualname__} has the fields {sorted(expected)}, got {sorted(named)}",
            where=capture_location(),
            fix="name each field once, in data_fields, meta_fields or drop_fields",
        )
    return tuple(data), tuple(meta)


class Partial(functools.partial):
    """`functools.partial` as a container: its arguments are subtrees, its function is structure.

    Parameters
    ----------
    func : callable
        Hashable.
    *args, **keywords
        Pytrees.

    Examples
    --------
    >>> from numhlo.tree_util import tree_leaves
    >>> tree_leaves(Partial(max, 1, key=2))
    [1, 2]
    """


register_pytree_node(
    Partial,
    lambda node: ((node.args, node.keywords), node.func),
    lambda func, children: Partial(func, *children[0], **children[1]),
)
