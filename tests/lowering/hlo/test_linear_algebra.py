"""Factorizations, Fourier transforms, normalization of batches, random numbers, dynamic shapes."""

import numpy as np
import pytest

from numhlo import stablehlo
from numhlo.lowering.ir.errors import ParseError
from tests.lowering.hlo.judges import check, check_protos, entry, normal, printed_by_xla, read_by_xla, same_bits


@pytest.mark.parametrize("lower", ["true", "false"])
def test_cholesky(lower):
    x = normal(3, 3, dtype=np.float64)
    line = f"c = f64[3,3] cholesky(x), lower={lower}"
    keep = f"k = pred[3,3] compare(i, j), direction={'GE' if lower == 'true' else 'LE'}"
    lines = ["x = f64[3,3] parameter(0)", line, "i = s32[3,3] iota(), iota_dimension=0"]
    lines += ["j = s32[3,3] iota(), iota_dimension=1", keep, "z = f64[] constant(0)"]
    lines += ["b = f64[3,3] broadcast(z), dimensions={}", "ROOT r = f64[3,3] select(k, c, b)"]
    check(entry(*lines), x @ x.T + np.eye(3), bound=1e-10)


@pytest.mark.parametrize("turned", ["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"])
@pytest.mark.parametrize("left", ["true", "false"])
def test_triangular_solve(turned, left):
    a = np.tril(normal(3, 3)) + 3 * np.eye(3, dtype=np.float32)
    lines = ["a = f32[3,3] parameter(0)", "b = f32[3,3] parameter(1)"]
    rest = f"left_side={left}, lower=true, unit_diagonal=false, transpose_a={turned}"
    check(entry(*lines, f"ROOT r = f32[3,3] triangular-solve(a, b), {rest}"), a, normal(3, 3, seed=1))


@pytest.mark.parametrize(
    ("kind", "source", "target"),
    [
        ("FFT", "c64[2,4]", "c64[2,4]"),
        ("IFFT", "c64[2,4]", "c64[2,4]"),
        ("RFFT", "f32[2,4]", "c64[2,3]"),
        ("IRFFT", "c64[2,3]", "f32[2,4]"),
    ],
)
def test_fft(kind, source, target):
    shape = (2, 3) if "3" in source[4:] else (2, 4)
    x = normal(*shape) if source[0] == "f" else (normal(*shape) + 1j * normal(*shape, seed=1)).astype(np.complex64)
    lines = [f"x = {source} parameter(0)", f"ROOT r = {target} fft(x), fft_type={kind}, fft_length={{4}}"]
    check(entry(*lines), x)


def test_normalization():
    v = "f32[3]"
    lines = [
        "x = f32[4,3] parameter(0)", f"s = {v} constant({{1,2,3}})", f"o = {v} constant({{0,1,-1}})",
        f"t = (f32[4,3], {v}, {v}) batch-norm-training(x, s, o), epsilon=0.01, feature_index=1",
        "y = f32[4,3] get-tuple-element(t), index=0", f"m = {v} get-tuple-element(t), index=1",
        f"w = {v} get-tuple-element(t), index=2",
        "z = f32[4,3] batch-norm-inference(x, s, o, m, w), epsilon=0.01, feature_index=1",
        f"g = (f32[4,3], {v}, {v}) batch-norm-grad(x, s, m, w, y), epsilon=0.01, feature_index=1",
        "h = f32[4,3] get-tuple-element(g), index=0", f"k = {v} get-tuple-element(g), index=1",
        f"ROOT r = (f32[4,3], f32[4,3], f32[4,3], {v}) tuple(y, z, h, k)",
    ]  # fmt: skip
    check(entry(*lines), normal(4, 3), bound=1e-4)


@pytest.mark.parametrize("name", ["rng_default", "rng_three_fry", "rng_philox"])
def test_bits_from_a_state(name):
    state = "u64[2]" if name != "rng_default" else "u64[3]"
    state = "u64[2]" if name == "rng_three_fry" else state
    x = np.arange(1, 4 if state == "u64[3]" else 3, dtype=np.uint64)
    line = f"ROOT r = ({state}, u32[4]) rng-bit-generator(x), algorithm={name}"
    text = entry(f"x = {state} parameter(0)", line)
    if name == "rng_default":
        module = stablehlo.from_hlo(printed_by_xla(read_by_xla(text)))
        again = stablehlo.from_hlo(printed_by_xla(read_by_xla(module.as_hlo_text())))
        check_protos(text, module)
        assert same_bits(module.run("main", x), again.run("main", x))
    else:
        check(text, x)


