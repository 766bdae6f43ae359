"""fft, compiled: kinds, lengths, axes, strides and tiles against SciPy in a wider type; lines on any number of threads."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.fft

import numhlo
from numhlo import stablehlo
from numhlo.backend.emit.transforms.lines import LONGEST, chirp, convolution_length, factors, is_smooth, roots, spectrum
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
    shapes = [(3, 77), (40, 12), (4096,)]
    if dtype == np.complex128:  # each is a kernel of its own
        shapes += [(60,), (40, 128), (2, 3, 5, 6), (1,), (2,), (1001,), (3, 5)]
    arrays = [numbers(rng, shape, dtype) for shape in shapes]

    def transforms(fft):
        return lambda *a: [*[fft.fft(x) for x in a], *[fft.ifft(x) for x in a[1:3]]]

    check(transforms(np.fft), arrays, transforms(scipy.fft))


@pytest.mark.slow
@pytest.mark.specifies("fft")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_real_lines(rng, dtype):
    lengths = (1, 2, 3, 4, 15, 49, 1000) if dtype == np.float64 else (15, 1000)
    reals = [numbers(rng, (20, n), dtype) for n in lengths]
    reals += [numbers(rng, (n,), dtype) for n in lengths[-2:]]
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


@pytest.mark.slow
@pytest.mark.specifies("fft")
def test_lengths_of_other_primes_are_convolutions(rng):
    """Side by side, alone, cut in two, real of even and odd length, along the first axis."""

    def transforms(fft):
        return lambda *z: [
            *[fft.fft(x) for x in z],
            fft.ifft(z[1]),
            fft.fftn(z[2], axes=(0, 1)),
            *[fft.rfft(z[k].real) for k in (0, 1, 3)],
            *[fft.irfft(z[k], n) for k, n in ((0, 34), (1, 39), (3, 2 * 5003))],
        ]

    shapes = {(40, 19): "F", (20, 23): "D", (34, 12): "D", (5003,): "D", (2, 17 * 256): "F"}
    arrays = [numbers(rng, shape, dtype) for shape, dtype in shapes.items()]
    check(transforms(np.fft), arrays, transforms(scipy.fft))


@pytest.mark.slow
@pytest.mark.specifies("fft")
def test_long_real_lines_are_cut(rng):
    x, z = rng.standard_normal((1 << 16,)), numbers(rng, (3, 4097), np.complex128)

    def transforms(fft):
        return lambda x, z: [fft.rfft(x), fft.rfft(x[:4095]), fft.irfft(z), fft.irfft(z, 8191), fft.irfft(z.T, axis=0)]

    check(transforms(np.fft), [x, z], transforms(scipy.fft))


def test_nothing_runs_on_numpy():
    for shape in ((3, 17), (0, 17), (2, 1 << 17)):
        compiled = numhlo.jit(lambda x: np.fft.rfft(x)).lower(np.zeros(shape)).compile()
        assert "on NumPy" not in compiled.explain()
        assert compiled.cost_analysis()["python steps"] == 0


def test_convolutions_are_long_enough_and_not_much_longer():
    for n in range(17, 3000):
        size = convolution_length(n)
        assert 2 * n - 1 <= size <= 1.2 * (2 * n - 1) + 4
        assert size % 4 == 0 and is_smooth(size)


def test_spectrum_is_that_of_the_chirps():
    """The convolution with a unit impulse gives the chirps back, conjugate."""
    for n in (17, 101):
        wave = np.fft.ifft(spectrum(n, np.dtype(complex))) * convolution_length(n)
        angle = np.pi * (np.arange(n) ** 2 % (2 * n)) / n
        np.testing.assert_allclose(wave[:n], np.exp(1j * angle), atol=1e-14)
        np.testing.assert_allclose(wave[:-n:-1], np.exp(1j * angle[1:]), atol=1e-14)
        np.testing.assert_allclose(chirp(n, np.dtype(complex)), np.exp(-1j * angle), atol=1e-14)


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


def test_complex_lines_are_as_long_as_the_array(rng):
    x = numbers(rng, (2, 7), np.complex128)
    for kind, length, wanted in (("FFT", -1, np.fft.fft(x)), ("IFFT", 0, np.fft.ifft(x)), ("FFT", 6, np.fft.fft(x))):
        text = f"""func.func @main(%x: tensor<2x7xcomplex<f64>>) -> tensor<2x7xcomplex<f64>> {{
          %0 = stablehlo.fft %x, type = {kind}, length = [{length}] : (tensor<2x7xcomplex<f64>>) -> tensor<2x7xcomplex<f64>>
          return %0 : tensor<2x7xcomplex<f64>> }}"""
        module = stablehlo.parse(text)
        np.testing.assert_allclose(module.interpret("main", x)[0], wanted, 1e-12)
        np.testing.assert_allclose(module.run("main", x)[0], wanted, 1e-12)
