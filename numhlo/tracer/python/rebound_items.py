"""Items of argument containers that a traced function rebinds: ``params["w"] = w`` is done to the caller's dict, too.

A traced function works on containers of its own, put together from the leaves. This file knows how to tell what it did
to their items, and how to repeat that on the caller's containers: dicts, lists, and the attributes of registered
classes. Writes into arrays are `views`' matter. Under JAX's rules nothing is written back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import MutationError
from numhlo.lowering.ir.records import record
from numhlo.tracer.core.operands import Unsized
from numhlo.tracer.core.trace import Tracer
from numhlo.tracer.trees.pytrees import PyTreeDef, find_container, tree_flatten, tree_unflatten

Path = tuple[Any, ...]
"""Keys, places and names of attributes, from the outermost container to an inner one."""


@record(slots=True, frozen=True)
class _Kept:
    """An item that was in the container before: as it is, wherever it stands now."""

    key: Any


@record(slots=True, frozen=True)
class _New:
    """An item that was not: a tree, each of its leaves a result of the call or the leaf itself."""

    tree: PyTreeDef
    leaves: tuple[Any, ...]


@record(slots=True, frozen=True)
class _Result:
    """A result of the call by its number; a weak one stands for a Python scalar."""

    number: int
    weak: bool


@record(slots=True, frozen=True, eq=False)
class ReboundItems:
    """What a traced function did to the items of its arguments' containers.

    Parameters
    ----------
    containers : sequence of (path, items)
        The containers that changed, and all that each holds now.
    count : int
        Of results that the items take and the function does not return.
    """

    containers: Sequence[tuple[Path, Sequence[tuple[Any, _Kept | _New]]]]
    count: int

    def check(self, arguments: Any) -> None:
        """Raise unless each container that changes is met once only.

        Raises
        ------
        MutationError
            If it is another item of the arguments, too.
        """
        met: dict[int, int] = {}
        waiting = [arguments]
        while waiting:
            holder = _items_of(waiting.pop())
            met[id(holder)] = met.get(id(holder), 0) + (not isinstance(holder, tuple))
            waiting += [item for _, item in _pairs(holder)]
        for path, _ in self.containers:
            holder = _follow(arguments, path)
            if met[id(holder)] > 1:
                raise MutationError(
                    f"a jitted function rebinds items of a {type(holder).__name__} that its arguments hold twice",
                    where=capture_location(),
                    why="the function was traced as if the two were separate containers",
                    fix="pass a copy of one of them",
                )

    def repeat(self, arguments: Any, results: Sequence[Any]) -> None:
        """Do the same to other containers of the same structure, with the results of a call.

        Parameters
        ----------
        arguments : pytree
            Of the structure that was traced.
        results : sequence of array
        """
        changed = []
        for path, items in self.containers:
            holder = _follow(arguments, path)
            changed.append((holder, [(key, _build(part, holder, results)) for key, part in items]))
        for holder, found in changed:
            _replace_items(holder, found)


class ContainerWatch:
    """A look at the containers among a function's arguments before it runs.

    Parameters
    ----------
    arguments : pytree

    Attributes
    ----------
    result : pytree
        What the function returned, once it did.
    """

    result: Any

    def __init__(self, arguments: Any) -> None:
        self._seen: list[tuple[Path, Any, list[tuple[Any, Any]]]] = []
        self._look((), arguments)

    def _look(self, path: Path, node: Any) -> None:
        holder = _items_of(node)
        items = list(_pairs(holder))
        if not isinstance(holder, tuple):
            self._seen.append((path, holder, items))
        for key, item in items:
            self._look((*path, key), item)

    def rebound(self, results: Sequence[Any]) -> tuple[ReboundItems | None, list[Tracer]]:
        """Return what was done to the containers since, and the traced arrays that it takes beyond ``results``."""
        numbers = {id(leaf): k for k, leaf in enumerate(results) if isinstance(leaf, Tracer)}
        extra: list[Tracer] = []

        def describe(item: Any, before: Sequence[tuple[Any, Any]]) -> _Kept | _New:
            for key, old in before:
                if old is item:
                    return _Kept(key)
            leaves, tree = tree_flatten(item)
            return _New(tree, tuple([result_of(leaf) for leaf in leaves]))

        def result_of(leaf: Any) -> Any:
            if isinstance(leaf, Unsized):
                leaf.refuse(leaf.location)
            if not isinstance(leaf, Tracer):
                return leaf
            if id(leaf) not in numbers:
                numbers[id(leaf)] = len(results) + len(extra)
                extra.append(leaf)
            return _Result(numbers[id(leaf)], leaf.weak)

        changed = []
        for path, holder, before in self._seen:
            now = list(_pairs(holder))
            if len(now) != len(before) or any(k != n or v is not w for (k, v), (n, w) in zip(before, now, strict=True)):
                changed.append((path, [(key, describe(item, before)) for key, item in now]))
        return (ReboundItems(changed, len(extra)) if changed else None), extra


def _items_of(node: Any) -> Any:
    """Return what holds a container's items: itself, or an object's attributes; an empty tuple for a leaf."""
    if type(node) in (dict, list, tuple) or (isinstance(node, dict | tuple) and find_container(type(node)) is not None):
        return node
    return () if find_container(type(node)) is None else getattr(node, "__dict__", ())


def _follow(arguments: Any, path: Path) -> Any:
    """Return what holds the items of the container at the end of a path."""
    for key in path:
        arguments = _items_of(arguments)[key]
    return _items_of(arguments)


def _pairs(holder: Any) -> Iterable[tuple[Any, Any]]:
    return holder.items() if isinstance(holder, dict) else enumerate(holder)


def _build(part: _Kept | _New, holder: Any, results: Sequence[Any]) -> Any:
    if isinstance(part, _Kept):
        return holder[part.key]
    return tree_unflatten(part.tree, [_leaf(leaf, results) for leaf in part.leaves])


def _leaf(leaf: Any, results: Sequence[Any]) -> Any:
    if not isinstance(leaf, _Result):
        return leaf
    found = results[leaf.number]
    return found.item() if leaf.weak and not isinstance(found, Tracer) else found


def _replace_items(holder: Any, items: Sequence[tuple[Any, Any]]) -> None:
    if isinstance(holder, list):
        holder[:] = [item for _, item in items]
        return
    for key in holder.keys() - dict(items).keys():
        del holder[key]
    holder.update(items)  # those that stay keep their order
