"""Programs that once took more memory than XLA's do not."""

import pytest

from benchmarks.memory import bytes_of
from benchmarks.program import select
from benchmarks.registry import all_programs


@pytest.mark.slow
def test_peaks_are_not_above_those_of_xla():
    for program in select(all_programs(), ["n_body", "k_means", "viterbi", "levinson"]):
        shared, own, xla = bytes_of(program, "large")
        assert shared + own <= 1.001 * (shared + xla), program.name
