"""Locks and copies that handlers and forks come in the middle of."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest

import numhlo
from numhlo.lowering.ir import interruptions
from numhlo.lowering.ir.interruptions import Latch, ProcessLock, copy_together, start, uninterrupted
from tests.backend.child import status_of
from tests.stopping import StopError, is_stopped

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")


def in_a_child(check):
    """Return whether ``check()`` is true in the child of a fork, within a minute."""
    with warnings.catch_warnings(action="ignore", category=RuntimeWarning):  # JAX's, if it is there
        child = os.fork()
    if child == 0:
        status = 1
        with contextlib.suppress(BaseException):
            status = 0 if check() else 2
        os._exit(status)
    return status_of(child) == 0


@contextlib.contextmanager
def elsewhere(enter):
    """Have another thread inside of the context manager ``enter`` for the time of the block."""
    inside, leave = threading.Event(), threading.Event()

    def work():
        with enter:
            inside.set()
            leave.wait(60)

    thread = threading.Thread(target=work)
    thread.start()
    inside.wait(60)
    try:
        yield
    finally:
        leave.set()
        thread.join()


@needs_fork
def test_locks_that_other_threads_hold_are_free_after_a_fork():
    lock = ProcessLock()

    def is_free():
        return lock.own.acquire(timeout=1.0)

    with elsewhere(lock.own):
        assert not is_free()
        assert in_a_child(is_free)
    with lock.own:  # whoever forks inside of a block leaves it as ever
        assert in_a_child(is_free)


@needs_fork
def test_a_function_that_another_thread_traces_works_in_the_child_of_a_fork():
    traced, go_on = threading.Event(), threading.Event()

    @numhlo.jit
    def f(x):
        if threading.current_thread() is not threading.main_thread():
            traced.set()
            go_on.wait(60)
        return x + 1

    thread = threading.Thread(target=f, args=(np.ones(3),))
    thread.start()
    traced.wait(60)
    try:
        assert in_a_child(lambda: f(np.ones(3)).tolist() == [2.0] * 3)
    finally:
        go_on.set()
        thread.join()


def test_a_handler_may_call_in_the_middle_of_a_block_under_any_lock():
    numhlo.jit(lambda x: x * 3)(1.0)  # all modules are there
    done = threading.Event()

    def work():
        with contextlib.ExitStack() as stack:
            for lock in list(interruptions._locks):
                stack.enter_context(lock.own)
            assert numhlo.jit(lambda x: x * 5 + 2, tier0=True)(np.ones(3)).tolist() == [7.0] * 3
            done.set()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(30)
    assert done.is_set()


def test_a_latch_may_be_told_twice_and_forgotten():
    latch = Latch()
    threading.Timer(0.01, latch.set).start()
    assert latch.wait(60.0)
    latch.set()
    assert latch.wait(0.0)
    assert latch.wait(0.0)
    latch.clear()
    latch.clear()
    assert not latch.wait(0.0)


def stop(*_):
    raise StopError


@pytest.mark.slow
@pytest.mark.interrupts
@pytest.mark.skipif(sys.platform == "win32", reason="no timers")
def test_threads_that_a_handler_raises_beside_begin_or_are_not_made():
    stopped, made = 0, []
    for k in range(2000):
        begun = Latch()
        made.append((threading.Thread(target=begun.set, daemon=True), begun))
        stopped += is_stopped(5e-6 * (1 + k % 40), start, made[-1][0])
    assert stopped
    assert all(begun.wait(60.0) for thread, begun in made if thread.ident is not None)


@pytest.mark.skipif(sys.platform == "win32", reason="no timers")
def test_what_is_not_interrupted_is_done_though_a_handler_raises():
    before, go_on, done = signal.signal(signal.SIGALRM, stop), threading.Event(), threading.Event()

    def work():
        signal.setitimer(signal.ITIMER_REAL, 1e-3)
        go_on.wait(60)
        done.set()

    try:
        with pytest.raises(StopError):
            uninterrupted(work)
        assert not done.is_set()
        go_on.set()
        assert done.wait(60)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_what_is_not_interrupted_returns_and_raises_as_ever(monkeypatch):
    assert uninterrupted(divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        uninterrupted(divmod, 7, 0)
    main = threading.get_ident()
    assert uninterrupted(lambda: uninterrupted(threading.get_ident) == threading.get_ident() != main)

    def refuse(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert uninterrupted(threading.get_ident) == main


@pytest.mark.skipif(sys.platform == "win32", reason="no timers")
def test_copies_are_made_together_though_a_handler_raises():
    """It comes in the middle of the copies, or right after them."""
    sources, torn, stopped = [np.ones((1000, 1000)) for _ in range(4)], 0, 0
    for k in range(40):
        targets = [np.zeros((1000, 1000), order="F") for _ in sources]
        stopped += is_stopped(2e-4 * (1 + k), copy_together, list(zip(targets, sources, strict=True)))
        torn += len({t[-1, -1] for t in targets}) > 1
    assert stopped
    assert not torn


@pytest.mark.slow
def test_finalizers_of_an_interpreter_that_ends_may_call():
    """No thread begins then, and none that was there goes on: who waited for one would never end."""
    program = """
import numpy as np
import numhlo

@numhlo.jit
def f(x):
    return np.sin(x) * 3.1234567 + x

@numhlo.jit
def g(x):
    return np.cos(x) * 3.1234567 - x

class Late:
    def __del__(self):
        for function in (f, g):
            function(x)
            function.wait()
            print(np.allclose(function(x), function.__wrapped__(x)), flush=True)

x = np.linspace(0.0, 1.0, 1_000_000)
f(x)
f.wait()
late = Late()
late.itself = late
del late
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
        env={**os.environ, "NUMHLO_CACHE_DIR": ""},
        cwd=Path(__file__).parents[3],
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\nTrue\n", "")
