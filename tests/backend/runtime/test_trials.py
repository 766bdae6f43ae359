"""Short launches are tried on one thread and on several; here in plain Python, with a clock that the test sets."""

import ctypes

import numpy as np
import pytest

from numhlo.backend.primitives import layout
from numhlo.backend.runtime.native_code import trials

CLOCK_TYPE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.POINTER(ctypes.c_int64))
MONOTONIC = 7


class Machine:
    """A launch's record, and a machine on which a launch takes the time that the test says."""

    def __init__(self):
        self.now = 999_000_000
        self.record = np.zeros(layout.STEP_WORDS, np.int64)
        self._clock = CLOCK_TYPE(self._read)
        self._library = np.zeros(layout.LIBRARY_WORDS, np.int64)
        self._library[layout.CLOCK] = ctypes.cast(self._clock, ctypes.c_void_p).value
        self._block = np.zeros(layout.POOL_BLOCK_WORDS, np.int64)
        self._block[layout.POOL_CLOCK] = MONOTONIC
        self._context = np.zeros(layout.CONTEXT_WORDS, np.int64)
        self._context[layout.LIBRARY] = self._library.ctypes.data
        self._context[layout.POOL] = self._block.ctypes.data

    def _read(self, clock, place):
        assert clock == MONOTONIC
        place[0], place[1] = divmod(self.now, 1_000_000_000)
        return 0

    def launch(self, shared, alone):
        """Run once; return whether it was shared."""
        context, record = self._context.ctypes.data, self.record.ctypes.data
        takes_turn_alone = trials.takes_turn_alone(record)
        begin = trials.time_of_trial(context, record)
        self.now += alone if takes_turn_alone else shared
        (trials.note_alone if takes_turn_alone else trials.note_shared)(context, record, begin)
        return not takes_turn_alone

    def launches(self, count, shared, alone):
        """Run often; return how often it was shared."""
        return sum(self.launch(shared, alone) for _ in range(count))


def test_a_launch_is_shared_where_that_is_faster():
    machine = Machine()
    assert machine.launches(4, shared=25_000, alone=40_000) == 2
    assert machine.launches(64, shared=25_000, alone=40_000) == 64  # a gain of a quarter settles it
    assert machine.launches(20_000, shared=25_000, alone=40_000) > 19_950


def test_and_where_that_is_a_little_faster_after_three_votes():
    machine = Machine()
    assert machine.launches(12, shared=33_000, alone=40_000) == 6
    assert machine.launches(64, shared=33_000, alone=40_000) == 64


@pytest.mark.parametrize(("shared", "alone"), [(60_000, 9_000), (2_700, 2_700), (36_000, 40_000)])
def test_and_alone_where_not(shared, alone):
    machine = Machine()
    assert machine.launches(12, shared, alone) == 6
    assert machine.launches(64, shared, alone) == 0
    assert machine.launches(20_000, shared, alone) < 50


def test_one_interruption_decides_nothing():
    machine = Machine()
    machine.launches(12, shared=60_000, alone=9_000)
    machine.launches(64 + 3, shared=60_000, alone=9_000)
    assert not machine.launch(shared=60_000, alone=4_000_000)  # in the middle of a trial
    assert machine.launches(1000, shared=60_000, alone=9_000) < 60


def test_a_machine_that_changes_is_noticed():
    machine = Machine()
    machine.launches(1_000, shared=60_000, alone=40_000)
    assert machine.launches(20_000, shared=21_000, alone=40_000) > 18_000
    assert machine.launches(20_000, shared=4_000_000, alone=40_000) < 5_000


def test_long_launches_are_tried_late():
    machine = Machine()
    assert machine.launches(514, shared=600_000, alone=1_100_000) == 514
    assert machine.launches(10_000, shared=600_000, alone=1_100_000) > 9_950
    assert machine.launches(20_000, shared=600_000, alone=500_000) < 5_000


def test_lost_votes_do_no_harm():
    """Calls that run at once write the same record: any number of turns is one that leads on."""
    machine = Machine()
    for turn in (-1000, -4, -3, -2, -1, 0, 1):
        machine.record[:] = 0
        machine.record[layout.LAUNCH_TURN] = turn
        machine.launches(20, shared=60_000, alone=9_000)
        assert machine.launches(1000, shared=60_000, alone=9_000) < 100
