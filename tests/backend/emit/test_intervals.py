"""Intervals of integers: every value that an op computes lies within its interval, and counters are known."""

import itertools

import numpy as np
import pytest

from numhlo.backend.emit.interval_arithmetic import Interval
from numhlo.backend.emit.intervals import Intervals, whole_type
from numhlo.lowering.interpreter import evaluate_op
from numhlo.lowering.ir import Region, TensorType
from numhlo.lowering.ops import comparison, control_flow, conversion, creation, elementwise
from numhlo.lowering.ops.primitive import make_op

BINARY = [
    elementwise.ADD, elementwise.SUBTRACT, elementwise.MULTIPLY, elementwise.DIVIDE, elementwise.REMAINDER,
    elementwise.MINIMUM, elementwise.MAXIMUM, elementwise.AND, elementwise.OR, elementwise.XOR,
]  # fmt: skip
DIRECTIONS = ["EQ", "NE", "LT", "LE", "GT", "GE"]
ENDS = [np.array(pair) for pair in [(-128, 127), (-128, -128), (-7, 3), (0, 0), (0, 9), (5, 5), (1, 127), (-1, 0)]]


def value_of(array):
    return make_op(creation.CONSTANT, (), {"value": array}).result


def between(pair, dtype=np.int8):
    """Return a constant that takes every number between two, or some of them, and its interval's ends."""
    return np.linspace(*pair, 64).astype(dtype)


def holds(op, environment):
    found = Intervals().of(op.result)
    with np.errstate(all="ignore"):
        (array,) = evaluate_op(op, environment)
    assert found.within(*whole_type(array.dtype))
    assert found.low <= array.min() <= array.max() <= found.high, (op, found, array)
    return array


@pytest.mark.parametrize("definition", BINARY)
def test_every_result_lies_within_its_interval(definition):
    for left, right in itertools.product(ENDS, ENDS):
        one = between(left).repeat(64)
        other = np.tile(between(right), 64)
        pairs = [(one[::64], other[:64]), (np.unique(one)[:1], np.unique(other)[-1:])]
        for a, b in pairs:
            lhs, rhs = value_of(a), value_of(b)
            op = make_op(definition, [lhs, rhs])
            array = holds(op, {lhs: a, rhs: b})
            for direction in DIRECTIONS:
                kind = {"comparison_direction": direction, "compare_type": "SIGNED"}
                test = make_op(comparison.COMPARE, [lhs, rhs], kind)
                truth = holds(test, {lhs: a, rhs: b})
                select = make_op(comparison.SELECT, [test.result, op.result, lhs])
                holds(select, {test.result: truth, op.result: array, lhs: a})
                chosen = Intervals().chosen(select)
                if chosen is not None:
                    assert truth.all() == (chosen is op.result)
                    assert truth.any() == (chosen is op.result)


def test_conversions_and_clamps_stay_within():
    for pair in ENDS:
        array = between(pair)
        value = value_of(array)
        for dtype in (np.uint8, np.int64, np.bool_, np.float32):
            made = make_op(conversion.CONVERT, [value], {}, (), [TensorType(array.shape, np.dtype(dtype))])
            if dtype is np.float32:
                assert Intervals().of(made.result) is None
            else:
                holds(made, {value: array})
        ends = [np.int8(-3), np.int8(5)]
        low, high = map(value_of, ends)
        holds(make_op(comparison.CLAMP, [low, value, high]), {low: ends[0], value: array, high: ends[1]})


def test_an_index_from_the_end_is_known():
    # x[i - 1] with i from 0 to 9 of ten: where i - 1 is negative, ten are added
    array = np.arange(10)
    position, ten, zero, one = map(value_of, (array, np.full(10, 10), np.zeros(10, int), np.ones(10, int)))
    before = make_op(elementwise.SUBTRACT, [position, one]).result
    less = {"comparison_direction": "LT", "compare_type": "SIGNED"}
    negative = make_op(comparison.COMPARE, [before, zero], less).result
    moved = make_op(elementwise.ADD, [before, ten]).result
    assert Intervals().of(make_op(comparison.SELECT, [negative, moved, before]).result) == Interval(0, 9)


def test_long_chains_end_early():
    value = value_of(np.array(1))
    for _ in range(3000):
        value = make_op(elementwise.ADD, [value, value_of(np.array(1))]).result
    assert Intervals().of(value) == whole_type(np.dtype(np.int64))


