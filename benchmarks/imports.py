"""What importing costs: each library in new processes, taking turns."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

from benchmarks.environment import ROOT, child_environment

IMPORTS = {
    "numpy": "import numpy",
    "numhlo": "from numhlo import jit; jit(len)",  # what traces is loaded for the first function, not with the names
    "numba": "import numba",
    "jax": "import jax",
}
TURNS = 5


def _seconds(statement: str) -> float:
    """Return the seconds from the start of an interpreter to its end, with one statement in it."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], env=child_environment(""), cwd=ROOT, check=True)
    return time.perf_counter() - start


def measure(turns: int = TURNS) -> dict[str, float]:
    """Return the median seconds that importing each library adds to an interpreter's start."""
    statements = {"": "pass", **IMPORTS}
    found: dict[str, list[float]] = {library: [] for library in statements}
    for _ in range(turns):
        for library, statement in statements.items():
            found[library].append(_seconds(statement))
    bare = statistics.median(found.pop(""))
    return {library: statistics.median(seconds) - bare for library, seconds in found.items()}
