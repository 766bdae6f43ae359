"""What Python calls by itself: operators, properties, items, iteration and context managers of the user's classes.

Marked code (`marked_calls`) does these through what is here, so that the Python functions behind them run marked, too.
Each rule is that of Python's data model. Objects of library classes, numbers and arrays take the plain way at once; the
classes themselves are looked at, and never changed.

Not here: what has to give a Python value (``len``, ``in``, ``bool``, ``hash``, ``str``), chained comparisons, and what
metaclasses define.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.tracer.core.installed_code import is_library
from numhlo.tracer.core.semantics import are_arrays_immutable
from numhlo.tracer.core.trace import Tracer, current_trace
from numhlo.tracer.python.stand_ins import STAND_INS, stands_for

BINARY = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "@": "matmul",
    "&": "and", "|": "or", "^": "xor", "<<": "lshift", ">>": "rshift",
}  # fmt: skip
COMPARISONS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
SWAPPED = {"eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
UNARY = {"-": "neg", "+": "pos", "~": "invert"}

CONSUMERS = frozenset(map(id, (
    list, tuple, set, frozenset, dict, sum, any, all, zip, enumerate, max, min, sorted, map, filter, functools.reduce,
)))  # fmt: skip
"""Builtins that iterate over their arguments."""

Exchange = Callable[[Any], Any]
SERIES = "numpy.polynomial"
"""NumPy's modules whose code runs as a user's does (`polynomial_series`)."""

_PLAIN: set[type] = {bool, int, float, complex, str, list, tuple, dict, type(None), np.ndarray, Tracer}
_MISSING = object()

exchange: Exchange = lambda function: function  # noqa: E731 - `plain_numpy` sets what marks a function's calls


def is_plain(cls: type) -> bool:
    """Return whether a class and all its bases belong to libraries."""
    if cls in _PLAIN:
        return True
    if all(_is_left_alone(base.__module__) for base in cls.__mro__):
        _PLAIN.add(cls)
        return True
    return False


def special(cls: type, name: str) -> FunctionType | None:
    """Return the Python function of the user's that a class has for a special method, if there is one."""
    found = _looked_up(cls, name)
    return found if type(found) is FunctionType and not _is_left_alone(found.__module__) else None


def _is_left_alone(module: str | None) -> bool:
    """Return whether code of a module runs as it is: all libraries' but NumPy's series, which are Python code."""
    return is_library(module) and not (module or "").startswith(SERIES)


def _looked_up(cls: type, name: str) -> Any:
    for base in cls.__mro__:
        found = vars(base).get(name, _MISSING)
        if found is not _MISSING:
            return found
    return _MISSING


def is_off() -> bool:
    """Return whether nothing is traced, or by the rules of JAX."""
    return current_trace() is None or are_arrays_immutable()


# --------------------------------------------------------------------------------------------------------- operators


def _attempt(method: Any, x: Any, y: Any) -> Any:
    """Call one side's method, marked where it is the user's; None stands for a missing one."""
    if method is None:
        return NotImplemented
    return (exchange(method) if type(method) is FunctionType else method)(x, y)


def _method(cls: type, name: str) -> Any:
    """Return a class's special method; none of a sequence's, which Python asks last."""
    return None if cls in (list, tuple, str, bytes) else special(cls, name) or getattr(cls, name, None)


def _binary(plain: Callable[[Any, Any], Any], name: str, reflected: str) -> Callable[[Any, Any], Any]:
    def operate(x: Any, y: Any) -> Any:
        a, b = type(x), type(y)
        if (is_plain(a) and is_plain(b)) or is_off():
            return plain(x, y)
        if not (special(a, name) or special(b, reflected)):
            return plain(_beside(x, y), _beside(y, x))
        sides = [(_method(a, name), x, y)]
        if a is not b or name in _SELF_REFLECTED:
            own, other = _looked_up(a, reflected), _looked_up(b, reflected)
            first = a is not b and issubclass(b, a) and own is not other
            sides.insert(0 if first else 1, (_method(b, reflected), y, x))
        for side in sides:
            result = _attempt(*side)
            if result is not NotImplemented:
                return result
        return plain(x, y)  # raises, joins sequences, or compares by identity

    return operate


