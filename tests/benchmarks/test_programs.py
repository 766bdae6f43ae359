"""Every program gives NumPy's results with each library, on tiny inputs."""

import pytest

from benchmarks import calls
from benchmarks.program import LIBRARIES, SIZES
from benchmarks.registry import MODULES, all_programs
from tests.architecture.source_tree import python_files

PROGRAMS = all_programs()
OTHERS = [library for library in LIBRARIES if library not in {"numhlo", "numpy"}]


def outcome(program, library):
    expected = calls.make(program, "numpy")(*program.arguments("tiny"))
    return calls.check(program, calls.make(program, library)(*program.arguments("tiny")), expected)


def test_names_are_distinct_and_complete():
    assert len({p.name for p in PROGRAMS}) == len(PROGRAMS) >= 24
    assert all(set(p.sizes) == set(SIZES) and list(p.versions) == list(LIBRARIES) for p in PROGRAMS)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_numhlo_agrees_with_numpy(program):
    assert outcome(program, "numhlo") == ""


@pytest.mark.slow
@pytest.mark.parametrize("library", OTHERS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_others_agree_with_numpy(program, library):
    assert outcome(program, library) == ""


def test_a_wrong_result_is_seen():
    program = next(p for p in PROGRAMS if p.name == "softmax")
    expected = calls.make(program, "numpy")(*program.arguments("tiny"))
    assert calls.check(program, expected * 1.001, expected).startswith("wrong: differs from NumPy's by 1.0e-03")
    assert "in shape" in calls.check(program, expected[0], expected)


def test_the_registry_is_complete():
    found = {path.stem for path in python_files("benchmarks/programs") if path.stem != "__init__"}
    assert {module.__name__.rpartition(".")[2] for module in MODULES} == found
