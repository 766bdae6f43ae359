"""Arrays that the NumPy engine makes lie in memory that others left, which the system need not clear again."""

import platform
import subprocess
import sys

import pytest

PROGRAM = """
import resource
import numpy as np
from numhlo.backend.runtime import numpy_engine

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        arrays = [np.ones(1 << 17) for _ in range(8)]
        del arrays
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

first = faults()
numpy_engine.keep_freed_memory()
faults()
print(first, faults())
"""


@pytest.mark.slow
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have ways of their own")
def test_memory_of_freed_arrays_is_kept():
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=True)
    before, after = map(int, done.stdout.split())
    assert after < 400  # of 40960 pages that are written
    assert before > 10 * max(after, 100)
