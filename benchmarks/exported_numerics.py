"""Numerical programs as people write them for JAX; see `exported_programs`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from benchmarks.exported_data import F32, Made, normal


def ranks(n: int) -> Made:
    """Ranks, medians and unique neighbours by sorting."""

    def run(x: Any) -> Any:
        order = jnp.argsort(x, axis=0)
        return jnp.argsort(order, axis=0), jnp.median(x, 0), jnp.sort(x, 1)[:, ::-1]

    return run, (normal(n, 6),)


def two_keys(n: int) -> Made:
    """Sorting by two keys, and a stable partition."""

    def run(a: Any, b: Any, x: Any) -> Any:
        order = jnp.lexsort((a, b))
        return order, lax.sort((b, a, x), num_keys=2), x[jnp.argsort(a > 2, stable=True)]

    rng = np.random.default_rng(0)
    return run, (rng.integers(0, 5, n).astype(np.int32), rng.integers(0, 3, n).astype(np.int8), normal(n))


def fft_convolution(n: int) -> Made:
    """A convolution by Fourier transforms."""

    def run(x: Any, k: Any) -> Any:
        size = x.shape[-1] + k.shape[-1] - 1
        return jnp.fft.irfft(jnp.fft.rfft(x, size) * jnp.fft.rfft(k, size), size)

    return run, (normal(4, n), normal(9, seed=1))


def spectrum(n: int) -> Made:
    """A windowed power spectrum, and a two-dimensional transform and back."""

    def run(x: Any) -> Any:
        window = jnp.hanning(x.shape[-1])
        power = jnp.abs(jnp.fft.fft(x * window)) ** 2
        image = jnp.fft.ifft2(jnp.fft.fft2(x) * jnp.exp(-0.1 * jnp.arange(x.shape[-1]))).real
        return jnp.log1p(power), image

    return run, (normal(8, n),)


def gaussian_process(n: int) -> Made:
    """Mean and variance of a Gaussian process by Cholesky's factorization."""

    def run(x: Any, y: Any, new: Any) -> Any:
        def kernel(a: Any, b: Any) -> Any:
            return jnp.exp(-0.5 * ((a[:, None] - b) ** 2))

        factor = jnp.linalg.cholesky(kernel(x, x) + 0.1 * jnp.eye(len(x)))
        cross = jax.scipy.linalg.solve_triangular(factor, kernel(x, new), lower=True)
        return cross.T @ jax.scipy.linalg.solve_triangular(factor, y, lower=True), 1 - (cross**2).sum(0)

    return run, (np.linspace(0, 5, n), np.sin(np.linspace(0, 5, n)), np.linspace(0, 5, 7))


def least_squares(n: int) -> Made:
    """Least squares by QR, and a linear system by LU."""

    def run(a: Any, b: Any) -> Any:
        q, r = jnp.linalg.qr(a)
        square = a.T @ a + jnp.eye(a.shape[1])
        return jax.scipy.linalg.solve_triangular(r, q.T @ b), jnp.linalg.solve(square, a.T @ b), jnp.linalg.det(square)

    return run, (normal(2 * n, 6, dtype=np.float64) / n**0.5, normal(2 * n, seed=1, dtype=np.float64))


def principal_components(n: int) -> Made:
    """Variances along principal axes, and the best approximation of low rank."""

    def run(x: Any) -> Any:
        centred = x - x.mean(0)
        values, vectors = jnp.linalg.eigh(centred.T @ centred / len(x))
        u, s, vt = jnp.linalg.svd(centred, full_matrices=False)
        return values, jnp.abs(vectors), (u[:, :2] * s[:2]) @ vt[:2]

    return run, (normal(n, 5, dtype=np.float64) * np.arange(1, 6),)


def option_prices(n: int) -> Made:
    """Prices of options by simulation, from a key."""

    def run(key: Any, strikes: Any) -> Any:
        moves = jax.random.normal(key, (n, 16), F32) * 0.05
        paths = 100 * jnp.exp(jnp.cumsum(moves, 1))
        return jnp.maximum(paths[:, -1:] - strikes, 0).mean(0), paths.max(1)

    return run, (np.array([0, 42], np.uint32), np.array([90, 100, 110], F32))


def random_choices(n: int) -> Made:
    """Uniform and categorical numbers, and a permutation."""

    def run(key: Any, logits: Any) -> Any:
        first, second, third = jax.random.split(key, 3)
        drawn = jax.random.categorical(first, logits, shape=(n,))
        return drawn, jax.random.permutation(second, n), jax.random.randint(third, (n,), 0, 100)

    return run, (np.array([7, 9], np.uint32), normal(6))


def hashing(n: int) -> Made:
    """Hashes of integers, and their bits."""

    def run(x: Any) -> Any:
        h = x ^ (x >> 16)
        h = h * np.uint32(0x85EBCA6B)
        h = h ^ (h >> 13)
        h = h * np.uint32(0xC2B2AE35)
        h = h ^ (h >> 16)
        rotated = (h << 7) | (h >> 25)
        return h, rotated, lax.population_count(h), lax.clz(h), h % np.uint32(97)

    return run, (np.arange(n * n, dtype=np.uint32),)


