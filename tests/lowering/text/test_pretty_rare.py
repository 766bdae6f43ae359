"""Ops that have text but no definition yet: read in their pretty form, printed in both, kept by the official parser."""

import re

import pytest

from numhlo.lowering.ir.structure import structurally_equal
from numhlo.lowering.text import parse, print_module
from tests.oracle import official_parse

VALUES = """%a: tensor<4xf32>, %b: tensor<4xf32>, %n: tensor<4xi32>, %c: tensor<4xcomplex<f32>>, %m: tensor<2x3xf32>,
%w: tensor<3x2xf32>, %q: tensor<3x3xf32>, %v: tensor<3xf32>, %s: tensor<f32>, %t: tensor<f32>, %i: tensor<i32>,
%d1: tensor<1xi32>, %d2: tensor<2xi32>, %u: tensor<2xui64>, %tok: !stablehlo.token, %img: tensor<1x8x8x3xf32>,
%ker: tensor<3x3x3x4xf32>, %tup: tuple<tensor<f32>, tensor<i32>>, %h: tensor<2xf32>, %l: tensor<1xi64>"""

REGION = """({
^bb0(%x: tensor<f32>, %y: tensor<f32>):
  %z = stablehlo.add %x, %y : tensor<f32>
  stablehlo.return %z : tensor<f32>
})"""
PRETTY = (
    """
stablehlo.get_dimension_size %m, dim = 1 : (tensor<2x3xf32>) -> tensor<i32>
stablehlo.set_dimension_size %m, %i, dim = 1 : (tensor<2x3xf32>, tensor<i32>) \
-> tensor<2x?xf32, #stablehlo.bounds<?, 3>>
stablehlo.broadcast %a, sizes = [2] : (tensor<4xf32>) -> tensor<2x4xf32>
stablehlo.dynamic_broadcast_in_dim %a, %d2, dims = [1] : (tensor<4xf32>, tensor<2xi32>) -> tensor<?x4xf32>
stablehlo.dynamic_broadcast_in_dim %a, %d2, dims = [1] {known_expanding_dimensions = array<i64>, \
known_nonexpanding_dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<2xi32>) -> tensor<?x4xf32>
stablehlo.dynamic_iota %d2, dim = 0 : (tensor<2xi32>) -> tensor<?x?xi32>
stablehlo.dynamic_reshape %a, %d2 : (tensor<4xf32>, tensor<2xi32>) -> tensor<?x?xf32>
stablehlo.dynamic_pad %a, %s, %d1, %d1, %d1 : \
(tensor<4xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) \
-> tensor<?xf32>
stablehlo.real_dynamic_slice %a, %d1, %d1, %d1 : (tensor<4xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) \
-> tensor<?xf32>
stablehlo.dot %m, %w : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
stablehlo.dot %m, %w, precision = [DEFAULT, HIGH] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
stablehlo.einsum %m, %w, config = "ab,bc->ac" : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
stablehlo.unary_einsum %m, config = "ab->a" : (tensor<2x3xf32>) -> tensor<2xf32>
stablehlo.convolution(%img, %ker) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], \
pad = [[1, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, true]} \
{batch_group_count = 1 : i64, \
feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : \
(tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x4x4x4xf32>
stablehlo.convolution(%img, %ker) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} \
{batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) \
-> tensor<1x6x6x4xf32>
stablehlo.rng_bit_generator %u, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui32>)
stablehlo.rng %s, %t, %l, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
stablehlo.fft %c, type = FFT, length = [4] : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
stablehlo.cholesky %q, lower = true : tensor<3x3xf32>
stablehlo.cholesky %q, lower = false : tensor<3x3xf32>
stablehlo.after_all %tok, %tok : !stablehlo.token
stablehlo.after_all : !stablehlo.token
stablehlo.create_token : !stablehlo.token
stablehlo.tuple %a, %i : tuple<tensor<4xf32>, tensor<i32>>
stablehlo.get_tuple_element %tup[0] : (tuple<tensor<f32>, tensor<i32>>) -> tensor<f32>
stablehlo.replica_id : tensor<ui32>
stablehlo.partition_id : tensor<ui32>
""".strip()
    .replace("\\\n", "")
    .splitlines()
)

GENERIC = [
    '"stablehlo.triangular_solve"(%q, %q) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose '
    "NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>",
    '"stablehlo.batch_norm_training"(%m, %v, %v) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : '
    "(tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)",
    '"stablehlo.reduce_window"(%a, %s) <{padding = dense<[[1, 0]]> : tensor<1x2xi64>, window_dimensions = '
    f"array<i64: 2>}}> {REGION} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>",
    f'"stablehlo.map"(%a, %b) <{{dimensions = array<i64: 0>}}> {REGION} : '
    "(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>",
    '"stablehlo.send"(%a, %tok) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = '
    "true}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token",
    '"stablehlo.infeed"(%tok) <{layout = [[0 : i64]]}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)',
    '"stablehlo.outfeed"(%a, %tok) : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token',
    '"stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = '
    f"dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}}> {REGION} : (tensor<4xf32>) -> tensor<4xf32>",
    '"stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : '
    "(tensor<4xf32>) -> tensor<8xf32>",
    '"stablehlo.dynamic_gather"(%m, %d2, %d2) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], '
    "start_index_map = [0, 1]>, indices_are_sorted = true}> : "
    "(tensor<2x3xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<f32>",
    '"chlo.constant_like"(%a) {value = 1.000000e+00 : f32} : (tensor<4xf32>) -> tensor<4xf32>',
]

CHLO = (
    """
chlo.erf_inv %a : tensor<4xf32> -> tensor<4xf32>
chlo.zeta %a, %b : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
chlo.top_k(%a, k = 2) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi32>)
chlo.broadcast_add %a, %s {broadcast_dimensions = array<i64>} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
chlo.is_inf %a : tensor<4xf32> -> tensor<4xi1>
chlo.broadcast_compare %a, %b {comparison_direction = #chlo<comparison_direction LT>} : \
(tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
""".strip()
    .replace("\\\n", "")
    .splitlines()
)


def body(text):
    return f"func.func @main({VALUES}) {{\n{text}\nreturn\n}}"


def named(text):
    """Return an op's text with names for its results; all but asynchronous ones have at most three."""
    (op,) = parse(body(text)).main.body.ops
    return f"%r:{len(op.results)} = {text}"


@pytest.mark.parametrize("text", [*PRETTY, *GENERIC, *CHLO])
def test_forms_of_ops_without_definition(text):
    module = parse(body(named(text)))
    for generic in (False, True):
        printed = print_module(module, generic=generic)
        assert structurally_equal(parse(printed), module)
        assert structurally_equal(parse(official_parse(printed)), module)


@pytest.mark.parametrize("text", [*PRETTY, *GENERIC])
@pytest.mark.specifies(
    "all_gather all_reduce all_to_all collective_broadcast collective_permute reduce_scatter infeed outfeed recv send, "
    "collectives by replica groups, Send and Recv, Infeed",
    state="parsed",
)
def test_text_is_printed_as_it_was(text):
    printed = print_module(parse(body(text)))
    names = re.findall(r"(%\w+):", VALUES)
    for number, name in reversed(list(enumerate(names))):
        printed = printed.replace(f"%arg{number}", name)
    assert text.splitlines()[0] in printed