def loop(first, limit, step, direction="LT", dtype=np.int8, advance=elementwise.ADD):
    """Return a while that counts."""
    type = TensorType((), np.dtype(dtype))
    condition, body = Region([type]), Region([type])
    for region in (condition, body):
        number = make_op(creation.CONSTANT, (), {"value": np.array(limit if region is condition else step, dtype)})
        region.ops.append(number)
    kind = {"comparison_direction": direction, "compare_type": "SIGNED"}
    test = make_op(comparison.COMPARE, [condition.arguments[0], condition.ops[0].result], kind)
    condition.ops.append(test)
    condition.returns = [test.result]
    body.ops.append(make_op(advance, [body.arguments[0], body.ops[0].result]))
    body.returns = [body.ops[1].result]
    return make_op(control_flow.WHILE, [value_of(np.array(first, dtype))], {}, (condition, body))


@pytest.mark.parametrize(
    ("first", "limit", "step", "direction", "inside"),
    [
        (0, 10, 1, "LT", (0, 9)), (3, 10, 4, "LE", (3, 10)), (10, 0, -1, "GT", (1, 10)), (10, 0, -3, "GE", (0, 10)),
        (5, 2, 1, "LT", (5, 5)), (0, 127, 1, "LT", (0, 126)), (0, 127, 1, "LE", (-128, 127)),
        (0, 126, 3, "LT", (-128, 127)), (0, 10, -1, "LT", (-128, 127)), (0, 10, 1, "NE", (-128, 127)),
        (-128, -128, 0, "LE", (-128, -128)),
    ],
)  # fmt: skip
def test_counters(first, limit, step, direction, inside):
    for definition, sign in ((elementwise.ADD, 1), (elementwise.SUBTRACT, -1)):
        counting = loop(first, limit, sign * step, direction, advance=definition)
        intervals = Intervals()
        intervals.enter(counting)
        assert intervals.of(counting.regions[1].arguments[0]) == Interval(*inside)
        assert intervals.of(counting.results[0]).within(-128, 127)


def compared(counter, compares):
    """Return the ops that make of a counter what a loop compares."""
    if compares == "square":
        return [make_op(elementwise.MULTIPLY, [counter, counter])]
    number = make_op(creation.CONSTANT, (), {"value": np.array(compares, counter.tensor.dtype)})
    return [number, make_op(elementwise.ADD, [counter, number.result])]


@pytest.mark.parametrize("direction", ["LT", "LE"])
@pytest.mark.parametrize("compares", ["square", 3, -3])
def test_what_is_compared_may_be_made_of_the_counter(compares, direction):
    holds = np.less if direction == "LT" else np.less_equal
    narrowed = 0
    for first, limit, step in itertools.product((-3, 0, 2, 100), (-9, 0, 5, 100, 126, 127), (0, 1, 5)):
        counting = loop(first, limit, step, direction)
        condition, body = counting.regions
        made = compared(condition.arguments[0], compares)
        condition.ops[-1].operands = (made[-1].result, condition.ops[0].result)
        condition.ops[-1:-1] = made
        intervals = Intervals()
        intervals.enter(counting)
        inside, rounds = intervals.of(body.arguments[0]), intervals.rounds_of(counting)
        narrowed += rounds < np.inf
        counter, gone = np.int8(first), 0
        with np.errstate(over="ignore"):
            while gone < 300 and holds(
                counter * counter if compares == "square" else counter + np.int8(compares), limit
            ):
                assert inside.within(-128, 127)
                assert inside.low <= counter <= inside.high, (first, limit, step, inside, counter)
                counter, gone = counter + np.int8(step), gone + 1
        assert gone <= rounds, (first, limit, step)
    assert narrowed > 5


def test_a_counter_is_below_its_limit():
    inner = loop(0, 9, 1)
    outer = loop(1, 9, 1)
    limit = outer.regions[1].arguments[0]
    inner.regions[0].ops[1].operands = (inner.regions[0].arguments[0], limit)
    counter = inner.regions[1].arguments[0]
    intervals = Intervals()
    intervals.enter(outer)
    intervals.enter(inner)
    assert intervals.of(make_op(elementwise.SUBTRACT, [limit, counter]).result) == Interval(1, 8)
    assert intervals.of(make_op(elementwise.SUBTRACT, [counter, limit]).result) == Interval(-8, 6)


def test_branches_that_share_their_choices_end_early():
    counting = loop(0, 10, 1)
    body = counting.regions[1]
    test, value = value_of(np.array(True)), body.returns[0]
    for _ in range(200):  # as many ways to the last value as there are numbers of 200 bits
        body.ops.append(make_op(comparison.SELECT, [test, value, value]))
        value = body.ops[-1].result
    body.returns = [value]
    intervals = Intervals()
    intervals.enter(counting)
    assert intervals.of(body.arguments[0]) == Interval(0, 9)
