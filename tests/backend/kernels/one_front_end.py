"""A process whose kernels go through one front end: runs programs, and times them when it is asked to.

Started by `tests.backend.kernels.both_ways`. Questions come in by standard input, pickled: the name of a method of
`Programs` and its arguments; answers go out by standard output.
"""

import os
import pickle
import statistics
import sys
import time
import warnings

import jax
import numpy as np

from benchmarks import calls
from benchmarks.exported_programs import PROGRAMS
from benchmarks.registry import all_programs, program
from numhlo import stablehlo
from numhlo.backend.compiler.service import compiler_service
from numhlo.backend.kernel_cache import kernel_cache

CALLS = 4


def exported_names():
    """Return the names of programs that JAX exports."""
    return [f"exported.{name}" for name in PROGRAMS]


def written_names():
    """Return the names of programs written with NumPy's names."""
    return [f"written.{found.name}" for found in all_programs()]


def rolled(array, call):
    """Return an argument for one of several calls: other numbers in other places, of which the program knows none."""
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "fc" or not array.ndim:
        return array
    return np.roll(array, call, axis=0) * array.dtype.type(1 + call / 8)


class Programs:
    """The programs that this process has compiled."""

    def __init__(self):
        self.calls = {}

    def prepare(self, name, size):
        """Compile a program and return what each call gives, and the seconds until all of it was machine code."""
        run, wait, arguments = (exported if name.startswith("exported.") else written)(name.partition(".")[2], size)
        start = time.perf_counter()
        run(*arguments)
        wait()
        seconds = time.perf_counter() - start
        results = [leaves(run(*[rolled(a, call) for a in arguments])) for call in range(CALLS)]
        self.calls[name] = lambda: run(*arguments)
        return results, seconds

    def time(self, name, seconds):
        """Return the median and the least time of a call."""
        call, found, end = self.calls[name], [], time.perf_counter() + seconds
        while time.perf_counter() < end or len(found) < CALLS:
            start = time.perf_counter()
            call()
            found.append(time.perf_counter() - start)
        return statistics.median(found), min(found)

    def kernels(self):
        """Return the names and sources of all kernels that were compiled, and why some were left to Numba."""
        found = [(kernel.name, kernel.source) for kernel in list(kernel_cache()._handles)]
        return found, list(compiler_service().fallbacks.values())


def leaves(results):
    """Return results' types and bytes."""
    return [(x.dtype.str, x.shape, x.tobytes()) for x in map(np.asarray, jax.tree.leaves(results))]


def exported(name, size):
    """Return a call, a wait for its machine code, and arguments of a program that JAX exports."""
    make, small, large = PROGRAMS[name]
    function, arguments = make(large if size == "large" else small)
    module = stablehlo.parse(jax.jit(function).lower(*arguments).as_text(), name)

    def wait():
        for made in module.functions["main"].programs.values():
            made.wait()

    return lambda *a: module.run("main", *a), wait, [np.asarray(x) for x in jax.tree.leaves(arguments)]


def written(name, size):
    """Return a call, a wait for its machine code, and arguments of a program written with NumPy's names."""
    found = program(name)
    function = calls.make(found, "numhlo")
    return function, lambda: calls.wait(function), found.arguments(size)


def main():
    """Answer questions until there are no more."""
    warnings.simplefilter("error")
    jax.config.update("jax_enable_x64", True)
    programs = Programs()
    with os.fdopen(os.dup(1), "wb") as sink:
        sys.stdout = sys.stderr
        while True:
            try:
                method, *arguments = pickle.load(sys.stdin.buffer)
            except EOFError:
                return
            try:
                answer = getattr(programs, method)(*arguments)
            except Exception as error:  # noqa: BLE001 - whoever asked is told
                answer = error
            pickle.dump(answer, sink)
            sink.flush()


if __name__ == "__main__":
    main()
