"""numhlo.random: JAX's keys, bits and integers exactly; floats up to rounding; shapes, dtypes, vmap, jit, refusals."""

import jax
import jax.random as jr
import ml_dtypes
import mpmath
import numpy as np
import pytest
import scipy.special
from scipy import stats

import numhlo
import numhlo.random as hr
from numhlo.lowering.ir.errors import ConcretizationError, DTypeError, ShapeError, UnsupportedError

jax.config.update("jax_enable_x64", True)
KEY, JAX_KEY = hr.key(42), jr.PRNGKey(42)
CHANCES = np.array([0.1, 0.2, 0.3, 0.4])
TABLE = np.arange(12.0).reshape(4, 3)
LOGITS = np.log(CHANCES) * np.ones((3, 1))


@pytest.mark.parametrize("seed", [0, 1, -1, 2**40 + 5, np.int32(-3), np.uint32(7), np.int64(-5)])
def test_keys(seed):
    np.testing.assert_array_equal(hr.key(seed), jr.PRNGKey(seed), strict=True)
    np.testing.assert_array_equal(numhlo.jit(hr.PRNGKey)(seed), jr.PRNGKey(seed), strict=True)


EXACT = {
    "split": lambda r, k: r.split(k, 5),
    "split to a shape": lambda r, k: r.split(k, (2, 3)),
    "fold_in": lambda r, k: r.fold_in(k, 7),
    **{f"bits {d}": lambda r, k, d=d: r.bits(k, (3, 5), d) for d in ("u1", "u2", "u4", "u8")},
    **{f"uniform {d}": lambda r, k, d=d: r.uniform(k, (3, 50), d) for d in (None, "f4", "f2", ml_dtypes.bfloat16)},
    **{f"randint {d}": lambda r, k, d=d: r.randint(k, (99,), 3, 100, d) for d in (None, "i4", "u1", "u4", "i2", "u8")},
    "randint of all bytes": lambda r, k: r.randint(k, (20,), 0, 256, "u1"),
    "randint of arrays": lambda r, k: r.randint(k, (20,), np.full(20, -5), np.arange(20) - 10, "i4"),
    "permutation": lambda r, k: r.permutation(k, 20),
    "permutation of rows": lambda r, k: r.permutation(k, TABLE),
    "permutation of columns": lambda r, k: r.permutation(k, TABLE, 1),
    "permutation of each line": lambda r, k: r.permutation(k, TABLE, 1, True),
    "choice of numbers": lambda r, k: r.choice(k, 5, (4,)),
    "choice of rows": lambda r, k: r.choice(k, TABLE, (2, 2)),
    "choice of one row": lambda r, k: r.choice(k, TABLE),
    "choice of columns": lambda r, k: r.choice(k, TABLE, (2,), axis=1),
    "choice once": lambda r, k: r.choice(k, TABLE, (3,), False),
    "choice of numbers once": lambda r, k: r.choice(k, 9, (3,), False),
    "choice by chance": lambda r, k: r.choice(k, 4, (50,), p=CHANCES),
    "choice once by chance": lambda r, k: r.choice(k, TABLE, (3,), False, CHANCES),
    "bernoulli": lambda r, k: r.bernoulli(k, 0.3, (100,)),
    "bernoulli of chances": lambda r, k: r.bernoulli(k, CHANCES),
    "categorical": lambda r, k: r.categorical(k, LOGITS),
    "categorical of a shape": lambda r, k: r.categorical(k, LOGITS, shape=(5, 3)),
    "categorical along axis 0": lambda r, k: r.categorical(k, LOGITS.T, axis=0),
    "categorical once": lambda r, k: r.categorical(k, LOGITS, shape=(2, 3), replace=False),
    "bernoulli of many bits": lambda r, k: r.bernoulli(k, np.float32(0.3), (100,), mode="high"),
    "categorical of many bits": lambda r, k: r.categorical(k, LOGITS, shape=(5, 3), mode="high"),
    "choice of many bits": lambda r, k: r.choice(k, TABLE, (3,), False, CHANCES, mode="high"),
    "rademacher": lambda r, k: r.rademacher(k, (20,)),
    "geometric": lambda r, k: r.geometric(k, 0.2, (20,)),
}
"""What must be JAX's to the last bit."""


@pytest.mark.parametrize("name", EXACT)
def test_exact(name):
    draw = EXACT[name]
    np.testing.assert_array_equal(draw(hr, KEY), draw(jr, JAX_KEY), strict=True)


