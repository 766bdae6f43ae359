"""Ctrl-C, handlers that raise and handlers that don't, memory that runs out: what a call leaves behind."""

import gc
import os
import signal
import sys
import threading
import time

import numpy as np
import pytest

import numhlo
from numhlo import lax
from numhlo.backend.kernel_cache import KernelHandle
from numhlo.backend.program import Kernel
from tests.stopping import is_stopped

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="native loops can't be interrupted there"),
    pytest.mark.interrupts,
]


def endless(x):
    """Return nothing, unless ``x`` begins below zero."""
    return lax.while_loop(lambda s: s >= 0, lambda s: s * 0.999 + 1, x)


def deep(x):
    for _ in range(40):
        x = np.sin(x) + np.tanh(x)
    return x


def scalar(x):
    return endless(x[0])


def inner(x):
    return lax.fori_loop(0, 3, lambda _, s: endless(s), x[0])


def lanes(x):
    return lax.map(endless, x)


def short_lanes(x):
    return lax.map(lambda s: lax.fori_loop(0, 3000, lambda _, t: t * 0.999 + 1, s), x)


def blocks(x):
    return lax.while_loop(lambda s: s[0] >= 0, lambda s: s * 0.999 + 1, x)


LONG = {scalar: 2, inner: 2, lanes: 20_000, short_lanes: 2_000_000, blocks: 3000, deep: 4_000_000}
"""Functions, and the number of elements with which they take seconds or for ever."""


@pytest.fixture
def ctrl_c():
    """Press Ctrl-C after a while; also where the shell that started the tests ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timers = []

    def press(seconds, number=signal.SIGINT):
        pressed = []

        def send():
            pressed.append(time.process_time())
            os.kill(os.getpid(), number)

        timers.append(threading.Timer(seconds, send))
        timers[-1].start()
        return pressed

    gc.disable()  # what a handler raises while the collector calls somebody is lost
    yield press
    gc.enable()
    for timer in timers:
        timer.join()
    signal.signal(signal.SIGINT, before)


def native(function, size):
    """Return the compiled function and an argument with which it takes long."""
    f, x = numhlo.jit(function), np.linspace(1.0, 2.0, size)
    compiled = f.lower(x).compile()
    return compiled, x


def seconds_after(ctrl_c, function, *arguments):
    """Return how long this process computed on after Ctrl-C: what others do on the machine does not count."""
    pressed = ctrl_c(0.05)
    with pytest.raises(KeyboardInterrupt):
        function(*arguments)
    return time.process_time() - pressed[0]


@pytest.mark.slow
@pytest.mark.parametrize("function", LONG, ids=lambda f: f.__name__)
def test_ctrl_c_ends_every_kind_of_call_soon(ctrl_c, function):
    f, x = native(function, LONG[function])
    times = []
    while len(times) < 20 and (not times or min(times) > 0.2):  # the machine may be busy
        times.append(seconds_after(ctrl_c, f, x))
    assert min(times) <= 0.2
    if function not in (deep, short_lanes):
        assert np.all(f(-np.ones_like(x)) == -1)  # as if nothing had been
    assert signal.set_wakeup_fd(-1) == -1


def test_handlers_run_in_the_middle_of_a_kernel(ctrl_c):
    f, x = native(lanes, 50)
    nested, zero = native(deep, 1)[0], np.zeros(1)
    seen = []

    class LateError(Exception):
        pass

    def note(number, _):
        seen.append(float(nested(zero)[0]))  # handlers may call jitted functions
        signal.setitimer(signal.ITIMER_REAL, 0.02 if len(seen) < 3 else 10.0)
        if len(seen) >= 3:
            raise LateError  # lost where the collector calls somebody: the next time it is not

    before = signal.signal(signal.SIGALRM, note)
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    try:
        with numhlo.threads(2), pytest.raises(LateError):
            f(x)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert len(seen) >= 3
    assert not any(seen)


def test_a_kernel_goes_on_where_no_handler_raises(ctrl_c):
    @numhlo.jit
    def count(n):
        return lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] * 0.5 + s[0]), (0, 0.0))

    rounds = 30_000_000
    expected = count.lower(rounds).compile()
    seen = []
    before = signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))
    try:
        ctrl_c(0.01, signal.SIGUSR1)
        assert expected(rounds)[0] == rounds
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert seen == [1]


def test_waiting_for_the_compiler_can_be_interrupted(ctrl_c):
    handle = KernelHandle(Kernel("never", ""))
    assert seconds_after(ctrl_c, handle.wait, 60) < 5


def test_what_arguments_hold_after_an_interrupt(ctrl_c):
    """Written ones what they held before, donated ones anything; both are usable."""

    def update(x):
        x += 1
        return endless(x[0])

    x = np.ones(4)
    f = numhlo.jit(update)
    f(-3 * x)  # ends at once, as -2 is below zero
    f.wait()
    seconds_after(ctrl_c, f, x)
    assert x.tolist() == [1.0] * 4
    g = numhlo.jit(lambda x: lax.fori_loop(0, 4, lambda _, s: endless(s), x[0]) + x * 2, donate_argnums=0)
    g(-3 * x)
    g.wait()
    seconds_after(ctrl_c, g, x)
    x[:] = -3.0
    assert f(x) == -2.0
    assert x.tolist() == [-2.0] * 4


def test_memory_that_runs_out_is_a_memory_error():
    f = numhlo.jit(lambda x: np.broadcast_to(x, (1 << 30, 1 << 25)) + 1.0)  # 2**58 bytes: no machine has them
    g = numhlo.jit(lambda x: np.sum(np.sort(np.broadcast_to(x, (1 << 30, 1 << 25)) + x, axis=0)))
    for _ in range(3):
        for function in (f, g):
            with pytest.raises(MemoryError):
                function(1.0)
            function.wait()
    assert numhlo.jit(deep)(np.zeros(3)).tolist() == [0.0] * 3


def all_of_them(x, y, z):
    x += 1
    y += 1
    z += 1
    return x[0, 0]


@pytest.mark.parametrize("compiled", [False, True])
def test_written_arguments_change_together(compiled):
    """Also where one has to be copied, and another has not."""

    f = numhlo.jit(all_of_them)
    arguments = [np.zeros((1000, 1000), order=order) for order in "CFC"]
    f(*arguments)
    if compiled:
        f.wait()
        f(*arguments)
    torn = stopped = 0
    for k in range(40):
        g, arguments = f if compiled else numhlo.jit(all_of_them), [np.zeros_like(x) for x in arguments]
        stopped += is_stopped(4e-4 * (1 + k), g, *arguments)
        torn += len({x[-1, -1] for x in arguments}) > 1
    assert stopped
    assert not torn
