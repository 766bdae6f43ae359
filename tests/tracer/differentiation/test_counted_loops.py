"""Reverse mode through loops whose number of steps follows from constants, in the forms in which exporters write them."""

from __future__ import annotations

import numpy as np
import pytest

import numhlo

PROGRAM = """
func.func public @main(%x: tensor<f64>) -> tensor<f64> {{
  %true = stablehlo.constant dense<true> : tensor<i1>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %six = stablehlo.constant dense<6> : tensor<i32>
  %r:5 = stablehlo.while(%i = {start}, %y = %x, %k = %one, %n = %six, %p = %true)
    : tensor<i32>, tensor<f64>, tensor<i32>, tensor<i32>, tensor<i1>
  cond {{
    {test}
    stablehlo.return %t : tensor<i1>
  }} do {{
    %s = stablehlo.sine %y : tensor<f64>
    %next = stablehlo.{step} : tensor<i32>
    %twice = stablehlo.add %k, %k : tensor<i32>
    %going = stablehlo.compare LT, %next, %six : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %next, %s, %twice, %n, %going : tensor<i32>, tensor<f64>, tensor<i32>, tensor<i32>, tensor<i1>
  }}
  return %r#1 : tensor<f64>
}}
"""
SMALLER = "stablehlo.compare {}, {}, {} : (tensor<i32>, tensor<i32>) -> tensor<i1>"
UP, DOWN = "add %i, %one", "subtract %i, %one"


@pytest.mark.parametrize(
    ("count", "start", "step", "test"),
    [
        (6, "%six", DOWN, "%t = " + SMALLER.format("GT", "%i", "%zero")),
        (7, "%zero", UP, "%t = " + SMALLER.format("GE", "%n", "%i")),
        (6, "%zero", UP, "%t = " + SMALLER.format("NE", "%i", "%n")),
        (3, "%zero", UP, "%t = " + SMALLER.format("LT", "%k", "%six")),
        (3, "%zero", "add %i, %k", "%t = stablehlo.and %p, %p : tensor<i1>"),
        (
            3,
            "%zero",
            UP,
            f"%a = {SMALLER.format('LT', '%i', '%six')}\n %b = {SMALLER.format('LE', '%k', '%six')}\n"
            " %t = stablehlo.and %a, %b : tensor<i1>",
        ),
    ],
)
def test_loops_are_counted_by_what_decides_of_them(count: int, start: str, step: str, test: str) -> None:
    main = numhlo.stablehlo.parse(PROGRAM.format(start=start, step=step, test=test)).callable("main")
    points = np.array([0.3, 1.2])
    expected, y = np.ones(2), points
    for _ in range(count):
        expected, y = expected * np.cos(y), np.sin(y)
    np.testing.assert_allclose(main(points[1]), y[1], rtol=1e-14)
    np.testing.assert_allclose(numhlo.vmap(numhlo.grad(main))(points), expected, rtol=1e-14)
