"""A child that measures one library's start with one program: from the import to steady state; prints JSON.

Seconds: ``import``, until there is a function that can be called; ``first``, from the first call to its result;
``cold``, from the first call until machine code runs (for numhlo later than the first answer); ``new_shape``, what the
first call on another shape takes beyond a later one. ``memory`` is in MB, the most that the process held beyond what it
held before the import. ``compiles`` are kernels.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from benchmarks import calls
from benchmarks.environment import announce, memory
from benchmarks.program import Program
from benchmarks.registry import program
from benchmarks.timing import seconds_of

REPEATS = 5


def kernel_compiles() -> int:
    """Return how many kernels this process has asked the compiler for."""
    module = sys.modules.get("numhlo.backend.kernel_cache")
    return 0 if module is None else module.kernel_cache().compiles


def _later_call(function: Callable[..., Any], arguments: tuple[Any, ...]) -> float:
    return statistics.median(seconds_of(lambda: function(*arguments)) for _ in range(REPEATS))


def measure(found: Program, size: str, library: str) -> dict[str, float]:
    """Return the figures."""
    arguments, others = found.arguments(size), found.arguments("other")
    announce(library)
    before = memory("VmRSS")
    start = time.perf_counter()
    function = calls.make(found, library)
    called = time.perf_counter()
    function(*arguments)
    answered = time.perf_counter()
    calls.wait(function)
    ready = time.perf_counter()
    steady = _later_call(function, arguments)
    compiles = kernel_compiles()
    first_new = seconds_of(lambda: function(*others))
    calls.wait(function)
    return {
        "import": called - start,
        "first": answered - called,
        "cold": ready - called,
        "steady": steady,
        "new_shape": max(0.0, first_new - _later_call(function, others)),
        "compiles": compiles,
        "new_shape_compiles": kernel_compiles() - compiles,
        "memory": memory("VmHWM") - before,
    }


def main() -> None:
    """Measure what the command line names."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.startup", description=__doc__)
    parser.add_argument("program")
    parser.add_argument("size")
    parser.add_argument("library")
    options = parser.parse_args()
    print(json.dumps(measure(program(options.program), options.size, options.library)))


if __name__ == "__main__":
    main()
