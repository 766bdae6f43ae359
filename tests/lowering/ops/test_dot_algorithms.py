"""dot_general by an algorithm: what it rounds, splits and sums in, interpreted and as kernels; what is refused."""

import re

import ml_dtypes
import numpy as np
import pytest

import numhlo
from numhlo.errors import UnsupportedError
from numhlo.lowering.ops.dimension_numbers import DotAlgorithm
from numhlo.lowering.ops.dot_algorithms import obstacle
from numhlo.stablehlo import parse

DOT = """
func.func @main(%lhs: tensor<2x3x40xTYPE>, %rhs: tensor<2x40x4xTYPE>) -> tensor<2x3x4xRESULT> {
  %0 = "stablehlo.dot_general"(%lhs, %rhs) {
    dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0],
      lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>,
    precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>],
    algorithm = #stablehlo.dot_algorithm<ALGORITHM>
  } : (tensor<2x3x40xTYPE>, tensor<2x40x4xTYPE>) -> tensor<2x3x4xRESULT>
  return %0 : tensor<2x3x4xRESULT>
}
"""
NARROW = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f32": np.float32,
    "f64": np.float64,
}


def program(algorithm, type_="f32", result=None):
    fields = str(algorithm).split("<")[1].split(">")[0]
    text = DOT.replace("ALGORITHM", fields).replace("RESULT", result or type_).replace("TYPE", type_)
    return parse(text)


def both(module, *arrays):
    """Results of both engines."""
    with numhlo.debugging(tier0=False):
        compiled = module.run("main", *arrays)[0]
    return [np.asarray(compiled), np.asarray(module.interpret("main", *arrays)[0])]


def tf32(x):
    fraction, exponent = np.frexp(np.asarray(x, np.float64))
    return np.ldexp(np.rint(fraction * 2.0**11) / 2.0**11, exponent)


def rounded(x, name):
    return tf32(x) if name == "tf32" else x.astype(NARROW[name]).astype(np.float64)


@pytest.fixture
def operands(rng):
    return rng.uniform(-2, 2, (2, 3, 40)).astype(np.float32), rng.uniform(-2, 2, (2, 40, 4)).astype(np.float32)


@pytest.mark.parametrize("names", ["tf32", "bf16", "f16", "f8E5M2", "f8E4M3FN", "f32", "f8E5M2 f8E4M3FN"])
@pytest.mark.specifies("dot_general")
def test_operands_are_rounded(names, operands):
    left, right = names.split() * (2 if " " not in names else 1)
    module = program(DotAlgorithm(left, right, "f32"))
    expected = rounded(operands[0], left) @ rounded(operands[1], right)
    unrounded = operands[0].astype(np.float64) @ operands[1]
    for found in both(module, *operands):
        np.testing.assert_allclose(found, expected, rtol=0, atol=3e-5)
    assert names == "f32" or np.abs(unrounded - expected).max() > 1e-4


@pytest.mark.parametrize(
    ("name", "products", "error"), [("bf16", 3, 1e-4), ("bf16", 6, 5e-6), ("bf16", 9, 5e-6), ("tf32", 3, 5e-6)]
)
@pytest.mark.parametrize("counted", [True, False])
def test_components_give_back_precision(name, products, error, counted, operands):
    count = {3: 2, 6: 3, 9: 3}[products] if counted else 1
    module = program(DotAlgorithm(name, name, "f32", count, count, products))
    exact = operands[0].astype(np.float64) @ operands[1]
    one = rounded(operands[0], name) @ rounded(operands[1], name)
    for found in both(module, *operands):
        assert np.abs(found - exact).max() < error * 40
        assert np.abs(found - exact).max() < np.abs(one - exact).max() / 20


def test_fewer_products_than_pairs():
    """Three products of two components leave out the smallest one: the exact sum of the others is the result."""
    x = np.zeros((2, 3, 40), np.float32)
    y = np.zeros((2, 40, 4), np.float32)
    x[..., 0] = y[:, 0] = 1 + 2.0**-9  # 1, and 2**-9
    for found in both(program(DotAlgorithm("bf16", "bf16", "f32", 2, 2, 3)), x, y):
        np.testing.assert_array_equal(found, np.float32(1 + 2.0**-8))
    for found in both(program(DotAlgorithm("bf16", "bf16", "f32", 3, 3, 9)), x, y):
        np.testing.assert_array_equal(found, np.float32(1 + 2.0**-8 + 2.0**-18))


def test_infinite_operands_stay_infinite(operands):
    operands[0][0, 0, 0], operands[1][1, 3, 2] = np.inf, -np.inf
    with np.errstate(invalid="ignore"):
        expected = operands[0].astype(np.float64) @ operands[1]
    for found in both(program(DotAlgorithm("bf16", "bf16", "f32", 3, 3, 6)), *operands):
        np.testing.assert_array_equal(np.isinf(found), np.isinf(expected))
        np.testing.assert_array_equal(np.sign(found[np.isinf(found)]), np.sign(expected[np.isinf(expected)]))


