"""Arrays that a loop's kernels make up themselves, instead of reading them from memory."""

import numpy as np
import pytest

from numhlo.backend.program import Loop, Place
from numhlo.lowering.interpreter import interpret
from numhlo.lowering.passes.pipeline import optimize
from numhlo.lowering.text import parse
from tests.backend.plain_engine import assert_same_bits, run_plain
from tests.backend.programs import all_steps, plan

LOOP = """
func.func @main(%x: tensor<100xf32>) -> tensor<100xf32> {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %third = stablehlo.constant dense<0.3333> : tensor<f32>
  %thirds = stablehlo.broadcast_in_dim %third, dims = [] : (tensor<f32>) -> tensor<100xf32>
  %places = stablehlo.iota dim = 0 : tensor<100xf32>
  %start = stablehlo.add %x, %places : tensor<100xf32>
  %first = stablehlo.multiply %start, %thirds : tensor<100xf32>
  %result:2 = stablehlo.while(%i = %zero, %a = %first) : tensor<i32>, tensor<100xf32>
  cond {{
    %limit = stablehlo.constant dense<4> : tensor<i32>
    %more = stablehlo.compare LT, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  }} do {{
    {round}
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %b : tensor<i32>, tensor<100xf32>
  }}
  return %result#1 : tensor<100xf32>
}}"""

SUM = """
    %none = stablehlo.constant dense<0.0> : tensor<f32>
    %sum = stablehlo.reduce(%a init: %none) applies stablehlo.add across dimensions = [0] :
        (tensor<100xf32>, tensor<f32>) -> tensor<f32>
    %sums = stablehlo.broadcast_in_dim %sum, dims = [] : (tensor<f32>) -> tensor<100xf32>
    %old = stablehlo.add %a, %sums : tensor<100xf32>"""

USES = {
    "elementwise": "%c = stablehlo.multiply %old, %thirds : tensor<100xf32>\n"
    "%b = stablehlo.add %c, %places : tensor<100xf32>",
    "in a branch": """
    %test = stablehlo.compare GT, %sum, %third : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %b = "stablehlo.if"(%test) ({
      %c = stablehlo.multiply %old, %thirds : tensor<100xf32>
      stablehlo.return %c : tensor<100xf32>
    }, {
      %c = stablehlo.add %old, %places : tensor<100xf32>
      stablehlo.return %c : tensor<100xf32>
    }) : (tensor<i1>) -> tensor<100xf32>""",
}


def planned(text):
    function = optimize(parse(text).main)
    x = np.linspace(-1, 1, 100, dtype=np.float32)
    program = plan(function)
    for left, right in zip(run_plain(program, [x]), interpret(function, [x]), strict=True):
        assert_same_bits(left, np.asarray(right))
    return program


def arrays_of(program):
    """Return how many buffers with more than one element a program has, arguments and results apart."""
    places = (Place.ARENA, Place.CONSTANT)
    return sum(b.place in places and b.type.size > 1 for b in program.buffers)


@pytest.mark.parametrize("use", USES)
def test_splats_and_positions_are_no_arrays_of_a_loop(use):
    program = planned(LOOP.format(round=SUM + USES[use]))
    assert arrays_of(program) == (0 if use == "elementwise" else 1)  # a branch's result


def test_what_is_read_by_its_position_stays_an_array():
    row = """
    %row = stablehlo.dynamic_slice %places, %i, sizes = [1] : (tensor<100xf32>, tensor<i32>) -> tensor<1xf32>
    %value = stablehlo.reshape %row : (tensor<1xf32>) -> tensor<f32>
    %values = stablehlo.broadcast_in_dim %value, dims = [] : (tensor<f32>) -> tensor<100xf32>
    %b = stablehlo.add %old, %values : tensor<100xf32>"""
    program = planned(LOOP.format(round=SUM + row))
    assert arrays_of(program) == 1


def test_a_loop_of_one_kernel_makes_them_up():
    program = planned(LOOP.format(round=USES["elementwise"].replace("%old", "%a")))
    assert not any(isinstance(step, Loop) for step in all_steps(program))
    assert arrays_of(program) <= 1
