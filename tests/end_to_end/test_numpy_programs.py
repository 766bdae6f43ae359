"""Textbook NumPy programs, unchanged: eager, traced on the first call, compiled, and plain NumPy give the same."""

import copy

import numpy as np
import pytest

import numhlo
from tests.end_to_end import slice_programs, textbook_programs  # noqa: F401 - they add programs
from tests.end_to_end.numpy_programs import PROGRAMS, SIZES

TOLERANCE = {np.dtype("f4"): 2e-5, np.dtype("f8"): 1e-11, np.dtype("c16"): 1e-11}


def assert_same(found, expected):
    if isinstance(expected, tuple):
        assert isinstance(found, tuple) and len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
        return
    if expected is None:
        assert found is None
        return
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype and found.shape == expected.shape
    tolerance = TOLERANCE.get(expected.dtype, 0)
    scale = np.abs(expected[np.isfinite(expected)]).max(initial=0) if tolerance else 0
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * scale)


def run(fun, arguments):
    """Return what a function gives and what it leaves in its arguments."""
    own = copy.deepcopy(arguments)
    return fun(*own), tuple(own)


def as_arrays(arguments):
    return tuple(a.view(numhlo.Array) if isinstance(a, np.ndarray) else a for a in arguments)


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_same_as_numpy(name, rng):
    fun, make = PROGRAMS[name]
    jitted = numhlo.jit(fun)
    for size in SIZES:
        arguments = make(rng, size)
        expected = run(fun, arguments)
        assert_same(run(fun, as_arrays(arguments)), expected)
        assert_same(run(jitted, arguments), expected)
        jitted.wait()
        assert_same(run(jitted, arguments), expected)
        assert_same(run(jitted, as_arrays(arguments)), expected)
