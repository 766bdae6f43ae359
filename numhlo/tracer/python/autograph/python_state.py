"""What Python's objects hold before a body is traced, so that it can be put back.

A body that is traced for all iterations at once runs in Python once or a few times, whatever their number. So
what it does to lists, objects and variables that are no part of its state (``self.steps += 1`` in a method,
``log.append(x)`` in a helper) must not stay.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, NoReturn

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import LeakedTracerError, UnsupportedError
from numhlo.tracer.core.installed_code import is_library
from numhlo.tracer.core.trace import Tracer
from numhlo.tracer.python.autograph.object_contents import Content, are_same, contents_of, is_used_up
from numhlo.tracer.python.code_references import outer_names
from numhlo.tracer.python.frozen_draws import is_generator

MOST_OBJECTS = 10_000
FEW_OBJECTS = 1000
"""How many are looked at for a branch, of which there may be many."""

_PLAIN = frozenset({int, float, bool, complex, str, bytes, type(None), np.float64, np.int64, np.bool_, Tracer})
"""Classes of what holds nothing."""


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
        self._kept: list[tuple[Any, Content, tuple[Any, ...]]] = []
        seen: dict[int, Any] = {}
        waiting = list(roots)
        self.draws = False
        while waiting and len(seen) < most:
            found = waiting.pop()
            if id(found) not in seen:
                seen[id(found)] = found
                self.draws = self.draws or is_used_up(found)
                waiting += _leads_to(found)
                for content in contents_of(found, self._own):
                    kept = content.read()
                    self._kept.append((found, content, kept))
                    waiting += [x for x in kept if type(x) not in _PLAIN]
        self.whole = not waiting
        self._seen = [*seen.values()]

    def arrays(self) -> list[np.ndarray]:
        """Return NumPy's arrays among what was looked at, whose elements are not."""
        return [x for x in self._seen if isinstance(x, np.ndarray)]

    def has_changed(self) -> bool:
        """Return whether something holds other objects than before."""
        return bool(self.changed())

    def changed(self) -> list[Any]:
        """Return the objects that hold others than before."""
        return [x for x, content, kept in self._kept if not are_same(content.read(), kept)]

    def put_back(self) -> None:
        """Make everything hold what it held."""
        for _, content, kept in self._kept:
            if not are_same(content.read(), kept):
                content.write(kept)


@contextmanager
def leaving_alone(what: str, roots: Iterable[Any], own: Collection[tuple[int, str]] = ()) -> Iterator[None]:
    """Raise `UnsupportedError` if what is traced in the block, though it may not run, changes objects of Python's.

    Parameters
    ----------
    what : str
        The statement or the operation.
    roots : iterable
        Its functions and variables.
    own : collection of (int, str)
        Attributes that are variables of its own.
    """
    state = PythonState(roots, own, FEW_OBJECTS)
    changed: list[Any] = []
    try:
        yield
        changed = state.changed()
    except LeakedTracerError:
        changed = state.changed()
        if not changed:
            raise
    if changed:
        state.put_back()
        _refuse(what, changed)


def _refuse(what: str, changed: list[Any]) -> NoReturn:
    cls = type(changed[0])
    drawn = "a random generator" if any(map(is_generator, changed)) else ""
    drawn = drawn or ("an iterator" if any(map(is_used_up, changed)) else "")
    name = cls.__name__.replace("cell", "variable") if is_library(cls.__module__) else f"{cls.__name__} object"
    does = f"changes {'an' if name[0] in 'AEIOUaeiou' else 'a'} {name} in a function that it calls"
    raise UnsupportedError(
        f"{what} on a traced condition {f'draws from {drawn}' if drawn else does}",
        where=capture_location(),
        why="Python would do so only where the condition holds, and as often",
        fix="draw before, and choose by the condition" if drawn else "do it in the statement itself, or return a value",
    )


def _leads_to(x: Any) -> Iterable[Any]:
    """Return what can be reached from a value, beside what it holds now."""
    if isinstance(x, tuple):
        return x
    if isinstance(x, MethodType):
        return x.__func__, x.__self__
    if isinstance(x, BuiltinFunctionType):
        return () if isinstance(x.__self__, ModuleType) else (x.__self__,)
    if isinstance(x, functools.partial):
        return x.func, *x.args, *x.keywords.values()
    if isinstance(x, FunctionType):
        return () if is_library(x.__module__) else _outside(x)
    if isinstance(x, staticmethod | classmethod | property | functools.cached_property):
        names = ("__func__", "fget", "fset", "func")
        return [getattr(x, name) for name in names if hasattr(x, name)]
    if isinstance(x, type):
        return () if is_library(x.__module__) else x.__bases__
    return (type(x),)


def _outside(fun: FunctionType) -> list[Any]:
    """Return what a function finds in its closure, its defaults, its module, and modules of the user's."""
    names, found = outer_names(fun.__code__), []
    for value in [fun.__globals__.get(name) for name in names]:
        if not isinstance(value, ModuleType):
            found.append(value)
        elif not is_library(value.__name__):
            found += [vars(value)[name] for name in names & vars(value).keys()]
    return [*(fun.__closure__ or ()), *(fun.__defaults__ or ()), *(fun.__kwdefaults__ or {}).values(), *found]
