"""The strict operations: jax.lax as the oracle, run at once and traced; messages of what they refuse."""

from __future__ import annotations

import jax
import jax.lax
import numpy as np
import pytest

import numhlo
from numhlo import lax
from numhlo.lowering.ir.errors import ArgumentError, DTypeError, ShapeError
from tests.library.agreement import assert_same, refusal, run_traced
from tests.library.arrays import sample

jax.config.update("jax_enable_x64", True)

F = np.array([[0.5, -1.25, 2.0], [3.5, -0.75, 0.25]])
U = np.abs(F) / 4
I = np.array([[5, -3, 7], [-8, 2, 1]])
B = np.array([[True, False, True], [False, False, True]])
Z = F + 1j * F[::-1]
V = np.array([3.0, 1.0, 2.0, 9.0, -4.0])

UNARY = {
    "real": "abs asinh atan cbrt ceil cos cosh erf erfc exp exp2 expm1 floor is_finite logistic neg reciprocal sign sin sinh square tan tanh",
    "positive": "acos asin atanh digamma erf_inv lgamma log log1p rsqrt sqrt",
    "integer": "abs bitwise_not clz neg population_count sign square",
    "complex": "abs conj cos exp imag log neg real sign sin sqrt square tanh",
}  # fmt: skip
OPERANDS = {"real": F, "positive": U + 0.01, "integer": I, "complex": Z}


def both(ours, theirs, *arrays, ulps=64):
    """Assert that our function gives JAX's result, run at once and traced."""
    wanted = jax.tree.map(np.asarray, theirs(*arrays))
    found = ours(*arrays)
    assert all(isinstance(x, numhlo.Array) for x in jax.tree.leaves(found))
    assert_same(found, wanted, "at once", ulps)
    assert_same(run_traced(ours, arrays)[0], wanted, "traced", ulps)


@pytest.mark.parametrize("kind", UNARY)
@pytest.mark.specifies("unary operations")
def test_unary(kind):
    for name in UNARY[kind].split():
        both(getattr(lax, name), getattr(jax.lax, name), OPERANDS[kind], ulps=512)


def test_binary():
    for name in [
        "add",
        "sub",
        "mul",
        "div",
        "rem",
        "max",
        "min",
        "atan2",
        "nextafter",
        "eq",
        "ne",
        "lt",
        "le",
        "gt",
        "ge",
        "pow",
    ]:
        x, y = (U + 0.5, F) if name == "pow" else (F, F[::-1] + 0.3)
        both(getattr(lax, name), getattr(jax.lax, name), x, y)
    for name in [
        "add",
        "sub",
        "mul",
        "div",
        "rem",
        "max",
        "min",
        "bitwise_and",
        "bitwise_or",
        "bitwise_xor",
        "eq",
        "lt",
    ]:
        both(getattr(lax, name), getattr(jax.lax, name), I, np.array([[2, -2, 3], [-3, 5, 4]]))
    for name in ["shift_left", "shift_right_arithmetic", "shift_right_logical"]:
        both(getattr(lax, name), getattr(jax.lax, name), I, np.array([[2, 1, 3], [0, 5, 4]]))
    both(lax.complex, jax.lax.complex, F, F[::-1])
    both(lambda x: lax.add(x, 1), lambda x: jax.lax.add(x, 1.0), F)
    both(lambda x, s: lax.mul(s, x), lambda x, s: s * x, F.astype("f4"), np.float32(2))
    both(lambda x: lax.pow(x, 3), lambda x: jax.lax.pow(x, 3), F)


