"""Plain NumPy code under tracing: what a traced function calls is exchanged, where it must be, for what can be traced.

Functions *of* arrays reach numhlo by NumPy's own protocols. Functions that *make* arrays, and Python's own numbers and
iterators, do not: `stand_ins` says what is called in their place. So that a call finds it, wherever its callee came
from, functions that may need it run with their calls marked (`marked_calls`) while they are traced, and so do those
that they call. NumPy, the user's modules, classes and functions stay as they are, and other threads see nothing.

What Python calls by itself, such as properties and operators of the user's classes, is in `special_methods`; code of
libraries runs as it is.
"""

from __future__ import annotations

import builtins
import dis
import functools
import inspect
import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import is_dataclass
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, MethodWrapperType, ModuleType
from typing import Any

import numpy as np

from numhlo.lowering.ir.scoped_values import ScopedValue
from numhlo.tracer.control_flow import branches, loops, scan
from numhlo.tracer.core.installed_code import is_library
from numhlo.tracer.core.numpy_functions import FUNCTIONS
from numhlo.tracer.core.operands import SEQUENCES, contains_tracer
from numhlo.tracer.core.semantics import are_arrays_immutable
from numhlo.tracer.core.trace import Tracer, current_trace
from numhlo.tracer.python import (
    caught_errors,  # noqa: F401 - they get their stand-ins
    classes,  # noqa: F401
    conditions,  # noqa: F401
    foreign_values,
    ordering,
    special_methods,
    text_operations,
)
from numhlo.tracer.python.code_references import Reference, content_of, indexes_own_tables, outer_names, references_of
from numhlo.tracer.python.named_calls import Twins
from numhlo.tracer.python.source import marked_calls
from numhlo.tracer.python.source.rewritten_code import RewrittenCodes
from numhlo.tracer.python.source_of_series import is_of_series, of_traced_series
from numhlo.tracer.python.stand_ins import HIGHER_ORDER, PACKAGES, STAND_INS, array_method, holder, package_of

CONTROL_FLOW = (branches.cond, branches.switch, loops.while_loop, loops.fori_loop, scan.scan, scan.map)
MODULES = frozenset({"numpy", "math", *foreign_values.MODULES})
"""Modules that have functions with stand-ins, or that are refused."""

ASKING = frozenset(
    dis.opmap[name]
    for name in ("CONTAINS_OP", "MATCH_CLASS", "PUSH_EXC_INFO", "FORMAT_VALUE", "FORMAT_SIMPLE", "FORMAT_WITH_SPEC")
    if name in dis.opmap
)
"""Instructions of ``x in y``, which can't give a traced value by itself, `match` by a class, `except` and f-strings."""

NAMES = frozenset({"__class__", "sort"})
"""Attributes of local variables, a class and a method of lists, that have stand-ins."""

MOST_ITEMS, MOST_OBJECTS = 1000, 20_000
"""How many items of a container, and how many objects in all, are looked at for functions."""

_CALLERS = frozenset(map(id, (*HIGHER_ORDER, *CONTROL_FLOW, np.vectorize)))
_MAPS = frozenset(map(id, (map, filter, itertools.starmap)))
_NUMPY_FUNCTION: type = type(np.sum)
_NUMPY_VALUES = (np.vectorize, np.ndarray, np.ufunc, _NUMPY_FUNCTION)
_HARMLESS = (Tracer, np.generic, bool, int, float, complex, str, bytes, type(None))


_IMMUTABLE = 1 << 8
"""CPython's flag of classes whose attributes can't be set: those of its own, written in C."""

_twins: ScopedValue[Twins | None] = ScopedValue(None)

rewrites: ScopedValue[Callable[[FunctionType], Callable[..., Any] | None] | None] = ScopedValue(None)
"""What makes other functions of the user's, `autograph`; it returns None for those that it leaves alone."""


class Exchange:
    """``exchange @ x`` is what stands for ``x`` while tracing: a constant of marked code."""

    def __init__(self, find: Callable[[Any], Any]) -> None:
        self._find = find

    def __matmul__(self, x: Any) -> Any:
        return x if current_trace() is None or are_arrays_immutable() else self._find(x)


