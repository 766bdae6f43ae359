"""``python -m tests.compat.libraries.times``: three programs from end to end, JAX's time and what it prints beside ours."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

FOLDER = Path(__file__).parent / "programs"
PROGRAMS = ("digits", "eight_schools", "robertson")


def timed(program: str, *options: str) -> tuple[float, str]:
    """Return the seconds of a process that runs a program, and what it printed."""
    command = [sys.executable, "-W", "ignore", *options, str(FOLDER / f"{program}_program.py")]
    begun = time.perf_counter()
    found = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, "JAX_PLATFORMS": "cpu"}, cwd=FOLDER
    )
    return time.perf_counter() - begun, " ".join(found.stdout.split())


def main() -> None:
    """Run the programs, each under JAX and with our modules in its place, in a process of its own."""
    for program in PROGRAMS:
        for name, options in (("jax", ()), ("numhlo", ("-m", "numhlo.compat.jax"))):
            seconds, printed = timed(program, *options)
            print(f"{program:15}{name:8}{seconds:6.1f} s  {printed}", flush=True)  # noqa: T201 - a command's answer


if __name__ == "__main__":
    main()
