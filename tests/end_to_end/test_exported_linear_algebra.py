"""Programs that JAX exports for the CPU, with its calls of LAPACK, run here with JAX's results."""

import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl
import numpy as np
import pytest
from jax import lax

import numhlo.stablehlo

pytestmark = pytest.mark.slow

jax.config.update("jax_enable_x64", True)


def invariant_eigenvectors(a):
    w, v = jnp.linalg.eig(a)
    order = jnp.argsort(w.real + 1e-3 * w.imag)
    return w[order], abs(v[:, order])


def rebuilt(form, vectors):
    return vectors @ form @ vectors.conj().T


FUNCTIONS = {
    "cholesky": lambda a, s, b: jnp.linalg.cholesky(s),
    "det": lambda a, s, b: (jnp.linalg.det(a), *jnp.linalg.slogdet(a)),
    "eig": lambda a, s, b: (*invariant_eigenvectors(a), jnp.sort_complex(jnp.linalg.eigvals(a))),
    "eigh": lambda a, s, b: (jnp.linalg.eigh(s)[0], abs(jnp.linalg.eigh(s)[1]), jnp.linalg.eigvalsh(s)),
    "hessenberg": lambda a, s, b: abs(jsl.hessenberg(a)),
    "inv": lambda a, s, b: (jnp.linalg.inv(a), jnp.linalg.pinv(a[:, :2])),
    "lu": lambda a, s, b: (*jsl.lu(a), *jsl.lu_factor(a[:, :2])),
    "pivoted qr": lambda a, s, b: (abs(jsl.qr(a, pivoting=True)[1]), jsl.qr(a, pivoting=True)[2]),
    "qr": lambda a, s, b: (*map(abs, jnp.linalg.qr(a[:, :2])), abs(jnp.linalg.qr(a[:, :2], mode="complete")[0])),
    "schur": lambda a, s, b: rebuilt(*jsl.schur(a)),
    "solve": lambda a, s, b: (jnp.linalg.solve(a, b), jnp.linalg.solve(a, b[:, 0])),
    "svd": lambda a, s, b: (*map(abs, jnp.linalg.svd(a)), jnp.linalg.svd(a[:, :2], compute_uv=False)),
    "triangular": lambda a, s, b: (
        jsl.solve_triangular(a, b, lower=True, trans=1, unit_diagonal=True),
        jsl.solve_triangular(a, b, trans=2),
        lax.linalg.triangular_solve(a, b.T, left_side=False, lower=True),
    ),
    "tridiagonal": lambda a, s, b: (
        abs(lax.linalg.tridiagonal(s)[1]),
        lax.linalg.tridiagonal_solve(a[0].at[0].set(0), s[1], a[2].at[-1].set(0), b),
    ),
    "fft": lambda a, s, b: (jnp.fft.fft2(a), jnp.fft.irfft(jnp.fft.rfft(a.real, 5)), jnp.fft.ifft(a)),
    "random": lambda a, s, b: (
        jax.random.normal(jax.random.PRNGKey(3), (4,)),
        jax.random.permutation(jax.random.key(1), 9),
        lax.rng_bit_generator(jnp.arange(4, dtype=jnp.uint32), (3, 3))[1],
    ),
}


def everything(*arguments):
    return {name: fun(*arguments) for name, fun in FUNCTIONS.items()}


def compare(function, arrays, dtype, how):
    """Run a program that JAX exports by ``how``, a method of `numhlo.stablehlo.Module`."""
    inputs = [x.astype(dtype) for x in arrays]
    text = jax.jit(function).lower(*inputs).as_text()
    wanted = jax.tree_util.tree_flatten_with_path(jax.jit(function)(*inputs))[0]
    found = getattr(numhlo.stablehlo.parse(text), how)("main", *inputs)
    room = 1e-3 if dtype == "float32" else 1e-9
    for x, (path, y) in zip(found, wanted, strict=True):
        assert x.dtype == y.dtype
        np.testing.assert_allclose(x, y, rtol=room, atol=room, err_msg=str(path))


def matrices(rng, *batch):
    a = rng.normal(size=(*batch, 4, 4)) + 2 * np.eye(4)
    return a, a @ a.swapaxes(-1, -2) + np.eye(4), rng.normal(size=(*batch, 4, 3))


def test_exported_programs(rng):
    compare(everything, matrices(rng), "float32", "interpret")


@pytest.mark.slow
@pytest.mark.specifies("linear algebra")
def test_exported_programs_on_stacks_and_compiled(rng):
    compare(jax.vmap(everything), matrices(rng, 2), "complex128", "interpret")
    compare(everything, matrices(rng), "float64", "run")
