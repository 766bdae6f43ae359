"""One table for what the libraries do in turns: the commands of this folder that time calls side by side print it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from benchmarks.report import grid, seconds, times
from benchmarks.timing import interleave

Calls = Mapping[str, Callable[[], Any]]
"""One compiled call for each library that can do it."""


def best_times(rows: Iterable[tuple[str, Calls, str]], libraries: Sequence[str], budget: float) -> str:
    """Return a table of best times, and of how many times longer than the first library the others take.

    Parameters
    ----------
    rows : iterable of (str, mapping, str)
        What is done, each library's call, and what is wrong with a result, if something is. A row is made when its
        turn comes, and written to standard error when it is measured.
    libraries : sequence of str
        Columns; numhlo comes first.
    budget : float
        Seconds for each row.
    """
    own, *others = libraries
    lines = []
    for name, calls, wrong in rows:
        best = {library: timing.best for library, timing in interleave(calls, budget).items()}
        ratios = [times(best[library] / best[own] if library in best else None) for library in others]
        lines.append([name, *(seconds(best.get(library)) for library in libraries), *ratios, wrong])
        print("  ".join(lines[-1]), file=sys.stderr, flush=True)
    return grid(["best of rounds", *libraries, *[f"{library}/{own}" for library in others], "differs"], lines)
