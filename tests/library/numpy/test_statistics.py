"""Averages, quantiles, NaN-aware reductions, histograms and sets: traced as NumPy computes them."""

from __future__ import annotations

import functools

import numpy
import pytest

import numhlo.numpy
from numhlo.lowering.ir.errors import DataDependentShapeError
from tests.every_call.harness import check_every_call
from tests.library.agreement import assert_same, check, check_all, refusal, run_traced, same_refusal

X = numpy.array([[3.0, -1.0, 2.5, 0.0], [7.0, 1.5, -2.0, 4.0], [0.5, 6.0, 1.0, -3.0]])
W = numpy.array([[1.0, 2.0, 0.5, 1.0], [1.0, 1.0, 3.0, 2.0], [2.0, 1.0, 1.0, 1.0]])
N = numpy.where(X > 5, numpy.nan, X)
I = numpy.array([4, 0, 2, 2, 7, 0, 1, 4])
Z = X + 1j * X[::-1]
METHODS = [
    "linear", "lower", "higher", "nearest", "midpoint", "hazen", "weibull", "median_unbiased", "normal_unbiased",
    "interpolated_inverted_cdf", "inverted_cdf", "averaged_inverted_cdf", "closest_observation",
]  # fmt: skip

CASES = [
    (
        "average",
        lambda np, x, w: (np.average(x), np.average(x, 0), np.average(x, weights=w), np.average(x, 1, w)),
        X,
        W,
    ),
    (
        "average weights",
        lambda np, x, w: (np.average(x, 0, w[:, 0]), np.average(x, 1, w[0], returned=True), np.average(x, (0, 1))),
        X,
        W,
    ),
    (
        "average ints",
        lambda np, x: (np.average(x), np.average(x, weights=x), np.average(x, 0, returned=True, keepdims=True)),
        I,
    ),
    (
        "median",
        lambda np, x: (
            np.median(x),
            np.median(x, 0),
            np.median(x, 1),
            np.median(x, (0, 1)),
            np.median(x, 0, keepdims=True),
        ),
        X,
    ),
    ("median ints", lambda np, x: (np.median(x), np.median(x[:3])), I),
    ("median nan", lambda np, x: (np.median(x), np.median(x, 0), np.median(x, 1)), N),
    ("median out", lambda np, x, o: np.median(x, 0, out=o), X, numpy.zeros(4)),
    *[
        (
            f"quantile {m}",
            lambda np, x, m=m: (np.quantile(x, 0.3, 1, method=m), np.quantile(x, [0, 0.25, 1], 0, method=m)),
            X,
        )
        for m in METHODS
    ],
    *[(f"quantile ints {m}", lambda np, x, m=m: np.quantile(x, [0.1, 0.5], method=m), I) for m in METHODS],
    (
        "quantile float32",
        lambda np, x: (np.quantile(x, 0.4), np.quantile(x, [0.4, 0.5]), np.percentile(x, 40)),
        X.astype("f4"),
    ),
    (
        "quantile shapes",
        lambda np, x: (np.quantile(x, [[0.2], [0.9]], 1), np.quantile(x, 0.5, (0, 1), keepdims=True)),
        X,
    ),
    (
        "quantile traced",
        lambda np, x, q: (np.quantile(x, q, 1), np.percentile(x, q * 100)),
        X,
        numpy.array([0.1, 0.75]),
    ),
    ("quantile nan", lambda np, x: (np.quantile(x, 0.3, 1), np.percentile(x, [20, 50], 0)), N),
    (
        "cov",
        lambda np, x: (np.cov(x), np.cov(x, rowvar=False), np.cov(x[0], x[1]), np.cov(x, bias=True), np.cov(x, ddof=0)),
        X,
    ),
    ("cov one", lambda np, x: (np.cov(x[0]), np.cov(x, aweights=x[0] ** 2), np.cov(x, fweights=[1, 2, 1, 3])), X),
    ("cov complex", lambda np, z: (np.cov(z), np.corrcoef(z)), Z),
    ("corrcoef", lambda np, x: (np.corrcoef(x), np.corrcoef(x[0], x[1]), np.corrcoef(x, rowvar=False)), X),
    (
        "nansum",
        lambda np, x: (np.nansum(x), np.nansum(x, 0), np.nanprod(x, 1), np.nancumsum(x, 1), np.nancumprod(x)),
        N,
    ),
    (
        "nanmax",
        lambda np, x: (
            np.nanmax(x),
            np.nanmax(x, 0),
            np.nanmin(x, 1, keepdims=True),
            np.nanargmax(x, 1),
            np.nanargmin(x),
        ),
        N,
    ),
    (
        "nanmean",
        lambda np, x: (
            np.nanmean(x),
            np.nanmean(x, 0),
            np.nanvar(x, 1),
            np.nanstd(x, ddof=1),
            np.nanstd(x, 0, keepdims=True),
        ),
        N,
    ),
    ("nanmedian", lambda np, x: (np.nanmedian(x), np.nanmedian(x, 0), np.nanmedian(x, 1, keepdims=True)), N),
    (
        "nanquantile",
        lambda np, x: (np.nanquantile(x, 0.3, 1), np.nanquantile(x, [0.2, 0.7], 0), np.nanpercentile(x, [10, 50], 1)),
        N,
    ),
    ("nan of ints", lambda np, x: (np.nansum(x), np.nanmax(x), np.nanmean(x), np.nanmedian(x), np.nanvar(x)), I),
    (
        "histogram",
        lambda np, x: (
            np.histogram(x),
            np.histogram(x, 4, (-2, 5)),
            np.histogram(x, [-3.0, 0, 1, 8]),
            np.histogram(x, 3, density=True),
        ),
        X,
    ),
    ("histogram weights", lambda np, x, w: (np.histogram(x, 4, weights=w), np.histogram_bin_edges(x, 5)), X, W),
    (
        "histogram ints",
        lambda np, x: (np.histogram(x, 5), np.histogram(x, bins=[0, 2, 4, 7]), np.histogram(x[:1], 2)),
        I,
    ),
    (
        "histogramdd",
        lambda np, x: (
            np.histogramdd(x, 3),
            np.histogram2d(x[0], x[1], 2),
            np.histogram2d(x[0], x[1], [2, 3], density=True),
        ),
        X,
    ),
    (
        "digitize",
        lambda np, x: (
            np.digitize(x, [-1, 0, 1, 2.5]),
            np.digitize(x, [-1, 0, 1, 2.5], right=True),
            np.digitize(x, [3.0, 1, 0]),
        ),
        X,
    ),
    (
        "isin",
        lambda np, x: (np.isin(x, [0, 7]), np.isin(x, [0, 7], invert=True), np.isin(x, []), np.isin([0.5, 2], x)),
        X,
    ),
    (
        "integers at whole quantiles",
        lambda np, x: (np.quantile(x, 1), np.nanquantile(x, [0, 1]), np.quantile(x > 2, 0)),
        I,
    ),
    ("searchsorted below zero", lambda np, x: np.searchsorted(x, -1), numpy.array([1, 2], numpy.uint8)),
    ("poly of halves", lambda np, x: np.poly(x), numpy.ones(2, numpy.float16)),
    ("isin nan", lambda np, x: np.isin(x, x), N),
]


