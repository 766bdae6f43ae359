"""The harness finds what it is there to find: each way to be wrong on a later call, done on purpose."""

import numpy as np
import pytest

import numhlo
from numhlo import lax
from numhlo.backend.executable import Executable
from tests.backend.programs import from_jax, plan
from tests.every_call import forms
from tests.every_call.comparison import CLOSE, EXACT, compare
from tests.every_call.harness import EveryCallError, check_every_call, check_executable

X = np.arange(1.0, 13.0).reshape(3, 4)
Y = np.linspace(-1, 1, 12).reshape(3, 4)


class OnCall:
    """A correct function with a fault on some of its calls."""

    def __init__(self, fault, at=5):
        self.fault, self.at, self.calls, self.seen = fault, at, 0, []

    def __call__(self, *arrays):
        self.calls += 1
        results = [sum(arrays), arrays[0] * 2]
        if self.calls >= self.at:
            self.fault(self, arrays, results)
        self.seen += [*arrays, *results]
        return results


def right(*arrays):
    return [sum(arrays), arrays[0] * 2]


def wrong_result(function, arrays, results):
    results[1][0, 0] += 1


def lost_result(function, arrays, results):
    results.pop()


def other_dtype(function, arrays, results):
    results[0] = results[0].astype(np.float32)


def writes_argument(function, arrays, results):
    argument = next((x for x in arrays if x.flags.writeable), None)
    if argument is not None:
        argument[0, 0] += 1


def writes_earlier_result(function, arrays, results):
    function.seen[3][1, 1] = 0


def writes_earlier_argument(function, arrays, results):
    function.seen[0][1, 1] = 0


def other_bits(function, arrays, results):
    results[0][...] = np.nextafter(results[0], 99)


FAULTS = {
    wrong_result: r"result 1: 1 of 12 are more than 1e-09 apart, first at \(0, 0\)",
    lost_result: "1 results instead of 2",
    other_dtype: "result 0: float32",
    writes_argument: "argument 0 has been written into: 1 of 12 differ",
    writes_earlier_result: "call 1's result 1 has changed since",
    writes_earlier_argument: "call 1's argument 0 has changed since",
    other_bits: "result 0: not what an earlier call gave for the same",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_later_calls_are_found(fault):
    assert check_every_call(OnCall(fault, at=99), [(X, Y)], reference=right) == 12
    with pytest.raises(EveryCallError, match=FAULTS[fault]) as caught:
        check_every_call(OnCall(fault), [(X, Y)], reference=right)
    assert str(caught.value).startswith("call ")


@pytest.mark.parametrize("form", forms.FORMS)
def test_a_fault_of_one_form_is_found_and_named(form):
    """What is wrong for arrays of one form only: in it, the first two arguments lie as the form lays them."""

    def lies_so(x, y):
        match form:
            case "plain":
                return x.flags.c_contiguous and x.flags.writeable and x.flags.aligned and not np.shares_memory(x, y)
            case "in read-only memory":
                return not x.flags.writeable and not x.base.flags.writeable
            case "flagged read-only":
                return not x.flags.writeable and x.base.flags.writeable
            case "strided":
                return not x.flags.c_contiguous and x.strides[0] > 0
            case "backwards":
                return x.strides[0] < 0
            case "unaligned":
                return not x.flags.aligned
            case "one array twice":
                return x is y
            case "overlapping views":
                return x is not y and np.shares_memory(x, y) and x.flags.c_contiguous

    def function(x, y):
        return [x + y + lies_so(x, y), x * 2]

    schedule = [(name, 0) for name in forms.FORMS if name != form]
    if form != "plain":
        check_every_call(function, [(X, Y)], reference=right, schedule=schedule)
    with pytest.raises(EveryCallError, match=f"native, {form}, input 0"):
        check_every_call(function, [(X, Y)], reference=right, schedule=[(form, 0)], first_answers=False)


def test_a_write_into_read_only_memory_raises():
    array = forms.in_read_only_memory(X)
    assert (array == X).all() and not array.flags.writeable
    with pytest.raises(ValueError, match="WRITEABLE"):
        array.flags.writeable = True


def test_written_arguments_are_as_numpy_leaves_them():
    def step(x, y):
        x += y
        return x.sum()

    assert check_every_call(numhlo.jit(step), [(X, Y)], reference=step) > 8

    def forgets(x, y):
        return (x + y).sum()

    with pytest.raises(EveryCallError, match="argument 0 is left wrong"):
        check_every_call(forgets, [(X, Y)], reference=step)


def test_donated_arguments_may_be_used():
    def function(x, y):
        x += y
        return x.copy()

    check_every_call(function, [(X, Y)], reference=lambda x, y: x + y, donated=[0])
    with pytest.raises(EveryCallError, match="argument 0 has been written into"):
        check_every_call(function, [(X, Y)], reference=lambda x, y: x + y, schedule=[("plain", 0)])


@pytest.mark.slow
def test_jitted_functions_against_the_interpreter():
    """Every call is machine code, in layouts that are traced anew, too."""

    def loop(x, y, n):
        return lax.fori_loop(0, n, lambda k, s: (s[1], s[0] + k * y), (x, y.T.reshape(3, 4)))

    function = numhlo.jit(loop)
    inputs = [(X, Y, 3), (Y, X, 4)]
    assert check_every_call(function, inputs) >= 12
    assert check_every_call(function, inputs, tolerance=EXACT, first_answers=False) >= 10


@pytest.mark.slow
def test_executables():
    function = from_jax(lambda x, y: (x @ y.T, x + y), X, Y)
    check_executable(Executable(plan(function)), function, [(X, Y), (Y, X)])
    other = from_jax(lambda x, y: (x @ y.T, x - y), X, Y)
    with pytest.raises(EveryCallError, match="result 1"):
        check_executable(Executable(plan(function)), other, [(X, Y), (Y, X)])


def test_comparison():
    assert compare(1.0, 1.0) is None and compare(np.nan, np.nan) is None and compare(X, X + 1e-12, CLOSE) is None
    assert compare(np.inf, np.nan, CLOSE) and compare(np.inf, -np.inf, CLOSE) and compare(1e300, np.inf, CLOSE)
    assert compare(0.0, -0.0) and compare(X, X + 1e-12) and compare(X, X.astype("f4"), CLOSE)
    assert compare(np.array([1, 2]), np.array([1, 3]), CLOSE) and compare(1 + 2j, 1 + 2.1j, CLOSE)
    assert compare(np.complex128(np.inf), np.complex128(1), CLOSE)
