"""The walk that finds captured state: what a user's function, and all that it calls, reads beyond its arguments.

Loads of globals, closure cells and static parameters are followed through attributes and constant items; containers and
objects that are used as a whole are taken apart. Code of Python's library, installed packages and numhlo is taken to be
constant.

Not seen: names put together at run time (``getattr(x, name)``, ``globals()[name]``) and objects that only such code can
reach. Arrays found that way are still compared by content for as long as they live.
"""

from __future__ import annotations

import functools
import gc
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from operator import attrgetter, itemgetter
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from numhlo.compilation.captured_state import Content, Guards, Watch, codes_of, contents_of
from numhlo.lowering.ir.errors import MutationError
from numhlo.lowering.ir.records import record
from numhlo.tracer.core.installed_code import is_library
from numhlo.tracer.core.trace import Tracer
from numhlo.tracer.python.code_references import Reference, references_of
from numhlo.tracer.python.frozen_draws import is_generator, state_of

MOST_OBJECTS = 20_000
"""Objects that a walk takes apart."""

MOST_FUNCTIONS = 2_000
"""Functions whose bytecode a walk reads, at 0.4 ms each."""

WRITERS = frozenset({"add", "append", "appendleft", "extend", "insert"})
"""Methods of containers that only write: calling them does not make a trace depend on what the container holds."""

_NAMESPACES = frozenset({("types", "SimpleNamespace"), ("argparse", "Namespace")})
"""Library classes whose instances hold the user's values."""

_MISSING: Any = object()


@record(slots=True)
class _Items:
    """Items of one source that are to be watched."""

    source: Any
    getter: Callable[..., Callable[[Any], Any]]
    is_class: bool = False
    values: dict[Any, tuple[Any, str]] = field(default_factory=dict)

    def watch(self) -> Watch:
        keys = [*self.values] * (2 if len(self.values) == 1 else 1)  # a getter of one key returns no tuple
        return Watch(
            self.getter(*keys),
            self.source,
            tuple(self.values[k][0] for k in keys),
            tuple(self.values[k][1] for k in dict.fromkeys(keys)),
        )

    def put_back(self) -> list[tuple[str, Any]]:
        """Restore items that hold traced arrays now; return their names and what they held."""
        lost = []
        for key, (old, name) in self.values.items():
            try:
                found = self.getter(key)(self.source)
            except (LookupError, AttributeError):
                continue
            if not _is_lost(found, old):
                continue
            if self.getter is attrgetter:
                setattr(self.source, key, old)
            elif isinstance(self.source, dict | list) and not self.is_class:
                self.source[key] = old
            else:
                continue
            lost.append((name, found))
        return lost


@record(slots=True)
class _ArrayUse:
    """An array that was found, and the loads that it was found by."""

    array: np.ndarray
    name: str
    loads: list[CodeType] = field(default_factory=list)
    exact: bool = True


