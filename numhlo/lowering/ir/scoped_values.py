"""What holds for the time of a block, in a thread or in the process, whatever signals' handlers raise.

A handler runs where Python calls a function or comes back from one, so it may raise where a block begins or ends. The
end of a ``with`` may then come late, with the exception that holds its generator, or be broken off in the middle. What
holds still is as it was: blocks that end late have no say any more, `with_own_bindings` and `ProcessSetting.during` end
by what nothing comes in between, and what is left to do is in `unsettled`, where the next call of a jitted function
finds it.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, ParamSpec, TypeVar

from numhlo.lowering.ir.interruptions import ProcessLock

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


class Binding(Generic[T]):
    """A value for the time of a block, in front of the one around it.

    Attributes
    ----------
    value : object
    outer : Binding or None
    open : bool
        The block has not ended.
    thread : int
    """

    __slots__ = ("open", "outer", "thread", "value")

    def __init__(self, value: T, outer: Binding[T] | None = None) -> None:
        self.value, self.outer, self.open = value, outer, True
        self.thread = threading.get_ident()

    def outwards(self) -> Iterator[Binding[T]]:
        """Go through the binding and those around it."""
        binding: Binding[T] | None = self
        while binding is not None:
            yield binding
            binding = binding.outer


unsettled: set[Binding[Any]] = set()
"""Bindings of all threads that calls of jitted functions must look at; while there are none they go the fast way."""


class _Thread(threading.local):
    def __init__(self) -> None:
        self.bindings: dict[ScopedValue[Any], Binding[Any] | None] = {}


_here = _Thread()


class ScopedValue(Generic[T]):
    """A value that each thread has its own of, and that blocks bind.

    Parameters
    ----------
    default : object
        What it is outside all blocks.

    Examples
    --------
    >>> depth = ScopedValue(0)
    >>> with depth.bound(1):
    ...     print(depth.get())
    1
    >>> depth.get()
    0
    """

    __slots__ = ("default",)

    def __init__(self, default: T) -> None:
        self.default = default

    def get(self) -> T:
        """Return what the innermost block that has not ended binds."""
        binding = _here.bindings.get(self)
        while binding is not None and not binding.open:
            binding = binding.outer
        return self.default if binding is None else binding.value

    @contextmanager
    def bound(self, value: T, *, marks: bool = False) -> Iterator[T]:
        """Bind a value for a block, which gets it.

        Parameters
        ----------
        value : object
        marks : bool, optional
            Whether calls of jitted functions must look at it.
        """
        bindings = _here.bindings  # the thread's then: of a call that is over, if the end comes late
        outer = bindings.get(self)
        binding = Binding(value, outer)
        try:
            if marks:
                unsettled.add(binding)
            bindings[self] = binding
            yield value
        finally:
            binding.open = False
            if marks:
                unsettled.discard(binding)
            if bindings.get(self) is binding:
                bindings[self] = outer


def with_own_bindings(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a function all of whose blocks have ended when it returns or raises, also those that a handler broke off.

    Examples
    --------
    >>> depth = ScopedValue(0)
    >>> with_own_bindings(lambda: depth.bound(1).__enter__())  # and never __exit__
    1
    >>> depth.get()
    0
    """
    outer = _here.bindings
    _here.bindings = dict(outer)
    try:
        return function(*args, **kwargs)
    finally:
        _here.bindings = outer


class ProcessSetting(Generic[T]):
    """Something of the process that is another while some threads are at work, such as a threshold of the collector.

    Parameters
    ----------
    read : callable
        Returns what it is.
    write : callable
        Makes it another.

    Examples
    --------
    >>> import sys
    >>> limit = ProcessSetting(sys.getrecursionlimit, sys.setrecursionlimit)
    >>> usual = sys.getrecursionlimit()
    >>> limit.during(lambda n: n + 5, sys.getrecursionlimit) - usual
    5
    >>> sys.getrecursionlimit() - usual
    0
    """

    __slots__ = ("__weakref__", "_change", "_lock", "_read", "_users", "_write")

    def __init__(self, read: Callable[[], T], write: Callable[[T], object]) -> None:
        self._read, self._write = read, write
        self._users: set[Binding[None]] = set()
        self._change: list[T] = []  # what it was before, and what it was changed to
        self._lock = ProcessLock()
        _settings.add(self)

    def during(self, choose: Callable[[T], T], function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Call a function; until the last such call ends the setting is what the first one's ``choose(usual)`` says."""
        user = Binding(None)
        try:
            self._begin(user, choose)
            return function(*args, **kwargs)
        finally:
            unsettled.add(user)  # if a handler raises from here on the next call does the rest
            self.leave([user])
            unsettled.discard(user)

    def _begin(self, user: Binding[None], choose: Callable[[T], T]) -> None:
        with self._lock.own:
            self._users.add(user)
            if len(self._users) == 1:
                usual = self._read()
                wanted = choose(usual)
                if wanted != usual:
                    self._change[:] = [usual]
                    self._write(wanted)
                    self._change.append(self._read())

    def leave(self, users: list[Binding[None]]) -> None:
        """Go on without some users; without any, put back what was usual, unless somebody has set something else."""
        with self._lock.own:
            self._users.difference_update(users)
            if not self._users and self._change:
                if len(self._change) == 1 or self._read() == self._change[1]:
                    self._write(self._change[0])
                self._change.clear()

    def settle(self) -> None:
        """Do what calls that a handler broke off, and threads that a fork left behind, have not."""
        thread = threading.get_ident()
        self.leave([user for user in list(self._users) if user in unsettled and user.thread == thread])

    def keep_own(self) -> None:
        """Go on without all threads but this one."""
        self.leave([user for user in self._users if user.thread != threading.get_ident()])


_settings: weakref.WeakSet[ProcessSetting[Any]] = weakref.WeakSet()


def settle() -> None:
    """Do what is left to do of blocks of this thread that a handler broke off."""
    thread = threading.get_ident()
    for setting in list(_settings):
        setting.settle()
    live = {binding for inner in list(_here.bindings.values()) if inner for binding in inner.outwards()}
    mine = [b for b in list(unsettled) if b.thread == thread and not (b.open and b in live)]
    unsettled.difference_update(mine)


def _leave_threads_behind() -> None:
    thread = threading.get_ident()
    unsettled.difference_update([b for b in unsettled if b.thread != thread])
    for setting in list(_settings):
        setting.keep_own()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_threads_behind)
