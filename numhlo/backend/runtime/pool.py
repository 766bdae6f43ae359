"""The thread pool: Python threads that live in native code without the GIL and sleep until a launch wakes them.

One pool a process. A launch owns it or, if another one does, runs serially: nothing waits for a pool. Chunks of a
launch are independent and handed out by an atomic counter, so results don't depend on the number of threads. After a
fork the child starts with no threads and makes its own when it needs them. Linux sleeps in a futex, other POSIX
systems in a condition variable; on Windows launches run serially for now.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import platform
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from numhlo.backend.primitives import layout
from numhlo.backend.processors import available_processors
from numhlo.backend.runtime import library
from numhlo.backend.runtime.immortal import immortal
from numhlo.backend.runtime.interrupt import never_address
from numhlo.backend.runtime.native_functions import native_address, native_callable
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, UnsupportedError
from numhlo.lowering.ir.interruptions import ProcessLock, start

SPINS = 2000
MOST_THREADS = 256
MOST_OVERRIDES = 512
JOIN_SECONDS = 2.0
FUTEX_NUMBERS = {"x86_64": 202, "aarch64": 98, "riscv64": 98, "ppc64le": 221, "s390x": 238}
WAKE_PRIVATE = 129

block = immortal(np.zeros(layout.POOL_BLOCK_WORDS + 8, np.int64))
block_address = (int(block.ctypes.data) + 63) & -64
words = block[(block_address - int(block.ctypes.data)) // layout.WORD :]
"""The pool's shared words, on cache lines of their own; what `ctx[POOL]` points to."""

overrides = immortal(np.zeros((MOST_OVERRIDES, 2), np.int64))
"""Threads that have a limit of their own, and the limit; each thread reads and writes its own row."""

_threads: dict[int, threading.Thread] = {}
"""The pool's threads by their numbers, from 1."""
_lock = ProcessLock()
_used = False
"""Whether any program has wanted threads."""


_sharers = 1
"""Processes that run on this one's processors, this one included."""


