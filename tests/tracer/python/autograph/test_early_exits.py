"""`return`, `break` and `continue` in branches that wrote into arrays, and before a variable's first assignment."""

import numpy as np
import pytest

import numhlo
from numhlo.lowering.ir.errors import UndefinedVariableError


def insert(slots, value):
    for i in range(len(slots)):
        if slots[i] == 0:
            slots[i] = value
            return slots
    return slots


def fills_slots(values):
    slots = np.zeros(3)
    for value in values:
        slots = insert(slots, value)
    return slots


def insert_while(slots, value):
    i = 0
    while i < len(slots):
        if slots[i] == 0:
            slots[i] = value
            return slots
        i += 1
    return slots


def fills_slots_in_while(values):
    slots = np.zeros(3)
    k = 0
    while values[k] > 0:
        slots = insert_while(slots, values[k])
        slots[0] += 0.5
        k += 1
    return slots, k


def find_and_mark(seen, values, limit, count):
    for i in range(count):
        if values[i] > limit:
            seen[i] = 1.0
            return seen
    seen[-1] = 2.0
    return seen


def marks(values, count):
    seen = np.zeros_like(values)
    for limit in range(3):
        seen = find_and_mark(seen, values, limit, count)
        seen += 0.25
    return seen


def writes_argument(x, values):
    for v in values:
        if v > 1:
            x[0] = v
            return x
        if v < 0:
            x[1] -= v
            break
        x[2] += 1
    return x


def skips_then_writes(x, limit):
    total = np.zeros(2)
    for v in x:
        if v > limit:
            total[0] += v
            continue
        half = v / 2
        total[1] += half
        if half < 0:
            break
    return total


def halve(x):
    for _ in range(20):
        if x == 0:
            return 0.0
        half = x / 2
        if half < 1:
            break
        x = half
    return half


def first_root(start):
    x = start
    for _ in range(50):
        slope = 2 * x
        if slope == 0:
            return 0.0
        step = (x * x - 2) / slope
        x = x - step
        if abs(step) < 1e-12:
            break
    return x - step


def endless_root(start):
    x = start
    while True:
        if x <= 0:
            return -1.0
        following = (x + 2 / x) / 2
        if abs(following - x) < 1e-12:
            break
        x = following
    return following


def assigned_in_both(x):
    for _ in range(5):
        if x < 0:
            return -1.0, -1.0
        if x > 10:
            scale, x = 2.0, x / 2
        else:
            scale, x = 3.0, x + 1
        if x == 4:
            break
    return scale, x


def arrays_before_return(x):
    for k in range(4):
        if x[0] > 50:
            return np.zeros_like(x)
        doubled = x * 2
        x = doubled + k
    return doubled - x


def nested_exits(x):
    total = 0.0
    for row in x:
        for v in row:
            if v < 0:
                return total
            root = np.sqrt(v)
            if root > 2:
                break
            total += root
        total += root
    return total


def with_try(x):
    for _ in range(3):
        if x < 0:
            return 0.0
        try:
            root = np.sqrt(x)
        finally:
            x = x - 1
        if root < 1:
            break
    return root


CALLS = [
    *[(fills_slots, np.array(v)) for v in ([3.0], [3.0, 4.0], [3.0, 4.0, 5.0, 6.0])],
    *[(fills_slots_in_while, np.array(v)) for v in ([3.0, 0.0], [3.0, 4.0, 5.0, 6.0, -1.0], [0.0])],
    *[(marks, np.array([0.5, 1.5, 2.5, 0.0]), n) for n in (0, 1, 3)],
    *[(writes_argument, np.zeros(3), np.array(v)) for v in ([0.0, 2.0], [0.0, -2.0, 4.0], [0.5, 0.5])],
    *[(skips_then_writes, np.array([1.0, 5.0, v, 3.0]), 2.0) for v in (-1.0, 1.0)],
    *[(halve, v) for v in (37.0, 0.0, 0.5)],
    *[(first_root, v) for v in (37.0, 0.0, 0.5)],
    *[(endless_root, v) for v in (37.0, 0.0, 0.5)],
    *[(assigned_in_both, v) for v in (37.0, -1.0, 3.0, 11.0)],
    *[(arrays_before_return, np.array([v, 1.0])) for v in (60.0, 1.0, 20.0)],
    *[(nested_exits, np.array([[1.0, 2.0], [v, 9.0], [1.0, 1.0]])) for v in (1.0, 5.0, -1.0)],
    *[(with_try, v) for v in (5.0, 0.5, -1.0)],
]


def listed(result):
    return result if isinstance(result, tuple) else (result,)


@pytest.fixture(scope="module")
def jitted():
    made = {}
    return lambda function: made.setdefault(function, numhlo.jit(function, autograph=True))


@pytest.mark.parametrize("call", CALLS, ids=lambda call: f"{call[0].__name__}{call[-1]}")
def test_exits_as_in_python(call, jitted):
    function, *values = call

    def given():
        return [v.copy() if isinstance(v, np.ndarray) else v for v in values]

    expected_arguments, arguments = given(), given()
    expected = function(*expected_arguments)
    for _ in range(2):
        found = jitted(function)(*arguments)
        for x, y in zip(listed(found), listed(expected), strict=True):
            np.testing.assert_allclose(x, y)
        for x, y in zip(arguments, expected_arguments, strict=True):
            np.testing.assert_array_equal(x, y)
        arguments = given()


def test_a_variable_that_an_iteration_may_leave_without_a_value_is_refused():
    def last_large(x):
        for v in x:
            if v < 1:
                continue
            last = v
        return last

    with pytest.raises(UndefinedVariableError, match=r"variable 'last' has no value here"):
        numhlo.jit(last_large, autograph=True)(np.arange(3.0))


def test_a_variable_of_a_loop_that_may_not_run_is_refused():
    def halves(x):
        while x > 1:
            if x > 100:
                return 0.0
            half = x / 2
            x = half
        return half

    with pytest.raises(UndefinedVariableError, match=r"variable 'half' has no value here"):
        numhlo.jit(halves, autograph=True)(3.0)


def test_a_variable_of_a_known_loop_that_does_not_run_is_refused():
    def halves(x, count):
        for _ in range(count):
            if x > 100:
                return 0.0
            half = x / 2
            x = half
        if x > 1:
            half = x
        return half

    run = numhlo.jit(halves, autograph=True, static_argnames="count")
    assert float(run(3.0, count=2)) == halves(3.0, 2)
    with pytest.raises(UndefinedVariableError, match=r"variable 'half' has no value here"):
        run(3.0, count=0)
