"""`python -m benchmarks.unrolled`: what loops that Python unrolls cost from the call to the first answer, an op.

Each program runs in processes of its own. Microseconds of the processor per traced op, the least of a few processes: of
tracing, of passes, of planning up to the table of steps, for the first time, when kernels have no texts yet (*first* is
the sum), and of all that once more (*again*). *answer* is what the first call of a jitted function takes, milliseconds
of the caller's thread: all this, and the steps in Python. Kernels compile in other processes meanwhile.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import numhlo
from benchmarks.report import grid
from numhlo.backend.planning import plan
from numhlo.backend.runtime.step_table import StepTable
from numhlo.compilation.garbage import build
from numhlo.lowering.passes.pipeline import optimize

RNG = np.random.default_rng(0)
PROCESSES = 3


def chain(x: Any, rounds: int) -> Any:
    """Three ops on a vector, again and again."""
    for _ in range(rounds):
        x = np.sin(x) * 0.5 + 0.25
    return x


def lfilter(x: Any, rounds: int) -> Any:
    """A recursive filter of two taps each, in scalars."""
    y = [x[0], x[1]]
    for k in range(2, rounds):
        y.append(0.2 * x[k] + 0.3 * x[k - 1] + 0.1 * x[k - 2] + 0.5 * y[k - 1] - 0.1 * y[k - 2])
    return np.stack(y)


def lu(a: Any, n: int) -> Any:
    """Gauss's elimination in place, row by row."""
    a = a.copy()
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] = a[i, k] / a[k, k]
            a[i, k + 1 :] = a[i, k + 1 :] - a[i, k] * a[k, k + 1 :]
    return a


def cholesky(a: Any, n: int) -> Any:
    """A factor, element by element."""
    low = np.zeros_like(a)
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j] - np.sum(low[i, :j] * low[j, :j])
            low[i, j] = np.sqrt(s) if i == j else s / low[j, j]
    return low


def bodies(place: Any, rounds: int) -> Any:
    """Bodies that attract each other, every coordinate a variable."""
    p = [list(row) for row in place]
    v = [[0.0, 0.0] for _ in p]
    for _ in range(rounds):
        for i in range(3):
            for j in range(3):
                if i != j:
                    d = [p[j][c] - p[i][c] for c in range(2)]
                    square = d[0] * d[0] + d[1] * d[1] + 0.1
                    weight = 0.01 / (square * np.sqrt(square))
                    v[i] = [v[i][c] + weight * d[c] for c in range(2)]
        p = [[p[i][c] + 0.01 * v[i][c] for c in range(2)] for i in range(3)]
    return np.stack([x for row in p for x in row])


def products(a: Any, b: Any, n: int) -> Any:
    """A product of matrices by three loops over elements."""
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            s = 0.0
            for k in range(n):
                s = s + a[i, k] * b[k, j]
            out[i, j] = s
    return out


def layers(w: Any, u: Any, b: Any, xs: Any, h: Any) -> Any:
    """A recurrent network."""
    for x in xs:
        h = np.tanh(x @ w + h @ u + b)
    return (h * h).sum()


def gated_layers(w: Any, u: Any, b: Any, xs: Any, h: Any) -> Any:
    """Layers with gates: a long short-term memory."""
    c, n = np.zeros_like(h), h.shape[0]
    for x in xs:
        z = x @ w + h @ u + b
        c = c / (1 + np.exp(-z[n : 2 * n])) + np.tanh(z[3 * n :]) / (1 + np.exp(-z[:n]))
        h = np.tanh(c) / (1 + np.exp(-z[2 * n : 3 * n]))
    return (h * h).sum()


def _layers(gates: int, rounds: int, n: int = 8) -> list[np.ndarray]:
    shapes = (n, gates * n), (n, gates * n), (gates * n,), (rounds, n), (n,)
    return [RNG.normal(size=shape) for shape in shapes]


def _positive(n: int) -> np.ndarray:
    a = RNG.normal(size=(n, n))
    return a @ a.T + n * np.eye(n)