@pytest.mark.specifies("Clamp, ConvertElementType, ReducePrecision")
def test_rounding_choice_conversion():
    both(lambda x: lax.round(x * 2), lambda x: jax.lax.round(x * 2), F)
    both(lambda x: lax.round(x * 2, 1), lambda x: jax.lax.round(x * 2, jax.lax.RoundingMethod.TO_NEAREST_EVEN), F)
    both(lambda x: lax.integer_pow(x, -3), lambda x: jax.lax.integer_pow(x, -3), F)
    both(lambda x: lax.integer_pow(x, 0), lambda x: jax.lax.integer_pow(x, 0), F)
    both(lambda x: lax.clamp(-1.0, x, 1.0), lambda x: jax.lax.clamp(-1.0, x, 1.0), F)
    both(lambda p, x: lax.select_n(p, x, -x), lambda p, x: jax.lax.select_n(p, x, -x), B, F)
    both(
        lambda i, x: lax.select_n(i, x, -x, 2 * x),
        lambda i, x: jax.lax.select_n(i, x, -x, 2 * x),
        np.array([[0, 1, 2], [2, 1, 0]], np.int32),
        F,
    )
    for dtype in ("int32", "float32", "complex64", "bool", "uint8"):
        both(
            lambda x, d=dtype: lax.convert_element_type(x, d),
            lambda x, d=dtype: jax.lax.convert_element_type(x, d),
            np.abs(F),
        )
    for dtype in ("int64", "int32", "uint8"):
        both(
            lambda x, d=dtype: lax.bitcast_convert_type(x, d), lambda x, d=dtype: jax.lax.bitcast_convert_type(x, d), F
        )
    wide = np.arange(4, dtype=np.int32).reshape(2, 2)
    both(lambda x: lax.bitcast_convert_type(x, "int64"), lambda x: jax.lax.bitcast_convert_type(x, "int64"), wide)
    both(lambda x: lax.reduce_precision(x, 8, 7), lambda x: jax.lax.reduce_precision(x, 8, 7), F)


STRUCTURE = {
    "full": lambda l, x: (l.full((2, 3), 7), l.full((), 1.5), l.full_like(x, 2), l.full_like(x, 1, dtype=np.float32, shape=(4,))),
    "iota": lambda l, x: (l.iota(np.int32, 4), l.broadcasted_iota(np.float64, (2, 3), 1)),
    "broadcast": lambda l, x: (l.broadcast(x, (4,)), l.broadcast_in_dim(x, (4, 2, 3), (1, 2)), l.broadcast_in_dim(x[0], (3, 5), (0,))),
    "reshape": lambda l, x: (l.reshape(x, (3, 2)), l.reshape(x, (6,), (1, 0)), l.collapse(x, 0, 2), l.collapse(x, 1)),
    "dims": lambda l, x: (l.expand_dims(x, (0, 3)), l.squeeze(l.expand_dims(x, (1,)), (1,)), l.transpose(x, (1, 0)), l.rev(x, (0, 1))),
    "join": lambda l, x: (l.concatenate([x, x], 1), l.tile(x, (2, 1)), tuple(l.split(x, (1, 2), axis=1))),
    "pad": lambda l, x: (l.pad(x, 0.0, ((1, 0, 1), (0, 2, 0))), l.pad(x, 1.0, ((-1, 0, 0), (0, 0, 2)))),
    "slice": lambda l, x: (l.slice(x, (0, 1), (2, 3)), l.slice(x, (0, 0), (2, 3), (1, 2)), l.slice_in_dim(x, 0, -1, axis=1)),
    "index": lambda l, x: (l.index_in_dim(x, 1), l.index_in_dim(x, -1, 1, keepdims=False), l.slice_in_dim(x, 0, 3, 2, axis=1)),
    "running": lambda l, x: (l.cumsum(x), l.cumprod(x, 1), l.cummax(x, 1, reverse=True), l.cummin(x), l.cumlogsumexp(x, 1), l.cumlogsumexp(x + 0.5j * x)),
    "reductions": lambda l, x: (l.reduce_sum(x, (0,)), l.reduce_max(x, (1,)), l.reduce_min(x, (0, 1)), l.reduce_prod(x, (1,))),
    "argmax": lambda l, x: (l.argmax(x, 1, np.int32), l.argmin(x, 0, np.int64)),
    "sort": lambda l, x: (l.sort(x), l.sort(x, dimension=0), l.sort_key_val(x, -x), l.sort((x, -x), num_keys=2)),
    "top_k": lambda l, x: l.top_k(x, 2),
    "dot": lambda l, x: (l.dot(x, x.T), l.dot(x[0], x[1]), l.dot(x, x[0]), l.batch_matmul(l.broadcast(x, (4,)), l.broadcast(x.T, (4,)))),
    "dot_general": lambda l, x: l.dot_general(x, x, (((), ()), ((1,), (1,))), preferred_element_type=np.float64),
    "reduce": lambda l, x: l.reduce((x, x), (0.0, 1.0), lambda a, b: (a[0] + b[0], a[1] * b[1]), (1,)),
    "barrier": lambda l, x: l.optimization_barrier((x, {"k": x[0]})),
}  # fmt: skip


