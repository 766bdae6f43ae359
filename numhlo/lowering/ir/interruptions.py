"""What must be right although signal handlers, finalizers and forks come in the middle of it: locks, copies."""

from __future__ import annotations

import _thread
import collections
import itertools
import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterable
from typing import ParamSpec, TypeVar

import numpy as np

P = ParamSpec("P")
R = TypeVar("R")


class ProcessLock:
    """A lock for ``with lock.own:``, which its thread may take again, and which is free in the child of a fork.

    A handler or a finalizer that calls a jitted function may come to a block that its thread is in the middle of. It
    goes on there, so what such a block does must be right even then.

    Attributes
    ----------
    own : threading.RLock
        Of this process. It is replaced, not opened: a thread that forks inside a block leaves the one that it took.

    Examples
    --------
    >>> lock = ProcessLock()
    >>> with lock.own, lock.own:
    ...     pass
    """

    __slots__ = ("__weakref__", "own")

    def __init__(self) -> None:
        self.own = threading.RLock()
        _locks.add(self)


_locks: weakref.WeakSet[ProcessLock] = weakref.WeakSet()


def _leave_threads_behind() -> None:
    for lock in list(_locks):
        lock.own = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_threads_behind)


class Latch:
    """Something that has happened or not, as of `threading.Event`, that a signal's handler may tell at any moment.

    Examples
    --------
    >>> latch = Latch()
    >>> latch.wait(0.0)
    False
    >>> latch.set()
    >>> latch.wait(0.0)
    True
    """

    __slots__ = ("_closed",)

    def __init__(self) -> None:
        self._closed = threading.Lock()
        self._closed.acquire()

    def set(self) -> None:
        """Say that it has happened."""
        try:
            self._closed.release()
        except RuntimeError:  # that was known
            return

    def clear(self) -> None:
        """Say that it has yet to happen."""
        self._closed.acquire(blocking=False)

    def wait(self, seconds: float) -> bool:
        """Wait until it has happened, so long at most (-1: as long as it takes), and return whether it has."""
        found: list[bool] = []
        try:
            found.extend(map(self._closed.acquire, [True], [seconds]))  # taken and noted: no handler in between
            return found[0]
        finally:
            if found and found[0]:
                try:  # noqa: SIM105 - as `set` does; a handler might raise where a function begins
                    self._closed.release()
                except RuntimeError:
                    pass


def copy_together(pairs: Iterable[tuple[np.ndarray, np.ndarray]]) -> None:
    """Copy arrays into others, given as (target, source): all of them, or none if a signal's handler raises before.

    Handlers run where Python does, so no Python runs in between.

    Examples
    --------
    >>> import numpy as np
    >>> target = np.zeros(2)
    >>> copy_together([(target, np.ones(2))])
    >>> target
    array([1., 1.])
    """
    assignments = [(target, ..., source) for target, source in pairs]
    collections.deque(itertools.starmap(np.ndarray.__setitem__, assignments), maxlen=0)


def start(thread: threading.Thread) -> None:
    """Start a thread, which begins though a signal's handler raises in the middle of this.

    `threading.Thread.start` waits for the thread to begin. If a handler raises there the lock that both want may stay
    held, and the thread never runs; so one that gets no signals waits instead.

    Raises
    ------
    RuntimeError
        If there can be no more threads: a limit, or the interpreter is ending.

    Examples
    --------
    >>> latch = Latch()
    >>> start(threading.Thread(target=latch.set))
    >>> latch.wait(60.0)
    True
    """
    if sys.is_finalizing():  # a finalizer's call: who waited for a thread to begin would wait for ever
        raise RuntimeError("no thread begins at interpreter shutdown")
    if threading.current_thread() is not threading.main_thread():
        return thread.start()
    failed: list[RuntimeError] = []
    begun = Latch()

    def work() -> None:
        try:
            thread.start()
        except RuntimeError as error:
            failed.append(error)
        finally:
            begun.set()

    _thread.start_new_thread(work, ())
    begun.wait(-1)
    if failed:
        raise failed.pop()
    return None


def uninterrupted(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Return what a function returns that no handler may come in the middle of: another thread calls it.

    Handlers run in the main thread, which waits meanwhile; if one raises there, the function is done all the same, and
    the process does not end before.

    Examples
    --------
    >>> uninterrupted(lambda: threading.current_thread() is threading.main_thread())
    False
    """
    if threading.current_thread() is not threading.main_thread():
        return function(*args, **kwargs)
    found: list[R] = []
    failed: list[BaseException] = []
    done = Latch()

    def work() -> None:
        try:
            found.append(function(*args, **kwargs))
        except BaseException as error:  # noqa: BLE001 - it is raised where the result is waited for
            failed.append(error)
        finally:
            done.set()

    try:
        start(threading.Thread(target=work, name="numhlo-uninterrupted"))
    except RuntimeError:
        return function(*args, **kwargs)
    done.wait(-1)
    if failed:
        raise failed.pop()
    return found[0]
