"""Plain NumPy code under tracing: ``np.zeros(n)`` in a traced function makes a traced array, one to write into.

Functions *of* arrays reach numhlo by NumPy's own protocols; functions that *make* arrays have no argument to go by. So
a function that uses one runs as its twin while it is traced: the same code, over globals that are read through to the
function's own, but for the module numpy, whose stand-in makes traced arrays, and for the user's functions and modules,
which are twins and stand-ins in turn. NumPy, the user's modules and the function itself stay as they are, and other
threads see nothing.

What is called in other ways (methods of objects, functions out of containers, libraries) runs as it is.
"""

from __future__ import annotations

import builtins
import functools
import inspect
from collections.abc import Callable
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from numhlo.lowering.ir.errors import DTypeError
from numhlo.tracer.captured_walk import is_library
from numhlo.tracer.code_references import outer_names, rebound_names
from numhlo.tracer.namespace.core import FUNCTIONS, contains_tracer
from numhlo.tracer.semantics import are_arrays_immutable
from numhlo.tracer.trace import Tracer, current_trace

MAKERS = frozenset({
    "arange", "array", "asanyarray", "asarray", "ascontiguousarray", "asfortranarray", "copy",
    "empty", "empty_like", "eye", "full", "full_like", "geomspace", "identity",
    "indices", "linspace", "logspace", "meshgrid", "ones", "ones_like", "repeat",
    "tile", "tri", "zeros", "zeros_like",
})  # fmt: skip
"""NumPy's functions that make arrays for programs to write into, though no argument need be traced."""

CONVERTERS = frozenset({"asanyarray", "asarray", "ascontiguousarray", "asfortranarray"})
"""Those that return an array as it is: writing into a captured one is refused where it happens."""

BYPASSES = frozenset({"eval", "exec"})
"""What reads globals past a twin's; so does the body of a class."""


class _ArrayClass(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, np.ndarray | Tracer)


class _AnyArray(np.ndarray, metaclass=_ArrayClass):
    """What stands for `numpy.ndarray`: traced arrays are instances, too."""


@functools.cache
def _maker(name: str) -> Callable[..., Any]:
    """Return what stands for one of `MAKERS`."""
    numpy_function = getattr(np, name)

    @functools.wraps(numpy_function)
    def make(*args: Any, **kwargs: Any) -> Any:
        if current_trace() is None or (name in CONVERTERS and args and isinstance(args[0], np.ndarray)):
            return numpy_function(*args, **kwargs)
        try:
            return FUNCTIONS[numpy_function](*args, **kwargs)
        except DTypeError:
            if contains_tracer([*args, *kwargs.values()]):
                raise
            return numpy_function(*args, **kwargs)  # text or objects, which tracing has nothing to do with

    return make


class _StandIn(ModuleType):
    """A module whose attributes are looked up in another one, and exchanged.

    Parameters
    ----------
    module : ModuleType
    exchange : callable
        ``exchange(name, value)``.
    """

    def __init__(self, module: ModuleType, exchange: Callable[[str, Any], Any]) -> None:
        super().__init__(module.__name__, module.__doc__)
        vars(self).update(_module=module, _exchange=exchange)

    def __getattr__(self, name: str) -> Any:
        return self._exchange(name, getattr(self._module, name))

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._module, name, value)

    def __dir__(self) -> list[str]:
        return dir(self._module)


