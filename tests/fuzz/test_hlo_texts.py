"""The short form of the fuzzer of HLO texts; ``python -m tests.fuzz.hlo_texts`` is the long form."""

import pytest

from tests.fuzz.batches import fault
from tests.fuzz.hlo_texts import MUTATIONS, mutant, outcome, programs


@pytest.mark.parametrize("seed", range(3))
def test_mutants_are_programs_or_refused(seed):
    outcomes = []
    for number in range(250):
        text = mutant(seed, number)
        found = fault(lambda given: outcomes.append(outcome(given)) or "", text, 5.0)
        assert found is None, f"mutant {number} of seed {seed} {found}:\n{text[:2000]}"
    assert 20 < outcomes.count("program") < 150


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3, 6))
def test_more_mutants(seed):
    for number in range(1000):
        found = fault(outcome, mutant(seed, number), 5.0)
        assert found is None, f"python -m tests.fuzz.hlo_texts --seed {seed} --show {number}: {found}"


def test_mutants_are_the_same_again_and_differ():
    assert [mutant(1, k) for k in range(50)] == [mutant(1, k) for k in range(50)]
    assert len({mutant(1, k) for k in range(50)}) > 45
    assert len(programs()) > 60
    assert len(set(MUTATIONS)) > 10
