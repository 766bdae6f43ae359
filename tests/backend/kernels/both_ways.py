"""`python -m tests.backend.kernels.both_ways`: programs compiled by both front ends, their results and their times.

Each front end has a process and a cache folder of its own. Every program is called several times, with other numbers
each time; results are compared bit for bit. Then the processes time it in turn, in several turns, so that what else the
machine does meanwhile meets both. At the end stands how long the front ends and LLVM take for each kernel.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import pickle
import statistics
import subprocess
import sys
import tempfile
from typing import Any

import numpy as np

from numhlo.backend.front_ends import DIRECT, FRONT_ENDS, NUMBA, VARIABLE
from tests.backend.kernels.one_front_end import exported_names, written_names
from tests.backend.kernels.stages import stages_of

TURNS = 6
LOSS = 0.95


class Process:
    """A process whose kernels go through one front end, with an empty cache."""

    def __init__(self, front_end: str, folder: str) -> None:
        self.folder = tempfile.TemporaryDirectory(dir=folder)
        command = [sys.executable, "-m", "tests.backend.kernels.one_front_end"]
        environment = {**os.environ, VARIABLE: front_end, "NUMHLO_CACHE_DIR": self.folder.name}
        self.popen = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)

    def ask(self, *question: Any) -> None:
        """Ask for something; `answer` gives the answer."""
        assert self.popen.stdin is not None
        pickle.dump(question, self.popen.stdin)
        self.popen.stdin.flush()

    def answer(self) -> Any:
        """Return the answer to the last question."""
        assert self.popen.stdout is not None
        found = pickle.load(self.popen.stdout)
        if isinstance(found, Exception):
            raise found
        return found

    def get(self, *question: Any) -> Any:
        """Return the answer to a question."""
        self.ask(*question)
        return self.answer()

    def close(self) -> None:
        """End the process."""
        assert self.popen.stdin is not None and self.popen.stdout is not None
        self.popen.stdin.close()
        self.popen.stdout.close()
        self.popen.wait()
        self.folder.cleanup()


def compare(processes: dict[str, Process], name: str, size: str) -> tuple[bool, dict[str, float]]:
    """Return whether both front ends give a program's results the same bits, and the seconds until machine code."""
    found = {front_end: process.get("prepare", name, size) for front_end, process in processes.items()}
    results = [results for results, _ in found.values()]
    return all(other == results[0] for other in results), {k: seconds for k, (_, seconds) in found.items()}


def ratio(processes: dict[str, Process], name: str, seconds: float) -> tuple[float, float]:
    """Return how much faster a program is after direct lowering, by medians of turns and by the fastest calls."""
    turns = [{k: process.get("time", name, seconds) for k, process in processes.items()} for _ in range(TURNS)]
    medians = statistics.median(found[NUMBA][0] / found[DIRECT][0] for found in turns)
    best = {k: min(found[k][1] for found in turns) for k in processes}
    return medians, best[NUMBA] / best[DIRECT]


def run(names: list[str], size: str, seconds: float, write: Any) -> tuple[list[str], list[tuple[str, str]]]:
    """Compare programs, write a line for each, and return those whose bits differ and the kernels of all."""
    different, ratios = [], []
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as opened:
        processes = {front_end: Process(front_end, folder) for front_end in FRONT_ENDS}
        for process in processes.values():
            opened.callback(process.close)
        for name in names:
            same, native = compare(processes, name, size)
            line = f"{name:32} {'same bits' if same else 'DIFFERENT':10} native after {native[NUMBA]:6.2f} s "
            line += f"and {native[DIRECT]:6.2f} s"
            if seconds:
                found = ratio(processes, name, seconds / TURNS)
                ratios.append((found, name))
                line += f"; {found[0]:5.2f}x, best {found[1]:5.2f}x{'  slower' if max(found) < LOSS else ''}"
            write(line + "\n")
            different += [] if same else [name]
        kernels, fallbacks = processes[DIRECT].get("kernels")
    write(f"{len(names)} programs, {len(different)} with other bits; {len(kernels)} kernels, ")
    write(f"{len(fallbacks)} of them left to Numba's front end\n")
    for reason in fallbacks:
        write(f"  {reason}\n")
    if ratios:
        means = np.exp(np.log([found for found, _ in ratios]).mean(0))
        worst = min(ratios, key=lambda found: max(found[0]))
        write(
            f"steady, geometric means: {means[0]:.3f}x, best {means[1]:.3f}x; worst {worst[1]} {max(worst[0]):.2f}x\n"
        )
    return different, kernels


def main() -> int:
    """Compare what the command line names, and return 1 if some bits differ."""
    parser = argparse.ArgumentParser(prog="python -m tests.backend.kernels.both_ways", description=__doc__)
    every = [*exported_names(), *written_names()]
    parser.add_argument("--only", nargs="+", default=every, help="names, or beginnings of names")
    parser.add_argument("--size", default="small", choices=["small", "large"])
    parser.add_argument("--seconds", type=float, default=0.0, help="for timing each program in each process")
    parser.add_argument("--stages", action="store_true", help="time the stages of each kernel's compilation")
    given = parser.parse_args()
    names = [name for name in every if name.startswith(tuple(given.only))]

    def write(text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    different, kernels = run(names, given.size, given.seconds, write)
    if given.stages:
        write(stages_of(kernels))
    return int(bool(different))


if __name__ == "__main__":
    sys.exit(main())