@pytest.mark.parametrize("name", STRUCTURE)
def test_structure(name):
    as_jax = lambda x: STRUCTURE[name](jax.lax, jax.numpy.asarray(x))
    both(lambda x: STRUCTURE[name](lax, x), as_jax, F)


def test_bitwise_reductions():
    for name in ("reduce_and", "reduce_or", "reduce_xor"):
        for x in (I, B):
            both(lambda x, n=name: getattr(lax, n)(x, (0,)), lambda x, n=name: getattr(jax.lax, n)(x, (0,)), x)


@pytest.mark.parametrize("start", [0, 1, 4, -1, -2, 100])
@pytest.mark.specifies("DynamicSlice, DynamicUpdateSlice")
def test_dynamic_slices_clamp(start):
    x, s = np.arange(24.0).reshape(6, 4), np.int64(start)

    def f(l, x, s):
        row = x[:1] * 0
        return (
            l.dynamic_slice(x, (s, 1), (2, 2)),
            l.dynamic_slice_in_dim(x, s, 3),
            l.dynamic_index_in_dim(x, s, 1),
            l.dynamic_index_in_dim(x, s, keepdims=False),
            l.dynamic_update_slice(x, row, (s, 0)),
            l.dynamic_update_slice_in_dim(x, row, s, 0),
            l.dynamic_update_index_in_dim(x, row[0], s, 0),
            l.index_take(x, (np.array([0, 5]), np.array([1, 3])), (0, 1)),
        )

    both(lambda x, s: f(lax, x, s), lambda x, s: f(jax.lax, jax.numpy.asarray(x), s), x, s)


def test_more_of_numhlos_own():
    assert [a.tolist() for a in lax.unstack(F)] == F.tolist()
    assert lax.stack([F[0], F[1]], 1).tolist() == F.T.tolist()
    values, indices = lax.top_k(V.reshape(5, 1), 2, axis=0)
    assert values.ravel().tolist() == [9.0, 3.0] and indices.ravel().tolist() == [3, 0]
    assert lax.empty((2,), "int32").shape == (2,)


def test_random_operands_agree(rng):
    x, y = sample(rng, np.dtype("f8"), (200,)), sample(rng, np.dtype("f8"), (200,))
    for name in ["max", "min", "lt", "le", "eq", "ne"]:
        both(getattr(lax, name), getattr(jax.lax, name), x, y)


