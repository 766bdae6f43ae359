"""Library functions by address: matrix products in all forms, BLAS's own threads kept out and given back,
registration.
"""

import ctypes
import os

import numpy as np
import pytest

from numhlo.backend.executable import Executable
from numhlo.backend.primitives import STORAGES, layout
from numhlo.backend.program import Buffer, Kernel, Launch, Place, Program
from numhlo.backend.runtime import library, pool
from numhlo.lowering.ir import Region, TensorType
from numhlo.lowering.ir.errors import InternalError
from numhlo.lowering.ops import elementwise
from numhlo.lowering.ops.primitive import make_op
from tests.backend.both_ways import run_native, run_python
from tests.backend.child import status_of

KINDS = ("f32", "f64", "c64", "c128")


def product_source(kind):
    """``C = (2 - i) op(A) op(B) + 3 C``, its sizes and transpositions run-time numbers."""
    real = {"f32": "to_f32({})", "f64": "to_f64({})", "c64": "make_c64(to_f32({0}), to_f32(-1.0))"}
    scalar = real.get(kind, "make_c128({0}, -1.0)")
    return f"""
from numhlo.backend.primitives import *


def product(ctx, bufs, dims, lo, hi):
    a, b, c = address(bufs, 0), address(bufs, 1), address(bufs, 2)
    ta, tb = number(dims, 0) != 0, number(dims, 1) != 0
    m, n, k = number(dims, 2), number(dims, 3), number(dims, 4)
    lda, ldb, ldc = number(dims, 5), number(dims, 6), number(dims, 7)
    gemm_{kind}(ctx, ta, tb, m, n, k, {scalar.format("2.0")}, a, lda, b, ldb, to_{kind}({scalar.format("3.0")}), c, ldc)
"""


def context():
    """A context that holds the library table."""
    assert library.load_blas()
    words = np.zeros(layout.CONTEXT_WORDS, np.int64)
    words[layout.LIBRARY] = library.table_address
    return words


@pytest.mark.parametrize("kind", KINDS)
def test_matrix_products(kind, rng):
    dtype = STORAGES[kind].dtype
    ctx = context()
    m, n, k = 5, 4, 3
    alpha, beta = (2.0, 3.0) if kind[0] == "f" else (2.0 - 1j, 3.0 - 1j)
    for ta, tb in [(0, 0), (1, 0), (0, 1), (1, 1)]:
        a = rng.integers(-9, 9, (k, m) if ta else (m, k)).astype(dtype)
        b = rng.integers(-9, 9, (n, k) if tb else (k, n)).astype(dtype)
        c = rng.integers(-9, 9, (m, n)).astype(dtype)
        expected = alpha * ((a.T if ta else a) @ (b.T if tb else b)) + beta * c
        wide_a, wide_b, wide_c = (np.pad(x, ((0, 0), (0, extra))) for x, extra in [(a, 2), (b, 1), (c, 3)])
        dims = (ta, tb, m, n, k, wide_a.shape[1], wide_b.shape[1], wide_c.shape[1])
        for run in (run_native, run_python):
            out = wide_c.copy()
            run("product", product_source(kind), [wide_a, wide_b, out], 0, dims, ctx.ctypes.data)
            np.testing.assert_array_equal(out[:, :n], expected.astype(dtype))
            assert not out[:, n:].any()


def openblas_threads():
    """BLAS's number of threads, through its own function."""
    get = ctypes.CFUNCTYPE(ctypes.c_int)(int(library.table[layout.BLAS_GET_THREADS]))
    set_threads = ctypes.CFUNCTYPE(None, ctypes.c_int)(int(library.table[layout.BLAS_SET_THREADS]))
    return get, set_threads


SEEN = """
from numhlo.backend.primitives import address, call_function, fail, gemm_f64, library_function, store_i64
from numhlo.backend.primitives.layout import BLAS_GET_THREADS


def seen(ctx, bufs, dims, lo, hi):
    x, y = address(bufs, 0), address(bufs, 1)
    store_i64(y, 0, call_function(library_function(ctx, BLAS_GET_THREADS)) & 255)
    if hi > 1:
        fail(ctx, 7)
    if hi < 0:
        gemm_f64(ctx, False, False, 0, 0, 0, 0.0, x, 1, x, 1, 0.0, x, 1)
"""


def seen_program(extent):
    type = TensorType((), np.dtype(np.int64))
    x = Region([type]).arguments[0]
    op = make_op(elementwise.NEGATE, [x])
    step = Launch(
        Kernel("seen", SEEN, frozenset({"gemm_f64"})), (0, 1), (), extent, extent, [op], [(x, 0)], [(op.result, 1)]
    )
    return Program([Buffer(type, Place.ARGUMENT, 0), Buffer(type, Place.RESULT, 0)], [step], 0, [1])


@pytest.mark.parametrize("fast", [True, False])
def test_blas_has_one_thread_inside_a_call_and_its_own_number_after(fast):
    executable, failing = Executable(seen_program(1)), Executable(seen_program(2))
    assert executable.wait(60)
    assert failing.wait(60)
    if not library.table[layout.BLAS_SET_THREADS]:
        pytest.skip("this BLAS has no such setting")
    get, set_threads = openblas_threads()
    before = get()
    set_threads(2)
    try:
        if not fast:
            executable._fast = failing._fast = None
        for _ in range(3):
            assert executable([np.array(5)])[0] == 1
            assert get() == 2
            with pytest.raises(InternalError, match="failed with status 7"):
                failing([np.array(5)])
            assert get() == 2
        assert pool.words[layout.BLAS_HOLDERS] == 0
    finally:
        set_threads(before)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings(r"ignore:os\.fork\(\) was called:RuntimeWarning")  # by JAX, where other tests use it
def test_the_child_of_a_fork_has_the_number_that_a_call_in_another_thread_holds():
    if not library.load_blas() or not library.table[layout.BLAS_SET_THREADS]:
        pytest.skip("this BLAS has no such setting")
    get, set_threads = openblas_threads()
    before = get()
    try:
        set_threads(1)  # as during a call
        pool.words[layout.BLAS_HOLDERS], pool.words[layout.BLAS_THREADS] = 1, 2
        child = os.fork()
        if child == 0:
            os._exit(0 if get() == 2 and pool.words[layout.BLAS_HOLDERS] == 0 else 1)
        assert status_of(child) == 0
    finally:
        pool.words[layout.BLAS_HOLDERS] = 0
        set_threads(before)
