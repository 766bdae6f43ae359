import numpy as np
import pytest

from numhlo.lowering.ir import Function, Location, Module, Region, TensorType
from numhlo.lowering.ir.structure import structural_key, structurally_equal
from numhlo.lowering.ops import FunctionBuilder, control_flow, elementwise, layout
from tests.work import count_calls

VECTOR = TensorType((4,), np.dtype("float32"))
SCALAR = TensorType((), np.dtype("float32"))


def function(write, *types, name="f"):
    b = FunctionBuilder(name, types or (VECTOR,))
    return b.finish(write(b, *b.arguments))


def doubled(name="double"):
    return function(lambda b, x: [b.op(elementwise.ADD, x, x)], name=name)


def call(callee):
    return function(lambda b, x: [b.op(control_flow.CALL, x, callee=callee, result=VECTOR)])


def test_names_and_locations_do_not_matter():
    first, second = doubled("a"), doubled("b")
    second.body.ops[0].location = Location(None, 3, "file.py", 1)
    assert structurally_equal(first, second)
    assert structurally_equal(call(first), call(second))


def test_sharing_does_not_matter():
    shared = doubled()

    def write(first, second):
        def body(b, x):
            y = b.op(control_flow.CALL, x, callee=first, result=VECTOR)
            return [b.op(control_flow.CALL, y, callee=second, result=VECTOR)]

        return function(body)

    assert structurally_equal(write(shared, shared), write(doubled(), doubled()))


def constant(array):
    return function(lambda b, x: [b.constant(array)])


DIFFERENT = {
    "op": (doubled(), function(lambda b, x: [b.op(elementwise.MULTIPLY, x, x)])),
    "operands": (
        function(lambda b, x, y: [b.op(elementwise.SUBTRACT, x, y)], VECTOR, VECTOR),
        function(lambda b, x, y: [b.op(elementwise.SUBTRACT, y, x)], VECTOR, VECTOR),
    ),
    "returns": (
        function(lambda b, x, y: [x], VECTOR, VECTOR),
        function(lambda b, x, y: [y], VECTOR, VECTOR),
    ),
    "argument types": (function(lambda b, x: [], VECTOR), function(lambda b, x: [], SCALAR)),
    "result types": (
        function(lambda b, x: [b.op(layout.RESHAPE, x, result=VECTOR.with_shape((2, 2)))]),
        function(lambda b, x: [b.op(layout.RESHAPE, x, result=VECTOR.with_shape((4, 1)))]),
    ),
    "attributes": (
        function(lambda b, x: [b.op(layout.REVERSE, x, dimensions=(0,))]),
        function(lambda b, x: [b.op(layout.REVERSE, x, dimensions=())]),
    ),
    "constant's values": (constant(np.float32([1, 2])), constant(np.float32([1, 3]))),
    "constant's bits": (constant(np.float32([0.0])), constant(np.float32([-0.0]))),
    "constant's dtype": (constant(np.float32([1])), constant(np.int32([1]))),
    "constant's shape": (constant(np.zeros((2, 3))), constant(np.zeros((3, 2)))),
    "callee": (call(doubled()), call(function(lambda b, x: [x]))),
}


@pytest.mark.parametrize(("first", "second"), DIFFERENT.values(), ids=DIFFERENT)
def test_all_else_matters(first, second):
    assert structurally_equal(first, first)
    assert not structurally_equal(first, second)


def test_regions_matter():
    def write(definition):
        def body(b, x):
            branches = [b.region([], lambda: [x]), b.region([], lambda: [b.op(definition, x)])]
            return b.ops(control_flow.CASE, b.constant(np.int32(1)), regions=branches)

        return function(body)

    assert structurally_equal(write(elementwise.NEGATE), write(elementwise.NEGATE))
    assert not structurally_equal(write(elementwise.NEGATE), write(elementwise.ABS))


def test_attributes_of_every_kind():
    values = [None, True, 1, 1.0, "1", (1,), {"a": 1}, np.int32(1), np.float32(1), np.ones(1), doubled()]
    keys = set()
    for value in values:
        changed = doubled()
        changed.body.ops[0].attributes["extra"] = value
        keys.add(structural_key(changed))
    assert len(keys) == len(values)
    absent = doubled()
    assert structural_key(absent) in keys  # None is as good as absent


def test_broadcast_constants_are_not_filled_in():
    huge = np.broadcast_to(np.float32(2), (10**6, 10**6))
    assert structurally_equal(constant(huge), constant(np.broadcast_to(np.float32(2), huge.shape)))
    small = np.broadcast_to(np.float32([[1], [2]]), (2, 3))
    assert structurally_equal(constant(small), constant(small.copy()))
    assert structurally_equal(constant(np.broadcast_to(np.float32(2), (3,))), constant(np.full(3, 2, np.float32)))


def test_modules_compare_public_functions_by_name():
    def module(names, private="helper"):
        return Module([Function(n, visibility="public") for n in names] + [Function(private)], "any")

    assert structurally_equal(module(["main", "other"]), module(["other", "main"], private="renamed"))
    assert not structurally_equal(module(["main", "other"]), module(["main", "another"]))


def test_recursion_is_no_endless_loop():
    def recursive():
        f = Function("f", Region([VECTOR]))
        g = call(f)
        f.body = g.body
        return f

    assert structurally_equal(recursive(), recursive())


def test_long_chains_of_calls_are_no_deep_recursion():
    callee = doubled()
    for _ in range(3000):
        callee = call(callee)
    assert len(structural_key(callee)) == 32


def test_key_is_linear():
    def work(count):
        def write(b, x):
            for number in range(count):
                x = b.op(elementwise.ADD, x, b.constant(np.full(4, number, np.float32)))
            return [x]

        return count_calls(structural_key, function(write))

    assert work(3000) < 7 * work(500)
