"""Loops that say how far they are: the results of the plain ones, and what is said, when."""

import io

import numpy as np
import pytest

import numhlo
from numhlo import lax, progress
from numhlo.lowering.ir.errors import ArgumentError

X = np.array([1.0, 2.0, 3.0])


def told():
    said = []
    return said, lambda done, total: said.append((done, total))


def body(i, y):
    return np.sin(y) * 0.9 + i * 0.001


@pytest.mark.parametrize("wrap", [numhlo.jit, lambda f: f], ids=["jit", "plain"])
@pytest.mark.parametrize(("lower", "upper", "updates"), [(0, 25, 5), (3, 29, 4), (2, 2, 3), (0, 7, 100)])
def test_fori_loop(wrap, lower, upper, updates):
    said, show = told()
    run = wrap(lambda x: progress.fori_loop(lower, upper, body, x, show=show, updates=updates))
    expected = lax.fori_loop(lower, upper, body, X)
    np.testing.assert_allclose(run(X), expected, rtol=1e-14)
    total = upper - lower
    assert [t for _, t in said] == [total] * len(said)
    assert len(said) <= updates + 1 and [d for d, _ in said] == sorted(d for d, _ in said)
    assert not total or said[-1] == (total, total)


def test_bounds_that_are_traced():
    said, show = told()
    f = numhlo.jit(lambda x, n: progress.fori_loop(1, n, body, x, show=show, updates=4))
    for n in (9, 1):
        said.clear()
        np.testing.assert_allclose(f(X, n), lax.fori_loop(1, n, body, X), rtol=1e-14)
        assert said == ([(2, 8), (4, 8), (6, 8), (8, 8)] if n == 9 else [])


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("count", [0, 1, 12, 14])
def test_scan(count, reverse):
    said, show = told()
    xs = {"a": np.arange(count * 2.0).reshape(count, 2), "b": np.arange(count)}

    def step(c, x):
        return np.tanh(c + x["a"]), {"y": c * x["b"], "b": x["b"] + 1}

    f = numhlo.jit(lambda xs: progress.scan(step, np.zeros(2), xs, reverse=reverse, show=show, updates=5))
    found, expected = f(xs), lax.scan(step, np.zeros(2), xs, reverse=reverse)
    for left, right in zip(numhlo.tree.leaves(found), numhlo.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-14)
    assert not count or said[-1] == (count, count)
    assert [d for d, _ in said] == sorted(d for d, _ in said)
    only_length = progress.scan(lambda c, _: (c + 1, c), 0, length=7, show=show, updates=2)
    assert only_length[0] == 7 and only_length[1].tolist() == [*range(7)]


def test_while_loop():
    said, show = told()
    f = numhlo.jit(
        lambda x: progress.while_loop(
            lambda s: s[0] < 23, lambda s: (s[0] + 1, s[1] * 1.5), (0, x), every=10, show=show
        )
    )
    count, value = f(2.0)
    assert count == 23 and value == 2.0 * 1.5**23
    assert said == [(10, None), (20, None), (23, None)]


def test_transformations():
    said, show = told()
    loop = lambda x: progress.fori_loop(0, 12, body, x, show=show, updates=3)
    plain = lambda x: lax.fori_loop(0, 12, body, x)
    np.testing.assert_allclose(numhlo.jit(numhlo.vmap(loop))(X), plain(X), rtol=1e-14)
    assert said == [(4, 12), (8, 12), (12, 12)]  # once for all examples
    said.clear()
    gradient = numhlo.jit(numhlo.grad(lambda x: loop(x).sum()))(X)
    np.testing.assert_allclose(gradient, numhlo.grad(lambda x: plain(x).sum())(X), rtol=1e-12)
    assert (12, 12) in said


def test_the_bar():
    stream = io.StringIO()
    bar = progress.Bar("fitting", stream)
    bar(5, 10)
    bar(10, 10)
    first, second = stream.getvalue().split("\r")[1:]
    assert first.startswith("fitting [###############               ]  50%, ")
    assert second.startswith(f"fitting [{'#' * 30}] 100%, ") and second.endswith(" s\n")
    stream = io.StringIO()
    progress.Bar(stream=stream)(7, None)
    assert stream.getvalue().startswith("\r7 rounds, ")


def test_refused():
    for call in (
        lambda: progress.fori_loop(0, 3, body, 1.0, updates=0),
        lambda: progress.scan(body, 1.0, X, updates=0),
        lambda: progress.while_loop(bool, bool, 1.0, every=0),
    ):
        with pytest.raises(ArgumentError, match=r"=0\n  at test_progress.py.*\n  use a positive number"):
            call()
