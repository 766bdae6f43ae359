"""Programs as people write them for NumPy, unchanged under `jit`: they give what NumPy gives, or say what to change."""

import numpy as np
import pytest

import numhlo
from numhlo.tree import flatten
from tests.end_to_end.plain_programs import (  # noqa: F401 - they are collected
    algorithms,
    everyday,
    kernels,
    numeric,
    structures,
    time_loops,
)
from tests.end_to_end.plain_programs.collection import PROGRAMS
from tests.end_to_end.plain_programs.page import PAGE, page_lines

RUNNING = [p for p in PROGRAMS if not p.refused]
COMPILED = RUNNING[::5]
"""Programs that are compiled here; ``make every-call`` compiles all."""


def leaves(tree):
    return [np.asarray(x) for x in flatten(tree)[0]]


def assert_alike(found, expected):
    for x, y in zip(leaves(found), leaves(expected), strict=True):
        if y.dtype.kind in "biufc":
            np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-9)
        else:
            assert x == y


def check_calls(program, jitted, seeds):
    for seed in seeds:
        given, ours = program.arguments(seed), program.arguments(seed)
        expected = program.function(*given)
        assert_alike(jitted(*ours), expected)
        assert_alike(ours, given)  # what NumPy writes into arguments is written


@pytest.mark.parametrize("program", RUNNING, ids=lambda p: p.name)
def test_programs_give_what_numpy_gives(program):
    check_calls(program, numhlo.jit(program.function, static_argnames=program.static), (0, 1, 2, 0))


@pytest.mark.parametrize("program", RUNNING[1::4], ids=lambda p: p.name)
def test_programs_that_are_rewritten_from_the_start(program):
    check_calls(program, numhlo.jit(program.function, autograph=True, static_argnames=program.static), (0, 1, 0))


@pytest.mark.slow
@pytest.mark.parametrize("program", COMPILED, ids=lambda p: p.name)
def test_machine_code_gives_what_numpy_gives(program):
    jitted = numhlo.jit(program.function, tier0=False, static_argnames=program.static)
    check_calls(program, jitted, (0, 1, 0, 2, 3, 1))


@pytest.mark.parametrize("program", [p for p in PROGRAMS if p.refused], ids=lambda p: p.name)
def test_what_is_refused_says_why(program):
    jitted = numhlo.jit(program.function, static_argnames=program.static)
    with pytest.raises(numhlo.errors.NumhloError, match=program.refused) as caught:
        jitted(*program.arguments(0))
    file = program.function.__code__.co_filename.rpartition("/")[2]
    assert f"at {file}:" in str(caught.value)
    assert "true_fun" not in str(caught.value)


def test_the_page_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == "\n".join(page_lines()) + "\n", (
        "run python -m tests.end_to_end.plain_programs.page"
    )
