"""Verification: what is accepted, one test per kind of violation, and the text that a broken pass leaves behind."""

import numpy as np
import pytest

from numhlo.lowering.ir import Function, Location, Module, Region, TensorType
from numhlo.lowering.ir.errors import InternalError, VerificationError
from numhlo.lowering.ops import FunctionBuilder, control_flow, elementwise, layout
from numhlo.lowering.ops.primitive import make_op
from numhlo.lowering.text import parse
from numhlo.lowering.verifier import verify
from tests.lowering.text.programs import MODULES
from tests.work import count_calls

F32 = TensorType((3,), np.dtype(np.float32))
F64 = TensorType((3,), np.dtype(np.float64))
BOOL = TensorType((), np.dtype(np.bool_))
HERE = Location(None, 7, "model.py")


def function(write, *types, name="main"):
    b = FunctionBuilder(name, types)
    return b.finish(write(b, *b.arguments), visibility="public")


def double(b, x):
    return [b.op(elementwise.ADD, x, x)]


def branching(b, p, x):
    """Both branches of an if use a value from outside."""
    branches = [b.region([], lambda: double(b, x)), b.region([], lambda: [x])]
    return b.ops(control_flow.IF, p, regions=branches)


def complain(program, **options):
    with pytest.raises(VerificationError) as caught:
        verify(program, **options)
    return caught.value


@pytest.mark.parametrize("name", MODULES)
def test_programs_are_accepted(name):
    verify(MODULES[name])


def test_outer_values_are_visible_in_regions():
    verify(function(branching, BOOL, F32))


def test_type_rules_run_again():
    main = function(double, F32)
    main.body.ops[0].location = HERE
    main.body.arguments[0].type = TensorType((3,), np.dtype(np.int32))
    assert str(complain(main)) == (
        "add(int32[3], int32[3]): (C1) the operands and the result must have the same type: int32[3], not float32[3]\n"
        "  at model.py:7\n"
        "  StableHLO specification, add"
    )


def test_results_are_what_the_rule_says():
    main = function(double, F32)
    main.body.ops[0].results[0].type = F64
    assert "float64[3]" in str(complain(main))
    main = function(lambda b, x: [b.op(layout.TRANSPOSE, x, permutation=(0,))], F32)
    main.body.ops[0].results.clear()
    main.body.returns = []
    assert "transpose" in str(complain(main))


def test_operands_are_defined_before():
    main = function(lambda b, x: [b.op(elementwise.TANH, b.op(elementwise.SINE, x))], F32)
    main.body.ops.reverse()
    assert str(complain(main)) == ("tanh(float32[3]): operand 0 is used before it is defined\n  in @main")


def test_operands_of_an_ended_region_are_not_visible():
    main = function(branching, BOOL, F32)
    inner = main.body.ops[0].regions[0].ops[0].result
    main.body.returns = [inner]
    assert "@main: returned value 0 is not visible here: it belongs to a region" in str(complain(main))
    main = function(branching, BOOL, F32)
    first, second = main.body.ops[0].regions
    second.returns = first.ops[0].results
    assert "if(bool[]): returned value 0 is not visible here" in str(complain(main))


def test_an_op_does_not_see_its_own_results():
    main = function(branching, BOOL, F32)
    op = main.body.ops[0]
    op.regions[1].returns = op.results
    assert "if(bool[]): returned value 0 is used before it is defined" in str(complain(main))


def test_functions_are_closed():
    inner = function(double, F32, name="inner")
    main = function(lambda b, x: b.ops(control_flow.CALL, x, callee=inner), F32)
    inner.body.ops[0].operands[0] = main.body.arguments[0]
    error = complain(main)
    assert "operand 0 is not visible here: it belongs to a region that has ended, or to another function" in str(error)
    assert error.why == "in @inner"


def test_returned_values_are_defined():
    main = function(double, F32)
    main.body.returns = list(function(double, F32).body.returns)
    assert "@main: returned value 0 is used before it is defined" in str(complain(main))


def test_ops_and_regions_stand_once():
    main = function(double, F32)
    main.body.ops *= 2
    assert "add(float32[3], float32[3]): the op is in the program twice" in str(complain(main))
    main = function(branching, BOOL, F32)
    main.body.ops[0].regions[1] = main.body.ops[0].regions[0]
    assert "if(bool[]): a region of it is in the program twice" in str(complain(main))


def test_values_know_their_owners():
    main, other = function(double, F32), function(double, F32)
    main.body.ops[0].results = other.body.ops[0].results
    assert "one of its results has another owner" in str(complain(main))
    main.body.arguments = other.body.arguments
    assert "@main: a region's argument has another owner" in str(complain(main))


def test_numbers_of_operands_and_regions():
    main = function(double, F32)
    main.body.ops[0].operands.pop()
    assert "add(float32[3]): 1 operands, not 2" in str(complain(main))
    main = function(branching, BOOL, F32)
    main.body.ops[0].regions.pop()
    assert "if(bool[]): 1 regions, not 2" in str(complain(main))


