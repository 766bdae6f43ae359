"""fft, compiled: kinds, lengths, axes, strides and tiles against SciPy in a wider type; lines on any number of threads."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.fft

import numhlo
from numhlo.backend.emit.fourier_lines import LONGEST, LONGEST_REAL, factors, is_smooth, roots
from numhlo.backend.primitives import fourier as words
from numhlo.backend.primitives.fourier import PART_BYTES, RADICES

ULPS = 8
"""Of the largest element of a result."""

WIDE = {"f": np.float64, "d": np.longdouble, "F": np.complex128, "D": np.clongdouble}


def numbers(rng, shape, dtype):
    values = rng.standard_normal(shape)
    return (values + 1j * rng.standard_normal(shape) if np.dtype(dtype).kind == "c" else values).astype(dtype)


def check(function, arrays, oracle):
    """Compare results with an oracle that gets the arrays in a wider type, on one thread and on all."""
    jitted = numhlo.jit(function)
    jitted(*arrays)
    jitted.wait()
    assert "on NumPy" not in jitted.lower(*arrays).compile().explain()
    found = jitted(*arrays)
    with numhlo.threads(1):
        alone = jitted(*arrays)
    wide = oracle(*[x.astype(WIDE[x.dtype.char]) for x in arrays])
    plain = function(*arrays)
    for number, (ours, single, expected, numpys) in enumerate(zip(found, alone, wide, plain, strict=True)):
        assert ours.dtype == numpys.dtype
        assert ours.tobytes() == single.tobytes()
        eps = np.finfo(ours.dtype).eps * ULPS
        error = np.abs(ours - expected).max() / np.abs(expected).max()
        assert error < eps, (number, ours.shape, float(error / eps))


@pytest.mark.slow
@pytest.mark.specifies("fft")
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_lines(rng, dtype):
    shapes = [(1,), (2,), (60,), (1001,), (4096,), (3, 5), (3, 77), (40, 12), (40, 128), (2, 3, 5, 6)]
    arrays = [numbers(rng, shape, dtype) for shape in shapes]
    check(
        lambda *a: [f(x) for x in a for f in (np.fft.fft, np.fft.ifft)],
        arrays,
        lambda *a: [f(x) for x in a for f in (scipy.fft.fft, scipy.fft.ifft)],
    )


@pytest.mark.slow
@pytest.mark.specifies("fft")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_real_lines(rng, dtype):
    lengths = (1, 2, 3, 4, 15, 49, 1000)
    reals = [numbers(rng, shape, dtype) for n in lengths for shape in ((n,), (20, n))]
    halves = [numbers(rng, (20, n // 2 + 1), np.result_type(dtype, np.complex64)) for n in lengths]
    check(lambda *a: [np.fft.rfft(x) for x in a], reals, lambda *a: [scipy.fft.rfft(x) for x in a])
    check(
        lambda *a: [np.fft.irfft(x, n) for x, n in zip(a, lengths, strict=True)],
        halves,
        lambda *a: [scipy.fft.irfft(x, n) for x, n in zip(a, lengths, strict=True)],
    )


@pytest.mark.slow
@pytest.mark.specifies("fft")
def test_axes_and_several_dimensions(rng):
    def transforms(fft):
        return lambda x, z: [
            *[fft.fft(z, axis=axis) for axis in (0, 1)],
            *[fft.rfft(x, axis=axis) for axis in (0, 1)],
            *[fft.irfft(z, axis=axis) for axis in (0, 1)],
            fft.fft(z.T[::2, 3:, ::-1], axis=1),
            fft.fftn(z),
            fft.ifftn(z, axes=(0, 2)),
            fft.rfftn(x),
            fft.irfftn(z),
            fft.irfftn(z, (12, 10, 21), (0, 1, 2)),
        ]

    arrays = [numbers(rng, (12, 10, 11), dtype) for dtype in (np.float64, np.complex128)]
    check(transforms(np.fft), arrays, transforms(scipy.fft))


def test_values_that_are_not_finite_stay_in_their_lines():
    x = np.ones((3, 8))
    x[1, 2] = np.nan
    jitted = numhlo.jit(lambda x: np.fft.fft(x))
    jitted(x)
    jitted.wait()
    assert np.isnan(jitted(x)).any(axis=1).tolist() == [False, True, False]


def test_what_has_no_kernel_is_named():
    for function, length, reason in (
        (np.fft.fft, 34, "its length 34 has a prime factor beyond 13"),
        (np.fft.rfft, 2 * LONGEST_REAL, f"its real lines are longer than {LONGEST_REAL}"),
    ):
        x = np.arange(float(length))
        jitted = numhlo.jit(lambda x, f=function: f(x))
        assert reason in jitted.lower(x).compile().explain()
        np.testing.assert_allclose(jitted(x), function(x), 1e-12)


def test_roots_are_right_to_an_ulp():
    for n in (1, 2, 12, 1000, LONGEST + 1):
        found = roots(n, np.dtype(np.complex128))
        angle = 2 * np.longdouble("3.14159265358979323846264338327950288") * np.arange(n) / n
        for part, expected in ((found.real, np.cos(angle)), (found.imag, -np.sin(angle))):
            assert np.abs(part - expected).max() < np.finfo(np.float64).eps


def test_factors():
    for n in range(1, 600):
        assert is_smooth(n) == all(n % p or p <= 13 for p in range(2, n + 1) if all(p % q for q in range(2, p)))
        assert not factors(n) or np.prod(factors(n)) == n


@pytest.mark.parametrize("radix", RADICES)
def test_butterflies_in_plain_python(rng, radix):
    lanes, count = PART_BYTES // 8, 2
    source = rng.standard_normal((radix * count, 2, lanes))
    target = np.zeros_like(source)
    table = np.exp(-2j * np.pi * np.arange(3 * radix) / 40)
    word = getattr(words, f"butterfly{radix}_f64")
    word(source.ctypes.data, target.ctypes.data, count, count, count, table.ctypes.data, 3)
    values = (source[:, 0] + 1j * source[:, 1]).reshape(radix, count, lanes)
    expected = scipy.fft.fft(values, axis=0) * table[::3][:radix, None, None]
    np.testing.assert_allclose((target[:, 0] + 1j * target[:, 1]).reshape(expected.shape), expected, 1e-12, 1e-12)
