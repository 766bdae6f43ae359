"""Textbook programs in plain NumPy, and arguments for them in two sizes.

Nothing here knows numhlo, but for the loop of the Mandelbrot set: the programs are as one would write them anyway.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo import lax

Program = Callable[..., Any]
MakeArguments = Callable[[np.random.Generator, int], tuple[Any, ...]]

PROGRAMS: dict[str, tuple[Program, MakeArguments]] = {}
"""Programs by name, each with a function ``make(rng, n)`` of its arguments for a size."""

SIZES = (6, 9)


def program(make: MakeArguments) -> Callable[[Program], Program]:
    """Return a decorator that adds a program."""

    def add(fun: Program) -> Program:
        PROGRAMS[fun.__name__] = fun, make
        return fun

    return add


# ------------------------------------------------------------------------------------------------ learning, statistics


@program(lambda rng, n: (rng.normal(size=(n, 5)).astype(np.float32),))
def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@program(lambda rng, n: (rng.normal(size=(4, n)), rng.normal(size=n), rng.normal(size=n)))
def layer_norm(x, gain, bias):
    mean = np.mean(x, axis=-1, keepdims=True)
    variance = np.var(x, axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + 1e-5) * gain + bias


@program(lambda rng, n: (rng.normal(size=(3 * n, 2)), rng.normal(size=(4, 2))))
def k_means_step(points, centers):
    distances = ((points[:, None] - centers) ** 2).sum(axis=-1)
    labels = distances.argmin(axis=1)
    members = labels[:, None] == np.arange(len(centers))
    counts = members.sum(axis=0)
    sums = members.T.astype(points.dtype) @ points
    return np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centers), labels


@program(lambda rng, n: (rng.normal(size=(2 * n, 3)), rng.integers(0, 2, 2 * n), np.zeros(3)))
def logistic_regression_step(x, y, weights):
    predicted = 1 / (1 + np.exp(-x @ weights))
    weights -= 0.5 * x.T @ (predicted - y) / len(y)
    return -np.mean(np.where(y == 1, np.log(predicted), np.log(1 - predicted)))


@program(lambda rng, n: (rng.normal(size=(3 * n, 4)),))
def correlation_matrix(x):
    centered = x - x.mean(axis=0)
    covariance = centered.T @ centered / (len(x) - 1)
    deviations = np.sqrt(np.diagonal(covariance))
    return covariance / np.outer(deviations, deviations)


@program(lambda rng, n: (rng.normal(size=(3 * n, 4)), rng.normal(size=3 * n), 0.1))
def ridge_by_cholesky(x, y, penalty):
    a = x.T @ x + penalty * np.eye(x.shape[1])
    b = x.T @ y
    size = len(b)
    lower = np.zeros_like(a)
    for j in range(size):
        lower[j, j] = np.sqrt(a[j, j] - np.sum(lower[j, :j] ** 2))
        for i in range(j + 1, size):
            lower[i, j] = (a[i, j] - np.sum(lower[i, :j] * lower[j, :j])) / lower[j, j]
    for i in range(size):
        b[i] = (b[i] - lower[i, :i] @ b[:i]) / lower[i, i]
    for i in reversed(range(size)):
        b[i] = (b[i] - lower[i + 1 :, i] @ b[i + 1 :]) / lower[i, i]
    return b


@program(lambda rng, n: (rng.normal(size=(2, n, 4)), rng.normal(size=(2, n, 4)), rng.normal(size=(2, n, 4))))
def attention(query, key, value):
    scores = np.einsum("bqd,bkd->bqk", query, key) / np.sqrt(query.shape[-1])
    mask = np.tri(scores.shape[-1], dtype=bool)
    weights = np.exp(np.where(mask, scores, -np.inf))
    weights /= weights.sum(axis=-1, keepdims=True)
    return np.einsum("bqk,bkd->bqd", weights, value)


@program(lambda rng, n: (rng.integers(0, 5, 7 * n), np.zeros(5, np.int64)))
def histogram(values, counts):
    counts += (values[:, None] == np.arange(5)).sum(axis=0)
    return counts.argmax()


# ---------------------------------------------------------------------------------------------------- linear algebra


@program(lambda rng, n: (rng.normal(size=(n, 4)),))
def gram_schmidt(a):
    for k in range(a.shape[1]):
        for j in range(k):
            a[:, k] -= (a[:, j] @ a[:, k]) * a[:, j]
        a[:, k] /= np.sqrt(np.sum(a[:, k] ** 2))


@program(lambda rng, n: (rng.normal(size=(n, n)) + n * np.eye(n),))
def lu(a):
    for k in range(len(a) - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return np.prod(np.diagonal(a))


@program(lambda rng, n: (rng.normal(size=(n, n)), np.ones(n)))
def power_iteration(a, x):
    symmetric = a + a.T
    for _ in range(20):
        x = symmetric @ x
        x = x / np.sqrt(x @ x)
    return x @ symmetric @ x, x


@program(lambda rng, n: (rng.normal(size=(n, n)) / n,))
def matrix_exponential(a):
    total = term = np.eye(len(a))
    for k in range(1, 18):
        term = term @ a / k
        total = total + term
    return total


@program(lambda rng, n: (rng.normal(size=4 * n), rng.integers(0, n, 4 * n), 4 * np.arange(n + 1), rng.normal(size=n)))
def sparse_product(values, columns, starts, x):
    running = np.cumsum(np.append(0.0, values * np.take(x, columns)))
    return running[starts[1:]] - running[starts[:-1]]


@program(lambda rng, n: ((rng.random((n, n)) < 0.4).astype(np.float64),))
def page_rank(links):
    degrees = links.sum(axis=0)
    chances = np.where(degrees > 0, links / np.maximum(degrees, 1), 1 / len(links))
    rank = np.full(len(links), 1 / len(links))
    for _ in range(15):
        rank = 0.15 / len(links) + 0.85 * chances @ rank
    return rank, np.argsort(-rank, kind="stable")


# ---------------------------------------------------------------------------------------------------- graphs and games


@program(lambda rng, n: (rng.integers(1, 50, (n, n)),))
def floyd_warshall(distances):
    for k in range(len(distances)):
        np.minimum(distances, distances[:, k, None] + distances[k], out=distances)


@program(lambda rng, n: (rng.integers(0, 2, (n, n + 2), np.uint8),))
def game_of_life(board):
    for _ in range(3):
        around = sum(np.roll(board, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))
        board = ((around == 3) | ((board == 1) & (around == 2))).astype(board.dtype)
    return board


@program(lambda rng, n: (rng.integers(0, 3, n - 2), rng.integers(0, 3, n - 3), np.zeros((n - 1, n - 2), np.int32)))
def edit_distance(first, second, table):
    table[:, 0] = np.arange(len(first) + 1)
    table[0] = np.arange(len(second) + 1)
    for i in range(len(first)):
        for j in range(len(second)):
            change = table[i, j] + (first[i] != second[j])
            table[i + 1, j + 1] = np.minimum(np.minimum(table[i, j + 1], table[i + 1, j]) + 1, change)
    return table[-1, -1]


@program(lambda rng, n: (np.zeros(2 * n), rng.random(3)))
def knapsack(best, values):
    for weight, value in zip((2, 3, 5), values, strict=True):
        best[weight:] = np.maximum(best[weight:], best[:-weight] + value)
    return best.max()


# --------------------------------------------------------------------------------------------- physics, fields, signals


@program(lambda rng, n: (rng.normal(size=(n, n + 1)).astype(np.float32),))
def heat(u):
    for _ in range(4):
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        u[1:-1, 1:-1] += 0.2 * (around - 4 * u[1:-1, 1:-1])


@program(lambda rng, n: (rng.normal(size=(n, 3)), rng.normal(size=(n, 3)), rng.random(n) + 1))
def n_body_step(positions, velocities, masses):
    offsets = positions - positions[:, None]
    cubes = (np.sum(offsets**2, axis=-1) + 0.01) ** 1.5
    velocities += 0.01 * np.sum(masses[:, None] * offsets / cubes[..., None], axis=1)
    positions += 0.01 * velocities
    return 0.5 * np.sum(masses * np.sum(velocities**2, axis=1))


@program(lambda rng, n: (np.array([1.0, 1.0, 1.0]), 2 * n))
def lorenz_by_runge_kutta(state, steps):
    def slope(s):
        x, y, z = s
        return np.stack([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])

    def step(_, s):
        h = 0.01
        a = slope(s)
        b = slope(s + h / 2 * a)
        c = slope(s + h / 2 * b)
        return s + h / 6 * (a + 2 * b + 2 * c + slope(s + h * c))

    return lax.fori_loop(0, steps, step, state)


@program(lambda rng, n: (np.linspace(-2, 1, 2 * n)[None] + 1j * np.linspace(-1, 1, n)[:, None],))
def mandelbrot(c):
    def step(_, state):
        z, count = state
        inside = np.abs(z) <= 2
        return np.where(inside, z * z + c, z), count + inside

    return lax.fori_loop(0, 12, step, (np.zeros_like(c), np.zeros(c.shape, np.int64)))[1]


@program(lambda rng, n: (rng.normal(size=8 if n < 8 else 16) + 0j,))
def fast_fourier_transform(x):
    if len(x) == 1:
        return x
    even, odd = fast_fourier_transform(x[::2]), fast_fourier_transform(x[1::2])
    turned = np.exp(-2j * np.pi * np.arange(len(odd)) / len(x)) * odd
    return np.concatenate([even + turned, even - turned])


@program(lambda rng, n: (rng.normal(size=(n + 3, n + 2)), rng.normal(size=(3, 2))))
def convolution_by_loops(image, kernel):
    height, width = image.shape[0] - kernel.shape[0] + 1, image.shape[1] - kernel.shape[1] + 1
    result = np.zeros_like(image[:height, :width])
    for i in range(kernel.shape[0]):
        for j in range(kernel.shape[1]):
            result += kernel[i, j] * image[i : i + height, j : j + width]
    return result


@program(lambda rng, n: (rng.normal(size=4 * n), 3))
def moving_average(x, width):
    total = np.cumsum(np.concatenate([np.zeros(1), x]))
    return (total[3:] - total[:-3]) / width


@program(lambda rng, n: (rng.random(5 * n).cumsum(),))
def deepest_fall(prices):
    highest = np.maximum.accumulate(prices)
    fall = 1 - prices / highest
    return fall.max(), fall.argmax()


# --------------------------------------------------------------------------------------------------- numbers and sorts


@program(lambda rng, n: (rng.random(n) + 1, rng.random(n) + 1, rng.random(n) + 0.1, 0.02))
def black_scholes(spot, strike, years, rate):
    def normal_distribution(x):
        return 0.5 * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x**3)))

    width = 0.3 * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + 0.045) * years) / width
    discounted = strike * np.exp(-rate * years)
    return spot * normal_distribution(d1) - discounted * normal_distribution(d1 - width)


@program(lambda rng, n: (rng.normal(size=n).astype(np.float32), rng.normal(size=4).astype(np.float32)))
def horner(x, coefficients):
    y = np.zeros_like(x)
    for c in coefficients:
        y *= x
        y += c
    return y


@program(lambda rng, n: (rng.normal(size=(n, 3)), rng.normal(size=(n + 1, 3))))
def pairwise_distances(x, y):
    squares = (x**2).sum(1)[:, None] + (y**2).sum(1) - 2 * x @ y.T
    return np.sqrt(np.maximum(squares, 0))


@program(lambda rng, n: (rng.normal(size=2 * n),))
def simplex_projection(x):
    ordered = np.sort(x)[::-1]
    totals = np.cumsum(ordered) - 1
    count = np.count_nonzero(ordered * np.arange(1, len(x) + 1) > totals)
    return np.maximum(x - totals[count - 1] / count, 0)


@program(lambda rng, n: (rng.integers(1, 2**32, n, np.uint32),))
def xorshift(state):
    for _ in range(3):
        state ^= state << 13
        state ^= state >> 17
        state ^= state << 5
    return (state >> 9).astype(np.float32) / np.float32(2**23)


@program(lambda rng, n: (rng.normal(size=(n, 4)).astype(np.float32),))
def quantization(x):
    scale = np.abs(x).max(axis=0) / 127
    codes = np.clip(np.rint(x / scale), -127, 127).astype(np.int8)
    return codes, codes * scale


@program(lambda rng, n: (np.sort(rng.random(4 * n)), rng.normal(size=4 * n)))
def trapezoid(x, y):
    return np.sum((y[1:] + y[:-1]) / 2 * np.diff(x))


@program(lambda rng, n: (rng.integers(0, 9, 4 * n), 3))
def most_frequent(values, k):
    counts = (values == np.arange(9)[:, None]).sum(axis=1)
    order = np.argsort(-counts, kind="stable")
    return order[:3], counts[order][:3], (values % k == 0).mean()
