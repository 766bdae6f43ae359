"""The short form of the sweep between guard pages: machine code of every op stays in its buffers.

``python -m tests.sweep.guarded`` and ``python -m tests.sweep.guarded_functions`` are the long forms.
"""

import sys

import pytest

from tests.backend.child import run_child
from tests.sweep import extremes
from tests.sweep.guarded import SETS, sweep
from tests.sweep.test_sweep import check

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no mprotect")


def test_indices_at_the_extremes_of_their_types():
    check(extremes.MAKERS, range(6), 12, ways=("kernels",))


@posix
@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_every_op_stays_in_its_buffers(name):
    count, found = sweep(range(8), [name], 10, 300)
    assert (count, found) == (8, [])


@posix
@pytest.mark.slow
def test_functions_with_sizes_and_indices_from_data_stay_in_their_buffers():
    text = "from tests.sweep.guarded_functions import run\nprint(run())"
    assert run_child(text, timeout=1200).splitlines()[-1] == "[]"
