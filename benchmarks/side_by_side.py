"""One table for what the libraries do in turns: the commands of this folder that time calls side by side print it."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from benchmarks.report import grid, seconds, times
from benchmarks.timing import interleave

Calls = Mapping[str, Callable[[], Any]]
"""One compiled call for each library that can do it."""


def best_times(
    rows: Iterable[tuple[str, Calls, str]], libraries: Sequence[str], budget: float, *, summary: bool = False
) -> str:
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
    summary : bool
        Whether the geometric mean of each column of ratios follows, and the least one.
    """
    own, *others = libraries
    lines = []
    found: dict[str, dict[str, float]] = {library: {} for library in others}
    for name, calls, wrong in rows:
        best = {library: timing.best for library, timing in interleave(calls, budget).items()}
        for library in set(others) & set(best):
            found[library][name] = best[library] / best[own]
        ratios = [times(found[library].get(name)) for library in others]
        lines.append([name, *(seconds(best.get(library)) for library in libraries), *ratios, wrong])
        print("  ".join(lines[-1]), file=sys.stderr, flush=True)
    table = grid(["best of rounds", *libraries, *[f"{library}/{own}" for library in others], "differs"], lines)
    ends = [f"{library}/{own}: {summary_of(ratios)}" for library, ratios in found.items() if summary and ratios]
    return "\n".join([table, *ends])


def summary_of(ratios: Mapping[str, float]) -> str:
    """Return how many ratios there are, their geometric mean, and the least one.

    Examples
    --------
    >>> summary_of({"sum": 2.0, "sort": 0.5, "fft": 8.0})
    '3 rows, geometric mean 2.00x, least 0.50x (sort), 1 below 0.9'
    """
    least = min(ratios, key=lambda name: ratios[name])
    mean = statistics.geometric_mean(ratios.values())
    slow = sum(ratio < 0.9 for ratio in ratios.values())
    return f"{len(ratios)} rows, geometric mean {times(mean)}, least {times(ratios[least])} ({least}), {slow} below 0.9"