@pytest.mark.slow
def test_values():
    check_all(CASES, ulps=64)


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2"])
def test_medians_beside_infinities(dtype, rng):
    nan, inf = numpy.nan, numpy.inf
    x = numpy.array([[1, 2, inf, nan], [-inf, -inf, nan, nan], [nan, -inf, 1, inf], [3e4, nan, 5, 3e4]], dtype)
    check(lambda np, x: (np.nanmedian(x, 0), np.nanmedian(x, 1, keepdims=True), np.nanmedian(x), np.nanmedian(x[0])), x)
    x = rng.choice(numpy.array([nan, inf, -inf, 1, 2, 3.5], dtype), (40, 6))
    check(lambda np, x: (np.nanmedian(x[:, :5], 0), np.median(x, 1)), x)


@pytest.mark.parametrize("dtypes", [("f4", "f4"), ("f4", "f8"), ("f2", "i1"), ("i4", "f4"), ("i2", "i8")])
def test_histograms_of_points_have_edges_of_one_dtype(dtypes):
    x, y = (numpy.array([-1.0, 0.0, 2.0, 3.0, 1.0]).astype(dtype) for dtype in dtypes)
    check(lambda np, x, y: np.histogram2d(x, y, 3), x, y)
    check(lambda np, x, y: np.histogram2d(x, y, 3, [[-2, 2], [0, 1.5]]), x, y)
    check(lambda np, x, y: np.histogramdd((x, y), [[-1, 0, 2], 2], [None, (0, 2)], weights=y), x, y)