class Mark:
    """``mark @ x`` is a function of ``x``, which sees to it by itself that nothing changes outside tracing."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._function = function

    def __matmul__(self, x: Any) -> Any:
        return self._function(x)


class Operation:
    """An operator as a function, where marked code finds it."""

    __slots__ = ("apply",)

    def __init__(self, apply: Callable[..., Any]) -> None:
        self.apply = apply


def _held(x: Any) -> Any:
    found = holder(x)
    return special_methods.owner(x) if found is x else found


CODES = RewrittenCodes({
    marked_calls.CALLEE: Exchange(lambda callee: exchanged_callee(callee)),  # noqa: PLW0108 - it comes below
    marked_calls.HOLDER: Exchange(_held),
    marked_calls.OWNER: Mark(special_methods.owner),
    marked_calls.UPDATED: Mark(special_methods.updated),
    marked_calls.ITERATED: Mark(special_methods.iterated),
    marked_calls.MANAGER: Mark(special_methods.manager),
    **{marked_calls.OPERATION + sign: Operation(function) for sign, function in special_methods.OPERATORS.items()},
})  # fmt: skip


def exchanged_callee(callee: Any) -> Any:
    """Return what is called in a callee's place while tracing."""
    found = STAND_INS.get(id(callee))
    stand_in = None if found is None else found[1]
    if id(callee) in _CALLERS:
        call = _map_exchanged if id(callee) in _MAPS else _call_with_exchanged
        stand_in = functools.partial(call, callee if stand_in is None else stand_in)
    if id(callee) in special_methods.CONSUMERS:
        return special_methods.consuming(callee if stand_in is None else stand_in)
    if stand_in is not None:
        return stand_in
    package = package_of(callee)
    if package is not None:
        return PACKAGES[package].exchange(callee)
    advice = foreign_values.advice_on(callee)
    if advice is not None:
        return foreign_values.refusing(callee, advice)
    rule = _RULES.get(type(callee))
    if rule is not None:
        return rule(callee)
    return _constructor(callee) if isinstance(callee, type) else _object(callee)


def _takes_lists(function: Any) -> Any:
    """Return a function of NumPy's that is traced where a list holds a traced array, which its protocols don't see."""
    traced = FUNCTIONS.get(function)
    if traced is None and is_of_series(function):
        return of_traced_series(_function(function._implementation), function)
    return function if traced is None else _with_lists(function, traced)


