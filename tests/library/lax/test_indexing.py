"""`lax.gather`, the scatters, `lax.composite`, `lax.mulhi`: JAX and Python's integers as oracles, run every way."""

from __future__ import annotations

import functools

import jax
import jax.lax
import numpy as np
import pytest

import numhlo
from numhlo import lax
from numhlo.lowering.ir.errors import ArgumentError, DTypeError, MutationError, ShapeError, VerificationError
from tests.library.agreement import assert_same, refusal, run_traced

jax.config.update("jax_enable_x64", True)

X = np.arange(24.0).reshape(4, 6)
MODES = ("fill", "clip", "drop", "promise_in_bounds", None)

GATHERS = {
    "rows": (((1,), (0,), (0,)), np.array([[3], [0], [1]]), (1, 6)),
    "outside": (((1,), (0,), (0,)), np.array([[3], [4], [-1]], np.int32), (1, 6)),
    "elements": (((), (0, 1), (0, 1)), np.array([[[3, 5], [0, 7]], [[-1, 1], [2, 2]]]), (1, 1)),
    "windows": (((1, 2), (), (1, 0)), np.array([[0, 0], [4, 2], [5, 3]], np.int8), (2, 2)),
    "window": (((0, 1), (), (0, 1)), np.array([2, 3], np.uint8), (2, 3)),
    "paired": (((), (1,), (1,), (0,), (0,)), np.array([[5], [0], [2], [6]]), (1, 1)),
    "nowhere": (((0, 1), (), ()), np.zeros(0, np.int64), (4, 6)),
    "none": (((1,), (0,), (0,)), np.zeros((0, 1), np.int64), (1, 6)),
}


def numbers(kind, parts):
    """Return dimension numbers of both libraries."""
    return getattr(lax, kind)(*parts), getattr(jax.lax, kind)(*parts)


@pytest.mark.parametrize("name", GATHERS)
@pytest.mark.specifies("Gather")
def test_gather(name):
    parts, indices, sizes = GATHERS[name]
    ours, theirs = numbers("GatherDimensionNumbers", parts)
    inside = name not in ("outside", "elements", "windows", "paired")
    modes = [m for m in MODES if inside or m != "promise_in_bounds"]
    for dtype in (np.float32, np.int16, np.uint8, bool):
        x = X.astype(dtype)
        wanted = [np.asarray(jax.lax.gather(x, indices, theirs, sizes, mode=m)) for m in modes]

        def every(x, i):
            return [lax.gather(x, i, ours, sizes, mode=m) for m in modes]

        assert_same(every(x, indices), wanted, f"{name} at once")
        assert_same(run_traced(every, [x, indices])[0], wanted, f"{name} traced")
    assert lax.gather(X, indices, ours, sizes, mode="fill", fill_value=-7.0).dtype == np.float64


SCATTERS = {
    "rows": (((1,), (0,), (0,)), np.array([[3], [0], [3]]), (3, 6)),
    "outside": (((1,), (0,), (0,)), np.array([[3], [4], [-1]]), (3, 6)),
    "elements": (((), (0, 1), (0, 1)), np.array([[[3, 5], [0, 7]], [[-1, 1], [2, 2]]]), (2, 2)),
    "windows": (((1, 2), (), (1, 0)), np.array([[0, 0], [4, 2], [5, 3]]), (3, 2, 2)),
    "window": (((0, 1), (), (0, 1)), np.array([2, 3]), (2, 3)),
    "paired": (((), (1,), (1,), (0,), (0,)), np.array([[5], [0], [2], [6]]), (4,)),
    "none": (((1,), (0,), (0,)), np.zeros((0, 1), np.int64), (0, 6)),
}
KINDS = ("scatter", "scatter_add", "scatter_mul", "scatter_min", "scatter_max", "scatter_sub")


@pytest.mark.parametrize("name", SCATTERS)
@pytest.mark.specifies("Gather")
def test_scatter(name):
    parts, indices, shape = SCATTERS[name]
    ours, theirs = numbers("ScatterDimensionNumbers", parts)
    for dtype in (np.float64, np.uint8):
        x = X.astype(dtype)
        updates = ((np.arange(np.prod(shape)).reshape(shape) * 5) % 7).astype(dtype)

        def every(lax, d, x, i, u):
            done = [getattr(lax, kind)(x, i, u, d, mode=m) for kind in KINDS for m in ("drop", "clip")]
            return [*done, lax.scatter_apply(x, i, lambda y: 3 - y, d, update_shape=shape)]

        wanted = [np.asarray(a) for a in every(jax.lax, theirs, jax.numpy.asarray(x), indices, updates)]
        assert_same(every(lax, ours, x, indices, updates), wanted, f"{name} at once")
        traced = run_traced(lambda x, i, u: every(lax, ours, x, i, u), [x, indices, updates])[0]
        assert_same(traced, wanted, f"{name} traced")


