"""Reading and writing at run-time positions, concatenation, padding and sorting, in plain Python."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import numhlo
from numhlo.backend.emit import layout
from numhlo.backend.planning import region
from numhlo.lowering.interpreter import interpret
from numhlo.lowering.passes.pipeline import optimize
from tests.backend.plain_engine import assert_same_bits, run_plain
from tests.backend.programs import all_steps, evaluated, from_jax, launched, plan

X = np.linspace(-2, 3, 48, dtype=np.float32).reshape(6, 8)
ROWS = np.array([0, 3, -1, 9, 2])


def three_updates(x):
    for k in range(3):
        x = x.at[k].set(x[k + 1] * 2)
    return x


CASES: dict[str, Any] = {
    "dynamic slice": (lambda x, i: jax.lax.dynamic_slice(x, (i, 2), (2, 3)) * 2, X, 7),
    "dynamic slice of all": (lambda x, i: jax.lax.dynamic_slice(x, (i, i), (6, 8)) * 2, X, 7),
    "update from itself": (lambda x, i: jax.lax.dynamic_update_slice(x, x[:2, :3] * 3, (i, 2)), X, 1),
    "update of a row": (lambda x, i: x.at[i].set(1.5), X, 1),
    "update of nothing": (lambda x, i: jax.lax.dynamic_update_slice(x, x[:0], (i, 2)), X, 1),
    "several updates": (three_updates, X),
    "rows": (lambda x, i: x[i], X, ROWS),
    "rows of a sum": (lambda x, i: (x * 2 + 1)[i], X, ROWS),
    "columns": (lambda x, i: x[:, i] + 1, X, ROWS),
    "elements": (lambda x, i, j: x[i, j], X, ROWS, ROWS),
    "clipped": (lambda x, i: jnp.take(x * 2, i, axis=1, mode="clip"), X, ROWS),
    "unsigned": (lambda x, i: jnp.take(x, i, axis=0, mode="clip"), X, np.array([0, 5, 2**63 + 1], np.uint64)),
    "of equal elements": (
        lambda x, i: (jnp.ones(6)[i] * x[i].T, jax.lax.dynamic_slice(jnp.ones(6), i[:1], (2,))),
        X,
        ROWS,
    ),
    "windows": (lambda x: jax.vmap(lambda r, i: jax.lax.dynamic_slice(r, (i,), (3,)))(x, jnp.arange(6)), X),
    "add to rows": (lambda x, i: x.at[i].add(x[:5] * 2), X, ROWS),
    "set rows": (lambda x, i: x.at[i].set(7.0), X, ROWS),
    "multiply columns": (lambda x, i: x.at[:, i].mul(2.0), X, ROWS),
    "largest of elements": (lambda x, i: x.at[i, i].max(2.0), X, ROWS),
    "segments": (lambda x, i: jax.ops.segment_sum(x, i, num_segments=4), X, np.array([0, 1, 1, 3, 0, 2])),
    "scatter nothing": (lambda x, i: x.at[i[:0]].add(1.0), X, ROWS),
    "concatenate": (lambda x: jnp.concatenate([x, x * 2, x[:, ::-1], x[:, :0]], 1), X),
    "stack of scalars": (lambda x: jnp.stack([x[0, 0], x[1, 1] * 2, 3.0]), X),
    "pad": (lambda x: jnp.pad(x, ((1, 2), (0, 3)), constant_values=5), X),
    "pad of every kind": (lambda x: jax.lax.pad(x, jnp.float32(1.5), ((-1, 2, 1), (2, -1, 2))), X),
    "pad away": (lambda x: jax.lax.pad(x, jnp.float32(1.5), ((-6, 2, 0), (2, -1, 2))), X),
    "roll": (lambda x: jnp.roll(x, 2, axis=1), X),
    "repeat": (lambda x: jnp.repeat(x, 3, axis=0), X),
    "tile": (lambda x: jnp.tile(x, (2, 3)), X),
    "one hot": (lambda x: jax.nn.one_hot(x[:, 0].astype(int), 4), X * 3),
    "sort rows": (lambda x: jnp.sort(-x * x, 1), X),
    "sort columns": (lambda x: jnp.sort(x * x, 0), X),
    "argsort": (lambda x: jnp.argsort(jnp.round(x * x), 1), X),
    "sort pairs": (lambda x: jax.lax.sort((x % 3, x), num_keys=1, dimension=0), np.arange(60).reshape(20, 3)),
    "sort one": (lambda x: jax.lax.sort((x, x * 2), num_keys=1, dimension=1), X[:, :1]),
    "median": (lambda x: jnp.median(x * x, axis=0), X),
}


@pytest.mark.parametrize("name", CASES)
def test_cases(name):
    function, *arguments = CASES[name]
    arrays = [np.asarray(a) for a in arguments]
    traced = from_jax(function, *arguments)
    program = plan(traced)
    assert not evaluated(program)
    for left, right in zip(run_plain(program, arrays), interpret(traced, arrays), strict=True):
        assert_same_bits(left, np.asarray(right))


def test_gather_fuses_with_what_is_around_it():
    assert len(launched(plan(from_jax(lambda x, i: jnp.sum(x[i] * 2, 1), X, ROWS)))) == 1


@pytest.mark.parametrize("widths", [((1, 2), (0, 3)), ((0, 0), (2, 0)), ((-1, 2), (3, -2)), ((4, 0), (-1, -1))])
def test_no_element_of_a_large_padded_array_is_written_twice(widths, monkeypatch):
    config = [(low, high, 0) for low, high in widths]
    function = from_jax(lambda x: jax.lax.pad(x * 2, jnp.float32(1.5), config), X)
    monkeypatch.setattr(layout, "LARGE", 1)
    program = plan(function)
    (result,) = run_plain(program, [X])
    np.testing.assert_array_equal(result, np.asarray(jax.lax.pad(X * 2, np.float32(1.5), config)))
    *borders, kept = [step.bytes for step in all_steps(program)]
    assert sum(borders) + kept // 2 == result.nbytes  # half of the last is read


@pytest.mark.parametrize("window", [np.s_[1:-1, 1:-1], np.s_[:, 1:], np.s_[2:, :], np.s_[1:-1, :7]])
def test_what_an_update_writes_is_not_copied_before(window, monkeypatch):
    def turned(x):
        y = x.copy()
        y[window] = x[window][::-1, ::-1] * 0.5
        return y

    expected = turned(X)
    function = optimize(numhlo.jit(turned).trace(X).module.main)
    monkeypatch.setattr(region, "LARGE", 1)
    program = plan(function)
    np.testing.assert_array_equal(run_plain(program, [X])[0], expected)
    *copies, _ = [step.bytes for step in all_steps(program)]
    assert 0 < sum(copies) <= 2 * (X.nbytes - X[window].nbytes)  # half of them is read
    monkeypatch.setattr(region, "LARGE", X.size + 1)
    assert [step.bytes for step in all_steps(plan(function))][:-1] == [2 * X.nbytes]


def test_updates_happen_in_place():
    def function(x, i):
        y = jnp.sqrt(x)
        return y.at[i].set(1.0).at[i + 1].set(2.0)

    names = launched(plan(from_jax(function, X, 1)))
    assert not any(name == "copy" for name in names)
    assert len(names) <= 4


@pytest.mark.parametrize("length", [31, 33, 65, 100, 129])
def test_equal_elements_keep_their_order_at_all_lengths(length, rng):
    x = np.round(rng.standard_normal((2, length)) * 3).astype(np.float32)
    x[x == 0] *= np.where(rng.random(np.count_nonzero(x == 0)) < 0.5, -1, 1).astype(np.float32)
    x[:, ::7] = np.nan
    places, values = run_plain(plan(from_jax(lambda x: (jnp.argsort(x, axis=1), jnp.sort(x, axis=1)), x)), [x])
    order = np.argsort(x, axis=1, kind="stable")
    np.testing.assert_array_equal(places, order)
    assert_same_bits(values, np.take_along_axis(x, order, axis=1))


def test_dear_places_and_updates_are_computed_in_blocks(rng):
    x = rng.uniform(-3, 3, 2500)

    def scattered(x):
        place = np.floor(np.abs(np.round(x * 7) - np.floor(x * 5)) + np.square(x) * 2).astype(np.int64) - 2
        total = np.zeros(20)
        np.add.at(
            total, np.where(place > 9, 30, place), np.round(np.sqrt(np.abs(x)) * 8)
        )  # some are outside, some negative
        return total

    def cheap(x):
        total = np.zeros(20)
        np.add.at(total, np.abs(x).astype(np.int64), x)
        return total

    kernels = [numhlo.jit(f).lower(x).compile().kernels["scatter_add"] for f in (scattered, cheap)]
    assert ["for first in" in text for text in kernels] == [True, False]
    place = np.floor(np.abs(np.round(x * 7) - np.floor(x * 5)) + np.square(x) * 2).astype(np.int64) - 2
    expected = np.zeros(20)
    inside = place <= 9
    np.add.at(expected, place[inside], np.round(np.sqrt(np.abs(x[inside])) * 8))
    np.testing.assert_array_equal(numhlo.jit(scattered, tier0=False)(x), expected)
