"""What traced arrays seem to be where a program asks for their class: what NumPy, or Python, would have had there.

``type(x)``, ``isinstance(x, float)``, ``hasattr(x, "__len__")``, ``functools.singledispatch`` and `match` choose by
the class of a value, and that of traced arrays is our own. For them an array is an ndarray, a scalar of NumPy's, or a
number of Python's. What Python's interpreter asks by itself can only be refused: class patterns of `match`.
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Iterator
from types import UnionType
from typing import Any

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.tracer.core.arguments import WEAK, asks_scalar
from numhlo.tracer.core.array import Array
from numhlo.tracer.core.trace import Tracer
from numhlo.tracer.python.special_methods import OPERATORS, is_off, read_attribute, write_attribute
from numhlo.tracer.python.stand_ins import stands_for

PROTOCOLS = frozenset({"collections.abc", "typing"})
"""Modules of classes that look for methods: traced scalars have those of arrays as well."""


@stands_for(builtins.isinstance)
def is_instance(x: Any, classes: Any) -> bool:
    """Return whether ``x`` is what NumPy would have there: an array, a scalar of NumPy's, or a number of Python's."""
    if not isinstance(x, Tracer):
        return isinstance(x, classes)
    return any(issubclass(_class_of(x), c) or (_is_own(c) and isinstance(x, c)) for c in _flat(classes))


def _class_of(x: Tracer) -> type:
    return _scalar_class(x) if asks_scalar(x) else Array


def _scalar_class(x: Tracer) -> type:
    return next(kind for kind, dtype in WEAK.items() if dtype.kind == x.dtype.kind) if x.weak else x.dtype.type


def _is_own(cls: Any) -> bool:
    return getattr(cls, "__module__", None) not in PROTOCOLS


def _flat(classes: Any) -> Iterator[type]:
    if isinstance(classes, tuple | UnionType):
        for c in classes if isinstance(classes, tuple) else classes.__args__:
            yield from _flat(c)
    else:
        yield classes


def _read_class(x: Any) -> Any:
    if not isinstance(x, Tracer) or is_off():
        return read_attribute(x, "__class__")
    return _scalar_class(x) if asks_scalar(x) else np.ndarray


OPERATORS["x.__class__"] = _read_class
for _choosing in (functools.singledispatch, functools.singledispatchmethod):
    stands_for(_choosing)(_choosing)  # what they make reads `__class__`, and so has to run marked


@stands_for(builtins.type)
def type_of(*args: Any, **kwargs: Any) -> Any:
    """Return the class that NumPy would have had there; with more arguments, a new class."""
    return _read_class(args[0]) if len(args) == 1 and isinstance(args[0], Tracer) else type(*args, **kwargs)


def _lacks(x: Any, name: str) -> bool:
    """Return whether NumPy's scalars, or Python's numbers, have no such attribute, though traced ones may."""
    return isinstance(x, Tracer) and asks_scalar(x) and not hasattr(_scalar_class(x), name)


@stands_for(builtins.hasattr)
def has_attribute(x: Any, name: str, /) -> bool:
    """Return whether what NumPy would have had there has an attribute."""
    try:
        get_attribute(x, name)
    except AttributeError:
        return False
    return not _lacks(x, name)


@stands_for(builtins.getattr)
def get_attribute(x: Any, name: str, /, *default: Any) -> Any:
    """Return an attribute; the default where what NumPy would have had there has none."""
    if default and _lacks(x, name):
        return default[0]
    try:
        return read_attribute(x, name)
    except AttributeError:
        if not default:
            raise
        return default[0]


stands_for(builtins.setattr)(write_attribute)


def _matched(x: Any, *classes: Any) -> Any:
    """Return what is matched with class patterns, which Python looks up in the class of what it is given."""
    if isinstance(x, Tracer) and not is_off() and is_instance(x, classes):
        raise UnsupportedError(
            f"match of a traced array {x.aval.short()} by its class",
            where=capture_location(),
            why="Python takes it for what stands for an array while tracing, and no case would fit",
            fix="write if isinstance(x, cls)",
        )
    return x


OPERATORS["match x"] = _matched