def _with_lists(function: Callable[..., Any], traced: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        for x in (*args, *kwargs.values()) if kwargs else args:
            if type(x) in SEQUENCES and contains_tracer(x):
                return traced(*args, **kwargs)
        given = [x if special_methods.has_rules(type(x)) else special_methods.array_of(x) for x in args]
        return (function if all(map(operator.is_, given, args)) else traced)(*given, **kwargs)

    return call


def _method(method: MethodType) -> Any:
    package = package_of(method.__self__)
    if package is not None:
        return PACKAGES[package].exchange(method)
    inner = exchanged_callee(method.__func__)
    return method if inner is method.__func__ else MethodType(inner, method.__self__)


def _builtin(method: BuiltinFunctionType) -> Any:
    owner = method.__self__
    if isinstance(owner, np.ufunc) and owner in FUNCTIONS:
        return _with_lists(method, getattr(FUNCTIONS[owner], method.__name__))
    if type(owner) is str and method.__name__ in text_operations.METHODS:
        return text_operations.method_of_text(method)
    if type(owner) is list and method.__name__ == "sort":
        return functools.partial(ordering.sort_in_place, owner)
    return array_method(method) if isinstance(owner, np.ndarray) else method


def _partial(partial: functools.partial[Any]) -> Any:
    inner = exchanged_callee(partial.func)
    return partial if inner is partial.func else functools.partial(inner, *partial.args, **partial.keywords)


def _vectorized(function: np.vectorize) -> Any:
    stand_in: Any = STAND_INS.get(id(np.vectorize), (None, np.vectorize))[1]
    return stand_in(exchanged_callee(function.pyfunc), excluded=function.excluded, signature=function.signature)


def _object(callee: Any) -> Any:
    """Return what stands for an object that is called: one of a package's by its class, whatever it says of itself."""
    package = package_of(type(callee))
    if package is not None:
        return PACKAGES[package].exchange(callee)
    call = inspect.getattr_static(type(callee), "__call__", None)
    return MethodType(_function(call), callee) if type(call) is FunctionType else callee


def _call_with_exchanged(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call what calls functions, with these exchanged."""

    def exchanged(x: Any) -> Any:
        if isinstance(x, list | tuple) and type(x) in (list, tuple):
            return type(x)([exchanged(item) for item in x]) if any(map(callable, x)) else x
        return exchanged_callee(x) if callable(x) and not isinstance(x, Tracer | type) else x

    return fun(*map(exchanged, args), **{k: exchanged(v) for k, v in kwargs.items()})


def _map_exchanged(fun: Callable[..., Any], function: Any, *args: Any, **kwargs: Any) -> Any:
    """Call what calls a function, which may be a class, for each item."""
    called = exchanged_callee(function) if isinstance(function, type) else function
    return _call_with_exchanged(fun, called, *args, **kwargs)


def _constructor(cls: type) -> Any:
    """Return what is called in a class's place: its metaclass's ``__call__``, or what makes an object."""
    if type(cls) is type and cls.__flags__ & _IMMUTABLE:
        return cls  # such as `range`, whose methods are not Python's, and stay what they are
    call = inspect.getattr_static(type(cls), "__call__")
    if type(call) is FunctionType:
        return cls if is_library(call.__module__) else MethodType(_function(call), cls)
    return _maker(cls) if call is type.__call__ else cls


def _slot(method: MethodWrapperType) -> Any:
    """Return what stands for ``super().__call__`` in a metaclass."""
    cls = method.__self__
    if method.__name__ != "__call__" or not isinstance(cls, type):
        return method
    maker = _maker(cls)
    return method if maker is cls else maker


def _maker(cls: type) -> Any:
    """Return what makes an object of a user's class by an exchanged ``__new__`` and ``__init__``."""
    new, init = (inspect.getattr_static(cls, name) for name in ("__new__", "__init__"))
    new = getattr(new, "__func__", new)
    if FunctionType not in (type(new), type(init)) or not callable(init):
        return cls
    making = _function(new) if type(new) is FunctionType else cls.__new__
    starting: Any = _function(init) if type(init) is FunctionType else init
    if making is new and starting is init:
        return cls

    def construct(*args: Any, **kwargs: Any) -> Any:
        made = making(cls, *args, **kwargs)
        if isinstance(made, cls):
            with _hook_exchanged(made):
                starting(made, *args, **kwargs)
        return made

    return construct


@contextmanager
def _hook_exchanged(made: Any) -> Iterator[None]:
    """Let the ``__init__`` of a dataclass, which has no source, find the exchanged ``__post_init__``."""
    hook = special_methods.special(type(made), "__post_init__") if is_dataclass(made) else None
    kept = getattr(made, "__dict__", None)
    if hook is None or kept is None:
        yield
        return
    kept["__post_init__"] = MethodType(_function(hook), made)
    try:
        yield
    finally:
        kept.pop("__post_init__", None)


def _function(fun: FunctionType) -> FunctionType:
    """Return a function with its calls marked; by other means exchanged where its source can't be had."""
    if is_library(fun.__module__) and not is_of_series(fun):
        return fun
    rewrite = rewrites.get()
    found: Any = None if rewrite is None else rewrite(fun)
    if found is not None:
        return found  # type: ignore[no-any-return]
    code = CODES.of(fun.__code__, fun.__globals__)
    if code is None:
        twins = _twins.get()
        return fun if twins is None else twins.of(fun)
    if code is fun.__code__:
        return fun
    made = with_code(fun, code)
    return of_traced_series(made, fun) if is_of_series(fun) else made


def with_code(fun: FunctionType, code: CodeType) -> FunctionType:
    """Return a function with other code, which has free variables of the same names."""
    cells = dict(zip(fun.__code__.co_freevars, fun.__closure__ or (), strict=True))
    closure = tuple([cells[name] for name in code.co_freevars])
    made = FunctionType(code, fun.__globals__, fun.__name__, fun.__defaults__, closure)
    made.__kwdefaults__ = fun.__kwdefaults__
    made.__qualname__ = fun.__qualname__
    return made


_RULES: dict[type, Callable[[Any], Any]] = {
    FunctionType: _function,
    MethodType: _method,
    BuiltinFunctionType: _builtin,
    MethodWrapperType: _slot,
    functools.partial: _partial,
    np.vectorize: _vectorized,
    np.ufunc: _takes_lists,
    _NUMPY_FUNCTION: _takes_lists,
}


special_methods.exchange = _function


def needs_exchange(value: Any) -> bool:
    """Return whether something that is called, or what it can reach, has a use for exchanged callees.

    Where there is too much to look at it is taken to have one.
    """
    seen: dict[int, Any] = {}
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, _HARMLESS) or id(found) in seen:
            continue
        parts = _reached(found) if len(seen) < MOST_OBJECTS else None
        if parts is None:
            return True
        seen[id(found)] = found
        waiting.extend(itertools.islice(parts, MOST_ITEMS))
    return False


def _reached(value: Any) -> Iterable[Any] | None:
    """Return what a value may lead to; None where it has a use for exchanged callees itself."""
    if id(value) in STAND_INS or isinstance(value, _NUMPY_VALUES) or foreign_values.advice_on(value):
        return None
    if isinstance(value, ModuleType):
        package = value.__name__.partition(".")[0]
        return () if is_library(value.__name__) and package not in (*MODULES, *PACKAGES) else None
    if package_of(value if isinstance(value, FunctionType) else type(value)) or is_of_series(value):
        return None
    if isinstance(value, FunctionType):
        return _reached_by_function(value)
    if isinstance(value, MethodType):
        return value.__func__, value.__self__
    if isinstance(value, functools.partial):
        return value.func, *value.args, *value.keywords.values()
    if isinstance(value, Mapping | list | tuple | set | frozenset):
        return value.values() if isinstance(value, Mapping) else value
    return _reached_by_object(value)


def _reached_by_object(value: Any) -> Iterable[Any]:
    if isinstance(value, type):
        mine = [c for c in (*value.__mro__, *inspect.getmro(type(value))) if not is_library(c.__module__)]
        return [code for c in mine for v in list(vars(c).values()) for code in _code_of(v)]
    if is_library(type(value).__module__):
        return [getattr(value, "__wrapped__", None)]
    return [type(value), *getattr(value, "__dict__", {}).values()]


def _reached_by_function(fun: FunctionType) -> Iterable[Any] | None:
    contents = [content_of(cell) for cell in fun.__closure__ or ()]
    if is_library(fun.__module__):
        return contents
    code = fun.__code__
    if not MODULES.isdisjoint(outer_names(code)) or not ASKING.isdisjoint(code.co_code[::2]):  # it may import modules
        return None
    if not NAMES.isdisjoint(code.co_names) or text_operations.makes_text(code) or indexes_own_tables(code):
        return None
    cells = dict(zip(fun.__code__.co_freevars, contents, strict=True))
    found = list(fun.__defaults__ or ())
    for reference in references_of(fun.__code__):
        value = _referred(reference, fun, cells)
        if isinstance(value, list | tuple) and value and isinstance(value[0], int | float):
            return None  # a table: it may be indexed by a traced value
        found.append(value)
    return found


def _referred(reference: Reference, fun: FunctionType, cells: Mapping[str, Any]) -> Any:
    """Return what a load of an outer name gives, an attribute of a module's included."""
    name = reference.name
    if reference.kind != "global":
        return cells.get(name)
    value = fun.__globals__.get(name, getattr(builtins, name, None))
    kind, attribute = reference.links[0] if reference.links else ("", "")
    if kind != "attribute" or not isinstance(value, ModuleType):
        return value
    return getattr(value, attribute, None)


def _code_of(attribute: Any) -> tuple[Any, ...]:
    """Return what an attribute of a class can call."""
    if isinstance(attribute, FunctionType | staticmethod | classmethod):
        return (getattr(attribute, "__func__", attribute),)
    if isinstance(attribute, property):
        return attribute.fget, attribute.fset
    if isinstance(attribute, functools.cached_property):
        return (attribute.func,)
    return () if special_methods.is_plain(type(attribute)) else (attribute,)


def run_traced(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function that is being traced, with what it calls exchanged where that is needed.

    Under JAX's rules arrays can't be written into, and plain NumPy's are constants: the function runs as it is.
    """
    if are_arrays_immutable() or not (rewrites.get() or needs_exchange((fun, args, kwargs))):
        return fun(*args, **kwargs)
    twins = Twins()
    try:
        with _twins.bound(twins):
            return exchanged_callee(fun)(*args, **kwargs)
    finally:
        twins.publish()