class CapturedWalk:
    """What has been found so far; one walk serves a whole trace, with all functions traced inside it.

    Attributes
    ----------
    generators : list of (generator, str, str)
        Random generators, what they are called, and their states when they were found.
    """

    def __init__(self) -> None:
        self.generators: list[tuple[Any, str, str]] = []
        self._items: dict[tuple[int, Any], _Items] = {}
        self._cells: dict[int, tuple[CellType, Any, str]] = {}
        self._wholes: dict[int, Watch] = {}
        self._arrays: dict[int, _ArrayUse] = {}
        self._namespaces: dict[type, Mapping[str, Any]] = {}
        self._functions: list[FunctionType] = []
        self._visited: set[Any] = set()
        self._kept: list[Any] = []  # ids in `_visited` stay valid

    def arrays(self) -> dict[int, np.ndarray]:
        """Return the arrays that were found, by id."""
        return {key: use.array for key, use in self._arrays.items()}

    def guards(self, lifts: Mapping[int, set[Any]], copied: Iterable[weakref.ref[np.ndarray]]) -> Guards:
        """Return the guards of a finished trace, which must be gone, from its `lifts` and `copied`.

        An array that was copied into the graph and is still alive belongs to somebody, who may change it.
        """
        watches = [*self._wholes.values(), *[items.watch() for items in self._items.values()]]
        if self._cells:
            cells, contents, names = zip(*self._cells.values(), strict=True)
            watches.append(Watch(contents_of, cells, contents, names))
        if self._functions:
            functions = tuple(self._functions)
            watches.append(
                Watch(codes_of, functions, codes_of(functions), tuple(f"function {f.__qualname__}" for f in functions))
            )
        saved = [Content(u.array, u.name) for key, u in self._arrays.items() if _is_consumed(u, lifts.get(key, ()))]
        alive = [ref() for ref in copied]
        saved += [Content(a, "a captured array", weak=True) for a in alive if a is not None]
        return Guards(watches, saved)

    def put_back(self) -> list[tuple[str, Any]]:
        """Put back what traced code has rebound to a traced array; return the names, and what they were bound to."""
        lost = []
        for cell, old, name in self._cells.values():
            if _is_lost(cell.cell_contents, old):
                lost.append((name, cell.cell_contents))
                cell.cell_contents = old
        for items in self._items.values():
            lost += items.put_back()
        return lost

    def refuse(self, lost: Sequence[tuple[str, Any]]) -> None:
        """Raise `MutationError` for names that were rebound: only the call that traces would have done it."""
        for name, found in lost:
            array = found if isinstance(found, Tracer) else next(x for x in _parts(found) if isinstance(x, Tracer))
            raise MutationError(
                f"{name} was rebound to a traced array",
                where=array.cell.location,
                why="the function is traced once, and its later calls would not rebind it",
                fix="return the new value and assign it outside, or pass the old one in as an argument",
            )

    def add_callable(self, fun: Any, bound: Mapping[str, Any] | None = None) -> None:
        """Follow the function that is about to be traced; ``bound`` has its static arguments by name."""
        if isinstance(fun, FunctionType):
            self._visit_function(fun, bound or {}, root=True)
        elif isinstance(fun, MethodType) and isinstance(fun.__func__, FunctionType):
            self._visit_function(
                fun.__func__, {_first_parameter(fun.__func__): fun.__self__, **(bound or {})}, root=True
            )
        elif isinstance(fun, MethodType):
            self._visit(fun.__self__, getattr(fun, "__qualname__", "the method's object"))  # an extension's method
        elif isinstance(fun, functools.partial):
            self._visit((fun.args, fun.keywords), "the partial's arguments")
            self.add_callable(fun.func, bound)
        else:
            self._visit(fun, getattr(fun, "__qualname__", "the function"))

    def add_class(self, cls: type) -> None:
        """Follow the methods of a class, any of which may be called."""
        if is_library(cls.__module__) or not self._is_new(cls):
            return
        for base in cls.__mro__:
            if is_library(base.__module__):
                continue
            for key, value in vars(base).items():
                if _function_of(value) is not None:
                    self._visit_function(_function_of(value), {})
                    self._watch(self._namespace(base), itemgetter, key, value, f"{base.__qualname__}.{key}")
                elif not key.startswith("__") and not hasattr(value, "__get__"):
                    self._watch(self._namespace(base), itemgetter, key, value, f"{base.__qualname__}.{key}")
                    self._visit(value, f"{base.__qualname__}.{key}")

    def _namespace(self, cls: type) -> Mapping[str, Any]:
        """Return a class's attributes: the same object every time, and where Python gives it the dict that holds them.

        Native code looks into dicts. Nothing may be written into this one: Python would go on with what it has cached.
        """
        found = self._namespaces.get(cls)
        if found is None:
            view = cls.__dict__
            held = gc.get_referents(view)
            found = held[0] if len(held) == 1 and type(held[0]) is dict else view
            self._namespaces[cls] = found
        return found

    def _is_new(self, key: Any) -> bool:
        if id(key) in self._visited or len(self._visited) >= MOST_OBJECTS:
            return False
        self._visited.add(id(key))
        self._kept.append(key)
        return True

    def _visit_function(self, fun: Any, bound: Mapping[str, Any], *, root: bool = False) -> None:
        if not isinstance(fun, FunctionType):
            return
        mark = (fun, tuple((name, id(value)) for name, value in bound.items()))
        if mark in self._visited or len(self._functions) >= MOST_FUNCTIONS:
            return
        self._visited.add(mark)
        self._kept.append(tuple(bound.values()))
        cells = dict(zip(fun.__code__.co_freevars, fun.__closure__ or (), strict=True))
        if is_library(fun.__module__):
            self._visit_wrapper(fun, cells.values())
            return
        if not root and not _is_made_while_tracing(fun):
            self._functions.append(fun)
        for default in (*(fun.__defaults__ or ()), *(fun.__kwdefaults__ or {}).values()):
            self._visit(default, f"a default of {fun.__qualname__}")
        for reference in references_of(fun.__code__):
            self._follow(reference, fun, cells, bound)
        if "__class__" in cells:  # super(): attributes are found where the bytecode does not show
            for value in bound.values():
                self._visit(value, "self")

    def _visit_wrapper(self, fun: FunctionType, cells: Iterable[CellType]) -> None:
        """Follow the user's functions inside one of the library's, such as the result of `grad`."""
        inner = [c.cell_contents for c in cells if _is_full(c)] + [getattr(fun, "__wrapped__", None)]
        for value in inner:
            if callable(value):
                self._visit(value, getattr(value, "__qualname__", "a wrapped function"))

    def _follow(
        self, reference: Reference, fun: FunctionType, cells: Mapping[str, CellType], bound: Mapping[str, Any]
    ) -> None:
        value, name = _MISSING, reference.name
        if reference.kind == "global" and name in fun.__globals__:
            value, name = fun.__globals__[name], f"global {reference.name}"
            self._watch(fun.__globals__, itemgetter, reference.name, value, name)
        elif reference.kind == "cell" and name in cells and _is_full(cells[name]):
            cell = cells[name]
            value, name = cell.cell_contents, f"variable {reference.name} around {fun.__qualname__}"
            if not _is_constant(value) and not _is_made_while_tracing(value):
                self._cells[id(cell)] = (cell, value, name)
        elif reference.kind == "local":
            value = bound.get(name, _MISSING)
        for link, key in reference.links:
            if value is _MISSING or isinstance(value, np.ndarray):
                break  # the link is one of the array's own attributes
            holder = value
            value, name = self._attribute(value, key, name) if link == "attribute" else self._item(value, key, name)
            if value is _MISSING and key not in WRITERS:
                self._visit(holder, name)
        if value is not _MISSING and not reference.written:
            self._visit(value, name, reference)

    def _watch(self, source: Any, getter: Callable[..., Any], key: Any, value: Any, name: str) -> None:
        """Watch one item, unless nobody rebinds what it holds."""
        if not _is_constant(value):
            is_class = any(source is namespace for namespace in self._namespaces.values())
            items = self._items.setdefault((id(source), getter), _Items(source, getter, is_class))
            items.values.setdefault(key, (value, name))

    def _item(self, value: Any, key: Any, name: str) -> tuple[Any, str]:
        """Return ``value[key]`` of a plain dict, list or tuple, watched; else what stands for unknown."""
        try:
            found = value[key] if type(value) in (dict, list, tuple) else _MISSING
        except (KeyError, IndexError, TypeError):
            found = _MISSING
        if found is _MISSING:
            return _MISSING, name
        name = f"{name}[{key!r}]"
        if type(value) is not tuple:
            self._watch(value, itemgetter, key, found, name)
        return found, name

    def _attribute(self, value: Any, key: str, name: str) -> tuple[Any, str]:
        """Return ``value.key``, watched where it is stored; what stands for unknown where code computes it."""
        dotted = f"{name}.{key}"
        if isinstance(value, ModuleType):
            if is_library(value.__name__) or key not in vars(value):
                return _MISSING, name
            self._watch(vars(value), itemgetter, key, vars(value)[key], dotted)
            return vars(value)[key], dotted
        cls = value if isinstance(value, type) else type(value)
        own = getattr(value, "__dict__", {}) if not isinstance(value, type) else {}
        owner, stored = _class_attribute(cls, key)
        if key in own and not isinstance(stored, property):
            self._watch(own, itemgetter, key, own[key], dotted)
            return own[key], dotted
        if owner is None or is_library(owner.__module__):
            return _MISSING, name
        return self._class_level(value, owner, key, stored, dotted)

    def _class_level(self, value: Any, owner: type, key: str, stored: Any, dotted: str) -> tuple[Any, str]:
        function = _function_of(stored)
        if function is not None:
            self._watch(self._namespace(owner), itemgetter, key, stored, dotted)
            is_bound = not isinstance(value, type) and not isinstance(stored, staticmethod)
            self._visit_function(function, {_first_parameter(function): value} if is_bound else {})
            return None, dotted
        if type(stored).__name__ == "member_descriptor" and not isinstance(value, type):
            found = getattr(value, key, _MISSING)
            if found is not _MISSING:
                self._watch(value, attrgetter, key, found, dotted)
            return found, dotted
        self._watch(self._namespace(owner), itemgetter, key, stored, dotted)
        return stored, dotted

    def _visit(self, value: Any, name: str, reference: Reference | None = None) -> None:
        """Take apart a value that is used as a whole, however deep it is nested."""
        waiting = [*self._visit_one(value, name, reference)]
        while waiting:
            waiting += self._visit_one(waiting.pop(), name)

    def _visit_one(self, value: Any, name: str, reference: Reference | None = None) -> list[Any]:
        """Visit a value, and return its parts, the last one first."""
        if is_generator(value):
            self.generators.append((value, name, state_of(value)))
        elif isinstance(value, np.ndarray):
            use = self._arrays.setdefault(id(value), _ArrayUse(value, name))
            if reference is None or not reference.once:
                use.exact = False
            else:
                use.loads.append(reference.code)
        elif isinstance(value, FunctionType):
            self._visit_function(value, {})
        elif isinstance(value, MethodType | functools.partial):
            self.add_callable(value)
        elif isinstance(value, type):
            self.add_class(value)
        elif self._is_new(value):
            return self._parts_of(value, name)
        return []

    def _parts_of(self, value: Any, name: str) -> list[Any]:
        parts, watch = _take_apart(value, name)
        if watch is not None:
            self._wholes[id(value)] = watch
        wrapped = getattr(value, "__wrapped__", None)
        self.add_class(type(value))
        return [*parts, *[x for x in [wrapped] if callable(x)]][::-1]


