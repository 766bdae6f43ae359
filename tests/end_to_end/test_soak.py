"""Mixed use stays flat: the short form of `python -m benchmarks.soak`; and arguments that nobody copies."""

import numpy as np
import pytest

import numhlo
from benchmarks import soak

SECONDS = 8.0


@pytest.mark.slow
@pytest.mark.not_every_call  # looks at what is kept alive
def test_mixed_use_stays_flat():
    warm, end, rounds = soak.soak(SECONDS * 0.6, SECONDS * 0.4)
    assert rounds > 3
    assert soak.troubles(warm, end) == []


def test_what_piles_up_is_named():
    warm = soak.Held(100.0, 3, 4, 10)
    end = soak.Held(200.0, 100, 4, 60)
    assert soak.troubles(warm, end) == [
        "memory grew from 100 to 200 MB",
        "executables grew from 3 to 100",
        "files grew from 10 to 60",
    ]


@numhlo.kernel(result=(numhlo.ShapeDtypeStruct((), np.int64), numhlo.ShapeDtypeStruct((), np.int64)))
def places(x, y, first, second):
    """Return where in memory two arrays are."""
    first[()] = x.ctypes.data
    second[()] = y.ctypes.data


@pytest.mark.not_every_call  # its results are addresses
def test_contiguous_arguments_are_not_copied():
    """By address, in machine code, with and without a loop."""
    here = numhlo.jit(places)
    loop = numhlo.jit(lambda x, y: numhlo.lax.fori_loop(0, 3, lambda i, s: places(x, y), (0, 0)))
    x, y = np.ones((300, 40)), np.ones((7, 5), np.float32)
    for function in (here, loop):
        function(x, y)
        function.wait()
        for _ in range(3):
            assert tuple(map(int, function(x, y))) == (x.ctypes.data, y.ctypes.data)
        rows = x[100:200]
        assert int(function(rows, y)[0]) == rows.ctypes.data  # contiguous, in the middle of another array
