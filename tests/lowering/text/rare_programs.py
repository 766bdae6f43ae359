"""Programs, as text, of the ops that most programs do without: dynamic shapes, tuples, tokens, other processes,
random numbers, linear algebra.

The part of a name before a dot is the op's. XLA is not asked to run them: it has no dynamic shapes, and one device.
"""

from __future__ import annotations

from numhlo.lowering.ir import Module
from numhlo.lowering.text import parse

ARGUMENTS = {
    "%a": "tensor<4xf32>",
    "%m": "tensor<2x3xf32>",
    "%s": "tensor<f32>",
    "%i": "tensor<i32>",
    "%d1": "tensor<1xi32>",
    "%d2": "tensor<2xi32>",
    "%l": "tensor<1xi64>",
    "%u": "tensor<2xui64>",
    "%q": "tensor<2x2xf32>",
    "%w": "tensor<1x4x2xf32>",
    "%p": "tensor<1x2xi32>",
    "%tok": "!stablehlo.token",
    "%tup": "tuple<tensor<f32>, tuple<tensor<i32>, !stablehlo.token>>",
}

GROUPS = "replica_groups = dense<[[0, 1], [2, -1]]> : tensor<2x2xi64>"
PAIR = "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>"
CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = 1, type = {}>"
SUM = """({
^bb0(%x: tensor<f32>, %y: tensor<f32>):
  %z = stablehlo.add %x, %y : tensor<f32>
  stablehlo.return %z : tensor<f32>
})"""

