"""Kernels on which the compiler crashes: named, compiled at a lower level, and only then left to NumPy."""

import sys
import warnings

import numpy as np
import pytest

from numhlo.backend.compiler.kernel_compiler import compile_source
from numhlo.backend.compiler.levels import HIGHEST, LOWER
from numhlo.backend.compiler.service import CompilerService, KernelCompileError
from numhlo.backend.executable import Executable
from numhlo.backend.kernel_cache import kernel_cache
from numhlo.backend.loader import LoadedKernel
from numhlo.backend.program import Kernel, Program
from tests.backend.both_ways import NATIVE
from tests.backend.hand_written import F64, elementwise_kernel, square_plus

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")

CRASH = """
import os, sys
frame = sys._getframe()
while "level" not in frame.f_locals:
    frame = frame.f_back
if frame.f_locals["level"] > {most}:
    sys.stderr.write("Assertion `isSafe()' failed.")
    sys.stderr.flush()
    os.{end}
"""
"""Put before a kernel's source, which the compiler runs: it ends at levels above some."""


def crashing(name, most, end="abort()", expression="a0 * a0 + a0"):
    return Kernel(name, CRASH.format(most=most, end=end) + elementwise_kernel(name, F64, 1, expression).source)


@pytest.fixture
def service():
    made = CompilerService(processes=1)
    yield made
    made.close()


def program_with(kernel):
    """A program that runs a kernel instead of its own, which computes the same."""
    program: Program = square_plus(1000, F64)
    program.steps[0].kernel = kernel
    return program


@pytest.mark.slow
@pytest.mark.parametrize("end", ["abort()", "kill(os.getpid(), 11)", "_exit(3)"])
def test_a_crash_is_tried_at_a_lower_level(service, end):
    kernel = crashing("fragile", LOWER, end)
    assert LoadedKernel("fragile", service.submit(kernel).result(60)).address != 0
    assert "Assertion `isSafe()' failed." in service.lowered[kernel]
    assert service.submit(elementwise_kernel("sound", F64, 1, "a0")).result(60)


@pytest.mark.slow
def test_a_second_crash_names_the_kernel(service):
    with pytest.raises(KernelCompileError, match=r"(?s)kernel lost can't.*code -6\n.*isSafe.*def lost.*this is a bug"):
        service.submit(crashing("lost", -1)).result(60)


@pytest.mark.slow
def test_a_program_says_which_kernel_is_optimized_less_and_runs_it(rng):
    kernel = crashing(f"fragile{rng.integers(1 << 60)}", LOWER)
    executable = Executable(program_with(kernel), "square")
    with pytest.warns(
        RuntimeWarning, match=rf"kernel {kernel.name} of square is optimized less than others\n.*code -6"
    ):
        assert executable.wait(60)
    assert executable.handles[kernel].origin == "compiled at a lower level"
    assert kernel_cache().disk.read(kernel) is None
    x = rng.standard_normal(1000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(executable([x])[0], x * x + x)


@pytest.mark.slow
def test_a_program_whose_kernel_can_not_be_compiled_runs_on_numpy(rng):
    kernel = crashing(f"lost{rng.integers(1 << 60)}", -1)
    executable = Executable(program_with(kernel), "square")
    with pytest.warns(
        RuntimeWarning, match=rf"NumPy does what a kernel of square should do\nkernel {kernel.name} can't"
    ):
        assert executable.wait(60)
    x = rng.standard_normal(1000)
    np.testing.assert_array_equal(executable([x])[0], x * x + x)


def test_where_warnings_are_errors_no_kernel_is_lost(rng):
    kernel = crashing(f"fragile{rng.integers(1 << 60)}", LOWER)
    executable = Executable(program_with(kernel), "square")
    executable.handles[kernel].wait(60)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="is optimized less"):
            executable.wait(60)
        assert executable.wait(60)
    assert executable.handles[kernel].address != 0


def test_levels_compute_the_same(rng):
    x = rng.standard_normal(1001)
    source = elementwise_kernel("levels", F64, 1, "a0 * a0 - a0 / (a0 + 2.0)").source
    found = []
    for level in (HIGHEST, LOWER):
        loaded = LoadedKernel("levels", compile_source("levels", source, level))
        result = np.zeros(1001)
        table = np.array([x.ctypes.data, result.ctypes.data], np.int64)
        NATIVE(loaded.address)(0, table.ctypes.data, 0, 0, 1001)
        found.append(result)
    np.testing.assert_array_equal(*found)
