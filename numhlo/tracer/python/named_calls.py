"""Functions whose source can't be had: they run over globals of their own while traced, exchanged as they are read.

Code that was typed into ``python -c`` or made by `exec` can't be marked (`marked_calls`). It runs as its *twin*: the
same code over globals that are read through to the function's own, but for the modules numpy and math and the functions
that `stand_ins` names, and for the user's functions and modules, which are twins and stand-ins in turn. What is called
in other ways, methods of objects and functions out of containers, runs as it is.
"""

from __future__ import annotations

import builtins
import inspect
import math
from collections.abc import Callable
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from numhlo.tracer.core.installed_code import is_library
from numhlo.tracer.python.code_references import content_of, outer_names, rebound_names
from numhlo.tracer.python.stand_ins import STAND_INS

BYPASSES = frozenset({"eval", "exec"})
"""What reads globals past a twin's; so does the body of a class."""


class _StandIn(ModuleType):
    """A module whose attributes are looked up in another one, and exchanged."""

    def __init__(self, module: ModuleType, exchange: Callable[[Any], Any]) -> None:
        super().__init__(module.__name__, module.__doc__)
        vars(self).update(_module=module, _exchange=exchange)

    def __getattr__(self, name: str) -> Any:
        return self._exchange(getattr(self._module, name))

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._module, name, value)

    def __dir__(self) -> list[str]:
        return dir(self._module)


class _Globals(dict[str, Any]):
    """A twin's globals: those of the function's module, exchanged as they are read.

    Python reads a global from a subclass of dict by its ``__missing__`` where the dict has none of its own; it writes
    one straight into the dict, from which `Twins.publish` takes it back.
    """

    def __init__(self, original: dict[str, Any], exchange: Callable[[Any], Any], importer: Any) -> None:
        exchanged = {name: exchange(value) for name, value in vars(builtins).items()}
        super().__init__(__builtins__={**exchanged, "__import__": importer})
        self.original, self.exchange = original, exchange

    def __missing__(self, name: str) -> Any:
        return self.exchange(self.original[name])

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or name in self.original

    def get(self, name: str, default: Any = None) -> Any:
        """Return a global, or the default."""
        try:
            return self[name]
        except KeyError:
            return default


class Twins:
    """The twins of the functions that one trace runs."""

    def __init__(self) -> None:
        self._functions: dict[int, tuple[FunctionType, FunctionType]] = {}
        self._globals: dict[int, _Globals] = {}
        self._modules: dict[int, ModuleType] = {}

    def of(self, fun: FunctionType) -> FunctionType:
        """Return a function's twin; itself where it is a library's, a twin, or can't have one."""
        if isinstance(fun.__globals__, _Globals) or is_library(fun.__module__) or _bypasses(fun.__code__):
            return fun
        if id(fun) in self._functions:
            return self._functions[id(fun)][1]
        rebound = rebound_names(fun.__code__)
        cells, renewed = [], []
        for name, cell in zip(fun.__code__.co_freevars, fun.__closure__ or (), strict=True):
            fresh = name not in rebound and self._is_exchanged(content_of(cell))
            cells.append(CellType() if fresh else cell)
            renewed += [(cells[-1], cell)] if fresh else []
        twin = FunctionType(
            fun.__code__, self._globals_of(fun.__globals__), fun.__name__, fun.__defaults__, tuple(cells)
        )
        vars(twin).update(vars(fun))
        twin.__module__, twin.__qualname__ = fun.__module__, fun.__qualname__
        twin.__kwdefaults__ = fun.__kwdefaults__
        self._functions[id(fun)] = (fun, twin)
        for new, old in renewed:  # last: the function may be a cell of its own
            new.cell_contents = self._exchange(old.cell_contents)
        return twin

    def publish(self) -> None:
        """Take the globals that twins have written back to where they belong."""
        for twin in self._globals.values():
            for name in [n for n in twin if n != "__builtins__"]:
                twin.original[name] = dict.pop(twin, name)

    def _globals_of(self, original: dict[str, Any]) -> _Globals:
        if id(original) not in self._globals:
            self._globals[id(original)] = _Globals(original, self._exchange, self._import)
        return self._globals[id(original)]

    def _exchange(self, value: Any) -> Any:
        if isinstance(value, type):
            return value  # it may be compared, or passed on as a dtype
        if isinstance(value, ModuleType):
            return self._module(value)
        found = STAND_INS.get(id(value))
        if found is not None:
            return found[1]
        return self.of(value) if isinstance(value, FunctionType) else value

    def _is_exchanged(self, value: Any) -> bool:
        return isinstance(value, FunctionType | ModuleType) or self._exchange(value) is not value

    def _module(self, module: ModuleType) -> ModuleType:
        if isinstance(module, _StandIn) or (module not in (np, math) and is_library(module.__name__)):
            return module
        if id(module) not in self._modules:
            self._modules[id(module)] = _StandIn(module, self._exchange)
        return self._modules[id(module)]

    def _import(self, name: str, *args: Any, **kwargs: Any) -> Any:
        return self._exchange(builtins.__import__(name, *args, **kwargs))


def _bypasses(code: CodeType) -> bool:
    return not BYPASSES.isdisjoint(outer_names(code)) or _has_class(code)


def _has_class(code: CodeType) -> bool:
    inner = [c for c in code.co_consts if isinstance(c, CodeType)]
    return any(not c.co_flags & inspect.CO_OPTIMIZED or _has_class(c) for c in inner)