ROUNDED = {
    "uniform": lambda r, k, d: r.uniform(k, (200,), d, -2.5, 7.3),
    "normal": lambda r, k, d: r.normal(k, (200,), d),
    "exponential": lambda r, k, d: r.exponential(k, (200,), d),
    "gumbel": lambda r, k, d: r.gumbel(k, (200,), d),
    "gumbel of many bits": lambda r, k, d: r.gumbel(k, (200,), d, "high"),
    "laplace": lambda r, k, d: r.laplace(k, (200,), d),
    "logistic": lambda r, k, d: r.logistic(k, (200,), d),
    "cauchy": lambda r, k, d: r.cauchy(k, (200,), d),
    "maxwell": lambda r, k, d: r.maxwell(k, (200,), d),
    "truncated_normal": lambda r, k, d: r.truncated_normal(k, -1.0, 2.0, (200,), d),
    "multivariate_normal": lambda r, k, d: r.multivariate_normal(
        k, np.ones(2, d), np.array([[2, 1], [1, 3]], d), (9,), d
    ),
    "lognormal": lambda r, k, d: r.lognormal(k, 0.5, (20,), d),
    "pareto": lambda r, k, d: r.pareto(k, 2.0, (20,), d),
    "rayleigh": lambda r, k, d: r.rayleigh(k, 2.0, (20,), d),
    "triangular": lambda r, k, d: r.triangular(k, 0.0, 1.0, 3.0, (20,), d),
    "wald": lambda r, k, d: r.wald(k, 2.0, (20,), d),
    "weibull_min": lambda r, k, d: r.weibull_min(k, 2.0, 1.5, (20,), d),
    "orthogonal": lambda r, k, d: r.orthogonal(k, 3, (2,), d),
}
"""What XLA computes with contracted operations or elementary functions of its own."""


@pytest.mark.parametrize("name", ROUNDED)
def test_up_to_rounding(name):
    for dtype, room in (("float32", 2e-5), ("float64", 1e-12)):
        found, wanted = (ROUNDED[name](r, k, dtype) for r, k in ((hr, KEY), (jr, JAX_KEY)))
        assert found.dtype == wanted.dtype == dtype
        np.testing.assert_allclose(found, wanted, rtol=room, atol=room)


def test_normal_is_within_four_units_of_the_exact_numbers():
    mpmath.mp.prec = 120
    for dtype in ("float32", "float64"):
        low = np.nextafter(np.asarray(-1, dtype), np.asarray(0, dtype))
        u = hr.uniform(KEY, (100,), dtype, low, 1.0)
        found = numhlo.jit(lambda k, dtype=dtype: hr.normal(k, (100,), dtype))(KEY)
        for x, number in zip(u, found, strict=True):
            exact = mpmath.sqrt(2) * mpmath.erfinv(mpmath.mpf(float(x)))
            assert abs(exact - mpmath.mpf(float(number))) <= 4 * float(np.spacing(abs(number)))


def test_complex_normal():
    found, wanted = hr.normal(KEY, (9,), "c8"), jr.normal(JAX_KEY, (9,), "c8")
    assert found.dtype == "c8"
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


@pytest.mark.slow
def test_jit_and_vmap():
    keys = hr.split(KEY, 3)

    def draw(k):
        parts = hr.split(k)
        order = hr.permutation(hr.fold_in(k, 1), 10)
        return hr.uniform(parts[0], (7,), np.float32), order, hr.normal(parts[1], (3, 2)), hr.randint(k, (4,), 0, 9)

    plain = [draw(k) for k in keys]
    compiled, lanes = numhlo.jit(draw)(keys[0]), numhlo.jit(numhlo.vmap(draw))(keys)
    for number, array in enumerate(compiled):
        np.testing.assert_allclose(array, plain[0][number], rtol=1e-14)
        np.testing.assert_allclose(lanes[number], np.stack([row[number] for row in plain]), rtol=1e-14)


