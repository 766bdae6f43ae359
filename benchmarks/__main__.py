"""`python -m benchmarks`: numhlo, JAX on the CPU, hand-written Numba and NumPy on the same programs and threads.

Steady state is timed in one process for all libraries, taking turns; starts are timed in a process for each library
with empty caches, and for numhlo in a second one with the cache that the first one left. Results are checked before
timing. Writes a table, JSON and a plot; fails where numhlo was wrong, crashed or hung.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import imports, report
from benchmarks.environment import ROOT, machine, pin_threads, run_child
from benchmarks.program import LIBRARIES, Program, select
from benchmarks.registry import all_programs

RESULTS = ROOT / "benchmarks" / "results"
STARTUP_SECONDS, STEADY_SECONDS = 120.0, 240.0
"""After which a child counts as hung."""


def steady(program: Program, size: str, budget: float, cache: str) -> dict[str, Any]:
    """Time all libraries; where one crashes or hangs, note it and time the others without it."""
    libraries, failed = list(LIBRARIES), {}
    while True:
        arguments = [program.name, size, "--seconds", str(budget), "--libraries", *libraries]
        outcome = run_child("benchmarks.steady", arguments, cache, STEADY_SECONDS)
        if not outcome.failure:
            found: dict[str, Any] = json.loads(outcome.output)
            found["failures"] |= failed
            return found
        guilty = outcome.library if outcome.library in libraries else libraries[0]
        failed[guilty] = outcome.failure
        libraries.remove(guilty)
        if not libraries:
            return {"steady": {}, "ratios": {}, "failures": failed}


def startup(program: Program, size: str, library: str, cache: str) -> dict[str, Any]:
    """Measure one library's start."""
    outcome = run_child("benchmarks.startup", [program.name, size, library], cache, STARTUP_SECONDS)
    return {"failure": outcome.failure} if outcome.failure else json.loads(outcome.output)


def startups(program: Program, size: str, cache: str, libraries: Sequence[str] = report.STARTING) -> dict[str, Any]:
    """Measure all starts, numhlo's a second time with the cache that the first one left."""
    found = {library: startup(program, size, library, cache) for library in libraries}
    found["numhlo warm"] = startup(program, size, "numhlo", cache)
    return found


def measure(programs: Sequence[Program], *, quick: bool) -> dict[str, Any]:
    """Measure programs one by one and show each as it is done."""
    sizes = ("small",) if quick else ("small", "large")
    results: dict[str, Any] = {
        "machine": machine(),
        "imports": imports.measure(3 if quick else imports.TURNS),
        "notes": {p.name: p.note for p in programs if p.note},
        "steady": {},
        "startup": {},
    }
    for number, program in enumerate(programs, 1):
        print(f"[{number}/{len(programs)}] {program.name} ...", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory() as cache:
            results["startup"][program.name] = startups(program, "small", cache)
            budget = 1.0 if quick else 4.0
            results["steady"][program.name] = {size: steady(program, size, budget, cache) for size in sizes}
        print(report.steady_table({"steady": {program.name: results["steady"][program.name]}}), file=sys.stderr)
    return results


def main() -> int:
    """Measure, show and write; return 1 where numhlo failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="programs whose name begins so")
    parser.add_argument("--quick", action="store_true", help="small sizes only, less time for each")
    parser.add_argument("--json", type=Path, default=RESULTS / "latest.json", metavar="FILE")
    options = parser.parse_args()
    pin_threads()
    results = measure(select(all_programs(), options.only), quick=options.quick)
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(results, indent=1), encoding="utf-8")
    picture = options.json.with_suffix(".png")
    report.plot(results, picture)
    print(report.text(results))
    print(f"\nwritten: {options.json}, {picture}")
    return 1 if any(": numhlo" in line for line in report.failures(results)) else 0


if __name__ == "__main__":
    sys.exit(main())
