"""`python -m benchmarks.start`: what a new process spends until it has names, a jitted function, and a first answer.

Milliseconds of the processor, the least of some processes; a row goes on where the one above it ends. Kernels are on
the disk, as in the second process that runs a program. *modules* are numhlo's that are loaded by then.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile

from benchmarks.environment import ROOT, child_environment
from benchmarks.report import grid

PROCESSES = 9
PROGRAM = """
import json, sys, time

def note(stage):
    modules = sum(name.partition(".")[0] == "numhlo" for name in sys.modules)
    found.append((stage, time.process_time(), modules))

found = []
import numpy
note("import numpy")
import numhlo.numpy as np
from numhlo import jit
note("import numhlo.numpy, numhlo.jit")

@jit
def network(x, w, b):
    h = np.tanh(x @ w + b)
    h = h - h.mean(axis=0)
    return (np.exp(-(h**2)) * np.where(h > 0, h, 0.1 * h)).sum(axis=1)

note("jit(function)")
network(numpy.ones((64, 32), "float32"), numpy.ones((32, 16), "float32"), numpy.ones(16, "float32"))
note("the first answer")
if len(sys.argv) > 1:
    network.wait()
print(json.dumps(found))
"""


def stages(folder: str, *arguments: str) -> list[tuple[str, float, int]]:
    """Return what a new process has spent until each stage, in seconds, and numhlo's modules that it has loaded."""
    environment = {**child_environment(""), "NUMHLO_CACHE_DIR": folder, "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", PROGRAM, *arguments]
    done = subprocess.run(command, env=environment, cwd=ROOT, check=True, capture_output=True, text=True)
    return [(stage, seconds, modules) for stage, seconds, modules in json.loads(done.stdout)]


def measure(processes: int = PROCESSES) -> list[tuple[str, float, float, int]]:
    """Return for each stage its own milliseconds, those until its end, and the modules loaded by then."""
    with tempfile.TemporaryDirectory() as folder:
        stages(folder, "wait")
        runs = [stages(folder) for _ in range(processes)]
    rows = []
    for number, (stage, _, modules) in enumerate(runs[0]):
        own = min(run[number][1] - (run[number - 1][1] if number else 0.0) for run in runs)
        rows.append((stage, own * 1e3, min(run[number][1] for run in runs) * 1e3, modules))
    return rows


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.start", description=__doc__)
    parser.add_argument("--processes", type=int, default=PROCESSES)
    measured = measure(parser.parse_args().processes)
    rows = [[stage, f"{own:.0f}", f"{until:.0f}", str(modules)] for stage, own, until, modules in measured]
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
    print(grid(["", "ms", "until here", "modules"], rows))


if __name__ == "__main__":
    main()
