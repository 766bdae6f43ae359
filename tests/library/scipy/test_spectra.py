"""Spectra of windows: SciPy as the oracle, at once and traced."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.signal

import numhlo
from numhlo.lowering.ir.errors import ArgumentError, ShapeError
from numhlo.scipy import signal
from tests.library.scipy.oracle import check_module

RNG = np.random.default_rng(4)
X, Y = RNG.normal(size=(2, 21)), RNG.normal(size=(2, 18))
COMPLEX = X + 1j * X[:, ::-1]
SINGLE = X.astype("f4")
HAND = np.array([0.5, 1.0, 2.0, 1.0, 0.25])


def check(f, *operands, **room):
    check_module(scipy.signal, signal, f, *operands, **room)


@pytest.mark.parametrize(
    "options",
    [
        {"nperseg": 8},
        {"nperseg": 7, "noverlap": 5, "nfft": 12, "detrend": "linear", "scaling": "spectrum", "fs": 3.0},
        {"nperseg": 6, "average": "median", "detrend": False, "window": "boxcar"},
        {"nperseg": 6, "return_onesided": False, "window": ("kaiser", 3.0)},
        {"window": HAND, "detrend": lambda x: x - x[..., :1]},
    ],
    ids=range(5),
)
@pytest.mark.oracle("scipy>=1.16")
def test_power(options):
    check(lambda s, x: s.welch(x, **options), X)
    check(lambda s, x, y: s.csd(x, y, **options), X, Y)
    check(lambda s, x, y: s.csd(x, y, axis=0, **options), X.T, Y.T)
    if "average" not in options and "return_onesided" not in options and "scaling" not in options:
        check(lambda s, x, y: s.coherence(x, y, **options), X, X**2)


def test_kinds_of_numbers():
    check(lambda s, x: s.welch(x, nperseg=8), np.arange(20) % 7)
    check(lambda s, x: s.welch(x, nperseg=8), SINGLE, rtol=1e-4, atol=1e-6)
    check(lambda s, x, y: s.csd(x, y, nperseg=8, return_onesided=False), COMPLEX, X)
    check(lambda s, x: s.stft(x, nperseg=8, return_onesided=False), COMPLEX)
    check(lambda s, x: s.stft(x, nperseg=8), SINGLE, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("options", [{}, {"nfft": 9}, {"nfft": 30, "scaling": "spectrum"}, {"window": "hann"}])
def test_periodograms(options):
    check(lambda s, x: s.periodogram(x, **options), X)
    check(lambda s, x: s.periodogram(x, axis=0, detrend=False, **options), X.T)


@pytest.mark.parametrize("mode", ["psd", "complex", "magnitude", "angle", "phase"])
def test_spectrograms(mode):
    check(lambda s, x: s.spectrogram(x, nperseg=6, mode=mode, fs=2.0), X)
    check(lambda s, x: s.spectrogram(x, nperseg=5, noverlap=3, mode=mode, axis=0, scaling="spectrum"), X.T)


@pytest.mark.parametrize("boundary", ["zeros", "even", "odd", "constant", None])
def test_short_times(boundary):
    for options in ({}, {"padded": False, "noverlap": 5, "scaling": "psd", "detrend": "constant", "nfft": 9}):
        check(lambda s, x, options=options: s.stft(x, nperseg=6, boundary=boundary, fs=2.0, **options), X)


@pytest.mark.parametrize(
    "options",
    [
        {"nperseg": 8},
        {"nperseg": 7, "noverlap": 5},
        {"nperseg": 6, "nfft": 10, "scaling": "psd", "fs": 2.0},
        {"nperseg": 8, "noverlap": 6, "window": "hamming"},
    ],
    ids=range(4),
)
def test_and_back(options):
    windows = scipy.signal.stft(X, **options)[2]
    check(lambda s, z: s.istft(z, **options), windows)
    check(lambda s, z: s.istft(z, time_axis=0, freq_axis=2, **options), np.moveaxis(windows, [2, 1], [0, 2]))
    np.testing.assert_allclose(numhlo.jit(lambda z: signal.istft(z, **options))(windows)[1][:, :21], X)


def test_two_sided_and_without_ends():
    z = scipy.signal.stft(COMPLEX, nperseg=8, return_onesided=False)[2]
    check(lambda s, z: s.istft(z, nperseg=8, input_onesided=False), z)
    check(lambda s, z: s.istft(z, nperseg=8, input_onesided=False, boundary=False, window="hamming"), z)


def test_rates_below_zero_are_scipys():
    x = X[0, :32]
    check(lambda s, x: s.stft(x, -2.0, nperseg=8), x)
    check(lambda s, x: s.spectrogram(x, -2.0, nperseg=8), x)


def test_gradients():
    def loss(s, x):
        windows = s.stft(x, nperseg=8)[2]
        return (s.welch(x, nperseg=8)[1] ** 2).sum() + (s.istft(windows * abs(windows), nperseg=8)[1] ** 2).sum()

    step = 1e-6 * Y[0]
    x = X[0, : step.size]
    wanted = (loss(scipy.signal, x + step) - loss(scipy.signal, x - step)) / 2e-6
    np.testing.assert_allclose(numhlo.grad(lambda x: loss(signal, x))(x) @ Y[0], wanted, rtol=1e-6)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: signal.welch(x, nperseg=8, noverlap=8), ValueError, "noverlap must be less"),
        (lambda x: signal.welch(x, nperseg=8, nfft=4), ValueError, "nfft must be greater"),
        (lambda x: signal.welch(x, nperseg=0), ValueError, "positive"),
        (lambda x: signal.welch(x, window=np.ones(30)), ValueError, "longer than input"),
        (lambda x: signal.welch(x, window=np.ones(5), nperseg=4), ValueError, "different from length"),
        (lambda x: signal.welch(x, window=np.ones((5, 1))), ShapeError, "give a line"),
        (lambda x: signal.welch(x, scaling="foo"), ArgumentError, "use one of density, spectrum"),
        (lambda x: signal.stft(x, boundary="foo"), ArgumentError, "use one of odd, even, constant, zeros"),
        (lambda x: signal.istft(x[0]), ShapeError, "frequencies and times"),
        (lambda x: signal.istft(x, time_axis=0, freq_axis=-2), ArgumentError, "give two"),
    ],
)
def test_what_is_refused(call, error, text):
    with pytest.raises(error, match=text):
        numhlo.jit(call)(X)
