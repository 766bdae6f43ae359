"""The conditions that all measurements share: two threads for everybody, 64-bit types, no caches of earlier runs.

Children get them as environment variables and CPU affinity, since libraries read these once, when they are imported.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
THREADS = 2
SPINNING = "18"
"""Logarithm of the cycles that idle threads of NumPy's BLAS spin: 0.1 ms, less than the pause between functions.

Usually it is 26, some 25 ms, in which whoever comes next has one of two cores: an MLP of 256 x 784 took numhlo 2.9
instead of 1.65 ms, JAX 2.3 instead of 1.9, Numba's threads 16 instead of 3.5, and NumPy itself 1.5 both ways.
"""
WAITING = "@"
"""Begins a line on a child's error stream that says which library it is about to run."""


class Outcome(NamedTuple):
    """What became of a child.

    Attributes
    ----------
    output : str
        Its standard output, empty where it failed.
    failure : str
        Why there is no output: a crash or a hang, and in which library; empty where there is one.
    library : str
        What it ran last.
    """

    output: str
    failure: str
    library: str


def child_environment(cache: str, **more: str) -> dict[str, str]:
    """Return a child's environment: threads for all libraries, and numhlo's cache folder (empty: none)."""
    threads = str(THREADS)
    shared = {
        "JAX_ENABLE_X64": "1",
        "JAX_PLATFORMS": "cpu",
        "MKL_NUM_THREADS": threads,
        "NUMBA_NUM_THREADS": threads,
        "NUMHLO_CACHE_DIR": cache,
        "NUMHLO_ENGINE": "compiled",
        "OMP_NUM_THREADS": threads,
        "OPENBLAS_NUM_THREADS": threads,
        "OPENBLAS_THREAD_TIMEOUT": SPINNING,
        "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]),
    }
    others = ("JAX_", "NUMBA_", "NUMHLO_", "PYTHONDONTWRITEBYTECODE")  # users' imports read bytecode
    kept = {k: v for k, v in os.environ.items() if not k.startswith(others)}
    return {**kept, **shared, **more}


def pin_threads(count: int = THREADS) -> None:
    """Keep this process and its children on so many CPUs, where the system can: JAX has no other way to be limited."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:count])


def run_child(module: str, arguments: Sequence[str], cache: str, seconds: float) -> Outcome:
    """Run a module of this package in a process of its own."""
    command = [sys.executable, "-m", module, *arguments]
    try:
        done = subprocess.run(
            command,
            env=child_environment(cache),
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired as expired:
        shown = expired.stderr or b""
        text = shown if isinstance(shown, str) else shown.decode(errors="replace")
        return Outcome("", f"hang: no end after {seconds:.0f} s", _last_library(text))
    if done.returncode == 0:
        return Outcome(done.stdout, "", "")
    last = next((line for line in reversed(done.stderr.splitlines()) if line and not line.startswith(WAITING)), "")
    return Outcome("", f"crash: exit status {done.returncode}: {last}", _last_library(done.stderr))


def announce(library: str) -> None:
    """Say, in a child, which library runs next: if nothing follows, that was the culprit."""
    print(f"{WAITING}{library}", file=sys.stderr, flush=True)


def _last_library(errors: str) -> str:
    found = [line.removeprefix(WAITING) for line in errors.splitlines() if line.startswith(WAITING)]
    return found[-1] if found else ""


def memory(field: str) -> float:
    """Return a figure of this process's memory, in MB: ``VmRSS`` is what it holds, ``VmHWM`` the most that it held.

    Linux only, NaN elsewhere: what other systems report as a maximum includes the parent's memory.
    """
    status = Path("/proc/self/status")
    if not status.exists():
        return float("nan")
    line = next(line for line in status.read_text(encoding="ascii").splitlines() if line.startswith(field))
    return int(line.split()[1]) / 1024


def machine() -> dict[str, Any]:
    """Return what the figures depend on: processor, system, versions."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    packages = ("numpy", "numba", "llvmlite", "jax", "jaxlib", "scipy")
    return {
        "processor": names[0] if names else platform.processor(),
        "threads": THREADS,
        "system": platform.system(),
        "python": platform.python_version(),
        "versions": {name: metadata.version(name) for name in packages},
    }
