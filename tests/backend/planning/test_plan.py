"""Whole programs: random graphs give the interpreter's bits, in plain Python and, a sample of them, as machine code."""

import numpy as np
import pytest

from numhlo.backend.executable import Executable
from numhlo.lowering.interpreter import interpret
from tests.backend.plain_engine import assert_same_bits, run_plain
from tests.backend.programs import plan
from tests.backend.random_programs import random_array, random_function

MIXTURES = [
    ("float32", "float64", "int32", "bool", "float16"),
    ("int8", "uint8", "int16"),
    ("uint16", "int64", "uint64"),
    ("bfloat16", "float16", "float32"),
    ("int4", "uint4", "int8"),
    ("float8_e4m3fn", "float8_e5m2", "float32"),
    ("float32",),
]


def cases(seed, count, ops):
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        function = random_function(rng, ops, MIXTURES[number % len(MIXTURES)])
        yield number, function, [random_array(rng, v.tensor) for v in function.body.arguments]


@pytest.mark.parametrize("seed", range(8))
def test_random_programs_in_plain_python(seed):
    for _, function, arrays in cases(seed, 100, 15):
        expected = interpret(function, arrays)
        found = run_plain(plan(function), arrays)
        for left, right in zip(found, expected, strict=True):
            assert_same_bits(left, np.asarray(right))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 103))
def test_random_programs_that_may_overwrite_their_arguments(seed):
    for _, function, arrays in cases(seed, 70, 25):
        expected = interpret(function, arrays)
        donated = frozenset(range(len(arrays)))
        for left, right in zip(run_plain(plan(function, donated=donated), arrays), expected, strict=True):
            assert_same_bits(left, np.asarray(right))


@pytest.mark.slow
def test_random_programs_as_machine_code():
    for _, function, arrays in cases(200, 21, 15):
        expected = [np.asarray(a) for a in interpret(function, arrays)]
        executable = Executable(plan(function))
        assert executable.wait(60)
        for left, right in zip(executable(arrays), expected, strict=True):
            assert_same_bits(left, right)
