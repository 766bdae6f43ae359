"""Handlers of signals and finalizers in the middle of tracing: what they call is no part of what is traced."""

import functools
import signal
import sys

import numpy as np
import pytest

import numhlo
from numhlo import lax

seen = []


@numhlo.jit
def inner(x):
    numhlo.io_callback(lambda v: seen.append(float(v)), None, x)
    return lax.fori_loop(0, 10, lambda _, s: s + x, 0.0)


def handler(*_):
    assert float(inner(2.0)) == 20.0


class Callable:
    def __call__(self, *_):
        handler()

    method = __call__


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals")
@pytest.mark.parametrize(
    "handle", [handler, functools.partial(handler, 1), Callable(), Callable().method], ids=lambda h: type(h).__name__
)
def test_handlers(handle):
    @numhlo.jit
    def outer(x):
        signal.raise_signal(signal.SIGUSR1)
        return inner(x) + 1  # this one is part of it

    seen.clear()
    before = signal.signal(signal.SIGUSR1, handle)
    try:
        assert float(outer(3.0)) == 31.0
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert seen == [2.0, 3.0]
    assert float(outer(4.0)) == 41.0
    assert seen == [2.0, 3.0, 4.0]


def test_finalizers():
    class Last:
        def __del__(self):
            handler()

    @numhlo.jit
    def outer(x):
        Last()
        return x + 1

    seen.clear()
    assert [float(outer(3.0)), float(outer(4.0))] == [4.0, 5.0]
    assert seen == [2.0]


def test_what_a_function_calls_by_itself_is_traced():
    """A handler that is called as a function, and a trace that a handler begins."""
    before = signal.signal(signal.SIGINT, lambda *_: numhlo.jit(lambda x: inner(x) * 2)(np.float64(2.0)))
    called = signal.getsignal(signal.SIGINT)
    try:
        seen.clear()
        assert float(numhlo.jit(lambda x: handled(x) + 1)(3.0)) == 31.0
        assert float(called()) == 40.0
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [3.0, 2.0]


def handled(x):
    return inner(x)


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals")
def test_handlers_that_compute_at_once():
    found = []

    def handle(*_):
        with numhlo.ensure_compile_time_eval():
            found.append(numhlo.numpy.sum(numhlo.numpy.ones(3)))
        found.append(np.add(1.0, 2.0))

    @numhlo.jit
    def outer(x):
        signal.raise_signal(signal.SIGUSR1)
        return x + 1

    before = signal.signal(signal.SIGUSR1, handle)
    try:
        assert "reduce" not in outer.lower(1.0).as_text()
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert [type(x) for x in found] == [numhlo.numpy.Array, np.float64] and found == [3.0, 3.0]
