"""Guards: what a trace found in globals, closures and static objects, and the check that it is still so.

A guard compares identity, and value where an immutable scalar was replaced by an equal one. Arrays that the graph takes
as hidden arguments need none for their contents, which every call reads anew; others are compared by content. What to
guard is found by `captured_walk`.
"""

from __future__ import annotations

import weakref
import zlib
from collections.abc import Callable, Sequence
from operator import is_, itemgetter
from types import CellType, CodeType, FunctionType
from typing import Any, NamedTuple

import numpy as np

EXACT_BYTES = 1 << 24
"""Contents up to this size are compared with a copy, larger ones by checksum."""

_BY_VALUE = (bool, int, float, complex, str, bytes, frozenset, range, np.generic, np.dtype, type(None))


_GONE = (KeyError, AttributeError, ValueError, IndexError)
"""What reading an item raises that is no longer there."""


class Held(NamedTuple):
    """What one object holds: a dict under a key, a closure cell as its content, or a function as its code.

    Attributes
    ----------
    holder : dict, cell or function
    key : str or None
        None where the holder is no dict.
    value : object
    """

    holder: Any
    key: str | None
    value: Any


def contents_of(cells: Sequence[CellType]) -> tuple[Any, ...]:
    """Return what closure cells hold."""
    return tuple([cell.cell_contents for cell in cells])


def codes_of(functions: Sequence[FunctionType]) -> tuple[CodeType, ...]:
    """Return the bytecode of functions."""
    return tuple([function.__code__ for function in functions])


class Watch:
    """Some items of one namespace or container, and what they were.

    Parameters
    ----------
    read : callable
        ``read(source)`` returns the items' present values as a tuple; it may raise where one is gone.
    source : object
    expected : tuple
    names : tuple of str
        What to call the items in messages; the last one stands for all that follow.
    """

    __slots__ = ("expected", "names", "read", "source")

    def __init__(self, read: Callable[[Any], Any], source: Any, expected: tuple[Any, ...], names: tuple[str, ...]):
        self.read, self.source, self.expected, self.names = read, source, expected, names

    def difference(self) -> str | None:
        """Return what changed, or None; equal immutable values count as unchanged and are remembered."""
        try:
            found = tuple(self.read(self.source))
        except _GONE:
            return f"{self.names[0]} is gone" if len(self.names) == 1 else f"one of {', '.join(self.names)} is gone"
        if len(found) != len(self.expected):
            return f"{self.names[-1]} has other items"
        for k, (old, new) in enumerate(zip(self.expected, found, strict=True)):
            if old is not new and not same_value(old, new):
                return f"{self.names[min(k, len(self.names) - 1)]} changed{_shown(old, new)}"
        self.expected = found
        return None

    def held(self) -> list[Held] | None:
        """Return what must be held by the same objects as before; None where that is not all there is to compare."""
        if self.read is contents_of or self.read is codes_of:
            return [Held(holder, None, value) for holder, value in zip(self.source, self.expected, strict=True)]
        if not isinstance(self.read, itemgetter) or type(self.source) is not dict:
            return None
        keys = _keys_of(self.read)
        if not all(type(key) is str for key in keys):
            return None
        return [Held(self.source, key, value) for key, value in dict(zip(keys, self.expected, strict=True)).items()]


def _keys_of(read: itemgetter[Any]) -> tuple[Any, ...]:
    return tuple(read.__reduce__()[1])


def same_value(old: Any, new: Any) -> bool:
    """Return whether two objects are immutable, of one class, and equal to the bit.

    Examples
    --------
    >>> same_value(1.0, 1), same_value(0.0, -0.0), same_value((1, "a"), (1, "a"))
    (False, False, True)
    """
    kind = type(old)
    if kind is not type(new):
        return False
    if kind is tuple:
        return len(old) == len(new) and all(a is b or same_value(a, b) for a, b in zip(old, new, strict=True))
    if kind in (float, complex):
        return repr(old) == repr(new)
    if isinstance(old, np.generic):
        return old.dtype == new.dtype and bool(old.tobytes() == new.tobytes())
    return isinstance(old, _BY_VALUE) and bool(old == new)


def _shown(old: Any, new: Any) -> str:
    texts = [repr(x) if isinstance(x, _BY_VALUE) else f"a {type(x).__qualname__}" for x in (old, new)]
    if texts[0] == texts[1] or max(map(len, texts)) > 40:
        return ""
    return f" from {texts[0]} to {texts[1]}"


class Content:
    """The contents of one array, as they were.

    Parameters
    ----------
    array : numpy.ndarray
    name : str
    weak : bool
        Don't keep the array alive; once it is gone it has not changed.
    """

    __slots__ = ("array", "name", "saved", "summarize")

    def __init__(self, array: np.ndarray, name: str, *, weak: bool = False) -> None:
        self.name = name
        self.array: Callable[[], np.ndarray | None] = weakref.ref(array) if weak else lambda: array
        self.summarize = np.ndarray.tobytes if array.nbytes <= EXACT_BYTES else _checksum
        self.saved = self.summarize(array)

    def difference(self) -> str | None:
        """Return what changed, or None."""
        array = self.array()
        if array is None or self.summarize(array) == self.saved:
            return None
        return f"the contents of {self.name} changed"


def _checksum(array: np.ndarray) -> int:
    return zlib.crc32(np.ascontiguousarray(array).view(np.uint8).data)


class Guards:
    """All that one trace depends on beyond its arguments."""

    __slots__ = ("_checks", "contents", "watches")

    def __init__(self, watches: Sequence[Watch] = (), contents: Sequence[Content] = ()) -> None:
        self.watches = tuple(watches)
        self.contents = tuple(contents)
        self._checks = (*[_quick_check(w) for w in watches], *[_content_check(c) for c in contents])

    def __bool__(self) -> bool:
        return bool(self._checks)

    def hold(self) -> bool:
        """Return whether nothing has changed."""
        try:
            for check in self._checks:  # a loop, not all(): half a dozen of these run at every call
                if not check():
                    return False
        except _GONE:
            return False
        return True

    def expected(self) -> tuple[tuple[Any, ...], ...]:
        """Return what the watches expect; other tuples once equal values have been taken over."""
        return tuple([watch.expected for watch in self.watches])

    def held(self) -> list[Held]:
        """Return what must be held by the same objects for `hold` to be true, not by equal ones."""
        return [held for watch in self.watches for held in watch.held() or ()]

    def beyond_held(self) -> Guards:
        """Return the guards of all else."""
        return Guards([watch for watch in self.watches if watch.held() is None], self.contents)

    def difference(self) -> str | None:
        """Return what changed first, or None."""
        found = [guard.difference() for guard in self.watches] + [guard.difference() for guard in self.contents]
        return next((text for text in found if text is not None), None)


def _quick_check(watch: Watch) -> Callable[[], bool]:
    """Return a function that tells whether a watch holds; quickest where nothing was even rebound."""
    read, source = watch.read, watch.source
    if len(set(watch.names)) == 1 == len(set(map(id, watch.expected))) and isinstance(read, itemgetter):
        key = _keys_of(read)[0]
        return lambda: source[key] is watch.expected[0] or watch.difference() is None

    def check() -> bool:
        found, expected = read(source), watch.expected
        same = len(found) == len(expected) and all(map(is_, found, expected))
        return same or watch.difference() is None

    return check


def _content_check(content: Content) -> Callable[[], bool]:
    return lambda: content.difference() is None
