"""Programs that are written for JAX, unchanged, beside JAX: `python -m benchmarks.written_for_jax`.

`numhlo.compat.jax` stands for ``jax``. Results, numhlo's first answer and what machine code gives, are compared with
JAX's before anything is timed. The libraries take turns on two threads, or on one with ``--cores 1``; a ratio is how
many times longer JAX takes, of each library's best time: the machine may be busy.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from benchmarks.calls import module_of
from benchmarks.environment import THREADS, pin_threads
from benchmarks.program import difference, select
from benchmarks.side_by_side import Calls, best_times
from benchmarks.written_arrays import ARRAYS
from benchmarks.written_data import Written
from benchmarks.written_networks import NETWORKS

PROGRAMS = [*NETWORKS, *ARRAYS]

TOLERANCES = {np.dtype(np.float32): 1e-3}
"""Relative to a result's largest number, by element type, for sums in another order; for other types 1e-7."""


def differs(found: Any, wanted: Any, signs: bool) -> str:
    """Return what is wrong with a result, or nothing."""
    jax = module_of("jax")
    leaves, others = jax.tree.leaves(found), jax.tree.leaves(wanted)
    if len(leaves) != len(others):
        return f"has {len(leaves)} arrays instead of {len(others)}"
    for leaf, other in zip(map(np.asarray, leaves), map(np.asarray, others), strict=True):
        if leaf.dtype != other.dtype:
            return f"is {leaf.dtype} instead of {other.dtype}"
        parts = (leaf, other) if signs else (np.abs(leaf), np.abs(other))
        if other.dtype.kind == "c":
            parts = tuple(np.stack([part.real, part.imag]) for part in parts)
        distance = difference(*parts)
        if distance > TOLERANCES.get(other.dtype, 1e-7):
            return f"differs by {distance:.1e}"
    return ""


def made(program: Written) -> tuple[Calls, str]:
    """Return each library's call, compiled, and what is wrong with numhlo's results, if something is."""
    numhlo, jax = module_of("numhlo.compat.jax"), module_of("jax")
    for library in (numhlo, jax):
        library.config.update("jax_enable_x64", True)
    own = numhlo.jit(lambda *arguments: program.compute(numhlo, *arguments))
    theirs = jax.jit(lambda *arguments: program.compute(jax, *arguments))
    given = numhlo.tree.map(numhlo.numpy.asarray, program.arguments())
    placed = jax.tree.map(jax.numpy.asarray, program.arguments())
    wanted = theirs(*placed)
    wrong = differs(own(*given), wanted, program.signs)
    own.wait()
    wrong = wrong or differs(own(*given), wanted, program.signs)
    calls: dict[str, Callable[[], Any]] = {
        "numhlo": lambda: own(*given),
        "jax": lambda: jax.block_until_ready(theirs(*placed)),
    }
    return calls, wrong


def rows_of(programs: Iterable[Written]) -> Iterator[tuple[str, Calls, str]]:
    """Yield the rows of the table; a program whose result is wrong has no times."""
    for program in programs:
        calls, wrong = made(program)
        yield program.name, {} if wrong else calls, wrong


def main() -> None:
    """Print a table of times."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.written_for_jax", description=__doc__)
    parser.add_argument("--only", nargs="+", default=[], help="programs whose name begins so")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each program")
    parser.add_argument("--cores", type=int, default=THREADS, help="of the processor, for everybody")
    options = parser.parse_args()
    os.environ |= {"JAX_PLATFORMS": "cpu", "OMP_NUM_THREADS": str(options.cores)}
    pin_threads(options.cores)
    print(best_times(rows_of(select(PROGRAMS, options.only)), ("numhlo", "jax"), options.seconds, summary=True))


if __name__ == "__main__":
    main()
