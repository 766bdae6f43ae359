"""Special functions and functions of matrices that only JAX's names have: beside SciPy's and JAX's values."""

import jax
import jax.scipy.linalg
import jax.scipy.special
import numpy as np
import pytest
import scipy.linalg
import scipy.special

import numhlo.compat.jax as ours

X = np.concatenate([np.linspace(-30, 30, 121), [1e-8, 1e3, 0.0, np.inf]])
H, A = np.meshgrid(np.linspace(-6, 6, 13), [-5.0, -1.0, -0.3, 0.0, 0.5, 2.0, np.inf])
PLANE = np.linspace(-8, 8, 9)[:, None] + 1j * np.linspace(-3, 8, 7)
LINE, UP_TO_ONE = np.linspace(-20, 20, 41), np.linspace(-5, 1, 31)
N, M = np.array([0, 1, 2, 3, 4, 5, 5, 3]), np.array([0, -1, 2, 0, -3, 5, -5, 1])
ANGLES = np.linspace(0.1, 3, 8)

CASES = {
    "sici": (lambda s: s.sici(np.abs(X)), 1e-13),
    "sine integral": (lambda s: s.sici(X)[0], 1e-14),
    "fresnel": (lambda s: s.fresnel(X), 1e-12),
    "owens_t": (lambda s: s.owens_t(H, A), 1e-12),
    "wofz": (lambda s: s.wofz(PLANE), 1e-13),
    "hyp1f1": (lambda s: [s.hyp1f1(a, b, LINE) for a, b in ((1, 2), (0.5, 3.5), (2.5, 1.2), (-2, 0.5))], 1e-12),
    "hyp2f1": (lambda s: [s.hyp2f1(*abc, UP_TO_ONE) for abc in ((1, 2, 3), (0.5, 0.25, 2), (-2, 0.5, 1.5))], 1e-12),
    "sph_harm_y": (lambda s: s.sph_harm_y(N, M, ANGLES, 2 * ANGLES), 1e-13),
    "bernoulli": (lambda s: s.bernoulli(20), 1e-11),
}


@pytest.mark.parametrize("name", CASES)
def test_special_functions(name):
    function, tolerance = CASES[name]
    np.testing.assert_allclose(function(ours.scipy.special), function(scipy.special), rtol=tolerance, atol=1e-16)


def test_bessel_functions_of_the_first_orders():
    z = np.linspace(0.5, 20, 9)
    wanted = np.stack([scipy.special.jv(order, z) for order in range(4)])
    np.testing.assert_allclose(ours.scipy.special.bessel_jn(z, v=3), wanted, rtol=1e-12)


def test_special_functions_are_traced_and_differentiated():
    special = ours.scipy.special
    slope = ours.jit(ours.grad(lambda x: special.sici(x)[0] + special.owens_t(x, 0.5) + special.wofz(x * 1j).real))
    for x in (0.3, 2.5, 6.0):
        rest = -np.exp(-(x**2) / 2) * scipy.special.erf(x * 0.5 / np.sqrt(2)) / (2 * np.sqrt(2 * np.pi))
        wanted = np.sin(x) / x + rest + 2 * x * scipy.special.erfcx(x) - 2 / np.sqrt(np.pi)
        np.testing.assert_allclose(slope(x), wanted, rtol=1e-10)


GENERAL = np.random.default_rng(0).normal(size=(5, 5))
COMPLEX = GENERAL + 1j * np.random.default_rng(1).normal(size=(5, 5))
HERMITIAN = COMPLEX + COMPLEX.conj().T


