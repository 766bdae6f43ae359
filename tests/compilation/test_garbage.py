"""The collector's threshold while graphs are built, and afterwards."""

import gc
import threading

import numpy as np
import pytest

import numhlo
from numhlo.compilation.garbage import THRESHOLD, build, load


def test_collections_are_rare_while_tracing_and_as_before_afterwards():
    usual, seen = gc.get_threshold(), []

    def f(x):
        seen.append(gc.get_threshold()[0])
        return x + 1

    numhlo.jit(f)(np.ones(2))
    numhlo.jit(f).trace(np.ones(2))
    with pytest.raises(ZeroDivisionError):
        numhlo.jit(lambda x: x / (1 // 0))(1.0)
    assert seen == [THRESHOLD] * 2 and gc.get_threshold() == usual


def test_collections_are_rare_in_the_first_run_alone():
    usual, seen = gc.get_threshold()[0], []
    f = numhlo.jit(lambda x: numhlo.debug.callback(lambda _: seen.append(gc.get_threshold()[0]), x))
    f(np.ones(2))
    f(np.ones(2))
    assert seen == [THRESHOLD, usual]


def test_blocks_overlap_in_threads_and_respect_what_users_set():
    usual = gc.get_threshold()
    inside, leave = threading.Event(), threading.Event()

    def hold():
        inside.set()
        leave.wait(10)

    thread = threading.Thread(target=build, args=(hold,))
    thread.start()
    inside.wait(10)
    build(int)
    assert gc.get_threshold()[0] == THRESHOLD
    leave.set()
    thread.join()
    assert gc.get_threshold() == usual
    try:
        for mine in ((0, 5, 5), (THRESHOLD * 2, 5, 5)):
            gc.set_threshold(*mine)
            assert build(gc.get_threshold)[0] == mine[0]
            assert gc.get_threshold()[0] == mine[0]
    finally:
        gc.set_threshold(*usual)


@pytest.mark.parametrize(("frozen", "expected"), [(0, ["freeze", "unfreeze"]), (9, [])])
def test_nothing_looks_for_garbage_while_modules_load_and_what_is_frozen_stays_so(frozen, expected, monkeypatch):
    usual, done = gc.get_threshold(), []
    monkeypatch.setattr(gc, "get_freeze_count", lambda: frozen)
    for name in ("freeze", "unfreeze"):
        monkeypatch.setattr(gc, name, lambda name=name: done.append(name))
    assert load(gc.get_threshold)[0] == THRESHOLD
    assert done == expected and gc.get_threshold() == usual
