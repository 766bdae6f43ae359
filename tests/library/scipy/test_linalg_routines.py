"""Routines of scipy.linalg.blas and lapack of traced arrays: what SciPy's own return."""

import numpy as np
import pytest
from scipy.linalg import blas, lapack
from scipy.linalg.lapack import dgtsv, dpotrf

import numhlo
from numhlo.lowering.ir.errors import UnsupportedError

LETTERS = "sdcz"


def matrix(rng, letter, *shape):
    """Return random numbers of a routine's dtype."""
    found = rng.normal(size=shape) + (1j * rng.normal(size=shape) if letter in "cz" else 0)
    return found.astype({"s": "float32", "d": "float64", "c": "complex64", "z": "complex128"}[letter])


def same(call, *arrays):
    """Compare a call of traced arrays with SciPy's, twice."""
    compiled = numhlo.jit(call)
    tolerance = 2e-3 if np.finfo(arrays[0].dtype).bits == 32 else 1e-9
    for _ in range(2):
        found, expected = compiled(*arrays), call(*arrays)
        pairs = zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]
        for one, other in pairs:
            np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)
            assert np.shape(one) == np.shape(other)


@pytest.mark.parametrize("letter", LETTERS)
def test_lapack(rng, letter):
    def routine(name):
        return getattr(lapack, letter + name)

    a, b = matrix(rng, letter, 4, 4) + 4 * np.eye(4, dtype=matrix(rng, letter).dtype), matrix(rng, letter, 4, 2)
    positive = (a @ a.conj().T).astype(a.dtype)
    for lower in (0, 1):
        same(lambda a: routine("potrf")(a, lower=lower), positive)
        same(lambda a, b: routine("potrs")(routine("potrf")(a, lower=lower)[0], b, lower=lower), positive, b)
        same(lambda a, b: routine("trtrs")(a, b, lower=lower), a, b)
    same(lambda a: routine("potrf")(a, clean=0, overwrite_a=1), positive)
    same(lambda a: routine("getrf")(a), a)
    same(lambda a, b: routine("gesv")(a, b), a, b)
    for trans in (0, 1):
        same(lambda a, b: routine("getrs")(*routine("getrf")(a)[:2], b, trans=trans), a, b)


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("scale", [0.1, 5.0])
def test_gtsv(rng, letter, scale):
    gtsv = getattr(lapack, letter + "gtsv")
    dl, d, du, b = (matrix(rng, letter, n) for n in (5, 6, 5, 6))
    same(lambda *x: gtsv(*x)[1:], dl, (d * scale).astype(d.dtype), du, b)
    same(lambda *x: gtsv(*x)[3:], dl, (d * scale).astype(d.dtype), du, np.stack([b, b * 2], 1))


@pytest.mark.parametrize("letter", LETTERS)
def test_blas(rng, letter):
    def routine(name):
        return getattr(blas, letter + name)

    a, b, x, y = (matrix(rng, letter, *n) for n in ((3, 3), (3, 3), (3,), (3,)))
    same(lambda a, b: routine("gemm")(2.0, a, b, trans_a=1), a, b)
    same(lambda a, b: routine("gemm")(2.0, a, b, 0.5, a, trans_b=2), a, b)
    same(lambda a, x, y: routine("gemv")(2.0, a, x, 0.5, y, trans=1), a, x, y)
    same(lambda x, y: routine("axpy")(x, y, a=3.0), x, y)
    same(lambda x: routine("scal")(2.0, x.copy()), x)
    same(lambda a: routine("syrk")(2.0, a, lower=1), a)
    same(lambda a, b: routine("syrk")(2.0, a, 0.5, b, trans=1), a, b)
    for side in (0, 1):
        for trans in (0, 1):
            same(lambda a, b: routine("trsm")(2.0, a, b, side=side, lower=1, trans_a=trans), a, b)
    names = ["dot", "ger"] if letter in "sd" else ["dotu", "dotc"]
    same(lambda x, y: routine(names[0])(x, y), x, y)
    if letter in "sd":
        same(lambda x, y: routine("ger")(2.0, x, y), x, y)
        same(lambda x: routine("nrm2")(x), x)
    else:
        same(lambda x, y: routine("dotc")(x, y), x, y)
        same(lambda x, y: routine("gerc")(2.0, x, y), x, y)
        same(lambda a: routine("herk")(2.0, a), a)


def test_routines_that_are_imported_by_name(rng):
    same(lambda a: dpotrf(a, lower=1), np.eye(3) * 4)
    same(lambda d: dgtsv(np.ones(2), d, np.ones(2), np.ones(3))[3], np.full(3, 4.0))


def test_scal_writes_into_its_array():
    def f(x):
        y = x + 1
        blas.dscal(2.0, y)
        return y

    same(f, np.arange(4.0))


def test_a_matrix_that_is_not_positive_definite_is_told_by_info():
    assert int(numhlo.jit(lambda a: dpotrf(a)[1])(-np.eye(2))) > 0
    assert int(numhlo.jit(lambda a: lapack.dgetrf(a)[2])(np.zeros((2, 2)))) == lapack.dgetrf(np.zeros((2, 2)))[2]


@pytest.mark.parametrize("letter", LETTERS)
def test_others_are_called_on_the_host(rng, letter):
    a, b = matrix(rng, letter, 4, 4), matrix(rng, letter, 4, 2)
    same(lambda a: getattr(lapack, letter + "geqrf")(a), a)
    same(lambda a, b: getattr(lapack, letter + "gels")(a, b)[1:2], a, b)
    same(lambda a: getattr(lapack, letter + "gesdd")(a * 2)[1], a)
    if letter in "sd":
        same(lambda a: np.sort(np.abs(getattr(lapack, letter + "geev")(a)[0])), a)
        same(lambda x: getattr(blas, letter + "dot")(x, x, n=2, incx=2, incy=2), b[:, 0].copy())


def test_what_runs_on_the_host_says_so():
    factors = numhlo.jit(lambda a: lapack.dgeqrf(a)[0])
    factors(np.eye(3))
    assert "runs on NumPy: what it calls is Python" in factors.explain()


def test_routines_on_the_host_under_vmap(rng):
    a = rng.normal(size=(3, 4, 4))
    found = numhlo.vmap(numhlo.jit(lambda a: lapack.dgesdd(a)[1]))(a)
    np.testing.assert_allclose(found, np.linalg.svd(a, compute_uv=False), rtol=1e-9)


def test_what_is_not_safe_on_the_host_is_refused_by_name():
    with pytest.raises(UnsupportedError, match=r"dswap of scipy\.linalg(.|\n)*it writes into its arguments"):
        numhlo.jit(lambda x, y: blas.dswap(x, y))(np.ones(4), np.arange(4.0))
    with pytest.raises(UnsupportedError, match=r"drot of scipy\.linalg(.|\n)*a traced integer"):
        numhlo.jit(lambda x, n: blas.drot(x, x + 1, 0.6, 0.8, n=n))(np.ones(4), 2)


def test_arguments_that_do_not_fit_are_told_by_the_routine():
    with pytest.raises(TypeError, match="dgeqrf"):
        numhlo.jit(lambda a: lapack.dgeqrf(a, wrong=1))(np.eye(2))
