"""Dynamic shapes, tuples, tokens and communication: types and constraints, by text; meaning of those that run."""

import numpy as np
import pytest

from numhlo.lowering.interpreter import evaluate_op
from numhlo.lowering.ir.errors import ShapeError, UnsupportedError, VerificationError
from numhlo.lowering.ops.communication import Communication
from numhlo.lowering.text import parse
from numhlo.lowering.verifier import verify
from tests.lowering.text.rare_programs import LINES, RARE, program


@pytest.mark.parametrize("name", RARE)
def test_constraints_hold(name):
    verify(RARE[name])


BROKEN = {
    "dynamic_broadcast_in_dim": [
        ("tensor<?x4xf32>", "tensor<?x?x4xf32>", "C7"),
        ("tensor<?x4xf32>", "tensor<?x4xi32>", "C1"),
        ("dims = [1]", "dims = [2]", "C3"),
    ],
    "dynamic_broadcast_in_dim.known": [
        ("nonexpanding_dimensions = array<i64: 0>", "nonexpanding_dimensions = array<i64: 1>", "C9"),
        ("expanding_dimensions = array<i64>", "expanding_dimensions = array<i64: 0>", "C8"),
    ],
    "dynamic_iota": [("dim = 1", "dim = 2", "C1"), ("tensor<?x?xi32>", "tensor<?xi32>", "C1|C2")],
    "dynamic_reshape": [("tensor<?x?xf32>", "tensor<?xf32>", "C4"), ("?x?xf32", "5x1xf32", "C2")],
    "dynamic_pad": [("tensor<?xf32>", "tensor<?x?xf32>", "C4"), ("tensor<?xf32>", "tensor<?xi32>", "C1")],
    "real_dynamic_slice": [("tensor<?xf32>", "tensor<?x?xf32>", "C1"), ("tensor<?xf32>", "tensor<?xi32>", "C1")],
    "dynamic_gather": [
        ("-> tensor<f32>", "-> tensor<i32>", "C1"),
        ("-> tensor<f32>", "-> tensor<1xf32>", r"C13\).*\[\]"),
        ("collapsed_slice_dims = [0, 1]", "offset_dims = [0], collapsed_slice_dims = [0]", r"C13\).*\[\?\]"),
    ],
    "dynamic_conv": [
        ("batch_group_count = 1", "batch_group_count = 0", "C22"),
        ("window_strides = array<i64: 2>", "window_strides = array<i64: 0>", "C3"),
        ("tensor<1x?x1xf32>", "tensor<1x?x2xf32>", r"C25\).*\[1, \?, 1\]"),
        ("[b, 0, f]x[o, 0, i]", "[b, f, 0]x[o, 0, i]", "C14"),
    ],
    "get_dimension_size": [("dim = 1", "dim = 2", "C1"), ("-> tensor<i32>", "-> tensor<i64>", "result")],
    "set_dimension_size": [("dim = 1", "dim = 2", "C1"), ("tensor<2x?xf32", "tensor<3x?xf32", "the operand but")],
    "get_tuple_element": [("tup[1]", "tup[2]", "C1")],
    "replica_id": [("ui32", "i32", "ui32")],
    "send": [(") -> !stablehlo.token", ") -> tensor<f32>", "must be a token")],
    "recv": [("(tensor<4xf32>, !stablehlo.token)", "(!stablehlo.token, tensor<4xf32>)", "last result")],
    "all_reduce": [
        ("[2, -1]", "[1, -1]", "twice"),
        ("-> tensor<4xf32>", "-> tensor<5xf32>", "C6"),
        ("return %z : tensor<f32>", "return %z, %z : tensor<f32>, tensor<f32>", "computation"),
    ],
    "all_gather": [("tensor<8xf32>", "tensor<7xf32>", "C6"), ("dim = 0", "dim = 1", "all_gather_dim")],
    "all_to_all": [("split_count = 2", "split_count = 3", "C2"), ("split_count = 2", "split_count = 0", "C4")],
    "reduce_scatter": [("tensor<2xf32>", "tensor<3xf32>", "C8"), ("dimension = 0", "dimension = 1", "scatter_dim")],
    "collective_broadcast": [("-> tensor<4xf32>", "-> tensor<3xf32>", "C3")],
    "collective_permute": [("[[0, 1]]", "[[0, -1]]", "C4")],
    "cross-replica-sum": [("-> tensor<4xf32>", "-> tensor<3xf32>", "C3")],
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_constraints_are_named(name):
    for old, new, rule in BROKEN[name]:
        text = program(LINES[name])
        head, line = text.split(LINES[name].partition("=")[0], 1)
        assert old in line, old
        module = parse(head + LINES[name].partition("=")[0] + line.replace(old, new, 1))
        with pytest.raises(VerificationError, match=rule):
            verify(module)


VALUES = {
    "%a": np.arange(4, dtype=np.float32),
    "%m": np.arange(6, dtype=np.float32).reshape(2, 3),
    "%s": np.float32(7),
    "%i": np.int32(2),
    "%d1": np.array([1], np.int32),
    "%d2": np.array([1, 4], np.int32),
    "%l": np.array([4]),
    "%u": np.array([1, 2], np.uint64),
    "%q": np.eye(2, dtype=np.float32),
    "%w": np.arange(8, dtype=np.float32).reshape(1, 4, 2),
    "%p": np.array([[1, 2]], np.int32),
    "%tok": None,
    "%tup": (np.float32(1), (np.int32(2), None)),
}
MEANT = {
    "dynamic_broadcast_in_dim": np.arange(4.0)[None],
    "dynamic_iota": np.arange(4)[None],
    "dynamic_reshape": np.arange(4.0)[None],
    "dynamic_pad": np.array([7, 0, 7, 1, 7, 2, 7, 3, 7.0]),
    "real_dynamic_slice": np.empty(0),
    "dynamic_conv": np.array([[[85], [85.0]]]),
    "get_dimension_size": np.int32(3),
    "set_dimension_size": np.array([[0, 1], [3, 4.0]]),
    "replica_id": np.uint32(0),
    "partition_id": np.uint32(0),
}


def evaluate(name, **changed):
    main = RARE[name].main
    values = {**VALUES, **changed}
    environment = {
        v: np.asarray(a) if isinstance(a, np.generic) else a
        for v, a in zip(main.body.arguments, values.values(), strict=True)
    }
    return evaluate_op(main.body.ops[0], environment)


@pytest.mark.parametrize("name", MEANT)
def test_meaning(name):
    (found,) = evaluate(name)
    assert found.dtype == main_result(name).dtype
    np.testing.assert_array_equal(found, MEANT[name])


def main_result(name):
    return RARE[name].main.body.ops[0].result.tensor


def test_dynamic_gather():
    (found,) = evaluate("dynamic_gather", **{"%d2": np.array([1, 1], np.int32)})
    assert found == 4


def test_tuples_and_tokens():
    (pair,) = evaluate("tuple")
    assert pair[0] is VALUES["%a"] and pair[1] is VALUES["%tup"]
    assert evaluate("get_tuple_element") == [(np.int32(2), None)]
    assert evaluate("after_all") == [None] and evaluate("create_token") == [None]


def test_dimensions_do_not_grow():
    with pytest.raises(ShapeError, match=r"set_dimension_size: 4 is not in \[0, 3\]"):
        evaluate("set_dimension_size", **{"%i": np.int32(4)})


@pytest.mark.parametrize(
    "name", [n for n, m in RARE.items() if isinstance(m.main.body.ops[0].definition, Communication)]
)
def test_communication_is_refused(name):
    with pytest.raises(UnsupportedError, match=f"stablehlo.{name} can't be run"):
        evaluate(name)