def checksums(n: int) -> Made:
    """A checksum of bytes in a loop, and of rows at once."""

    def run(x: Any) -> Any:
        def step(i: Any, crc: Any) -> Any:
            crc = crc ^ x[i].astype(jnp.uint32)
            return lax.fori_loop(0, 8, lambda _, c: (c >> 1) ^ (np.uint32(0xEDB88320) * (c & 1)), crc)

        return lax.fori_loop(0, x.shape[0], step, jnp.uint32(0xFFFFFFFF)), jnp.bitwise_xor.reduce(x)

    return run, (np.random.default_rng(0).integers(0, 256, n * 4, np.uint8),)


def edges(n: int) -> Made:
    """Sobel's filter, a threshold, and the picture turned round."""

    def run(x: Any) -> Any:
        p = jnp.pad(x, 1, mode="edge")
        dx = p[1:-1, 2:] - p[1:-1, :-2] + 0.5 * (p[2:, 2:] - p[2:, :-2] + p[:-2, 2:] - p[:-2, :-2])
        dy = p[2:, 1:-1] - p[:-2, 1:-1]
        size = jnp.hypot(dx, dy)
        return (size > size.mean()).astype(jnp.uint8) * 255, jnp.rot90(x), jnp.flip(x, 1)

    return run, (normal(n, n),)


def resizing(n: int) -> Made:
    """A picture in another size, and gamma-corrected bytes."""

    def run(x: Any) -> Any:
        larger = jax.image.resize(x, (2 * n, n + 3, 3), "bilinear")
        return larger, (jnp.clip(x, 0, 1) ** (1 / 2.2) * 255).astype(jnp.uint8)

    return run, (np.abs(normal(n, n, 3)),)


def edit_distance(n: int) -> Made:
    """The edit distance of two words, row by row."""

    def run(a: Any, b: Any) -> Any:
        def row(last: Any, letter: Any) -> Any:
            changed = jnp.minimum(last[:-1] + (b != letter), last[1:] + 1)

            def cell(left: Any, above: Any) -> Any:
                value = jnp.minimum(left + 1, above)
                return value, value

            first = last[0] + 1
            _, rest = lax.scan(cell, first, changed)
            return jnp.concatenate([first[None], rest]), None

        return lax.scan(row, jnp.arange(b.shape[0] + 1, dtype=np.int32), a)[0][-1]

    rng = np.random.default_rng(0)
    return run, (rng.integers(0, 4, n).astype(np.int8), rng.integers(0, 4, n + 3).astype(np.int8))


def viterbi(n: int) -> Made:
    """The likeliest states of a hidden Markov model."""

    def run(start: Any, move: Any, seen: Any) -> Any:
        def forward(score: Any, row: Any) -> Any:
            total = score[:, None] + move
            return total.max(0) + row, total.argmax(0)

        last, back = lax.scan(forward, start + seen[0], seen[1:])
        _, path = lax.scan(lambda s, row: (row[s], row[s]), last.argmax(), back, reverse=True)
        return last.max(), path

    return run, (normal(6), normal(6, 6, seed=1), normal(n, 6, seed=2))


def knapsack(n: int) -> Made:
    """The best value that fits, item by item."""

    def run(weights: Any, values: Any) -> Any:
        def item(i: Any, best: Any) -> Any:
            places = jnp.arange(best.shape[0]) - weights[i]
            taken = jnp.where(places >= 0, best[jnp.maximum(places, 0)] + values[i], -1)
            return jnp.maximum(best, taken)

        return lax.fori_loop(0, weights.shape[0], item, jnp.zeros(8 * n, np.int64))

    rng = np.random.default_rng(0)
    return run, (rng.integers(1, 20, n), rng.integers(1, 50, n))


def game_of_life(n: int) -> Made:
    """Ten generations."""

    def run(board: Any) -> Any:
        def step(_: Any, b: Any) -> Any:
            around = sum(jnp.roll(b, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))
            return ((around == 3) | ((b == 1) & (around == 2))).astype(jnp.int8)

        return lax.fori_loop(0, 10, step, board)

    return run, ((normal(n, n) > 0).astype(np.int8),)


def bodies(n: int) -> Made:
    """Bodies that attract each other, twenty steps."""

    def run(x: Any, v: Any) -> Any:
        def push(x: Any) -> Any:
            d = x[None] - x[:, None]
            return (d / ((d**2).sum(-1, keepdims=True) + 0.1) ** 1.5).sum(1)

        def step(_: Any, state: Any) -> Any:
            x, v = state
            v = v + 0.01 * push(x)
            return x + 0.01 * v, v

        return lax.fori_loop(0, 20, step, (x, v))

    return run, (normal(n, 3, dtype=np.float64), normal(n, 3, seed=1, dtype=np.float64))


