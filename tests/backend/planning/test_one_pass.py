"""Programs that go through memory once: one kernel, which writes nothing but results."""

import numpy as np
import pytest

import numhlo
from numhlo.backend.planning import explain, plan
from numhlo.backend.program import Launch, Place
from numhlo.lowering.passes.pipeline import optimize
from tests.backend.programs import all_steps

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


@pytest.mark.parametrize("name", PROGRAMS)
def test_one_pass(name):
    function, *arguments = PROGRAMS[name]
    program = plan(optimize(numhlo.jit(function).trace(*arguments).module.main))
    (launch,) = all_steps(program)
    assert isinstance(launch, Launch)
    assert not [buffer for buffer in program.buffers if buffer.place is Place.ARENA], explain(program)
