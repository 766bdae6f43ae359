"""More textbook programs in plain NumPy, as books and courses print them: loops over elements, methods, `math`, `min`.

They know nothing of numhlo. What only Python can do, a branch on a computed value, is written with `np.where`.
"""

from __future__ import annotations

import math

import numpy as np

from tests.end_to_end.numpy_programs import program

# ---------------------------------------------------------------------------------------------------- linear algebra


@program(lambda rng, n: (rng.normal(size=(n, 4)),))
def householder_qr(a):
    m, n = a.shape
    q = np.eye(m)
    for k in range(n):
        v = a[k:, k].copy()
        v[0] += math.copysign(1.0, v[0]) * np.linalg.norm(v)
        v /= np.linalg.norm(v)
        a[k:, k:] -= 2 * np.outer(v, v @ a[k:, k:])
        q[:, k:] -= 2 * np.outer(q[:, k:] @ v, v)
    return q


@program(lambda rng, n: (rng.normal(size=(n, n)) + 2 * n * np.eye(n), rng.normal(size=n)))
def jacobi_iteration(a, b):
    d = np.diag(a)
    r = a - np.diagflat(d)
    x = np.zeros_like(b)
    for _ in range(10):
        x = (b - r @ x) / d
    return x


@program(lambda rng, n: (rng.normal(size=(n, n)) + 2 * n * np.eye(n), rng.normal(size=n)))
def gauss_seidel(a, b):
    x = np.zeros(len(b))
    for _ in range(3):
        for i in range(len(b)):
            s = 0.0
            for j in range(len(b)):
                if j != i:
                    s += a[i, j] * x[j]
            x[i] = (b[i] - s) / a[i, i]
    return x


@program(lambda rng, n: (rng.normal(size=(n, n)), rng.normal(size=n)))
def conjugate_gradient(m, b):
    a = m @ m.T + len(b) * np.eye(len(b))
    x = np.zeros(len(b))
    r = b - a @ x
    p = r.copy()
    rs = r.dot(r)
    for _ in range(5):
        ap = a.dot(p)
        alpha = rs / p.dot(ap)
        x += alpha * p
        r -= alpha * ap
        new = r.dot(r)
        p = r + (new / rs) * p
        rs = new
    return x, math.sqrt(rs)


@program(lambda rng, n: (rng.normal(size=2 * n), rng.integers(0, n, 2 * n), 2 * np.arange(n + 1), rng.normal(size=n)))
def sparse_matrix_vector(data, indices, indptr, x):
    y = np.zeros(len(indptr) - 1)
    rows = np.repeat(np.arange(len(y)), 2)
    for k in range(len(data)):
        y[rows[k]] += data[k] * x[indices[k]]
    return y + np.add.reduceat(data * x[indices], np.arange(0, len(data), 2))


@program(lambda rng, n: (rng.normal(size=(n, 2)), rng.normal(size=2), np.eye(2)))
def kalman_filter(measured, x, p):
    f = np.array([[1.0, 0.1], [0.0, 1.0]])
    h = np.eye(2)
    q, r = 0.01 * np.eye(2), 0.1 * np.eye(2)
    path = np.empty_like(measured)
    for k, z in enumerate(measured):
        x, p = f @ x, f @ p @ f.T + q
        gain = p @ h.T @ np.linalg.inv(h @ p @ h.T + r)
        x = x + gain @ (z - h @ x)
        p = (np.eye(2) - gain @ h) @ p
        path[k] = x
    return path, p


# ------------------------------------------------------------------------------------------------------------- fields


@program(lambda rng, n: (np.sin(np.linspace(0, 3, n + 4)), np.zeros(n + 4)))
def wave_equation(u, velocity):
    c, dt, dx = 1.0, 0.01, 0.1
    for _ in range(8):
        velocity[1:-1] += dt * c**2 * (u[2:] - 2 * u[1:-1] + u[:-2]) / dx**2
        u[1:-1] += dt * velocity[1:-1]
        u[0] = u[-1] = 0
    return 0.5 * np.sum(velocity**2)


