"""Textbook NumPy programs, unchanged, beside NumPy, Numba and JAX: `python -m benchmarks.textbook [names]`.

Numba compiles the same text where it can (``numba.njit``), JAX traces it where it can (``np`` standing for
``jax.numpy``: no assignment into arrays, no arguments that change). Results are compared with NumPy's first; whoever
raises, or differs, has no time. Every call gets fresh copies of its arguments, NumPy too.
"""

from __future__ import annotations

import argparse
import copy
import time
import warnings
from collections.abc import Callable
from types import FunctionType
from typing import Any

import jax
import jax.numpy as jnp
import numba
import numpy as np

import numhlo
from benchmarks.environment import pin_threads
from benchmarks.timing import Timing, interleave
from tests.end_to_end import slice_programs, textbook_programs  # noqa: F401 - they add programs
from tests.end_to_end.numpy_programs import PROGRAMS

LARGE = 200
"""The size of programs of whole-array operations."""

SMALL = {
    "edit_distance": 10, "levenshtein": 10, "cheapest_path": 10, "floyd_steinberg": 10, "stencil_by_loops": 14,
    "gauss_seidel": 12, "insertion_sort": 12, "n_body_by_pairs": 8, "hidden_markov_forward": 12, "floyd_warshall": 40,
    "sparse_matrix_vector": 16, "cumulative_statistics": 16, "exponential_smoothing": 20, "kalman_filter": 12, "lu": 24,
    "lattice_boltzmann": 64, "conjugate_gradient": 64, "jacobi_iteration": 64, "attention": 64, "mandelbrot": 100,
}  # fmt: skip
"""Sizes of programs that loop over elements, which tracing unrolls, and of a few costly ones."""

SECONDS = 0.5
"""For each program, all libraries together."""


def agrees(found: Any, expected: Any) -> bool:
    """Return whether results (None where a library can't give one) are NumPy's, up to rounding."""
    leaves, others = jax.tree.leaves(found), jax.tree.leaves(expected)
    return len(leaves) == len(others) and all(
        np.allclose(np.asarray(a), np.asarray(b), rtol=1e-4, atol=1e-5, equal_nan=True)
        for a, b in zip(leaves, others, strict=True)
    )


def with_jax(fun: FunctionType) -> Callable[..., Any]:
    """Return the same text over ``jax.numpy``, jitted."""
    scope = {**fun.__globals__, "np": jnp}
    scope[fun.__name__] = same = FunctionType(fun.__code__, scope, fun.__name__, fun.__defaults__, fun.__closure__)
    jitted = jax.jit(same)

    def call(*arguments: Any) -> Any:
        return jax.block_until_ready(jitted(*arguments))

    return call


def seconds(fun: FunctionType, arguments: tuple[Any, ...]) -> dict[str, Timing]:
    """Return the times of all libraries that give NumPy's results."""
    jitted = numhlo.jit(fun)
    jitted(*copy.deepcopy(arguments))
    jitted.wait()
    expected_arguments = copy.deepcopy(arguments)
    expected = fun(*expected_arguments)
    versions = {"numhlo": jitted, "NumPy": fun, "Numba": numba.njit(fun), "JAX": with_jax(fun)}
    calls = {}
    for name, version in versions.items():
        own = copy.deepcopy(arguments)
        try:
            found = version(*own)
        except Exception:  # noqa: BLE001 - whatever it can't do
            continue
        kept = arguments if name == "JAX" else own
        if agrees(found, expected) and agrees(kept, expected_arguments):
            calls[name] = lambda version=version: version(
                *[x.copy() if isinstance(x, np.ndarray) else x for x in arguments]
            )
    return interleave(calls, SECONDS)


def main() -> None:
    """Print a table of all programs, or of those named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="programs to run, all by default")
    parser.add_argument("--size", type=int, default=0, help=f"of all programs; {LARGE}, or less, by default")
    given = parser.parse_args()
    names = given.names or list(PROGRAMS)
    pin_threads()
    jax.config.update("jax_enable_x64", True)
    warnings.simplefilter("ignore")
    print(
        f"{'program':28}{'size':>5}{'numhlo µs':>11}{'NumPy':>8}{'Numba':>8}{'JAX':>8}   times numhlo's; first call ms"
    )
    ratios: dict[str, list[float]] = {"NumPy": [], "Numba": [], "JAX": []}
    for name in names:
        fun, make = PROGRAMS[name]
        size = given.size or SMALL.get(name, LARGE)
        arguments = make(np.random.default_rng(0), size)
        start = time.perf_counter()
        numhlo.jit(fun)(*copy.deepcopy(arguments))
        first = time.perf_counter() - start
        found = seconds(fun, arguments)  # type: ignore[arg-type]
        ours, shown = found["numhlo"], ""
        for other, row in ratios.items():
            ratio = ours.ratio(found[other]) if other in found else None
            shown += f"{'-' if ratio is None else format(ratio, '.2f'):>9}"
            if ratio is not None:
                row.append(ratio)
        print(f"{name:28}{size:5}{ours.median * 1e6:11.1f}{shown}{first * 1e3:10.0f}", flush=True)
    for other, row in ratios.items():
        mean = float(np.exp(np.mean(np.log(row)))) if row else float("nan")
        print(f"{other}: {len(row)} programs, geometric mean {mean:.2f}, least {min(row, default=0):.2f}")


if __name__ == "__main__":
    main()