def _is_constant(value: Any) -> bool:
    """Return whether a value is a library's module, class or function."""
    if isinstance(value, ModuleType):
        return is_library(value.__name__)
    if isinstance(value, type | FunctionType):
        return is_library(value.__module__)
    return type(value).__name__ in {"builtin_function_or_method", "ufunc", "_ArrayFunctionDispatcher"}


def _take_apart(value: Any, name: str) -> tuple[Iterable[Any], Watch | None]:
    """Return what a container or object holds, and the watch on it; nothing for the library's own objects."""
    items = (f"an item of {name}",)
    if isinstance(value, dict):
        return list(value.values()), Watch(_keys_and_values, value, _keys_and_values(value), items)
    if isinstance(value, list | tuple):
        watch = None if isinstance(value, tuple) else Watch(tuple, value, tuple(value), items)
        return list(value), watch
    if isinstance(value, set):
        return list(value), Watch(_frozen, value, _frozen(value), (name,))
    kind = type(value)
    if isinstance(value, ModuleType) or (
        is_library(kind.__module__) and (kind.__module__, kind.__name__) not in _NAMESPACES
    ):
        return (), None
    slots = [s for c in kind.__mro__ for s in _slots(c) if hasattr(value, s)]
    own = getattr(value, "__dict__", None)
    parts = [*(own or {}).values(), *[getattr(value, s) for s in slots]]
    if own is not None and not slots:
        return parts, Watch(_keys_and_values, own, _keys_and_values(own), (f"an attribute of {name}",))
    read = functools.partial(_read_object, slots=tuple(slots))
    return parts, Watch(read, value, read(value), (f"an attribute of {name}",))


