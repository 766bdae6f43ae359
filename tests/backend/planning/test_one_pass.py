"""Programs that go through memory once: one kernel, which writes nothing but results."""

import numpy as np
import pytest

import numhlo
from numhlo.backend.planning import explain
from numhlo.backend.program import Launch, Place
from numhlo.lowering.passes.pipeline import optimize
from tests.backend.plain_engine import run_plain
from tests.backend.programs import all_steps, plan

X = np.linspace(-1.0, 2.0, 60 * 80).reshape(60, 80)
Y = X[::-1].copy()
SQUARE = X[:, :60].copy()
CUBE = X.reshape(10, 12, 40)
LINE, OTHER = X.reshape(-1), Y.reshape(-1)
POINTS = LINE[:300].reshape(100, 3)
ROW, COLUMN = X[0].copy(), X[:, 0].copy()


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def log_softmax(x):
    shifted = x - x.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def layer_norm(x, scale, shift):
    d = x - x.mean(axis=-1, keepdims=True)
    return d / np.sqrt((d * d).mean(axis=-1, keepdims=True) + 1e-5) * scale + shift


def similarity(x, y):
    return np.sum(x * y, axis=1) / np.sqrt(np.sum(x * x, axis=1) * np.sum(y * y, axis=1))


PROGRAMS = {
    "many results": (lambda x, y: (np.exp(x) * y, x > y, (x * 10).astype(np.int32)), X, Y),
    "complex": (lambda x, y: np.abs(x + 1j * y) ** 2, X, Y),
    "choices": (lambda x, y: np.where(x > y, np.clip(x, 0.1, 0.9), y), X, Y),
    "sum with ops before and after": (lambda x: np.sqrt(np.sum(np.exp(x) * 2, axis=1)) + 1, X),
    "sum of outer axes": (lambda x: np.sum(x * x, axis=(0, 1)), CUBE),
    "sum of inner axes": (lambda x: np.sum(x * x, axis=(1, 2)), CUBE),
    "any and all": (lambda x, y: (np.any(x > y, axis=1), np.all(x > 0, axis=1)), X, Y),
    "extremes": (lambda x: np.ptp(x, axis=1), X),
    "place of the largest": (lambda x: np.argmax(np.exp(x) * 2, axis=1), X),
    "variance": (lambda x: np.std(x, axis=1, ddof=1), X),
    "similarity": (similarity, X, Y),
    "rows of length one": (lambda x: x / np.linalg.norm(x, axis=1, keepdims=True), X),
    "softmax": (softmax, CUBE),
    "masked softmax": (lambda x, mask: softmax(np.where(mask > 0.5, x * 0.125, -1e9)), X, Y),
    "log softmax": (log_softmax, X),
    "layer norm of a sum": (lambda x, y, scale, shift: layer_norm(x + y, scale, shift), X, Y, ROW, ROW),
    "outer product": (lambda a, b: np.exp(a[:, None] * b), COLUMN, ROW),
    "distances": (lambda a, b: np.sqrt(np.sum((a[:, None] - b[None]) ** 2, axis=2)), POINTS, POINTS[:80]),
    "dear values a row": (lambda x, c: x * np.exp(c)[:, None], X, COLUMN),
    "transposed": (lambda x: x.T * 2, X),
    "axes exchanged": (lambda x: x.transpose(2, 0, 1) + 1, CUBE),
    "both ways": (lambda x: (x + x.T) / 2, SQUARE),
    "differences": (lambda x: np.diff(x), LINE),
    "second differences": (lambda x: np.diff(x, n=2), X),
    "larger pixels": (lambda x: np.repeat(np.repeat(x, 2, axis=0), 3, axis=1), X),
    "tiles": (lambda x: np.tile(x * 2, 3), LINE),
    "soft targets": (lambda x, y: -np.sum(y * log_softmax(x), axis=1), X, Y),
    "every other": (lambda x: x[::2] * x[1::2], LINE),
    "backwards": (lambda x, y: x[::-1] + y, LINE, OTHER),
    "stencil": (lambda x: x[1:-1, :-2] + x[1:-1, 2:] + x[:-2, 1:-1] + x[2:, 1:-1] - 4 * x[1:-1, 1:-1], X),
    "blurred": (lambda x: sum(x[i : i + 58, j : j + 78] for i in range(3) for j in range(3)) / 9, X),
    "windows": (lambda x: np.lib.stride_tricks.sliding_window_view(x, 5).sum(-1), LINE),
    "repeated": (lambda x: np.repeat(x * 2, 3), LINE),
    "triangle": (lambda x: np.tril(x) * 2 + np.eye(60), SQUARE),
    "where by position": (lambda x: np.where(np.arange(80) > np.arange(60)[:, None], x, 0), X),
    "gathered rows": (lambda x, i: np.sum(x[i] * 2, axis=1), X, np.arange(60)[::-1].copy()),
}


