"""Calls in Python leave the core to compilers for as long as they take themselves, where there are too few cores."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import numhlo
from numhlo.backend.compiler.current import CURRENT, compiler_service
from numhlo.backend.compiler.service import CompilerService
from numhlo.backend.kernel_cache import KernelHandle
from numhlo.backend.runtime import turns
from numhlo.backend.runtime.turns import MOST_SECONDS, Turns
from tests.backend.hand_written import F32, elementwise_kernel


class Clock:
    """Time that passes when somebody waits."""

    def __init__(self):
        self.now = 100.0

    def perf_counter(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(turns, "time", made)
    return made


@pytest.fixture
def short(monkeypatch):
    service = SimpleNamespace(is_short=True, answered=SimpleNamespace(set=lambda: None))
    service.is_short_of_cores = lambda: service.is_short
    monkeypatch.setattr(CURRENT, "service", service)
    return service


def pending(clock, *arrivals):
    """Handles whose kernels come at certain times."""

    def wait(seconds, arrival):
        waited.append(seconds)
        clock.now = min(clock.now + seconds, max(clock.now, arrival))
        return arrival <= clock.now

    waited = []
    return [SimpleNamespace(wait=lambda seconds, a=arrival: wait(seconds, a)) for arrival in arrivals], waited


def test_a_call_waits_as_long_as_the_one_before_took(clock, short):
    mine = Turns()
    handles, waited = pending(clock, 1000.0, 1000.0)
    mine.begin(handles)
    assert waited == []  # the first one waits for nothing
    clock.now += 0.25
    mine.end()
    assert mine.seconds == 0.25
    mine.begin(handles)
    assert waited == [0.25] and clock.now == 100.5
    clock.now += 30.0
    mine.end()
    assert mine.seconds == 30.0  # without the wait
    mine.begin(handles)
    assert waited[1:] == [MOST_SECONDS]


def test_it_goes_on_when_all_kernels_are_there(clock, short):
    mine = Turns()
    mine.seconds = 0.4
    handles, waited = pending(clock, 100.125, 100.25)
    mine.begin(handles)
    assert waited == pytest.approx([0.4, 0.275]) and clock.now == pytest.approx(100.25)


def test_where_there_are_cores_nobody_waits(clock, short):
    mine = Turns()
    mine.seconds, short.is_short = 0.4, False
    handles, waited = pending(clock, 100.125)
    mine.begin(handles)
    assert waited == [] and clock.now == 100.0


@pytest.mark.parametrize(("processes", "jobs", "short"), [(1, 0, False), (1, 1, True), (2, 1, True), (4, 1, False)])
def test_when_cores_are_short(processes, jobs, short, monkeypatch):
    service = CompilerService(processes=processes)
    monkeypatch.setattr(compiler_service(), "answered", service.answered)
    futures = [service.submit(elementwise_kernel(f"turn{k}", F32, 1, "a0 + a0")) for k in range(jobs)]
    assert service.is_short_of_cores() is short
    service.answered.set()
    assert all(future.result(60) for future in futures)
    service.close()
    assert not service.is_short_of_cores()


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_programs_take_turns(monkeypatch):
    """From the second call on, until all is native; answers are the same."""
    begun = []
    monkeypatch.setattr(KernelHandle, "wait", lambda self, seconds=None: begun.append(seconds) or False)
    monkeypatch.setattr(CompilerService, "is_short_of_cores", lambda self: True)
    monkeypatch.setattr(compiler_service(), "submit", lambda kernel, then, folder: None)
    f = numhlo.jit(lambda x: np.tanh(x) * 1.75 + 11.5, tier0=True)
    x = np.linspace(0.0, 1.0, 17)
    first = f(x)
    assert begun == []
    second = f(x)
    assert len(begun) == 1 and 0.0 < begun[0] <= MOST_SECONDS
    np.testing.assert_array_equal(first, second)
