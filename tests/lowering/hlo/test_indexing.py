"""Dynamic slices, gather and scatter."""

import numpy as np
import pytest

from numhlo import stablehlo
from numhlo.lowering.ir.errors import ParseError
from tests.lowering.hlo.judges import check, entry, normal, same_bits

ADD = """
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
take {
  a = f32[] parameter(0)  i = s32[] parameter(1)  b = f32[] parameter(2)  j = s32[] parameter(3)
  ROOT t = (f32[], s32[]) tuple(b, j)
}
"""


@pytest.mark.parametrize("starts", [(1, 0), (-3, 2), (9, 9)])
def test_dynamic_slices(starts):
    lines = [
        "x = f32[4,5] parameter(0)", "i = s32[] parameter(1)", "j = s32[] parameter(2)",
        "p = f32[2,3] dynamic-slice(x, i, j), dynamic_slice_sizes={2,3}", "n = f32[2,3] negate(p)",
        "ROOT r = f32[4,5] dynamic-update-slice(x, n, j, i)",
    ]  # fmt: skip
    check(entry(*lines), normal(4, 5), *map(np.int32, starts))


def test_start_indices_in_one_vector():
    lines = ["x = f32[4,5] parameter(0)", "i = s32[2] parameter(1)"]
    lines += ["p = f32[2,3] dynamic-slice(x, i), dynamic_slice_sizes={2,3}"]
    lines += ["ROOT r = f32[4,5] dynamic-update-slice(x, p, i)"]
    x = normal(4, 5)
    (found,) = stablehlo.from_hlo(entry(*lines)).run("main", x, np.array([1, 2], np.int32))
    assert same_bits([found], [x])
    lines[2] = "p = f32[2] dynamic-slice(y, i), dynamic_slice_sizes={2}"
    with pytest.raises(ParseError, match="the start indices must be 1"):
        stablehlo.from_hlo(entry("y = f32[4] parameter(0)", "i = s32[2] parameter(1)", f"ROOT {lines[2]}"))


@pytest.mark.parametrize(
    ("indices", "result", "rest"),
    [
        (
            "s32[3]",
            "f32[3,5]",
            "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,5}",
        ),
        (
            "s32[3,2]",
            "f32[3]",
            "offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,1}",
        ),
        (
            "s32[2,3]",
            "f32[3,2,2]",
            "offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={1,0}, index_vector_dim=0, slice_sizes={2,2}, "
            "indices_are_sorted=true",
        ),
        (
            "s32[4]",
            "f32[4]",
            "offset_dims={}, collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0}, "
            "start_indices_batching_dims={0}, index_vector_dim=1, slice_sizes={1,1}",
        ),
    ],
)
def test_gather(indices, result, rest):
    shape = [int(n) for n in indices[4:-1].split(",")]
    i = np.random.default_rng(0).integers(0, 4, shape).astype(np.int32)
    lines = ["x = f32[4,5] parameter(0)", f"i = {indices} parameter(1)", f"ROOT r = {result} gather(x, i), {rest}"]
    check(entry(*lines), normal(4, 5), i)


@pytest.mark.parametrize("rest", ["", ", unique_indices=true, indices_are_sorted=true"])
def test_scatter(rest):
    lines = ["x = f32[4,5] parameter(0)", "i = s32[3] parameter(1)", "u = f32[3,5] parameter(2)"]
    numbers = "update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1"
    line = f"ROOT r = f32[4,5] scatter(x, i, u), {numbers}{rest}, to_apply=add"
    check(entry(*lines, line, before=ADD), normal(4, 5), np.array([0, 2, 3], np.int32), normal(3, 5, seed=1))


def test_scatter_in_batches():
    lines = ["x = f32[4,5] parameter(0)", "i = s32[4] parameter(1)", "u = f32[4] parameter(2)"]
    numbers = (
        "update_window_dims={}, inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, input_batching_dims={0}, "
        "scatter_indices_batching_dims={0}, index_vector_dim=1"
    )
    line = f"ROOT r = f32[4,5] scatter(x, i, u), {numbers}, to_apply=add"
    check(entry(*lines, line, before=ADD), normal(4, 5), np.array([0, 4, 3, 0], np.int32), normal(4, seed=1))


def test_scatter_of_several_arrays():
    lines = [
        "x = f32[4] parameter(0)", "n = s32[4] iota(), iota_dimension=0", "i = s32[2,1] constant({{2},{0}})",
        "u = f32[2] constant({10,20})", "m = s32[2] constant({7,8})",
    ]  # fmt: skip
    numbers = "update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1"
    line = f"ROOT r = (f32[4], s32[4]) scatter(x, n, i, u, m), {numbers}, to_apply=take"
    check(entry(*lines, line, before=ADD), normal(4))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("f32[2] dynamic-slice(x, i), dynamic_slice_sizes={5}", "slice_sizes"),
        ("f32[2] dynamic-slice(), dynamic_slice_sizes={2}", "takes an array and start indices"),
        ("f32[4] dynamic-update-slice(x)", "takes an array, an update"),
        ("f32[1] gather(x, i), slice_sizes={1}", "gather needs the attribute index_vector_dim"),
        ("f32[1] gather(x, i), slice_sizes={1}, index_vector_dim=5", "index_vector_dim"),
        ("f32[4] scatter(x, i), index_vector_dim=0, to_apply=add", "as many updates as arrays"),
    ],
)
def test_what_is_refused(line, message):
    lines = ["x = f32[4] parameter(0)", "i = s32[] parameter(1)", f"ROOT r = {line}"]
    with pytest.raises(ParseError, match=message):
        stablehlo.from_hlo(entry(*lines, before=ADD))
