"""The short form of the fuzzer of texts; ``python -m tests.fuzz.texts`` is the long form."""

import time

import pytest

from tests.fuzz.batches import Find, Limits, fault, reduction
from tests.fuzz.mutations import MUTATIONS
from tests.fuzz.texts import mutant, outcome, programs


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.specifies("malformed text")
def test_mutants_are_programs_or_refused(seed):
    outcomes = []
    for number in range(250):
        text = mutant(seed, number)
        found = fault(lambda given: outcomes.append(outcome(given)) or "", text, 5.0)
        assert found is None, f"mutant {number} of seed {seed} {found}:\n{text[:2000]}"
    assert 20 < outcomes.count("program") < 150
    assert any(o.startswith("not verified") for o in outcomes)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3, 6))
def test_more_mutants(seed):
    for number in range(1000):
        found = fault(outcome, mutant(seed, number), 5.0)
        assert found is None, f"python -m tests.fuzz.texts --seed {seed} --show {number}: {found}"


def test_mutants_are_the_same_again_and_differ():
    assert [mutant(1, k) for k in range(50)] == [mutant(1, k) for k in range(50)]
    assert len({mutant(1, k) for k in range(50)}) > 45
    assert len(programs()) > 300 and len(set(MUTATIONS)) > 10


# -- the fuzzer itself: it must be able to find


def attempt(text):
    """Do something wrong with texts that have an x, a y, a z."""
    if "x" in text:
        raise KeyError
    if "y" in text:
        raise Find("y")
    while "z" in text:
        time.process_time()
    return "program"


@pytest.mark.parametrize(("letter", "found"), [("x", "KeyError at"), ("y", "y"), ("z", "takes more than 0.05 s")])
def test_a_find_is_named_and_reduced(letter, found):
    text, limits = f"{'a' * 40}{letter}{'b' * 37}", Limits(seconds=0.05)
    name = fault(attempt, text, limits.seconds)
    assert name is not None and name.startswith(found)
    assert reduction(attempt, text, name, limits) == letter
    assert fault(attempt, "ab", limits.seconds) is None
