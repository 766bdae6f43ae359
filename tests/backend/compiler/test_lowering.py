"""Direct lowering: the same bits as Numba's front end gives, and as plain Python."""

import re

import numpy as np
import pytest

import numhlo
from numhlo.backend.compiler import kernel_compiler
from numhlo.backend.compiler.kernel_compiler import compile_kernel, compile_source
from numhlo.backend.compiler.service import CompilerService
from numhlo.backend.front_ends import DIRECT, FRONT_ENDS, NUMBA
from numhlo.backend.loader import LoadedKernel
from numhlo.backend.program import Kernel
from tests.backend.both_ways import CALLS, NATIVE, run_python, table_of
from tests.backend.kernels.kernels import IMPORTS, KERNELS, source_of


def calls_of(source, arrays, counts, dims, through):
    """Return what each call of a kernel leaves in its arrays, and what it returns."""
    made = compile_kernel("kernel", source, through=through)
    assert not made.fallback
    loaded, numbers, found = LoadedKernel("kernel", made.code), np.array(dims, np.int64), []
    for call in range(CALLS):
        for count in counts:
            own = [np.roll(a, call) for a in arrays]
            returned = NATIVE(loaded.address)(0, table_of(own).ctypes.data, numbers.ctypes.data, 0, count)
            found.append((returned, [a.tobytes() for a in own]))
    return found


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("step", [1, 3])
def test_both_front_ends_give_the_same_bits(name, step):
    source, arrays = source_of(name), KERNELS[name][1]
    direct, numba = (calls_of(source, arrays, [0, 1, 9, 31], [step], through) for through in FRONT_ENDS)
    assert direct == numba


@pytest.mark.parametrize("name", KERNELS)
def test_direct_lowering_means_what_python_does(name):
    arrays = KERNELS[name][1]
    for count in (1, 9, 31):
        expected = [a.copy() for a in arrays]
        run_python("kernel", source_of(name), expected, count, [2])
        loaded = LoadedKernel("kernel", compile_source("kernel", source_of(name), through=DIRECT))
        found, numbers = [a.copy() for a in arrays], np.array([2], np.int64)
        NATIVE(loaded.address)(0, table_of(found).ctypes.data, numbers.ctypes.data, 0, count)
        for left, right in zip(found, expected, strict=True):
            np.testing.assert_allclose(left, right, rtol=1e-12 if left.dtype == np.float64 else 1e-6)


ZERO_STEP = """
def kernel(ctx, bufs, dims, lo, hi):
    out = address(bufs, 0)
    for i in range(lo, hi, number(dims, 0)):
        store_i64(out, i, 1)
"""


def test_a_step_of_zero_runs_nothing():
    loaded = LoadedKernel("kernel", compile_source("kernel", IMPORTS + ZERO_STEP, through=DIRECT))
    out, numbers = np.zeros(8, np.int64), np.zeros(1, np.int64)
    NATIVE(loaded.address)(0, table_of([out]).ctypes.data, numbers.ctypes.data, 0, 8)
    assert not out.any()


TWO_TYPES = """
def kernel(ctx, bufs, dims, lo, hi):
    out = address(bufs, 0)
    a = 1
    if hi > 3:
        a = 1.5
    store_f64(out, 0, a * 2.0)
"""


def test_what_the_ir_has_no_form_for_is_left_to_numba_and_said():
    made = compile_kernel("kernel", IMPORTS + TWO_TYPES, through=DIRECT)
    assert "no variable of two types" in made.fallback
    assert "a is i64 before, and f64" in made.fallback
    loaded = LoadedKernel("kernel", made.code)
    for count in (2, 5, 2):
        out = np.zeros(1)
        NATIVE(loaded.address)(0, table_of([out]).ctypes.data, 0, 0, count)
        assert out[0] == (3.0 if count > 3 else 2.0)


def test_numba_is_asked_for_by_name(monkeypatch):
    monkeypatch.setattr(kernel_compiler, "read_kernel", None)
    assert compile_kernel("kernel", source_of("sums"), through=NUMBA).code


ROWS = """
def kernel(ctx, bufs, dims, lo, hi):
    out, x, n = address(bufs, 0), address(bufs, 1), number(dims, 0)
    for row in range(lo, hi):
        for i in range(n):
            store_f64(out, row * n + i, load_f64(x, i) * 2.0)
"""


def test_llvm_knows_of_loops_what_it_knows_by_numba():
    """The iterations that are left count down without overflow, and the inner loop gets the same vectors."""
    found = []
    for through in FRONT_ENDS:
        lower, _, _ = kernel_compiler._lowering_of("kernel", IMPORTS + ROWS, through)
        module = lower()
        written = str(module)
        kernel_compiler._optimize(module, kernel_compiler.host_target())
        optimized = str(module)
        counted = re.findall(r"sub nsw i64 %\S+, 1$", written, re.MULTILINE)
        vectors = re.findall(r"store <\d+ x double>", optimized)
        found.append((len(counted), sorted(vectors)))
    assert found[0] == found[1]
    assert found[0][0] == 2 and found[0][1]


def test_a_kernel_that_was_left_to_numba_is_said_by_the_service_and_by_explain():
    kernel = Kernel("kernel", IMPORTS + TWO_TYPES)
    service = CompilerService(processes=1)
    try:
        assert LoadedKernel("kernel", service.submit(kernel).result(60)).address
        assert "no variable of two types" in service.fallbacks[kernel]
        plain = Kernel("kernel", source_of("elementwise"))
        service.submit(plain).result(60)
        assert list(service.fallbacks) == [kernel]
    finally:
        service.close()
    compiled = numhlo.jit(lambda x: x * 3.0 + 0.125).lower(np.arange(5.0)).compile()
    assert "Numba's front end" not in compiled.explain()
    program = compiled._entry.program
    for handle in program.executable.handles.values():
        handle.fallback = "the kernel IR has no such form\n  line 3 of the text"
    shown = compiled.explain()
    assert "lowered by Numba's front end: the kernel IR has no such form line 3 of the text" in shown
