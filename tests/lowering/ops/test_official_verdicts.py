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
ADD = """({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = stablehlo.add %a, %b : tensor<f32>
  stablehlo.return %c : tensor<f32> })"""
PAIR = "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>"
ALGORITHM = (
    "lhs_precision_type = {0}, rhs_precision_type = {0}, accumulation_type = {1}, lhs_component_count = {2}, "
    "rhs_component_count = {2}, num_primitive_operations = {3}, allow_imprecise_accumulation = {4}"
)
CASES = {
    "all_reduce": f'"stablehlo.all_reduce"(%m) <{{{{}}}}> {ADD} : (tensor<2x3xf32>) -> tensor<2x3xf32>',
    "reduce_scatter": f'"stablehlo.reduce_scatter"(%m) <{{{PAIR}, scatter_dimension = 0 : i64}}> {ADD.replace("f32", "{}")} : '
    "(tensor<2x3xf32>) -> tensor<1x3x{}>",
    "all_to_all": '"stablehlo.all_to_all"(%m) <{concat_dimension = 1 : i64, replica_groups = dense<{}xi64>, '
    "split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<2x3xf32>) -> tensor<1x6xf32>",
    "collective_broadcast": '"stablehlo.collective_broadcast"(%m) <{replica_groups = dense<{}}> : '
    "(tensor<2x3xf32>) -> tensor<2x3xf32>",
    "cross-replica-sum": '"stablehlo.cross-replica-sum"(%m) <{replica_groups = dense<{}}> : '
    "(tensor<2x3xf32>) -> tensor<2x3xf32>",
    "collective_permute": '"stablehlo.collective_permute"(%m) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>, '
    "channel_handle = {}}> : (tensor<2x3xf32>) -> tensor<2x3xf32>",
    "all_gather with ids": '"stablehlo.all_gather"(%m) <{all_gather_dim = 1 : i64, use_global_device_ids, {}}> : '
    "(tensor<2x3xf32>) -> tensor<2x6xf32>",
    "dot_general": "stablehlo.dot_general %m, %q, contracting_dims = [1] x [0], algorithm = <{}> : "
    "(tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>",
    "chlo.erf_inv": "%0 = chlo.erf_inv %m : tensor<2x3xf32> -> tensor<{}>",
    "chlo.is_inf": "%0 = chlo.is_inf %m : tensor<2x3xf32> -> tensor<{}>",
    "chlo.zeta": '%0 = "chlo.zeta"({}) -> tensor<2x3xf32>',
    "chlo.constant_like": '%0 = "chlo.constant_like"(%m) <{value = 1.0 : f32}> : (tensor<2x3xf32>) -> tensor<{}xf32>',
    "chlo.broadcast_add": '%0 = "chlo.broadcast_add"(%m, %s) : (tensor<2x3xf32>, tensor<f32>) -> tensor<{}xf32>',
    "chlo.broadcast_add placed": "%0 = chlo.broadcast_add %m, %d {broadcast_dimensions = array<i64: 0>} : "
    "(tensor<2x3xf32>, tensor<?xf32>) -> tensor<{}xf32>",
    "chlo.top_k": "%0, %1 = chlo.top_k(%v, k = 2) : tensor<4xf32> -> (tensor<{}xf32>, tensor<2xi32>)",
    "iota": "%0 = stablehlo.iota dim = 0 : tensor<{}xf32>",
    "constant": '"stablehlo.constant"() <{value = dense<> : tensor<0xf32>}> : () -> tensor<{}xf32>',
    "broadcast": '"stablehlo.broadcast"(%v) <{broadcast_sizes = array<i64: {}>}> : (tensor<4xf32>) -> tensor<2x4xf32>',
    "fft": "stablehlo.fft %v, type = RFFT, length = [{}] : (tensor<4xf32>) -> tensor<3xcomplex<f32>>",
    "optimization_barrier": "stablehlo.optimization_barrier {}",
    "gather": '"stablehlo.gather"(%m, %i) <{dimension_numbers = {}, slice_sizes = array<i64: 1, 1>}> : '
    "(tensor<2x3xf32>, tensor<2xi32>) -> tensor<f32>",
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
CASES |= {
    "exponential": '"stablehlo.exponential"(%s) <{result_accuracy = {}}> : (tensor<f32>) -> tensor<f32>',
    "abs": '"stablehlo.abs"(%s) {} : (tensor<f32>) -> tensor<f32>',
    "call": "call @g({}",
    "composite": 'stablehlo.composite "a.b" {}',
    "chlo.broadcast_compare": '%0 = "chlo.broadcast_compare"(%m, {}',
    "chlo.broadcast_or": '%0 = "chlo.broadcast_or"(%i, %i) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2x{}>',
    "custom_call of buffers": '"stablehlo.custom_call"(%m, %v) <{call_target_name = "f", {}}> : '
    "(tensor<2x3xf32>, tensor<4xf32>) -> tensor<4xf32>",
    "send without channel": '"stablehlo.send"(%s, %k) <{{}is_host_transfer = true}> : '
    "(tensor<f32>, !stablehlo.token) -> !stablehlo.token",
    "bounds": '%0 = "stablehlo.abs"(%d) : (tensor<?xf32>) -> tensor<?xf32, #stablehlo.bounds<{}>>',
}
STATIC, OPEN, OPENED = (f"(tensor<{n}xf32>) -> tensor<{m}xf32>" for n, m in (("4", "4"), ("?", "4"), ("4", "?")))
V = "tensor<4xf32>"
DIRECTION = "comparison_direction = #chlo<comparison_direction {}>"
ACCURACY = "#stablehlo.result_accuracy<{}mode = #stablehlo.result_accuracy_mode<{}>>"
LAYOUT = "result_layouts = [dense<0> : tensor<1xindex>]"
ALIAS = (
    "output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [{}], operand_index = {}, "
    "operand_tuple_indices = [{}]>]"
)
CASES |= {
    "reduce_precision": '"stablehlo.reduce_precision"(%s) <{exponent_bits = {}, mantissa_bits = 2 : i32}> : '
    "(tensor<f32>) -> tensor<f32>",
    "concatenate": '"stablehlo.concatenate"(%m, %q) <{dimension = 0 : {}}> : '
    "(tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<5x3xf32>",
    "reverse": '"stablehlo.reverse"(%m) <{dimensions = {}}> : (tensor<2x3xf32>) -> tensor<2x3xf32>',
    "dot": '"stablehlo.dot"(%m, %q) <{precision_config = {}}> : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>',
    "all_reduce over": f'"stablehlo.all_reduce"(%m) <{{replica_groups = {{}}}}> {ADD} : '
    "(tensor<2x3xf32>) -> tensor<2x3xf32>",
    "collective_permute over": '"stablehlo.collective_permute"(%m) <{source_target_pairs = {}}> : '
    "(tensor<2x3xf32>) -> tensor<2x3xf32>",
    "set_dimension_size": '%n = stablehlo.constant dense<2> : tensor<{}> %0 = "stablehlo.set_dimension_size"(%v, %n) '
    "<{dimension = 0 : i64}> : (tensor<4xf32>, tensor<{}>) -> tensor<?xf32, #stablehlo.bounds<4>>",
    "real_dynamic_slice": "%n = stablehlo.constant dense<1> : tensor<1x{}> %0 = stablehlo.real_dynamic_slice %v, %n, %j, %j"
    " : (tensor<4xf32>, tensor<1x{}>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>",
    "infeed": '"stablehlo.infeed"(%k) : (!stablehlo.token) -> ({}, !stablehlo.token)',
    "outfeed": '"stablehlo.outfeed"({}, !stablehlo.token) -> !stablehlo.token',
    "chlo.top_k of": '"chlo.top_k"({} -> (tensor<2xf32>, tensor<2xi32>)',
    "chlo.broadcast_subtract": '"chlo.broadcast_subtract"(%v, %s) : (tensor<4xf32>, tensor<f32>) -> ({})',
}
HANDLE = "channel_handle = #stablehlo.channel_handle<handle = {}, type = 0>"
VALUES = {
    "all_reduce": [
        PAIR,
        PAIR.replace("xi64", "xi32"),
        "replica_groups = dense<[[0, 1], [2, -1]]> : tensor<2x2xi64>",
        f"{PAIR}, use_global_device_ids",
        f"{PAIR}, use_global_device_ids, {HANDLE.format(0)}",
        f"{PAIR}, use_global_device_ids, {HANDLE.format(1)}",
        f"replica_groups = dense<> : tensor<0x0xi64>, use_global_device_ids, {HANDLE.format(1)}",
    ],
    "reduce_scatter": ["f32", "f64", "i32"],
    "all_to_all": ["[[0, 1]]> : tensor<1x2", "0> : tensor<1x1", "[[0], [1]]> : tensor<2x1", "[[0, -1]]> : tensor<1x2"],
    "collective_broadcast": [
        "[[0, 2]]> : tensor<1x2xi64>",
        "[[0, -1]]> : tensor<1x2xi64>",
        "[[2, 2]]> : tensor<1x2xi64>",
        "[0, 1]> : tensor<2xi64>",
    ],
    "cross-replica-sum": ["[[0, 0]]> : tensor<1x2xi64>", "[0, 2]> : tensor<2xi64>", "[[0, 1]]> : tensor<1x2xi32>"],
    "collective_permute": [
        "#stablehlo.channel_handle<type = 2, handle = -1>",
        "#stablehlo.channel_handle<handle = 1>",
        "#stablehlo.channel_handle<handle = 1, type = 2,>",
        "#stablehlo.channel_handle",
        "#stablehlo.gather<>",
        "5 : i64",
    ],
    "all_gather with ids": [PAIR, f"{PAIR}, {HANDLE.format(0)}", f"{PAIR}, {HANDLE.format(-1)}"],
    "dot_general": [
        *(
            ALGORITHM.format(*(row.split()))
            for row in ("f32 f32 1 1 false", "bf16 f32 1 9 false", "bf16 f32 1 2 false")
        ),
        *(ALGORITHM.format(*(row.split())) for row in ("f32 f32 1 1 true", "f8E5M2 f32 1 1 true", "f64 f32 1 1 false")),
        ALGORITHM.format("f32", "f32", 1, 1, "false").removeprefix("lhs_precision_type = f32, "),
        ALGORITHM.format("f32", "f32", 1, 1, "false").removesuffix(", allow_imprecise_accumulation = false"),
    ],
    "chlo.erf_inv": ["2x3xf32", "2x3xf64", "2x4xf32", "?x3xf32"],
    "chlo.is_inf": ["2x3xi1", "2x3xf32", "2xi1"],
    "chlo.zeta": [
        "%m, %m) : (tensor<2x3xf32>, tensor<2x3xf32>",
        "%m) : (tensor<2x3xf32>",
        "%m, %s) : (tensor<2x3xf32>, tensor<f32>",
    ],
    "chlo.constant_like": ["2x3", "3x2"],
    "chlo.broadcast_add": ["2x4", "2x3", "2"],
    "chlo.broadcast_add placed": ["2x3", "3x3", "?x3"],
    "chlo.top_k": ["2", "3"],
    "iota": ["3", "?"],
    "constant": ["0", "?"],
    "broadcast": ["2", "-1"],
    "fft": ["4", "-1"],
    "optimization_barrier": [
        "%m, %k : tensor<2x3xf32>, !stablehlo.token",
        "%t : tuple<tensor<f32>>",
        "%x : tensor<2xindex>",
    ],
    "gather": [NUMBERS.replace("{}", "1"), "#stablehlo.dot<>", NUMBERS.replace("{}", "1").replace("gather", "scatter")],
    "compare": ["FLOAT", "TOTALORDER", "NOTYPE", "FLAT"],
    "send": ["1", "2", "3"],
    "recv": ["1", "2", "3"],
    "dynamic_gather": ["1", "2"],
    "all_gather": ["1", "2"],
    "custom_call": ['"x"', "{a = 1 : i64}", "{}"],
    "custom_call of typed": ['"x"', "{a = 1 : i64}"],
    "exponential": [
        "1 : i64",
        ACCURACY.format("", "DEFAULT"),
        ACCURACY.format("", "WORST"),
        ACCURACY.format("atol = 1.0e-3, rtol = 1.0, ulps = 2, ", "TOLERANCE"),
        ACCURACY.format("ulps = 2, atol = 1.0, ", "TOLERANCE"),
        ACCURACY.format("ulps = -2, ", "TOLERANCE"),
        ACCURACY.format("ulps = 9223372036854775808, ", "TOLERANCE"),
        ACCURACY.format("ulps = 2, ", "HIGHEST"),
    ],
    "abs": ["<{a = 1 : i64}>", "{a = 1 : i64}"],
    "call": [f"{x}) : {type}" for x, type in (("%v", STATIC), ("%d", OPEN), ("%v", OPENED))],
    "composite": [f"{x} {{decomposition = @g}} : {type}" for x, type in (("%v", STATIC), ("%d", OPEN), ("%v", OPENED))],
    "custom_call of buffers": [
        "operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>], " + LAYOUT,
        "operand_layouts = [dense<[0, 2]> : tensor<2xindex>, dense<0> : tensor<1xindex>], " + LAYOUT,
        "operand_layouts = [dense<0> : tensor<2xindex>, dense<0> : tensor<1xindex>], " + LAYOUT,
        "operand_layouts = [dense<[0, 1]> : tensor<2xindex>], " + LAYOUT,
        "operand_layouts = [1 : i64, 2 : i64], " + LAYOUT,
        LAYOUT,
        ALIAS.format("", 1, ""),
        ALIAS.format("0", 1, ""),
        ALIAS.format("", 0, ""),
        ALIAS.format("", 2, ""),
        ALIAS.format("", 1, "0"),
        "operand_layouts = [dense<[0, 1]> : tensor<3xindex>, dense<0> : tensor<1xindex>], " + LAYOUT,
        "output_operand_aliases = [1 : i64]",
        "called_computations = [1 : i64]",
    ],
    "chlo.broadcast_compare": [
        f"{y}) <{{{attributes}}}> : (tensor<2x3xf32>, tensor<{type}>) -> tensor<2x3x{result}>"
        for y, type, attributes, result in (
            ("%s", "f32", DIRECTION.format("LT"), "i1"),
            ("%s", "f32", DIRECTION.format("LEFT"), "i1"),
            ("%s", "f32", "", "i1"),
            ("%s", "f32", "comparison_direction = 1 : i64", "i1"),
            ("%s", "f32", DIRECTION.format("LT"), "f32"),
            ("%i", "2xi32", DIRECTION.format("LT"), "i1"),
            ("%s", "f32", DIRECTION.format("LT") + ", compare_type = #chlo<comparison_type FLOAT>", "i1"),
            ("%s", "f32", DIRECTION.format("LT") + ", compare_type = 1 : i64", "i1"),
        )
    ],
    "chlo.broadcast_or": ["i32", "i8"],
    "send without channel": ["", "channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, "],
    "reduce_precision": ["2 : i32", "2 : i64", "2"],
    "concatenate": ["i64", "i32"],
    "reverse": ["array<i64: 0>", "[0]", "[]"],
    "dot": ["[#stablehlo<precision HIGH>, #stablehlo<precision HIGH>]", "array<i64>"],
    "all_reduce over": ["dense<0> : tensor<1x1xi64>", "1 : i64", '"x"'],
    "collective_permute over": ["dense<0> : tensor<1x2xi64>", "dense<0> : tensor<1x2xi32>", "1 : i64"],
    "set_dimension_size": ["i32", "i64", "ui32"],
    "real_dynamic_slice": ["i32", "i64"],
    "infeed": ["tensor<2xf32>", "tensor<?xf32>", "tuple<tensor<f32>>"],
    "outfeed": ["%s, %k) : (tensor<f32>", "%t, %k) : (tuple<tensor<f32>>"],
    "chlo.top_k of": [f"{x}) <{{k = 2 : i64}}> : ({t})" for x, t in (("%v", V), ("%v, %v", f"{V}, {V}"), ("", ""))],
    "chlo.broadcast_subtract": ["tensor<4xf32>", "tensor<4xf32>, tensor<4xf32>"],
    "bounds": ["4", "9223372036854775808", "x", "4.0"],
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
            "func.func @main(%s: tensor<f32>, %v: tensor<4xf32>, %m: tensor<2x3xf32>, %q: tensor<3x3xf32>, "
            "%i: tensor<2xi32>, %x: tensor<2xindex>, %d: tensor<?xf32>, %t: tuple<tensor<f32>>, %k: !stablehlo.token, %j: tensor<1xi32>) {\n"
            f"{CASES[case].replace('{}', value)} return }}"
            "func.func private @g(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }"
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