@pytest.mark.parametrize("method", ["linear", "midpoint", "averaged_inverted_cdf", "hazen"])
@pytest.mark.oracle("numpy>=2.4")
def test_quantiles_by_narrow_fractions(method):
    x = numpy.array([[3, 1, 2, 0], [1, 0, 2, 7], [5, 5, 1, 2]])
    for dtype, q in (("i1", numpy.float32(40)), ("f4", numpy.float16(40)), ("f4", numpy.array([40, 70], "f4"))):

        def f(np, x, q=q):
            return (
                np.percentile(x, q, 0, method=method),
                np.nanpercentile(x, q, method=method),
                np.nanquantile(x, q / 100),
            )

        check(f, x.astype(dtype))


def test_counts_of_nothing():
    check(lambda np, k: (np.bincount(k, minlength=3), np.bincount(k, k * 0.5, 2)), numpy.zeros(0, numpy.int64))


def test_complex_numbers_have_no_order():
    same_refusal(lambda np, z: np.digitize(z, [0.0, 1.0]), X * 1j)
    same_refusal(lambda np, z: np.interp(z, [0.0, 1.0], [0.0, 1.0]), X * 1j)


def test_the_first_counts_of_an_unknown_number():
    def f(np, x):
        counts = np.bincount(x, minlength=12)
        return counts[:12], counts[2:9:3], counts[11], np.bincount(x, x * 0.5, 8)[:5], np.bincount(x, minlength=4)[:4]

    check(f, I)
    for g in (
        lambda np, x: np.bincount(x, minlength=8)[:9],
        lambda np, x: np.bincount(x, minlength=8)[8],
        lambda np, x: np.bincount(x, minlength=8)[3:],
        lambda np, x: np.bincount(x, minlength=8) * 2,
        lambda np, x: np.sqrt(np.bincount(x, minlength=8)),
        lambda np, x: len(np.bincount(x, minlength=8)),
        lambda np, x: np.bincount(x, minlength=8),
    ):
        assert "bincount of a traced array int64[8]" in refusal(g, I, kind=DataDependentShapeError)


def test_sized_results():
    def f(np, x):
        return (
            np.bincount(x, length=9),
            np.bincount(x.astype("u1"), minlength=256),
            np.bincount(x > 0, minlength=2),
            np.bincount(x, x * 0.5, length=5),
            np.unique(x, size=5),
            np.unique(x, True, True, True, size=7, fill_value=-1),
            np.union1d(x, [9, 2], size=8, fill_value=0),
            np.intersect1d(x, [2, 7, 11], size=4, fill_value=-1),
            np.setdiff1d(x, [2, 7], size=4, fill_value=-1),
            np.setxor1d(x, [2, 7, 11], size=6, fill_value=-1),
            np.unique_all(x, size=6, fill_value=0),
            np.unique_counts(x, size=6, fill_value=0),
            np.argwhere(x, size=9, fill_value=-1),
            np.compress(x > 1, x, size=6, fill_value=-1),
            np.extract(x > 1, x, size=3),
        )

    for x in (I, numpy.array([2, 2]), numpy.array([5, 0, 0, 1])):
        found, _ = run_traced(lambda x: f(numhlo.numpy, x), [x])
        assert_same(found, f(numhlo.numpy, x), str(x))
    assert numhlo.numpy.unique(I).tolist() == [0, 1, 2, 4, 7]
    values, index, inverse, counts = numhlo.numpy.unique(I, True, True, True, size=7, fill_value=-1)
    assert values.tolist() == [0, 1, 2, 4, 7, -1, -1] and counts.tolist() == [2, 1, 2, 2, 1, 0, 0]
    assert index.tolist() == [1, 6, 2, 0, 4, 1, 1] and (values[inverse] == I).all()


AGAIN = [("plain", k) for k in (0, 1, 0)]


