"""Prices of European options: exp, log, sqrt and a polynomial for each element, bound by arithmetic.

The normal distribution is Abramowitz and Stegun's formula 26.2.17, as in most published versions of this benchmark.
"""

import math

import numpy as np

from benchmarks.program import Program, versions

RATE, VOLATILITY = 0.02, 0.3
TERMS = (1.330274429, -1.821255978, 1.781477937, -0.356563782, 0.319381530)
SCALE = 0.2316419
ROOT = 1.0 / math.sqrt(2.0 * math.pi)


def inputs(size, rng):
    """Return prices, strikes and times to maturity."""
    return rng.uniform(10, 50, size), rng.uniform(10, 50, size), rng.uniform(0.2, 2.0, size)


def written_for(np):
    """Return the function for a namespace with NumPy's names."""

    def normal_cdf(x):
        k = 1.0 / (1.0 + SCALE * np.abs(x))
        series = 0.0
        for term in TERMS:
            series = (series + term) * k
        tail = ROOT * np.exp(-0.5 * x * x) * series
        return np.where(x > 0.0, 1.0 - tail, tail)

    def black_scholes(price, strike, time):
        spread = VOLATILITY * np.sqrt(time)
        d1 = (np.log(price / strike) + (RATE + 0.5 * VOLATILITY**2) * time) / spread
        d2 = d1 - spread
        discounted = strike * np.exp(-RATE * time)
        call = price * normal_cdf(d1) - discounted * normal_cdf(d2)
        return call, call - price + discounted

    return black_scholes


def numpy_version(numpy):
    """Return the plain function."""
    return written_for(numpy)


def numhlo_version(numhlo):
    """Return the plain function, jitted."""
    return numhlo.jit(written_for(np))


def jax_version(jax):
    """Return the function under `jax.numpy`."""
    return jax.jit(written_for(jax.numpy))


def numba_version(numba):
    """Return one loop over options."""

    @numba.njit
    def normal_cdf(x):
        k = 1.0 / (1.0 + SCALE * abs(x))
        series = 0.0
        for term in TERMS:
            series = (series + term) * k
        tail = ROOT * math.exp(-0.5 * x * x) * series
        return 1.0 - tail if x > 0.0 else tail

    @numba.njit(parallel=True)
    def black_scholes(price, strike, time):
        call, put = np.empty_like(price), np.empty_like(price)
        for i in numba.prange(price.size):
            spread = VOLATILITY * math.sqrt(time[i])
            d1 = (math.log(price[i] / strike[i]) + (RATE + 0.5 * VOLATILITY**2) * time[i]) / spread
            discounted = strike[i] * math.exp(-RATE * time[i])
            call[i] = price[i] * normal_cdf(d1) - discounted * normal_cdf(d1 - spread)
            put[i] = call[i] - price[i] + discounted
        return call, put

    return black_scholes


PROGRAMS = (
    Program(
        "black_scholes",
        {"tiny": 13, "small": 10_000, "large": 1_000_000, "other": 10_003},
        inputs,
        versions(numhlo_version, jax_version, numba_version, numpy_version),
    ),
)
