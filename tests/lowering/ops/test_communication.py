"""Collectives that break a constraint of the specification, and ops whose results do: each is named."""

import pytest

from numhlo import stablehlo
from numhlo.lowering.ir.errors import VerificationError

M, N, F, S, I = "tensor<2x3xf32>", "tensor<3x4xf32>", "tensor<4xf32>", "tensor<f32>", "tensor<i32>"
ADD = f"({{ ^bb0(%u: {S}, %v: {S}): %w = stablehlo.add %u, %v : {S} stablehlo.return %w : {S} }})"
NEITHER = f"({{ ^bb0(%u: {S}, %v: {S}): %w = stablehlo.is_finite %u : ({S}) -> tensor<i1> stablehlo.return %w : tensor<i1> }})"
ONE, TWO = "replica_groups = dense<0> : tensor<1x1xi64>", "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>"
TWICE, FAR = TWO.replace("0, 1", "0, 0"), TWO.replace("0, 1", "0, 3")
IDS = "use_global_device_ids"


def op(name, attributes, signature="(%m)", types=f"({M}) -> {M}", region=""):
    return f'%0 = "stablehlo.{name}"{signature} <{{{attributes}}}> {region} : {types}'


def gather(axis, groups):
    return op("all_gather", f"all_gather_dim = {axis} : i64, {groups}")


def reduce(attributes, region=ADD, result=M):
    return op("all_reduce", attributes, types=f"({M}) -> {result}", region=region)


def scatter(axis, groups, result=M, region=ADD):
    return op("reduce_scatter", f"scatter_dimension = {axis} : i64, {groups}", "(%m)", f"({M}) -> {result}", region)


def exchange(split, joined, count, groups=TWO, result="tensor<6x2xf32>"):
    text = f"split_dimension = {split} : i64, concat_dimension = {joined} : i64, split_count = {count} : i64"
    return op("all_to_all", f"{text}, {groups}", "(%n)", f"({N}) -> {result}")


CASES = {
    "all_gather_c1": gather(2, ONE),
    "all_gather_c2": gather(0, TWICE),
    "all_gather_c4": gather(0, FAR),
    "all_gather_c5": gather(0, f"{ONE}, {IDS}, channel_handle = #stablehlo.channel_handle<handle = -1, type = 0>"),
    "all_gather_c6": gather(0, TWO),
    "all_reduce_c1": reduce(TWICE),
    "all_reduce_c3": reduce(FAR),
    "all_reduce_c4": reduce(f"{ONE}, {IDS}"),
    "all_reduce_c5": reduce(ONE, NEITHER),
    "all_reduce_c6": reduce(ONE, result=N),
    "all_reduce_c7": reduce(ONE, result="tensor<2x3xf64>"),
    "reduce_scatter_c1": scatter(1, TWO, "tensor<2x1xf32>"),
    "reduce_scatter_c2": scatter(2, ONE),
    "reduce_scatter_c3": scatter(0, TWICE),
    "reduce_scatter_c5": scatter(0, FAR),
    "reduce_scatter_c7": scatter(0, ONE, region=NEITHER),
    "reduce_scatter_c8": scatter(0, TWO),
    "all_to_all_c1": exchange(2, 0, 2),
    "all_to_all_c2": exchange(0, 1, 2),
    "all_to_all_c3": exchange(1, 2, 2),
    "all_to_all_c4": exchange(1, 0, 0),
    "all_to_all_c5": exchange(1, 0, 2, TWICE),
    "all_to_all_c7": exchange(1, 0, 2, FAR),
    "all_to_all_c8": exchange(1, 0, 2, ONE),
    "all_to_all_c9": exchange(1, 0, 2, result=N),
    "collective_permute_c5": op(
        "collective_permute", "source_target_pairs = dense<0> : tensor<1x2xi64>", types=f"({M}) -> {N}"
    ),
    "infeed_c3": op("infeed", "", "(%k)", f"(!stablehlo.token) -> {F}"),
    "recv_c4": op(
        "recv", "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>", "(%k)", f"(!stablehlo.token) -> {F}"
    ),
    "dynamic_slice_c5": op("dynamic_slice", "slice_sizes = array<i64: 1>", "(%f, %i)", f"({F}, {I}) -> tensor<2xf32>"),
    "reduce_c7": op("reduce", "dimensions = array<i64: 0>", "(%f, %s)", f"({F}, {S}) -> tensor<2xf32>", ADD),
    "get_tuple_element_c2": op("get_tuple_element", "index = 0 : i32", "(%t)", f"(tuple<{S}>) -> {I}"),
}


@pytest.mark.parametrize("case", CASES)
def test_constraints(case):
    name, number = case.rsplit("_", 1)
    arguments = f"%m: {M}, %n: {N}, %f: {F}, %s: {S}, %i: {I}, %k: !stablehlo.token, %t: tuple<{S}>"
    module = stablehlo.parse(f"func.func @main({arguments}) {{\n{CASES[case]}\nreturn }}")
    with pytest.raises(VerificationError) as caught:
        module.verify()
    what, where, *_ = str(caught.value).splitlines()
    assert what.startswith(f"{name}(")
    assert f"({number.upper()})" in what
    assert where == "  at <string>:2:6"