@pytest.mark.parametrize("distribution", ["rng_uniform", "rng_normal"])
def test_drawn_numbers(distribution):
    lines = [
        "a = f32[] constant(0)",
        "b = f32[] constant(1)",
        f"ROOT r = f32[1000] rng(a, b), distribution={distribution}",
    ]
    module = stablehlo.from_hlo(printed_by_xla(read_by_xla(entry(*lines))))
    again = stablehlo.from_hlo(printed_by_xla(read_by_xla(module.as_hlo_text())))
    for one in (module, again):
        (drawn,) = one.run("main")
        assert drawn.shape == (1000,)
        assert abs(drawn.mean() - (0.5 if distribution == "rng_uniform" else 0)) < 0.2


def test_extents_that_are_known_late():
    lines = [
        "x = f32[5] parameter(0)", "n = s32[] parameter(1)", "y = f32[<=5] set-dimension-size(x, n), dimensions={0}",
        "z = f32[<=5] negate(y)", "k = s32[] get-dimension-size(z), dimensions={0}", "ROOT t = s32[] add(k, n)",
    ]  # fmt: skip
    text = printed_by_xla(read_by_xla(entry(*lines)))
    module = stablehlo.from_hlo(text)
    module.verify()
    assert "tensor<?xf32, #stablehlo.bounds<5>>" in module.as_text()
    written = printed_by_xla(read_by_xla(module.as_hlo_text()))
    assert "f32[<=5]" in written
    check_protos(text, module)
    assert stablehlo.from_hlo(written).as_text() == stablehlo.from_hlo(text).as_text()


def test_shapes_from_operands():
    lines = ["x = f32[6] parameter(0)", "a = s32[] parameter(1)", "b = s32[] parameter(2)"]
    text = entry(*lines, "ROOT r = f32[<=6,<=6] dynamic-reshape(x, a, b)")
    module = stablehlo.from_hlo(text)  # XLA's reader ends the process at this instruction
    x = normal(6)
    (found,) = module.interpret("main", x, np.int32(2), np.int32(3))
    np.testing.assert_array_equal(found, x.reshape(2, 3))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("f32[2,2] cholesky(x, x)", "cholesky takes 1 operands"),
        ("f32[2,2] triangular-solve(x, x), transpose_a=ODD", "transpose_a must be one of"),
        ("f32[2,2] fft(x), fft_type=ODD, fft_length={2}", "fft_type must be one of"),
        ("f32[2,2] fft(x), fft_type=FFT", "needs the attribute fft_length"),
        ("f32[2,2] rng(x, x), distribution=odd", "distribution must be one of"),
        ("f32[2,2] rng-bit-generator(x)", "returns the next state and the bits"),
        ("f32[2,2] batch-norm-inference(x, x, x, x, x), epsilon=z, feature_index=0", "expected a number"),
        ("f32[2,2] batch-norm-inference(x, x, x, x, x), epsilon=1e39, feature_index=0", "a number of 32 bits"),
        ("f32[2,2] dynamic-reshape(x, x)", "a scalar for each extent"),
        ("s32[] get-dimension-size(x), dimensions={0,1}", "has one dimension"),
        ("f32[2,2] stochastic-convert(x, x)", "no opcode, or has no meaning in StableHLO"),
        ("f32[2,2] ragged-dot(x, x, x)", "no opcode, or has no meaning in StableHLO"),
        ("u64[] rng-get-and-update-state(), delta=1", "no opcode, or has no meaning in StableHLO"),
    ],
)
def test_what_is_refused(line, message):
    with pytest.raises(ParseError, match=message):
        stablehlo.from_hlo(entry("x = f32[2,2] parameter(0)", f"ROOT r = {line}"))


def test_shapes_that_constants_say_are_computed():
    text = """func.func @main(%x: tensor<3xf32>) -> tensor<2x3xf32> {
      %s = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
      %0 = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [1] : (tensor<3xf32>, tensor<2xi32>) -> tensor<2x3xf32>
      %1 = stablehlo.dynamic_iota %s, dim = 0 : (tensor<2xi32>) -> tensor<?x3xf32>
      %2 = stablehlo.dynamic_reshape %1, %s : (tensor<?x3xf32>, tensor<2xi32>) -> tensor<2x3xf32>
      %3 = stablehlo.add %0, %2 : tensor<2x3xf32>
      return %3 : tensor<2x3xf32>
    }"""
    x = normal(3)
    module = check(stablehlo.parse(text).as_hlo_text(), x)
    np.testing.assert_array_equal(module.run("main", x)[0], x + np.array([[0], [1]], np.float32))