def divergence(x, y):
    p = softmax(x)
    return np.sum(p * (np.log(p) - log_softmax(y)), axis=1)


def entropy(x):
    p = softmax(x)
    return -np.sum(p * np.log(p), axis=-1)


WITHIN_ROWS = {
    "product of two softmaxes": (lambda x, y: softmax(x) * softmax(y), X, Y),
    "divergence": (divergence, X, Y),
    "entropy": (entropy, X),
    "entropy of inner rows": (entropy, CUBE),
}


@pytest.mark.parametrize("name", WITHIN_ROWS)
def test_what_passes_within_rows_has_memory_for_few_rows(name):
    function, *arguments = WITHIN_ROWS[name]
    long, short = [np.concatenate([x] * 50) for x in arguments], [x[:4].copy() for x in arguments]
    program = planned(function, long)
    (launch,) = all_steps(program)
    rows, length = -(-launch.extent // launch.grain), X.shape[1] if name != "entropy of inner rows" else CUBE.shape[2]
    size = sum(b.type.size for b in program.buffers if b.place is Place.ARENA)
    assert rows * length <= size <= 3 * rows * length < long[0].size / 5
    (found,) = run_plain(planned(function, short), short)
    np.testing.assert_allclose(found, function(*short), rtol=1e-12, atol=1e-14)


def test_rows_that_run_at_the_same_time_have_memory_of_their_own(rng):
    function, long = WITHIN_ROWS["entropy"][0], rng.normal(size=(4000, 80))
    jitted = numhlo.jit(function)
    jitted(long)
    jitted.wait()
    np.testing.assert_allclose(jitted(long), function(long), rtol=1e-12)


def planned(function, arguments):
    return plan(optimize(numhlo.jit(function).trace(*arguments).module.main))


@pytest.mark.parametrize("name", PROGRAMS)
def test_one_pass(name):
    function, *arguments = PROGRAMS[name]
    program = planned(function, arguments)
    (launch,) = all_steps(program)
    assert isinstance(launch, Launch)
    assert not [buffer for buffer in program.buffers if buffer.place is Place.ARENA], explain(program)


def sobel(x):
    p = np.pad(x, 1, mode="edge")
    return np.hypot(p[:-2, 2:] - p[:-2, :-2] + p[1:-1, 2:] * 2, p[2:, 2:] * 2 - p[:-2, :-2] + p[2:, :-2])


def slope(x):
    down, along = np.gradient(x)
    return np.sqrt(down * down + along * along)


@pytest.mark.parametrize("function", [sobel, slope])
def test_edges_of_images_are_parts_without_memory_in_between(function):
    program = planned(function, [X])
    assert len(all_steps(program)) == 9
    assert not [buffer for buffer in program.buffers if buffer.place is Place.ARENA]
    np.testing.assert_allclose(run_plain(program, [X])[0], function(X), rtol=1e-12)


@pytest.mark.parametrize(
    ("function", "launches"),
    [
        (lambda x, y: np.concatenate([x, y], -1), 1),
        (lambda x, y: np.concatenate([y, x[..., ::-1]], -1), 1),
        (lambda x, y: np.concatenate([x, np.ones((*x.shape[:-1], 1), x.dtype)], -1), 1),
        (lambda x, y: np.concatenate([x, x], -1), 1),
        (lambda x, y: np.concatenate([x, x[..., :2]], -1), 2),  # rows of five
        (lambda x, y: np.concatenate([x, y], -1)[..., None, :], 1),
    ],
)
@pytest.mark.parametrize("shape", [(300,), (5, 40), (1,)])
def test_short_rows_of_different_lengths_are_put_together_in_one_pass(rng, function, launches, shape):
    x, y = rng.random((*shape, 3)), rng.random((*shape, 1))
    compiled = numhlo.jit(function).lower(x, y).compile()
    assert len(compiled.kernels) == launches
    np.testing.assert_array_equal(compiled(x, y), function(x, y), strict=True)
