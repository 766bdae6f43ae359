"""Wrong calls: refused in the words of the call, with its line, and as what NumPy raises for them."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.special

import numhlo
from numhlo import lax, random
from numhlo.scipy import ndimage, signal, special

X = np.arange(6.0).reshape(2, 3)

NUMPYS = [
    (lambda x: np.sin(x, dtype="S3"), "dtype |S3 can't be traced"),
    (lambda x: np.sum(x, dtype="S3"), "dtype |S3 can't be traced"),
    (lambda x: np.mean(x, dtype="S3"), "dtype |S3 can't be traced"),
    (lambda x: np.add(x, x, dtype="U3"), "dtype <U3 can't be traced"),
    (lambda x: np.roll(x, x[:, :2]), "'shift' and 'axis' should be scalars or 1D sequences"),
    (lambda x: np.tril(x, x[:, :2]), "k is the number of one diagonal"),
    (lambda x: np.triu(x[0, 0]), "a scalar float64 has no triangle"),
    (lambda x: np.tril_indices_from(x[0]), "input array must be 2-d"),
    (lambda x: np.full_like(x, x[:, :2]), "could not broadcast input array from shape (2, 2) into shape (2, 3)"),
    (lambda x: np.resize(x, -5), "all elements of `new_shape` must be non-negative"),
    (lambda x: np.polydiv(x, -5), "polydiv of float64[2,3] by Python int"),
    (lambda x: np.tensordot(x, -5), "tensordot: 2 axes of float64[2,3]"),
    (lambda x: np.tensordot(x, x, 3), "tensordot: 3 axes of float64[2,3]"),
    (lambda x: np.linalg.cross(x, -5), "axis -1 is out of bounds"),
    (lambda x: np.linalg.lstsq(x, -5), "0-dimensional array given"),
    (lambda x: np.digitize(x, 0), "bins must be a vector of edges, not of shape ()"),
    (lambda x: np.digitize(x, x), "bins must be a vector of edges, not of shape (2, 3)"),
    (lambda x: np.hstack(x[:0]), "need at least one array to concatenate"),
    (lambda x: np.lexsort(x[:0]), "need sequence of keys with len > 0 in lexsort"),
    (lambda x: np.split(x, 0), "array split into 0 parts"),
    (lambda x: np.split(x, np.int64(2), 1), "array split does not result in an equal division"),
    (lambda x: np.round(x, 2**70), "too large to convert"),
    (lambda x: np.array(x, x[:, :2]), "Cannot construct a dtype from an array"),
    (lambda x: np.zeros_like(x, x), "Cannot construct a dtype from an array"),
    (lambda x: x.astype(x), "Cannot construct a dtype from an array"),
    (lambda x: np.nanquantile(x, 1.5), "Quantiles must be in the range [0, 1]"),
    (lambda x: np.quantile(x, "a"), "did not contain a loop with signature matching types"),
    (lambda x: np.sin(x, order="Q"), "order must be one of 'C', 'F', 'A', or 'K' (got 'Q')"),
    (lambda x: np.copy(x, 3), "order must be str, not int"),
    (lambda x: x.astype(int, order=""), "order must be one of 'C', 'F', 'A', or 'K' (got '')"),
    (lambda x: np.einsum("ij", x, order=3), "order must be str, not int"),
    (lambda x: np.einsum("ij", x, ordre="C"), "unexpected keyword argument"),
    (lambda x: np.sum(x, keepdims="no"), "'str' object cannot be interpreted as an integer"),
    (lambda x: np.std(x, keepdims=None), "'NoneType' object cannot be interpreted as an integer"),
    (lambda x: np.gcd.reduce(x.astype(int), keepdims=1.0), "'float' object cannot be interpreted as an integer"),
    (lambda x: np.histogram(x, 1.5), "`bins` must be an integer, a string, or an array"),
    (lambda x: np.clip(x, 5), "clip() missing 1 required positional argument: 'a_max'"),
    (lambda x: np.clip(x, 0, max=1), "clip() missing 1 required positional argument: 'a_max'"),
    (
        lambda x: np.clip(x, 0, 1, min=3),
        "Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided",
    ),
    (lambda x: np.zeros(3, order="K"), "only 'C' or 'F' order is permitted"),
    (lambda x: np.eye(3, order="a"), "only 'C' or 'F' order is permitted"),
    (lambda x: scipy.special.expit(x * 1j), "special.expit of complex128[2,3]"),
    (lambda x: scipy.special.logit(x * 1j), "special.logit of complex128[2,3]"),
    (lambda x: scipy.special.entr(x * 1j), "special.entr of complex128[2,3]"),
    (lambda x: np.partition(x, 1.5), "Partition index must be integer"),
    (lambda x: np.diagonal(x, 1.5), "cannot be interpreted as an integer"),
    (lambda x: np.diag(x[0], 1.5), "cannot be interpreted as an integer"),
    (lambda x: np.histogram2d(x[0], x[0, :2]), "x and y must have the same length."),
]

OTHERS = [
    (lambda x: np.linalg.eigh(x[:, :2], -5), ValueError, "UPLO argument must be 'L' or 'U', not -5"),
    (lambda x: lax.unstack(x, axis=7), ValueError, "axis 7 is out of bounds"),
    (lambda x: lax.index_in_dim(x, 0, 7), ValueError, "axis 7 is out of bounds"),
    (lambda x: lax.select_n(x, x, x), TypeError, "lax.select_n by float64[2,3]"),
    (lambda x: lax.round(x > 1), TypeError, "lax.round of bool[2,3]"),
    (lambda x: lax.sort_key_val(x, x[:, :2]), ValueError, "sort_key_val of keys float64[2,3] and values float64[2,2]"),
    (lambda x: lax.pmean(x, "rows"), NameError, "pmean: unbound axis name: 'rows'"),
    (lambda x: lax.axis_size("rows"), NameError, "axis_size: unbound axis name: 'rows'"),
    (lambda x: signal.hilbert(x, axis=7), ValueError, "axis 7 is out of bounds"),
    (lambda x: signal.spectrogram(x, axis=7), IndexError, "axis 7 is out of bounds"),
    (lambda x: signal.periodogram(x, 0), ValueError, "Sampling frequency fs=0 must be positive!"),
    (lambda x: ndimage.minimum_filter1d(x, -5), RuntimeError, "incorrect filter size"),
    (lambda x: lax.linalg.householder_product(x, -5), ValueError, "with one number as taus"),
    (lambda x: lax.map_elements(lambda y: None, x), TypeError, "computation returns one array"),
    (lambda x: signal.welch(x, -5.0, nperseg=2), ValueError, "Sampling frequency fs=-5.0 must be positive!"),
    (lambda x: random.categorical(random.key(0), x[0, 0]), ValueError, "axis -1 is out of bounds"),
    (lambda x: special.multigammaln(x, 2**70), ValueError, "multigammaln in 1180591620717411303424 dimensions"),
    (lambda x: special.multigammaln(x, 2.5), ValueError, "multigammaln in 2.5 dimensions"),
]


@pytest.mark.parametrize(("call", "text"), NUMPYS, ids=[text[:40] for _, text in NUMPYS])
def test_calls_that_numpy_refuses(call, text):
    with pytest.raises(Exception) as numpys:  # noqa: PT011 - whatever NumPy raises
        call(X)
    kind = Exception if issubclass(numpys.type, np._core._exceptions.UFuncTypeError) else numpys.type
    with pytest.raises(kind) as caught:
        numhlo.jit(call).trace(X)
    assert text in str(caught.value)
    assert "at test_wrong_calls.py" in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))).startswith(str(caught.value).partition("\n")[0])


@pytest.mark.parametrize(("call", "kind", "text"), OTHERS, ids=[text[:40] for *_, text in OTHERS])
def test_calls_of_other_names(call, kind, text):
    with pytest.raises(kind) as caught:
        numhlo.jit(call).trace(X)
    assert text in str(caught.value)
    assert "at test_wrong_calls.py" in str(caught.value)


def test_numbers_that_numpy_takes():
    assert numhlo.jit(lambda x: np.diff(x, 2**70))(X).shape == np.diff(X, 7).shape
    assert np.array_equal(numhlo.jit(lambda x: np.resize(x, (4, 5)))(X), np.resize(X, (4, 5)))
    assert np.isnan(numhlo.jit(lambda x: np.round(x, 400))(X)).all()
    assert np.array_equal(numhlo.jit(lambda x: x.clip(3))(X), X.clip(3))


@pytest.mark.parametrize("order", ["f", "c", None])
def test_memory_orders_in_small_letters(order):
    def fill(x):
        seen = np.asarray(x, order=order)
        seen[0] = 7.0
        return x.ravel(order), x.reshape(6, order=order), x.T.flatten(order), x

    given = X.copy()
    for found, wanted in zip(numhlo.jit(fill)(X.copy()), fill(given), strict=True):
        assert np.array_equal(found, wanted)


def test_deeply_nested_values_around_a_function():
    nested = [1.0]
    for _ in range(5000):
        nested = [nested]
    assert numhlo.jit(lambda x: x + len(nested))(1.0) == 2.0


def test_a_generator_that_is_loaded_while_tracing_was_not_drawn_from():
    program = """
import sys, numhlo
def load(x):
    import numpy.random
    return x
assert "numpy.random" not in sys.modules
numhlo.jit(load).trace(1.0)
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False, text=True)
    assert run.returncode == 0, run.stderr
