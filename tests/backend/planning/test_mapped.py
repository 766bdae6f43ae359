"""Maps: lanes are units of one kernel where a lane is scalar code; otherwise a loop."""

import jax
import numpy as np
import pytest

from numhlo.backend.executable import Executable
from numhlo.backend.planning import plan
from numhlo.backend.program import Launch, Loop
from numhlo.lowering.interpreter import interpret
from numhlo.lowering.ir import TensorType
from numhlo.lowering.ops import comparison, elementwise
from numhlo.lowering.ops.builder import FunctionBuilder
from tests.backend.plain_engine import assert_same_bits, run_plain
from tests.backend.programs import from_jax, mapped

F32 = np.dtype(np.float32)
SCALAR = TensorType((), F32)


def planned(function, arrays):
    program = plan(function)
    for left, right in zip(run_plain(program, arrays), interpret(function, arrays), strict=True):
        assert_same_bits(left, np.asarray(right))
    return program


def newton(a):
    def step(s):
        x, n = s
        return (x + a / x) * np.float32(0.5), n + 1

    return jax.lax.while_loop(lambda s: (abs(s[0] * s[0] - a) > 1e-3) & (s[1] < 30), step, (a, 0))


def rotate(turn, point):
    return (turn * point).sum(1) + point.sum()


def pick(table, row, index):
    return table[index], row[index % 3], row * 2


def test_lanes_with_loops_of_their_own(rng):
    body = from_jax(newton, np.float32(1))
    program = planned(mapped(body, 0, 9), [rng.random(9).astype(np.float32) + 0.5])
    assert [type(s) for s in program.steps] == [Launch]
    assert program.steps[0].extent == 9


def test_lanes_of_few_elements(rng):
    body = from_jax(rotate, np.zeros((3, 3), np.float32), np.zeros(3, np.float32))
    arrays = [rng.random((3, 3)).astype(np.float32), rng.random((5, 3)).astype(np.float32)]
    program = planned(mapped(body, 1, 5), arrays)
    assert [type(s) for s in program.steps] == [Launch]


def test_arrays_that_are_indexed_stay_in_memory(rng):
    body = from_jax(pick, np.zeros(100, np.float32), np.zeros(4, np.float32), np.int64(0))
    arrays = [rng.random(100).astype(np.float32), rng.random((6, 4)).astype(np.float32), np.arange(6) * 17 - 3]
    program = planned(mapped(body, 1, 6), arrays)
    assert [type(s) for s in program.steps] == [Launch]


def test_large_lanes_are_a_loop(rng):
    b = FunctionBuilder("large", [TensorType((90,), F32)])
    body = b.finish([b.op(elementwise.SQRT, b.arguments[0])])
    program = planned(mapped(body, 0, 4), [rng.random((4, 90)).astype(np.float32)])
    assert any(isinstance(s, Loop) for s in program.steps)


@pytest.mark.parametrize("lanes", [0, 1])
def test_few_lanes(lanes, rng):
    b = FunctionBuilder("small", [SCALAR])
    x = b.arguments[0]
    test = b.op(comparison.COMPARE, x, b.constant(np.float32(0.5)), comparison_direction="GT")
    body = b.finish([b.op(comparison.SELECT, test, x, b.op(elementwise.NEGATE, x))])
    planned(mapped(body, 0, lanes), [rng.random(lanes).astype(np.float32)])


@pytest.mark.slow
def test_lanes_as_machine_code(rng):
    function = mapped(from_jax(newton, np.float32(1)), 0, 1000)
    arrays = [rng.random(1000).astype(np.float32) + 0.5]
    executable = Executable(plan(function))
    assert executable.wait(60)
    for left, right in zip(executable(arrays), interpret(function, arrays), strict=True):
        assert_same_bits(left, np.asarray(right))