@pytest.mark.parametrize("shape", [(6, 2), (5, 3, 2), (0, 3), (3, 0), (4,)])
def test_unique_along_an_axis_is_what_it_is_outside(shape, rng):
    x = rng.integers(0, 2, shape).astype("float32")
    for axis, size, fill in [(0, 4, None), (-1, 1, 3), (0, 9, 3)]:

        def distinct(x, axis=axis, size=size, fill=fill):
            return numhlo.numpy.unique(x, True, True, True, axis, size=size, fill_value=fill)

        inputs = [[x], [rng.integers(0, 2, shape).astype("float32")]]
        check_every_call(numhlo.jit(distinct), inputs, reference=distinct, schedule=AGAIN)


@pytest.mark.parametrize("extents", [(5, 4), (7, 7), (0, 3), (0, 0)])
def test_common_elements_and_their_places(extents, rng):
    one, other = (rng.integers(0, 6, n) for n in extents)
    for size, fill in [(3, None), (12, -1), (0, None)]:

        def common(x, y, size=size, fill=fill):
            return numhlo.numpy.intersect1d(x, y, return_indices=True, size=size, fill_value=fill)

        inputs = [[one, other], [*(rng.integers(0, 6, n) for n in extents)]]
        check_every_call(numhlo.jit(common), inputs, reference=common, schedule=AGAIN)


def test_unique_floats():
    x = numpy.array([0.0, -0.0, numpy.nan, 1.0, numpy.nan])
    for equal_nan in (True, False):
        distinct = functools.partial(numhlo.numpy.unique, size=4, fill_value=9, equal_nan=equal_nan)
        found, _ = run_traced(distinct, [x])
        wanted = distinct(x)
        assert_same(found, wanted)


@pytest.mark.parametrize(
    "fun",
    [
        lambda np, x: np.quantile(x, 1.5),
        lambda np, x: np.average(x, weights=[1, 2]),
        lambda np, x: np.quantile(x, 0.5, method="nonsense"),
        lambda np, x: np.quantile(x * 1j, 0.5),
        lambda np, x: np.median(x, 3),
        lambda np, x: np.median(x, 0, out=x * 0),
        lambda np, x: np.cov(x.ravel()[:5], fweights=[1, 2]),
        lambda np, x: np.cov(x.ravel()[:2], aweights=[[1, 2]]),
        lambda np, x: np.histogram(x, [2.0, 1.0]),
        lambda np, x: np.histogram(x, [[0.0, 1.0]]),
        lambda np, x: np.histogram(x, 0),
        lambda np, x: np.histogram(x, range=(1.0, 0.0)),
        lambda np, x: np.histogram(x, range=(0.0, np.inf)),
        lambda np, x: np.digitize(x, [0.0, 2.0, 1.0]),
        lambda np, x: np.isin(x, [1.0], kind="table"),
        lambda np, x: np.interp(x, [0.0, 1.0], [0.0, 1.0], period=0),
        lambda np, x: np.unravel_index(x, (2, 3)),
        lambda np, x: np.searchsorted(x[0], 1.0, sorter=0),
        lambda np, x: np.searchsorted(x[0], 1.0, sorter=[0, 1]),
        lambda np, x: np.take(x[:0], 0, 0),
        lambda np, x: np.insert(x, 13, x[0, :1]),
        lambda np, x: np.frexp(x, out=x),
        lambda np, x: np.pad(x, -1),
        lambda np, x: np.pad(x, 1.5, mode="edge"),
        lambda np, x: np.bincount(x[0, :0]),
        lambda np, x: np.unravel_index(x.astype(int) * 0, (2, 3), order="A"),
        lambda np, x: np.einsum("ii", x.ravel()[:6].reshape(2, 3)),
    ],
)
def test_refused_as_by_numpy(fun):
    same_refusal(fun, X)


def test_messages_name_the_argument():
    assert refusal(lambda np, x: np.bincount(x), I, kind=DataDependentShapeError) == (
        "bincount of a traced array int64[8]\n  at test_statistics.py\n"
        "  the number of counts would depend on the greatest value; "
        "write numpy.bincount(x, minlength=n)[:n], or length=n in numhlo.numpy's, with the number of counts"
    )
    assert refusal(lambda np, x: np.unique(x).reshape(-1, 1), I, kind=DataDependentShapeError) == (
        "unique of a traced array\n  at test_statistics.py\n"
        "  the number of results is not known while tracing; "
        "write numhlo.numpy.unique(..., size=n), and fill_value= for what is left"
    )
    assert "pass a number of bins, or the edges" in refusal(lambda np, x: np.histogram(x, "auto"), X)