def test_gradients_flow_through_parameters():
    found = numhlo.grad(lambda s: hr.lognormal(KEY, s, (5,)).sum() + hr.uniform(KEY, (3,), None, 0.0, s).sum())(0.7)
    wanted = jax.grad(lambda s: jr.lognormal(JAX_KEY, s, (5,)).sum() + jr.uniform(JAX_KEY, (3,), None, 0.0, s).sum())(
        0.7
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_refusals():
    for draw in (lambda: hr.gumbel(KEY, (2,), mode="highest"), lambda: hr.bernoulli(KEY, mode=3)):
        with pytest.raises(ValueError, match="use low or high"):
            draw()
    with pytest.raises(DTypeError, match="make one with"):
        hr.uniform(np.array([1, 2]))
    with pytest.raises(ShapeError, match="several keys"):
        hr.uniform(hr.split(KEY))
    with pytest.raises(UnsupportedError, match="threefry2x32"):
        hr.key(0, impl="rbg")
    with pytest.raises(TypeError, match="integer"):
        hr.key(0.5)
    with pytest.raises(TypeError, match="vmap"):
        hr.key(np.arange(2))
    with pytest.raises(ValueError, match="float dtype"):
        hr.normal(KEY, (2,), int)
    with pytest.raises(ShapeError, match="broadcast"):
        hr.uniform(KEY, (2,), None, np.zeros(3))
    with pytest.raises(TypeError, match="floating"):
        hr.bernoulli(KEY, 1)
    with pytest.raises(ValueError, match="replace=False"):
        hr.choice(KEY, 3, (4,), replace=False)
    with pytest.raises(ConcretizationError, match="traced n"):
        numhlo.jit(lambda n: hr.permutation(KEY, n))(3)
    with pytest.raises(TypeError, match="uint32 words"):
        hr.wrap_key_data(np.zeros(2))
    np.testing.assert_array_equal(hr.wrap_key_data(hr.key_data(KEY)), KEY)


SHAPES_OF_GAMMA = np.array([0.3, 1.0, 2.5, 7.0])
MEANS = np.array([0.0, 0.5, 3.0, 9.9, 10.0, 50.0, 1000.0])


def by_rejection(r, k):
    return {
        "gamma": r.gamma(k, SHAPES_OF_GAMMA, (50, 4)),
        "gamma of float32": r.gamma(k, np.float32(2), (9,), "float32"),
        "loggamma": r.loggamma(k, 0.01, (20,)),
        "beta": r.beta(k, 2.0, 3.0, (20,)),
        "dirichlet": r.dirichlet(k, SHAPES_OF_GAMMA, (5,)),
        "chisquare": r.chisquare(k, 3.0, shape=(20,)),
        "f": r.f(k, 3.0, 5.0, shape=(20,)),
        "t": r.t(k, 3.0, (20,)),
        "generalized_normal": r.generalized_normal(k, 3.0, (20,)),
        "ball": r.ball(k, 3, 2, (5,)),
        "double_sided_maxwell": r.double_sided_maxwell(k, 1.0, 2.0, (20,)),
        "poisson": r.poisson(k, MEANS, (100, 7)),
        "poisson of int32": r.poisson(k, 4.0, (), "int32"),
    }


@pytest.mark.slow
def test_by_rejection():
    found, wanted = by_rejection(hr, KEY), jax.jit(lambda k: by_rejection(jr, k))(JAX_KEY)
    for name, other in wanted.items():
        assert (found[name].dtype, found[name].shape) == (other.dtype, other.shape)
        room = 2e-5 if other.dtype == "float32" else 1e-12 if other.dtype == "float64" else 0
        np.testing.assert_allclose(found[name], other, rtol=room, atol=room, err_msg=name)


@pytest.mark.slow
def test_gamma_numbers_by_their_shape_parameter():
    a = np.array([0.02, 0.3, 1.0, 4.0, 50.0])
    jax_key = jax.random.wrap_key_data(np.asarray(hr.key_data(KEY)))
    for name in ("gamma", "loggamma"):
        ours = numhlo.grad(lambda a, draw=getattr(hr, name): draw(KEY, a, (5,)).sum())(a)
        theirs = jax.grad(lambda a, draw=getattr(jax.random, name): draw(jax_key, a, (5,)).sum())(a)
        np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-12)
    draws = [hr.loggamma(KEY, a * 1e-3 + h, (5,)) for h in (1e-9, -1e-9)]  # where gamma numbers are 0
    slope = numhlo.jvp(lambda a: hr.loggamma(KEY, a, (5,)), (a * 1e-3,), (np.ones(5),))[1]
    np.testing.assert_allclose(slope[:3], ((draws[0] - draws[1]) / 2e-9)[:3], rtol=1e-3)
    assert numhlo.grad(lambda a: hr.gamma(KEY, a, (5,)).sum())(1e-5) == 0


@pytest.mark.slow
def test_second_derivatives_of_gamma_numbers_are_those_of_quantiles():
    for a in (0.75, 2.0):
        quantile = scipy.special.gammainc(a, hr.gamma(KEY, a))
        near = [scipy.special.gammaincinv(a + k * 1e-3, quantile) for k in (-1, 0, 1)]
        found = numhlo.grad(numhlo.grad(lambda a: hr.gamma(KEY, a)))(a)
        assert found == pytest.approx((near[0] - 2 * near[1] + near[2]) / 1e-6, rel=1e-4)


