"""scipy.linalg and lax.linalg: SciPy's and JAX's results, eager and traced; what is kept from one call serves another."""

import jax
import jax.scipy.linalg as jsl
import numpy as np
import pytest
import scipy.linalg as theirs
from jax import lax as jax_lax

import numhlo
import numhlo.scipy.linalg as ours
from numhlo import lax
from numhlo.lowering.ir.errors import UnsupportedError

jax.config.update("jax_enable_x64", True)
RNG = np.random.default_rng(3)
A = RNG.normal(size=(4, 4)) + 2 * np.eye(4)
Z = A + 1j * RNG.normal(size=(4, 4))
B, V = RNG.normal(size=(4, 2)), RNG.normal(size=4)
TALL = RNG.normal(size=(5, 3))


def hermitian(x):
    return x @ x.conj().T + np.eye(4)


def flat(result):
    return list(result) if isinstance(result, tuple | list) else [result]


def agree(fun, room=1e-9):
    """Compare SciPy with numhlo, eager and in one compiled program."""
    for x in (A, Z, A.astype("f4")):
        wanted = flat(fun(theirs, x))
        limit = 1e-3 if x.dtype == "f4" else room
        for found in (flat(fun(ours, x)), flat(numhlo.jit(lambda y: fun(ours, y))(x))):
            assert len(found) == len(wanted)
            for mine, other in zip(found, wanted, strict=True):
                assert mine.shape == np.shape(other)
                np.testing.assert_allclose(mine, other, rtol=limit, atol=limit)


def everything(sp, x):
    s = hermitian(x)
    c, lower = sp.cho_factor(s)
    packed = sp.lu_factor(x)
    results = [sp.cholesky(s), sp.cholesky(s, lower=True), sp.cho_solve((c, lower), B), sp.cho_solve((c, lower), V)]
    results += [sp.cho_solve(sp.cho_factor(s, lower=True), B), *packed]
    results += [sp.lu_solve(packed, B, trans) for trans in (0, 1, 2)] + [sp.lu_solve(packed, V)]
    results += [*sp.lu(x), *sp.lu(x[:, :2]), *sp.lu(x[:2], permute_l=True), *sp.lu(x, p_indices=True)]
    results += [sp.solve_triangular(x, B, trans, lower) for trans in (0, 1, 2) for lower in (True, False)]
    results += [
        sp.solve_triangular(x, V, "T", unit_diagonal=True),
        sp.inv(x),
        sp.det(x),
        sp.solve(x, B),
        sp.solve(x, V),
    ]
    results += [
        sp.solve(s, B, assume_a="pos"),
        sp.solve(s, B, assume_a="her", lower=True),
        sp.solve(x.real, B, transposed=True),
    ]
    results += [sp.eigh(s, eigvals_only=True), abs(sp.eigh(s)[1]), sp.svd(x, compute_uv=False), abs(sp.svd(x)[0])]
    results += [abs(sp.qr(x)[1]), abs(sp.qr(x[:, :2], mode="economic")[0]), abs(sp.qr(x, mode="r")[0])]
    form, vectors = sp.schur(x)
    results += [vectors @ form @ vectors.conj().T, sp.expm(x), sp.expm(40 * x / 9), sp.expm(x * 1e-3)]
    results += [sp.block_diag(x, V, x[:2]), sp.toeplitz(V), sp.toeplitz(x[0], V[:3])]
    return results


@pytest.mark.slow
def test_against_scipy():
    agree(everything)


def test_tridiagonal_and_empty():
    d, e = V, V[:3]
    np.testing.assert_allclose(ours.eigh_tridiagonal(d, e)[0], theirs.eigh_tridiagonal(d, e)[0], rtol=1e-10)
    np.testing.assert_allclose(ours.eigh_tridiagonal(d[:1], e[:0], True), d[:1])
    assert ours.block_diag().shape == theirs.block_diag().shape
    assert ours.expm(np.zeros((0, 0))).shape == (0, 0)
    assert np.isnan(ours.expm(np.eye(2) * 1e7)).all()


