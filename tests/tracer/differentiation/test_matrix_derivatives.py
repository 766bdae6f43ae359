"""Derivatives of factorizations: gradients are JAX's, tangents are finite differences; second ones and vmap work."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import numhlo
import numhlo.numpy as hnp
import numhlo.scipy.linalg as hsl
import numhlo.stablehlo
from numhlo.lowering.ir.errors import UnsupportedError

jax.config.update("jax_enable_x64", True)
RNG = np.random.default_rng(5)
A = RNG.normal(size=(4, 4)) + np.eye(4)
TALL = RNG.normal(size=(4, 3))
Z = A + 1j * RNG.normal(size=(4, 4))
S, H = A @ A.T + np.eye(4), Z @ Z.conj().T + np.eye(4)
WEIGHTS = RNG.normal(size=(4, 4))
W = WEIGHTS[0]
OURS_ALONE = frozenset({"qr of wide matrices"})
HERMITIAN = frozenset({"cholesky", "upper cholesky", "eigvalsh", "eigh"})


def weighed(np, x):
    """Return a real number in which every part of a matrix counts differently."""
    weights = WEIGHTS[: x.shape[-2], : x.shape[-1]]
    total = (np.real(x) * weights).sum()
    return total + 2 * (np.imag(x) * weights).sum() if x.dtype.kind == "c" else total


def of_qr(np, x):
    q, r = np.linalg.qr(x)
    return weighed(np, q) + weighed(np, r)


def of_svd(np, x):
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    return weighed(np, (u * s) @ vh) + np.abs(u).sum() + (s * W[: len(s)]).sum() + 2 * np.abs(vh).sum()


def of_eigh(np, x):
    w, v = np.linalg.eigh(x)
    return (w * W).sum() + (np.abs(v) * WEIGHTS).sum()


def of_slogdet(np, x):
    sign, log = np.linalg.slogdet(x)
    return np.real(sign) + log if x.dtype.kind == "c" else log


CASES = {
    "cholesky": (lambda np, x: weighed(np, np.linalg.cholesky(x)), [S, H]),
    "upper cholesky": (lambda np, x: weighed(np, np.linalg.cholesky(x, upper=True)), [H]),
    "inv": (lambda np, x: weighed(np, np.linalg.inv(x)), [Z]),
    "solve": (lambda np, x: weighed(np, np.linalg.solve(x, x[:, :2] * 2)), [A, Z]),
    "det": (lambda np, x: np.real(np.linalg.det(x)), [A, Z, A[:3, :3], np.zeros((3, 3))]),
    "slogdet": (of_slogdet, [A, Z]),
    "qr": (of_qr, [A, TALL, Z]),
    "qr of wide matrices": (of_qr, [TALL.T.copy()]),
    "eigvalsh": (lambda np, x: (np.linalg.eigvalsh(x) * W).sum(), [H]),
    "eigh": (of_eigh, [S, H]),
    "svdvals": (lambda np, x: (np.linalg.svd(x, compute_uv=False) * W[: min(x.shape)]).sum(), [TALL]),
    "svd": (of_svd, [A, TALL, TALL.T.copy(), Z]),
    "eigvals": (lambda np, x: np.abs(np.linalg.eigvals(x)).sum(), [A]),
    "pinv": (lambda np, x: weighed(np, np.linalg.pinv(x)), [TALL, TALL.T.copy(), np.eye(3), Z[:3]]),
}


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n in {"svd", "qr"} else n for n in CASES])
def test_gradients_and_tangents(name):
    fun, inputs = CASES[name]
    for x in inputs:
        found = numhlo.grad(lambda y: fun(hnp, y))(x)
        if name not in OURS_ALONE:
            wanted = jax.jit(jax.grad(lambda y: fun(jnp, y)))(x)
            np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-8)
        direction = np.random.default_rng(1).normal(size=x.shape).astype(x.dtype)
        direction = direction + direction.T if name in HERMITIAN else direction
        _, tangent = numhlo.jvp(lambda y: fun(hnp, y), (x,), (direction,))
        step = 1e-6
        difference = (fun(np, x + step * direction) - fun(np, x - step * direction)) / (2 * step)
        np.testing.assert_allclose(tangent, difference, rtol=1e-4, atol=1e-5)


def test_second_derivatives_and_lanes():
    def fun(x):
        return hnp.linalg.slogdet(x)[1] + hnp.linalg.inv(x)[0, 1] + hnp.linalg.cholesky(x @ x.T)[2, 2]

    x = A[:3, :3]
    hessian = numhlo.hessian(fun)(x)
    step = 1e-5
    for k, direction in enumerate(np.eye(9).reshape(9, 3, 3)):
        ahead, behind = (numhlo.grad(fun)(x + sign * step * direction) for sign in (1, -1))
        np.testing.assert_allclose(
            hessian.reshape(3, 3, 9)[..., k], (ahead - behind) / (2 * step), rtol=1e-3, atol=1e-4 * abs(hessian).max()
        )
    lanes = numhlo.jit(numhlo.vmap(numhlo.grad(fun)))(np.stack([x, 2 * x]))
    np.testing.assert_allclose(lanes[1], numhlo.grad(fun)(2 * x), rtol=1e-9, atol=1e-12)


def test_pseudo_inverses_of_deficient_rank():
    column, row = np.array([1.0, 2.0, 3.0]), np.array([1.0, -1.0])
    moved = lambda np, t: np.linalg.pinv(np.outer(column + t * column**2, row + t * row**2), rcond=1e-9)
    difference = (moved(np, 1e-6) - moved(np, -1e-6)) / 2e-6
    np.testing.assert_allclose(numhlo.jacfwd(lambda t: moved(hnp, t))(0.0), difference, atol=1e-8)
    assert not numhlo.grad(lambda x: np.linalg.pinv(x).sum())(np.zeros((2, 2))).any()
    total = lambda np: lambda x: (np.linalg.pinv(x) ** 2).sum()
    wanted = jax.jit(jax.hessian(total(jnp)))(TALL)
    np.testing.assert_allclose(numhlo.jit(numhlo.hessian(total(hnp)))(TALL), wanted, rtol=1e-8, atol=1e-10)
    stack = np.stack([TALL, 2 * TALL])
    lanes = numhlo.vmap(numhlo.grad(total(hnp)))(stack)
    np.testing.assert_allclose(lanes, numhlo.grad(total(hnp))(stack), rtol=1e-12)


def test_what_has_no_derivative_says_so():
    with pytest.raises(UnsupportedError, match="use eigh"):
        numhlo.grad(lambda x: hnp.abs(hsl.schur(x)[1]).sum())(A)
    with pytest.raises(UnsupportedError, match="full_matrices=False"):
        numhlo.grad(lambda x: hnp.linalg.svd(x)[0].sum())(TALL)
    with pytest.raises(UnsupportedError, match="reduced"):
        numhlo.grad(lambda x: hnp.linalg.qr(x, mode="complete")[0].sum())(TALL)


def test_eigenvectors_as_lapack_scales_them(rng):
    for matrix in (A, A + 1j * rng.normal(size=A.shape)):
        fun = lambda x: tuple(hnp.linalg.eig(x))
        step = 1e-6 * rng.normal(size=matrix.shape)
        found = numhlo.jvp(fun, (matrix,), (step * 1e6,))[1]
        for slope, ahead, behind in zip(found, np.linalg.eig(matrix + step), np.linalg.eig(matrix - step), strict=True):
            np.testing.assert_allclose(slope, (ahead - behind) / 2e-6, atol=1e-6)


EXPORTED = {
    "svd": (lambda x: jnp.linalg.svd(x, full_matrices=False), [TALL, TALL.T]),
    "svd of a complex matrix": (lambda x: abs(jnp.linalg.svd(x, full_matrices=False)[0]), [Z[:, :3]]),
    "svdvals": (lambda x: jnp.linalg.svd(x, compute_uv=False), [TALL]),
    "qr": (jnp.linalg.qr, [A, TALL, TALL.T, Z, Z[:, :3]]),
    "product": (jax.lax.linalg.householder_product, [(Z[:, :3], Z[0, :2])]),
    "eig": (jnp.linalg.eig, [A, Z]),
    "eigvals": (jnp.linalg.eigvals, [A]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPORTED)
def test_exported_calls_of_lapack(name, rng):
    """Tangents are finite differences, reverse mode is the transpose, lanes are rows."""
    fun, inputs = EXPORTED[name]
    for x in inputs:
        given = x if isinstance(x, tuple) else (x,)
        program = numhlo.stablehlo.parse(jax.jit(fun).lower(*given).as_text()).callable("main")
        ours = lambda *xs, program=program: jax.tree_util.tree_leaves(program(*xs))
        random = lambda like: (
            rng.normal(size=like.shape) + (1j * rng.normal(size=like.shape) if like.dtype.kind == "c" else 0)
        )
        step = tuple(map(random, given))
        values, tangents = numhlo.jvp(ours, given, step)
        ahead, behind = (
            jax.tree_util.tree_leaves(fun(*[x + sign * s for x, s in zip(given, step, strict=True)]))
            for sign in (1e-6, -1e-6)
        )
        for tangent, high, low in zip(tangents, ahead, behind, strict=True):
            np.testing.assert_allclose(tangent, (high - low) / 2e-6, rtol=1e-5, atol=1e-5)
        weights = list(map(random, values))
        pulled = lambda *xs, ours=ours, weights=weights: numhlo.vjp(ours, *xs)[1](weights)
        found = pulled(*given)
        forward = sum(np.sum(np.asarray(t) * w) for t, w in zip(tangents, weights, strict=True))
        backward = sum(np.sum(np.asarray(c) * s) for c, s in zip(found, step, strict=True))
        np.testing.assert_allclose(np.real(forward), np.real(backward), rtol=1e-9, atol=1e-9)
        lanes = numhlo.vmap(pulled)(*[np.stack([2 * x, x]) for x in given])
        np.testing.assert_allclose(lanes[0][1], found[0], rtol=1e-12, atol=1e-12)
