"""How much of the memory's bandwidth programs reach that do little else: `python -m benchmarks.bandwidth`.

The measure is STREAM's triad, ``a = b + s * c``, hand-written in Numba into an array that is there, on the same threads
and arrays of the same size, timed in turns with the programs. Bytes are those that a program must read and write; what
caches read in order to write is left out, here as in STREAM. Numba's triad reads what it writes; numhlo streams results
that are larger than caches to memory without that, so a program may be faster than the triad.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import numhlo
from benchmarks.calls import module_of
from benchmarks.environment import pin_threads
from benchmarks.report import grid, seconds
from benchmarks.timing import interleave

WANTED = 0.85


def stream_triad() -> Callable[..., None]:
    """Return a function that writes ``b + s * c`` into ``a``; Numba looks for its threads when it is imported."""
    numba = module_of("numba")

    @numba.njit(parallel=True)
    def triad(a: np.ndarray, b: np.ndarray, c: np.ndarray, s: float) -> None:
        for i in numba.prange(a.size):
            a[i] = b[i] + s * c[i]

    found: Callable[..., None] = triad
    return found


@dataclass(frozen=True)
class Case:
    """A program, its arguments, and how many arrays of the common size it must read and write."""

    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    arrays: int


def axpy(y: np.ndarray, x: np.ndarray) -> None:
    """Add a multiple, in place."""
    y += 2.5 * x


def jacobi(u: np.ndarray) -> np.ndarray:
    """Return the mean of the neighbours of inner points."""
    return 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])


def cases(size: int) -> list[Case]:
    """Return the programs on arrays of about so many numbers, squares where they have two axes."""
    rng, side = np.random.default_rng(0), int(size**0.5)
    b, c = rng.random(size), rng.random(size)
    m, n = rng.random((side, side)), rng.random((side, side))
    return [
        Case("axpy in place", axpy, (np.zeros(size), b), 3),
        Case("triad, new array", lambda b, c: b + 3.0 * c, (b, c), 3),
        Case("fused chain", lambda b: np.sqrt(b * 2.0 + 1.0) * b + b * b, (b,), 2),
        Case("sum", np.sum, (b,), 1),
        Case("sum along axis 0", lambda m: m.sum(axis=0), (m,), 1),
        Case("transpose and add", lambda m, n: m + n.T, (m, n), 3),
        Case("stencil", jacobi, (m,), 2),
    ]


def main() -> None:
    """Measure and show."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bandwidth", description=__doc__)
    parser.add_argument("--megabytes", type=float, default=128.0, help="of one array")
    parser.add_argument("--seconds", type=float, default=20.0)
    options = parser.parse_args()
    pin_threads()
    triad = stream_triad()
    size = int(options.megabytes * 1e6) // 8
    rng = np.random.default_rng(1)
    a, b, c = np.zeros(size), rng.random(size), rng.random(size)
    calls: dict[str, Callable[[], Any]] = {"STREAM triad (Numba)": lambda: triad(a, b, c, 3.0)}
    arrays = {"STREAM triad (Numba)": 3}
    for case in cases(size):
        jitted = numhlo.jit(case.function)
        jitted(*case.arguments)
        jitted.wait()
        calls[case.name] = lambda jitted=jitted, case=case: jitted(*case.arguments)
        arrays[case.name] = case.arrays
    timings = interleave(calls, options.seconds)
    best = {name: arrays[name] * size * 8 / timing.best for name, timing in timings.items()}
    measure = best["STREAM triad (Numba)"]
    rows = [
        [name, seconds(timings[name].best), f"{rate / 1e9:.1f}", f"{rate / measure:.0%}"] for name, rate in best.items()
    ]
    print(grid([f"arrays of {options.megabytes:.0f} MB", "best", "GB/s", "of the triad"], rows))
    print(f"load {os.getloadavg()[0]:.1f}; below {WANTED:.0%}: {[k for k, r in best.items() if r < WANTED * measure]}")


if __name__ == "__main__":
    main()
