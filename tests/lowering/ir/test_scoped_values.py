"""What holds for the time of a block, wherever a handler raises: at each call of a Python function, after each of C's."""

import gc
import sys
import threading

import numpy as np
import pytest

import numhlo
import numhlo.numpy as hnp
from numhlo import lax
from numhlo.lowering.ir.interruptions import Latch
from numhlo.lowering.ir.scoped_values import ProcessSetting, ScopedValue, settle, unsettled, with_own_bindings
from numhlo.tracer.core.trace import current_trace
from tests.lowering.ir.test_interruptions import elsewhere, in_a_child, needs_fork


class LateError(BaseException):
    pass


ENDS = frozenset({"call", "c_return"})
"""After which events a handler of a signal would run."""


def stopped_at(last, function):
    """Call a function, and raise at the event of that number; return how many came, and what was raised."""
    count = 0

    def stop(frame, event, _):
        nonlocal count
        code = frame.f_code
        if code.co_name == "<genexpr>":  # where one is left early and deleted, what is raised is lost
            return
        if (event in ENDS and "numhlo" in code.co_filename) or code.co_filename.endswith("contextlib.py"):
            count += 1
            if count == last:
                sys.setprofile(None)
                raise LateError

    error, before = None, sys.getprofile()
    sys.setprofile(stop)
    try:
        function()
    except LateError as found:
        error = found
    finally:
        sys.setprofile(before)
    return count, error


def states():
    return current_trace(), gc.get_threshold(), sys.getswitchinterval(), set(unsettled)


PROGRAMS = {
    "jit": lambda: numhlo.jit(lambda x: x + 1)(np.zeros(2)),
    "loop": lambda: numhlo.jit(lambda x: lax.fori_loop(0, 2, lambda i, s: s + i, x))(np.zeros(2)),
    "lower": lambda: numhlo.jit(lambda x: x + 1).lower(np.zeros(2)),
    "grad": lambda: numhlo.grad(lambda x: x * x)(2.0),
    "vmap": lambda: numhlo.vmap(lambda x: x - lax.pmax(x, "i"), axis_name="i")(np.zeros(2)),
    "eager": lambda: hnp.cumsum(np.ones(2)),
    "at": lambda: hnp.zeros(2).at[0].set(1.0),
    "checked": lambda: numhlo.jit(lambda x: x + 1, check="nan")(np.zeros(2)),
}
EACH = 40
"""How many of a program's events a test picks."""


@pytest.mark.interrupts
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_call_that_is_broken_off_anywhere_leaves_everything_as_it_was(name):
    """Also while the exception is kept, with all the generators that it holds."""
    program, simple = PROGRAMS[name], numhlo.jit(lambda x: x * 3)
    program()
    assert simple(1.0) == 3.0
    simple.wait()
    usual = states()
    count, _ = stopped_at(0, program)
    kept, wrong = [], []
    for last in sorted({*range(1, count, max(1, count // EACH)), *range(1, min(count, EACH))}):
        kept.append(stopped_at(last, program)[1])
        ok = current_trace() is None and simple(1.0) == 3.0 and states() == usual
        wrong += [] if ok else [last]
    assert any(kept)
    assert not wrong
    program()
    kept.clear()
    gc.collect()  # now, and not while something else is broken off


def test_a_latch_whose_wait_is_broken_off_stays_open():
    latch = Latch()
    latch.set()
    for last in range(1, stopped_at(0, lambda: latch.wait(0.0))[0] + 1):
        assert stopped_at(last, lambda: latch.wait(0.0))[1]
        assert latch.wait(0.0)


def test_blocks_that_end_late_have_no_say():
    depth = ScopedValue(0)
    blocks = [depth.bound(k) for k in (1, 2)]
    with_own_bindings(lambda: [block.__enter__() for block in blocks])
    assert depth.get() == 0
    with depth.bound(3):
        for block in blocks:
            block.__exit__(None, None, None)
        assert depth.get() == 3
    assert depth.get() == 0


def test_blocks_may_end_in_another_order():
    depth = ScopedValue(0)
    first, second = depth.bound(1), depth.bound(2)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert depth.get() == 2
    second.__exit__(None, None, None)
    assert depth.get() == 0


def test_threads_have_their_own_values():
    depth, seen = ScopedValue(0), []
    with depth.bound(1):
        thread = threading.Thread(target=lambda: seen.append(depth.get()))
        thread.start()
        thread.join()
    assert seen == [0]


@needs_fork
def test_what_other_threads_have_to_do_is_not_the_child_s():
    depth = ScopedValue(0)
    with depth.bound(1, marks=True), elsewhere(depth.bound(2, marks=True)):
        assert len(unsettled) == 2
        assert in_a_child(lambda: len(unsettled) == 1)
    assert not unsettled


class Box:
    """A setting of the process."""

    def __init__(self):
        self.value, self.broken = 1, False

    def read(self):
        return self.value

    def write(self, value):
        self.value = value
        if self.broken:
            self.broken = False
            raise LateError


def test_a_setting_is_put_back_at_the_latest_when_somebody_looks():
    box = Box()
    setting = ProcessSetting(box.read, box.write)

    def work():
        assert box.value == 2
        box.broken = True

    with pytest.raises(LateError):
        setting.during(lambda usual: usual + 1, work)
    box.value = 2  # as if the handler had come a moment sooner
    assert unsettled
    settle()
    assert not unsettled
    assert box.value == 1
    assert setting.during(lambda usual: usual + 1, box.read) == 2
    assert box.value == 1


def test_what_somebody_else_sets_meanwhile_stays():
    box = Box()
    ProcessSetting(box.read, box.write).during(lambda usual: usual + 1, lambda: box.write(5))
    assert box.value == 5


@needs_fork
def test_a_setting_for_a_thread_that_a_fork_leaves_behind_is_put_back():
    box = Box()
    setting = ProcessSetting(box.read, box.write)
    inside, leave = threading.Event(), threading.Event()
    thread = threading.Thread(
        target=lambda: setting.during(lambda usual: usual + 1, lambda: (inside.set(), leave.wait(60)))
    )
    thread.start()
    inside.wait(60)
    try:
        assert in_a_child(lambda: box.value == 1)
        assert box.value == 2
    finally:
        leave.set()
        thread.join()
    assert box.value == 1
