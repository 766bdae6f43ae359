"""Abstract values of calls: of Python's builtins, of NumPy's and other libraries' functions, and of the user's."""

from __future__ import annotations

import ast
import builtins
import functools
from collections.abc import Mapping, Sequence
from types import FunctionType, MethodType
from typing import Any

from numhlo.compilation.abstract_expressions import Expressions, Frame, TooLongError, TracedConditionError, computed
from numhlo.compilation.abstract_values import (
    ARRAY,
    CHOICE,
    CONSTANT,
    CONTAINER,
    KNOWN,
    SELECTED,
    SOMETHING,
    UNSIZED,
    Abstract,
    container,
    join,
    join_all,
    known,
    tuple_of,
)
from numhlo.tracer.core.definitions import definition_of
from numhlo.tracer.core.installed_code import is_library

MOST_DEFINITIONS = 24
"""How many functions are looked at for one, at some 0.2 ms to find and parse each."""

MOST_CALLS = 16
"""How deep they are followed."""

KNOWN_RESULTS = frozenset({
    "broadcast_shapes", "callable", "can_cast", "dtype", "dir", "finfo", "hasattr", "id", "iinfo", "iscomplexobj",
    "isinstance", "isrealobj", "isscalar", "issubclass", "issubdtype", "min_scalar_type", "ndim", "print",
    "promote_types", "repr", "result_type", "str", "type",
})  # fmt: skip
"""Functions whose results are known whatever their arguments are."""

SIZES = frozenset({"len", "shape", "size"})

SELECTIONS = frozenset({
    "argwhere", "compress", "extract", "flatnonzero", "intersect1d", "nonzero", "setdiff1d", "trim_zeros", "union1d",
    "unique",
})  # fmt: skip
"""Functions and methods whose results' lengths depend on values."""

MASKS = frozenset({
    "equal", "greater", "greater_equal", "isclose", "isfinite", "isin", "isinf", "isnan", "less", "less_equal",
    "logical_and", "logical_not", "logical_or", "not_equal",
})  # fmt: skip

COPIES = frozenset({"frozenset", "iter", "list", "reversed", "set", "sorted", "tuple"})

GROWING = frozenset({"add", "append", "appendleft", "extend", "insert", "setdefault", "update"})
"""Methods of containers that put their arguments into them."""


