"""numpy.linalg, traced: factorizations, equations, norms by singular values, against NumPy on every dtype and on stacks."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import numhlo
from tests.library.agreement import check_all, run_traced, same_refusal

ROOM = 1 << 14
"""Units in the last place: LAPACK's rounding errors grow with the condition number, and here it is up to a thousand."""

KINDS = ["float64", "float32", "complex128", "stack", "int64"]


def matrices(rng: Any, kind: str) -> tuple[Any, Any, Any]:
    """Return a square matrix, a positive definite one, right-hand sides."""
    shape = (2, 3, 4, 4) if kind == "stack" else (4, 4)
    a = rng.normal(size=shape) + 2 * numpy.eye(4)
    b = rng.normal(size=(4, 2))
    if kind == "complex128":
        a, b = a + 1j * rng.normal(size=shape), b + 1j
    if kind == "int64":
        a, b = numpy.round(10 * a), numpy.round(10 * b)
    s = a @ a.conj().swapaxes(-1, -2) + numpy.eye(4)
    dtype = "float64" if kind == "stack" else kind
    return a.astype(dtype), s.astype(dtype), b.astype(dtype)


def rebuilt(np: Any, a: Any) -> Any:
    u, s, vh = np.linalg.svd(a[..., :3])
    return (u[..., :3] * s[..., None, :]) @ vh


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.oracle("numpy>=2.4")
def test_functions(kind: str, rng: Any) -> None:
    a, s, b = matrices(rng, kind)
    cases: list[Any] = [
        ("cholesky", lambda np, s: (np.linalg.cholesky(s), np.linalg.cholesky(s, upper=True)), s),
        ("inv", lambda np, a: np.linalg.inv(a), a),
        ("det", lambda np, a: [np.linalg.det(a[..., :n, :n]) for n in range(5)], a),
        ("slogdet", lambda np, a: tuple(np.linalg.slogdet(a)), a),
        ("solve", lambda np, a, b: (np.linalg.solve(a, b), np.linalg.solve(a, b[:, 0])), a, b),
        ("pinv", lambda np, a: (np.linalg.pinv(a[..., :3]), np.linalg.pinv(a, rtol=0.1)), a),
        ("svdvals", lambda np, a: (np.linalg.svdvals(a[..., :3]), np.linalg.svd(a, compute_uv=False)), a),
        ("eigvalsh", lambda np, s: (np.linalg.eigvalsh(s), np.linalg.eigvalsh(s, UPLO="U")), s),
        ("eigh", lambda np, s: (np.linalg.eigh(s)[0], np.abs(np.linalg.eigh(s).eigenvectors)), s),
        ("cond", lambda np, a: [np.linalg.cond(a, p) for p in (None, 1, 2, -2, np.inf, "fro")], a),
        ("rank", lambda np, a: (np.linalg.matrix_rank(a), np.linalg.matrix_rank(a, tol=1.0)), a),
        ("norm 2", lambda np, a: np.linalg.norm(a, 2, axis=(-2, -1)), a),
        ("norm -2", lambda np, a: np.linalg.norm(a, -2, axis=(-2, -1)), a),
        ("norm nuc", lambda np, a: np.linalg.norm(a, "nuc", axis=(-1, -2), keepdims=True), a),
        ("matrix_norm", lambda np, a: np.linalg.matrix_norm(a, ord=2), a),
        ("matrix_power", lambda np, a: np.linalg.matrix_power(a, -3), a),
        ("qr", lambda np, a: np.abs(np.linalg.qr(a[..., :3]).R), a),
        ("qr complete", lambda np, a: np.linalg.qr(a, mode="complete")[0] @ np.linalg.qr(a, mode="r"), a),
        ("svd", rebuilt, a),
    ]
    check_all(cases, ulps=ROOM)


def test_least_squares_and_tensors(rng: Any) -> None:
    tall, right = rng.normal(size=(5, 3)), rng.normal(size=(5, 2))
    short = rng.normal(size=3)
    cases: list[Any] = [
        ("lstsq", lambda np, a, b: tuple(np.linalg.lstsq(a, b)), tall, right),
        ("lstsq of a vector", lambda np, a, b: tuple(np.linalg.lstsq(a, b, rcond=1e-3)), tall, right[:, 0].copy()),
        ("lstsq of a wide matrix", lambda np, a, b: tuple(np.linalg.lstsq(a, b)), tall.T.copy(), short),
        (
            "tensorsolve",
            lambda np, a, b: np.linalg.tensorsolve(a, b),
            rng.normal(size=(2, 3, 6)),
            rng.normal(size=(2, 3)),
        ),
        (
            "tensorsolve with axes",
            lambda np, a, b: np.linalg.tensorsolve(a, b, axes=(0,)),
            rng.normal(size=(6, 2, 3)),
            rng.normal(size=(2, 3)),
        ),
        ("tensorinv", lambda np, a: np.linalg.tensorinv(a), rng.normal(size=(2, 3, 3, 2))),
        ("rank of a vector", lambda np, x: (np.linalg.matrix_rank(x), np.linalg.matrix_rank(0 * x)), short),
        ("rank lost", lambda np, x: np.linalg.matrix_rank(np.outer(x, x)), short),
        ("cond of no matrices", lambda np, x: np.linalg.cond(np.zeros((0, 2, 2)) * x[0]), short),
        ("singular cond", lambda np, x: np.linalg.cond(np.zeros((2, 2)) * x[0], 2), short),
    ]
    check_all(cases, ulps=ROOM)


