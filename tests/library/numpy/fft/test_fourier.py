"""numpy.fft, traced: every function, norm, length, axis and dtype against NumPy; gradients against JAX."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy
import pytest

import numhlo
import numhlo.numpy as hnp
from tests.library.agreement import check_all, same_refusal

ROOM = 1 << 10
"""Units in the last place of the largest element: transforms add up many numbers."""

ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
TWO = ("fft2", "ifft2", "rfft2", "irfft2")
MANY = ("fftn", "ifftn", "rfftn", "irfftn")
REAL = frozenset({"rfft", "ihfft", "rfft2", "rfftn"})


def scaled(function: str) -> Any:
    """Return a transform whose result is put beside its largest element, so that units are those of that."""

    def call(np: Any, x: Any, **options: Any) -> Any:
        result = getattr(np.fft, function)(x, **options)
        return result + 100 * (1 + 1j) if result.dtype.kind == "c" else result + 100

    return call


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "bool", "float16", "complex64", "complex128"])
def test_one_dimension(dtype: str, rng: Any) -> None:
    x = rng.normal(size=(3, 6)) * 5
    x = (x + 1j * x[::-1] if dtype[0] == "c" else x).astype(dtype)
    cases: list[Any] = []
    for name in ONE:
        if name in REAL and dtype[0] == "c":
            continue
        for options in ({}, {"n": 4}, {"n": 9}, {"axis": 0}, {"norm": "ortho"}, {"norm": "forward", "n": 5}):
            cases.append((f"{name} {options}", lambda np, x, f=scaled(name), o=options: f(np, x, **o), x))
    check_all(cases, ulps=ROOM)


def test_several_dimensions(rng: Any) -> None:
    x = rng.normal(size=(2, 3, 4, 5))
    cases: list[Any] = []
    plans: list[dict[str, Any]] = [{}, {"axes": (1, 0)}, {"s": (4, 6), "axes": (-1, 1)}, {"norm": "ortho"}]
    for name in (*TWO, *MANY):
        more = [{"axes": (0, 2, 3)}, {"s": (-1, 2, 2), "axes": (0, 1, 2), "norm": "forward"}] if name in MANY else []
        for options in plans + more:
            cases.append((f"{name} {options}", lambda np, x, f=scaled(name), o=options: f(np, x, **o), x))
    cases.append(("fftn along one axis twice", lambda np, x: np.fft.fftn(x, axes=(0, 0)), x))
    cases.append(("fftn along no axis", lambda np, x: np.fft.fftn(x, axes=()), x))
    check_all(cases, ulps=ROOM)


def test_frequencies_and_shifts() -> None:
    x = numpy.arange(10.0).reshape(2, 5)
    cases: list[Any] = [
        ("shift", lambda np, x: (np.fft.fftshift(x), np.fft.ifftshift(x)), x),
        ("shift along axes", lambda np, x: (np.fft.fftshift(x, 1), np.fft.ifftshift(x, axes=(0, -1))), x),
        ("out", lambda np, x, z: np.fft.fft(x, out=z), x, x + 0j),
    ]
    check_all(cases, ulps=ROOM)
    for n, d in ((1, 1.0), (4, 0.5), (5, 3), (8, 0.1)):
        numpy.testing.assert_array_equal(hnp.fft.fftfreq(n, d), numpy.fft.fftfreq(n, d))
        numpy.testing.assert_array_equal(hnp.fft.rfftfreq(n, d), numpy.fft.rfftfreq(n, d))
    assert hnp.fft.fftfreq(4, dtype="f4").dtype == "f4"
    numpy.testing.assert_allclose(numhlo.jit(lambda d: hnp.fft.fftfreq(4, d))(0.5), numpy.fft.fftfreq(4, 0.5))
    with pytest.raises(ValueError, match="Device"):
        hnp.fft.fftfreq(4, device="gpu")


def test_refusals() -> None:
    x = numpy.ones((3, 4))
    for fun in (
        lambda np, x: np.fft.fft(x, 0),
        lambda np, x: np.fft.rfft(x * 1j),
        lambda np, x: np.fft.fft(x, norm="loud"),
        lambda np, x: np.fft.fft(x, axis=2),
        lambda np, x: np.fft.fftn(x, s=(2,), axes=(0, 1)),
        lambda np, x: np.fft.irfft(x[:, :1]),
        lambda np, x: np.fft.fft(x[0, 0]),
    ):
        same_refusal(fun, x)


@pytest.mark.slow
def test_gradients_and_lanes(rng: Any) -> None:
    jax.config.update("jax_enable_x64", True)
    x = rng.normal(size=(4, 5))
    z = x + 1j * rng.normal(size=(4, 5))
    weights = rng.normal(size=(4, 8))

    def total(np: Any, y: Any) -> Any:
        part = weights[: y.shape[0], : y.shape[1]]
        return (np.real(y) * part).sum() + 2 * (np.imag(y) * part).sum() + (np.abs(y) ** 2).sum()

    for name in ("fft", "rfft", "irfft", "ihfft", "irfft2"):
        for options in ({"norm": "ortho"}, *([{"n": 7}] if name in {"rfft", "irfft"} else [])):
            start = x if name in REAL else z

            def fun(np: Any, y: Any, name: str = name, options: Any = options) -> Any:
                return total(np, getattr(np.fft, name)(y, **options))

            found = numhlo.grad(lambda y, fun=fun: fun(hnp, y))(start)
            wanted = jax.jit(jax.grad(lambda y, fun=fun: fun(jnp, y)))(start)
            numpy.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9, err_msg=f"{name} {options}")
    rows = numhlo.jit(numhlo.vmap(lambda row: hnp.fft.irfft(hnp.fft.rfft(row) * 2, 5)))(x)
    numpy.testing.assert_allclose(rows, 2 * x, rtol=1e-12, atol=1e-12)