def _beside(x: Any, other: Any) -> Any:
    return array_of(x) if isinstance(other, Tracer) and not has_rules(type(x)) else x


_SELF_REFLECTED = frozenset(f"__{name}__" for name in SWAPPED)


def _unary(plain: Callable[..., Any], name: str) -> Callable[..., Any]:
    def operate(x: Any, *args: Any) -> Any:
        method = None if is_plain(type(x)) or is_off() else special(type(x), name)
        return plain(x, *args) if method is None else exchange(method)(x, *args)

    return operate


def _in_place(plain: Callable[[Any, Any], Any], name: str, out_of_place: Callable[..., Any]) -> Callable[..., Any]:
    def operate(x: Any, y: Any) -> Any:
        if (is_plain(type(x)) and is_plain(type(y))) or is_off():
            return plain(x, y)
        method = special(type(x), name)
        if method is not None:
            result = exchange(method)(x, y)
            return out_of_place(x, y) if result is NotImplemented else result
        return plain(x, y) if hasattr(type(x), name) else out_of_place(x, y)

    return operate


def _operator(name: str) -> Any:
    return getattr(operator, f"{name}_" if name in ("and", "or") else name)


OPERATORS: dict[str, Callable[..., Any]] = {}
"""By how they are written (``x + y``, ``x += y``, ``-x``): the operators as functions."""

for _sign, _name in BINARY.items():
    _apply = _binary(_operator(_name), f"__{_name}__", f"__r{_name}__")
    OPERATORS[f"x {_sign} y"] = stands_for(_operator(_name))(_apply)
    OPERATORS[f"x {_sign}= y"] = _in_place(_operator(f"i{_name}"), f"__i{_name}__", _apply)
for _sign, _name in COMPARISONS.items():
    _apply = _binary(_operator(_name), f"__{_name}__", f"__{SWAPPED[_name]}__")
    OPERATORS[f"x {_sign} y"] = stands_for(_operator(_name))(_apply)
for _sign, _name in UNARY.items():
    OPERATORS[f"{_sign}x"] = stands_for(_operator(_name))(_unary(_operator(_name), f"__{_name}__"))


def _contains(x: Any, y: Any) -> Any:
    """Return ``x in y``; one of traced values, or among them, is compared with all."""
    if isinstance(y, Tracer):
        known = y.known()
        return (OPERATORS["x == y"](y, x)).any() if known is None or isinstance(x, Tracer) else x in known
    if type(y) in (list, tuple) and any(isinstance(item, Tracer) and item.known() is None for item in (x, *y)):
        found = [OPERATORS["x == y"](x, item) for item in y]
        return functools.reduce(operator.or_, found) if found else False
    method = None if is_plain(type(y)) or is_off() else special(type(y), "__contains__")
    return x in y if method is None else exchange(method)(y, x)


def _contains_not(x: Any, y: Any) -> Any:
    found = _contains(x, y)
    return OPERATORS["x == y"](found, False) if isinstance(found, Tracer) else not found


OPERATORS["x in y"], OPERATORS["x not in y"] = _contains, _contains_not


def _of_objects(make: Callable[..., Any]) -> Callable[..., Any]:
    """Return a maker of arrays that asks an object of the user's for its own by ``__array__``, marked."""

    @functools.wraps(make)
    def convert(*args: Any, **kwargs: Any) -> Any:
        return make(array_of(args[0]), *args[1:], **kwargs) if args else make(*args, **kwargs)

    return convert


def has_rules(cls: type) -> bool:
    """Return whether NumPy asks a class what its functions do, rather than for an array."""
    return hasattr(cls, "__array_ufunc__") or hasattr(cls, "__array_function__")


