"""The instruction dot: dimensions, precision, algorithms, types of sums."""

import ml_dtypes
import numpy as np
import pytest

from numhlo import stablehlo
from numhlo.lowering.hlo.contraction import ALGORITHMS
from numhlo.lowering.ir.errors import ParseError
from tests.lowering.hlo.judges import (
    assert_close,
    check,
    check_protos,
    entry,
    normal,
    printed_by_xla,
    read_by_xla,
    run_hlo_on_xla,
)


@pytest.mark.parametrize(
    ("lhs", "rhs", "result", "numbers"),
    [
        ((2, 3), (3, 4), (2, 4), "lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
        ((3,), (3,), (), "lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
        ((2,), (3,), (2, 3), ""),
        (
            (5, 2, 3),
            (5, 3, 4),
            (5, 2, 4),
            "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}",
        ),
        ((2, 3, 4), (3, 4, 5), (2, 5), "lhs_contracting_dims={1,2}, rhs_contracting_dims={0,1}"),
    ],
)
def test_dimensions(lhs, rhs, result, numbers):
    def type(shape):
        return f"f32[{','.join(map(str, shape))}]"

    lines = [f"x = {type(lhs)} parameter(0)", f"y = {type(rhs)} parameter(1)"]
    numbers = f", {numbers}" if numbers else ""
    check(entry(*lines, f"ROOT r = {type(result)} dot(x, y){numbers}"), normal(*lhs), normal(*rhs, seed=1))


MATRICES = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"


@pytest.mark.parametrize(
    ("type", "result", "dtype"),
    [
        ("s8", "s32", np.int8),
        ("bf16", "f32", ml_dtypes.bfloat16),
        ("f16", "f16", np.float16),
        ("u4", "u32", ml_dtypes.uint4),
    ],
)
def test_types_of_sums(type, result, dtype):
    x = np.arange(4).reshape(2, 2).astype(dtype)
    lines = [f"x = {type}[2,2] parameter(0)", f"ROOT r = {result}[2,2] dot(x, x), {MATRICES}"]
    text = entry(*lines)
    module = stablehlo.from_hlo(printed_by_xla(read_by_xla(text)))
    wide = x.astype(np.float64)
    assert_close([np.asarray(module.run("main", x)[0]).astype(float)], [wide @ wide], 1e-3)
    assert read_by_xla(module.as_hlo_text())


@pytest.mark.parametrize("precision", ["default,default", "highest,high"])
def test_precision(precision):
    lines = ["x = f32[2,2] parameter(0)", f"ROOT r = f32[2,2] dot(x, x), {MATRICES}, operand_precision={{{precision}}}"]
    module = check(entry(*lines), normal(2, 2))
    assert ("operand_precision={highest,high}" in module.as_hlo_text()) == ("highest" in precision)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_algorithms(name):
    type = name.split("_")[1].replace("tf32", "f32")
    lines = [f"x = {type}[2,2] parameter(0)", f"ROOT r = {type}[2,2] dot(x, x), {MATRICES}, algorithm={name}"]
    text = printed_by_xla(read_by_xla(entry(*lines)))
    assert f"algorithm={name}" in text
    module = stablehlo.from_hlo(text)
    assert f"algorithm={name}" in printed_by_xla(read_by_xla(module.as_hlo_text()))
    check_protos(text, module)
    x = np.arange(4).reshape(2, 2)
    dtype = module.functions["main"].source.argument_types[0].dtype
    assert_close([np.asarray(module.run("main", x.astype(dtype))[0]).astype(float)], [(x @ x).astype(float)], 1e-2)


@pytest.mark.parametrize("name", ["dot_any_f8_any_f8_f32", "dot_any_f8_any_f8_f32_fast_accum"])
def test_algorithms_of_eight_bits(name):
    lines = ["x = f8e4m3fn[2,2] parameter(0)", "y = f8e5m2[2,2] parameter(1)"]
    text = entry(*lines, f"ROOT r = f32[2,2] dot(x, y), {MATRICES}, algorithm={name}")
    module = stablehlo.from_hlo(printed_by_xla(read_by_xla(text)))
    assert "lhs_precision_type = f8E4M3FN, rhs_precision_type = f8E5M2" in module.as_text()
    assert f"algorithm={name}" in printed_by_xla(read_by_xla(module.as_hlo_text()))


def test_vectors_and_matrices_of_the_older_op():
    text = """func.func @main(%m: tensor<2x3xf32>, %v: tensor<3xf32>) -> tensor<2xf32> {
      %0 = stablehlo.dot %m, %v, precision = [HIGHEST, DEFAULT] : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>
      return %0 : tensor<2xf32>
    }"""
    m, v = normal(2, 3), normal(3)
    assert_close(run_hlo_on_xla(stablehlo.parse(text).as_hlo_text(), [m, v]), [m @ v], 1e-6)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("f32[2,2] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={2}", r"\(C8\)"),
        ("f32[2,2] dot(x, x), lhs_contracting_dims={1}", r"\(C2\)"),
        ("f32[2,3] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}", r"\(C12\)"),
        (
            "f32[2,2] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}, algorithm=odd",
            "odd is no algorithm",
        ),
        ("f32[2,2] dot(x, x), operand_precision={high}", "two of default, high, highest"),
    ],
)
def test_what_is_refused(line, message):
    with pytest.raises(ParseError, match=message):
        stablehlo.from_hlo(entry("x = f32[2,2] parameter(0)", f"ROOT r = {line}"))
