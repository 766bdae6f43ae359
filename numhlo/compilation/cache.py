"""The cache of one function: entries by key, bounded, with guards; misses are explained."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, NamedTuple

from numhlo.compilation.dispatch import Route
from numhlo.compilation.entry import Entry
from numhlo.compilation.keys import CallKey, InstanceKey, difference, distance
from numhlo.compilation.native_calls import Caller
from numhlo.lowering.ir.interruptions import ProcessLock

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


class _Variants(list[Entry]):
    """The entries of one signature, and when it was called last, counted in calls.

    A signal handler that raises may end any comparison of keys: a dict survives that, an OrderedDict that is moving a
    key does not.
    """

    used = 0


class Cache:
    """Entries of one function.

    Attributes
    ----------
    lock : ProcessLock
        Held while tracing, so that threads that call for the first time at once trace once.
    routes : tuple of Route
        The entries that were called last, the latest first.
    caller : Caller
        What native code knows about the first of them.
    """

    def __init__(self) -> None:
        _all_caches.add(self)
        self.lock = ProcessLock()
        self.routes: tuple[Route, ...] = ()
        self.caller = Caller()
        self._entries: dict[CallKey, _Variants] = {}
        self._calls = self._misses = 0
        self._past_calls = 0  # of entries that are gone

    def find(self, key: CallKey, leaves: Sequence[Any]) -> Entry | None:
        """Return the entry that serves a call, if there is one."""
        variants = self._entries.get(key)
        if variants is not None:
            for entry in variants:
                if entry.fits(leaves):
                    self._touch(variants)
                    return entry
        return None

    def find_or_make(
        self, key: CallKey, leaves: Sequence[Any], make: Callable[[Callable[[], str]], Entry], names: Sequence[str]
    ) -> Entry:
        """Return the entry that serves a call, made by ``make(cause)`` where there is none."""
        with self.lock.own:
            entry = self.find(key, leaves)
            if entry is None:
                entry = make(self.explain_miss(key, leaves, names))
                self._add(key, entry)
            return entry

    def _touch(self, variants: _Variants) -> None:
        """Note that a signature was called: the ones not called for longest go first."""
        variants.used = self._calls = self._calls + 1

    def promote(self, entry: Entry, make_route: Callable[[], Route]) -> None:
        """Make an entry's route the first that calls try."""
        routes = self.routes
        if not routes or routes[0].entry is not entry:
            own = next((r for r in routes if r.entry is entry), None) or make_route()
            self.change_routes((own, *[r for r in routes if r is not own][: MOST_ROUTES - 1]))

    def change_routes(self, routes: tuple[Route, ...]) -> None:
        """Let calls try other routes; native code does not know the first one yet."""
        self.routes = routes
        self.caller.forget()

    def let_native_code_take(self, route: Route, sample: Any) -> None:
        """Let calls of functions like the one that is called take the first route without Python."""
        if route.native is self.caller.native:
            return
        self.caller.take(route, sample)
        if not self.routes or self.routes[0] is not route:  # another thread has changed them meanwhile
            self.caller.forget()

    def _add(self, key: CallKey, entry: Entry) -> None:
        self._misses += 1
        if key.statics:
            for dead in [k for k in self._entries if _is_dead(k)]:
                self._forget(self._entries.pop(dead))
        for route in self.routes:  # whose calls don't look anything up
            known = self._entries.get(route.entry.cache_key) if route.entry.cache_key else None
            if known is not None:
                self._touch(known)
        entry.cache_key, entry.number = key, self._misses
        variants = self._entries.setdefault(key, _Variants())
        variants.insert(0, entry)
        self._forget(variants[MOST_VARIANTS:])
        del variants[MOST_VARIANTS:]
        self._touch(variants)
        while len(self._entries) > MOST_KEYS:
            self._forget(self._entries.pop(min(self._entries, key=lambda k: self._entries[k].used)))

    def _forget(self, entries: Sequence[Entry]) -> None:
        self.change_routes(tuple([r for r in self.routes if r.entry not in entries]))
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
        with self.lock.own:
            self._entries.clear()
            self.change_routes(())
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


def forget_routes() -> None:
    """Let calls of every function look up their entries again: what decides which one it is has changed."""
    for cache in list(_all_caches):
        with cache.lock.own:
            cache.change_routes(())


def _is_dead(key: CallKey) -> bool:
    values = [value for _, (_, value) in key.statics]
    return any(isinstance(v, InstanceKey) and not v.is_alive for v in values)


def _layout_of(entry: Entry) -> str:
    return ", ".join(entry.names[number] for number, _ in entry.layout)


_caches: weakref.WeakKeyDictionary[Any, dict[Any, Cache]] = weakref.WeakKeyDictionary()
_caches_lock = ProcessLock()


def cache_of(fun: Any, options: Any) -> Cache:
    """Return the cache of a function under the given options: one for all that `jit` makes of it, and as long-lived."""
    with _caches_lock.own:
        try:
            return _caches.setdefault(fun, {}).setdefault(options, Cache())
        except TypeError:  # neither hashable nor weakly referable: nobody can pass it twice
            return Cache()
