"""What a call holds that the system has no memory for: documented in docs/threads_and_interrupts.md.

A child limits its own address space, so that the very call fails that works once the limit is gone.
"""

import sys

import pytest

from tests.backend.child import run_child

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="address space is limited as on Linux")

PROGRAM = """
import resource
import numpy as np
import numhlo

SIZE, FREE = 10_000_000, 16 << 20  # more than malloc keeps for a thread
WITHOUT = resource.getrlimit(resource.RLIMIT_AS)


def update(x, y):
    x += 1.0
    return x * y, x[:2] * 2.0


def both(x, y):
    return x * 2.0 + y, x * 3.0 - y


written = numhlo.jit(update)
donated = numhlo.jit(both, donate_argnums=0)


def fails(function, *arguments):
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + FREE, WITHOUT[1]))
    try:
        function(*arguments)
    except numhlo.errors.OutOfMemoryError as error:
        return "no memory for its results float64[10000000] (76.29 MiB)" in str(error)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, WITHOUT)
    return False


for function in (written, donated):
    function(np.ones(7), np.ones(7))
    function.wait()  # other shapes have the same kernels
x, y = np.arange(float(SIZE)), np.full(SIZE, 2.0)
assert fails(written, x, y)
assert x[0] == 0.0 and x[-1] == SIZE - 1.0 and (y == 2.0).all(), "what is written or read holds what it held"
assert fails(donated, x, y)
assert x.shape == (SIZE,) and (y == 2.0).all()
x[:] = 3.0  # donated: anything, but usable
assert written(x, y)[1].tolist() == [8.0, 8.0] and (x == 4.0).all()
first, second = donated(x, y)
assert (first[[0, -1]] == 10.0).all() and (second[[0, -1]] == 10.0).all()
print("held")
"""


@pytest.mark.slow
def test_what_arguments_hold():
    """Written and read ones what they held, donated ones anything; and every call works once there is memory."""
    assert run_child(PROGRAM, timeout=200, NUMHLO_TIER0="0").strip() == "held"
