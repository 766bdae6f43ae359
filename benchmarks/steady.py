"""A child that times all libraries on one program and size, once everything is compiled; prints JSON."""

from __future__ import annotations

import argparse
import functools
import json
from collections.abc import Sequence
from typing import Any

from benchmarks import calls
from benchmarks.environment import announce
from benchmarks.program import LIBRARIES, Program
from benchmarks.registry import program
from benchmarks.timing import interleave


def _ready_call(found: Program, size: str, library: str, expected: Any) -> tuple[Any, str]:
    """Return a call without arguments, compiled, and what is wrong with its results."""
    announce(library)
    try:
        function = calls.make(found, library)
        first = calls.check(found, function(*found.arguments(size)), expected)
        calls.wait(function)
        arguments = calls.own_arguments(library, found.arguments(size))
        later = calls.check(found, function(*arguments), expected)
    except Exception as error:  # noqa: BLE001 - any failure is a result to report
        return None, f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    trouble = f"{later} (compiled)" if later else f"{first} (first answer)" if first else ""
    return functools.partial(function, *arguments), trouble


def measure(found: Program, size: str, libraries: Sequence[str], budget: float) -> dict[str, Any]:
    """Return timings by library, and failures of those that were wrong and not timed."""
    expected = calls.make(found, "numpy")(*found.arguments(size))
    made = {library: _ready_call(found, size, library, expected) for library in libraries}
    failures = {library: trouble for library, (_, trouble) in made.items() if trouble}
    announce("timing")
    timings = interleave({k: call for k, (call, _) in made.items() if k not in failures}, budget)
    steady = {k: {"median": t.median, "min": t.best, "spread": t.spread} for k, t in timings.items()}
    own = timings.get("numhlo")
    ratios = {} if own is None else {k: own.ratio(t) for k, t in timings.items() if k != "numhlo"}
    return {"steady": steady, "ratios": ratios, "failures": failures}


def main() -> None:
    """Measure what the command line names."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.steady", description=__doc__)
    parser.add_argument("program")
    parser.add_argument("size")
    parser.add_argument("--seconds", type=float, default=3.0, help="for timing, all libraries together")
    parser.add_argument("--libraries", nargs="+", default=list(LIBRARIES))
    options = parser.parse_args()
    print(json.dumps(measure(program(options.program), options.size, options.libraries, options.seconds)))


if __name__ == "__main__":
    main()
