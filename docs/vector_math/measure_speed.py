"""Measures the functions of `numhlo.backend.vector_math`: time per element against NumPy (or SciPy) and scalar libm.

    python docs/vector_math/measure_speed.py [function ...]

Prints rows of a Markdown table: nanoseconds per element of our kernel and how many times longer the others take, one
thread, 100,000 elements in cache, best of many runs. libm is ``math.f`` in a Numba loop, scalar where LLVM has no
vector version of it.
"""

from __future__ import annotations

import ctypes
import math
import sys
import time
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
import numba
import numpy as np
from scipy import special

from numhlo.backend.compiler.kernel_compiler import compile_source, host_target

COUNT = 100_000
SOURCE = """
from numhlo.backend.primitives import address, load_{t}, store_{t}
from numhlo.backend.vector_math import {name}_{t}

def kernel(ctx, bufs, dims, lo, hi):
{pointers}
    for i in range(lo, hi):
        store_{t}(out, i, {name}_{t}({loads}))
"""
CASES: dict[str, tuple[float, float, Any, Any]] = {  # from, to, NumPy's or SciPy's function, libm's
    "exp": (-10, 10, np.exp, math.exp),
    "exp2": (-10, 10, np.exp2, getattr(math, "exp2", None)),
    "expm1": (-10, 10, np.expm1, math.expm1),
    "log": (0.01, 10, np.log, math.log),
    "log2": (0.01, 10, np.log2, math.log2),
    "log10": (0.01, 10, np.log10, math.log10),
    "log1p": (-0.9, 10, np.log1p, math.log1p),
    "tanh": (-6, 6, np.tanh, math.tanh),
    "logistic": (-6, 6, special.expit, None),
    "sinh": (-6, 6, np.sinh, math.sinh),
    "cosh": (-6, 6, np.cosh, math.cosh),
    "sin": (-6, 6, np.sin, math.sin),
    "cos": (-6, 6, np.cos, math.cos),
    "tan": (-6, 6, np.tan, math.tan),
    "asin": (-1, 1, np.arcsin, math.asin),
    "acos": (-1, 1, np.arccos, math.acos),
    "atan": (-6, 6, np.arctan, math.atan),
    "atan2": (-6, 6, np.arctan2, math.atan2),
    "asinh": (-6, 6, np.arcsinh, math.asinh),
    "acosh": (1, 10, np.arccosh, math.acosh),
    "atanh": (-1, 1, np.arctanh, math.atanh),
    "erf": (-4, 4, special.erf, math.erf),
    "erfc": (-4, 10, special.erfc, math.erfc),
    "erf_inv": (-1, 1, special.erfinv, None),
    "pow": (0.1, 10, np.power, math.pow),
    "fmod": (0.1, 10, np.fmod, None),
    "cbrt": (-10, 10, np.cbrt, None),
    "rsqrt": (0.1, 10, None, None),
    "lgamma": (-10, 20, special.gammaln, math.lgamma),
    "digamma": (-10, 20, special.digamma, None),
}
TYPES = {"f32": np.dtype(np.float32), "f64": np.dtype(np.float64)}
ENGINES = []


def best(call: Callable[[], object]) -> float:
    """Return the least seconds of many runs."""
    shortest = math.inf
    for _ in range(15):
        start = time.perf_counter()
        call()
        shortest = min(shortest, time.perf_counter() - start)
    return shortest


def compiled(name: str, t: str, arity: int) -> Callable[[list[np.ndarray]], Callable[[], object]]:
    """Return what binds a compiled kernel to arrays, the result last."""
    pointers = [f"    x{k} = address(bufs, {k})" for k in range(arity)] + [f"    out = address(bufs, {arity})"]
    loads = ", ".join(f"load_{t}(x{k}, i)" for k in range(arity))
    code = compile_source("kernel", SOURCE.format(t=t, name=name, pointers="\n".join(pointers), loads=loads))
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), host_target.__wrapped__().machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    ENGINES.append(engine)
    function = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 5)(engine.get_function_address("kernel"))

    def bind(arrays: list[np.ndarray]) -> Callable[[], object]:
        table = np.array([a.ctypes.data for a in arrays])
        return lambda: (function(0, table.ctypes.data, 0, 0, arrays[0].size), table)

    return bind


def libm(function: Any, arrays: list[np.ndarray]) -> float:
    """Return the seconds that a Numba loop over libm's function takes."""
    if len(arrays) == 2:

        @numba.njit(error_model="numpy")
        def loop(x: np.ndarray, out: np.ndarray) -> None:
            for i in range(x.size):
                out[i] = function(x[i])
    else:

        @numba.njit(error_model="numpy")
        def loop(x: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
            for i in range(x.size):
                out[i] = function(x[i], y[i])

    loop(*arrays)
    return best(lambda: loop(*arrays))


def row(name: str, t: str) -> str:
    """Return one row of the table."""
    low, high, numpy_function, libm_function = CASES[name]
    arity = 2 if name in ("pow", "fmod", "atan2") else 1
    random = np.random.default_rng(0)
    arrays = [random.uniform(low, high, COUNT).astype(TYPES[t]) for _ in range(arity)]
    arrays.append(np.empty(COUNT, TYPES[t]))
    ours = best(compiled(name, t, arity)(arrays))
    others = (
        best(lambda: numpy_function(*arrays[:-1], out=arrays[-1])) if numpy_function else None,
        libm(libm_function, arrays) if libm_function else None,
    )
    cells = [f"{ours / COUNT * 1e9:.2f}", *("" if other is None else f"{other / ours:.1f}" for other in others)]
    return f"| {name} | {t} | {' | '.join(cells)} |"


if __name__ == "__main__":
    np.seterr(all="ignore")
    for case in sys.argv[1:] or CASES:
        for kind in TYPES:
            print(row(case, kind), flush=True)  # noqa: T201 - what the script is for
