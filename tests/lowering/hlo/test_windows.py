"""Convolutions, reduce-window and select-and-scatter, with all that windows can say."""

import numpy as np
import pytest

from numhlo import stablehlo
from numhlo.lowering.ir.errors import ParseError
from tests.lowering.hlo.judges import check, entry, normal

SCALARS = """
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
max { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] maximum(a, b) }
ge { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = pred[] compare(a, b), direction=GE }
"""


@pytest.mark.parametrize(
    ("lhs", "rhs", "result", "rest"),
    [
        ((1, 5, 5, 2), (3, 3, 2, 4), (1, 3, 3, 4), "window={size=3x3}, dim_labels=b01f_01io->b01f"),
        ((1, 5, 5, 2), (3, 3, 2, 4), (1, 5, 5, 4), "window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f"),
        ((2, 1, 6), (4, 1, 3), (2, 4, 3), "window={size=3 stride=2 pad=0_1}, dim_labels=bf0_oi0->bf0"),
        ((2, 1, 6), (4, 1, 3), (2, 4, 9), "window={size=3 lhs_dilate=2}, dim_labels=bf0_oi0->bf0"),
        ((2, 1, 6), (4, 1, 3), (2, 4, 2), "window={size=3 rhs_dilate=2 rhs_reversal=1}, dim_labels=bf0_oi0->bf0"),
        ((3, 6, 1), (3, 1, 4), (4, 4, 3), "window={size=3}, dim_labels=b0f_0io->0fb"),
        ((1, 5, 4), (2, 2, 6), (1, 4, 6), "window={size=2}, dim_labels=b0f_0io->b0f, feature_group_count=2"),
        ((4, 5, 3), (2, 3, 2), (2, 4, 2), "window={size=2}, dim_labels=b0f_0io->b0f, batch_group_count=2"),
        ((2, 3), (3, 4), (2, 4), "dim_labels=bf_io->bf"),
    ],
)
def test_convolutions(lhs, rhs, result, rest):
    def type(shape):
        return f"f32[{','.join(map(str, shape))}]"

    lines = [f"x = {type(lhs)} parameter(0)", f"k = {type(rhs)} parameter(1)"]
    check(entry(*lines, f"ROOT r = {type(result)} convolution(x, k), {rest}"), normal(*lhs), normal(*rhs, seed=1))


@pytest.mark.parametrize(
    ("result", "window"),
    [
        ("f32[3,4]", "{size=2x2}"),
        ("f32[2,2]", "{size=2x2 stride=2x2}"),
        ("f32[4,5]", "{size=2x2 pad=0_1x1_0}"),
        ("f32[7,4]", "{size=1x3 lhs_dilate=2x1 rhs_dilate=1x2 pad=0_0x2_1}"),
        ("f32[1,5]", "{size=4x1}"),
    ],
)
def test_reduced_windows(result, window):
    lines = ["x = f32[4,5] parameter(0)", "c = f32[] constant(0)"]
    line = f"ROOT r = {result} reduce-window(x, c), window={window}, to_apply=add"
    check(entry(*lines, line, before=SCALARS), normal(4, 5))


def test_several_arrays():
    before = """pair {
      a = f32[] parameter(0)  i = s32[] parameter(1)  b = f32[] parameter(2)  j = s32[] parameter(3)
      p = pred[] compare(a, b), direction=GE
      v = f32[] select(p, a, b)  k = s32[] select(p, i, j)  ROOT t = (f32[], s32[]) tuple(v, k)
    }"""
    lines = ["x = f32[6] parameter(0)", "n = s32[6] iota(), iota_dimension=0", "c = f32[] constant(-inf)"]
    lines += ["z = s32[] constant(0)"]
    line = "ROOT r = (f32[5], s32[5]) reduce-window(x, n, c, z), window={size=2}, to_apply=pair"
    check(entry(*lines, line, before=before), normal(6))


def test_gradients_of_pooling():
    lines = ["x = f32[4,4] parameter(0)", "s = f32[2,2] parameter(1)", "c = f32[] constant(0)"]
    line = "ROOT r = f32[4,4] select-and-scatter(x, s, c), window={size=2x2 stride=2x2}, select=ge, scatter=add"
    check(entry(*lines, line, before=SCALARS), normal(4, 4), normal(2, 2, seed=1))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("f32[4] reduce-window(x, c), window={size=2x2}, to_apply=add", "size must have 1 numbers"),
        ("f32[4] reduce-window(x, c), window={size=2 size=2}, to_apply=add", "has no size, or has it already"),
        ("f32[4] reduce-window(x, c), window={odd=2}, to_apply=add", "has no odd"),
        ("f32[4] reduce-window(x, c), window={size=2 pad=1}, to_apply=add", "pairs of numbers"),
        ("f32[4] reduce-window(x, c), window={size=0}, to_apply=add", "window_dimensions"),
        ("f32[4] reduce-window(x), window={size=2}, to_apply=add", "as many initial values"),
        ("f32[4] reduce-window(x, c), window={size=2 rhs_reversal=1}, to_apply=add", "can't be reversed"),
        ("f32[4] convolution(x, x), dim_labels=b0f_0io->b0f", "dim_labels name 3 dimensions"),
        ("f32[4] convolution(x, x), dim_labels=b0_0io->b0f", "must hold each of"),
        ("f32[4] convolution(x, x), dim_labels=3", "the dimensions of a convolution"),
        (
            "f32[5] select-and-scatter(x, x, c), window={size=2 lhs_dilate=2}, select=ge, scatter=add",
            "neither dilation",
        ),
    ],
)
def test_what_is_refused(line, message):
    lines = ["x = f32[5] parameter(0)", "c = f32[] constant(0)", f"ROOT r = {line}"]
    with pytest.raises(ParseError, match=message):
        stablehlo.from_hlo(entry(*lines, before=SCALARS))


def test_a_window_of_infinite_values():
    lines = ["x = f32[4] parameter(0)", "c = f32[] constant(-inf)"]
    line = "ROOT r = f32[3] reduce-window(x, c), window={size=2}, to_apply=max"
    check(entry(*lines, line, before=SCALARS), np.array([1, -np.inf, np.nan, 3], np.float32))
