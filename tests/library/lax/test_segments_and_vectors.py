"""`numhlo.ops` and `numhlo.flatten_util`: JAX as the oracle, run at once, traced, compiled, batched, differentiated."""

from __future__ import annotations

import jax
import jax.flatten_util
import numpy as np
import pytest

import numhlo
import numhlo.compat.jax as compat
from numhlo import flatten_util, ops
from numhlo.lowering.ir.errors import ArgumentError, DataDependentShapeError, DTypeError
from tests.library.agreement import assert_same, refusal, run_traced

jax.config.update("jax_enable_x64", True)

NAMES = ("segment_sum", "segment_prod", "segment_max", "segment_min")
IDS = np.array([0, 3, 3, 1, -1, 7, 0], np.int32)
X = (np.arange(14).reshape(7, 2) * 5 % 11 - 3).astype(np.float64)


def every(module, x, ids, count=5):
    """Return all reductions, dropped and clipped, and in buckets."""
    plain = [getattr(module, name)(x, ids, count) for name in NAMES]
    clipped = [getattr(module, name)(x, ids, count, mode="clip") for name in NAMES]
    return [*plain, *clipped, *[getattr(module, name)(x, ids, count, bucket_size=3) for name in NAMES]]


@pytest.mark.slow
def test_segments_agree_with_jax():
    for dtype in (np.float32, np.int16, np.uint8):
        x = np.abs(X).astype(dtype)
        wanted = [np.asarray(a) for a in every(jax.ops, x, IDS)]
        assert_same(every(ops, x, IDS), wanted, "at once")
        assert_same(run_traced(lambda x, i: every(ops, x, i), [x, IDS])[0], wanted, "traced")
    for x, ids in ((np.zeros((0, 3)), np.zeros(0, int)), (np.ones(2, np.int8), np.array([1, 1]))):
        wanted = [np.asarray(getattr(jax.ops, name)(x, ids, 2)) for name in NAMES]
        assert_same([getattr(ops, name)(x, ids, 2) for name in NAMES], wanted, "small")
    assert ops.segment_sum(X[:4], IDS[:4]).shape == (4, 2) and ops.segment_sum(X[:0], IDS[:0]).shape == (0, 2)


def test_segments_compiled():
    wanted = np.stack([ops.segment_sum(X, ids, 4) for ids in (IDS, IDS[::-1])])
    found = numhlo.jit(numhlo.vmap(lambda x, i: ops.segment_sum(x, i, 4), (None, 0)))(X, np.stack([IDS, IDS[::-1]]))
    assert_same(found, wanted, "batched")
    empty = numhlo.jit(lambda x: ops.segment_sum(x, IDS, 5))(X)[2]
    assert not empty.any() and not np.signbit(empty).any()
    slope = numhlo.grad(lambda x: (ops.segment_sum(x, IDS, 5) ** 2).sum())(X)
    inside = ((IDS >= 0) & (IDS < 5))[:, None]
    np.testing.assert_allclose(slope, 2 * ops.segment_sum(X, IDS, 5)[np.clip(IDS, 0, 4)] * inside)


def test_segments_refuse():
    assert refusal(lambda _, x, i: ops.segment_max(x, i), X, IDS, kind=DataDependentShapeError) == (
        "segment_max of traced segment numbers int32[7]\n  at test_segments_and_vectors.py\n"
        "  the number of segments would depend on the greatest of them; pass num_segments="
    )
    with pytest.raises(DTypeError, match="convert them to integers"):
        ops.segment_sum(X, X[:, 0], 3)
    with pytest.raises(ArgumentError, match="pass 0 or more"):
        ops.segment_sum(X, IDS, -1)


def test_ravel():
    tree = {"w": np.arange(6, dtype=np.float32).reshape(2, 3), "b": [np.int16(7), np.zeros((0, 2))], "c": 1.5}
    flat, unravel = flatten_util.ravel_pytree(tree)
    theirs, back = jax.flatten_util.ravel_pytree(tree)
    assert type(flat) is numhlo.Array and flat.dtype == np.float64
    assert_same(flat, np.asarray(theirs), "vector")
    assert_same(unravel(flat * 2), jax.tree.map(np.asarray, back(theirs * 2)), "back")

    def halved(tree):
        vector, unravel = flatten_util.ravel_pytree(tree)
        return unravel(vector / 2)

    assert_same(numhlo.jit(halved)(tree), halved(tree), "compiled")
    many = {"w": np.ones((4, 2)), "b": np.arange(4.0)}
    assert_same(numhlo.vmap(lambda t: flatten_util.ravel_pytree(t)[0])(many), np.c_[many["b"], many["w"]], "batched")
    slope = numhlo.grad(lambda t: (flatten_util.ravel_pytree(t)[0] ** 2).sum())(many)
    assert_same(slope, {"w": 2 * many["w"], "b": 2 * many["b"]}, "slope")


def test_ravel_of_mixed_and_nothing():
    flat, unravel = flatten_util.ravel_pytree([np.ones(2, np.complex64), np.ones(1, np.float32)])
    assert flat.dtype == np.complex64 and unravel(flat * 1j)[1].tolist() == [0.0]
    empty, back = flatten_util.ravel_pytree({})
    assert empty.shape == (0,) and back(empty) == {}
    with pytest.raises(ArgumentError, match=r"^unravel of float64\[2\]"):
        unravel(np.ones(2))


def test_under_jaxs_names():
    assert not compat.ops.segment_sum(X, IDS, 3).flags.writeable
    flat, unravel = compat.flatten_util.ravel_pytree({"a": X})
    assert not flat.flags.writeable and isinstance(unravel(flat)["a"], compat.Array)
