"""The cache of one function: entries by key, bounded, with guards; misses are explained."""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple

from numhlo.compilation.dispatch import Route
from numhlo.compilation.entry import Entry
from numhlo.compilation.keys import CallKey, InstanceKey, difference, distance

MOST_KEYS = 512
"""Signatures that one function keeps."""

MOST_ROUTES = 4
"""Entries that are tried first, without looking anything up."""

MOST_VARIANTS = 8
"""Entries that one signature keeps: for states of captured variables, and for layouts."""


_all_caches: weakref.WeakSet[Cache] = weakref.WeakSet()


class CacheInfo(NamedTuple):
    """Figures of a function's cache.

    Attributes
    ----------
    hits : int
        Calls that an entry answered.
    misses : int
        Calls that were traced and compiled.
    maxsize : int
    currsize : int
        Entries that exist now.
    """

    hits: int
    misses: int
    maxsize: int
    currsize: int


COMPARED_KEYS = 8
"""A miss is explained by the nearest of this many recent keys, so that many shapes don't make each new one dearer."""


class Cache:
    """Entries of one function.

    Attributes
    ----------
    lock : RLock
        Held while tracing, so that threads that call for the first time at once trace once.
    routes : tuple of Route
        The entries that were called last, the latest first.
    """

    def __init__(self) -> None:
        _all_caches.add(self)
        self.lock = threading.RLock()
        self.routes: tuple[Route, ...] = ()
        self._entries: OrderedDict[CallKey, list[Entry]] = OrderedDict()
        self._misses = 0
        self._past_calls = 0  # of entries that are gone

    def find(self, key: CallKey, leaves: Sequence[Any]) -> Entry | None:
        """Return the entry that serves a call, if there is one."""
        variants = self._entries.get(key)
        if variants is not None:
            for entry in variants:
                if entry.fits(leaves):
                    self._touch(key)
                    return entry
        return None

    def find_or_make(
        self, key: CallKey, leaves: Sequence[Any], make: Callable[[Callable[[], str]], Entry], names: Sequence[str]
    ) -> Entry:
        """Return the entry that serves a call, made by ``make(cause)`` where there is none."""
        with self.lock:
            entry = self.find(key, leaves)
            if entry is None:
                entry = make(self.explain_miss(key, leaves, names))
                self._add(key, entry)
            return entry

    def _touch(self, key: CallKey | None) -> None:
        """Note that a signature was called: the ones not called for longest go first."""
        with suppress(KeyError):  # another thread has just dropped it
            self._entries.move_to_end(key)  # type: ignore[arg-type]

    def promote(self, entry: Entry, make_route: Callable[[], Route]) -> None:
        """Make an entry's route the first that calls try."""
        routes = self.routes
        if not routes or routes[0].entry is not entry:
            own = next((r for r in routes if r.entry is entry), None) or make_route()
            self.routes = (own, *[r for r in routes if r is not own][: MOST_ROUTES - 1])

    def _add(self, key: CallKey, entry: Entry) -> None:
        self._misses += 1
        if key.statics:
            for dead in [k for k in self._entries if _is_dead(k)]:
                self._forget(self._entries.pop(dead))
        for route in self.routes:  # whose calls don't look anything up
            self._touch(route.entry.cache_key)
        entry.cache_key, entry.number = key, self._misses
        variants = self._entries.setdefault(key, [])
        variants.insert(0, entry)
        self._forget(variants[MOST_VARIANTS:])
        del variants[MOST_VARIANTS:]
        self._touch(key)
        while len(self._entries) > MOST_KEYS:
            self._forget(self._entries.popitem(last=False)[1])

    def _forget(self, entries: Sequence[Entry]) -> None:
        self.routes = tuple([r for r in self.routes if r.entry not in entries])
        self._past_calls += sum(e.calls for e in entries)

    def explain_miss(self, key: CallKey, leaves: Sequence[Any], names: Sequence[str]) -> Callable[[], str]:
        """Return what says why no entry serves a call: the difference to the nearest one; its first word is the kind.

        Keys are compared when somebody asks. What may be different by then, captured state and static objects, is
        looked at now.
        """
        variants = self._entries.get(key)
        if variants:
            entry = variants[0]
            changed = entry.guards.difference()
            text = f"captured: {changed}" if changed else f"layout: {_layout_of(entry)} was laid out differently"
            return lambda: text
        if not self._entries:
            return lambda: "first: nothing was compiled before"
        recent = [(old, found[0].names) for old, found in islice(reversed(self._entries.items()), COMPARED_KEYS)]

        def compare() -> str:
            nearest, its_names = min(recent, key=lambda one: distance(one[0], key))
            return difference(nearest, its_names, key, names)

        if key.statics:
            text = compare()
            return lambda: text
        return compare

    def entries(self) -> list[Entry]:
        """Return all entries, oldest first."""
        return sorted([e for variants in [*self._entries.values()] for e in variants], key=lambda e: e.number)

    def clear(self) -> None:
        """Forget everything."""
        with self.lock:
            self._entries.clear()
            self.routes = ()
            self._misses = self._past_calls = 0

    def info(self) -> CacheInfo:
        """Return the cache's figures."""
        entries = self.entries()
        calls = sum(e.calls for e in entries) + self._past_calls
        return CacheInfo(max(calls - self._misses, 0), self._misses, MOST_KEYS, len(entries))


def clear_all() -> None:
    """Forget everything, in every cache."""
    for cache in list(_all_caches):
        cache.clear()


def _is_dead(key: CallKey) -> bool:
    values = [value for _, (_, value) in key.statics]
    return any(isinstance(v, InstanceKey) and not v.is_alive for v in values)


def _layout_of(entry: Entry) -> str:
    return ", ".join(entry.names[number] for number, _ in entry.layout)


_caches: weakref.WeakKeyDictionary[Any, dict[Any, Cache]] = weakref.WeakKeyDictionary()
_caches_lock = threading.Lock()


def cache_of(fun: Any, options: Any) -> Cache:
    """Return the cache of a function under the given options: one for all that `jit` makes of it, and as long-lived."""
    with _caches_lock:
        try:
            return _caches.setdefault(fun, {}).setdefault(options, Cache())
        except TypeError:  # neither hashable nor weakly referable: nobody can pass it twice
            return Cache()
