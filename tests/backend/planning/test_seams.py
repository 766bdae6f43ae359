"""Elementwise ops on concatenated and padded arrays: none of these in memory, and the same results. NumPy judges."""

import numpy as np
import pytest

import numhlo
from numhlo.backend.planning import explain, seams
from numhlo.backend.program import Place
from numhlo.lowering.passes.pipeline import optimize
from tests.backend.plain_engine import PlainEngine
from tests.backend.programs import evaluated, launched, plan

X = np.arange(48 * 64.0).reshape(48, 64) % 37 - 11
Y = X[::-1] * 0.5 + 3
SMALL = X[:5, :7].copy(), Y[:5, :7].copy()


def laplacian(x):
    return np.roll(x, 1, 0) + np.roll(x, -1, 0) + np.roll(x, 1, 1) + np.roll(x, -1, 1) - 4 * x


def within_zeros(x):
    p = np.pad(x, 1)
    return p[1:-1, :-2] + p[1:-1, 2:] + p[:-2, 1:-1] + p[2:, 1:-1] - 4 * p[1:-1, 1:-1]


def reacting(u, v):
    growth = u * v * v
    return u + 0.1 * laplacian(u) - growth, v + 0.05 * laplacian(v) + growth


def two_rounds(x):
    return laplacian(laplacian(x))


def with_error(x, y):
    new = 0.25 * (laplacian(x) - y)
    return new, np.max(np.abs(new - x))


def rotated(x, y):
    half = x.shape[1] // 2
    return x * y + np.concatenate([-x[:, half:], x[:, :half]], axis=1) * np.cos(y)


def stacked(x, y):
    return np.stack([x, y]) * 2 + np.stack([y, x])[::1]


def transposed(x, y):
    return np.roll(x, 2, 1).T - y.T


def spread(x, y):
    return np.concatenate([x, y])[:, None, :] + np.concatenate([x[0], y[0]])[None, : x.shape[1]]


def unevenly(x, y):
    return np.concatenate([x[:2], y[1:3], x[3:]], axis=0)[: x.shape[0] - 1] > 0.5


def cropped(x, y):
    return np.pad(np.pad(x, ((2, 0), (0, 3)), constant_values=7.0)[1:, :-4], ((0, 0), (1, 0))) * 3


def within_edges(x):
    p = np.pad(x, 1, mode="edge")
    return p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2]


def reflected(x):
    p = np.pad(x, ((0, 0), (2, 2)), mode="reflect")
    return p[:, 4:] - 8 * p[:, 3:-1] + 8 * p[:, 1:-3] - p[:, :-4]


def used_whole(x, y):
    both = np.concatenate([x, y])
    return both, both * 2


def crossed(x, y):
    return 2 * np.cross(x[:, :3], y[:, 1:4]) + x[:, 2:5]


def turned(x, y):
    half = x.shape[1] // 2
    first, second = x[:, :half], y[:, :half]
    pairs = np.stack([first + second, first - second], axis=2) + y[:, : 2 * half].reshape(-1, half, 2)
    return pairs * 2, np.abs(pairs) + 1


ONE_PASS = [laplacian, within_zeros, reacting, rotated, stacked, transposed, unevenly, cropped, within_edges, reflected]
OTHERS = [crossed, turned, two_rounds, with_error, spread, used_whole]


def planned(function, *arrays):
    program = plan(optimize(numhlo.jit(function).trace(*arrays).module.main))
    assert not evaluated(program)
    return program


def arguments_of(function, arrays):
    return arrays[: function.__code__.co_argcount]


@pytest.mark.parametrize("function", ONE_PASS, ids=lambda f: f.__name__)
def test_one_pass_without_memory(function):
    """Nothing but results is written, each element once; what is read is what NumPy's operands hold, at most."""
    program = planned(function, *arguments_of(function, (X, Y)))
    assert not [b for b in program.buffers if b.place is Place.ARENA]
    assert " parts; " in explain(program) and "copy" not in launched(program)
    assert all("goes on" in line for line in explain(program).splitlines()[1:-1] if "again" not in line)


@pytest.mark.parametrize("function", [*ONE_PASS, *OTHERS], ids=lambda f: f.__name__)
def test_results(function, monkeypatch):
    monkeypatch.setattr(seams, "LEAST", 1)
    arrays = arguments_of(function, SMALL)
    program = planned(function, *arrays)
    expected = function(*arrays)
    results = PlainEngine(program).call([np.array(a) for a in arrays])
    for result, right in zip(results, expected if isinstance(expected, tuple) else (expected,), strict=True):
        np.testing.assert_array_equal(result, right, strict=True)


@pytest.mark.parametrize(("function", "parts"), [(crossed, 3), (turned, 2)])
def test_parts_of_each_cache_line_are_written_by_one_kernel(function, parts):
    program = planned(function, np.tile(X, (8, 1)), np.tile(Y, (8, 1)))
    assert f" {parts} parts; " in explain(program)
    assert "goes on" not in explain(program)


def test_each_round_is_a_pass():
    program = planned(two_rounds, X)
    assert [b.type.shape for b in program.buffers if b.place is Place.ARENA] == [X.shape]


def test_what_reductions_alone_need_is_not_stored():
    program = planned(with_error, X, Y)
    assert all(b.type.size < X.size for b in program.buffers if b.place is Place.ARENA)


def test_what_is_there_anyway_is_not_cut():
    assert " parts; " not in explain(planned(used_whole, X, Y))
    assert " parts; " not in explain(planned(lambda x, y: np.sum(np.concatenate([x, y]) * 2, axis=0), X, Y))


def test_parts_are_limited():
    """A long list of arrays has no kernel for each; padding on three axes would be 27 different ones."""

    def joined(x):
        return np.concatenate([x[k : k + 1] for k in range(40)]) * 2 + 1

    def rolled(x):
        return sum(np.roll(x, side, axis) for axis in range(3) for side in (1, -1)) - 6 * x

    assert " parts; " not in explain(planned(joined, np.ones((40, 100))))
    assert " parts; " not in explain(planned(lambda x: np.pad(x, 1) * 2, np.ones((20, 20, 20))))
    assert "27 parts; " in explain(planned(rolled, X.reshape(16, 12, 16)))


def test_rounds_of_a_loop():
    def relaxed(x):
        return numhlo.lax.fori_loop(0, 3, lambda _, y: 0.25 * laplacian(y), x)

    function = numhlo.jit(relaxed)
    expected = X
    for _ in range(3):
        expected = 0.25 * laplacian(expected)
    for _ in range(2):
        np.testing.assert_array_equal(function(X), expected)
        function.wait()
    assert " parts; " in function.lower(X).compile().explain()
