"""The figures behind `docs/decisions`: what tracing, planning, the two engines and compiler processes cost.

Run it with ``python -m benchmarks.decisions``; it takes about half a minute. Times are medians on whatever else the
machine is doing: read the ratios.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import numhlo
import numhlo.numpy as nnp
from numhlo import lax
from numhlo.backend.compiler.kernel_compiler import compile_source
from numhlo.backend.kernel_cache import kernel_cache
from numhlo.backend.planning import plan
from numhlo.backend.program import Kernel
from numhlo.lowering.passes import optimize

KERNEL = """from numhlo.backend.primitives import address, load_f64, store_f64


def {name}(ctx, bufs, dims, lo, hi):
    out0 = address(bufs, 0)
    in0 = address(bufs, 1)
    for i0 in range(lo, hi):
        x0 = load_f64(in0, i0)
        store_f64(out0, i0, {sum})
"""
FIRST_ANSWERS = """
import time, numpy as np, numhlo, numhlo.numpy as nnp
x = np.random.default_rng(0).normal(size=(1000, 1000))
def fun(m): return lambda x: m.sin(x) * x + m.exp(-x * x) / (1 + x * x)
fun(np)(x)
t = time.perf_counter(); fun(np)(x); plain = time.perf_counter() - t
f = numhlo.jit(fun(nnp))
t = time.perf_counter(); f(x); first = time.perf_counter() - t
f.wait(); ready = time.perf_counter() - t
t = time.perf_counter(); f(x); f(x); steady = (time.perf_counter() - t) / 2
print(*(f"{s * 1e3:.1f}" for s in (plain, first, ready, steady)))
"""


def milliseconds(call: Callable[[], Any]) -> tuple[Any, float]:
    """Return a call's result and how long it took."""
    start = time.perf_counter()
    result = call()
    return result, (time.perf_counter() - start) * 1e3


def chain(x: Any) -> Any:
    """Apply 1,000 functional ops."""
    for _ in range(500):
        x = nnp.sin(x) * x
    return x


def written(x: Any) -> Any:
    """Write into a copy, through views, 1,000 times."""
    x = x.copy()
    for _ in range(500):
        x *= 0.5
        x[1:] += x[:-1]
    return x


def recurrence(w: Any) -> Any:
    """Run a small recurrent network."""

    def step(state: Any, row: Any) -> tuple[Any, Any]:
        state = nnp.tanh(w @ state + row)
        return state, (state * state).sum()

    return lax.scan(step, nnp.zeros(8), np.ones((100, 8)))[1].sum()


def report_graph_costs() -> None:
    """Print what tracing, rewriting and planning cost an op, with and without writes."""
    print("\nmicroseconds an op           ops  trace  rewrite  plan  kernels")
    for name, fun in (("functional chain", chain), ("writes through views", written)):
        traced, trace = milliseconds(lambda fun=fun: numhlo.jit(fun).trace(np.ones(8)))
        function = traced.module.main
        count = len(function.body.ops)
        better, rewrite = milliseconds(lambda function=function: optimize(function))
        program, planned = milliseconds(lambda better=better: plan(better))
        per_op = [f"{t / count * 1e3:6.0f}" for t in (trace, rewrite, planned)]
        print(f"{name:24} {count:7} {' '.join(per_op)}  {len(program.kernels):7}")


def report_transformations() -> None:
    """Print how many ops the transformations of a scan have."""
    print("\nops of all functions")
    batch = np.stack([np.eye(8)] * 4)
    for name, fun, w in (
        ("scan", recurrence, np.eye(8)),
        ("grad of it", numhlo.grad(recurrence), np.eye(8)),
        ("vmap of that", numhlo.vmap(numhlo.grad(recurrence)), batch),
    ):
        module = numhlo.jit(fun).trace(w).module
        print(f"{name:14} {sum(len(list(f.body.walk())) for f in module.reachable()):5}")


def report_new_shapes() -> None:
    """Print what a call with a new shape costs once the kernels are there."""
    f = numhlo.jit(lambda x: (nnp.exp(-x * x) * x + nnp.sin(x)).sum(0) / (1 + x.mean()))
    f(np.ones((10, 10)))
    f.wait()
    times = [milliseconds(lambda n=n: f(np.ones((n, n + 1))))[1] for n in range(11, 41)]
    ops = len(f.trace(np.ones((10, 10))).module.main.body.ops)
    print(f"\nnew shape, {ops} ops: {statistics.median(times):.2f} ms")


def report_engines() -> None:
    """Print the first answer, the time until native code, and a steady call, with an empty and a warm cache."""
    print("\nmilliseconds       NumPy  first answer  native after  steady")
    with tempfile.TemporaryDirectory() as folder:
        for label in ("empty cache", "warm cache"):
            command = [sys.executable, "-c", FIRST_ANSWERS]
            environment = {**os.environ, "NUMHLO_CACHE_DIR": folder}
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
            print(f"{label:16} {done.stdout.strip().replace(' ', '      ')}")


def small_work(until: Callable[[], bool]) -> list[float]:
    """Return how long small pieces of NumPy work take until something happens, in microseconds."""
    data, times = np.ones(1000), []
    while not until():
        start = time.perf_counter()
        for _ in range(100):
            (data * 2 + 1).sum()
        times.append((time.perf_counter() - start) * 1e6)
    return times


def source(name: str, seed: int) -> Kernel:
    """Return a kernel of twenty products."""
    return Kernel(name, KERNEL.format(name=name, sum=" + ".join(f"x0 * {k + seed}.5" for k in range(20))))


def report_compilers() -> None:
    """Print how compiling twelve kernels disturbs small NumPy work: in another process, and in a thread of this one."""
    end = time.perf_counter() + 0.5
    alone = statistics.median(small_work(lambda: time.perf_counter() > end))
    seed = int(time.time()) % 100_000
    kernel_cache().request(source("warm_process", seed)).wait(60)
    handles = [kernel_cache().request(source(f"process_{k}", seed + k)) for k in range(12)]
    elsewhere = small_work(lambda: all(h.done for h in handles))
    warm = source("warm_thread", seed)
    compile_source(warm.name, warm.source)
    kernels = [source(f"thread_{k}", seed + k) for k in range(12)]
    thread = threading.Thread(target=lambda: [compile_source(k.name, k.source) for k in kernels])
    thread.start()
    beside = small_work(lambda: not thread.is_alive())
    print("\nsmall NumPy work while 12 kernels compile, slower than alone by a factor: mean, worst")
    for label, times in (("in another process", elsewhere), ("in a thread", beside)):
        print(f"{label:20} {statistics.fmean(times) / alone:6.2f} {max(times) / alone:8.1f}")


if __name__ == "__main__":
    report_graph_costs()
    report_transformations()
    report_new_shapes()
    report_engines()
    report_compilers()
