"""``x[mask]`` with a traced mask: what works without knowing its length, and how the rest is refused."""

from __future__ import annotations

import numpy
import pytest

import numhlo
import numhlo.numpy
from numhlo.lowering.ir.errors import DataDependentShapeError
from tests.library.agreement import check, refusal, run_traced

X = numpy.array([[3.0, -1.0, 2.5, 0.0], [7.0, 1.5, -2.0, 4.0], [0.5, 6.0, 1.0, -3.0]])
MASK = X > 1


def test_updates_and_functions():
    def f(np, x, m, y):
        x[m] *= 2
        x[x < 0] = -x[x < 0] + 0.5
        y[m] = np.log(x[m]) + y[m] ** 2
        z = np.zeros_like(x)
        z[m] = x[m] / y[m] - 1
        z[m] += np.maximum(x[m], 3.0)
        z[~m] = np.sqrt(np.abs(x[~m]))
        return x + 0, y + 0, z, 1 / x[m] @ y[m]

    check(f, X, MASK, X[::-1].copy(), ulps=16)


def test_reductions():
    def f(np, x, m):
        s = x[m]
        all_axes = [s.sum(), s.mean(), s.max(), s.min(), s.prod(), s.std(), s.var(ddof=1), (s > 2).any(), (s > 2).all()]
        return (
            all_axes,
            np.sum(s),
            np.mean(s * 2),
            np.max(s),
            np.any(s > 3),
            s.size,
            s.sum() / s.size,
            s.dtype.itemsize,
            s.ndim,
        )

    check(f, X, MASK, ulps=64)