def test_compiled_batched_differentiated():
    rows = lax.GatherDimensionNumbers((1,), (0,), (0,))
    spots = lax.ScatterDimensionNumbers((), (0,), (0,))
    stacked = np.array([[[3], [9]], [[0], [-1]], [[1], [1]]])
    apart = np.array([[0], [2]])

    def f(x, i):
        picked = lax.gather(x, i, rows, (1, 6), mode="fill", fill_value=2.0)
        raised = lax.scatter_add(x[0], i, picked[:, 1], spots, mode="clip")
        applied = lax.scatter_apply(x[1], apart, lambda y: y * y, spots, update_shape=(2,))
        return picked, raised, applied, lax.scatter(x[2], i, picked[:, 0], spots)

    wanted = [np.stack(parts) for parts in zip(*[f(X, i) for i in stacked], strict=True)]
    found = numhlo.jit(numhlo.vmap(f, in_axes=(None, 0)))(X, stacked)
    assert_same(list(found), wanted, "compiled")

    def loss(x, i):
        picked = lax.gather(x, i, rows, (1, 6), mode="fill", fill_value=2.0)
        raised = lax.scatter_add(x[0], i, picked[:, 1], spots, mode="clip")
        replaced = lax.scatter(x[2], i, picked[:, 0], spots)
        return (picked**2).sum() + (raised * replaced).sum()

    slope = numhlo.grad(loss)(X, stacked[0])
    direction = np.cos(X)
    change = (loss(X + 1e-6 * direction, stacked[0]) - loss(X - 1e-6 * direction, stacked[0])) / 2e-6
    np.testing.assert_allclose((slope * direction).sum(), change, rtol=1e-6)


def test_refusals():
    rows = lax.GatherDimensionNumbers((1,), (0,), (0,))
    assert refusal(lambda _, x: lax.gather(x, np.array([0.5]), rows, (1, 6)), X, kind=DTypeError) == (
        "lax.gather: indices are float64[1]\n  at test_indexing.py\n  convert them to integers"
    )
    assert refusal(lambda _, x: lax.gather(x, np.array([[0]]), rows, (1, 6), mode="wrap"), X, kind=ArgumentError) == (
        "mode='wrap' of a gather or scatter\n  at test_indexing.py\n  use 'clip', 'fill', 'drop' or 'promise_in_bounds'"
    )
    assert "(C21)" in refusal(lambda _, x: lax.gather(x, np.array([[0]]), rows, (1, 9)), X, kind=VerificationError)
    spots = lax.ScatterDimensionNumbers((), (0,), (0,))
    indices, updates = np.array([[0]]), np.ones(1, np.float32)
    assert refusal(lambda _, x: lax.scatter(x[0], indices, updates, spots), X, kind=DTypeError) == (
        "lax.scatter: updates float32[1] into float64[6]\n  at test_indexing.py\n"
        "  convert the updates with lax.convert_element_type"
    )


def test_broadcast_like_and_classes():
    found = lax.broadcast_like(np.arange(3, dtype=np.int8), X[:2, :3])
    assert found.dtype == np.int8 and found.tolist() == [[0, 1, 2]] * 2
    with pytest.raises(ShapeError, match="has a larger shape than"):
        lax.broadcast_like(X, X[0])
    assert lax.Precision("high") is lax.Precision.HIGH and lax.RoundingMethod.TO_NEAREST_EVEN == 1
    with pytest.raises(ValueError, match="fastest"):
        lax.Precision("fastest")
    assert lax.round(np.array([0.5, 2.5]), lax.RoundingMethod.TO_NEAREST_EVEN).tolist() == [0, 2]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint32, np.int32, np.int64, np.uint64])
def test_mulhi(rng, dtype):
    info = np.iinfo(dtype)
    edges = np.array([info.min, info.min + 1, info.max, info.max - 1, 0, 1, info.max // 2], dtype)
    x = np.concatenate([np.repeat(edges, len(edges)), rng.integers(info.min, info.max, 50, dtype, endpoint=True)])
    y = np.concatenate([np.tile(edges, len(edges)), rng.integers(info.min, info.max, 50, dtype, endpoint=True)])
    wanted = np.array([int(a) * int(b) >> info.bits for a, b in zip(x, y, strict=True)], dtype)
    for found in (lax.mulhi(x, y), run_traced(lax.mulhi, [x, y])[0]):
        assert_same(found, wanted, str(dtype))
    with pytest.raises(DTypeError, match="use integers"):
        lax.mulhi(1.0, 2.0)


def test_composite():
    @functools.partial(lax.composite, name="my.scaled", version=3)
    def scaled(x, /, *, factor, rounding=None):
        return {"up": x["a"] * factor, "down": numhlo.numpy.sum(x["a"] / factor)}

    x = {"a": np.array([1.0, 2.0, 4.0])}
    wanted = {"up": x["a"] * 2, "down": np.float64(3.5)}
    assert_same(scaled(x, factor=2), wanted, "at once")
    jitted = numhlo.jit(lambda x: scaled(x, factor=2))
    assert_same(jitted(x), wanted, "compiled")
    text = jitted.lower(x).as_text()
    assert 'stablehlo.composite "my.scaled"' in text and "{factor = 2 : i64}" in text and "version = 3" in text
    many = {"a": np.arange(6.0).reshape(2, 3)}
    batched = numhlo.jit(numhlo.vmap(lambda x: scaled(x, factor=2)))(many)
    assert_same(batched, {"up": many["a"] * 2, "down": many["a"].sum(1) / 2}, "batched")
    slope = numhlo.grad(lambda x: scaled(x, factor=2)["up"].sum())(x)
    assert_same(slope, {"a": np.full(3, 2.0)}, "differentiated")


def test_composite_refusals():
    scaled = lax.composite(lambda x, factor: x * factor, "my.scaled")
    assert refusal(lambda _, x: scaled(x, factor=x[0]), X, kind=ArgumentError) == (
        "composite my.scaled: a traced array as an attribute\n  at test_indexing.py\n"
        "  attributes are fixed while tracing; pass it as a positional argument"
    )

    def write(x):
        x[0] = 1
        return x

    message = refusal(lambda _, x: lax.composite(write, "my.write")(x), X, kind=MutationError)
    assert message == (
        "composite my.write: its decomposition writes into an argument\n  at test_indexing.py\n  copy the argument first"
    )
    assert "(C1)" in refusal(lambda _, x: lax.composite(lambda x: x, "plain")(x), X)