@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_sums_are_rounded_to_the_accumulation_type(name):
    """1 + 1 + ... stops, where neighbours are added, only at numbers of the type; odd sums of large ones are rounded."""
    dtype = NARROW[name]
    large = 2.0 ** (ml_dtypes.finfo(dtype).nmant + 1)
    x = np.zeros((2, 3, 40), np.float32)
    x[..., 0], x[..., 1], x[..., 2] = large, 1, -large
    ones = np.ones((2, 40, 4), np.float32)
    for found in both(program(DotAlgorithm(name, name, name)), x, ones):
        np.testing.assert_array_equal(found, np.zeros((2, 3, 4)))  # the 1 was rounded away
    for found in both(program(DotAlgorithm(name, name, "f32")), x, ones):
        np.testing.assert_array_equal(found, np.ones((2, 3, 4)))


def test_both_engines_round_sums_alike(operands):
    compiled, interpreted = both(program(DotAlgorithm("f16", "f16", "f16")), *operands)
    np.testing.assert_array_equal(compiled, interpreted)
    np.testing.assert_array_equal(compiled.astype(np.float16).astype(np.float32), compiled)


@pytest.mark.parametrize(("type_", "result"), [("i32", "i32"), ("f64", "f64"), ("bf16", "f32"), ("f16", "f16")])
def test_other_storage_types(type_, result, rng):
    dtypes = {"i32": np.int32, **NARROW}
    x, y = (rng.integers(-8, 8, s).astype(dtypes[type_]) for s in ((2, 3, 40), (2, 40, 4)))
    expected = (x.astype(np.float64) @ y.astype(np.float64)).astype(dtypes[result])
    for found in both(program(DotAlgorithm("tf32", "tf32", "f32"), type_, result), x, y):
        np.testing.assert_array_equal(found, expected, strict=True)


def test_doubles_are_rounded_once():
    """What is just above the middle of two numbers of tf32 is rounded up, which float32 in between would forget."""
    x, y = np.zeros((2, 3, 40)), np.ones((2, 40, 4))
    x[..., 0] = 1 + 2.0**-11 + 2.0**-40
    for found in both(program(DotAlgorithm("tf32", "tf32", "f32"), "f64"), x, y):
        np.testing.assert_array_equal(found, 1 + 2.0**-10)


def test_f64_stays_f64(rng):
    x, y = rng.normal(size=(2, 3, 40)), rng.normal(size=(2, 40, 4))
    for found in both(program(DotAlgorithm("f64", "f64", "f64"), "f64"), x, y):
        np.testing.assert_allclose(found, x @ y, rtol=1e-13)


@pytest.mark.parametrize("engine", ["run", "interpret"])
def test_what_is_not_known_is_refused(engine, operands):
    module = program(DotAlgorithm("bf16", "bf16", "f32", 2, 2, 6))
    with pytest.raises(UnsupportedError) as caught:
        getattr(module, engine)("main", *operands)
    text = re.sub(r"\n  at .*", "", str(caught.value))
    assert text == (
        "dot_general of float32 by the algorithm #stablehlo.dot_algorithm<lhs_precision_type = bf16, rhs_precision_type"
        " = bf16, accumulation_type = f32, lhs_component_count = 2, rhs_component_count = 2, num_primitive_operations ="
        " 6, allow_imprecise_accumulation = false>\n"
        "  6 products are of 3 components of each operand (or 1, which leaves that open), not of 2 and 2; "
        "an algorithm of the specification's, or none"
    )


def test_what_no_algorithm_is_for():
    assert (
        obstacle(DotAlgorithm("tf32", "tf32", "f32"), np.dtype(np.complex64)) == "complex numbers have no rounded type"
    )
    assert obstacle(DotAlgorithm("f8Q1", "f8Q1", "f32"), np.dtype(np.float32)) == "f8Q1 is no type of floats"
    assert (
        obstacle(DotAlgorithm("bf16", "bf16", "f32", 1, 1, 4), np.dtype(np.float32)) == "no sum of 4 products is known"
    )


def test_derivatives_go_through_the_rounding(operands):
    """The gradient of a product by an algorithm is what StableHLO's conversions have: a product of rounded operands."""
    module = program(DotAlgorithm("bf16", "bf16", "f32"))
    f = module.callable()
    slope = numhlo.grad(lambda x: numhlo.numpy.sum(f(x, operands[1])))(operands[0])
    expected = np.broadcast_to(rounded(operands[1], "bf16").sum(-1)[:, None, :], operands[0].shape)
    np.testing.assert_allclose(np.asarray(slope), expected, rtol=1e-2, atol=1e-2)
