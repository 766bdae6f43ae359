"""Sorting, searching, selection and rounding: every dtype, NaN last, stable, as NumPy does."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import numhlo.numpy
from numhlo.lowering.ir.errors import DataDependentShapeError
from tests.library.agreement import assert_same, check, check_all, refusal, run_traced, same_refusal
from tests.library.arrays import DTYPES, sample

X = numpy.array([[3.0, -1.0, 2.5, 0.0], [7.0, 1.5, -2.0, 4.0]])


def crowded(rng, dtype, shape):
    """An array with many equal elements."""
    x = sample(rng, dtype, shape)
    with numpy.errstate(all="ignore"):
        return x if dtype.kind in "b" else numpy.where(rng.random(shape) < 0.4, x.dtype.type(2), x).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype(dtype, rng):
    cases: list[Any] = []
    for shape in [(9,), (3, 5), (0,), (2, 0)]:
        x = crowded(rng, dtype, shape)
        for axis in (None, 0, -1):
            cases.append((f"sort {shape} {axis}", lambda np, x, a=axis: np.sort(x, axis=a), x))
            cases.append((f"argsort {shape} {axis}", lambda np, x, a=axis: np.argsort(x, axis=a, stable=True), x))
    line, values = numpy.sort(crowded(rng, dtype, (9,))), crowded(rng, dtype, (4, 5))
    sides = lambda np, a, v: (
        np.searchsorted(a, v),
        np.searchsorted(a, v, "right"),
        a.searchsorted(v[0, 0]),
        np.searchsorted(a[:0], v),
    )
    cases.append(("searchsorted", sides, line, values))
    keys = crowded(rng, dtype, (3, 8))
    cases.append(("lexsort", lambda np, k: (np.lexsort(k), np.lexsort((k[0], k[1]))), keys))
    cases.append(("where", lambda np, k: (np.where(k != 0, k, 1), np.where(k[0], k, k[1])), keys))
    check_all(cases)


def test_stable_descending(rng):
    x = rng.integers(0, 4, (3, 9)).astype(float)
    x[0, 3] = numpy.nan
    n = numhlo.numpy
    found, _ = run_traced(lambda x: (n.sort(x, descending=True), n.argsort(x, descending=True)), [x])
    assert_same(found, (n.sort(x, descending=True), n.argsort(x, descending=True)))
    assert n.argsort(numpy.array([1, 3, 3, 2]), descending=True).tolist() == [1, 2, 3, 0]


def test_sort_in_place_and_partitions(rng):
    def f(np, x):
        y = x.copy()
        y[0].sort()
        y.T.sort(axis=0)
        return y, np.sort(np.partition(x, 2, axis=1)[:, :2], 1), np.partition(x, 2, 1)[:, 2]

    check(f, rng.normal(size=(3, 5)))


@pytest.mark.parametrize(
    ("shape", "axis", "kth"), [((2500,), 0, 5), ((2, 2100), 1, -1), ((2048, 3), 0, 0), ((50, 50), None, 17)]
)
def test_long_rows_are_partitioned_without_sorting(rng, shape, axis, kth):
    x = rng.integers(-50, 50, shape) * 0.5
    x.flat[::7], x.flat[1::9], x.flat[2::9] = numpy.nan, -0.0, 0.0

    def f(x):
        return numpy.partition(x, kth, axis), numpy.argpartition(x, kth, axis)

    main = numhlo.jit(f).lower(x).as_text().partition("func.func private")[0]  # another function says what is selected
    assert "@main" in main and "stablehlo.sort" not in main
    (split, order), _ = run_traced(f, [x])
    rows, place = (x.ravel(), -1) if axis is None else (x, axis)
    k = kth % rows.shape[place]
    whole = numpy.moveaxis(numpy.sort(rows, place), place, -1)
    for found in (split, numpy.take_along_axis(rows, numpy.asarray(order), place)):
        parts = numpy.moveaxis(numpy.asarray(found), place, -1)
        numpy.testing.assert_array_equal(parts[..., k], whole[..., k])
        for part in (slice(None, k), slice(k, None)):
            numpy.testing.assert_array_equal(numpy.sort(parts[..., part], -1), whole[..., part])


def test_slopes_of_a_partition(rng):
    x = rng.normal(size=(2, 2500))
    slopes = numhlo.grad(lambda x: (numpy.partition(x, 10, 1)[:, :10] ** 2).sum())(x)
    numpy.testing.assert_array_equal(slopes, numpy.where(x <= numpy.sort(x, 1)[:, 9:10], 2 * x, 0))


def test_few_elements_are_compared_with_all(rng):
    x = rng.integers(0, 60, (5, 40)) * 0.5
    x.flat[::11] = numpy.nan
    for count, sorts in ((1, False), (32, False), (33, True)):
        tested = numpy.append(rng.integers(0, 60, count - 1) * 0.5, numpy.nan)

        def f(x, tested):
            return numpy.isin(x, tested), numpy.isin(x, tested, invert=True)

        assert ("stablehlo.sort" in numhlo.jit(f).lower(x, tested).as_text()) == sorts
        found, _ = run_traced(f, [x, tested])
        assert_same(found, (numpy.isin(x, tested), numpy.isin(x, tested, invert=True)))


def test_selection():
    cases = [
        ("choose", lambda np, i, x: (np.choose(i, [x[0], x[1], 5]), i.choose([1, 2, 3]), np.choose(i + 9, [x[0], 1], mode="wrap")), numpy.array([0, 2, 1, 1]), X),
        ("choose clip", lambda np, i, x: np.choose(i, [x[0], 1], mode="clip"), numpy.array([-4, 0, 1, 9]), X),
        ("choose numbers", lambda np, i, h: tuple(np.choose(i, [h, c, h]) for c in (2, 2.5, 1j, np.float64(2), [2, 1, 0, 1])), numpy.array([0, 2, 1, 1]), X[0].astype("f4")),
        ("choose small", lambda np, i, h: (np.choose(i, [h, 2, h]), np.choose(i, [2, 3, np.int8(4)])), numpy.array([0, 2, 1, 1]), X[0].astype("i1")),
        ("select", lambda np, x: (np.select([x < 0, x > 2], [x, 10 * x], -1), np.select([x[0] < 0], [1])), X),
        ("piecewise", lambda np, x: (np.piecewise(x, [x < 0, x > 2], [lambda v: -v, 7.0, 1.0]), np.piecewise(x, [x > 1], [3.0])), X),
        ("clip", lambda np, x: (np.clip(x, -1, 1), np.clip(x, None, 1), np.clip(x, min=0), x.clip(0, 1), np.clip(x, -1, 1, out=x)), X),
        ("clip truth", lambda np, x: (np.clip(x > 0, 0, x.astype("f2")), np.clip(x > 0, False, True), np.clip(x > 0, np.int8(0), 2)), X),
        ("clip ints", lambda np, x: (np.clip(x, 1, 3), np.clip(x, 0.5, None)), numpy.arange(5)),
        ("nan_to_num", lambda np, x: (np.nan_to_num(x), np.nan_to_num(x, nan=1, posinf=2, neginf=3)), numpy.array([numpy.nan, numpy.inf, -numpy.inf, 1.5])),
        ("nan_to_num complex", lambda np, z: np.nan_to_num(z), numpy.array([complex(numpy.nan, 1), complex(2, -numpy.inf)])),
        ("nonzero of known", lambda np, x: x[np.nonzero(np.asarray([1, 0]))], X),
        ("take", lambda np, x: (np.take(x, [1, 0], 1), x.take([5, 2]), np.take(x, [[-1, 9]], 1, mode="wrap"), np.take(x, 9, mode="clip")), X),
        ("take_along_axis", lambda np, x: (np.take_along_axis(x, np.argsort(x, 1), 1), np.take_along_axis(x, np.argmax(x, 1, keepdims=True), 1)), X),
        ("questions", lambda np, x: (np.isclose(x, x + 1e-9), np.allclose(x, x), np.array_equal(x, x), np.array_equiv(x, x[:1]), np.isposinf(x), np.isneginf(x)), X),
        ("complex questions", lambda np, z: (np.isreal(z), np.iscomplex(z), np.angle(z), np.angle(z, True), np.real(z), np.imag(z)), X + 1j * (X > 1)),
        ("angle real", lambda np, x: (np.angle(x), np.real(x), np.imag(x), np.sinc(x), np.trunc(x)), X),
    ]  # fmt: skip
    check_all(cases)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_round_and_isclose(dtype, rng):
    x, y = sample(rng, dtype, (30,)), sample(rng, dtype, (30,))
    if dtype.kind != "b":
        check(lambda np, x: [np.round(x, n) for n in (0, 1, 3)], x)
        check(lambda np, x: np.round(x, -1), (x // 2 if dtype.kind in "iu" else x))
    check(lambda np, x, y: (np.isclose(x, y), np.isclose(x, y, 0.5, 1), np.isclose(x, x, equal_nan=True)), x, y)


def test_clip_between_numbers_keeps_zeros():
    x = numpy.array([3.0, -0.0, 0.0, numpy.nan, numpy.inf, -numpy.inf, -2.5])
    for bounds in ((0, 3), (-1, 0), (-0.0, 2.0), (0.0, -0.0), (0, numpy.nan), (numpy.nan, 0)):
        check(lambda np, x, bounds=bounds: np.clip(x, *bounds), x, ulps=0)
        check(lambda np, x, low, high: np.clip(x, low[()], high[()]), x, *map(numpy.asarray, bounds), ulps=0)
    for dtype in (numpy.float32, numpy.float64):
        check(lambda np, x, dtype=dtype: np.clip(x, dtype(0), numpy.int8(2)), x.astype(numpy.float32), ulps=0)


def test_sized_nonzero(rng):
    mask = rng.random((3, 4)) > 0.5
    n = numhlo.numpy
    count = int(mask.sum())
    for size in (2, count, 11, 20):
        f = lambda m, size=size: (
            n.nonzero(m, size=size, fill_value=-1),
            n.where(m, size=size),
            n.flatnonzero(m, size=size),
        )
        found, _ = run_traced(f, [mask])
        assert_same(found, f(mask))


def test_writing_functions(rng):
    x = rng.normal(size=(3, 4))
    mask = x > 0
    steps = [
        lambda np, x, m: np.copyto(x, 7, where=m),
        lambda np, x, m: np.putmask(x, m, [1.0, 2.0]),
        lambda np, x, m: np.place(x, m, [1.0, 2.0, 3.0]),
        lambda np, x, m: np.put(x, [0, 5, -1], [9.0, 8.0]),
        lambda np, x, m: x.put([1, 2], -3.0),
        lambda np, x, m: np.fill_diagonal(x, 4.0),
        lambda np, x, m: np.fill_diagonal(x.T, [1.0, 2.0], wrap=True),
        lambda np, x, m: np.put_along_axis(x, np.argmax(x, 1, keepdims=True), 0.0, 1),
        lambda np, x, m: x.fill(2),
    ]
    for k, step in enumerate(steps):
        check(lambda np, x, m, step=step: (step(np, x, m), x + 0)[1], x, mask, label=str(k))
    new = numhlo.numpy.put(x, [0], 100.0, inplace=False)
    assert new[0, 0] == 100 and x[0, 0] != 100


@pytest.mark.parametrize(
    "fun",
    [
        lambda np, x: np.sort(x, 3),
        lambda np, x: np.sort(x, kind="fast"),
        lambda np, x: np.argsort(x, order="a"),
        lambda np, x: np.searchsorted(x[0], 1.0, "middle"),
        lambda np, x: np.take(x, [7], 0),
        lambda np, x: np.choose([0, 3], [1, 2]),
        lambda np, x: np.select([], []),
        lambda np, x: np.select([x], [x]),
        lambda np, x: np.partition(x, 9),
    ],
)
def test_refused_as_by_numpy(fun):
    same_refusal(fun, X, plain=False)


def test_messages():
    assert refusal(lambda np, x: np.nonzero(x)[0].reshape(-1), X, kind=DataDependentShapeError) == (
        "nonzero of a traced array float64[2,4]\n  at test_ordering.py\n"
        "  the number of true elements is not known while tracing; "
        "index by the mask itself (x[mask]), use where(mask, x, y), or write numhlo.numpy.nonzero(..., size=n)"
    )


def ramp(v):
    return v.clip(-0.5) * 2


def table(v):
    return numpy.interp(v, [0, 4], [1, 2])


def test_cases_of_piecewise_see_single_elements():
    """NumPy's see the elements where their condition holds; that differs where they compute something of several."""
    x = numpy.array([-1.0, 0.5, 2.0, 3.0])
    found = numhlo.jit(lambda x: numpy.piecewise(x, [x < 0], [ramp, table]))(x)
    numpy.testing.assert_allclose(found, numpy.piecewise(x, [x < 0], [ramp, table]))
    for case in (lambda v: v - v.mean(), lambda v: numpy.sort(v), lambda v: v * (v @ v)):
        with pytest.raises(NotImplementedError, match=r"piecewise: a function that computes .*\n  at test_ordering"):
            numhlo.jit(lambda x, case=case: numpy.piecewise(x, [x > 1], [case]))(x)
