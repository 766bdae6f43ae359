"""Linear algebra and Fourier transforms on stacks, empty stacks, 0 by 0 matrices, all floats: at once and traced, as NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.numpy.test_sweep import assert_same, at_once, outcome, traced


def rebuilt_from_eigenvectors(np, w, v):
    return v @ (w[..., None] * np.conj(np.matrix_transpose(v)))


def rebuilt_from_singular_vectors(u, s, v):
    return u * s[..., None, :] @ v


def rebuilt_from_triangle(q, r):
    return q @ r, abs(r)


SQUARE = {
    "cholesky": lambda np, a: np.linalg.cholesky(a),
    "det": lambda np, a: np.linalg.det(a),
    "slogdet": lambda np, a: np.linalg.slogdet(a),
    "inv": lambda np, a: np.linalg.inv(a),
    "solve": lambda np, a: np.linalg.solve(a, a),
    "eigvalsh": lambda np, a: np.linalg.eigvalsh(a),
    "eigh": lambda np, a: rebuilt_from_eigenvectors(np, *np.linalg.eigh(a)),
    "matrix_power": lambda np, a: (
        np.linalg.matrix_power(a, 3),
        np.linalg.matrix_power(a, 0),
        np.linalg.matrix_power(a, -1),
    ),
    "trace": lambda np, a: np.linalg.trace(a),
}
ANY = {
    "svdvals": lambda np, a: np.linalg.svdvals(a),
    "svd": lambda np, a: rebuilt_from_singular_vectors(*np.linalg.svd(a, full_matrices=False)),
    "qr": lambda np, a: rebuilt_from_triangle(*np.linalg.qr(a)),
    "pinv": lambda np, a: np.linalg.pinv(a),
    "matrix_rank": lambda np, a: np.linalg.matrix_rank(a),
    "norms": lambda np, a: (np.linalg.matrix_norm(a), np.linalg.vector_norm(a, axis=-1), np.linalg.vector_norm(a)),
    "products": lambda np, a: (np.linalg.outer(a[..., 0].ravel(), a[..., 0].ravel()), np.linalg.vecdot(a, a)),
    "diagonal": lambda np, a: (np.linalg.diagonal(a), np.linalg.diagonal(a, offset=1), np.linalg.matrix_transpose(a)),
}
TRANSFORMS = {
    "fft": lambda np, a: (np.fft.fft(a), np.fft.ifft(a, n=5), np.fft.fft(a, axis=0, norm="ortho"), np.fft.fftn(a)),
    "two axes": lambda np, a: (np.fft.fft2(a), np.fft.ifft2(a, norm="forward"), np.fft.ifftn(a, axes=(0,))),
    "real": lambda np, a: (np.fft.rfft(a.real), np.fft.rfftn(a.real), np.fft.rfft2(a.real, norm="ortho")),
    "to real": lambda np, a: (
        np.fft.irfft(a),
        np.fft.irfft(a, n=7),
        np.fft.irfftn(a),
        np.fft.hfft(a),
        np.fft.irfft2(a),
    ),
    "shifts": lambda np, a: (np.fft.fftshift(a), np.fft.ifftshift(a, axes=-1), np.fft.ihfft(a.real)),
}
STACKS = {"square": [(3, 3), (2, 3, 3), (0, 3, 3), (1, 1), (2, 0, 0), (2, 2, 4, 4)],
          "any": [(3, 2), (2, 2, 4), (0, 3, 2), (5, 1)], "transforms": [(4, 5), (2, 3, 4), (1, 6), (0, 4)]}  # fmt: skip
PROGRAMS = {"square": SQUARE, "any": ANY, "transforms": TRANSFORMS}


def sample(family, shape, dtype):
    rng = np.random.default_rng(len(shape))
    values = rng.normal(size=shape) + (1j * rng.normal(size=shape) if np.dtype(dtype).kind == "c" else 0)
    if family == "square":
        values = values @ values.conj().swapaxes(-1, -2) + 3 * np.eye(shape[-1])
    return values.astype(dtype)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("family", PROGRAMS)
@pytest.mark.parametrize("run", [at_once, traced], ids=lambda f: f.__name__)
def test_shapes_and_dtypes(family, run):
    wrong = []
    for name, program in PROGRAMS[family].items():
        for shape in STACKS[family]:
            for dtype in ("f4", "f8", "c8", "c16"):
                array = sample(family, shape, dtype)
                wanted, refused = outcome(lambda x, f=program: f(np, x), array)
                found, error = outcome(lambda x, f=program: run(f, [x]), array)
                label = f"{name} {dtype}{list(shape)}"
                if refused is not None or error is not None:
                    wrong += [] if refused is not None and error is not None else [f"{label}: {refused!r} {error!r}"]
                    continue
                try:
                    assert_same(found, wanted, ulps=20_000)
                except AssertionError as difference:
                    wrong.append(f"{label}: {str(difference)[:300]}")
    assert not wrong, f"{len(wrong)} faults:\n" + "\n".join(wrong[:40])


@pytest.mark.oracle("numpy>=2.3")
def test_norms_of_matrices_without_elements():
    orders = (1, 2, np.inf, -1, -np.inf, "nuc", "fro")
    for shape in ((0, 0), (0, 3), (3, 0), (2, 0, 3)):
        for order in orders:
            array = np.zeros(shape)
            wanted, refused = outcome(lambda x, p=order: np.linalg.norm(x, p, axis=(-2, -1)), array)
            found, error = outcome(
                lambda x, p=order: traced(lambda np, x: np.linalg.norm(x, p, axis=(-2, -1)), [x]), array
            )
            assert (refused is None) == (error is None), (shape, order, error)
            if refused is None:
                assert_same(found, wanted)
