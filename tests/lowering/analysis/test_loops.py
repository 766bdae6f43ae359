"""How loops count: the number of iterations is what running them gives."""

import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from numhlo.lowering.analysis.loops import count_of, descent_of, integer_of, trip_count
from numhlo.lowering.interpreter import interpret
from numhlo.lowering.ops.control_flow import WHILE
from tests.backend.programs import from_jax

TESTS = {"<": lambda i, n: i < n, "<=": lambda i, n: i <= n, ">": lambda i, n: i > n, ">=": lambda i, n: i >= n}


def counting(first, test, limit, step):
    """Return a loop that counts between constants, and how often it runs."""

    def f(x):
        condition = lambda s: TESTS[test](s[0], jnp.int64(limit))
        return lax.while_loop(condition, lambda s: (s[0] + jnp.int64(step), s[1] + 1), (jnp.int64(first), x))[1]

    function = from_jax(f, np.int32(0))
    (runs,) = interpret(function, [np.int32(0)])
    return next(op for op in function.body.ops if op.definition is WHILE), int(runs)


@pytest.mark.parametrize("test", ["<", "<="])
@pytest.mark.parametrize(
    ("first", "limit", "step"), [(0, 10, 1), (3, 10, 3), (3, 12, 3), (-5, 5, 4), (7, 7, 2), (9, 1, 1)]
)
def test_loops_that_count_up_run_as_often_as_is_said(first, test, limit, step):
    loop, runs = counting(first, test, limit, step)
    assert trip_count(loop) == runs
    found = count_of(loop)
    assert (found.constant_limit, found.constant_step, found.reaches) == (limit, step, test == "<=")
    assert found.tests_alone
    assert descent_of(loop) is None


def carried(x, n):
    """Return a loop whose limit and step are state that stays."""

    def body(s):
        i, limit, step, y = s
        return i + step, limit, step, y * 2

    return lax.while_loop(lambda s: s[0] < s[1], body, (jnp.int64(1), n, n // 4, x))[3]


def loop_of(f, *arguments):
    function = from_jax(f, *arguments)
    return next(op for op in function.body.ops if op.definition is WHILE), function


def test_what_is_known_from_outside():
    loop, function = loop_of(carried, 1.0, np.int64(11))
    limit = function.body.arguments[1]
    assert trip_count(loop) is None
    known = lambda v: 11 if v is limit else 2 if v.owner is not limit.owner and integer_of(v) is None else integer_of(v)
    assert trip_count(loop, known) == 5  # 1, 3, 5, 7, 9


def test_loops_that_count_down():
    f = lambda x, i: lax.while_loop(lambda s: s[0] >= 3, lambda s: (s[0] - 1, s[1] * 2), (i, x))[1]
    loop, _ = loop_of(f, 1.0, np.int64(9))
    found = descent_of(loop)
    assert (found.constant_limit, found.constant_step, found.reaches) == (3, 1, True)
    assert count_of(loop) is None
    assert trip_count(loop) is None
    assert descent_of(loop_of(f, 1.0, np.int32(9))[0]) is None


@pytest.mark.parametrize(
    "body",
    [
        lambda s: (s[0] * 2, s[1]),
        lambda s: (s[0] + s[0], s[1]),
        lambda s: (s[0] + s[1].astype(int), s[1] + 1),
        lambda s: (s[0] + 1, s[1] + 1),
    ],
    ids=["multiplies", "adds itself", "steps grow", "limit moves"],
)
def test_other_loops_are_not_counted(body):
    condition = lambda s: s[0] < s[1].astype(int) + 5
    loop, _ = loop_of(lambda x: lax.while_loop(condition, body, (jnp.int64(1), x))[0], np.int64(3))
    assert trip_count(loop, lambda _: 1) is None
