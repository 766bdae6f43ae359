"""Libraries written for the Array API standard take our arrays, and, where they trace, traced ones."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest

import numhlo
import numhlo.numpy as n

X = np.random.default_rng(0).normal(size=(20, 3))


def test_array_api_compat():
    compat = pytest.importorskip("array_api_compat")
    x = n.asarray(X)
    assert compat.is_array_api_obj(x) and compat.device(x) == "cpu" and compat.size(x) == 60

    def standardized(v):
        assert compat.is_array_api_obj(v)
        xp = compat.array_namespace(v)
        return (v - xp.mean(v, axis=0)) / xp.std(v, axis=0, correction=1)

    wanted = (X - X.mean(0)) / X.std(0, ddof=1)
    for found in (standardized(x), numhlo.jit(standardized)(x)):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
    numhlo.jit(lambda v: [] if compat.array_namespace(v) is n else pytest.fail("another namespace"))(x)


def test_einops():
    einops = pytest.importorskip("einops")
    generic = pytest.importorskip("einops.array_api")

    def f(v, library):
        parts = library.rearrange(v, "(a b) c -> a c b", a=4)
        return parts, library.reduce(v, "a c -> c", "max"), library.repeat(v, "a c -> c a r", r=2)

    wanted = [X.reshape(4, 5, 3).transpose(0, 2, 1), X.max(0), np.repeat(X.T[:, :, None], 2, 2)]
    x = n.asarray(X)
    jitted = (numhlo.jit(lambda v, library=library: f(v, library))(x) for library in (generic, einops))
    for results in (f(x, einops), f(x, generic), *jitted):
        for found, other in zip(results, wanted, strict=True):
            np.testing.assert_allclose(found, other, rtol=1e-12)
            assert type(found) is numhlo.Array


def test_einops_takes_traced_arrays():
    einops = pytest.importorskip("einops")

    def attention(v, w):
        heads = einops.rearrange(v, "n (h d) -> h n d", h=3)
        scores = einops.einsum(heads, heads, "h n d, h m d -> h n m")
        both, shapes = einops.pack([einops.reduce(scores, "h n m -> h n", "mean"), w], "h *")
        back, _ = einops.unpack(both, shapes, "h *")
        stacked = einops.rearrange([w, w * 2], "two h k -> h (two k)")
        return scores, both, back, stacked, einops.parse_shape(v, "n _")["n"] * einops.repeat(w, "h k -> h k 2")

    w = X[:3]
    for found, wanted in zip(numhlo.jit(attention)(X, w), attention(X, w), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
    slopes = numhlo.grad(lambda v: einops.reduce(v * v, "n c -> ", "sum"))(X)
    np.testing.assert_allclose(slopes, 2 * X)
    rows = numhlo.vmap(lambda row: einops.rearrange(row, "(a b) -> b a", a=1))(X)
    np.testing.assert_array_equal(rows, X[:, :, None])


PRELUDE = """
import numpy as np, numhlo.numpy as n
X = np.random.default_rng(0).normal(size=(20, 3))
def compare(programs):
    for program in programs:
        np.testing.assert_allclose(program(n.asarray(X)), program(X), rtol=1e-12)
    print(len(programs))
"""
SCIPY = """
import scipy.cluster.vq, scipy.fft, scipy.integrate, scipy.linalg, scipy.signal, scipy.special, scipy.stats
compare([
    lambda x: scipy.special.logsumexp(x, axis=0), lambda x: scipy.special.erf(x), lambda x: scipy.fft.fft(x, axis=0),
    lambda x: scipy.stats.zscore(x), lambda x: scipy.stats.ttest_1samp(x, 0.0).pvalue,
    lambda x: scipy.cluster.vq.whiten(x), lambda x: scipy.stats.pearsonr(x[:, 0], x[:, 1]).statistic,
    lambda x: scipy.signal.detrend(x), lambda x: scipy.integrate.trapezoid(x, axis=0),
    lambda x: scipy.linalg.inv(x.T @ x),
])
"""
LEARN = """
from sklearn import config_context
from sklearn.decomposition import PCA
from sklearn.linear_model import Ridge
from sklearn.metrics import accuracy_score, r2_score
from sklearn.preprocessing import MinMaxScaler, StandardScaler
with config_context(array_api_dispatch=True):
    compare([
        lambda x: StandardScaler().fit_transform(x), lambda x: MinMaxScaler().fit_transform(x),
        lambda x: abs(PCA(2, svd_solver="full").fit_transform(x)),
        lambda x: Ridge(solver="svd").fit(x, x[:, 0]).predict(x),
        lambda x: accuracy_score(x[:, 0] > 0, x[:, 1] > 0), lambda x: r2_score(x[:, 0], x[:, 1]),
    ])
"""


@pytest.mark.slow
@pytest.mark.parametrize(("library", "program", "count"), [("scipy", SCIPY, 10), ("sklearn", LEARN, 6)])
def test_dispatch_of(library, program, count):
    if find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}  # read when SciPy is first imported
    command = [sys.executable, "-c", PRELUDE + program]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=200)
    assert done.stdout.split() == [str(count)], done.stderr