class Calls(Expressions):
    """Computes abstract values of calls, too."""

    def __init__(self) -> None:
        super().__init__()
        self._active: list[Any] = []
        self._definitions = 0
        self._found: dict[Any, Abstract] = {}

    def run(self, statements: Sequence[ast.stmt]) -> object:
        """Interpret a function's statements in the current frame."""
        raise NotImplementedError

    def _value_call(self, node: ast.Call) -> Abstract:
        owner = self.value(node.func.value) if isinstance(node.func, ast.Attribute) else None
        function = self.value(node.func) if owner is None else self.attribute(owner, node.func.attr)  # type: ignore[attr-defined]
        given = [self.value(x) for x in node.args]
        named = {x.arg or "": self.value(x.value) for x in node.keywords}
        is_resolved = function.kind == KNOWN and function.object is not SOMETHING
        if owner is None or is_resolved:
            return self.called(function, given, named)
        assert isinstance(node.func, ast.Attribute)
        return self._method(node.func, owner, [*given, *named.values()])

    def _method(self, function: ast.Attribute, owner: Abstract, given: list[Abstract]) -> Abstract:
        """Return what a method of an array or container gives, whose code is not looked at."""
        name, values = function.attr, join_all(given)
        if owner.is_traced:
            return SELECTED if name in SELECTIONS else join(ARRAY, owner)
        if name in GROWING and values.holds_traced:
            self.store(function.value, values.inside if name in ("extend", "update") else values, inside=True)
            return CONSTANT
        if owner.kind == CONTAINER:
            if name in ("keys", "index", "count"):
                return CONSTANT if name == "keys" else computed(owner, *given)
            if name == "items":
                return container(tuple_of(CONSTANT, owner.inside))
            return container(owner.inside) if name in ("values", "copy") else join_all([owner.inside, *given])
        return computed(*given)

    def store(self, target: ast.expr, value: Abstract, *, inside: bool = False) -> None:
        """Assign a value to a target, or to an item of it."""
        if isinstance(target, ast.Tuple | ast.List):
            for k, part in enumerate(target.elts):
                is_paired = value.items is not None and len(value.items) == len(target.elts)
                one = value.items[k] if is_paired else value.inside  # type: ignore[index]
                if isinstance(part, ast.Starred):
                    self.store(part.value, container(value.inside, list))
                else:
                    self.store(part, one)
        elif isinstance(target, ast.Subscript):
            index = self.value(target.slice)
            self.store(target.value, join(ARRAY, value) if index.holds_traced else value, inside=True)
        else:
            self._store_name(target, value, inside)

    def _store_name(self, target: ast.expr, value: Abstract, inside: bool) -> None:
        if inside:
            before = self.value(target)
            if not value.holds_traced or before.is_traced:
                return
            is_array = before.kind == KNOWN and not isinstance(before.object, list | dict | set)
            cls = type(before.object) if before.kind == KNOWN else before.object
            value = ARRAY if is_array else container(join(before.inside, value), cls)
        if isinstance(target, ast.Name):
            self.frame.variables[target.id] = value
        elif isinstance(target, ast.Attribute):
            before = self.attributes.get(target.attr, value)
            self.attributes[target.attr] = join(before, value)

    def called(self, function: Abstract, given: Sequence[Abstract], named: Mapping[str, Abstract]) -> Abstract:
        """Return what a call gives."""
        callee = function.object
        if isinstance(callee, functools.partial):
            before = [known(x) for x in callee.args]
            options = {name: known(x) for name, x in callee.keywords.items()}
            return self.called(known(callee.func), [*before, *given], {**options, **named})
        if isinstance(callee, MethodType):
            function, callee = Abstract(KNOWN, callee.__func__, owner=known(callee.__self__)), callee.__func__
        if function.frame is not None:
            return self._run_function(callee, function.frame, callee, given, named)
        if isinstance(callee, FunctionType) and not is_library(callee.__module__):
            before = [] if function.owner is None else [function.owner]
            return self._run_users(callee, [*before, *given], named)
        if isinstance(callee, type) and not is_library(callee.__module__):
            return self._constructed(callee, given, named)
        call = inspect_call(callee)
        if call is not None:
            return self._run_users(call, [function, *given], named)
        return self._called_by_name(function, getattr(callee, "__name__", ""), given, named)

    def _called_by_name(
        self, function: Abstract, name: str, given: Sequence[Abstract], named: Mapping[str, Abstract]
    ) -> Abstract:
        """Return what a function of Python's or a library's gives."""
        values = [*given, *named.values()]
        first = given[0] if given else CONSTANT
        if name in KNOWN_RESULTS:
            return CONSTANT
        if name in SIZES:
            return ARRAY if first.kind == UNSIZED else CONSTANT
        if function.object is builtins.getattr and len(given) > 1 and isinstance(given[1].object, str):
            return self.attribute(first, given[1].object)
        if name in SELECTIONS:
            return SELECTED if computed(*values).is_traced else CONSTANT
        found = _iterator(function.object, name, given)
        return self._called_with_functions(name, values) if found is None else found

    def _called_with_functions(self, name: str, values: Sequence[Abstract]) -> Abstract:
        """Return what a function of a library gives, which may call the functions that it is given."""
        functions = [x for x in values if is_users(x)]
        others = [x for x in values if not is_users(x)]
        found = computed(*others)
        if functions and not found.is_traced:
            return functions[0]  # what a transformation made of it
        for each in functions:
            self.called(each, [ARRAY] * _positional(each), {})
        if name in ("map", "filter"):
            return container(ARRAY)
        return CHOICE if name in MASKS and found.is_traced else found

    def _constructed(self, cls: type, given: Sequence[Abstract], named: Mapping[str, Abstract]) -> Abstract:
        made = container(CONSTANT, cls)
        init = cls.__dict__.get("__init__") or getattr(cls, "__init__", None)
        values = join_all([*given, *named.values()])
        if isinstance(init, FunctionType) and definition_of(init.__code__, init.__globals__) is not None:
            self._run_users(init, [made, *given], named)
            return made
        return container(values, cls)

    def _run_users(self, function: FunctionType, given: Sequence[Abstract], named: Mapping[str, Abstract]) -> Abstract:
        self._definitions += 1
        if self._definitions > MOST_DEFINITIONS:
            raise TooLongError
        definition = definition_of(function.__code__, function.__globals__)
        if definition is None:
            return computed(*given, *named.values())
        return self._run_function(definition.node, function, function.__code__, given, named)

    def _run_function(
        self,
        node: Any,
        outer: Frame | FunctionType,
        identity: Any,
        given: Sequence[Abstract],
        named: Mapping[str, Abstract],
    ) -> Abstract:
        """Return what a function gives, whose source is read."""
        kinds = tuple([(x.kind, id(x.object), x.holds_traced) for x in (*given, *named.values())])
        key = identity, kinds, tuple(named)
        if key in self._found and outer is not self.frame:
            return self._found[key]
        if identity in self._active or len(self._active) > MOST_CALLS:
            return computed(*given, *named.values())
        before, self.frame = getattr(self, "frame", None), Frame(outer, {})
        self._active.append(identity)
        try:
            self._bind(node.args, outer, given, named)
            if isinstance(node, ast.Lambda):
                result = self.value(node.body)
            else:
                self.run(node.body)
                result = join_all(self.frame.results)
        finally:
            self._active.pop()
            self.frame = before  # type: ignore[assignment]
        self._found[key] = result
        return result

    def _bind(
        self,
        arguments: ast.arguments,
        outer: Frame | FunctionType,
        given: Sequence[Abstract],
        named: Mapping[str, Abstract],
    ) -> None:
        """Give a function's parameters their values."""
        variables = self.frame.variables
        names = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
        optional = [*names[len(names) - len(arguments.defaults) :], *[a.arg for a in arguments.kwonlyargs]]
        for name, default in zip(optional, [*arguments.defaults, *arguments.kw_defaults], strict=True):
            if isinstance(outer, FunctionType):
                variables[name] = _default(outer, name, names)
            elif default is not None:
                variables[name] = self.value(default)
        variables.update(zip(names, given, strict=False))
        variables.update({name: x for name, x in named.items() if name})
        if "" in named:
            variables.update({name: named[""].inside for name in names if name not in variables})
        if arguments.vararg is not None:
            variables[arguments.vararg.arg] = tuple_of(*given[len(names) :])
        if arguments.kwarg is not None:
            variables[arguments.kwarg.arg] = container(join_all(named.values()), dict)