def array_of(x: Any) -> Any:
    """Return what an object of the user's gives by ``__array__``, called marked; others as they are."""
    method = None if is_plain(type(x)) or is_off() else special(type(x), "__array__")
    return x if method is None else exchange(method)(x)


for _maker in (np.array, np.asarray, np.asanyarray):
    stands_for(_maker)(_of_objects(STAND_INS[id(_maker)][1]))


@functools.wraps(next)
def _next(x: Any, *default: Any) -> Any:
    if isinstance(x, Tracer):
        raise UnsupportedError(
            f"next of a traced array {x.aval.short()}",
            where=capture_location(),
            why="arrays have no place that they have been read to",
            fix="write it = iter(x.flat), or it = iter(x) for the rows, and next(it)",
        )
    return next(x, *default)


stands_for(next)(_unary(_next, "__next__"))
for _function in (abs, round, reversed, iter):
    stands_for(_function)(_unary(_function, f"__{_function.__name__}__"))
stands_for(divmod)(_binary(divmod, "__divmod__", "__rdivmod__"))


# ------------------------------------------------------------------------------------------------- attributes and items


def read_attribute(x: Any, name: str) -> Any:
    """Return an attribute; Python functions of the user's that give it are called marked."""
    if is_plain(type(x)) or is_off():
        return getattr(x, name)
    cls = type(x)
    custom = special(cls, "__getattribute__")
    try:
        return exchange(custom)(x, name) if custom is not None else _found_attribute(x, name)
    except AttributeError:
        fallback = special(cls, "__getattr__")
        if fallback is None:
            raise
        return exchange(fallback)(x, name)


def _found_attribute(x: Any, name: str) -> Any:
    """Return an attribute; what Python calls for it is called marked: a property, or a descriptor of the user's."""
    cls = type(x)
    found = _looked_up(cls, name)
    if isinstance(found, property) and type(found.fget) is FunctionType:
        return exchange(found.fget)(x)
    if isinstance(found, functools.cached_property):
        kept = vars(x)
        if name not in kept:
            kept[name] = exchange(found.func)(x)
        return kept[name]
    get = None if found is _MISSING or is_plain(type(found)) else special(type(found), "__get__")
    if get is not None:
        comes_first = hasattr(type(found), "__set__") or hasattr(type(found), "__delete__")
        if comes_first or name not in getattr(x, "__dict__", ()):
            return exchange(get)(found, x, cls)
    if special(cls, "__getattr__") is not None:
        return object.__getattribute__(x, name)  # its own fallback is the caller's matter
    return getattr(x, name)


def write_attribute(x: Any, name: str, value: Any, /) -> None:
    """Set an attribute; Python functions of the user's that do it are called marked."""
    if is_plain(type(x)) or is_off():
        setattr(x, name, value)
        return
    custom = special(type(x), "__setattr__")
    found = _looked_up(type(x), name)
    if custom is not None:
        exchange(custom)(x, name, value)
    elif isinstance(found, property) and type(found.fset) is FunctionType:
        exchange(found.fset)(x, value)
    elif found is not _MISSING and special(type(found), "__set__") is not None:
        exchange(special(type(found), "__set__"))(found, x, value)
    else:
        setattr(x, name, value)


def _delete_attribute(x: Any, name: str) -> None:
    custom = special(type(x), "__delattr__")
    found = _looked_up(type(x), name)
    if custom is not None:
        exchange(custom)(x, name)
    elif isinstance(found, property) and type(found.fdel) is FunctionType:
        exchange(found.fdel)(x)
    else:
        delattr(x, name)


_get_item = _unary(operator.getitem, "__getitem__")
_set_item = _unary(operator.setitem, "__setitem__")
_delete_item = _unary(operator.delitem, "__delitem__")