def _keys_and_values(mapping: Mapping[Any, Any]) -> tuple[Any, ...]:
    return (*mapping, *mapping.values())


def _frozen(items: Iterable[Any]) -> tuple[Any, ...]:
    return (frozenset(items),)


def _read_object(value: Any, slots: tuple[str, ...]) -> tuple[Any, ...]:
    return (*_keys_and_values(getattr(value, "__dict__", {})), *[getattr(value, s) for s in slots])


def _slots(cls: type) -> list[str]:
    found = vars(cls).get("__slots__", ())
    names = [found] if isinstance(found, str) else list(found)
    return [n for n in names if not n.startswith("__")]


def _class_attribute(cls: type, key: str) -> tuple[type | None, Any]:
    for base in cls.__mro__:
        if key in vars(base):
            return base, vars(base)[key]
    return None, None


def _function_of(stored: Any) -> Any:
    """Return the Python function behind something that a class holds, or None."""
    if isinstance(stored, staticmethod | classmethod):
        stored = stored.__func__
    if isinstance(stored, property):
        stored = stored.fget
    if not isinstance(stored, FunctionType):
        stored = getattr(stored, "__wrapped__", None)
    return stored if isinstance(stored, FunctionType) else None


def _first_parameter(fun: FunctionType) -> str:
    names = fun.__code__.co_varnames
    return names[0] if names else ""


def _is_lost(found: Any, old: Any) -> bool:
    """Return whether a traced array, or a container of some, has taken something's place."""
    return found is not old and any(isinstance(x, Tracer) for x in (found, *_parts(found)))


def _parts(x: Any) -> Iterable[Any]:
    if type(x) is dict:
        return x.values()
    return x if type(x) in (list, tuple) else ()


def _is_full(cell: CellType) -> bool:
    try:
        return cell.cell_contents is not _MISSING
    except ValueError:
        return False


def _is_made_while_tracing(value: Any) -> bool:
    """Return whether a value is a traced array, or a function around one: each trace makes it anew."""
    waiting, seen = [value], set()
    while waiting:
        found = waiting.pop()
        if isinstance(found, Tracer):
            return True
        if isinstance(found, FunctionType) and id(found) not in seen:
            seen.add(id(found))
            waiting += [c.cell_contents for c in found.__closure__ or () if _is_full(c)]
    return False


def _is_consumed(use: _ArrayUse, lifts: Iterable[tuple[CodeType, int]]) -> bool:
    """Return whether the traced code may have read an array's contents, instead of handing it to traced operations.

    It did not where every load of the array has an operation, in the same code, that took the array as an operand.
    """
    operations = {place for place in lifts if place[0] in use.loads}
    return not use.exact or len(operations) < len(use.loads)