@pytest.mark.slow
def test_gradients_against_jax():
    def total(sp, np_, x):
        p, lower, upper = sp.lu(x)
        c = sp.cho_factor(x @ x.T + np_.eye(3))
        parts = [lower, upper, sp.lu_solve(sp.lu_factor(x), x * 2), sp.cho_solve(c, x)]
        parts += [sp.solve_triangular(x, x + 1, lower=True, trans=1), p]
        return sum((part * np.arange(9.0).reshape(3, 3)).sum() for part in parts)

    x = A[:3, :3]
    found = numhlo.grad(lambda y: total(ours, numhlo.numpy, y))(x)
    np.testing.assert_allclose(found, jax.grad(lambda y: total(jsl, jax.numpy, y))(x), rtol=1e-8, atol=1e-8)
    step = 1e-6 * B[:3, :1]
    _, tangent = numhlo.jvp(ours.expm, (x,), (step * np.ones((3, 3)),))
    np.testing.assert_allclose(tangent, (theirs.expm(x + step) - theirs.expm(x - step)) / 2, rtol=1e-5, atol=1e-12)
    wide = numhlo.grad(lambda y: (ours.lu(y)[2] ** 2).sum())(TALL.T.copy())
    np.testing.assert_allclose(wide, jax.grad(lambda y: (jsl.lu(y)[2] ** 2).sum())(TALL.T), rtol=1e-8, atol=1e-8)
    tall = numhlo.grad(lambda y: (ours.lu(y)[1] ** 2).sum())(TALL)
    np.testing.assert_allclose(tall, jax.grad(lambda y: (jsl.lu(y)[1] ** 2).sum())(TALL), rtol=1e-8, atol=1e-8)


@pytest.mark.slow
def test_lax_linalg():
    s = hermitian(A)

    def results(np_lax, x, s):
        la = np_lax.linalg
        packed, pivots, permutation = la.lu(x)
        found = [la.cholesky(s), la.cholesky(x + 9 * np.eye(4), symmetrize_input=False), packed, pivots, permutation]
        found += [la.lu_pivots_to_permutation(pivots, 4), abs(la.qr(x)[1]), la.svd(x, compute_uv=False), la.svd(x)[1]]
        found += [abs(la.eigh(s)[0]), la.eigh(s)[1]]
        for left in (True, False):
            for turn, conjugate in ((False, False), (True, False), (True, True), (False, True)):
                found.append(la.triangular_solve(x, x, left_side=left, transpose_a=turn, conjugate_a=conjugate))
        return [*found, np_lax.fft(x + 0j, np_lax.FftType.IFFT, (4, 4)), np_lax.fft(x, np_lax.FftType.RFFT, (4,))]

    for found in (results(lax, A, s), numhlo.jit(lambda x, s: results(lax, x, s))(A, s)):
        for mine, other in zip(found, results(jax_lax, A, s), strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-9)
    state = np.arange(1, 5, dtype=np.uint32)
    for algorithm in ("RNG_THREE_FRY", "RNG_PHILOX", "RNG_DEFAULT"):
        mine = lax.rng_bit_generator(state, (3, 3), np.uint32, lax.RandomAlgorithm[algorithm])
        other = jax_lax.rng_bit_generator(state, (3, 3), np.uint32, jax_lax.RandomAlgorithm[algorithm])
        for x, y in zip(mine, other, strict=True):
            np.testing.assert_array_equal(x, y, strict=True)


def test_refusals():
    for select, bounds, match in (
        ("x", None, "invalid argument for select"),
        ("i", None, "two indices in order"),
        ("v", None, "two numbers in rising order"),
        ("v", (2.0, 1.0), "two numbers in rising order"),
    ):
        with pytest.raises(ValueError, match=match):
            ours.eigh_tridiagonal([1.0, 2.0], [0.5], select=select, select_range=bounds)
    with pytest.raises(UnsupportedError, match="depend on values"):
        numhlo.jit(lambda d: ours.eigh_tridiagonal(d, [0.5], select="v", select_range=(0, 2)))(np.ones(2))
    with pytest.raises(UnsupportedError, match="assume_a"):
        ours.solve(A, B, assume_a="banded")
    with pytest.raises(UnsupportedError, match="with b"):
        ours.eigh(A, A)
    with pytest.raises(ValueError, match="trans"):
        ours.solve_triangular(A, B, trans=3)
    with pytest.raises(ValueError, match="incompatible"):
        ours.solve(A, B[:2])


