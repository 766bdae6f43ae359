"""A child of `cold`: one library, which runs programs from time 0 on and says when each answer was there.

Requests are lines of JSON on standard input, answers are lines on standard output. A process that is asked once
measures a cold start; one that has been asked before is a notebook. Times are seconds since time 0: the library is
imported then, and the arguments are made.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.calls import module_of
from benchmarks.cold_programs import STEADY_SECONDS, Call, export, prepare

THINNING = 1.005
"""Of answers this much later than the last one noted, in numbers, one is noted."""
Settled = Callable[[], bool]
"""Returns whether all code that will run is there."""


def watch(call: Call, start: float, seconds: float, settled: Settled) -> tuple[list[tuple[int, float]], list[Any]]:
    """Call again and again, for a while and until nothing more will change.

    Returns numbers and times of answers, thinned out later on, and the first and the last answer.
    """
    clock, noted = time.perf_counter, []
    end, count, following = start + seconds, 1, 1
    was_settled = False
    first = last = call()
    while True:
        now = clock()
        if count >= following or now >= end:
            noted.append((count, now - start))
            following = max(count + 1, int(count * THINNING))
            if now >= end:
                if was_settled:
                    return noted, [first, last]
                was_settled, end = settled(), now + STEADY_SECONDS
        last = call()
        count += 1


def kernels() -> list[Any]:
    """Return the handles of numhlo's kernels."""
    found: list[Any] = module_of("numhlo.backend.kernel_cache").kernel_cache().handles()
    return found


def measure(library: str, folder: Path, name: str, seconds: float) -> dict[str, Any]:
    """Return one program's times; its results go to a file beside its text."""
    begin = prepare(name, library, folder)
    start = time.perf_counter()
    settled = (lambda: all(handle.done for handle in kernels())) if library == "numhlo" else lambda: True
    noted, results = watch(begin(), start, seconds, settled)
    came = [(h.kernel.name, h.arrived - start) for h in kernels() if h.arrived > start] if library == "numhlo" else []
    tree = module_of("jax" if library == "jax" else "numhlo.tree")
    leaves = (tree.tree if library == "jax" else tree).leaves(results)
    np.savez(folder / f"{name}.{library}.results.npz", *map(np.asarray, leaves))
    return {"answers": noted, "kernels": came}


def main() -> None:
    """Answer requests until there are no more."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cold_child", description=__doc__)
    parser.add_argument("library", choices=("numhlo", "jax"))
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what programs print goes elsewhere
    for line in sys.stdin:
        request = json.loads(line)
        answer: dict[str, Any] = {}
        if "export" in request:
            export(request["export"], options.folder)
        else:
            answer = measure(options.library, options.folder, request["name"], request["seconds"])
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
