"""Helpers around batched functions: padding, micro-batches, stacking; each with its inverse or against a plain loop."""

import numpy as np
import pytest

import numhlo
from numhlo import batch
from numhlo.lowering.ir.errors import ArgumentError, ShapeError

RAGGED = [np.arange(3.0), np.arange(5.0) * 2, np.zeros(0), np.ones(1, np.float32)]


def test_padding_and_back():
    padded, mask = batch.pad(RAGGED, multiple_of=4, fill_value=-1)
    assert padded.shape == mask.shape == (4, 8) and padded.dtype == np.float64
    assert (padded[~mask] == -1).all() and mask.sum(1).tolist() == [3, 5, 0, 1]
    for found, expected in zip(batch.unpad(padded, mask), RAGGED, strict=True):
        np.testing.assert_array_equal(found, expected)
    rows = [np.ones((2, 3), np.int32), np.zeros((1, 3), np.int32)]
    padded, mask = batch.pad(rows, length=2)
    assert padded.shape == (2, 2, 3) and padded.dtype == np.int32
    trees = batch.unpad({"a": padded, "b": (padded[..., 0],)}, mask)
    assert [t["a"].shape for t in trees] == [(2, 3), (1, 3)] and trees[1]["b"][0].tolist() == [0]
    assert batch.pad([])[0].shape == (0, 0)


def test_a_masked_function_of_padded_rows():
    def mean(row, valid):
        return np.sum(row, where=valid) / np.maximum(valid.sum(), 1)

    padded, mask = batch.pad(RAGGED)
    found = numhlo.jit(numhlo.vmap(mean))(padded, mask)
    np.testing.assert_allclose(found, [r.mean() if len(r) else 0 for r in RAGGED])


@pytest.mark.parametrize("count", [0, 1, 4, 6, 8])
def test_micro_batches(count):
    shapes, steps = set(), []
    f = numhlo.jit(numhlo.vmap(lambda x, w: {"sum": x.sum() * w["w"], "x": x}))

    def watched(x, w):
        shapes.add(x.shape)
        return f(x, w)

    x, w = np.arange(count * 3.0).reshape(count, 3), {"w": np.arange(count)}
    found = batch.micro_batches(watched, 4, progress=lambda *step: steps.append(step))(x, w=w)
    np.testing.assert_allclose(found["sum"], x.sum(1) * w["w"])
    np.testing.assert_array_equal(found["x"], x)
    assert shapes == {(4, 3)} and steps[-1] == (count, count)
    assert f.cache_info().misses == 1


def test_trees():
    trees = [{"a": np.full(2, k), "b": (k, 2.0 * k)} for k in range(3)]
    stacked = batch.stack(trees)
    assert stacked["a"].shape == (3, 2) and stacked["b"][1].tolist() == [0, 2, 4]
    for tree, again in zip(trees, batch.unstack(stacked), strict=True):
        np.testing.assert_array_equal(tree["a"], again["a"])
        assert tree["b"] == again["b"]


def test_mistakes():
    with pytest.raises(ShapeError, match=r"length 5 for length=4"):
        batch.pad(RAGGED, length=4)
    with pytest.raises(ShapeError, match="different rests"):
        batch.pad([np.ones((1, 2)), np.ones((1, 3))])
    with pytest.raises(ShapeError, match="without dimensions"):
        batch.pad([1.0])
    with pytest.raises(ShapeError, match="mask of shape"):
        batch.unpad(np.ones((2, 3)), np.ones((2, 2), bool))
    with pytest.raises(ArgumentError, match="no trees"):
        batch.stack([])
    with pytest.raises(ArgumentError, match="structures"):
        batch.stack([{"a": 1}, {"b": 1}])
    with pytest.raises(ShapeError, match="leading extents"):
        batch.unstack({"a": np.ones(2), "b": np.ones(3)})
    with pytest.raises(ShapeError, match="leading extents"):
        batch.micro_batches(lambda x, y: x, 2)(np.ones(2), np.ones(3))
    with pytest.raises(ArgumentError, match="size=0"):
        batch.micro_batches(lambda x: x, 0)
    with pytest.raises(ShapeError, match=r"results of shapes \[\(\)\] for 2 examples"):
        batch.micro_batches(np.sum, 2)(np.ones(3))
    with pytest.raises(ArgumentError, match="multiple_of=0"):
        batch.pad(RAGGED, multiple_of=0)
    with pytest.raises(ShapeError, match=r"leaf 0 has shapes \(2,\) and \(3,\)"):
        batch.stack([np.ones(2), np.ones(3)])
