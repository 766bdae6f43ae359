"""Reductions, map, sort and topk: what their computations may be, and in which order these take elements."""

import numpy as np
import pytest

from numhlo import stablehlo
from numhlo.lowering.ir.errors import ParseError, UnsupportedError
from tests.lowering.hlo.judges import check, entry, normal

SCALARS = """
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
less { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = pred[] compare(a, b), direction=LT }
first_less {
  a = f32[] parameter(0)  b = f32[] parameter(1)  p = s32[] parameter(2)  q = s32[] parameter(3)
  ROOT c = pred[] compare(a, b), direction=LT, type=TOTALORDER
}
pair {
  a = f32[] parameter(0)  i = s32[] parameter(1)  b = f32[] parameter(2)  j = s32[] parameter(3)
  p = pred[] compare(a, b), direction=GE  v = f32[] select(p, a, b)  k = s32[] select(p, i, j)
  ROOT t = (f32[], s32[]) tuple(v, k)
}
square { a = f32[] parameter(0)  ROOT c = f32[] multiply(a, a) }
"""


@pytest.mark.parametrize(("result", "dims"), [("f32[3]", "0"), ("f32[2]", "1"), ("f32[]", "0,1"), ("f32[2,3]", "")])
def test_reductions(result, dims):
    lines = ["x = f32[2,3] parameter(0)", "c = f32[] constant(0)"]
    check(
        entry(*lines, f"ROOT r = {result} reduce(x, c), dimensions={{{dims}}}, to_apply=add", before=SCALARS),
        normal(2, 3),
    )


def test_reductions_of_several_arrays():
    lines = ["x = f32[6] parameter(0)", "n = s32[6] iota(), iota_dimension=0", "c = f32[] constant(-inf)"]
    lines += ["z = s32[] constant(-1)", "r = (f32[], s32[]) reduce(x, n, c, z), dimensions={0}, to_apply=pair"]
    lines += ["ROOT k = s32[] get-tuple-element(r), index=1"]
    check(entry(*lines, before=SCALARS), normal(6))


def test_map():
    lines = ["x = f32[2,3] parameter(0)", "ROOT r = f32[2,3] map(x), dimensions={0,1}, to_apply=square"]
    check(entry(*lines, before=SCALARS), normal(2, 3))


@pytest.mark.parametrize("rest", ["dimensions={0}", "dimensions={1}", "dimensions={1}, is_stable=true"])
def test_sort(rest):
    lines = ["x = f32[4,5] parameter(0)", f"ROOT r = f32[4,5] sort(x), {rest}, to_apply=less"]
    check(entry(*lines, before=SCALARS), normal(4, 5))


def test_sort_of_several_arrays():
    lines = ["x = f32[6] parameter(0)", "n = s32[6] iota(), iota_dimension=0"]
    lines += ["ROOT r = (f32[6], s32[6]) sort(x, n), dimensions={0}, is_stable=true, to_apply=first_less"]
    check(entry(*lines, before=SCALARS), np.array([0, -0.0, np.nan, 1, -np.inf, 1], np.float32))


def test_topk():
    lines = ["x = f32[2,5] parameter(0)", "ROOT r = (f32[2,2], s32[2,2]) topk(x), k=2, largest=true"]
    check(entry(*lines), normal(2, 5))


def test_a_computation_is_written_once_for_each_use_and_may_use_constants_of_around():
    text = """func.func @main(%x: tensor<4xf32>) -> tensor<f32> {
      %z = stablehlo.constant dense<0.0> : tensor<f32>
      %two = stablehlo.constant dense<2.0> : tensor<f32>
      %0 = stablehlo.reduce(%x init: %z) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
       reducer(%a: tensor<f32>, %b: tensor<f32>) {
        %1 = stablehlo.minimum %b, %two : tensor<f32>
        %2 = stablehlo.maximum %a, %1 : tensor<f32>
        stablehlo.return %2 : tensor<f32>
      }
      %3 = stablehlo.add %0, %two : tensor<f32>
      return %3 : tensor<f32>
    }"""
    x = normal(4)
    module = check(stablehlo.parse(text).as_hlo_text(), x)
    assert module.run("main", np.array([1, 7, -3, 0], np.float32))[0] == 4


def test_what_a_region_uses_from_around():
    text = """func.func @main(%x: tensor<4xf32>, %y: tensor<f32>) -> tensor<f32> {
      %0 = stablehlo.reduce(%x init: %y) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
       reducer(%a: tensor<f32>, %b: tensor<f32>) {
        %1 = stablehlo.multiply %b, %y : tensor<f32>
        %2 = stablehlo.add %a, %1 : tensor<f32>
        stablehlo.return %2 : tensor<f32>
      }
      return %0 : tensor<f32>
    }"""
    with pytest.raises(UnsupportedError, match="uses a value from around it, a tensor<f32>"):
        stablehlo.parse(text).as_hlo_text()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("f32[] reduce(x), dimensions={0}, to_apply=add", "as many initial values"),
        ("f32[] reduce(x, c), dimensions={1}, to_apply=add", "dimensions"),
        ("f32[] reduce(x, c), dimensions={0}, to_apply=square", "body"),
        ("f32[] reduce(x, c), dimensions={0}, to_apply=nothing", "computation nothing is not defined before this"),
        ("f32[4] sort(x), dimensions={0,1}, to_apply=less", "sort has one dimension"),
        ("f32[4] sort(x), dimensions={0}, to_apply=add", "comparator"),
        ("(f32[2], s32[2]) topk(x), k=2, largest=false", "the smallest elements"),
        ("(f32[2], s32[2]) topk(c), k=2", "at least one dimension"),
        ("f32[4] map(), to_apply=square", "at least one array"),
    ],
)
def test_what_is_refused(line, message):
    lines = ["x = f32[4] parameter(0)", "c = f32[] constant(0)", f"ROOT r = {line}"]
    with pytest.raises(ParseError, match=message):
        stablehlo.from_hlo(entry(*lines, before=SCALARS))