LINES: dict[str, str] = {
    "dynamic_broadcast_in_dim": "%0 = stablehlo.dynamic_broadcast_in_dim %a, %d2, dims = [1] : "
    "(tensor<4xf32>, tensor<2xi32>) -> tensor<?x4xf32>",
    "dynamic_broadcast_in_dim.known": "%0 = stablehlo.dynamic_broadcast_in_dim %a, %d2, dims = [1] "
    "{known_expanding_dimensions = array<i64>, known_nonexpanding_dimensions = array<i64: 0>} : "
    "(tensor<4xf32>, tensor<2xi32>) -> tensor<?x4xf32>",
    "dynamic_iota": "%0 = stablehlo.dynamic_iota %d2, dim = 1 : (tensor<2xi32>) -> tensor<?x?xi32>",
    "dynamic_reshape": "%0 = stablehlo.dynamic_reshape %a, %d2 : (tensor<4xf32>, tensor<2xi32>) -> tensor<?x?xf32>",
    "dynamic_pad": "%0 = stablehlo.dynamic_pad %a, %s, %d1, %d1, %d1 : "
    "(tensor<4xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>",
    "real_dynamic_slice": "%0 = stablehlo.real_dynamic_slice %a, %d1, %d1, %d1 : "
    "(tensor<4xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>",
    "dynamic_gather": '%0 = "stablehlo.dynamic_gather"(%m, %d2, %d2) <{dimension_numbers = #stablehlo.gather<'
    "collapsed_slice_dims = [0, 1], start_index_map = [0, 1]>, indices_are_sorted = true}> : "
    "(tensor<2x3xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<f32>",
    "dynamic_conv": '%0 = "stablehlo.dynamic_conv"(%w, %w, %p) <{batch_group_count = 1 : i64, dimension_numbers = '
    "#stablehlo.conv<[b, 0, f]x[o, 0, i]->[b, 0, f]>, feature_group_count = 1 : i64, window_strides = array<i64: 2>}> : "
    "(tensor<1x4x2xf32>, tensor<1x4x2xf32>, tensor<1x2xi32>) -> tensor<1x?x1xf32>",
    "get_dimension_size": "%0 = stablehlo.get_dimension_size %m, dim = 1 : (tensor<2x3xf32>) -> tensor<i32>",
    "set_dimension_size": "%0 = stablehlo.set_dimension_size %m, %i, dim = 1 : (tensor<2x3xf32>, tensor<i32>) -> "
    "tensor<2x?xf32, #stablehlo.bounds<?, 3>>",
    "tuple": "%0 = stablehlo.tuple %a, %tup : "
    "tuple<tensor<4xf32>, tuple<tensor<f32>, tuple<tensor<i32>, !stablehlo.token>>>",
    "tuple.empty": "%0 = stablehlo.tuple : tuple<>",
    "get_tuple_element": "%0 = stablehlo.get_tuple_element %tup[1] : "
    "(tuple<tensor<f32>, tuple<tensor<i32>, !stablehlo.token>>) -> tuple<tensor<i32>, !stablehlo.token>",
    "after_all": "%0 = stablehlo.after_all %tok, %tok : !stablehlo.token",
    "after_all.nothing": "%0 = stablehlo.after_all : !stablehlo.token",
    "create_token": "%0 = stablehlo.create_token : !stablehlo.token",
    "replica_id": "%0 = stablehlo.replica_id : tensor<ui32>",
    "partition_id": "%0 = stablehlo.partition_id : tensor<ui32>",
    "send": f'%0 = "stablehlo.send"(%a, %tok) <{{{CHANNEL.format(2)}, is_host_transfer = true}}> : '
    "(tensor<4xf32>, !stablehlo.token) -> !stablehlo.token",
    "recv": f'%0:2 = "stablehlo.recv"(%tok) <{{{CHANNEL.format(3)}, is_host_transfer = true}}> : '
    "(!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)",
    "infeed": '%0:2 = "stablehlo.infeed"(%tok) <{infeed_config = "x", layout = [[0]]}> : '
    "(!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)",
    "outfeed": '%0 = "stablehlo.outfeed"(%a, %m, %tok) <{outfeed_config = ""}> : '
    "(tensor<4xf32>, tensor<2x3xf32>, !stablehlo.token) -> !stablehlo.token",
    "all_reduce": f'%0 = "stablehlo.all_reduce"(%a) <{{{CHANNEL.format(1)}, {GROUPS}, use_global_device_ids}}> '
    f"{SUM} : (tensor<4xf32>) -> tensor<4xf32>",
    "all_gather": f'%0 = "stablehlo.all_gather"(%a) <{{all_gather_dim = 0 : i64, {PAIR}}}> : '
    "(tensor<4xf32>) -> tensor<8xf32>",
    "all_to_all": '%0 = "stablehlo.all_to_all"(%a) <{concat_dimension = 0 : i64, '
    f"{PAIR}, split_count = 2 : i64, split_dimension = 0 : i64}}> : (tensor<4xf32>) -> tensor<4xf32>",
    "reduce_scatter": f'%0 = "stablehlo.reduce_scatter"(%a) <{{{PAIR}, scatter_dimension = 0 : i64}}> {SUM} : '
    "(tensor<4xf32>) -> tensor<2xf32>",
    "collective_broadcast": f'%0 = "stablehlo.collective_broadcast"(%a) <{{{PAIR}}}> : '
    "(tensor<4xf32>) -> tensor<4xf32>",
    "collective_permute": f'%0 = "stablehlo.collective_permute"(%a) <{{{CHANNEL.format(1)}, '
    "source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>",
    "cross-replica-sum": f'%0 = "stablehlo.cross-replica-sum"(%a) <{{{PAIR}}}> : (tensor<4xf32>) -> tensor<4xf32>',
    "cholesky": "%0 = stablehlo.cholesky %q, lower = true : tensor<2x2xf32>",
    "triangular_solve": '%0 = "stablehlo.triangular_solve"(%q, %q) <{left_side = true, lower = true, '
    "transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}> : "
    "(tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>",
    "fft": "%0 = stablehlo.fft %a, type = RFFT, length = [4] : (tensor<4xf32>) -> tensor<3xcomplex<f32>>",
    "rng": "%0 = stablehlo.rng %s, %s, %l, distribution = UNIFORM : "
    "(tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<?xf32>",
    "rng_bit_generator": "%0:2 = stablehlo.rng_bit_generator %u, algorithm = THREE_FRY : "
    "(tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui32>)",
}
"""One op a program, as the official printer writes it."""


def program(line: str) -> str:
    """Return a program of one line."""
    arguments = ", ".join(f"{name}: {type}" for name, type in ARGUMENTS.items())
    return f"module {{\nfunc.func public @main({arguments}) {{\n{line}\nreturn\n}}\n}}"


RARE: dict[str, Module] = {name: parse(program(line), name) for name, line in LINES.items()}