def test_attributes_are_there_and_of_their_kind():
    main = function(lambda b, x: [b.op(layout.TRANSPOSE, x, permutation=(0,))], F32)
    attributes = main.body.ops[0].attributes
    attributes["permutation"] = [0]
    assert "the attribute permutation must be array<i64>, not list" in str(complain(main))
    del attributes["permutation"]
    assert "the attribute permutation is missing" in str(complain(main))
    main = parse(
        "func.func @main(%x: tensor<f32>) -> tensor<i1> {"
        ' %0 = "stablehlo.compare"(%x, %x) <{comparison_direction = #stablehlo<comparison_direction EQ>}>'
        " : (tensor<f32>, tensor<f32>) -> tensor<i1> return %0 : tensor<i1> }"
    ).main
    main.body.ops[0].attributes["comparison_direction"] = "LESS"
    assert "comparison_direction must be one of EQ, NE, GE, GT, LE, LT, not 'LESS'" in str(complain(main))


def test_branches_return_the_same_types():
    text = """func.func @main(%p: tensor<i1>, %x: tensor<f32>, %y: tensor<f64>) -> tensor<f32> {
      %0 = "stablehlo.if"(%p) ({
        stablehlo.return %x : tensor<f32>
      }, {
        stablehlo.return %y : tensor<f64>
      }) : (tensor<i1>) -> tensor<f32>
      return %0 : tensor<f32>
    }"""
    assert str(complain(parse(text, "model.mlir"))).startswith(
        "if(bool[]): (C2) branches must return the same types\n  at model.mlir:2"
    )


def test_calls_fit_their_callees():
    inner = function(double, F32, name="inner")
    main = function(lambda b, x: b.ops(control_flow.CALL, x, callee=inner), F32)
    main.body.ops[0].results[0].type = F64
    assert "call(float32[3]): results must have the types of the callee's" in str(complain(main))
    main = function(lambda b, x: b.ops(control_flow.CALL, x, callee=inner), F32)
    inner.body.ops, inner.body.returns = [], []
    assert "call(float32[3]): @inner returns nothing" in str(complain(main))


@pytest.mark.specifies("functions and calls, Call")
def test_functions_are_not_recursive():
    text = """
    func.func @main(%x: tensor<f32>) -> tensor<f32> {
      %0 = func.call @even(%x) : (tensor<f32>) -> tensor<f32>
      return %0 : tensor<f32>
    }
    func.func private @even(%x: tensor<f32>) -> tensor<f32> {
      %0 = func.call @odd(%x) : (tensor<f32>) -> tensor<f32>
      return %0 : tensor<f32>
    }
    func.func private @odd(%x: tensor<f32>) -> tensor<f32> {
      %0 = func.call @even(%x) : (tensor<f32>) -> tensor<f32>
      return %0 : tensor<f32>
    }"""
    error = complain(parse(text, "loop.mlir"))
    assert str(error) == (
        "call(float32[]): recursion: @even calls @odd calls @even\n"
        "  at loop.mlir:11:12\n"
        "  StableHLO has no recursive functions"
    )


def test_public_names_are_distinct():
    module = Module([function(double, F32), function(double, F32)])
    assert str(complain(module)) == "two public functions are called @main"


def test_attributes_of_arguments_are_as_many():
    main = function(double, F32)
    main.argument_attributes = [{}, {}]
    assert str(complain(main)) == "@main: 2 argument_attributes for 1 values"


def test_a_fault_of_a_pass_is_ours(golden):
    main = function(branching, BOOL, F32)
    main.body.ops[0].regions[0].ops[0].operands[1] = function(double, F32).body.arguments[0]
    with pytest.raises(InternalError) as caught:
        verify(main, after="simplify")
    (note,) = caught.value.__notes__
    golden(f"{caught.value}\n\n{note}")


def test_broken_programs_can_be_printed():
    main = function(lambda b, x: [b.op(layout.TRANSPOSE, x, permutation=(0,))], F32)
    main.body.ops[0].attributes.clear()
    main.body.ops[0].operands.clear()
    with pytest.raises(InternalError, match="after layout: transpose") as caught:
        verify(Module([main]), after="layout")
    assert "^^^ transpose(): 0 operands, not 1" in caught.value.__notes__[0]


def nested(depth):
    """An if inside an if, ``depth`` times."""
    predicate_body = Region([BOOL, F32])
    region, (p, x) = predicate_body, predicate_body.arguments
    for _ in range(depth):
        inner = [Region(), Region()]
        for r in inner:
            r.returns = [x]
        op = make_op(control_flow.IF, [p], {}, inner)
        region.ops.append(op)
        region = inner[0]
    return Function("main", predicate_body)


def test_nesting_has_no_limit():
    verify(nested(3_000))


def chain(length):
    def write(b, x):
        for _ in range(length):
            x = b.op(elementwise.ADD, x, x)
        return [x]

    return function(write, F32)


def test_work_is_linear():
    small, large = (count_calls(verify, chain(length)) for length in (1_000, 10_000))
    assert large < 11 * small