@pytest.mark.slow
def test_square_roots():
    singular = np.diag([2.0, 1.0, 0.0, 0.0])
    stack = np.stack([A, hermitian(A)])
    for x in (A, Z, A.astype("f4"), singular, stack, np.zeros((0, 0)), -np.eye(2)):
        room = 1e-3 if x.dtype == "f4" else 1e-9
        for root in (ours.sqrtm(x), numhlo.jit(ours.sqrtm)(x)):
            np.testing.assert_allclose(root @ root, x, rtol=room, atol=room)
            assert root.dtype == ("c8" if x.dtype == "f4" else "c16")
    np.testing.assert_allclose(ours.sqrtm(A), theirs.sqrtm(A), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(ours.sqrtm(A), jsl.sqrtm(A), rtol=1e-9, atol=1e-9)
    assert np.isnan(ours.sqrtm([[0.0, 1.0], [0.0, 0.0]])).any()  # it has none
    with pytest.raises(UnsupportedError, match="blocksize"):
        ours.sqrtm(A, 64)


@pytest.mark.parametrize("mode", ["full", "economic", "r"])
@pytest.mark.parametrize("shape", [(4, 4), (6, 3), (3, 6), (1, 3), (3, 1)])
def test_columns_in_order_of_length(shape, mode):
    real = np.random.default_rng(1).normal(size=shape)
    for a in (real, real.astype("f4"), real + 1j * real[::-1], np.outer(real[:, 0], real[0])):
        wanted = theirs.qr(a, mode=mode, pivoting=True)
        room = 1e-5 if a.dtype == np.float32 else 1e-13
        for found in (
            ours.qr(a, mode=mode, pivoting=True),
            numhlo.jit(lambda a: ours.qr(a, mode=mode, pivoting=True))(a),
        ):
            assert len(found) == len(wanted) and found[-1].dtype == np.int32
            np.testing.assert_array_equal(found[-1][0], wanted[-1][0])
            if np.linalg.matrix_rank(a) == min(shape):
                for x, y in zip(found, wanted, strict=True):
                    np.testing.assert_allclose(x, y, atol=room)
            if mode != "r":
                np.testing.assert_allclose(found[0] @ found[1], a[:, found[2]], atol=room)


def test_columns_in_order_of_length_in_stacks_and_derivatives():
    stack = np.random.default_rng(2).normal(size=(2, 4, 3))
    q, r, order = lax.linalg.qr(stack, pivoting=True, full_matrices=False)
    np.testing.assert_allclose(q @ r, np.take_along_axis(stack, order[:, None, :], -1), atol=1e-13)
    for x, y in zip(jax_lax.linalg.qr(stack, pivoting=True, full_matrices=False), (q, r, order), strict=True):
        np.testing.assert_allclose(x, y, atol=1e-13)
    np.testing.assert_array_equal(numhlo.vmap(lambda a: ours.qr(a, pivoting=True)[2])(stack), order)
    height = lambda a: np.abs(ours.qr(a, mode="economic", pivoting=True)[1].diagonal()).sum()
    step = 1e-6 * np.eye(4, 3)
    slope = (height(stack[0] + step) - height(stack[0] - step)) / 2e-6
    np.testing.assert_allclose((numhlo.grad(height)(stack[0]) * np.eye(4, 3)).sum(), slope, rtol=1e-7)


def test_eigenvalues_of_a_tridiagonal_matrix_between_values_that_are_known():
    d, e = np.arange(5.0), np.full(4, 0.7)
    edge = float(ours.eigh_tridiagonal(np.zeros(1), [], True)[0])
    for bounds in ((0.5, 3.2), (-9, 9), (8, 9), (-9.0, -8.0)):
        wanted = theirs.eigh_tridiagonal(d, e, select="v", select_range=bounds)
        found = ours.eigh_tridiagonal(d, e, select="v", select_range=bounds)
        alone = ours.eigh_tridiagonal(d, e, True, "value", bounds)
        for x, y in ((found[0], wanted[0]), (np.abs(found[1]), np.abs(wanted[1])), (alone, wanted[0])):
            np.testing.assert_allclose(x, y, atol=1e-12)
    assert ours.eigh_tridiagonal(np.zeros(1), [], True, "v", (-1.0, edge)).size == 1  # above the first, to the second
    assert ours.eigh_tridiagonal(np.zeros(1), [], True, "v", (edge, 1.0)).size == 0


def test_some_eigenvalues_of_a_tridiagonal_matrix():
    d, e = np.arange(5.0), np.full(4, 0.7)
    for select, bounds in (("a", None), ("i", (1, 3)), ("i", (0, 0)), ("index", (4, 4))):
        wanted = theirs.eigh_tridiagonal(d, e, select=select[:1], select_range=bounds)
        found = numhlo.jit(lambda d, e, s=select, r=bounds: ours.eigh_tridiagonal(d, e, select=s, select_range=r))(d, e)
        np.testing.assert_allclose(found[0], wanted[0], atol=1e-13)
        np.testing.assert_allclose(np.abs(found[1]), np.abs(wanted[1]), atol=1e-12)
        np.testing.assert_allclose(ours.eigh_tridiagonal(d, e, True, select, bounds), wanted[0], atol=1e-13)
