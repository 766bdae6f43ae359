"""Numerical methods: linear algebra by hand, filters, dynamic programming, statistics, finance."""

import math
from functools import reduce

import numpy as np

from tests.end_to_end.plain_programs.collection import always, integers, normal, program, uniform


@program(normal(5, 5), kind="triangular loops over elements")
def cholesky(x):
    a = x @ x.T + 5 * np.eye(5)
    n = len(a)
    low = np.zeros_like(a)
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j]
            for k in range(j):
                s -= low[i, k] * low[j, k]
            if i == j:
                low[i, j] = math.sqrt(s)
            else:
                low[i, j] = s / low[j, j]
    return low


@program(normal(4, 4), normal(4), kind="row operations with pivots from argmax")
def gauss_with_pivots(a, b):
    a, b = a.copy(), b.copy()
    n = len(b)
    for k in range(n):
        p = k + np.argmax(np.abs(a[k:, k]))
        if p != k:
            a[[k, p]] = a[[p, k]]
            b[[k, p]] = b[[p, k]]
        for i in range(k + 1, n):
            f = a[i, k] / a[k, k]
            a[i, k:] -= f * a[k, k:]
            b[i] -= f * b[k]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
    return x


@program(normal(6, 6), normal(6), kind="while with a norm")
def conjugate_gradients(m, b):
    a = m @ m.T + np.eye(6)
    x = np.zeros_like(b)
    r = b - a @ x
    p = r.copy()
    k = 0
    while np.linalg.norm(r) > 1e-10 and k < 50:
        ap = a @ p
        alpha = (r @ r) / (p @ ap)
        x += alpha * p
        new = r - alpha * ap
        p = new + (new @ new) / (r @ r) * p
        r = new
        k += 1
    return x


@program(normal(20), normal(20), kind="state as a dict")
def kalman(measured, noise):
    state = {"x": 0.0, "p": 1.0}
    out = np.zeros(len(measured))
    for k, z in enumerate(measured):
        p = state["p"] + 0.01
        gain = p / (p + 0.5 + abs(noise[k]))
        state["x"] = state["x"] + gain * (z - state["x"])
        state["p"] = (1 - gain) * p
        out[k] = state["x"]
    return out, state


@program(integers(7, high=4), integers(9, high=4), kind="dynamic programming on a table")
def edit_distance(a, b):
    d = np.zeros((len(a) + 1, len(b) + 1), dtype=np.int64)
    d[:, 0] = np.arange(len(a) + 1)
    d[0, :] = np.arange(len(b) + 1)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
    return d[-1, -1]


@program(integers(6, low=1, high=8), integers(6, low=1, high=20), kind="dynamic programming, loop backwards")
def knapsack(weights, values):
    best = np.zeros(16, dtype=np.int64)
    for w, v in zip(weights, values):
        for c in range(15, 0, -1):
            if c >= w and best[c - w] + v > best[c]:
                best[c] = best[c - w] + v
    return best[-1]


@program(
    uniform(low=80, high=120), uniform(low=0.1, high=0.4), always(30), kind="lattice, maximum of scalars", static=()
)
def american_put(spot, sigma, strike):
    steps, r, t = 30, 0.03, 1.0
    dt = t / steps
    u = math.exp(sigma * math.sqrt(dt))
    d = 1 / u
    p = (math.exp(r * dt) - d) / (u - d)
    prices = np.array([spot * u ** (steps - 2 * i) for i in range(steps + 1)])
    values = np.maximum(100.0 + strike - prices, 0.0)
    for n in range(steps - 1, -1, -1):
        for i in range(n + 1):
            hold = math.exp(-r * dt) * (p * values[i] + (1 - p) * values[i + 1])
            values[i] = max(hold, 100.0 + strike - spot * u ** (n - 2 * i))
    return values[0]


@program(normal(40), always(5), kind="sliding window with deques of indices by hand", static=("width",))
def moving_median(x, width):
    out = np.empty(len(x) - width + 1)
    for i in range(len(out)):
        out[i] = np.median(x[i : i + width])
    return out


@program(normal(12), kind="insertion sort")
def insertion_sort(x):
    for i in range(1, len(x)):
        key = x[i]
        j = i - 1
        while j >= 0 and x[j] > key:
            x[j + 1] = x[j]
            j -= 1
        x[j + 1] = key
    return x


