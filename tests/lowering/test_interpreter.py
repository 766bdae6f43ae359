import gc
import sys
import weakref

import numpy as np
import pytest

from numhlo.lowering.interpreter import Interpreter, evaluate_op, free_values, interpret
from numhlo.lowering.ir import Function, Location, Region, TensorType, TokenType
from numhlo.lowering.ir.errors import InternalError
from numhlo.lowering.ops import FunctionBuilder, comparison, control_flow, elementwise, make_op, register_custom_call

F64 = np.dtype(np.float64)
VECTOR, SCALAR, I64 = TensorType((3,), F64), TensorType((), F64), TensorType((), np.dtype(np.int64))


def counted_loop(b, limit, carry, step):
    """Append ``for i in range(limit): carry = step(i, carry)`` and return the last carry."""
    one = b.constant(np.int64(1))
    types = [I64, carry.type]

    def condition(i, _):
        return [b.op(comparison.COMPARE, i, limit, comparison_direction="LT")]

    def body(i, value):
        return [b.op(elementwise.ADD, i, one), step(i, value)]

    regions = [b.region(types, condition), b.region(types, body)]
    return b.ops(control_flow.WHILE, b.constant(np.int64(0)), carry, regions=regions)[1]


def test_results_are_arrays_of_the_exact_type():
    b = FunctionBuilder("f", [SCALAR, VECTOR])
    x, v = b.arguments
    function = b.finish([b.op(elementwise.ADD, x, x), b.op(elementwise.SQRT, v), x, b.constant(np.float64(3))])
    got = interpret(function, [np.array(2.0), np.ones(3)])
    assert [type(a) for a in got] == [np.ndarray] * 4
    assert [a.shape for a in got] == [(), (3,), (), ()]
    assert [float(a.sum()) for a in got] == [4, 3, 2, 3]


@pytest.mark.specifies("floating-point exceptions")
def test_no_warning_whatever_the_values():
    b = FunctionBuilder("f", [SCALAR])
    (x,) = b.arguments
    zero = b.op(elementwise.SUBTRACT, x, x)
    function = b.finish([b.op(elementwise.DIVIDE, x, zero), b.op(elementwise.LOG, zero)])
    assert interpret(function, [np.array(1.0)]) == [np.inf, -np.inf]
    op = function.body.ops[1]
    assert evaluate_op(op, {x: np.array(1.0), zero: np.array(0.0)}) == [np.inf]


def test_loop_uses_values_from_outside():
    b = FunctionBuilder("f", [I64, VECTOR])
    n, v = b.arguments
    function = b.finish([counted_loop(b, n, v, lambda i, c: b.op(elementwise.ADD, c, v))])
    run = Interpreter(function)
    for count in (0, 1, 5):
        np.testing.assert_array_equal(run([np.array(count), np.arange(3.0)])[0], (1 + count) * np.arange(3.0))


def test_free_values_of_nested_regions_and_evaluate_op():
    b = FunctionBuilder("f", [I64, SCALAR, SCALAR])
    n, x, y = b.arguments

    def inner(i, c):
        return counted_loop(b, n, c, lambda j, d: b.op(elementwise.ADD, d, y))

    total = counted_loop(b, n, x, inner)
    loop = total.owner
    assert set(free_values(loop)) == {n, y, loop.regions[1].ops[0].operands[1]}
    assert free_values(loop.regions[0]) == [n]
    environment = {v: np.array(k) for v, k in ((n, 3), (x, 1.0), (y, 2.0))}
    with pytest.raises(KeyError):
        evaluate_op(loop, environment)
    for op in b.finish([total]).body.ops:
        environment.update(zip(op.results, evaluate_op(op, environment), strict=True))
    assert environment[total] == 1 + 9 * 2
    assert free_values(Region()) == []


def test_calls_share_one_plan_and_may_nest():
    inner = FunctionBuilder("twice", [VECTOR])
    twice = inner.finish([inner.op(elementwise.ADD, *inner.arguments * 2)])
    middle = FunctionBuilder("four_times", [VECTOR])
    first = middle.ops(control_flow.CALL, *middle.arguments, callee=twice)
    four_times = middle.finish(middle.ops(control_flow.CALL, *first, callee=twice))
    outer = FunctionBuilder("f", [I64, VECTOR])
    n, v = outer.arguments

    def step(i, c):
        return outer.ops(control_flow.CALL, c, callee=four_times)[0]

    function = outer.finish([counted_loop(outer, n, v, step)])
    np.testing.assert_array_equal(interpret(function, [np.array(3), np.ones(3)])[0], np.full(3, 64.0))


