"""The tests as other machines would run them: ``python -m tests.machines``, or with names and pytest's arguments.

    python -m tests.machines avx2 one-processor -- tests/backend -x

What differs between machines is set by variables: the instructions that kernels, NumPy, OpenBLAS and XLA use, and the
processors that threads may run on. All quick tests run on each machine unless pytest is told otherwise; the exit status
says whether all of them passed. A machine whose instructions this one lacks is left out, and named.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
BLAS = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
"""OpenBLAS's variables for what it finds out itself where they are not set."""
AVX2 = ("sse4.2", "popcnt", "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")
"""LLVM's names for what processors with AVX2, and without AVX-512, have: those of the level x86-64-v3."""


def numpy_code(*kept: str) -> str:
    """Return the parts of NumPy's code for newer processors that this one would use, but for those to be kept."""
    found = np.show_config(mode="dicts")["SIMD Extensions"]["found"]
    return " ".join(name for name in found if name not in kept)


@dataclass(frozen=True)
class Machine:
    """One machine.

    Attributes
    ----------
    variables : mapping of str to str
        Set for the tests; OpenBLAS's are unset first.
    needed : sequence of str
        Features of the processor, as LLVM names them.
    processors : int, optional
        How many the tests may use; 0 is all.
    """

    variables: dict[str, str] = field(default_factory=dict)
    needed: tuple[str, ...] = ()
    processors: int = 0


MACHINES = {
    "generic": Machine(
        {
            "NUMBA_CPU_NAME": "generic",
            "OPENBLAS_CORETYPE": "Prescott",
            "NPY_DISABLE_CPU_FEATURES": numpy_code(),
            "XLA_FLAGS": "--xla_cpu_max_isa=SSE4_2",
        },
        ("sse4.2",),
    ),
    "avx2": Machine(
        {
            "NUMBA_CPU_NAME": "haswell",
            "NUMBA_CPU_FEATURES": ",".join(f"+{name}" for name in AVX2),
            "OPENBLAS_CORETYPE": "Haswell",
            "NPY_DISABLE_CPU_FEATURES": numpy_code("AVX2", "FMA3", "X86_V3"),
            "XLA_FLAGS": "--xla_cpu_max_isa=AVX2",
        },
        AVX2,
    ),
    "haswell-blas": Machine({"OPENBLAS_CORETYPE": "Haswell"}, AVX2),
    "own-blas": Machine(),
    "one-processor": Machine(processors=1),
}
if platform.machine() not in ("x86_64", "AMD64"):
    MACHINES["generic"] = Machine({"NUMBA_CPU_NAME": "generic"})


def lacking(machine: Machine) -> list[str]:
    """Return the features that this processor lacks."""
    features = llvm.get_host_cpu_features()
    return [name for name in machine.needed if not features.get(name)]


@contextmanager
def at_most(processors: int) -> Iterator[None]:
    """Let processes that are started inside the block use so many processors, 0 for all."""
    if not processors or not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(before)[:processors])
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def passes(machine: Machine, arguments: list[str]) -> bool:
    """Run the tests on a machine and return whether they pass."""
    kept = {name: value for name, value in os.environ.items() if name not in BLAS}
    variables = {name: value for name, value in machine.variables.items() if value}
    with at_most(machine.processors):
        command = [sys.executable, "-m", "pytest", *arguments]
        return subprocess.run(command, cwd=ROOT, env={**kept, **variables}, check=False).returncode == 0


def main(arguments: list[str]) -> None:
    """Run the tests on the machines that are named, or on all."""
    split = arguments.index("--") if "--" in arguments else len(arguments)
    names, given = arguments[:split] or list(MACHINES), arguments[split + 1 :]
    unknown = sorted(set(names) - MACHINES.keys())
    if unknown:
        sys.exit(f"no machine is called {', '.join(unknown)}; there are {', '.join(MACHINES)}")
    outcomes = {}
    for name in names:
        missing = lacking(MACHINES[name])
        if missing:
            outcomes[name] = f"left out: this processor lacks {', '.join(missing)}"
            continue
        print(f"== {name}", flush=True)  # noqa: T201 - a command
        outcomes[name] = "passed" if passes(MACHINES[name], given or ["-q", "-m", "not slow"]) else "failed"
    for name, outcome in outcomes.items():
        print(f"== {name}: {outcome}")  # noqa: T201 - a command
    sys.exit("failed" in outcomes.values())


if __name__ == "__main__":
    main(sys.argv[1:])