@program(normal(10), kind="swaps of elements")
def bubble_sort(x):
    n = len(x)
    for i in range(n):
        swapped = False
        for j in range(n - 1 - i):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = x[j + 1], x[j]
                swapped = True
        if not swapped:
            break
    return x


@program(uniform(16, high=50.0), uniform(), kind="binary search")
def bisect(x, t):
    x = np.sort(x)
    lo, hi = 0, len(x)
    while lo < hi:
        mid = (lo + hi) // 2
        if x[mid] < t * 50:
            lo = mid + 1
        else:
            hi = mid
    return lo


@program(normal(8, 2), kind="np.vectorize of a scalar function with if")
def piecewise_by_vectorize(x):
    @np.vectorize
    def f(v):
        if v < -0.5:
            return -1.0
        elif v < 0.5:
            return v * 2.0
        return math.exp(-v)

    return f(x)


@program(normal(4, 5), kind="np.ndindex and np.ndenumerate")
def checkerboard(x):
    out = np.zeros_like(x)
    for i, j in np.ndindex(x.shape):
        out[i, j] = x[i, j] if (i + j) % 2 == 0 else -x[i, j]
    total = 0.0
    for (i, j), v in np.ndenumerate(x):
        total += v * (i - j)
    return out, total


@program(uniform(3, 6), kind="reduce with a lambda, map, filter on known values")
def chained(x):
    rows = list(map(lambda r: r / r.sum(), x))
    kept = [row for k, row in enumerate(rows) if k % 2 == 0]
    return reduce(lambda a, b: a * b, kept)


@program(normal(30), normal(30), kind="fits by normal equations")
def line_fit(x, y):
    y = 1.0 + y  # two equal arrays have an offset, too
    a = np.stack([x, np.ones_like(x)], axis=1)
    slope, offset = np.linalg.lstsq(a, y, rcond=None)[0]
    residuals = y - (slope * x + offset)
    outliers = np.abs(residuals) > 1.5
    y = np.where(outliers, slope * x + offset, y)
    return slope, offset, y


@program(normal(25), kind="cumulative loops with maximum so far")
def largest_drawdown(returns):
    wealth = np.cumprod(1 + 0.1 * np.tanh(returns))
    peak, worst = wealth[0], 0.0
    for w in wealth:
        if w > peak:
            peak = w
        drop = (peak - w) / peak
        if drop > worst:
            worst = drop
    return worst


@program(normal(6, 8), kind="two-dimensional convolution by loops over the kernel")
def sharpen(image):
    kernel = np.array([[0, -1, 0], [-1, 5, -1], [0, -1, 0]])
    padded = np.pad(image, 1, mode="edge")
    out = np.zeros_like(image)
    for di in range(3):
        for dj in range(3):
            out += kernel[di, dj] * padded[di : di + image.shape[0], dj : dj + image.shape[1]]
    return np.clip(out, -2, 2)


@program(uniform(32, high=256), kind="histogram equalization")
def equalize(image):
    levels = image.astype(np.int64)
    counts = np.zeros(256, dtype=np.int64)
    for level in levels:
        counts[level] += 1
    cdf = np.cumsum(counts)
    return (cdf[levels] - cdf.min()) / (levels.size - cdf.min()) * 255


@program(normal(12, 3), always(3), kind="k-means with a convergence test", static=("k",))
def k_means(points, k):
    centers = points[:k].copy()
    labels = np.zeros(len(points), dtype=np.int64)
    for _ in range(20):
        distances = ((points[:, None, :] - centers[None, :, :]) ** 2).sum(-1)
        new = distances.argmin(1)
        if np.array_equal(new, labels):
            break
        labels = new
        for c in range(k):
            members = labels == c
            if members.any():
                centers[c] = points[members].mean(axis=0)
    return centers, labels


@program(uniform(5, 5), kind="power iteration")
def page_rank(links):
    p = (links > 0.5).astype(float) + np.eye(5)
    p = p / p.sum(axis=0)
    rank = np.ones(5) / 5
    for _ in range(100):
        new = 0.15 / 5 + 0.85 * p @ rank
        if np.abs(new - rank).max() < 1e-10:
            break
        rank = new
    return rank


@program(uniform(4, 4, high=9.0), kind="Floyd-Warshall")
def all_shortest_paths(d):
    n = d.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if d[i, k] + d[k, j] < d[i, j]:
                    d[i, j] = d[i, k] + d[k, j]
    return d