FUNCTIONS = {
    "each": lambda np, s, t: (np.round(s, 1).sum(), s.clip(0, 3).max(), np.where(s > 2, s, -t).sum(), np.sinc(s).min()),
    "parts": lambda np, s, t: (
        s.real.sum(),
        np.imag(s).sum(),
        (s.conj() * s).sum(),
        np.angle(-s).sum(),
        s.ravel().sum(),
    ),
    "like": lambda np, s, t: (np.zeros_like(s).sum(), np.ones_like(s).sum(), np.full_like(s, 3).sum()),
    "tables": lambda np, s, t: (
        np.interp(s, [0, 4], [1, 2]).sum(),
        np.digitize(s, [2, 4]).sum(),
        np.isin(s, [4]).sum(),
    ),
    "places": lambda np, s, t: (s.argmax(), np.argmin(s), t.argmin(), np.argmax((s > 100) * 1), np.argmin(s * np.inf)),
    "counts": lambda np, s, t: (np.count_nonzero(s > 2), np.ptp(s), np.average(s, weights=t), np.average(s)),
    "products": lambda np, s, t: (s.dot(t), np.inner(s, t), np.vdot(s * 1j, t)),
    "closeness": lambda np, s, t: (np.allclose(s, s), np.isclose(s, 4).sum(), np.allclose(s, t + 9)),
    "running sums": lambda np, s, t: (s.cumsum()[-1], np.cumsum(s).max(), np.cumsum(t > 0)[0]),
    "histogram": lambda np, s, t: (
        np.histogram(s, 4),
        np.histogram(s, 4, (0, 9), weights=t),
        np.histogram(s, [0, 3, 9]),
    ),
    "a part": lambda np, s, t: (s[s > 2].sum(), t[s > 2].mean(), s[(s > 2) & (t > 0)].max(), s[s < 4][0]),
    "without NaN": lambda np, s, t: (
        np.nansum(s * (1 / t) * t),
        np.nanmean(np.where(s > 2, np.nan, s)),
        np.nanstd(s),
    ),
    "a fit": lambda np, s, t: np.round(np.polyfit(s, s**2 + t, 1), 10),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    check(lambda np, x, y, m: FUNCTIONS[name](np, x[m], y[m]), X, X[::-1].copy(), MASK, ulps=256)


def test_written_back():
    def f(np, x, m):
        x[m] = np.clip(np.cumsum(x[m]), 0, 9)
        x[~m] = np.round(x[~m])
        return x

    check(f, X, MASK)


def test_rows():
    def f(np, x, rows):
        x[rows] += np.array([1.0, 2.0, 3.0, 4.0]) if np is numhlo.numpy else numpy.array([1.0, 2.0, 3.0, 4.0])
        s = x[rows]
        return x + 0, s.sum(), s.sum(0), s.mean(axis=0), s.max(-1 - 1), s.ndim, s.size

    check(f, X, numpy.array([True, False, True]), ulps=64)


def test_single_elements_and_parts():
    def f(np, x, m, rows, k):
        s, r = x[m], x[rows]
        return s[0], s[-1], s[2], s[k], s[-k], r[0], r[-1, 1], r[:, 1].sum(), r[:, 1:3].max(axis=0), r[0][k]

    check(f, X, MASK, numpy.array([False, True, True]), numpy.array(2))
    read = numhlo.jit(lambda x: x[x > 0][2])
    assert float(read(numpy.array([3.0, -1.0, 4.0]))) == 4.0  # beyond the last one, as of any array


def test_rows_among_themselves():
    def f(np, x, rows, w):
        r = x[rows]
        c = r - r.mean(axis=0)
        return (
            [c.T @ c, np.dot(r.T, r[:, 0]), r.T @ r[:, 1], r[:, 0] @ r, np.cov(r.T), np.cov(r, rowvar=False, ddof=0)],
            [(r @ w).sum(axis=0), r.sum(axis=1).max(), np.linalg.norm(r - x[0], axis=1).min(), np.linalg.norm(r)],
        )

    check(f, X, numpy.array([True, False, True]), X.T @ X, ulps=256)


@pytest.mark.parametrize(
    "fun",
    [
        lambda np, x, rows: x[rows].T @ x,
        lambda np, x, rows: np.sort(x[rows].T),
        lambda np, x, rows: x @ x[rows].T,
    ],
)
def test_rows_and_columns_refused(fun):
    message = refusal(fun, X, numpy.array([True, False, True]), kind=DataDependentShapeError)
    assert message.splitlines()[0] == "x[mask] with a traced boolean mask bool[3]"


def test_what_is_returned():
    def f(np, x, rows, m):
        return x[rows].T * 2, x[rows][:, None], x[:, m[0]], np.sort(x[m]), {"a": x[m] + 1}

    check(f, X, numpy.array([True, False, True]), MASK)


def test_along_later_axes():
    def f(np, x, t):
        k, j = x[0] > 1, t[0, :, 0] > 1
        c = x[:, k]
        found = [c.sum(), c.mean(axis=1), np.max(c, axis=1), (c**2).sum(-1), (c > 2).any(axis=1), c.sum(axis=0).sum()]
        found += [np.std(c), c.size, (c - c.mean(axis=1)[:, None]).sum(1), c @ x[0, k], (c / x[:, :1]).sum()]
        found += [t[:, j].mean(axis=1), t[:, :, k].sum(axis=2), t[:, j].sum(axis=2).sum(axis=1), t[..., k].max()]
        found += [t[:, j].sum(axis=0).sum(axis=0)]
        x[:, k] += 1
        x[1:, k] *= x[1:, k] - x[1:, :1]
        x[:, k] = np.sqrt(np.abs(x[:, k])).astype(np.float32)
        t[:, :, k] *= 2
        t[:, j] = -t[:, j] + t[:, :1]
        return found

    check(f, X, numpy.stack([X, X[::-1]]), ulps=16)


@pytest.mark.parametrize(
    "fun",
    [
        lambda np, x, m: x[:, m[0]] + x[:, ~m[0]],
        lambda np, x, m: x[:, m[0]] + x,
        lambda np, x, m: x[:, m[0]][0],
        lambda np, x, m: x[:, m[0]].sum(axis=1, keepdims=True),
        lambda np, x, m: np.sort(x[:, m[0]]),
        lambda np, x, m: np.add(x[:, m[0]], 1, out=x),
        lambda np, x, m: x[m[:, 0]] + x[:, m[0]],
        lambda np, x, m: x.T.__setitem__((slice(None), m[0, :3]), x[:, m[0]]),
    ],
)
def test_along_later_axes_refused(fun):
    assert "x[mask] with a traced boolean mask" in refusal(fun, X, MASK, kind=DataDependentShapeError)


def test_masks_without_dimensions():
    def f(np, x, rows):
        results = [g(x[x > k]) for k in (0, 9) for g in (np.sum, np.max if k == 0 else np.prod, np.count_nonzero)]
        results += [rows[x > k].sum(axis) for k in (0, 9) for axis in (None, 0)]
        results += [x[x > 0].mean(), rows[x > 0].std()]
        rows[x > 9] *= 2
        x[x > 0] *= 5
        return results, rows

    check(f, numpy.array(3.0), numpy.arange(6.0).reshape(2, 3))


def test_ufuncs_at_a_mask_among_brackets_and_no_values():
    def f(np, x):
        np.divide.at(x, (x > 2,), 3)
        np.add.at(x, (x[:, 0] > 1,), 2)
        x[x > 100] = []
        x[x > 100] *= np.zeros(0)
        return x

    check(f, numpy.arange(6.0).reshape(2, 3))


def test_values_in_order():
    def f(np, x, m):
        x[m] += numpy.arange(6.0)
        return x

    check(f, X, MASK)
    assert int(MASK.sum()) == 6


def test_reads_are_copies():
    def f(np, x, m):
        before = x[m]
        x[m] = 0
        return before.sum(), x + 0

    check(f, X, MASK)


def test_derivatives_do_not_see_what_is_left_out():
    def f(x):
        y = numhlo.numpy.zeros_like(x)
        y[x > 0] = numhlo.numpy.log(x[x > 0])
        return y.sum()

    x = numpy.array([-1.0, 0.0, 2.0, 4.0])
    assert numhlo.jit(numhlo.grad(f))(x).tolist() == [0.0, 0.0, 0.5, 0.25]
    assert numhlo.jit(f)(x) == numpy.log(8.0)


@pytest.mark.parametrize(
    "fun",
    [
        lambda np, x, m: len(x[m]),
        lambda np, x, m: x[m][:2],
        lambda np, x, m: list(x[m]),
        lambda np, x, m: bool(x[m]),
        lambda np, x, m: np.concatenate([x[m], x[0]]),
        lambda np, x, m: np.stack([x[m]]),
        lambda np, x, m: np.median(x[m], axis=0),
        lambda np, x, m: x[m] + x[~m],
        lambda np, x, m: x[m].reshape(-1),
        lambda np, x, m: np.add(x[m], 1, out=x),
        lambda np, x, m: x[m].sum(1),
        lambda np, x, m: x.__setitem__(x > 2, x[m]),
    ],
)
def test_refused(fun):
    message = refusal(fun, X, MASK, kind=DataDependentShapeError)
    assert message == (
        "x[mask] with a traced boolean mask bool[3,4]\n  at test_selected.py\n"
        "  the extent of the result would depend on the mask's values; "
        "use where(mask, x, fill), a reduction with where=mask, or x[nonzero(mask, size=n)]"
    )


def test_conversions():
    def f(x):
        as_floats = numpy.asarray(x[x > 1], numpy.float32)
        copies = numpy.array(x[x > 1], dtype=numpy.float32, copy=True), numpy.ascontiguousarray(x[x > 1], numpy.int64)
        flat = numpy.ravel(x[x > 1], "C").sum(), x[x > 1].flatten("F").sum()
        return as_floats.sum(), copies[0].max(), copies[1].sum(), *flat

    compiled, expected = numhlo.jit(f), f(X)
    for _ in range(3):
        for found, right in zip(compiled(X), expected, strict=True):
            numpy.testing.assert_array_equal(found, right)
            assert found.dtype == right.dtype
        compiled.wait()


def test_shown():
    def f(x, m):
        assert repr(x[m]) == "Traced<float64[where bool[3,4]]>"
        return x[m].astype("float32").copy().sum()

    found, _ = run_traced(f, [X, MASK])
    assert found.dtype == numpy.float32
