"""`python -m benchmarks.exported`: what JAX exports, as text, run by numhlo and by XLA, which compiled it itself.

For each program: how long XLA takes to compile and answer for the first time, how long numhlo takes to parse, verify
and answer; then both in turns, once everything is compiled. Results are compared before anything is timed.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

import jax
import numpy as np

from benchmarks.environment import pin_threads
from benchmarks.exported_programs import PROGRAMS
from benchmarks.timing import interleave
from numhlo import stablehlo


def differs(found: Any, expected: Any) -> str:
    """Return how a result differs from XLA's, or nothing; sums in another order and narrow floats may, a little."""
    x, y = np.asarray(found), np.asarray(expected)
    if x.shape != y.shape or x.dtype != y.dtype:
        return f"{x.dtype}{list(x.shape)} instead of {y.dtype}{list(y.shape)}"
    if y.dtype.kind in "biu":
        return "" if (x == y).all() else f"{int((x != y).sum())} integers of {x.size}"
    wide = np.complex128 if y.dtype.kind == "c" else np.float64
    a, b = x.astype(wide), y.astype(wide)
    error = float(np.max(np.abs(a - b) / (1 + np.abs(b)), initial=0))
    bound = {2: 2e-2, 4: 2e-3, 8: 2e-8}[y.real.dtype.itemsize]
    return "" if error <= bound else f"an error of {error:.1e}"


def measure(name: str, *, is_small: bool, budget: float) -> dict[str, Any]:
    """Return first answers in seconds, and the steady ratio: more than 1 where numhlo is faster."""
    make, small, large = PROGRAMS[name]
    function, arguments = make(small if is_small else large)
    lowered = jax.jit(function).lower(*arguments)
    text = lowered.as_text()
    arrays = [np.asarray(x) for x in jax.tree.leaves(arguments)]
    start = time.perf_counter()
    executable = lowered.compile()
    own = jax.tree.map(jax.numpy.asarray, arguments)
    expected = jax.tree.leaves(jax.block_until_ready(executable(*own)))
    theirs = time.perf_counter() - start
    start = time.perf_counter()
    module = stablehlo.parse(text, name)
    first = module.run("main", *arrays)
    ours = time.perf_counter() - start
    for program in module.functions["main"].programs.values():
        program.wait()
    later = module.run("main", *arrays)
    trouble = [differs(x, y) for found in (first, later) for x, y in zip(found, expected, strict=True)]
    run = module.callable().run
    calls = {"numhlo": lambda: run(*arrays), "xla": lambda: jax.block_until_ready(executable(*own))}
    timings = interleave(calls, budget)
    return {
        "trouble": next((text for text in trouble if text), ""),
        "first": (ours, theirs),
        "ratio": timings["numhlo"].ratio(timings["xla"]),
        "best": timings["xla"].best / timings["numhlo"].best,
        "microseconds": timings["numhlo"].median * 1e6,
    }


def main() -> int:
    """Measure what the command line asks for, print a table, and return 1 if a result was wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.exported", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PROGRAMS)
    parser.add_argument("--small", action="store_true", help="the sizes of the tests")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each program's steady state")
    given = parser.parse_args()
    pin_threads()
    jax.config.update("jax_enable_x64", True)
    measure("knapsack", is_small=True, budget=0.0)  # loads both libraries
    rows = {}
    sys.stdout.write(f"{'program':24} {'numhlo µs':>10} {'steady':>8} {'best':>8} {'first':>8} {'XLA':>8} (s)\n")
    for name in given.only or PROGRAMS:
        row = rows[name] = measure(name, is_small=given.small, budget=given.seconds)
        ours, theirs = row["first"]
        line = f"{row['microseconds']:10.1f} {row['ratio']:7.2f}x {row['best']:7.2f}x {ours:8.3f} {theirs:8.3f}"
        sys.stdout.write(f"{name:24} {line} {row['trouble']}\n")
        sys.stdout.flush()
    ratios = np.log([[row["ratio"], row["best"], row["first"][1] / row["first"][0]] for row in rows.values()])
    steady, best, first = np.exp(ratios.mean(0))
    later = [name for name, row in rows.items() if row["first"][0] > row["first"][1]]
    sys.stdout.write(
        f"geometric means over {len(rows)} programs: steady {steady:.2f}x (fastest rounds {best:.2f}x), "
        f"first answer {first:.1f}x; later than XLA: {', '.join(later) or 'none'}\n"
    )
    return int(any(row["trouble"] for row in rows.values()))


if __name__ == "__main__":
    sys.exit(main())