def mandelbrot(n: int) -> Made:
    """How soon points leave."""

    def run(c: Any) -> Any:
        def step(state: Any) -> Any:
            k, z, count = state
            z = jnp.where(jnp.abs(z) <= 2, z * z + c, z)
            return k + 1, z, count + (jnp.abs(z) <= 2)

        return lax.while_loop(lambda s: s[0] < 30, step, (0, jnp.zeros_like(c), jnp.zeros(c.shape, np.int32)))[2]

    x, y = np.linspace(-2, 0.6, n), np.linspace(-1.2, 1.2, n)
    return run, ((x + 1j * y[:, None]).astype(np.complex64),)


def clusters(n: int) -> Made:
    """Five rounds of k-means, by segment sums."""

    def run(x: Any, centres: Any) -> Any:
        def step(_: Any, c: Any) -> Any:
            nearest = ((x[:, None] - c) ** 2).sum(-1).argmin(1)
            count = jax.ops.segment_sum(jnp.ones(len(x), F32), nearest, c.shape[0])
            total = jax.ops.segment_sum(x, nearest, c.shape[0])
            return jnp.where(count[:, None] > 0, total / jnp.maximum(count[:, None], 1), c)

        return lax.fori_loop(0, 5, step, centres)

    return run, (normal(n, 4), normal(5, 4, seed=1))


def kalman_filter(n: int) -> Made:
    """A filter of positions and velocities."""

    def run(seen: Any) -> Any:
        move = jnp.array([[1.0, 0.1], [0.0, 1.0]])

        def step(state: Any, z: Any) -> Any:
            x, p = state
            x, p = move @ x, move @ p @ move.T + 0.01 * jnp.eye(2)
            gain = p[:, 0] / (p[0, 0] + 0.5)
            x, p = x + gain * (z - x[0]), p - jnp.outer(gain, p[0])
            return (x, p), x

        return lax.scan(step, (jnp.zeros(2), jnp.eye(2)), seen)[1]

    return run, (normal(n, dtype=np.float64).cumsum(),)


def running_values(n: int) -> Made:
    """Running sums, products, extremes, and a linear recurrence by an associative scan."""

    def run(a: Any, b: Any) -> Any:
        def combine(left: Any, right: Any) -> Any:
            return left[0] * right[0], left[1] * right[0] + right[1]

        recurrence = lax.associative_scan(combine, (a, b))[1]
        return jnp.cumsum(b, 0), lax.cummax(b, 1), jnp.cumprod(a, 0), lax.cumlogsumexp(b), recurrence

    return run, (np.abs(normal(n, 4)) / 2, normal(n, 4, seed=1))


def conjugate_gradients(n: int) -> Made:
    """A linear system until its residual is small."""

    def run(a: Any, b: Any) -> Any:
        def step(state: Any) -> Any:
            x, r, p, k = state
            ap = a @ p
            alpha = (r @ r) / (p @ ap)
            after = r - alpha * ap
            return x + alpha * p, after, after + (after @ after) / (r @ r) * p, k + 1

        start = (jnp.zeros_like(b), b, b, 0)
        return lax.while_loop(lambda s: (s[1] @ s[1] > 1e-16) & (s[3] < 200), step, start)[0]

    root = normal(n, n, dtype=np.float64) / n**0.5
    return run, (root @ root.T + np.eye(n), normal(n, seed=1, dtype=np.float64))


def histograms(n: int) -> Made:
    """Counts, places of values among bins, and interpolated values."""

    def run(x: Any, bins: Any) -> Any:
        places = jnp.searchsorted(bins, x)
        return jnp.bincount(places, length=8), jnp.histogram(x, bins)[0], jnp.interp(x, bins, bins**2)

    return run, (normal(n * 4), np.linspace(-2, 2, 6, dtype=F32))


def complex_numbers(n: int) -> Made:
    """Products, roots and logarithms of complex numbers."""

    def run(z: Any) -> Any:
        return jnp.sqrt(z) * jnp.exp(1j * jnp.angle(z)), jnp.log(z).imag, (z @ z.T.conj()).real, z.real**2 + z.imag**2

    return run, (normal(n, 6, dtype=np.float64) + 1j * normal(n, 6, seed=1, dtype=np.float64),)


def heat(n: int) -> Made:
    """Heat that spreads on a plane: a stencil in a loop."""

    def run(u: Any) -> Any:
        def step(_: Any, u: Any) -> Any:
            inner = u[1:-1, 1:-1]
            flow = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * inner
            return u.at[1:-1, 1:-1].set(inner + 0.1 * flow)

        return lax.fori_loop(0, 30, step, u)

    return run, (normal(n, n),)


def normal_modes(n: int) -> Made:
    """Special functions of probability."""

    def run(x: Any) -> Any:
        density = jax.scipy.stats.norm.logpdf(x) + jax.scipy.special.gammaln(jnp.abs(x) + 1)
        return density, jax.scipy.special.erf(x), jax.scipy.special.logsumexp(x, 1), jax.nn.softplus(x)

    return run, (normal(n, n),)
