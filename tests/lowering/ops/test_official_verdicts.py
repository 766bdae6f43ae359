"""Programs that break a constraint which needs a look at several attributes: our verdict is the official verifier's."""

import jax
import numpy as np
import pytest
from jax.experimental import sparse
from jaxlib.mlir import ir

from numhlo import stablehlo
from numhlo.lowering.ir.errors import ParseError, VerificationError
from tests.oracle import official_parse, run_on_xla

NUMBERS = "#stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, {}]>"
CONVOLUTION = (
    "stablehlo.convolution(%m, %r) dim_numbers = [b, f]x[i, o]->[b, f], window = {} {batch_group_count = 1 : i64, "
    "feature_group_count = 1 : i64} : (tensor<2x3xf32>, tensor<3x4x{}>) -> tensor<2x4xf32>"
)
CASES = {
    "compare": "stablehlo.compare LT, %s, %s, {} : (tensor<f32>, tensor<f32>) -> tensor<i1>",
    "send": '"stablehlo.send"(%s, %k) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = {}>, '
    "is_host_transfer = true}> : (tensor<f32>, !stablehlo.token) -> !stablehlo.token",
    "recv": '"stablehlo.recv"(%k) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = {}>}> : '
    "(!stablehlo.token) -> (tensor<f32>, !stablehlo.token)",
    "dynamic_gather": f'"stablehlo.dynamic_gather"(%m, %i, %i) <{{dimension_numbers = {NUMBERS}, indices_are_sorted = '
    "true}> : (tensor<2x3xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<f32>",
    "all_gather": '"stablehlo.all_gather"(%m) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, {}]]> : '
    "tensor<1x2xi64>}> : (tensor<2x3xf32>) -> tensor<2x6xf32>",
    "custom_call": "stablehlo.custom_call @f(%s) {api_version = 2 : i32, backend_config = {}} : (tensor<f32>) -> ()",
    "custom_call of typed": "stablehlo.custom_call @f(%s) {api_version = 4 : i32, backend_config = {}} : "
    "(tensor<f32>) -> ()",
}
VALUES = {
    "compare": ["FLOAT", "TOTALORDER", "NOTYPE", "FLAT"],
    "send": ["1", "2", "3"],
    "recv": ["1", "2", "3"],
    "dynamic_gather": ["1", "2"],
    "all_gather": ["1", "2"],
    "custom_call": ['"x"', "{a = 1 : i64}", "{}"],
    "custom_call of typed": ['"x"', "{a = 1 : i64}"],
}


def accepted_by(function, text):
    try:
        function(text)
    except (ParseError, VerificationError, ir.MLIRError):
        return False
    return True


@pytest.mark.parametrize("case", CASES)
def test_verdicts(case):
    verdicts = []
    for value in VALUES[case]:
        text = (
            "func.func @main(%s: tensor<f32>, %m: tensor<2x3xf32>, %i: tensor<2xi32>, %k: !stablehlo.token) {\n"
            f"{CASES[case].replace('{}', value, 1)} return }}"
        )
        verdicts.append(accepted_by(official_parse, text))
        assert accepted_by(lambda text: stablehlo.parse(text).verify(), text) == verdicts[-1], value
    assert True in verdicts
    assert False in verdicts


def test_convolution_c27():
    for element in ("f32", "f16"):
        text = (
            f"func.func @main(%m: tensor<2x3xf32>, %r: tensor<3x4x{element}>) {{ "
            f"%0 = {CONVOLUTION.replace('x{}', f'x{element}')} return }}"
        )
        assert accepted_by(official_parse, text) == (element == "f32")
        assert accepted_by(lambda text: stablehlo.parse(text).verify(), text) == (element == "f32")


def test_a_comparison_without_type_runs_as_on_xla():
    text = """func.func @main(%x: tensor<3xf32>) -> tensor<3xi1> {
      %0 = stablehlo.compare EQ, %x, %x, NOTYPE : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
      return %0 : tensor<3xi1> }"""
    x = np.array([0, np.nan, -0.0], np.float32)
    np.testing.assert_array_equal(stablehlo.parse(text).run("main", x)[0], run_on_xla(text, [x])[0])


@pytest.mark.parametrize("shape", [(4,), (4, 3)])
def test_products_of_sparse_rows(rng, shape):
    values, dense = rng.normal(size=4), rng.normal(size=shape)
    begins, columns = np.array([0, 1, 1, 3, 4]), np.array([3, 0, 2, 1])

    def function(values, columns, begins, dense):
        return sparse.CSR((values, columns, begins), shape=(4, 4)) @ dense

    lowered = jax.jit(function).lower(values, columns, begins, dense)
    found = stablehlo.parse(lowered.as_text()).run("main", values, columns, begins, dense)[0]
    np.testing.assert_allclose(found, lowered.compile()(values, columns, begins, dense), 1e-13)
