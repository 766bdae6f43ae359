"""Bounds of traced integers that a program shows: counts of what can't be greater have a known number."""

from __future__ import annotations

import numpy
import pytest

from numhlo.lowering.ir.errors import DataDependentShapeError
from tests.library.agreement import check, refusal

X = numpy.random.default_rng(0).integers(-40, 40, 50)
POINTS = numpy.random.default_rng(1).normal(size=(30, 2))
PLACES = {
    "nearest": lambda np, x, p: np.argmin(((p[:, None] - p[None, :3]) ** 2).sum(-1), axis=1),
    "remainder": lambda np, x, p: x % 3,
    "bits": lambda np, x, p: x & 2,
    "clipped": lambda np, x, p: np.clip(x, 0, 2),
    "intervals": lambda np, x, p: np.digitize(p[:, 0], [-0.5, 0.5]),
    "sorted in": lambda np, x, p: np.searchsorted(np.array([-0.5, 0.5]), p[:, 1]),
    "chosen": lambda np, x, p: np.where(x > 5, x % 3, 1)[::-1].reshape(5, 10).T.ravel(),
    "conditions": lambda np, x, p: (x > 5).astype(int),
    "joined": lambda np, x, p: np.concatenate([np.sort(x % 2), x % 3])[X % 5],
    "narrow": lambda np, x, p: (x % 3).astype("u1").astype("i2"),
}


@pytest.mark.parametrize("name", PLACES)
def test_counts_of_bounded_places(name):
    def count(np, x, p):
        places = abs(PLACES[name](np, x, p)) if name == "narrow" else PLACES[name](np, x, p)
        return np.bincount(places, minlength=3), np.bincount(places, minlength=7)

    if name == "narrow":  # signs and bits may be lost: nothing is known
        assert "bincount of a traced array" in refusal(count, X, POINTS, kind=DataDependentShapeError)
    else:
        check(count, X, POINTS)


def test_weighted_counts():
    check(lambda np, x, p: np.bincount(x[:30] % 4, p[:, 0], 4), X, POINTS)


@pytest.mark.parametrize(
    "f",
    [
        lambda np, x, p: x,
        lambda np, x, p: x % 4,
        lambda np, x, p: np.minimum(x, 3),
        lambda np, x, p: (x % 3) + 1,
        lambda np, x, p: np.clip(x, None, 2).astype("u1"),
        lambda np, x, p: x & -2,
        lambda np, x, p: np.where(x > 5, x, 1),
        lambda np, x, p: np.argmax(p, axis=0),
    ],
)
def test_what_may_be_greater_is_refused(f):
    message = refusal(lambda np, x, p: np.bincount(f(np, x, p), minlength=3), X, POINTS, kind=DataDependentShapeError)
    assert "length=n" in message