def test_messages():
    f4 = F.astype("f4")
    assert refusal(lambda np, x, y: lax.add(x, y), F, f4, kind=DTypeError) == (
        "lax.add: operands float64[2,3], float32[2,3] differ in dtype\n  at test_lax.py\n"
        "  functions of lax promote nothing; convert one with lax.convert_element_type, or use numhlo.numpy"
    )
    assert refusal(lambda np, x, y: lax.mul(x, y), F, F[0], kind=ShapeError) == (
        "lax.mul: operands float64[2,3], float64[3] differ in shape\n  at test_lax.py\n"
        "  functions of lax broadcast scalars and extents of 1 only, and add no dimensions;"
        " use lax.broadcast_in_dim, or numhlo.numpy"
    )
    assert refusal(lambda np, x: lax.nextafter(x, x), I, kind=DTypeError) == (
        "lax.nextafter of int64[2,3]\n  at test_lax.py\n  it takes floats; convert it with lax.convert_element_type"
    )
    assert refusal(lambda np, x: lax.reshape(x, (4, 2)), F, kind=ShapeError) == (
        "lax.reshape: float64[2,3] can't have shape [4, 2]\n  at test_lax.py"
    )
    assert refusal(lambda np, x: lax.dynamic_slice(x, (0,), (1, 1)), F, kind=ShapeError) == (
        "lax.dynamic_slice: 1 start indices for float64[2,3]\n  at test_lax.py\n  give one index for each dimension"
    )
    assert refusal(lambda np, x: lax.round(x, 2), F, kind=ArgumentError) == (
        "lax.round(rounding_method=2)\n  at test_lax.py\n  use 0 or 1"
    )
    for bad in (
        lambda np, x: lax.dynamic_update_slice(x, x.astype("f4"), (0, 0)),
        lambda np, x: lax.dynamic_update_slice(x[:1], x, (0, 0)),
        lambda np, x: lax.squeeze(x, (0,)),
        lambda np, x: lax.dot(x, x[None]),
        lambda np, x: lax.dot_general(x, x.astype("f4"), (((1,), (1,)), ((), ()))),
        lambda np, x: lax.bitcast_convert_type(x.astype("i4"), "i8"),
        lambda np, x: lax.top_k(x * 1j, 1),
        lambda np, x: lax.concatenate([], 0),
        lambda np, x: lax.reciprocal(x.astype("i4")),
        lambda np, x: lax.bitwise_not(x),
    ):
        assert "test_lax.py" in refusal(bad, F, kind=numhlo.lowering.ir.errors.NumhloError)


WRONG = {
    "shapes": lambda lax, x: lax.add(x, x[:, :2]),
    "ranks": lambda lax, x: lax.mul(x, x[0]),
    "reshape": lambda lax, x: lax.reshape(x, (4, 2)),
    "contracted": lambda lax, x: lax.dot_general(x, x, (((1,), (0,)), ((), ()))),
    "broadcast": lambda lax, x: lax.broadcast_in_dim(x, (2, 4), (0, 1)),
    "permutation": lambda lax, x: lax.transpose(x, (0, 0)),
    "concatenate": lambda lax, x: lax.concatenate([x, x[:, :2]], 0),
    "slice": lambda lax, x: lax.slice(x, (0, 0), (2, 5)),
    "slice_in_dim": lambda lax, x: lax.slice_in_dim(x, 0, 9),
    "slice_in_dim backwards": lambda lax, x: lax.slice_in_dim(x, 2, 1),
    "dynamic_slice": lambda lax, x: lax.dynamic_slice(x, (0, 0), (2, 5)),
    "dynamic_update_slice": lambda lax, x: lax.dynamic_update_slice(x[:1], x, (0, 0)),
    "select": lambda lax, x: lax.select(x[0] > 0, x, x),
    "clamp": lambda lax, x: lax.clamp(x[:, :2], x, x),
    "sort": lambda lax, x: lax.sort((x[0], x[0, :2])),
    "argmax": lambda lax, x: lax.argmax(x, 0, np.float32),
    "eq": lambda lax, x: lax.eq(x, x[:, :2]),
    "reduce_precision": lambda lax, x: lax.reduce_precision(x.astype(int), 5, 10),
    "pad": lambda lax, x: lax.pad(x, 0.0, [(1, 1, -1), (0, 0, 0)]),
    "split": lambda lax, x: lax.split(x, (1, 1), 1),
    "split below": lambda lax, x: lax.split(x, (4, -1), 1),
    "index_take": lambda lax, x: lax.index_take(x, np.array([0]), (0,)),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_calls_raise_what_they_raise_in_jax(name):
    with pytest.raises(Exception) as theirs:  # noqa: PT011 - it is the oracle
        WRONG[name](jax.lax, jax.numpy.asarray(F))
    for call in (WRONG[name], lambda lax, x: numhlo.jit(lambda x: WRONG[name](lax, x)).trace(x)):
        with pytest.raises(theirs.type, match=r"test_lax\.py") as found:
            call(lax, F)
        assert isinstance(found.value, ValueError | TypeError)
