"""Grids of MPI processes, oversubscribed where there are fewer cores; what each of them does is in `mpi_program`.

The commands are those that a user would write. Every job ends by itself; the limit only bounds a hang.
"""

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from numhlo import distributed
from numhlo.lowering.ir.errors import UnsupportedError

BESIDE = Path(sys.executable).parent / "mpiexec"
MPIEXEC = str(BESIDE) if BESIDE.exists() else shutil.which("mpiexec")
HAS_MPI = importlib.util.find_spec("mpi4py") is not None and MPIEXEC is not None
SECONDS = 120

needs_mpi = pytest.mark.skipif(not HAS_MPI, reason="mpi4py or mpiexec is not installed: pip install mpi4py mpich")


def run(count: int, *cases: str) -> subprocess.CompletedProcess[str]:
    """Run cases of `mpi_program` in so many processes."""
    assert MPIEXEC is not None
    command = [MPIEXEC, "-n", str(count), sys.executable, "-m", "tests.backend.communication.mpi_program", *cases]
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)


@needs_mpi
@pytest.mark.slow
@pytest.mark.parametrize(
    ("count", "cases"),
    [(2, ["collectives", "traced", "channels", "alone"]), (4, ["collectives", "subgroups", "again", "grids"])],
)
def test_results_are_those_of_threads_and_of_the_interpreter(count, cases):
    job = run(count, *cases)
    assert job.returncode == 0, job.stderr
    lines = job.stdout.splitlines()
    assert all(line.endswith(": True") for line in lines), job.stdout
    assert {line.partition(":")[0] for line in lines} == {str(k) for k in range(count)}
    assert len(lines) == {2: 2 * (2 * 5 + 1 + 2 + 1) + 1, 4: 4 * (2 * 3 + 3 + 4) + 6}[count]


FAILURES = {
    "raises": (r"process 1 of 2 has failed\n.*\n.*UnsupportedError: custom_call: no function is registered",),
    "differs": (r"the program @main of process 1 differs from that of process 0",),
    "ends": (r"process 1 of 2 has failed\n.*\n.*LookupError: no data for this process at .*mpi_program\.py",),
    "leaves": (r"process 0 waits for all_reduce of process 1, which has ended\n  at <string>:2:8",),
    "killed": (r"Killed|signal 9|EXIT CODE: 9",),
    "diverges": (r"different collectives\n", r"process 0: all_reduce add of .*; process 1: collective_permute of"),
    "waits": (r"process 0 has waited for all_reduce of processes \[0, 1\] for 1\.0 s",),
}
IN_THE_SUITE = ("raises",)
"""The others are run by a command: ``python -m tests.backend.communication.test_mpi``."""


def check_failure(case: str) -> None:
    """Run a case in which one process fails: the others say so, and the job ends."""
    job = run(2, case)
    assert job.returncode != 0
    for pattern in FAILURES[case]:
        assert re.search(pattern, job.stdout + job.stderr), job.stdout + job.stderr


@needs_mpi
@pytest.mark.slow
@pytest.mark.parametrize("case", IN_THE_SUITE)
def test_a_process_that_fails_is_named_by_the_others(case):
    check_failure(case)


@pytest.mark.skipif(importlib.util.find_spec("mpi4py") is not None, reason="mpi4py is installed")
def test_without_mpi4py_it_says_what_to_install():
    with pytest.raises(UnsupportedError, match=r"^a grid of processes needs mpi4py\n.*\n.*pip install .numhlo\[mpi\]"):
        distributed.initialize()
    assert (distributed.process_index(), distributed.process_count()) == (0, 1)


if __name__ == "__main__":
    for name in FAILURES:
        check_failure(name)
        sys.stdout.write(f"{name}: as it should be\n")