@program(lambda rng, n: (rng.random((n, n)),))
def stencil_by_loops(u):
    new = u.copy()
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            new[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
    u[:] = new
    return abs(new).max()


@program(lambda rng, n: (rng.random((9, n, n + 1)) + 1,))
def lattice_boltzmann(f):
    cx, cy = np.array([0, 1, 0, -1, 0, 1, -1, -1, 1]), np.array([0, 0, 1, 0, -1, 1, 1, -1, -1])
    w = np.array([4 / 9] + 4 * [1 / 9] + 4 * [1 / 36])
    for _ in range(2):
        for i in range(9):
            f[i] = np.roll(f[i], (cx[i], cy[i]), axis=(0, 1))
        rho = f.sum(axis=0)
        ux = (f * cx[:, None, None]).sum(axis=0) / rho
        uy = np.einsum("i,ixy->xy", cy, f) / rho
        for i in range(9):
            cu = 3 * (cx[i] * ux + cy[i] * uy)
            f[i] += 0.6 * (rho * w[i] * (1 + cu + 0.5 * cu**2 - 1.5 * (ux**2 + uy**2)) - f[i])
    return rho, ux


@program(lambda rng, n: (rng.normal(size=8 * n), 0.25))
def spectral_filter(signal, cutoff):
    spectrum = np.fft.rfft(signal)
    frequencies = np.fft.rfftfreq(len(signal))
    spectrum[frequencies > cutoff] = 0
    return np.fft.irfft(spectrum, len(signal)), np.abs(spectrum) ** 2


@program(lambda rng, n: (rng.normal(size=(n, 3)), rng.normal(size=(n, 3)), rng.random(n) + 1))
def n_body_by_pairs(x, v, m):
    a = np.zeros((len(m), 3))
    for i in range(len(m)):
        for j in range(i + 1, len(m)):
            d = x[j] - x[i]
            g = 1 / (d.dot(d) + 0.01) ** 1.5
            a[i] += g * m[j] * d
            a[j] -= g * m[i] * d
    v += 0.01 * a
    x += 0.01 * v


# ------------------------------------------------------------------------------------------------------------- images


@program(lambda rng, n: (rng.random((n + 2, n + 3)),))
def sobel(image):
    gx = image[:-2, 2:] - image[:-2, :-2] + 2 * (image[1:-1, 2:] - image[1:-1, :-2]) + image[2:, 2:] - image[2:, :-2]
    gy = image[2:, :-2] - image[:-2, :-2] + 2 * (image[2:, 1:-1] - image[:-2, 1:-1]) + image[2:, 2:] - image[:-2, 2:]
    size = np.hypot(gx, gy)
    return np.where(size > 0.5 * size.max(), 255, 0).astype(np.uint8), np.arctan2(gy, gx)


@program(lambda rng, n: (rng.integers(0, 256, (n, n), np.uint8),))
def median_filter(image):
    padded = np.pad(image, 1, mode="edge")
    stack = [padded[i : i + image.shape[0], j : j + image.shape[1]] for i in range(3) for j in range(3)]
    image[...] = np.sort(np.stack(stack), axis=0)[4]


@program(lambda rng, n: (rng.integers(0, 256, (n, n), np.uint8),))
def histogram_equalization(image):
    counts = np.zeros(256, dtype=int)
    np.add.at(counts, image.ravel(), 1)
    cdf = counts.cumsum()
    table = (255 * cdf / cdf[-1]).astype(np.uint8)
    return table[image]


@program(lambda rng, n: (rng.random((n, n)), 0.5))
def floyd_steinberg(image, threshold):
    h, w = image.shape
    for y in range(h - 1):
        for x in range(1, w - 1):
            old = image[y, x]
            image[y, x] = np.where(old > threshold, 1.0, 0.0)
            error = old - image[y, x]
            image[y, x + 1] += error * 7 / 16
            image[y + 1, x - 1] += error * 3 / 16
            image[y + 1, x] += error * 5 / 16
            image[y + 1, x + 1] += error / 16


# ------------------------------------------------------------------------------------------------------------ signals


@program(lambda rng, n: (rng.normal(size=16 if n < 8 else 32),))
def haar_wavelet(x):
    n = len(x)
    while n > 1:
        half = n // 2
        smooth = (x[0:n:2] + x[1:n:2]) / np.sqrt(2)
        detail = (x[0:n:2] - x[1:n:2]) / np.sqrt(2)
        x[:half], x[half:n] = smooth, detail
        n = half
    return np.count_nonzero(np.abs(x) > 0.5)


@program(lambda rng, n: (rng.normal(size=8 if n < 8 else 16) + 1j * rng.normal(size=8 if n < 8 else 16),))
def fft_in_place(x):
    n = len(x)
    bits = n.bit_length() - 1
    order = [int(format(k, f"0{bits}b")[::-1], 2) for k in range(n)]
    x[:] = x[order]
    size = 2
    while size <= n:
        w = np.exp(-2j * np.pi * np.arange(size // 2) / size)
        for start in range(0, n, size):
            a = x[start : start + size // 2].copy()
            b = w * x[start + size // 2 : start + size]
            x[start : start + size // 2] = a + b
            x[start + size // 2 : start + size] = a - b
        size *= 2


@program(lambda rng, n: (rng.normal(size=3 * n), 0.3))
def exponential_smoothing(x, alpha):
    smooth = np.empty_like(x)
    smooth[0] = x[0]
    for t in range(1, len(x)):
        smooth[t] = alpha * x[t] + (1 - alpha) * smooth[t - 1]
    return smooth, float(np.mean((x - smooth) ** 2))


@program(lambda rng, n: (rng.normal(size=3 * n),))
def cumulative_statistics(x):
    count = np.arange(1, len(x) + 1)
    mean = np.cumsum(x) / count
    variance = np.cumsum(x**2) / count - mean**2
    low, high = np.minimum.accumulate(x), np.maximum.accumulate(x)
    total, best = 0.0, -np.inf
    for v in x:
        total = max(v, total + v)
        best = max(best, total)
    return mean, variance, low, high, best


# -------------------------------------------------------------------------------------------------- chances, learning


@program(lambda rng, n: (rng.random((2, 50 * n)),))
def monte_carlo_pi(draws):
    x, y = draws
    inside = (x**2 + y**2 <= 1).sum()
    return 4 * inside / len(x)


class Regression:
    def __init__(self, features, classes):
        self.weights = np.zeros((features, classes))

    @staticmethod
    def softmax(scores):
        e = np.exp(scores - scores.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    def step(self, x, labels, rate=0.1):
        p = self.softmax(x @ self.weights)
        one_hot = np.zeros_like(p)
        one_hot[np.arange(len(labels)), labels] = 1
        self.weights -= rate * x.T @ (p - one_hot) / len(x)
        return -np.log(p[np.arange(len(x)), labels]).mean()


@program(lambda rng, n: (rng.normal(size=(2 * n, 4)), rng.integers(0, 3, 2 * n)))
def softmax_regression(x, labels):
    model = Regression(x.shape[1], 3)
    losses = [model.step(x, labels) for _ in range(3)]
    return model.weights, np.array(losses)


@program(lambda rng, n: (rng.random(6), rng.random((4, 4)), rng.random((4, 3)), rng.integers(0, 3, n)))
def hidden_markov_forward(start, transition, emission, observed):
    alpha = np.zeros((len(observed), 4))
    alpha[0] = start[:4] * emission[:, observed[0]]
    for t in range(1, len(observed)):
        for j in range(4):
            alpha[t, j] = sum(alpha[t - 1, i] * transition[i, j] for i in range(4)) * emission[j, observed[t]]
        alpha[t] /= alpha[t].sum()
    return alpha


@program(lambda rng, n: (np.array([1.0, 0.0]), 0.1))
def runge_kutta_pendulum(state, h):
    def slope(s):
        return np.array([s[1], -9.81 * math.sin(s[0])])

    path = np.zeros((6, 2))
    for k in range(len(path)):
        k1 = slope(state)
        k2 = slope(state + h * k1 / 2)
        k3 = slope(state + h * k2 / 2)
        k4 = slope(state + h * k3)
        state = state + h * (k1 + 2 * k2 + 2 * k3 + k4) / 6
        path[k] = state
    return path


@program(lambda rng, n: (100.0, 105.0, 0.05, 0.2, 1.0))
def binomial_option(spot, strike, rate, volatility, years):
    steps = 10
    dt = years / steps
    up = math.exp(volatility * math.sqrt(dt))
    p = (math.exp(rate * dt) - 1 / up) / (up - 1 / up)
    values = np.maximum(spot * up ** (2.0 * np.arange(steps + 1) - steps) - strike, 0)
    for _ in range(steps):
        values = math.exp(-rate * dt) * (p * values[1:] + (1 - p) * values[:-1])
    return values[0]


# ------------------------------------------------------------------------------------------------------ discrete things


@program(lambda rng, n: (rng.integers(0, 4, n - 1), rng.integers(0, 4, n - 2)))
def levenshtein(a, b):
    d = np.zeros((len(a) + 1, len(b) + 1), dtype=int)
    for i in range(len(a) + 1):
        d[i, 0] = i
    for j in range(len(b) + 1):
        d[0, j] = j
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            cost = np.where(a[i - 1] == b[j - 1], 0, 1)
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
    return d[len(a), len(b)]


@program(lambda rng, n: (rng.integers(0, 2**62, 2 * n).astype(np.uint64),))
def popcount(x):
    x -= (x >> np.uint64(1)) & np.uint64(0x5555555555555555)
    x[:] = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x[:] = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (x * np.uint64(0x0101010101010101)) >> np.uint64(56)


@program(lambda rng, n: (rng.integers(0, 30, 4),))
def sieve(queries):
    prime = np.ones(200, dtype=bool)
    prime[:2] = False
    for k in range(2, int(math.sqrt(len(prime))) + 1):
        if prime[k]:
            prime[k * k :: k] = False
    return prime[queries], np.flatnonzero(prime)[queries]


@program(lambda rng, n: (rng.integers(0, 100, n),))
def insertion_sort(a):
    for i in range(1, len(a)):
        for j in range(i, 0, -1):
            low, high = min(a[j - 1], a[j]), max(a[j - 1], a[j])
            a[j - 1], a[j] = low, high


@program(lambda rng, n: (rng.integers(1, 9, (n, n)),))
def cheapest_path(cost):
    total = cost.copy()
    for i in range(len(cost)):
        for j in range(cost.shape[1]):
            before = []
            if i:
                before.append(total[i - 1, j])
            if j:
                before.append(total[i, j - 1])
            if before:
                total[i, j] += min(before)
    return total[-1, -1]


@program(lambda rng, n: (rng.integers(0, 2, 4 * n, np.uint8),))
def rule_110(cells):
    table = np.array([(110 >> k) & 1 for k in range(8)], dtype=np.uint8)
    for _ in range(4):
        pattern = 4 * np.roll(cells, 1) + 2 * cells + np.roll(cells, -1)
        cells[:] = table[pattern]


@program(lambda rng, n: (rng.integers(0, 50, (n, n)),))
def integral_image(image):
    s = np.zeros((image.shape[0] + 1, image.shape[1] + 1), dtype=np.int64)
    s[1:, 1:] = image.cumsum(axis=0).cumsum(axis=1)
    return s[3:, 3:] - s[:-3, 3:] - s[3:, :-3] + s[:-3, :-3]
