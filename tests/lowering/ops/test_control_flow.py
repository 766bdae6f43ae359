import numpy as np
import pytest

from numhlo.lowering.interpreter import interpret
from numhlo.lowering.ir import DYNAMIC, Function, Region, TensorType, TokenType
from numhlo.lowering.ir.errors import ShapeError, UnsupportedError, VerificationError
from numhlo.lowering.ops import (
    FunctionBuilder,
    comparison,
    control_flow,
    elementwise,
    function_has_effects,
    op_has_effects,
    register_custom_call,
)
from tests.lowering.ops.one_op import infer, run, scalar

F32, I32, I64, BOOL = (scalar(d) for d in (np.float32, np.int32, np.int64, np.bool_))


def test_while_worked_example_of_the_specification():
    b = FunctionBuilder("f", [I64, I64])
    one, ten = b.constant(np.int64(1)), b.constant(np.int64(10))

    def condition(i, total):
        return [b.op(comparison.COMPARE, i, ten, comparison_direction="LT")]

    def body(i, total):
        return [b.op(elementwise.ADD, i, one), b.op(elementwise.ADD, total, one)]

    regions = [b.region([I64, I64], condition), b.region([I64, I64], body)]
    function = b.finish(b.ops(control_flow.WHILE, *b.arguments, regions=regions))
    assert interpret(function, [np.array(1), np.array(1)]) == [10, 10]
    assert interpret(function, [np.array(99), np.array(1)]) == [99, 1]


def branches(*numbers):
    return [((), lambda b, n=n: [b.constant(np.int64(n)), b.constant(np.int64(-n))]) for n in numbers]


@pytest.mark.specifies("case if")
def test_only_the_chosen_branch_runs():
    for index, expected in ((-1, 12), (0, 10), (1, 11), (2, 12), (3, 12), (2**31 - 1, 12)):
        assert run(control_flow.CASE, np.int32(index), regions=branches(10, 11, 12)) == [expected, -expected]
    for flag, expected in ((True, 10), (False, 11)):
        assert run(control_flow.IF, np.bool_(flag), regions=branches(10, 11)) == [expected, -expected]
    assert run(control_flow.IF, np.bool_(True), regions=[((), lambda b: [])] * 2) == []
    register_custom_call("test.never", lambda arrays, attributes: pytest.fail("ran"))

    def never(b):
        return b.ops(control_flow.CUSTOM_CALL, call_target_name="test.never", results=[I64])

    untaken = [((), lambda b: [b.constant(np.int64(1))]), ((), never)]
    assert run(control_flow.IF, np.bool_(True), regions=untaken) == [1]


@pytest.mark.specifies("control flow")
def test_control_flow_nests_four_deep():
    b = FunctionBuilder("f", [I64, BOOL])
    n, flag = b.arguments

    def level(depth, value):
        if depth == 0:
            return b.op(elementwise.ADD, value, n)
        if depth % 2:
            regions = [b.region((), lambda: [level(depth - 1, value)]), b.region((), lambda: [value])]
            return b.ops(control_flow.IF, flag, regions=regions)[0]
        limit = b.op(elementwise.ADD, value, b.constant(np.int64(5)))
        regions = [
            b.region([I64], lambda x: [b.op(comparison.COMPARE, x, limit, comparison_direction="LT")]),
            b.region([I64], lambda x: [level(depth - 1, x)]),
        ]
        return b.ops(control_flow.WHILE, value, regions=regions)[0]

    function = b.finish([level(4, n)])

    def expected(depth, value, n):
        if depth == 0:
            return value + n
        if depth % 2:
            return expected(depth - 1, value, n)
        limit = value + 5
        while value < limit:
            value = expected(depth - 1, value, n)
        return value

    assert interpret(function, [np.array(3), np.array(True)]) == [expected(4, 3, 3)]


def twice():
    b = FunctionBuilder("twice", [F32])
    return b.finish([b.op(elementwise.ADD, *b.arguments * 2)])


@pytest.mark.specifies("composite")
def test_call_and_composite():
    x = np.float32(3)
    assert run(control_flow.CALL, x, callee=twice()) == [6]
    assert run(control_flow.COMPOSITE, x, name="my.twice", decomposition=twice()) == [6]
    # a name that is registered means what it is registered with, not its decomposition
    assert run(control_flow.COMPOSITE, x, name="numhlo.sinh", decomposition=twice()) == [
        np.sinh(3.0).astype(np.float32)
    ]
    assert run(control_flow.CALL, callee=FunctionBuilder("nothing", []).finish([])) == []


def test_forward_reference_is_believed_until_the_body_is_there():
    callee = Function("later")
    assert infer(control_flow.CALL, [F32], callee=callee, results=[F32]) == [F32]
    with pytest.raises(VerificationError, match="operands must have"):
        infer(control_flow.CALL, [I32], callee=twice(), results=[I32])
    with pytest.raises(VerificationError, match="results must have"):
        infer(control_flow.CALL, [F32], callee=twice(), results=[I32])


@pytest.mark.specifies("optimization_barrier")
def test_optimization_barrier_is_the_identity():
    got = run(control_flow.OPTIMIZATION_BARRIER, np.arange(3), np.float32(2))
    np.testing.assert_array_equal(got[0], [0, 1, 2])
    assert got[1] == 2
    assert run(control_flow.OPTIMIZATION_BARRIER) == []
    assert infer(control_flow.OPTIMIZATION_BARRIER, [TensorType((DYNAMIC,), F32.dtype)]) == [
        TensorType((-1,), F32.dtype)
    ]


