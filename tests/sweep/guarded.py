"""The sweep with guard pages around every buffer: ``python -m tests.sweep.guarded --help``.

Programs run in a process of their own. One that reads or writes beyond a buffer ends it, and the sweep goes on with the
next program in another one.
"""

from __future__ import annotations

import argparse
import faulthandler
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence

import numpy as np

import numhlo
from numhlo import stablehlo
from tests.sweep import combining, control, elementwise, extremes, moving
from tests.sweep.program import Program
from tests.sweep.sweep import differ, interpreted, make

SETS = {
    "elementwise": elementwise.MAKERS,
    "moving": moving.MAKERS,
    "combining": combining.MAKERS,
    "control": control.MAKERS,
    "extremes": extremes.MAKERS,
}
SIDES = ("after", "before")


def faults_of(program: Program, side: str) -> Iterator[str]:
    """Yield in which results machine code between guard pages differs from the interpreter."""
    expected = interpreted(program)
    with numhlo.debugging(tier0=False, guard_pages=side):
        found = stablehlo.Module(program.module()).run("main", *program.arrays)
    for k, (x, y) in enumerate(zip(found, expected, strict=True)):
        text = differ(np.asarray(x), np.asarray(y), program.errors[k])
        if text:
            yield f"{program.makers[k]} {program.returns[k].owner!r}: {text}"


def run_here(seeds: Sequence[int], names: Sequence[str], ops: int, seconds: float) -> None:
    """Run programs in this process, each with pages on both sides, and say before each which one it is."""
    faulthandler.enable()
    makers = [maker for name in names for maker in SETS[name]]
    end = time.monotonic() + seconds
    for seed in seeds:
        if time.monotonic() > end:
            return
        for side in SIDES:
            sys.stdout.write(f"seed {seed}, page {side}\n")
            sys.stdout.flush()
            for text in faults_of(make(seed, ops, makers), side):
                sys.stdout.write(f"fault {text}\n")
    sys.stdout.write("all done\n")


def sweep(seeds: range, names: Sequence[str], ops: int, seconds: float) -> tuple[int, list[str]]:
    """Return how many programs ran in other processes, and what was found, with the seed that repeats it."""
    end, found, first = time.monotonic() + seconds, [], seeds.start
    while first < seeds.stop and time.monotonic() < end:
        command = [sys.executable, "-m", "tests.sweep.guarded", "--child", "--sets", *names, "--ops", str(ops)]
        command += ["--seed", str(first), "--programs", str(seeds.stop - first)]
        command += ["--seconds", str(end - time.monotonic())]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds + 600)
        at = ""
        for line in done.stdout.splitlines():
            if line.startswith("seed"):
                at, first = line, int(line.split()[1].strip(",")) + 1
            elif line.startswith("fault"):
                found.append(f"{at}: {line.removeprefix('fault ')}")
        if done.returncode == 0:
            break
        found.append(f"{at}: exit code {done.returncode}\n{done.stderr[-1500:]}")
        if not at:
            break
    return first - seeds.start, found


def main() -> int:
    """Run programs for a while, and return 1 if something was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.sweep.guarded", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0, help="of the first program; the others follow")
    parser.add_argument("--programs", type=int, default=1_000_000)
    parser.add_argument("--ops", type=int, default=8, help="in each program")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--child", action="store_true", help="run in this process")
    given = parser.parse_args()
    seeds = range(given.seed, given.seed + given.programs)
    if given.child:
        run_here(seeds, given.sets, given.ops, given.seconds)
        return 0
    count, found = sweep(seeds, given.sets, given.ops, given.seconds)
    for text in found:
        sys.stdout.write(text + "\n")
    sys.stdout.write(f"{count} programs, {len(found)} findings\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