class Owner:
    """Stands for an object while one of its attributes or items is read, written or deleted."""

    __slots__ = ("_owned",)

    def __init__(self, owned: Any) -> None:
        _keep(self, owned)

    def __getattribute__(self, name: str) -> Any:
        return read_attribute(_owned(self), name)

    def __setattr__(self, name: str, value: Any) -> None:
        write_attribute(_owned(self), name, value)

    def __delattr__(self, name: str) -> None:
        _delete_attribute(_owned(self), name)

    def __getitem__(self, index: Any) -> Any:
        return _get_item(_owned(self), index)

    def __setitem__(self, index: Any, value: Any) -> None:
        _set_item(_owned(self), index, value)

    def __delitem__(self, index: Any) -> None:
        _delete_item(_owned(self), index)


_slot: Any = vars(Owner)["_owned"]
_owned, _keep = _slot.__get__, _slot.__set__


class Updated(Owner):
    """Stands for an object while one of its attributes or items is updated in place."""

    __slots__ = ()

    def __getattribute__(self, name: str) -> Any:
        return _operand(Owner.__getattribute__(self, name))

    def __getitem__(self, index: Any) -> Any:
        return _operand(Owner.__getitem__(self, index))


class Operand:
    """Stands for an object of the user's that is updated in place."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _operand(x: Any) -> Any:
    return x if is_plain(type(x)) else Operand(x)


for _sign, _name in BINARY.items():
    _apply = OPERATORS[f"x {_sign}= y"]
    setattr(Operand, f"__i{_name}__", lambda self, y, _apply=_apply: _apply(self.value, y))


def owner(x: Any) -> Any:
    """Return what stands for an object while an attribute or an item of it is read or written."""
    return x if is_plain(type(x)) or is_off() else Owner(x)


def updated(x: Any) -> Any:
    """Return what stands for an object while an attribute or an item of it is updated in place."""
    return x if isinstance(x, np.ndarray | Tracer) or is_off() else Updated(x)


# ------------------------------------------------------------------------------------------------ iteration, and `with`


def iterated(x: Any) -> Any:
    """Return what Python iterates over in the place of an object."""
    cls = type(x)
    if is_plain(cls) or is_off():
        return x
    method = special(cls, "__iter__")
    if method is not None:
        return _stepped(exchange(method)(x))
    is_sequence = _looked_up(cls, "__iter__") is _MISSING and special(cls, "__getitem__") is not None
    return _items(x) if is_sequence else x


def _stepped(iterator: Any) -> Any:
    method = special(type(iterator), "__next__")
    return iterator if method is None else _steps(exchange(method), iterator)


def _steps(step: Callable[[Any], Any], iterator: Any) -> Iterator[Any]:
    while True:
        try:
            item = step(iterator)
        except StopIteration:
            return
        yield item


def _items(x: Any) -> Iterator[Any]:
    number, owned = 0, Owner(x)
    while True:
        try:
            item = owned[number]
        except IndexError:
            return
        yield item
        number += 1


class Manager:
    """Stands for a context manager of the user's class."""

    def __init__(self, manager: Any) -> None:
        self._manager = manager

    def __enter__(self) -> Any:
        return exchange(_looked_up(type(self._manager), "__enter__"))(self._manager)

    def __exit__(self, *error: object) -> Any:
        return exchange(_looked_up(type(self._manager), "__exit__"))(self._manager, *error)


MANAGERS: dict[type, Callable[[Any], Any]] = {}
"""By a library's class of context managers: what makes that which stands for one."""


def manager(x: Any) -> Any:
    """Return what stands for a context manager."""
    cls = type(x)
    if cls in MANAGERS:
        return MANAGERS[cls](x)
    if is_plain(cls) or is_off() or _MISSING in (_looked_up(cls, "__enter__"), _looked_up(cls, "__exit__")):
        return x
    return Manager(x)


def consuming(callee: Callable[..., Any]) -> Callable[..., Any]:
    """Return a builtin that iterates over its arguments as one that does so over what `iterated` gives."""

    def consume(*args: Any, **kwargs: Any) -> Any:
        return callee(*map(iterated, args), **kwargs)

    return consume
