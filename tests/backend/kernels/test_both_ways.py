"""Programs compiled by both front ends, in processes and caches of their own, give the same bits at every call."""

import pytest

from tests.backend.kernels.both_ways import run
from tests.backend.kernels.one_front_end import exported_names


@pytest.mark.slow
def test_programs_give_the_same_bits_by_both_front_ends():
    """Every fifth program that JAX exports; the command compares all of them."""
    lines = []
    different, kernels = run(exported_names()[1::5], "small", 0.0, lines.append)
    assert not different
    assert len(kernels) > 30
    assert "0 of them left to Numba's front end" in "".join(lines)