def test_concrete_arrays_inside_a_trace_need_no_size():
    check(lambda np, x: np.unique(np.asarray([3, 1, 3])) + x, numpy.int64(0), plain=False)


def test_python_may_ask_for_what_follows_from_constants():
    def f(x):
        n = numhlo.numpy
        count = n.prod(n.asarray(x.shape)) + 1
        assert count == 13 and int(count) == 13 and [10, 20][int(n.argmax(n.asarray([1, 2])))] == 20
        total = x.sum()
        for _ in range(3000):
            total = total + 1
        with pytest.raises(TypeError):
            bool(total > 0)
        return x.reshape(count - 1)

    found, _ = run_traced(f, [X])
    assert_same(found, X.ravel())


def test_equal_bins_have_the_edges_that_numpy_gives_them(rng):
    for bins, limits in ((7, (-1.0, 2.5)), (1000, (0.1, 0.7)), (1, (0.0, 1.0))):
        edges = numpy.histogram_bin_edges(numpy.zeros(1), bins, limits)
        close = [edges, numpy.nextafter(edges, -9), numpy.nextafter(edges, 9), [numpy.nan, -50.0, 50.0]]
        values = numpy.concatenate([*close, rng.normal(size=500)])
        kept = values[numpy.isfinite(values)]
        for given in (values, kept.astype(numpy.float32), (10 * kept).astype(numpy.int32)):
            found, found_edges = numhlo.jit(lambda x, b=bins, r=limits: numpy.histogram(x, b, r))(given)
            expected, expected_edges = numpy.histogram(given[~numpy.isnan(given)], bins, limits)
            numpy.testing.assert_array_equal(found, expected)
            numpy.testing.assert_allclose(found_edges, expected_edges, rtol=1e-6)


def test_sets_of_what_is_known_while_tracing():
    def sets(np, x):
        k = np.asarray([3, 1, 4, 1, 5])
        lines = np.asarray([[1, 2], [1, 2], [0, 1]])
        return (
            *np.unique(k, return_counts=True),
            np.unique(lines, axis=0),
            np.union1d(k, [9, 1]),
            *np.intersect1d(k, [1, 3], return_indices=True),
            np.setxor1d(k, [1, 7]),
            x[np.setdiff1d(np.arange(4), [1])],
        )

    check(sets, numpy.arange(4.0))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i4"])
def test_edges_of_equal_bins_are_numpys(dtype):
    x = (numpy.random.default_rng(0).uniform(-2.2, 2.2, 1000) * (9 if dtype == "i4" else 1)).astype(dtype)
    for bins in (5, 50):
        counts, edges = numhlo.jit(lambda x, n=bins: numpy.histogram(x, n), tier0=False)(x)
        wanted, where = numpy.histogram(x, bins)
        numpy.testing.assert_array_equal(edges, where, strict=True)
        numpy.testing.assert_array_equal(counts, wanted)


def test_means_of_sums_of_integers_in_an_out_of_floats():
    def f(np, x, out):
        return np.mean(x, 0, dtype=int, out=out), np.mean(x, dtype=int), out

    check(f, numpy.array([[1, 2], [2, 4], [4, 5]], "u1"), numpy.zeros(2, "f4"))


def test_one_observation_of_several_variables():
    found = numhlo.jit(lambda x: numhlo.numpy.cov(x, rowvar=False, ddof=0))(X[:1])
    assert found.tolist() == numpy.zeros((4, 4)).tolist()  # NumPy before 2.4 took it for one variable


def test_initial_counts_where_nothing_is_left():
    x, kept = numpy.array([[1.0, 2.0], [3.0, numpy.nan]]), numpy.array([[False, False], [True, True]])
    for name in ("nanmax", "nanmin"):
        wanted = getattr(numpy, name)(x, axis=1, where=kept, initial=-2.5)
        found = getattr(numhlo.numpy, name)(numhlo.numpy.asarray(x), axis=1, where=kept, initial=-2.5)
        assert found.tolist() == wanted.tolist()
