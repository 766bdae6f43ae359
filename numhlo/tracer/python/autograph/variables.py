"""The variables that a branch or a loop changes, and what becomes of them afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.tracer.control_flow.bodies import is_known
from numhlo.tracer.core.promotion import TRACEABLE
from numhlo.tracer.core.trace import Tracer
from numhlo.tracer.python.autograph.undefined import InLoops, Later, Undefined
from numhlo.tracer.trees.pytrees import tree_leaves


def put(owner: Any, attribute: str, value: Any) -> None:
    """Give an object an attribute; none where it has no value."""
    if not isinstance(value, Undefined):
        setattr(owner, attribute, value)
    elif attribute in getattr(owner, "__dict__", ()):
        delattr(owner, attribute)


class Variables:
    """The variables that a branch or a loop changes.

    Parameters
    ----------
    names : sequence of str
    values : sequence
        Before.
    in_place : sequence of str
        Those whose arrays are changed in place.
    mixed : sequence of str
        Those that are changed in place and bound to another object, too.
    owners : sequence of (str, callable), optional
        Of names that are attributes, as ``self.total``: what gives the object.
    shared : sequence, optional
        Values of variables that are changed in place and that functions inside use: arrays, or nothing can be told.
    """

    def __init__(
        self,
        names: Sequence[str],
        values: Sequence[Any],
        in_place: Iterable[str] = (),
        mixed: Iterable[str] = (),
        owners: Iterable[tuple[str, Callable[[], Any]]] = (),
        shared: Sequence[Any] = (),
    ) -> None:
        self.names, self.values = tuple(names), tuple(values)
        self.in_place, self.mixed = frozenset(in_place), frozenset(mixed)
        self.owners, self.shared = dict(owners), shared

    def having(self, values: Sequence[Any]) -> Variables:
        """Return the same variables with other values."""
        return Variables(self.names, values, self.in_place, self.mixed, self.owners.items(), self.shared)

    def missing(self, kinds: type | tuple[type, ...] = Later) -> list[str]:
        """Return the names of those that have no value yet, but surely will where it is asked for."""
        return [n for n, v in zip(self.names, self.values, strict=True) if isinstance(v, kinds)]

    def unrun(self) -> tuple[Any, ...]:
        """Return the values after a loop that did not run, or may not have run."""
        return tuple(
            Undefined(n) if isinstance(v, InLoops) else v for n, v in zip(self.names, self.values, strict=True)
        )

    def check(self, what: str) -> None:
        """Raise where an array's changes could not be told from those of the object that takes its name."""
        for found in self.shared:
            if isinstance(found, list | dict | set):
                raise UnsupportedError(
                    f"{what} on a traced condition changes a {type(found).__name__} that a function inside uses",
                    where=capture_location(),
                    why="only arrays can be told apart afterwards wherever they are seen",
                    fix="use an array, or hand it to the function as an argument",
                )
        for name, found in zip(self.names, self.values, strict=True):
            if name in self.mixed and isinstance(found, np.ndarray):
                raise written_and_bound(what, name)
            if name in self.in_place and isinstance(found, list | dict | set) and not is_traceable(found):
                raise UnsupportedError(
                    f"{what} on a traced condition changes the {type(found).__name__} {name!r}",
                    where=capture_location(),
                    why="only lists and dicts of arrays and numbers can be told apart afterwards",
                    fix="change it outside, or keep numbers in it",
                )

    def attributes(self) -> set[tuple[int, str]]:
        """Return those that are attributes: their objects' ids, and their names there."""
        return {(id(owner()), name.rpartition(".")[2]) for name, owner in self.owners.items()}

    def split(self) -> dict[str, Any]:
        """Return those that traced code can carry, by name."""
        return {n: v for n, v in zip(self.names, self.values, strict=True) if is_traceable(v)}

    def filled(self, carried: dict[str, Any]) -> list[Any]:
        """Return all values, those carried replaced."""
        return [carried.get(n, v) for n, v in zip(self.names, self.values, strict=True)]

    def finished(self, after: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the values after a branch or loop, given by name; containers changed in place are the same objects."""
        found = []
        for name, before in zip(self.names, self.values, strict=True):
            new = after.get(name, before)
            if name in self.in_place and name in after and isinstance(before, np.ndarray):
                before[...] = new
                new = before
            elif name in self.in_place and type(before) in (list, dict) and type(new) is type(before):
                new = _refilled(before, new)
            if name in self.owners:
                put(self.owners[name](), name.rpartition(".")[2], new)
            found.append(new)
        return tuple(found)


def _refilled(container: Any, new: Any) -> Any:
    """Return a list or dict that holds what another one does."""
    kept = new.copy()
    container.clear()
    container.extend(kept) if isinstance(container, list) else container.update(kept)
    return container


def written_and_bound(what: str, name: str) -> UnsupportedError:
    """Return the error for a variable whose array is written into, and in whose place there is another one then."""
    return UnsupportedError(
        f"{what} on a traced condition writes into the array {name!r} and binds the name again",
        where=capture_location(),
        fix="use another name for the new array",
    )


def is_traceable(x: Any) -> bool:
    """Return whether a value can be an operand of control flow: arrays, numbers, and containers of them."""
    if isinstance(x, Undefined) or callable(x):
        return False
    return all(
        isinstance(leaf, Tracer | bool | int | float | complex)
        or (isinstance(leaf, np.ndarray | np.generic) and leaf.dtype in TRACEABLE)
        for leaf in tree_leaves(x)
    )


def is_unknown(x: Any) -> bool:
    """Return whether Python can't branch on a value."""
    return isinstance(x, Tracer) and not is_known(x)
