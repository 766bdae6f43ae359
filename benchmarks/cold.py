"""`python -m benchmarks.cold`: programs that nobody has compiled, called again and again from time 0, beside XLA.

A process of its own for each library and program, one after the other, so that noise hits both; time 0 is when the
library is imported and the arguments are made. Forms, each a table:

- ``empty``: no kernel is cached.
- ``warm``: the process before this one has left its caches, numhlo's and XLA's.
- ``notebook``: a process that has compiled twenty other programs; libraries take turns, program by program.
- ``load``: as ``empty``, while other processes keep every core busy.

An installation that ``python -m numhlo cache prepare --package`` has prepared has the runtime's own kernels, and
functions of vector math. Says how much later XLA gave its k-th answer, k being how many it had given at a checkpoint,
and when numhlo's last kernel was machine code. Writes JSON and, with ``--picture``, the curve over time.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cold_curve import curve, picture, table
from benchmarks.cold_programs import BEFORE, NAMES, QUICK
from benchmarks.environment import ROOT, THREADS, child_environment, machine, pin_threads
from benchmarks.program import difference
from numhlo.backend.disk_cache import PREPARED

FORMS = ("empty", "warm", "notebook", "load")
LIBRARIES = ("numhlo", "jax")
SECONDS = 5.5
SHORT = 0.01
TOLERANCES = {2: 2e-2, 4: 1e-3, 8: 1e-7}
"""By bytes of an element, relative to a result's largest number, for sums in another order."""
BUSY = "while True: pass"


class Child:
    """A process of one library that answers requests.

    Parameters
    ----------
    library : str
    folder : Path
        Where programs are, and results go.
    cache : str
        The folder of this library's cache, or "" for none.
    """

    def __init__(self, library: str, folder: Path, cache: str = "") -> None:
        of_jax = {
            "JAX_COMPILATION_CACHE_DIR": cache,
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
            "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        }
        more = of_jax if cache and library == "jax" else {}
        self.popen = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.cold_child", library, str(folder)],
            env=child_environment(cache if library == "numhlo" else "", **more),
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, **request: Any) -> dict[str, Any]:
        """Return the answer to a request."""
        assert self.popen.stdin is not None
        assert self.popen.stdout is not None
        print(json.dumps(request), file=self.popen.stdin, flush=True)
        line = self.popen.stdout.readline()
        if not line:
            raise SystemExit(f"a child ended with {self.popen.wait()} at {request}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """Let it end."""
        self.popen.communicate()


@contextlib.contextmanager
def busy_cores(count: int) -> Iterator[None]:
    """Keep so many cores busy."""
    others = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(count)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def fresh(library: str, folder: Path, name: str, seconds: float, *, warm: bool) -> dict[str, Any]:
    """Measure a program in a new process, whose cache is empty, or what another process has left."""
    with tempfile.TemporaryDirectory() as cache:
        for duration in (*((SHORT,) if warm else ()), seconds):
            child = Child(library, folder, cache if library == "numhlo" or warm else "")
            found = child.ask(name=name, seconds=duration)
            child.close()
    return found


def trouble(folder: Path, name: str) -> str:
    """Return how numhlo's first or last result differs from XLA's, or nothing."""
    with (
        np.load(folder / f"{name}.numhlo.results.npz") as own,
        np.load(folder / f"{name}.jax.results.npz") as other,
    ):
        if len(own.files) != len(other.files):
            return f"{len(own.files)} arrays instead of {len(other.files)}"
        for key in own.files:
            distance = difference(own[key], other[key])
            if not distance <= TOLERANCES.get(other[key].real.dtype.itemsize, 0.0):
                return f"by {distance:.1e}"
    return ""


def row(found: dict[str, dict[str, Any]], folder: Path, name: str) -> dict[str, Any]:
    """Return what was measured of one program, and whether results agree."""
    kernels = found["numhlo"]["kernels"]
    return {
        **{library: found[library]["answers"] for library in LIBRARIES},
        "kernels": kernels,
        "native": max((time for _, time in kernels), default=found["numhlo"]["answers"][0][1]),
        "trouble": trouble(folder, name),
    }


def measure(form: str, names: Sequence[str], folder: Path, seconds: float) -> dict[str, Any]:
    """Measure one form, program by program."""
    rows: dict[str, Any] = {}
    with contextlib.ExitStack() as held:
        notebook: dict[str, Child] = {}
        if form == "load":
            held.enter_context(busy_cores(len(os.sched_getaffinity(0))))
        if form == "notebook":
            for library in LIBRARIES:
                cache = held.enter_context(tempfile.TemporaryDirectory())
                notebook[library] = child = Child(library, folder, cache if library == "numhlo" else "")
                held.callback(child.close)
                for name in BEFORE:
                    child.ask(name=name, seconds=SHORT)
        for number, name in enumerate(names, 1):
            print(f"{form} [{number}/{len(names)}] {name} ...", file=sys.stderr, flush=True)
            found = {}
            for library in LIBRARIES[:: 1 if number % 2 else -1]:
                if notebook:
                    found[library] = notebook[library].ask(name=name, seconds=seconds)
                else:
                    found[library] = fresh(library, folder, name, seconds, warm=form == "warm")
            rows[name] = row(found, folder, name)
    return rows


def main() -> int:
    """Measure, show and write; return 1 where a result was wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cold", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=NAMES, metavar="NAME", help="these programs")
    parser.add_argument("--quick", action="store_true", help="eight programs, empty caches")
    parser.add_argument("--forms", nargs="+", choices=FORMS)
    parser.add_argument("--load", action="store_true", help="the same as --forms load")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for each library and program, at least")
    parser.add_argument("--cores", type=int, default=THREADS, help="of the processor, for everybody")
    parser.add_argument("--json", type=Path, default=ROOT / "benchmarks" / "results" / "cold.json", metavar="FILE")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="where to draw the curve (SVG)")
    options = parser.parse_args()
    pin_threads(options.cores)
    names = options.only or (QUICK if options.quick else NAMES)
    forms = ("load",) if options.load else options.forms or (FORMS[:1] if options.quick else FORMS)
    load = os.getloadavg()[0]
    prepared = "prepared" if PREPARED.is_dir() else "not prepared"
    cores = f"{len(os.sched_getaffinity(0))} of {os.cpu_count()} cores"
    conditions = f"{cores}, load {load:.1f} before, installation {prepared}"
    results: dict[str, Any] = {"machine": machine(), "conditions": conditions, "forms": {}}
    with tempfile.TemporaryDirectory() as given:
        folder = Path(given)
        exporting = Child("jax", folder)
        exporting.ask(export=list(names))
        exporting.close()
        for form in forms:
            rows = results["forms"][form] = measure(form, names, folder, options.seconds)
            print(f"\n{form} ({conditions})\n{table(rows)}", flush=True)
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(results), encoding="utf-8")
    if options.picture is not None:
        curves = {form: curve(rows) for form, rows in results["forms"].items()}
        caption = f"{len(names)} programs, geometric mean; {conditions}"
        options.picture.write_text(picture(curves, caption), encoding="utf-8")
    return int(any(found["trouble"] for rows in results["forms"].values() for found in rows.values()))


if __name__ == "__main__":
    sys.exit(main())