def test_deep_graphs_need_no_deep_stack():
    b = FunctionBuilder("f", [SCALAR])
    (x,) = b.arguments
    for _ in range(5000):
        x = b.op(elementwise.NEGATE, x)
    function = b.finish([x])
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(200)
    try:
        assert interpret(function, [np.array(3.0)]) == [3.0]
    finally:
        sys.setrecursionlimit(limit)


def test_dead_values_are_dropped():
    alive = []

    def make(arrays, attributes):
        array = np.ones(4)
        alive.append(weakref.ref(array))
        return [array]

    def count(arrays, attributes):
        return [np.array(sum(ref() is not None for ref in alive), np.int64)]

    register_custom_call("test.make", make)
    register_custom_call("test.count", count)
    four = TensorType((4,), F64)
    b = FunctionBuilder("f", [])
    counts = []
    previous = None
    for _ in range(3):
        (made,) = b.ops(control_flow.CUSTOM_CALL, call_target_name="test.make", results=[four])
        made = b.op(elementwise.NEGATE, made)
        previous = made if previous is None else b.op(elementwise.ADD, previous, made)
        counts += b.ops(control_flow.CUSTOM_CALL, call_target_name="test.count", results=[I64])
    got = interpret(b.finish([previous, *counts]), [])
    assert [int(c) for c in got[1:]] == [0, 0, 0]


def test_arguments_are_kept_alive_by_nobody():
    b = FunctionBuilder("f", [VECTOR])
    run = Interpreter(b.finish([b.op(elementwise.NEGATE, *b.arguments)]))
    array = np.ones(3)
    reference = weakref.ref(array)
    run([array])
    del array
    gc.collect()
    assert reference() is None


def test_results_may_be_unused_or_repeated_and_arguments_returned():
    b = FunctionBuilder("f", [VECTOR])
    (x,) = b.arguments
    b.op(elementwise.NEGATE, x)
    y = b.op(elementwise.ABS, x)
    got = interpret(b.finish([x, y, y, x]), [np.array([-1.0, 0, 1])])
    np.testing.assert_array_equal(got, [[-1, 0, 1], [1, 0, 1], [1, 0, 1], [-1, 0, 1]])


def test_tokens_pass_through():
    b = FunctionBuilder("f", [TokenType(), SCALAR])
    token, x = b.arguments
    results = b.ops(control_flow.OPTIMIZATION_BARRIER, token, x)
    mark = object()
    got = interpret(b.finish(results), [mark, np.array(1.0)])
    assert got[0] is mark
    assert got[1] == 1


def test_number_of_arguments_is_checked():
    with pytest.raises(InternalError, match="takes 0 arrays, not 1"):
        interpret(Function("f"), [np.ones(1)])


def test_one_op_outside_any_function():
    region = Region([SCALAR])
    op = make_op(elementwise.ADD, region.arguments * 2)
    (got,) = evaluate_op(op, {region.arguments[0]: np.array(2.0)})
    assert got == 4
    assert type(got) is np.ndarray


@pytest.mark.specifies("run-time errors")
def test_errors_name_the_innermost_op_and_its_line():
    def fail(arrays, attributes):
        raise OSError("no such device")

    register_custom_call("test.fail", fail)
    inner = FunctionBuilder("inner", [SCALAR])
    (x,) = inner.arguments
    attributes = {"call_target_name": "test.fail"}
    op = make_op(control_flow.CUSTOM_CALL, [x], attributes, results=[SCALAR], location=Location(None, 7, "model.py"))
    callee = inner.finish(inner.append(op))
    outer = FunctionBuilder("f", [SCALAR])
    function = outer.finish(outer.ops(control_flow.CALL, *outer.arguments, callee=callee))
    with pytest.raises(OSError, match="no such device") as caught:
        interpret(function, [np.array(1.0)])
    assert caught.value.__notes__ == ["while running <custom_call(tensor<f64>) -> (tensor<f64>)> from model.py:7"]