slopes = partial(numhlo.grad, argnums=(0, 1, 2))
PROGRAMS: dict[str, tuple[Callable[..., Any], list[np.ndarray]]] = {
    "chain": (lambda x: chain(x, 1000), [RNG.normal(size=100)]),
    "lfilter": (lambda x: lfilter(x, 250), [RNG.normal(size=250)]),
    "LU": (lambda a: lu(a, 26), [_positive(26)]),
    "Cholesky": (lambda a: cholesky(a, 26), [_positive(26)]),
    "n-body": (lambda p: bodies(p, 40), [RNG.normal(size=(3, 2))]),
    "sums of products": (lambda a, b: products(a, b, 10), [_positive(10), _positive(10)]),
    "recurrent layers": (layers, _layers(1, 400)),
    "their gradient": (slopes(layers), _layers(1, 120)),
    "gated layers, gradient": (slopes(gated_layers), _layers(4, 30)),
}


def _phases(name: str) -> tuple[int, list[float]]:
    """Return how many ops are traced, and the seconds of tracing, passes and planning."""
    function, arguments = PROGRAMS[name]
    fresh = numhlo.jit(function)
    start = time.thread_time()
    traced = fresh.trace(*arguments)._traced
    made = time.thread_time()
    optimized = build(lambda: optimize(traced.function))
    improved = time.thread_time()
    build(lambda: StepTable(plan(optimized, written=traced.written)))
    planned = time.thread_time()
    ops = sum(1 for function in traced.function.reached() for _ in function.body.walk())
    return ops, [made - start, improved - made, planned - improved]


def measure(name: str) -> dict[str, float]:
    """Return a program's figures in this process."""
    warm = numhlo.jit(lambda x: np.tanh(x[1:] + np.zeros(3)).sum())
    warm(np.ones(4))
    ops, first = _phases(name)
    again = min(sum(_phases(name)[1]) for _ in range(3))
    return {"ops": ops, "trace": first[0], "passes": first[1], "plan": first[2], "first": sum(first), "again": again}


def answer(name: str) -> dict[str, float]:
    """Return how long the first call takes in this process, in seconds."""
    warm = numhlo.jit(lambda x: np.tanh(x[1:] + np.zeros(3)).sum())
    warm(np.ones(4))
    function, arguments = PROGRAMS[name]
    jitted = numhlo.jit(function)
    start = time.thread_time()
    jitted(*arguments)
    return {"answer": time.thread_time() - start}


def _in_a_process(what: str, name: str) -> dict[str, float]:
    environment = os.environ | {"NUMHLO_CACHE_DIR": ""}
    command = [sys.executable, "-m", "benchmarks.unrolled", what, name]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=120)
    found: dict[str, float] = json.loads(run.stdout)
    return found


def row(name: str, processes: int) -> list[str]:
    """Return a program's line in the table."""
    runs = [_in_a_process("measure", name) for _ in range(processes)]
    least = {key: min(run[key] for run in runs) for key in runs[0]}
    ops = least.pop("ops")
    answered = min(_in_a_process("answer", name)["answer"] for _ in range(processes))
    return [name, f"{ops:.0f}", *(f"{1e6 * seconds / ops:.1f}" for seconds in least.values()), f"{1e3 * answered:.0f}"]


def main() -> None:
    """Measure and show."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.unrolled", description=__doc__)
    parser.add_argument("what", nargs="?", choices=("all", "measure", "answer"), default="all")
    parser.add_argument("name", nargs="?", help="of one program", choices=PROGRAMS)
    parser.add_argument("--processes", type=int, default=PROCESSES, help="of which the least counts")
    options = parser.parse_args()
    if options.what != "all":
        print(json.dumps({"measure": measure, "answer": answer}[options.what](options.name)))
        return
    rows = [row(name, options.processes) for name in PROGRAMS]
    print(grid(["µs per op", "ops", "trace", "passes", "plan", "first", "again", "answer, ms"], rows))


if __name__ == "__main__":
    main()
