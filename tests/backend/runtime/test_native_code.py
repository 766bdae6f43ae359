"""The runtime's native code as plain Python: it means the same, and a person can step through it."""

import numpy as np
import pytest

from numhlo.backend.executable import Executable
from numhlo.backend.primitives import layout
from numhlo.backend.runtime import pool
from numhlo.backend.runtime.frame import Frame
from numhlo.backend.runtime.native_code.driver import driver
from numhlo.backend.runtime.native_code.thread_pool import join_job, pool_launch
from tests.backend.hand_written import F32, square_plus
from tests.backend.test_executable import branching_program, doubling_program


def run_driver_in_python(program, arrays):
    """Run a program's steps by the driver as a Python function; kernels are machine code."""
    executable = Executable(program)
    assert executable.wait(60)
    frame = Frame(executable.program, executable.table.gathered)
    frame.begin()
    results = [executable._new_array(number) for number in executable._results]
    for number, array in zip([*executable._arguments, *executable._results], [*arrays, *results], strict=True):
        frame.place(number, array.ctypes.data)
    assert driver(frame.address, frame.table, executable.table.address, 0, 0) == layout.DONE
    return results


def test_loops_and_exchanges():
    assert run_driver_in_python(doubling_program(10.0), [np.array(1.5)])[0][()] == 12.0


@pytest.mark.parametrize(("index", "expected"), [(0, 3.0), (1, 2.25), (2, -1.5), (9, -1.5), (-9, -1.5)])
def test_branches(index, expected):
    x = np.full(3, 1.5, F32)
    (result,) = run_driver_in_python(branching_program(np.dtype(np.int32)), [x, np.array(index, np.int32)])
    assert result.tolist() == [expected] * 3


def test_a_launch_without_workers_is_serial_and_one_with_an_owner_too():
    program = square_plus(100, grain=10)
    executable = Executable(program)
    assert executable.wait(60)
    frame = Frame(program, 2)
    x, y = np.arange(100, dtype=F32), np.zeros(100, F32)
    table = np.array([x.ctypes.data, y.ctypes.data], np.int64)
    block = np.zeros(layout.POOL_BLOCK_WORDS, np.int64)
    block[layout.POOL_LIMIT] = 4
    frame.words[layout.POOL] = block.ctypes.data
    for workers, owned in [(0, 0), (3, 1), (3, 0)]:
        block[layout.POOL_WORKERS], block[layout.POOL_OWNED] = workers, owned
        y[:] = 0
        pool_launch(frame.address, table.ctypes.data, executable.table.address, 0, 0)
        np.testing.assert_array_equal(y, x * x + x)
        assert block[layout.POOL_OWNED] == owned
    assert block[layout.JOB_STATE] == 0
    assert block[layout.POOL_GENERATION] == 1
    assert pool.block_address != block.ctypes.data


def test_only_open_jobs_and_allowed_threads_join():
    block = np.zeros(layout.POOL_BLOCK_WORDS, np.int64)
    block[layout.JOB_LIMIT] = 2
    assert not join_job(block.ctypes.data, 1)
    block[layout.JOB_STATE] = layout.JOB_OPEN
    assert join_job(block.ctypes.data, 1)
    assert not join_job(block.ctypes.data, 2)
    assert block[layout.JOB_STATE] == layout.JOB_OPEN + 1
