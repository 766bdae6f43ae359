"""NumPy's functions with sizes, indices and pivots from data, between guard pages: ``python -m tests.sweep.guarded_functions``.

What it prints first is the function that runs: where the process ends, that one left its buffers.
"""

from __future__ import annotations

import contextlib
import faulthandler
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import numhlo
from tests.sweep.guarded import SIDES

Case = tuple[str, Callable[..., Any], tuple[np.ndarray, ...]]
LENGTHS = (1, 2, 3, 5, 7, 8, 13, 16, 31, 60, 64, 97, 128, 210, 1000, 1021)
SIZES = (1, 2, 3, 4, 7, 8, 9, 16, 17, 33)


def transforms(rng: np.random.Generator) -> Iterator[Case]:
    """Yield Fourier transforms of every kind of length, in rows and columns."""
    for n in LENGTHS:
        real = rng.standard_normal((3, n))
        z = real + 1j * rng.standard_normal((3, n))
        yield f"fft {n}", np.fft.fft, (z,)
        yield f"fft of columns {n}", lambda z: np.fft.fft(z, axis=0), (np.ascontiguousarray(z.T),)
        yield f"rfft {n}", np.fft.rfft, (real,)
        yield f"ifft of single {n}", np.fft.ifft, (z.astype(np.complex64),)
        if n > 1:
            yield f"irfft {n}", lambda z, n=n: np.fft.irfft(z, n), (np.fft.rfft(real),)


def factorizations(rng: np.random.Generator) -> Iterator[Case]:
    """Yield factorizations and solutions, also of matrices that have none."""
    for n in SIZES:
        a = rng.standard_normal((2, n, n))
        b = rng.standard_normal((2, n, 3))
        positive = a @ a.transpose(0, 2, 1) + n * np.eye(n)
        singular = np.zeros((2, n, n))
        broken = a.copy()
        broken[:, 0, 0] = np.nan
        yield f"cholesky {n}", np.linalg.cholesky, (positive,)
        yield f"solve {n}", np.linalg.solve, (a, b)
        yield f"inv {n}", np.linalg.inv, (a,)
        yield f"qr {n}", lambda a: np.linalg.qr(a)[1] ** 2, (a,)
        yield f"svd {n}", lambda a: np.linalg.svd(a)[1], (a,)
        yield f"eigh {n}", lambda a: np.linalg.eigh(a)[0], (positive,)
        yield f"det {n}", np.linalg.det, (a,)
        for name, matrix in (("zeros", singular), ("nan", broken), ("empty", np.zeros((0, n, n)))):
            yield f"det of {name} {n}", np.linalg.det, (matrix,)
            yield f"eigh of {name} {n}", lambda a: np.linalg.eigh(a)[0], (matrix,)
            yield f"svd of {name} {n}", lambda a: np.linalg.svd(a)[1], (matrix,)
            yield f"solve of {name} {n}", np.linalg.solve, (matrix, b[: len(matrix)])
            yield f"cholesky of {name} {n}", np.linalg.cholesky, (matrix,)


def lookups(rng: np.random.Generator) -> Iterator[Case]:
    """Yield what reads and writes where data says."""
    for n in (1, 7, 33, 100, 1000):
        x = rng.standard_normal(n)
        k = rng.integers(0, n, 3 * n)
        yield f"take {n}", np.take, (x, k)
        yield f"take, clipped {n}", lambda x, k: np.take(x, k, mode="clip"), (x, k * 1000 - 500 * n)
        yield f"take, wrapped {n}", lambda x, k: np.take(x, k, mode="wrap"), (x, k * 1000 - 500 * n)
        yield f"bincount {n}", lambda k, n=n: np.bincount(k, minlength=n)[:n], (k,)
        yield f"searchsorted {n}", np.searchsorted, (np.sort(x), rng.standard_normal(2 * n))
        yield f"interp {n}", np.interp, (rng.standard_normal(50), np.sort(x), x)
        yield f"take_along_axis {n}", lambda x, k: np.take_along_axis(x, k, 0), (x, np.argsort(x))
        yield f"roll {n}", lambda x, s: np.roll(x, s), (x, np.array(10**6 + 1))
        yield f"histogram {n}", lambda x: np.histogram(x, 10, (-1, 1))[0], (x,)
        yield f"digitize {n}", np.digitize, (x, np.linspace(-1, 1, 9))


def orders(rng: np.random.Generator) -> Iterator[Case]:
    """Yield sorts, searches, windows and sums along lines of every length."""
    for n in LENGTHS:
        x = rng.standard_normal((3, n))
        x[0, rng.random(n) < 0.2] = np.nan
        whole = rng.integers(-50, 50, (3, n))
        for name, array in (("floats", x), ("integers", whole), ("bytes", whole.astype(np.int8))):
            yield f"sort {name} {n}", np.sort, (array,)
            yield f"sort columns of {name} {n}", lambda a: np.sort(a, axis=0), (array,)
            yield f"argsort {name} {n}", lambda a: np.argsort(a, kind="stable"), (array,)
            yield f"argmax {name} {n}", lambda a: np.argmax(a, axis=1), (array,)
            yield f"cummax {name} {n}", lambda a: np.maximum.accumulate(a, axis=1), (array,)
        yield f"median {n}", lambda a: np.nanmedian(a, axis=1), (x,)
        yield f"cumsum {n}", lambda a: np.cumsum(a, axis=1), (whole,)
        yield f"cumsum of columns {n}", lambda a: np.cumsum(a, axis=0), (whole,)
        yield f"convolve {n}", lambda a, b: np.convolve(a[1], b), (whole * 1.0, np.arange(5.0))
        yield f"matmul {n}", lambda a: a @ a.T, (whole * 1.0,)
        yield f"outer {n}", lambda a: a.T @ a, (whole * 1.0,)
        yield f"pad {n}", lambda a: np.pad(a, 3, mode="edge"), (whole,)


def of_numpy(function: Callable[..., Any], arrays: tuple[np.ndarray, ...]) -> Any:
    """Return what NumPy makes of arrays, None where it raises since a matrix has no factorization."""
    with np.errstate(all="ignore"), contextlib.suppress(np.linalg.LinAlgError):
        return function(*arrays)
    return None


def run(seed: int = 0) -> list[str]:
    """Return which functions differ from NumPy; print each before it runs."""
    faulthandler.enable()
    rng, found = np.random.default_rng(seed), []
    for name, function, arrays in [*transforms(rng), *factorizations(rng), *lookups(rng), *orders(rng)]:
        expected = of_numpy(function, arrays)
        for side in SIDES:
            sys.stdout.write(f"{name}, page {side}\n")
            sys.stdout.flush()
            with numhlo.debugging(tier0=False, guard_pages=side):
                result = np.asarray(numhlo.jit(function)(*arrays))
            if expected is None or " of nan " in name:  # which NaNs LAPACK spreads is its own affair
                continue
            if not np.allclose(result, expected, rtol=1e-3, atol=1e-3, equal_nan=True):
                found.append(f"{name}, page {side}")
    return found


if __name__ == "__main__":
    faults = run(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    sys.stdout.write("".join(f"differs: {fault}\n" for fault in faults) + "all done\n")
    sys.exit(int(bool(faults)))
