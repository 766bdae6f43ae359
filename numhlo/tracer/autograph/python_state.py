"""What Python's objects hold before a body is traced, so that it can be put back.

A body that is traced for all rounds at once runs in Python once or a few times, whatever the number of rounds. So
what it does to lists, objects and variables that are no part of its state (``self.steps += 1`` in a method,
``log.append(x)`` in a helper) must not stay.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable
from types import CellType, FunctionType, MethodType
from typing import Any

from numhlo.tracer.libraries import is_library

MOST_OBJECTS = 10_000


class PythonState:
    """The contents of the containers, objects and variables that can be reached from some values.

    Parameters
    ----------
    roots : iterable
    own : collection of (int, str)
        Attributes that don't count, by their objects' ids.
    most : int
        How many objects are looked at.

    Attributes
    ----------
    whole : bool
        Whether all of it was small enough to be looked at.
    draws : bool
        Whether there is something among it that can only be used up, such as iterators and open files.
    """

    def __init__(self, roots: Iterable[Any], own: Collection[tuple[int, str]] = (), most: int = MOST_OBJECTS) -> None:
        self._own = frozenset(own)
        self._kept: list[tuple[Any, Any, tuple[Any, ...]]] = []
        seen: dict[int, Any] = {}
        waiting = list(roots)
        self.draws = False
        while waiting and len(seen) < most:
            found = waiting.pop()
            if id(found) not in seen:
                seen[id(found)] = found
                self.draws = self.draws or hasattr(type(found), "__next__")
                waiting += self._parts(found)
        self.whole = not waiting

    def _parts(self, x: Any) -> Iterable[Any]:
        """Return what a value holds, and keep a note of it."""
        if isinstance(x, tuple):
            return x
        if isinstance(x, MethodType):
            return x.__func__, x.__self__
        if isinstance(x, FunctionType):
            return self._parts_of_function(x)
        if isinstance(x, list | dict | set | deque | CellType):
            kept = _contents(x)
            self._kept.append((x, x, kept))
            return kept
        own = getattr(x, "__dict__", None)
        if type(own) is not dict or is_library(type(x).__module__):
            return ()
        kept = self._without_own(x, own)
        self._kept.append((x, own, kept))
        return kept

    def _parts_of_function(self, fun: FunctionType) -> Iterable[Any]:
        if is_library(fun.__module__):
            return ()
        outer = (fun.__globals__.get(name) for name in fun.__code__.co_names)
        return [*(fun.__closure__ or ()), *(fun.__defaults__ or ()), *[x for x in outer if not isinstance(x, type)]]

    def _without_own(self, x: Any, attributes: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(part for name, v in attributes.items() if (id(x), name) not in self._own for part in (name, v))

    def has_changed(self) -> bool:
        """Return whether something holds other objects than before."""
        for holder, x, kept in self._kept:
            now = _contents(x) if holder is x else self._without_own(holder, x)
            if len(now) != len(kept) or any(a is not b for a, b in zip(now, kept, strict=True)):
                return True
        return False

    def put_back(self) -> None:
        """Make everything hold what it held."""
        for holder, x, kept in self._kept:
            if holder is not x:
                own = {name: v for name, v in x.items() if (id(holder), name) in self._own}
                x.clear()
                x.update(zip(kept[::2], kept[1::2], strict=True), **own)
            else:
                _refill(x, kept)


def _contents(x: Any) -> tuple[Any, ...]:
    if isinstance(x, dict):
        return tuple(part for pair in x.items() for part in pair)
    if isinstance(x, CellType):
        try:
            return (x.cell_contents,)
        except ValueError:
            return ()
    return tuple(x)


def _refill(x: Any, kept: tuple[Any, ...]) -> None:
    if isinstance(x, CellType):
        if kept:
            x.cell_contents = kept[0]
        return
    x.clear()
    if isinstance(x, dict):
        x.update(zip(kept[::2], kept[1::2], strict=True))
    elif isinstance(x, set):
        x.update(kept)
    else:
        x.extend(kept)
