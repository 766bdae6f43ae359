"""Plans whose communication is wrong are found to be."""

import pytest

from numhlo.backend.plan_checking import check_plan
from numhlo.backend.planning import plan
from numhlo.backend.program import Communicate
from numhlo.lowering.ir.errors import InternalError
from numhlo.lowering.passes.pipeline import optimize
from numhlo.lowering.text import parse

TEXT = """
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<8xf32>) {
  %0 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}>
    : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.add %0, %x : tensor<4xf32>
  %2 = "stablehlo.all_gather"(%1) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>
    : (tensor<4xf32>) -> tensor<8xf32>
  %3 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[1, 0]]> : tensor<1x2xi64>}>
    : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %2 : tensor<4xf32>, tensor<8xf32>
}"""


@pytest.fixture
def planned():
    function = optimize(parse(TEXT).main)
    program = plan(function)
    check_plan(program, function)
    return program, function, [n for n, step in enumerate(program.steps) if isinstance(step, Communicate)]


def test_all_of_the_programs_communication_is_there(planned):
    program, function, places = planned
    assert len(places) == 3  # the last one's result has no use
    del program.steps[places[-1]]
    with pytest.raises(InternalError, match="3 ops of a region communicate with other processes, and 2 of its steps"):
        check_plan(program, function)


def test_its_order_is_the_programs(planned):
    program, function, (_, second, third) = planned
    program.steps[second], program.steps[third] = program.steps[third], program.steps[second]
    with pytest.raises(
        InternalError, match="the communication of collective_permute comes where the program has all_g"
    ):
        check_plan(program, function)


def test_no_process_writes_what_others_read(planned):
    program, function, (_, second, _) = planned
    step = program.steps[second]
    ((value, _),), ((_, target),) = step.inputs, step.outputs
    step.inputs = [(value, target)]
    with pytest.raises(InternalError, match=r"writes over the add, float32\[4\], which it reads"):
        check_plan(program, function)