class _Globals(dict[str, Any]):
    """A twin's globals: those of the function's module, exchanged as they are read.

    Python reads a global from a subclass of dict by its ``__missing__`` where the dict has none of its own; it writes
    one straight into the dict, from which `Twins.publish` takes it back.
    """

    def __init__(self, original: dict[str, Any], exchange: Callable[[str, Any], Any], importer: Any) -> None:
        super().__init__(__builtins__={**vars(builtins), "__import__": importer})
        self.original, self.exchange = original, exchange

    def __missing__(self, name: str) -> Any:
        return self.exchange(name, self.original[name])

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
        self._needs: dict[int, bool] = {}

    def of(self, fun: Any) -> Any:
        """Return a callable's twin where it makes arrays by plain NumPy; else the callable itself."""
        if isinstance(fun, FunctionType):
            return self._function(fun)
        if isinstance(fun, MethodType) and isinstance(fun.__func__, FunctionType):
            twin = self._function(fun.__func__)
            return fun if twin is fun.__func__ else MethodType(twin, fun.__self__)
        if type(fun) is functools.partial:
            twin = self.of(fun.func)
            return fun if twin is fun.func else functools.partial(twin, *fun.args, **fun.keywords)
        call = inspect.getattr_static(type(fun), "__call__", None)
        if isinstance(call, FunctionType) and self._is_concerned(call):
            return MethodType(self._function(call), fun)
        return fun

    def publish(self) -> None:
        """Take the globals that twins have written back to where they belong."""
        for twin in self._globals.values():
            for name in [n for n in twin if n != "__builtins__"]:
                twin.original[name] = dict.pop(twin, name)

    def _function(self, fun: FunctionType) -> FunctionType:
        if not self._is_concerned(fun):
            return fun
        if id(fun) in self._functions:
            return self._functions[id(fun)][1]
        rebound = rebound_names(fun.__code__)
        cells, renewed = [], []
        for name, cell in zip(fun.__code__.co_freevars, fun.__closure__ or (), strict=True):
            fresh = name not in rebound and _is_exchanged(_content(cell))
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
            new.cell_contents = self._exchange("", old.cell_contents)
        return twin

    def _globals_of(self, original: dict[str, Any]) -> _Globals:
        if id(original) not in self._globals:
            self._globals[id(original)] = _Globals(original, self._exchange, self._import)
        return self._globals[id(original)]

    def _exchange(self, name: str, value: Any) -> Any:
        if isinstance(value, FunctionType):
            return self._function(value)
        if isinstance(value, ModuleType):
            return self._module(value)
        return _exchanged_by_numpy(value)

    def _module(self, module: ModuleType) -> ModuleType:
        if isinstance(module, _StandIn) or (module is not np and is_library(module.__name__)):
            return module
        if id(module) not in self._modules:
            exchange = _of_numpy if module is np else self._exchange
            self._modules[id(module)] = _StandIn(module, exchange)
        return self._modules[id(module)]

    def _import(self, name: str, *args: Any, **kwargs: Any) -> Any:
        return self._exchange(name, builtins.__import__(name, *args, **kwargs))

    def _is_concerned(self, fun: FunctionType) -> bool:
        """Return whether a function, or one that it calls by name, makes arrays by plain NumPy."""
        if isinstance(fun.__globals__, _Globals) or is_library(fun.__module__):
            return False
        known = self._needs.get(id(fun))
        if known is not None:
            return known
        self._needs[id(fun)] = False  # while its callees are looked at, one of which may be itself
        names = outer_names(fun.__code__)
        if not BYPASSES.isdisjoint(names) or _has_class(fun.__code__):
            return False
        found = not MAKERS.isdisjoint(names) or "ndarray" in names or any(map(self._leads_there, _used(fun, names)))
        self._needs[id(fun)] = found
        return found

    def _leads_there(self, value: Any) -> bool:
        if isinstance(value, FunctionType):
            return self._is_concerned(value)
        return isinstance(value, ModuleType) and not is_library(value.__name__)


def _used(fun: FunctionType, names: frozenset[str]) -> list[Any]:
    """Return what a function's outer names stand for."""
    found = [fun.__globals__[name] for name in names if name in fun.__globals__]
    return found + [_content(cell) for cell in fun.__closure__ or ()]


def _has_class(code: CodeType) -> bool:
    inner = [c for c in code.co_consts if isinstance(c, CodeType)]
    return any(not c.co_flags & inspect.CO_OPTIMIZED or _has_class(c) for c in inner)


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _is_exchanged(value: Any) -> bool:
    return isinstance(value, FunctionType | ModuleType) or _exchanged_by_numpy(value) is not value


def _of_numpy(name: str, value: Any) -> Any:
    """Return what stands for an attribute of the module numpy."""
    if name in MAKERS:
        return _maker(name)
    return _AnyArray if value is np.ndarray else value


def _exchanged_by_numpy(value: Any) -> Any:
    """Return what stands for something that was imported from numpy by name."""
    if value is np.ndarray:
        return _AnyArray
    name = getattr(value, "__name__", None) if callable(value) else None
    return _maker(name) if name in MAKERS and getattr(np, name) is value else value


def run_traced(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function that is being traced, its twin where it has one.

    Under JAX's rules arrays can't be written into, and plain NumPy's are constants: the function runs as it is.
    """
    if are_arrays_immutable():
        return fun(*args, **kwargs)
    twins = Twins()
    try:
        return twins.of(fun)(*args, **kwargs)
    finally:
        twins.publish()
