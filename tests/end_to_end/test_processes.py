"""Jitted functions in processes that Python starts in each of its ways: forked, spawned, by a server that forks."""

import multiprocessing
import os
import subprocess
import sys

import pytest

PROGRAM = """
import multiprocessing
import sys
import numpy as np
import numhlo


@numhlo.jit
def step(x):
    return np.cumsum(x * 3.0) + x[::-1]


def work(number):
    x = np.arange(1000.0) + number
    return float(np.asarray(step(x)).sum())


if __name__ == "__main__":
    before = [work(k) for k in range(4)] if sys.argv[2] == "warm" else []
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        found = pool.map(work, range(4))
    with multiprocessing.get_context(sys.argv[1]).Pool(1, maxtasksperchild=1) as pool:
        again = pool.map(work, range(4), 1)
    after = [work(k) for k in range(4)]
    assert found == again == after and before in ([], after), (before, found, again, after)
    print("done")
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "warm"), [*((method, "warm") for method in multiprocessing.get_all_start_methods()), ("fork", "cold")]
)
def test_pools_of_processes(method, warm, tmp_path):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip("no fork")
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, path, method, warm],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=dict(os.environ),
    )
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