@pytest.mark.specifies("custom_call")
def test_custom_call_runs_what_is_registered():
    seen = []

    def scale(arrays, attributes):
        seen.append(attributes)
        return [arrays[0] * attributes["backend_config"]["factor"], np.int32(7)]

    register_custom_call("test.scale", scale)
    options = {"call_target_name": "test.scale", "backend_config": {"factor": 3}, "api_version": 4}
    got = run(control_flow.CUSTOM_CALL, np.float32(2), results=[F32, I32], **options)
    assert got == [6, 7]
    assert seen[0]["api_version"] == 4
    assert seen[0]["has_side_effect"] is False


def test_custom_call_must_return_what_is_declared():
    register_custom_call("test.wrong", lambda arrays, attributes: [np.zeros(2, np.float32)])
    with pytest.raises(ShapeError) as caught:
        run(control_flow.CUSTOM_CALL, results=[F32], call_target_name="test.wrong")
    assert "registered for 'test.wrong' returned (tensor<2xf32>)" in str(caught.value)
    assert "the op declares (tensor<f32>)" in str(caught.value)


@pytest.mark.specifies("custom calls, custom_call")
def test_unknown_custom_call_is_named():
    with pytest.raises(UnsupportedError) as caught:
        run(control_flow.CUSTOM_CALL, results=[F32], call_target_name="test.unknown")
    assert "no function is registered for target 'test.unknown'" in str(caught.value)
    assert "numhlo.custom_call('test.unknown', function)" in str(caught.value)


def one_op(definition, *types, regions=(), **options):
    b = FunctionBuilder("f", types)
    made = [b.region(t, lambda *v, write=write: write(b, *v)) for t, write in regions]
    b.ops(definition, *b.arguments, regions=made, **options)
    return b.finish([])


def test_effects_follow_attributes_regions_and_callees():
    pure = one_op(control_flow.CUSTOM_CALL, call_target_name="x", results=[])
    effect = one_op(control_flow.CUSTOM_CALL, call_target_name="x", results=[], has_side_effect=True)
    assert not function_has_effects(pure)
    assert function_has_effects(effect)
    for callee, expected in ((pure, False), (effect, True)):
        caller = one_op(control_flow.CALL, callee=callee)
        assert op_has_effects(caller.body.ops[0]) is expected
        nested = [((), lambda b, f=caller: b.ops(control_flow.CALL, callee=f)), ((), lambda b: [])]
        branch = one_op(control_flow.IF, BOOL, regions=nested)
        assert op_has_effects(branch.body.ops[0]) is expected
        composite = one_op(control_flow.COMPOSITE, name="a.b", decomposition=caller)
        assert op_has_effects(composite.body.ops[0]) is expected
    assert not op_has_effects(twice().body.ops[0])


def test_effects_of_recursive_functions_end():
    function = Function("f")
    b = FunctionBuilder("g", [])
    b.ops(control_flow.CALL, callee=function, results=[])
    function.body = b.finish([]).body
    assert not function_has_effects(function)


def true(b, *_):
    return [b.constant(np.bool_(True))]


def same(b, *values):
    return values


@pytest.mark.parametrize(
    ("rule", "definition", "types", "regions"),
    [
        ("(C1)", control_flow.WHILE, [F32], [([I32], true), ([F32], same)]),
        ("(C1)", control_flow.WHILE, [F32], [([F32], same), ([F32], same)]),
        ("(C2)", control_flow.WHILE, [F32], [([F32], true), ([I32], same)]),
        ("(C2)", control_flow.WHILE, [F32], [([F32], true), ([F32], lambda b, x: [])]),
        ("(C1)", control_flow.IF, [BOOL], [([F32], same), ((), lambda b: [])]),
        ("(C2)", control_flow.IF, [BOOL], [((), true), ((), lambda b: [])]),
        ("(I1)", control_flow.IF, [I32], [((), true), ((), true)]),
        ("(I1)", control_flow.CASE, [I64], [((), true)]),
        ("(C1)", control_flow.CASE, [I32], []),
        ("(C2)", control_flow.CASE, [I32], [([F32], same)]),
        ("(C3)", control_flow.CASE, [I32], [((), true), ((), lambda b: [])]),
    ],
)
def test_constraints_of_regions(rule, definition, types, regions):
    with pytest.raises(VerificationError) as caught:
        infer(definition, types, regions=regions)
    assert rule in str(caught.value)


@pytest.mark.parametrize(
    ("rule", "types", "name", "results"),
    [
        ("(C1)", [F32], "twice", None),
        ("(C3)", [I32], "my.twice", None),
        ("(C4)", [F32], "my.twice", [I32]),
    ],
)
def test_constraints_of_composite(rule, types, name, results):
    with pytest.raises(VerificationError) as caught:
        infer(control_flow.COMPOSITE, types, name=name, decomposition=twice(), results=results)
    assert rule in str(caught.value)


def test_loop_carries_tokens():
    b = FunctionBuilder("f", [TokenType(), I64])

    def condition(token, i):
        return [b.op(comparison.COMPARE, i, b.constant(np.int64(3)), comparison_direction="LT")]

    def body(token, i):
        return [token, b.op(elementwise.ADD, i, b.constant(np.int64(1)))]

    types = [TokenType(), I64]
    results = b.ops(control_flow.WHILE, *b.arguments, regions=[b.region(types, condition), b.region(types, body)])
    assert interpret(b.finish(results), ["token", np.array(0)]) == ["token", 3]
    assert isinstance(Region(types).arguments[0].type, TokenType)
