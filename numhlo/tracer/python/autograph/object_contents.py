"""What changes in a Python object: its items, attributes and variables, or where a generator of random numbers is.

Each is read and written back as a whole. What can only be used up, such as an iterator, can't be written back: of it
is read how far it has come.
"""

from __future__ import annotations

import array
import dis
import functools
import gc
import itertools
import operator
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from types import CellType, CodeType, FunctionType, MemberDescriptorType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from numhlo.tracer.core.installed_code import is_library
from numhlo.tracer.python.stand_ins import ElementIterator

MOST_BYTES = 1 << 20
"""Arrays of NumPy's up to this size are looked at."""

_ITEMS, _BYTES = (list, set, deque), (bytearray, array.array)
_NAMES_WRITTEN = frozenset(dis.opmap[name] for name in ("STORE_GLOBAL", "DELETE_GLOBAL"))
_MISSING = object()
_ITERATING = frozenset({"builtins", "itertools", "numpy"})
"""Modules whose iterators show how far they have come."""


class Content(NamedTuple):
    """Something that an object holds.

    Attributes
    ----------
    read : callable
        Returns what is there now, as a tuple: objects, or bytes and text that stand for it.
    write : callable
        Takes such a tuple.
    """

    read: Callable[[], tuple[Any, ...]]
    write: Callable[[tuple[Any, ...]], None]


def are_same(now: tuple[Any, ...], kept: tuple[Any, ...]) -> bool:
    """Return whether two readings of a content are of the same objects."""
    return len(now) == len(kept) and all(
        a is b or (type(a) is type(b) in (bytes, str) and a == b) for a, b in zip(now, kept, strict=True)
    )


def contents_of(x: Any, own: frozenset[tuple[int, str]] = frozenset()) -> Iterator[Content]:
    """Yield what an object holds.

    Parameters
    ----------
    x : object
    own : set of (int, str)
        Attributes that don't count, by their objects' ids.
    """
    if isinstance(x, dict):
        yield Content(lambda: tuple(part for pair in x.items() for part in pair), functools.partial(_refill_dict, x))
    elif isinstance(x, _ITEMS):
        yield Content(lambda: tuple(x), functools.partial(_refill, x))
    elif isinstance(x, _BYTES):
        yield Content(lambda: (bytes(memoryview(x)),), functools.partial(_refill_bytes, x))
    elif isinstance(x, CellType):
        yield Content(lambda: _in_cell(x), functools.partial(_refill_cell, x))
    elif isinstance(x, SimpleNamespace | FunctionType):
        yield _dictionary(x, own)
        yield from [_globals(x)] if isinstance(x, FunctionType) else []
    elif isinstance(x, np.ndarray):
        yield from _numbers(x)
    elif _is_of(x, "numpy.random") or _is_of(x, "random"):
        yield from _generator(x)
    elif is_used_up(x):
        yield Content(functools.partial(_progress, x), lambda kept: None)
    elif not is_library((x if isinstance(x, type) else type(x)).__module__):
        yield from _of_class(x, own) if isinstance(x, type) else _of_object(x, own)


def is_used_up(x: Any) -> bool:
    """Return whether an object can only be used up: iterators, open files, what spawns seeds.

    Examples
    --------
    >>> is_used_up(iter([1])), is_used_up([1])
    (True, False)
    """
    cls = type(x)
    if hasattr(cls, "__next__"):
        return is_library(cls.__module__)
    return (
        _is_of(x, "numpy.random")
        and hasattr(x, "spawn")
        and not (hasattr(x, "bit_generator") or hasattr(x, "random_raw"))
    )


@functools.lru_cache(maxsize=4096)
def written_globals(code: CodeType) -> frozenset[str]:
    """Return the names of the globals that a function, or one inside it, assigns to."""
    inner = [written_globals(c) for c in code.co_consts if isinstance(c, CodeType)]
    if _NAMES_WRITTEN.isdisjoint(code.co_code[::2]):
        return frozenset().union(*inner)
    names = [i.argval for i in dis.get_instructions(code) if i.opcode in _NAMES_WRITTEN]
    return frozenset(names).union(*inner)


def _is_of(x: Any, module: str) -> bool:
    own: Any = type(x).__module__
    return isinstance(own, str) and (own == module or own.startswith(module + "."))


# ---------------------------------------------------------------------------------------------------------- attributes


def _dictionary(x: Any, own: frozenset[tuple[int, str]]) -> Content:
    """Return the attributes in an object's ``__dict__``."""

    def read() -> tuple[Any, ...]:
        return tuple(part for name, v in x.__dict__.items() if (id(x), name) not in own for part in (name, v))

    def write(kept: tuple[Any, ...]) -> None:
        mine = {name: v for name, v in x.__dict__.items() if (id(x), name) in own}
        _refill_dict(x.__dict__, kept)
        x.__dict__.update(mine)

    return Content(read, write)