def _iterator(callee: Any, name: str, given: Sequence[Abstract]) -> Abstract | None:
    """Return what an iterator or a copy of a container gives; None where a function is neither."""
    if callee is builtins.range and any(x.is_traced for x in given):
        raise TracedConditionError
    if callee is builtins.zip:
        return container(tuple_of(*[x.inside for x in given]))
    if not given or given[0].kind == KNOWN:
        return CONSTANT if callee in (builtins.range, builtins.enumerate) else None
    inside = given[0].inside
    if name in COPIES:
        return container(inside, list)
    if callee is builtins.enumerate:
        return container(tuple_of(CONSTANT, inside))
    return inside if callee is builtins.next else None


def _default(function: FunctionType, name: str, names: Sequence[str]) -> Abstract:
    if function.__kwdefaults__ and name in function.__kwdefaults__:
        return known(function.__kwdefaults__[name])
    defaults = function.__defaults__ or ()
    place = names.index(name) - (len(names) - len(defaults)) if name in names else -1
    return known(defaults[place]) if 0 <= place < len(defaults) else CONSTANT


def inspect_call(callee: Any) -> FunctionType | None:
    """Return the ``__call__`` of an object of a user's class."""
    if callee is SOMETHING or is_library(type(callee).__module__):
        return None
    found = getattr(type(callee), "__call__", None)  # noqa: B004 - the method itself is wanted
    return found if isinstance(found, FunctionType) else None


def is_users(x: Abstract) -> bool:
    """Return whether a value is a function of the user's."""
    if x.kind != KNOWN:
        return False
    if x.frame is not None:
        return True
    function = getattr(x.object, "__func__", x.object)
    return isinstance(function, FunctionType) and not is_library(function.__module__)


def _positional(function: Abstract) -> int:
    """Return how many positional arguments a function takes."""
    if function.frame is not None:
        return len(function.object.args.args)
    code = getattr(function.object, "__func__", function.object).__code__
    is_bound = function.owner is not None or isinstance(function.object, MethodType)
    return int(code.co_argcount) - is_bound
