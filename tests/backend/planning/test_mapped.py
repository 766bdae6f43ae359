"""Maps: lanes are units of one kernel where a lane is scalar code; otherwise a loop."""

import jax
import numpy as np
import pytest

import numhlo
from numhlo.backend.executable import Executable
from numhlo.backend.program import Launch, Loop
from numhlo.lowering.interpreter import interpret
from numhlo.lowering.ir import TensorType
from numhlo.lowering.ops import comparison, elementwise
from numhlo.lowering.ops.builder import FunctionBuilder
from tests.backend.plain_engine import assert_same_bits, run_plain
from tests.backend.programs import from_jax, mapped, plan

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


@pytest.mark.usefixtures("loops_in_steps")
def test_large_lanes_are_a_loop(rng):
    body = from_jax(lambda v: jax.numpy.flip(v) * 2, np.zeros(90, np.float32))
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


def choose(x, k):
    """Cheap branches of several kinds, one in another, whose results are scalars and vectors."""
    inner = jax.lax.switch(k, [lambda: x, lambda: x * 2, lambda: x + k.astype(np.float32)])
    sign = jax.lax.cond(x > 0.25, lambda: jax.lax.cond(k > 0, lambda: inner, lambda: np.float32(3)), lambda: -x)
    return inner, sign, np.float32(2.5)


def scale(shift, v, x):
    return jax.lax.cond(x > shift, lambda: v * x + shift, lambda: v), shift * 2


@pytest.mark.parametrize("lanes", [0, 1, 7])
def test_cheap_branches_are_selects(lanes, rng):
    function = mapped(from_jax(choose, np.float32(1), np.int32(1)), 0, lanes)
    arrays = [rng.random(lanes).astype(np.float32), np.arange(-2, lanes - 2, dtype=np.int32)]
    assert not any("lanes" in k.name for k in planned(function, arrays).kernels)


def test_branches_of_arrays_are_selects(rng):
    function = mapped(from_jax(scale, np.float32(1), np.zeros(100, np.float32), np.float32(1)), 1, 6)
    arrays = [np.float32(0.5), rng.random((6, 100)).astype(np.float32), np.linspace(0, 1, 6, dtype=np.float32)]
    assert all(isinstance(s, Launch) for s in planned(function, arrays).steps)


def test_branches_with_a_dear_one_stay(rng):
    body = from_jax(lambda x: jax.lax.cond(x > 0.5, lambda: jax.numpy.exp(jax.numpy.sin(x)), lambda: x), np.float32(1))
    (kernel,) = plan(mapped(body, 0, 70)).kernels
    assert kernel.name == "map_lane_blocks"


@pytest.mark.slow
def test_single_lanes_compute_what_is_cheap(rng):
    @numhlo.jit
    def function(table, x, k):
        def lane(x, k):
            return numhlo.lax.cond(k > 3, lambda: table[k % 7] * np.exp(x), lambda: table[k])

        return numhlo.vmap(lane)(np.sin(x), k)

    table, x, k = rng.random(50), rng.random(90), rng.integers(0, 50, 90)
    for answer in ("first", "native"):
        expected = np.where(k > 3, table[k % 7] * np.exp(np.sin(x)), table[k])
        np.testing.assert_allclose(function(table, x, k), expected, rtol=1e-14, err_msg=answer)
        function.wait()
    assert list(function.lower(table, x, k).compile().kernels) == ["map_sine", "map_lanes"]