def _of_object(x: Any, own: frozenset[tuple[int, str]]) -> Iterator[Content]:
    if type(getattr(x, "__dict__", None)) is dict:
        yield _dictionary(x, own)
    slots = [v for cls in type(x).__mro__ for v in vars(cls).values() if isinstance(v, MemberDescriptorType)]
    slots = [
        slot for slot in slots if (id(x), slot.__name__) not in own and not is_library(slot.__objclass__.__module__)
    ]
    if slots:
        yield _named(
            [slot.__name__ for slot in slots],
            lambda k: _of_slot(slots[k], x),
            lambda k, v: slots[k].__set__(x, v),
            lambda k: slots[k].__delete__(x),
        )


def _of_slot(slot: MemberDescriptorType, x: Any) -> Any:
    try:
        return slot.__get__(x)
    except AttributeError:
        return _MISSING


def _of_class(cls: type, own: frozenset[tuple[int, str]]) -> Iterator[Content]:
    names = [name for name in vars(cls) if not name.startswith("__") and (id(cls), name) not in own]
    yield _named(
        names,
        lambda k: vars(cls).get(names[k], _MISSING),
        lambda k, v: type.__setattr__(cls, names[k], v),
        lambda k: type.__delattr__(cls, names[k]),
    )


def _globals(fun: FunctionType) -> Content:
    names, variables = sorted(written_globals(fun.__code__)), fun.__globals__
    return _named(
        names,
        lambda k: variables.get(names[k], _MISSING),
        lambda k, v: variables.update({names[k]: v}),
        lambda k: variables.pop(names[k]),
    )


def _named(
    names: list[str],
    get: Callable[[int], Any],
    put: Callable[[int, Any], Any],
    remove: Callable[[int], Any],
) -> Content:
    """Return a content of a fixed number of named places, of which some may be empty."""

    def write(kept: tuple[Any, ...]) -> None:
        for k, v in enumerate(kept):
            if get(k) is not v:
                remove(k) if v is _MISSING else put(k, v)

    return Content(lambda: tuple(map(get, range(len(names)))), write)


# --------------------------------------------------------------------------------------------------- random generators


def _generator(x: Any) -> Iterator[Content]:
    if hasattr(x, "getstate"):
        read, write = x.getstate, x.setstate
    elif hasattr(x, "get_state"):
        read, write = functools.partial(x.get_state, legacy=False), x.set_state
    else:
        bits = getattr(x, "bit_generator", x)
        if not hasattr(bits, "random_raw"):
            return
        read, write = lambda: bits.state, functools.partial(setattr, bits, "state")
    found: dict[str, Any] = {}

    def text() -> tuple[str]:
        now = read()
        found.setdefault(repr(now), now)
        return (repr(now),)

    yield Content(text, lambda kept: write(found[kept[0]]))


# ----------------------------------------------------------------------------------------------------------- iterators


def _progress(x: Any) -> tuple[Any, ...]:
    """Return what changes when an item is taken: what is left, the place in code and arrays, what is held."""
    if type(x).__module__ not in _ITERATING and not isinstance(x, ElementIterator):
        return ()
    left = operator.length_hint(x) if hasattr(type(x), "__length_hint__") else 0
    frame = getattr(x, "gi_frame", None)
    line = 0 if frame is None else frame.f_lasti
    place = x.index if isinstance(x, np.flatiter) else x.iterindex if isinstance(x, np.nditer | ElementIterator) else 0
    number = repr(x) if isinstance(x, itertools.count) else ""
    return f"{left} {line} {place} {number} {frame is None}", *gc.get_referents(x)


# ------------------------------------------------------------------------------------------------- items and variables


def _refill(x: Any, kept: tuple[Any, ...]) -> None:
    x.clear()
    (x.update if isinstance(x, set) else x.extend)(kept)


def _refill_bytes(x: Any, kept: tuple[Any, ...]) -> None:
    del x[:]
    (x.extend if isinstance(x, bytearray) else x.frombytes)(kept[0])


def _refill_dict(x: dict[Any, Any], kept: tuple[Any, ...]) -> None:
    x.clear()
    put = type(x).__setitem__ if isinstance(x, OrderedDict) else dict.__setitem__  # a Counter's update adds
    for name, v in zip(kept[::2], kept[1::2], strict=True):
        put(x, name, v)


def _in_cell(x: CellType) -> tuple[Any, ...]:
    try:
        return (x.cell_contents,)
    except ValueError:
        return ()


def _refill_cell(x: CellType, kept: tuple[Any, ...]) -> None:
    if kept:
        x.cell_contents = kept[0]


def _numbers(x: np.ndarray) -> Iterator[Content]:
    if x.flags.writeable and x.dtype.kind in "biufc" and x.nbytes <= MOST_BYTES:
        yield Content(lambda: (x.tobytes(),), functools.partial(_refill_array, x))


def _refill_array(x: np.ndarray, kept: tuple[Any, ...]) -> None:
    x[...] = np.frombuffer(kept[0], x.dtype).reshape(x.shape)
