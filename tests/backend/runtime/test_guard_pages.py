"""Guard pages: accesses beyond a buffer end the process, programs that stay inside give what they always give."""

import signal
import subprocess
import sys

import numpy as np
import pytest

from numhlo.backend.executable import Executable
from numhlo.backend.program import Place
from numhlo.backend.runtime.guard_pages import SIDES, GuardedMemory
from numhlo.lowering.interpreter import interpret
from tests.backend.child import ROOT, run_child
from tests.backend.hand_written import F64, square_plus
from tests.backend.plain_engine import assert_same_bits
from tests.backend.planning.test_launch_lists import TABLE, X, arrays_that_come_and_go
from tests.backend.programs import from_jax, plan
from tests.backend.test_executable import branching_program, doubling_program

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no mprotect")

FAULTY = """
import sys
from dataclasses import replace
import numpy as np
from numhlo.backend.executable import Executable
from tests.backend.hand_written import F64, square_plus

side, before, after = sys.argv[1:]
program = square_plus(1000, F64)
kernel = program.steps[0].kernel
assert before in kernel.source
program.steps[0].kernel = replace(kernel, source=kernel.source.replace(before, after))
executable = Executable(program, guard_pages=side)
assert executable.wait(60)
print("ready", flush=True)
x = np.arange(1000.0)
executable([x])
print("not noticed")
"""
LOOP = "range(lo, hi)"
FAULTS = {
    "writes one element more": ("after", LOOP, "range(lo, hi + 1)"),
    "writes one element before": ("before", LOOP, "range(lo - 1, hi)"),
    "writes far away": ("after", LOOP, "range(lo, hi + 100000, 1000)"),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_accesses_beyond_a_buffer_end_the_process(fault):
    command = [sys.executable, "-c", FAULTY, *FAULTS[fault]]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (-signal.SIGSEGV, "ready\n"), done.stderr


@pytest.mark.slow
def test_writing_an_argument_ends_the_process():
    text = FAULTY.replace(
        "after = sys.argv[1:]", 'after = "after", "store_f64(", "store_f64(address(bufs, 0), i, 0.0); store_f64("'
    )
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, cwd=ROOT, check=False, timeout=60
    )
    assert (done.returncode, done.stdout) == (-signal.SIGSEGV, "ready\n"), done.stderr


@pytest.mark.parametrize("side", SIDES)
def test_programs_give_what_they_always_give(side, rng):
    executable = Executable(square_plus(1001, F64, arrays=2), guard_pages=side)
    assert executable.wait(60) and executable.fast is None
    for _ in range(3):
        x, y = rng.standard_normal((2, 1001))
        found = executable([x, y])
        np.testing.assert_array_equal(found, [x * x + x, y * y + y])
        assert all(result.base is None for result in found)


@pytest.mark.parametrize("side", SIDES)
def test_loops_that_exchange_buffers_and_branches(side):
    loop = Executable(doubling_program(1e6), guard_pages=side)
    branches = Executable(branching_program(np.dtype(np.int32)), guard_pages=side)
    assert loop.wait(60) and branches.wait(60)
    x = np.arange(3, dtype=np.float32)
    for start in (1.0, 3.0, 1.0):
        expected = start
        while expected < 1e6:
            expected *= 2
        assert loop([np.array(start)])[0] == expected
        for index, result in enumerate((x + x, x * x, -x)):
            np.testing.assert_array_equal(branches([x, np.array(index, np.int32)])[0], result)


@pytest.mark.parametrize("side", SIDES)
def test_lists_of_launches_name_buffers_of_their_own(side):
    function = from_jax(arrays_that_come_and_go, X, TABLE)
    program = plan(function)
    executable = Executable(program, guard_pages=side)
    (step,), (shared,) = executable.program.steps, program.steps
    arena = {n for part in step.parts for n in part.buffers if program.buffers[n].place is Place.ARENA}
    assert arena <= set(step.buffers) and len(shared.buffers) < len(step.buffers)
    assert executable.wait(60)
    list(map(assert_same_bits, executable([X, TABLE]), interpret(function, [X, TABLE])))


def test_functions_of_several_lengths_with_lists():
    text = """
        import numpy as np
        import numhlo
        from numhlo import lax

        for side in ("after", "before"):
            function = numhlo.jit(lambda x: lax.associative_scan(lax.min, x))
            with numhlo.debugging(tier0=False, guard_pages=side):
                for length in (65, 66, 130, 131, 132, 300, 301):
                    x = np.cos(np.arange(float(length)))
                    np.testing.assert_array_equal(function(x), np.minimum.accumulate(x))
        print("done")
    """
    assert run_child(text, timeout=300) == "done\n"


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("nbytes", [0, 1, 8, 4095, 4096, 4097])
def test_memory_touches_the_page_on_its_side(side, nbytes):
    memory = GuardedMemory(nbytes, side)
    page = 4096 if sys.platform == "linux" else None
    if page is not None:
        assert (memory.address + (nbytes if side == "after" else 0)) % page == 0


def test_arguments_that_are_written_have_their_new_values():
    text = """
        import numpy as np
        import numhlo

        def step(x, y):
            x[1:4] += y[:3]
            x[0] = 7

        x, y = np.arange(10.0), np.arange(10.0)
        expected = x.copy()
        step(expected, y)
        for side in ("after", "before"):
            with numhlo.debugging(tier0=False, guard_pages=side):
                found = x.copy()
                numhlo.jit(step)(found, y)
                np.testing.assert_array_equal(found, expected)
                assert list(y) == list(range(10))
        print("done")
    """
    assert run_child(text) == "done\n"
