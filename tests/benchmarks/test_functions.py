"""The table of single functions: small versions of some give what JAX and NumPy do; every name comes once."""

import pytest

from benchmarks import functions

CHECKED = ("softmax", "sum_axis_0_f8", "top_k", "bincount", "scatter_add_rows", "solve_3x3", "complex_abs")


def test_names():
    names = [function.name for function in functions.FUNCTIONS]
    assert len(set(names)) == len(names)
    assert set(CHECKED) <= set(names)


@pytest.mark.slow
@pytest.mark.parametrize("name", CHECKED)
def test_libraries_agree(name):
    (function,) = (f for f in functions.FUNCTIONS if f.name == name)
    calls, wrong = functions.made(function)
    assert not wrong
    assert set(calls) == {"numhlo", "jax", *(("numpy",) if function.in_numpy else ())}