@pytest.mark.parametrize("a", [GENERAL, COMPLEX, GENERAL[:1, :1], GENERAL[:2, :2], np.triu(GENERAL)])
def test_hessenberg_forms(a):
    for calc_q in (False, True):
        found, wanted = (m.scipy.linalg.hessenberg(a, calc_q=calc_q) for m in (ours, jax))
        for one, other in zip(ours.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-12)
    form, q = ours.jit(lambda a: ours.scipy.linalg.hessenberg(a, calc_q=True))(a)
    np.testing.assert_allclose(q @ form @ q.conj().T, a, atol=1e-12)
    for one, other in zip(ours.lax.linalg.hessenberg(a), jax.lax.linalg.hessenberg(a), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


@pytest.mark.parametrize("a", [GENERAL + GENERAL.T, HERMITIAN])
@pytest.mark.parametrize("lower", [True, False])
def test_tridiagonal_forms(a, lower):
    found = ours.lax.linalg.tridiagonal(a, lower=lower)
    for one, other in zip(found, jax.lax.linalg.tridiagonal(a, lower=lower), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)
    values = scipy.linalg.eigh_tridiagonal(*map(np.asarray, found[1:3]), eigvals_only=True)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(a), atol=1e-12)


@pytest.mark.parametrize("a", [GENERAL, GENERAL + GENERAL.T, COMPLEX])
def test_schur_forms_and_functions(a):
    linalg = ours.scipy.linalg
    form, vectors = linalg.rsf2csf(*linalg.schur(a))
    np.testing.assert_allclose(vectors @ form @ vectors.conj().T, a, atol=1e-12)
    np.testing.assert_allclose(np.tril(form, -1), 0, atol=1e-12)
    np.testing.assert_allclose(linalg.funm(a, ours.numpy.exp), scipy.linalg.expm(a), atol=1e-9)
    assert float(linalg.funm(a, ours.numpy.exp, disp=False)[1]) < 1e-10


@pytest.mark.parametrize("method", ["schur", "eigen"])
@pytest.mark.parametrize("a", [GENERAL, COMPLEX])
def test_sylvester_equations(a, method):
    b, c = GENERAL[:3, :3] + 9 * np.eye(3), GENERAL[:, :3]
    found = ours.scipy.linalg.solve_sylvester(a, b, c, method=method)
    np.testing.assert_allclose(a @ found + found @ b, c, atol=1e-12)
    assert found.dtype == np.result_type(a, c)


def test_derivatives_of_exponentials():
    for one, other in zip(
        ours.scipy.linalg.expm_frechet(GENERAL, GENERAL.T), scipy.linalg.expm_frechet(GENERAL, GENERAL.T), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-10)


PRODUCTS = {
    "right": lambda m: m.scipy.linalg.qr_multiply(GENERAL[:, :3], GENERAL),
    "left": lambda m: m.scipy.linalg.qr_multiply(GENERAL[:, :3], GENERAL[:3], mode="left"),
    "vector": lambda m: m.scipy.linalg.qr_multiply(GENERAL, GENERAL[0]),
    "pivoted": lambda m: m.scipy.linalg.qr_multiply(GENERAL, GENERAL, pivoting=True),
    "conjugate": lambda m: m.scipy.linalg.qr_multiply(COMPLEX, COMPLEX, conjugate=True),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_with_orthogonal_factors(name):
    for one, other in zip(PRODUCTS[name](ours), PRODUCTS[name](jax), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


REFUSED = {
    "not square": lambda m: m.scipy.linalg.hessenberg(np.ones((2, 3))),
    "shapes": lambda m: m.scipy.linalg.solve_sylvester(np.eye(2), np.eye(3), np.ones((3, 3))),
    "method": lambda m: m.scipy.linalg.solve_sylvester(np.eye(2), np.eye(2), np.ones((2, 2)), method="nonsense"),
    "direction": lambda m: m.scipy.linalg.expm_frechet(np.eye(2), np.eye(3)),
    "columns": lambda m: m.scipy.linalg.qr_multiply(np.eye(2), np.ones((2, 3))),
    "negative": lambda m: m.scipy.special.bernoulli(-1),
    "complex": lambda m: m.scipy.special.bessel_jn(1j, v=1),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    for m in (ours, jax):
        with pytest.raises((TypeError, ValueError)):
            REFUSED[name](m)