def _own_processors() -> int:
    return max(1, available_processors() // _sharers)


def share_processors(count: int) -> None:
    """Leave processors to other processes that want them as much as this one, so many in all."""
    global _sharers
    _sharers = count
    words[layout.POOL_LIMIT] = _own_processors()


def futex_number() -> int:
    """Return the number of Linux's futex call on this processor, 0 where there is none."""
    return FUTEX_NUMBERS.get(platform.machine(), 0) if sys.platform == "linux" else 0


def reset(futex: int | None = None) -> None:
    """Bring the shared words to where no thread exists.

    Parameters
    ----------
    futex : int, optional
        Number of the futex call; 0 makes threads sleep in a condition variable.
    """
    words[:] = 0
    words[layout.POOL_LIMIT] = _own_processors()
    words[layout.POOL_OVERRIDES] = np.count_nonzero(overrides[:, 0]) and MOST_OVERRIDES
    words[layout.POOL_OVERRIDE_TABLE] = overrides.ctypes.data
    words[layout.POOL_MODE] = futex_number() if futex is None else futex
    words[layout.POOL_SPINS] = SPINS
    words[layout.POOL_CLOCK] = getattr(time, "CLOCK_MONOTONIC", 0)
    if words[layout.POOL_MODE] == 0 and sys.platform != "win32":
        libc = ctypes.CDLL(None)
        libc.pthread_mutex_init(ctypes.c_void_p(_word(layout.POOL_MUTEX)), None)
        libc.pthread_cond_init(ctypes.c_void_p(_word(layout.POOL_CONDITION)), None)
        libc.pthread_cond_init(ctypes.c_void_p(_word(layout.OWNER_CONDITION)), None)


def _word(index: int) -> int:
    return block_address + index * layout.WORD


def ensure_threads() -> None:
    """Start the threads that the limit allows and that don't exist yet, once their code is there."""
    global _used
    _used = True
    if not _threads:
        words[layout.POOL_LIMIT] = _own_processors()  # affinity may have changed
    wanted = min(max(int(words[layout.POOL_LIMIT]), thread_count()), MOST_THREADS) - 1
    if words[layout.POOL_WORKERS] >= wanted or sys.platform == "win32":
        return
    address = native_address("pool_worker")
    if address == 0 or native_address("pool_launch") == 0:
        return
    with _lock.own:
        for number in range(1, wanted + 1):
            thread = threading.Thread(target=_work, args=(address, number), name=f"numhlo-{number}", daemon=True)
            if _threads.setdefault(number, thread) is not thread:
                continue
            try:
                start(thread)
            except RuntimeError:  # a limit on threads or memory: as many as there are do the work
                del _threads[number]
                words[layout.POOL_LIMIT] = number
                break
        words[layout.POOL_WORKERS] = len(_threads)


def _work(address: int, number: int) -> None:
    generation = int(words[layout.POOL_GENERATION])
    native_callable(address)(block_address, library.table_address, 0, number, generation)


def _row_of(thread: int) -> int | None:
    """Return the row that holds a thread's limit, or None."""
    found = np.flatnonzero(overrides[:, 0] == thread)
    return int(found[0]) if found.size else None


def thread_count() -> int:
    """Return how many threads a launch of this thread may use, the calling one included."""
    row = _row_of(threading.get_ident()) if words[layout.POOL_OVERRIDES] else None
    return int(words[layout.POOL_LIMIT] if row is None else overrides[row, 1])


def _limit_thread(thread: int, limit: int) -> int:
    """Set a thread's limit, 0 for none of its own, and return the one it had."""
    with _lock.own:
        row = _row_of(thread)
        before = 0 if row is None else int(overrides[row, 1])
        row = _row_of(0) if row is None else row
        if row is None:
            raise UnsupportedError(
                f"more than {MOST_OVERRIDES} threads limit their number of threads at once", where=capture_location()
            )
        overrides[row, 1] = limit
        overrides[row, 0] = thread if limit else 0
        used = np.flatnonzero(overrides[:, 0])
        words[layout.POOL_OVERRIDES] = used[-1] + 1 if used.size else 0
        return before


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Let jitted functions that this thread calls inside a ``with`` block use ``count`` threads, this one included.

    Results are the same bits with any number. Matrix products are included: tiles of them are spread over the same
    threads, and BLAS works on each with one. What NumPy itself computes outside jitted functions is not.

    Parameters
    ----------
    count : int
        Outside any block, it is the number of processors that this process may use: its affinity, and its
        container's quota.

    Raises
    ------
    ArgumentError
        If ``count`` is no integer, less than 1, or more than 256.

    Examples
    --------
    >>> import numhlo
    >>> import numpy as np
    >>> with numhlo.threads(1):
    ...     numhlo.jit(np.sum)(np.arange(4))
    Array(6)
    """
    asked: object = count
    if not isinstance(asked, int | np.integer) or not 1 <= asked <= MOST_THREADS:
        raise ArgumentError(
            f"threads({count!r})",
            where=capture_location(),
            why=f"the number of threads lies between 1 and {MOST_THREADS}",
        )
    thread = threading.get_ident()
    before = _limit_thread(thread, count)
    if _used:
        ensure_threads()
    try:
        yield
    finally:
        _limit_thread(thread, before)


def stop() -> None:
    """End all threads; the next launch that wants some starts new ones."""
    with _lock.own:
        words[layout.POOL_WORKERS] = 0
        words[layout.POOL_STOP] = 1
        words[layout.POOL_GENERATION] += 1
        _wake_all()
        for thread in _threads.values():
            if thread.ident is not None:  # Ctrl-C may have come before it was started
                thread.join(JOIN_SECONDS)
        _threads.clear()
        words[layout.POOL_STOP] = 0


def _wake_all() -> None:
    if sys.platform == "win32" or not _threads:
        return
    libc = ctypes.CDLL(None)
    mode = int(words[layout.POOL_MODE])
    if mode != 0:
        place = ctypes.c_void_p(_word(layout.POOL_GENERATION))
        libc.syscall(ctypes.c_long(mode), place, ctypes.c_int(WAKE_PRIVATE), ctypes.c_int(MOST_THREADS), None, None, 0)
        return
    mutex = ctypes.c_void_p(_word(layout.POOL_MUTEX))
    libc.pthread_mutex_lock(mutex)
    libc.pthread_cond_broadcast(ctypes.c_void_p(_word(layout.POOL_CONDITION)))
    libc.pthread_mutex_unlock(mutex)


_forked_by_main = False


def _note_who_forks() -> None:
    global _forked_by_main
    _forked_by_main = threading.current_thread() is threading.main_thread()


def _start_afresh() -> None:
    """Forget the parent's threads, which a fork doesn't copy, and give back what they hold."""
    state, context, taken = (int(words[k]) for k in (layout.JOB_STATE, layout.JOB_CTX, layout.JOB_NEXT))
    inside = state - layout.JOB_OPEN if state >= layout.JOB_OPEN and _forked_by_main else -1
    _threads.clear()
    if words[layout.BLAS_HOLDERS] > 0:
        library.set_blas_threads(int(words[layout.BLAS_THREADS]))
    overrides[overrides[:, 0] != threading.get_ident()] = 0
    reset()
    if inside >= 0:
        _keep_launch(context, taken, inside)


def _keep_launch(context: int, taken: int, inside: int) -> None:
    """Let a launch end that a signal handler forked in the middle of: it is this thread's if it listens to signals.

    It goes on alone, unless other threads had begun parts of it, which nobody will end now: then its call fails.
    """
    frame = (ctypes.c_int64 * layout.CONTEXT_WORDS).from_address(context)
    if frame[layout.INTERRUPT] == never_address:
        return
    words[layout.POOL_OWNED], words[layout.JOB_STATE], words[layout.JOB_NEXT] = 1, layout.JOB_OPEN, taken
    if inside and frame[layout.STATUS] == layout.OK:
        frame[layout.STATUS] = layout.FORKED


reset()
atexit.register(stop)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_note_who_forks, after_in_child=_start_afresh)