@pytest.mark.slow
def test_rejection_compiled_and_in_lanes():
    keys = hr.split(KEY, 2)

    def draw(k):
        return hr.gamma(k, 0.5, (3,)), hr.poisson(k, np.array([2.0, 20.0]))

    for compiled, lanes, *plain in zip(
        numhlo.jit(draw)(keys[0]), numhlo.vmap(draw)(keys), draw(keys[0]), draw(keys[1]), strict=True
    ):
        np.testing.assert_allclose(compiled, plain[0], rtol=1e-12)
        np.testing.assert_allclose(lanes, np.stack(plain), rtol=1e-12)
    assert hr.gamma(KEY, 1.0, (0,)).shape == hr.poisson(KEY, 1.0, (0,)).shape == (0,)
    with pytest.raises(ValueError, match=r"alpha\.ndim"):
        hr.dirichlet(KEY, 1.0)


@pytest.mark.parametrize("mean", [11.0, 1e6, 1e9, 1e14])
def test_poisson_numbers_of_large_means(mean):
    drawn = (np.asarray(hr.poisson(KEY, mean, (4000,))) - mean) / mean**0.5
    assert abs(drawn.mean()) < 0.06 and drawn.std() == pytest.approx(1.0, rel=0.04)


@pytest.mark.parametrize(("n", "p"), [(10, 0.3), (1, 0.5), (100, 0.4), (1000, 0.9), (50, 0.02), (1e6, 0.3)])
def test_binomial_numbers(n, p):
    drawn = np.asarray(hr.binomial(KEY, n, p, (4000,)))
    assert drawn.min() >= 0 and drawn.max() <= n and (drawn == np.floor(drawn)).all()
    np.testing.assert_array_equal(drawn, jr.binomial(KEY, n, p, (4000,)))
    spread = drawn + np.random.default_rng(0).random(4000)  # uniform within each step: the exact distribution's density
    law = stats.binom(n, p)
    found = stats.kstest(spread, lambda x: law.cdf(np.floor(x) - 1) + (x - np.floor(x)) * law.pmf(np.floor(x)))
    assert found.pvalue > 1e-3


@pytest.mark.slow
def test_counts_at_the_edges_and_in_lanes():
    trials, chances = np.array([5.0, 5, 0, -1, np.inf, 5, np.nan]), np.array([0.0, 1, 0.5, 0.5, 0.5, 1.5, 0.5])
    edges = np.array([0, 5, 0, np.nan, np.inf, np.nan, np.nan])
    np.testing.assert_array_equal(hr.binomial(KEY, trials, chances), edges)
    np.testing.assert_array_equal(jr.binomial(KEY, trials, chances), edges)
    assert hr.binomial(KEY, np.ones((2, 0)), 0.5, dtype="f4").dtype == np.float32
    keys = hr.split(KEY, 3)
    lanes = numhlo.vmap(lambda k: hr.binomial(k, np.array([20, 300]), 0.5))(keys)
    np.testing.assert_array_equal(lanes, [numhlo.jit(hr.binomial)(k, np.array([20, 300]), 0.5) for k in keys])
    table = np.array([[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]])
    counts = np.asarray(hr.multinomial(KEY, [10, 100], table, shape=(3000, 2, 3)))
    np.testing.assert_array_equal(counts, jr.multinomial(KEY, np.array([10.0, 100]), table, shape=(3000, 2, 3)))
    np.testing.assert_array_equal(counts.sum(-1), np.broadcast_to([10, 100], (3000, 2)))
    np.testing.assert_allclose(counts.mean(0), table * [[10], [100]], rtol=0.05)
    np.testing.assert_allclose(
        np.cov(counts[:, 0].T), 10 * (np.diag(table[0]) - np.outer(table[0], table[0])), atol=0.2
    )
    assert numhlo.jit(lambda k: hr.multinomial(k, 7, [0.0, 1, 0]))(KEY).tolist() == [0, 7, 0]
    assert hr.multinomial(KEY, 3, np.ones((2, 1))).tolist() == [[3], [3]]
    with pytest.raises(ValueError, match=r"p.ndim >= 1"):
        hr.multinomial(KEY, 3, 0.5)
    with pytest.raises(ShapeError, match="cannot broadcast"):
        hr.binomial(KEY, np.ones(3), 0.5, (2,))


def test_gamma_numbers_have_second_derivatives_by_a_key_of_the_functions() -> None:
    fun = lambda lib: lambda x: lib.gamma(lib.key(3), x).sum()
    x, ones = np.array([0.5, 1.7]), np.ones(2)
    expected = jax.jvp(jax.grad(fun(jr)), (x,), (ones,))[1]
    np.testing.assert_allclose(numhlo.jvp(numhlo.grad(fun(hr)), (x,), (ones,))[1], expected, rtol=1e-6)
