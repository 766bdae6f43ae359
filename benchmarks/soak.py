"""Mixed use for a long time: `python -m benchmarks.soak --minutes 60`. Fails where memory, threads or files pile up.

A round makes new functions and drops them, calls them on new shapes, differentiates, batches, loops, runs StableHLO
text, makes errors and interrupts, and takes large results. What a process holds after the first rounds is what it may
hold after the last one.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import numhlo
from benchmarks.environment import memory
from numhlo import lax
from numhlo.backend.executable import Executable

MORE_MEGABYTES = 40.0
"""What a process may hold beyond what it held when it was warm: allocators keep some of what they get back."""

TEXT = """
func.func @main(%x: tensor<{n}xf64>) -> tensor<{n}xf64> {{
  %y = stablehlo.sine %x : tensor<{n}xf64>
  %z = stablehlo.add %x, %y : tensor<{n}xf64>
  return %z : tensor<{n}xf64>
}}
"""


def functions(factor: float) -> list[Any]:
    """Return new functions, of which each takes a square matrix."""

    def loop(x: Any) -> Any:
        return lax.fori_loop(0, 20, lambda i, s: np.tanh(s) + i * factor, x)

    def branch(row: Any) -> Any:
        return lax.cond(row.sum() > factor, np.sort, np.negative, row)

    def written(x: Any) -> Any:
        y = x.copy()
        y[1:] += factor * y[:-1]
        return y.mean(axis=0)

    return [
        lambda x: np.exp(-x * x).sum(axis=1) * factor,
        loop,
        numhlo.vmap(branch),
        numhlo.grad(lambda x: (np.tanh(x @ x.T) * factor).sum()),
        written,
        lambda x: lax.scan(lambda c, r: (c * 0.5 + r, c.max()), x[0], x)[1],
    ]


def one_round(number: int) -> None:
    """Use everything once."""
    rng = np.random.default_rng(number)
    x = rng.normal(size=(3 + number % 29,) * 2)
    for function in functions(0.1 + number % 7):
        jitted = numhlo.jit(function)
        jitted(x)
        jitted(rng.normal(size=(5 + number % 31,) * 2))
    module = numhlo.stablehlo.parse(TEXT.format(n=2 + number % 17))
    module.run("main", np.ones(2 + number % 17))
    with contextlib.suppress(ValueError):
        numhlo.jit(lambda x: x @ np.ones(len(x) + 1))(x)
    if number % 10 == 0:
        _interrupt()
        np.sum(numhlo.jit(lambda x: x * 2.0)(np.ones(5_000_000)))


def _interrupt() -> None:
    """Press Ctrl-C in an endless loop."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
    try:
        timer.start()
        numhlo.jit(lambda s: lax.while_loop(lambda s: s >= 0, lambda s: s * 0.999 + 1, s))(1.0)
    except KeyboardInterrupt:
        pass
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)


class Held(NamedTuple):
    """What a process holds: resident megabytes, executables, threads, open files."""

    megabytes: float
    executables: int
    threads: int
    files: int


def held() -> Held:
    """Return what this process holds."""
    gc.collect()
    files = Path("/proc/self/fd")
    count = len(list(files.iterdir())) if files.exists() else 0
    executables = sum(type(thing) is Executable for thing in gc.get_objects())
    return Held(memory("VmRSS"), executables, threading.active_count(), count)


def soak(seconds: float, warm_seconds: float) -> tuple[Held, Held, int]:
    """Go round for so long; return what is held when warm and at the end, and how many rounds that was."""
    start, number = time.monotonic(), 0
    while time.monotonic() < start + warm_seconds or number < 11:
        one_round(number)
        number += 1
    warm = held()
    while time.monotonic() < start + warm_seconds + seconds:
        one_round(number)
        number += 1
    return warm, held(), number


def troubles(warm: Held, end: Held) -> list[str]:
    """Return what has piled up."""
    found = []
    if end.megabytes > warm.megabytes + MORE_MEGABYTES:
        found.append(f"memory grew from {warm.megabytes:.0f} to {end.megabytes:.0f} MB")
    grown = [n for n in ("executables", "threads", "files") if getattr(end, n) > getattr(warm, n) + 8]
    return found + [f"{name} grew from {getattr(warm, name)} to {getattr(end, name)}" for name in grown]


def main() -> int:
    """Soak and show; return 1 where something piles up."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0)
    options = parser.parse_args()
    seconds = options.minutes * 60
    warm, end, rounds = soak(seconds, min(60.0, seconds / 4))
    found = troubles(warm, end)
    print(f"{rounds} rounds; warm {warm}; at the end {end}")
    print("\n".join(found) or "flat")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