def test_general_eigenvalues(rng: Any) -> None:
    """Traced they are complex always, in LAPACK's order, and solve the equation."""
    for a in (rng.normal(size=(2, 4, 4)), numpy.diag([1.0, 2.0, 3.0]), (rng.normal(size=(3, 3)) + 1j).astype("c8")):
        (w, v, only), _ = run_traced(lambda a: (*numpy.linalg.eig(a), numpy.linalg.eigvals(a)), [a])
        assert w.dtype.kind == v.dtype.kind == only.dtype.kind == "c"
        room = 1e-4 if a.dtype == "c8" else 1e-10
        numpy.testing.assert_allclose(a @ v, v * w[..., None, :], atol=room)
        numpy.testing.assert_allclose(numpy.sort_complex(only), numpy.sort_complex(numpy.linalg.eigvals(a)), atol=room)


def test_refusals() -> None:
    square = numpy.eye(3)
    for fun in (
        lambda np, x: np.linalg.inv(x[:2]),
        lambda np, x: np.linalg.cholesky(x[0]),
        lambda np, x: np.linalg.eigh(x, UPLO="X"),
        lambda np, x: np.linalg.qr(x, mode="some"),
        lambda np, x: np.linalg.inv(x.astype("f2")),
        lambda np, x: np.linalg.solve(x, x[:2]),
        lambda np, x: np.linalg.tensorinv(x, ind=0),
        lambda np, x: np.linalg.tensorsolve(x, x),
        lambda np, x: np.linalg.lstsq(x, x[:2]),
        lambda np, x: np.linalg.pinv(x, rcond=0.1, rtol=0.1),
    ):
        same_refusal(fun, square)


def test_raw_reflectors(rng: Any) -> None:
    for shape in ((4, 4), (5, 3), (2, 3, 5), (0, 3), (3, 0), (0, 3, 2)):
        for dtype in ("f4", "f8", "c16", "i4"):
            x = (rng.normal(size=shape) * 9).astype(dtype) * (1j if dtype == "c16" else 1)
            found, wanted = numhlo.jit(lambda x: numpy.linalg.qr(x, "raw"))(x), numpy.linalg.qr(x, "raw")
            for one, other in zip(found, wanted, strict=True):
                assert one.shape == other.shape and one.dtype == other.dtype
                numpy.testing.assert_allclose(one, other, rtol=1e-3 if dtype == "f4" else 1e-9, atol=1e-4)
    stack = rng.normal(size=(3, 4, 2))
    batched = numhlo.vmap(lambda x: numpy.linalg.qr(x, "raw")[0])(stack)
    numpy.testing.assert_allclose(batched, numpy.linalg.qr(stack, "raw")[0], rtol=1e-12)


def test_compiled_and_under_vmap(rng: Any) -> None:
    """One program of many factorizations, run by the compiled engine, alone and batched."""

    def everything(a: Any, b: Any) -> Any:
        s = a @ a.T + numpy.eye(3)
        q, r = numpy.linalg.qr(a)
        u, d, vh = numpy.linalg.svd(a, full_matrices=False)
        w, v = numpy.linalg.eigh(s)
        parts = [numpy.linalg.inv(a), numpy.linalg.cholesky(s), q @ r, (u * d) @ vh, (v * w) @ v.T]
        return numpy.stack(parts), numpy.linalg.solve(a, b), numpy.linalg.det(a), numpy.linalg.slogdet(s)[1]

    a, b = rng.normal(size=(3, 3)) + 2 * numpy.eye(3), rng.normal(size=3)
    compiled = numhlo.jit(everything)(a, b)
    stacked = numhlo.jit(numhlo.vmap(everything, in_axes=(0, None)))(numpy.stack([a, 2 * a]), b)
    for mine, rows, plain in zip(compiled, stacked, everything(a, b), strict=True):
        numpy.testing.assert_allclose(mine, plain, rtol=1e-10, atol=1e-10)
        numpy.testing.assert_allclose(rows[0], plain, rtol=1e-10, atol=1e-10)
    for rows, plain in zip(stacked, everything(2 * a, b), strict=True):
        numpy.testing.assert_allclose(rows[1], plain, rtol=1e-10, atol=1e-10)
