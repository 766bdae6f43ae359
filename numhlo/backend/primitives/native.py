"""Calling native code by address: other kernels, and the library functions that a call's context carries.

No address is ever part of a kernel's object code: it comes in through ``ctx``, ``bufs`` or ``dims``. The matrix
products are row-major and single-threaded: ``C = alpha * op(A) @ op(B) + beta * C``, ``op`` a transposition where
asked, ``lda`` and its kin the distance between rows, in elements. `layout` has the words of the context.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from numhlo.backend.primitives.layout import ATTEND, CGEMM, DGEMM, INTERRUPT, LIBRARY, SGEMM, ZGEMM
from numhlo.backend.primitives.memory import INT64
from numhlo.backend.primitives.storage import STORAGES, Storage
from numhlo.lowering.ir.records import record

KERNEL_TYPE = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 5)


def call_kernel(function: int, ctx: int, bufs: int, dims: int, lo: int, hi: int) -> None:
    """Call the kernel at an address."""
    KERNEL_TYPE(int(function))(*map(int, (ctx, bufs, dims, lo, hi)))


def call_function(function: int, *arguments: Any) -> int:
    """Call a native function of int64, pointer and float64 arguments that returns an int64."""
    types = [ctypes.c_double if isinstance(a, (float, np.floating)) else ctypes.c_int64 for a in arguments]
    values = [float(a) if t is ctypes.c_double else int(a) for a, t in zip(arguments, types, strict=True)]
    return int(ctypes.CFUNCTYPE(ctypes.c_int64, *types)(int(function))(*values))


def call_fortran(function: int, *arguments: Any) -> None:
    """Call a subroutine of BLAS or LAPACK: pointers, then the length (one) of each that points to a letter."""
    ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * len(arguments))(int(function))(*map(int, arguments))


def library_function(ctx: int, index: int) -> int:
    """Return the address of library function ``index`` (see `layout`)."""
    table = int(INT64.view(ctx + 8 * LIBRARY)[0])
    return int(INT64.view(table + 8 * index)[0])


def interrupted(ctx: int) -> bool:
    """Return whether to stop since a signal's handler raised; a long loop inside a kernel polls this and returns early.

    It is a load and a comparison until a signal arrives.
    """
    flag = int(INT64.view(ctx + 8 * INTERRUPT)[0])
    return bool(INT64.view(flag)[0] != 0) and call_function(library_function(ctx, ATTEND), ctx, 0, 0, 0, 0) != 0


def fail(ctx: int, code: int) -> None:
    """Set the call's status, if nothing failed before."""
    status = INT64.view(ctx)
    if status[0] == 0:
        status[0] = code


@record(frozen=True)
class MatrixProduct:
    """``gemm(ctx, transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)``, ``C`` is (m, n)."""

    storage: Storage
    index: int

    def __call__(  # noqa: PLR0913 - BLAS has that many
        self,
        ctx: int,
        transpose_a: bool,
        transpose_b: bool,
        m: int,
        n: int,
        k: int,
        alpha: Any,
        a: int,
        lda: int,
        b: int,
        ldb: int,
        beta: Any,
        c: int,
        ldc: int,
    ) -> None:
        """Compute the product in NumPy."""
        lhs = self._matrix(a, k, m, lda).T if transpose_a else self._matrix(a, m, k, lda)
        rhs = self._matrix(b, n, k, ldb).T if transpose_b else self._matrix(b, k, n, ldb)
        out = self._matrix(c, m, n, ldc)
        product = alpha * (lhs @ rhs)
        out[...] = product if beta == 0 else product + beta * out

    def _matrix(self, pointer: int, rows: int, columns: int, stride: int) -> np.ndarray:
        count = max((rows - 1) * stride + columns, 0)
        flat = self.storage.view(pointer, count)
        size = self.storage.dtype.itemsize
        return np.lib.stride_tricks.as_strided(flat, (rows, columns), (stride * size, size))


gemm_f32 = MatrixProduct(STORAGES["f32"], SGEMM)
gemm_f64 = MatrixProduct(STORAGES["f64"], DGEMM)
gemm_c64 = MatrixProduct(STORAGES["c64"], CGEMM)
gemm_c128 = MatrixProduct(STORAGES["c128"], ZGEMM)
